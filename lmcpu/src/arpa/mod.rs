//! Reading of ARPA files. Files that KenLM accepts are accepted, and so are unigram models and
//! forms that only other toolkits accept (`ngram-lm.md` 1.1). Other files are an error that names
//! the line and the remedy. So are two entries for the same n-gram, of which KenLM silently keeps
//! one, unless [`ArpaOptions`] say otherwise.
//!
//! Sections are read one after another, each in parallel. Blocks of text are parsed on all threads
//! as if an entry began at the start of each block, which is true unless an entry spans several
//! lines. If one does, the blocks after it are parsed again.

mod entry;
mod lines;
mod options;
mod other_formats;
mod section;
mod text;
mod word_table;

use miriam_storage::parallel;
use miriam_textio::{Input, Progress, Vocabulary};

use self::entry::{EntryFormat, ParseEnd, ParsedEntries, WordLookup, read_entries};
pub(crate) use self::entry::{is_space, quote};
pub(crate) use self::lines::{ArpaLines, LineChunk};
pub(crate) use self::options::MISSING_UNKNOWN_LOG10;
pub use self::options::{ArpaOptions, DuplicatePolicy, MissingMarkerPolicy, PositivePolicy};
pub(crate) use self::other_formats::KENLM_MAGIC;
pub use self::section::Section;
use self::section::{LineNumbers, SectionBuilder, record_lines};
use self::text::ArpaText;
use self::word_table::WordTable;
use crate::{Error, MAX_ORDER, Result};

/// The largest number of lines before `\data\`, so that other files are not read to their end.
const MAX_PREAMBLE_LINES: u64 = 1000;

/// The advice in errors about an n-gram that is listed twice.
pub(crate) const DUPLICATE_REMEDY: &str =
    "remove one of the two, or pass --duplicates keep-first, which is KenLM's rule";

/// The smallest number of n-grams per thread in a part: few enough for a core's cache.
const PART_OF_A_THREAD: usize = 1 << 15;

/// Probability and backoff of a word, both log10. A backoff of -0.0 says that the word
/// has none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unigram {
    /// log10 p(word).
    pub log10: f32,
    /// log10 of the backoff.
    pub backoff: f32,
}

/// A reader of ARPA files: it reads the unigrams when it is opened, then one order after another.
///
/// ```
/// use miriam_lmcpu::ArpaOptions;
/// use miriam_lmcpu::arpa::ArpaReader;
/// use miriam_textio::{Input, NoProgress};
///
/// let text = "\\data\\\nngram 1=4\nngram 2=1\n\n\
///             \\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n-1.25\t</s>\n-1.5\ta\n\n\
///             \\2-grams:\n-0.5\t<s> a\n\n\\end\\\n";
/// let input = Input::from_reader(text.as_bytes(), "toy.arpa", None)?;
/// let mut arpa = ArpaReader::open(input, ArpaOptions::default(), &NoProgress)?;
/// assert_eq!(arpa.counts(), [4, 1]);
/// assert_eq!(arpa.unigrams()[3].log10, -1.5);
/// let bigrams = arpa.next_section()?.expect("a section of bigrams");
/// // The ids of `<s>` and `a`; the bigram is on line 12.
/// assert_eq!((bigrams.ngram(0), bigrams.line(0)), (&[1, 3][..], 12));
/// assert!(arpa.next_section()?.is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ArpaReader<'p> {
    text: ArpaText<'p>,
    /// The size of the file in bytes, before decompression, if it is known.
    size: Option<u64>,
    counts: Vec<u64>,
    vocabulary: Vocabulary,
    word_table: WordTable,
    unigrams: Vec<Unigram>,
    has_unknown: bool,
    next_order: usize,
    /// N-grams of the current order that are not yet read.
    remaining: u64,
    /// Whether positive log probabilities are read as 0.
    allows_positive: bool,
    /// The number of positive log probabilities that were read as 0.
    positives: u64,
}

impl<'p> ArpaReader<'p> {
    /// Reads `input` up to the end of its unigrams.
    ///
    /// A missing `<unk>` is logged and gets the log10 probability in `options`. The options also
    /// say what to do about duplicate words, missing markers and positive log probabilities.
    /// Duplicates among longer n-grams are left to the caller.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or its header or unigrams are invalid; the message
    /// names the line.
    pub fn open(input: Input, options: ArpaOptions, progress: &'p dyn Progress) -> Result<Self> {
        let size = input.size();
        let mut text = ArpaText::new(input, progress);
        let counts = read_counts(&mut text)?;
        let mut arpa = ArpaReader {
            text,
            size,
            counts,
            vocabulary: Vocabulary::new(),
            word_table: WordTable::default(),
            unigrams: Vec::new(),
            has_unknown: false,
            next_order: 2,
            remaining: 0,
            allows_positive: options.positive == PositivePolicy::Zero,
            positives: 0,
        };
        arpa.read_unigrams(options)?;
        Ok(arpa)
    }

    /// Returns the name of the file for messages.
    pub fn name(&self) -> &str {
        &self.text.name
    }

    /// Returns the number of n-grams of each order in the header, from order 1.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the order of the model.
    pub fn order(&self) -> usize {
        self.counts.len()
    }

    /// Returns the words: `<unk>` is 0, the others follow in the order of the file.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Returns the probability and the backoff of each word, by id.
    pub fn unigrams(&self) -> &[Unigram] {
        &self.unigrams
    }

    /// Whether the file itself lists `<unk>`.
    pub fn has_unknown(&self) -> bool {
        self.has_unknown
    }

    /// Returns an error on a line of this file.
    pub fn error(&self, line: u64, reason: impl Into<String>) -> crate::Error {
        self.text.error(line, reason)
    }

    /// Reads the n-grams of the next order, from 2; `None` after the longest order, when the end of
    /// the file is checked too. Must not be called between the parts of an order.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or an entry is invalid; the message names the line.
    pub fn next_section(&mut self) -> Result<Option<Section>> {
        let Some(format) = self.begin_section()? else { return Ok(None) };
        let mut section = SectionBuilder::new(format, self.remaining, self.size);
        while self.remaining > 0 {
            self.read_blocks(format, &mut section)?;
        }
        Ok(Some(section.finish()))
    }

    /// Reads some more n-grams: the next ones of an order, from 2, or the first ones of the next
    /// order. Every order has at least one part. `None` after the longest order, when the end of
    /// the file is checked too.
    ///
    /// # Errors
    ///
    /// Those of [`ArpaReader::next_section`].
    pub fn next_part(&mut self) -> Result<Option<Section>> {
        let Some(format) = self.begin_section()? else { return Ok(None) };
        let mut part = SectionBuilder::new(format, 0, None);
        while self.remaining > 0 && part.len() < PART_OF_A_THREAD * rayon::current_num_threads() {
            self.read_blocks(format, &mut part)?;
        }
        Ok(Some(part.finish()))
    }

    /// Returns the format of the n-grams that come next. Reads the header of their section first if
    /// none of them has been read.
    fn begin_section(&mut self) -> Result<Option<EntryFormat>> {
        if self.remaining == 0 {
            let order = self.next_order;
            if order > self.order() {
                if order == self.order() + 1 {
                    self.next_order += 1;
                    self.read_end()?;
                }
                return Ok(None);
            }
            self.next_order += 1;
            read_section_header(&mut self.text, &self.counts, order)?;
            self.remaining = self.counts[order - 1];
        }
        Ok(Some(self.entry_format(self.next_order - 1)))
    }

    /// Reads the end of the file.
    fn read_end(&mut self) -> Result<()> {
        read_end(&mut self.text, &self.counts)?;
        if self.positives > 0 {
            let (name, count) = (&self.text.name, self.positives);
            tracing::warn!("{name}: {count} positive log probabilities were read as 0");
        }
        Ok(())
    }

    fn entry_format(&self, order: usize) -> EntryFormat {
        let longest = order == self.order();
        EntryFormat { order, longest, allows_positive: self.allows_positive }
    }

    /// Reads some entries of the current section.
    fn read_blocks(&mut self, format: EntryFormat, section: &mut SectionBuilder) -> Result<()> {
        let words = WordLookup { vocabulary: &self.vocabulary, table: &self.word_table };
        let positives = &mut self.positives;
        read_blocks(&mut self.text, format, &mut self.remaining, words, |blocks| {
            *positives += blocks.iter().map(|block| block.entries.positives).sum::<u64>();
            section.append(blocks);
            Ok(())
        })
    }

    fn read_unigrams(&mut self, options: ArpaOptions) -> Result<()> {
        read_section_header(&mut self.text, &self.counts, 1)?;
        let format = self.entry_format(1);
        let mut vocabulary = Vocabulary::new();
        vocabulary.intern(b"<unk>");
        let mut unigrams = vec![Unigram { log10: options.unknown_log10, backoff: 0.0 }];
        let mut lines = LineNumbers::default();
        let (mut seen, mut positives) = (0, 0);
        let mut unknown = UnknownEntries::default();
        let name = self.text.name.clone();
        let error = |line, reason| miriam_textio::Error::format(&name, line, None, reason);
        let no_words = WordLookup { vocabulary: &Vocabulary::new(), table: &WordTable::default() };
        let mut take = |parsed_blocks: Vec<ParsedBlock<'_>>| {
            for ParsedBlock { entries, text, line } in parsed_blocks {
                record_lines(&mut lines, seen, line, &entries);
                positives += entries.positives;
                for (i, &(start, end)) in entries.spans.iter().enumerate() {
                    let word = &text[start..end];
                    let backoff = if format.longest { -0.0 } else { entries.backoffs[i] };
                    let unigram = Unigram { log10: entries.log10[i], backoff };
                    let earlier = if word == b"<unk>" || word == b"<UNK>" {
                        unigrams[0] = unigram;
                        unknown.push(word == b"<unk>", seen)
                    } else {
                        if unigrams.len() == u32::MAX as usize {
                            return Err(error(
                                lines.line(seen),
                                "more than 4,294,967,294 words".into(),
                            )
                            .into());
                        }
                        let id = vocabulary.intern(word).index();
                        if id == unigrams.len() {
                            unigrams.push(unigram);
                            None
                        } else {
                            Some(unknown.entry_of_word(id))
                        }
                    };
                    if let Some(earlier) = earlier
                        && options.duplicates == DuplicatePolicy::Reject
                    {
                        let reason = format!(
                            "{} is among the unigrams already on line {}; {DUPLICATE_REMEDY}",
                            quote(word),
                            lines.line(earlier)
                        );
                        return Err(Error::Duplicate(error(lines.line(seen), reason)));
                    }
                    seen += 1;
                }
            }
            Ok(())
        };
        let mut remaining = self.counts[0];
        while remaining > 0 {
            read_blocks(&mut self.text, format, &mut remaining, no_words, &mut take)?;
        }
        for marker in ["<s>", "</s>"] {
            if vocabulary.find(marker.as_bytes()).is_some() {
                continue;
            }
            if options.missing_markers == MissingMarkerPolicy::Reject {
                let reason = format!(
                    "\"{marker}\" is not among the unigrams above; a model needs both sentence \
                     markers, or --missing-markers unknown (build_binary: -s; moses.ini: \
                     missing-markers=unknown) to score them as <unk>"
                );
                return Err(self.error(self.text.line(), reason));
            }
            tracing::warn!("{name}: no {marker} among the unigrams; it is scored as <unk>");
        }
        self.positives = positives;
        self.has_unknown = unknown.count > 0;
        if unknown.count > 1 {
            tracing::warn!(
                "{name}: the unknown word (<unk> or <UNK>) is listed {} times among the unigrams; \
                 the last entry is used, as in KenLM",
                unknown.count
            );
            self.counts[0] -= unknown.count - 1;
        }
        if !self.has_unknown {
            tracing::warn!(
                "{name}: no <unk> among the unigrams; its log10 probability becomes {}",
                options.unknown_log10
            );
        }
        self.word_table = WordTable::new(&vocabulary);
        (self.vocabulary, self.unigrams) = (vocabulary, unigrams);
        Ok(())
    }
}

/// Skips blank lines and reads the line `\ORDER-grams:`.
fn read_section_header(text: &mut ArpaText<'_>, counts: &[u64], order: usize) -> Result<()> {
    let expected = format!("\\{order}-grams:");
    let line = next_nonblank_line(text, &expected)?;
    if trim(&line.bytes) == expected.as_bytes() {
        return Ok(());
    }
    let mut reason = format!("expected {expected}, found {}", quote(&line.bytes));
    if order > 1 {
        let (before, count) = (order - 1, counts[order - 2]);
        reason += &format!(
            "; does the section hold more {before}-grams than the {count} the header promises?"
        );
    }
    Err(text.error(line.number, reason))
}

/// Reads `\end\` and checks that only blank lines follow.
fn read_end(text: &mut ArpaText<'_>, counts: &[u64]) -> Result<()> {
    let line = next_nonblank_line(text, "\\end\\")?;
    if trim(&line.bytes) != b"\\end\\" {
        let (order, count) = (counts.len(), counts[counts.len() - 1]);
        let found = quote(&line.bytes);
        let reason = format!(
            "expected \\end\\ after the {count} {order}-grams the header promises, found {found}"
        );
        return Err(text.error(line.number, reason));
    }
    while let Some(line) = text.next_line()? {
        if !is_blank(&line.bytes) {
            let reason = format!("found {} after \\end\\; remove it", quote(&line.bytes));
            return Err(text.error(line.number, reason));
        }
    }
    Ok(())
}

fn is_blank(line: &[u8]) -> bool {
    line.iter().all(|&b| is_space(b))
}

/// Returns the next line that is not blank.
fn next_nonblank_line(text: &mut ArpaText<'_>, expected: &str) -> Result<text::HeaderLine> {
    while let Some(line) = text.next_line()? {
        if !is_blank(&line.bytes) {
            return Ok(line);
        }
    }
    Err(text.error(text.line(), format!("the file ends where {expected} should be; it is cut")))
}

/// Returns a line without the white space around it: toolkits write headers with and without it.
fn trim(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|&byte| !is_space(byte)).unwrap_or(line.len());
    let end = line.iter().rposition(|&byte| !is_space(byte)).map_or(start, |last| last + 1);
    &line[start..end]
}

/// Skips what toolkits write before `\data\`, such as a description of the model, and the line
/// `\data\` itself.
fn skip_preamble(text: &mut ArpaText<'_>) -> Result<()> {
    let mut first: Option<text::HeaderLine> = None;
    while let Some(line) = text.next_line()? {
        if trim(&line.bytes) == b"\\data\\" {
            return Ok(());
        }
        let is_text = !line.bytes.contains(&0) && other_formats::describe(&line.bytes).is_none();
        let number = line.number;
        if first.is_none() && !is_blank(&line.bytes) {
            first = Some(line);
        }
        if !is_text || number >= MAX_PREAMBLE_LINES {
            break;
        }
    }
    Err(match first {
        Some(line) => text.error(line.number, not_arpa_reason(&line.bytes)),
        None => text
            .error(text.line(), "the file ends where \\data\\ should be; it is not an ARPA file"),
    })
}

/// Reads up to and including the blank line after the counts.
fn read_counts(text: &mut ArpaText<'_>) -> Result<Vec<u64>> {
    skip_preamble(text)?;
    let mut counts = Vec::new();
    loop {
        let Some(line) = text.next_line()? else {
            return Err(text.error(text.line(), "the file ends inside the counts; it is cut"));
        };
        if is_blank(&line.bytes) {
            break;
        }
        match read_count(&line.bytes, counts.len() as u64 + 1) {
            Ok(count) => counts.push(count),
            Err(reason) => {
                return Err(
                    text.error(line.number, format!("{reason}, found {}", quote(&line.bytes)))
                );
            }
        }
        if counts.len() > MAX_ORDER {
            return Err(text.error(
                line.number,
                format!(
                    "models of order {MAX_ORDER} at most are supported; estimate a shorter one"
                ),
            ));
        }
    }
    if counts.is_empty() {
        return Err(text.error(text.line() - 1, "no counts (\"ngram 1=...\") follow \\data\\"));
    }
    Ok(counts)
}

/// Reads the count in `line`, which must be the count of `order`.
fn read_count(line: &[u8], order: u64) -> Result<u64, String> {
    match parse_count(line) {
        Some((number, count)) if number == order => Ok(count),
        _ => Err(format!("expected \"ngram {order}=COUNT\"")),
    }
}

/// Returns the order and the count in `line`. White space is allowed everywhere between words and
/// numbers, and anything may follow the count.
fn parse_count(line: &[u8]) -> Option<(u64, u64)> {
    let rest = trim(line).strip_prefix(b"ngram")?;
    let rest = rest.first().is_some_and(|&byte| is_space(byte)).then_some(rest)?;
    let (order, rest) = leading_number(rest)?;
    let (count, _) = leading_number(trim(rest).strip_prefix(b"=")?)?;
    Some((order, count))
}

fn leading_number(text: &[u8]) -> Option<(u64, &[u8])> {
    let start = text.iter().position(|&b| !is_space(b))?;
    let text = &text[start..];
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let end = text.iter().position(|b| !b.is_ascii_digit()).unwrap_or(text.len());
    let number = std::str::from_utf8(&text[..end]).ok()?.parse().ok()?;
    Some((number, &text[end..]))
}

/// The entries of the unknown word among the unigrams: `<unk>` and `<UNK>` are two names of it, as
/// in KenLM. Text with the token `<UNK>` gives models that list both. As in KenLM, the last entry
/// is used, but of any other word the first.
#[derive(Default)]
struct UnknownEntries {
    /// The numbers of the first entries of `<unk>` and of `<UNK>`, from 0.
    by_name: [Option<usize>; 2],
    /// The number of entries of either name.
    count: u64,
}

impl UnknownEntries {
    /// Adds entry `entry`, of `<unk>` or of `<UNK>`; if there is an earlier entry of the same name,
    /// returns the earlier one instead.
    fn push(&mut self, is_lowercase: bool, entry: usize) -> Option<usize> {
        self.count += 1;
        let first = &mut self.by_name[usize::from(!is_lowercase)];
        if first.is_none() {
            *first = Some(entry);
            return None;
        }
        *first
    }

    /// Returns the entry of the word `id`, which is at least 1. Ids from 1 are in the order of
    /// entries, without the entries of the unknown word.
    fn entry_of_word(&self, id: usize) -> usize {
        let mut earlier: Vec<usize> = self.by_name.iter().copied().flatten().collect();
        earlier.sort_unstable();
        earlier.into_iter().fold(id - 1, |entry, unknown| entry + usize::from(unknown <= entry))
    }
}

/// Says why a file that starts with `line` is not an ARPA file.
fn not_arpa_reason(line: &[u8]) -> String {
    let found = quote(line);
    other_formats::describe(line).map_or_else(
        || format!("expected a line \\data\\, found {found}; it is not an ARPA file"),
        |format| format!("this is {format}"),
    )
}

/// The entries of a block, its text and the number of its first line.
struct ParsedBlock<'t> {
    entries: ParsedEntries,
    text: &'t [u8],
    line: u64,
}

/// Reads some of the `remaining` entries, at least one, passes them to `take` in order, and
/// subtracts their number.
fn read_blocks(
    text: &mut ArpaText<'_>,
    format: EntryFormat,
    remaining: &mut u64,
    words: WordLookup<'_>,
    take: impl FnOnce(Vec<ParsedBlock<'_>>) -> Result<()>,
) -> Result<()> {
    let (mut line, mut left) = (text.line(), *remaining);
    let (mut used, mut truncated) = (Vec::new(), false);
    let blocks = text.blocks(8 * rayon::current_num_threads())?;
    if blocks.is_empty() {
        return Err(truncated_section(text, format.order, left));
    }
    let parsed =
        parallel::map_tasks(blocks.len(), &|at| read_entries(blocks[at], format, left, words));
    let (mut parsed_blocks, mut failure) = (Vec::with_capacity(blocks.len()), None);
    for (entries, &text) in parsed.into_iter().zip(&blocks) {
        if entries.log10.len() as u64 > left {
            // The section ends in this block, but entries after its end were parsed too: parse
            // again, with the right limit.
            let entries = read_entries(text, format, left, words);
            used.push((entries.bytes, entries.lines));
            left = 0;
            parsed_blocks.push(ParsedBlock { entries, text, line });
            break;
        }
        used.push((entries.bytes, entries.lines));
        left -= entries.log10.len() as u64;
        let lines = entries.lines;
        if left > 0 {
            match &entries.end {
                ParseEnd::EndOfText | ParseEnd::Limit => {}
                ParseEnd::Truncated => truncated = true,
                ParseEnd::Invalid { line: below, reason } => {
                    let order = format.order;
                    failure = Some((line + below, format!("{order}-gram: {reason}")));
                }
            }
        }
        parsed_blocks.push(ParsedBlock { entries, text, line });
        line += lines;
        if left == 0 || truncated || failure.is_some() {
            break;
        }
    }
    *remaining = left;
    take(parsed_blocks)?;
    if let Some((line, reason)) = failure {
        return Err(text.error(line, reason));
    }
    for (bytes, lines) in used {
        text.consume(bytes, lines);
    }
    if truncated && !text.join_blocks()? {
        return Err(truncated_section(text, format.order, left));
    }
    Ok(())
}

fn truncated_section(text: &ArpaText<'_>, order: usize, missing: u64) -> crate::Error {
    text.error(
        text.line(),
        format!(
            "the file ends, but {missing} of the {order}-grams the header promises are missing; \
             it is cut or its counts are wrong"
        ),
    )
}

#[cfg(test)]
mod tests;
