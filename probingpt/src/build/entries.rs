//! Reading of phrase pairs as text, each joined with its reordering scores.
//!
//! Both files are sorted, so this is a merge join, which keeps two lines in memory. Keys are the
//! lines up to the second `|||`, compared as bytes. No key is a prefix of another, so keys have the
//! same order as whole lines.

use std::cmp::Ordering;

use miriam_textio::Lines;
use miriam_textio::fields::{self, find_separator};

use crate::sparse_features::has_sparse_features;
use crate::{Error, Result};

/// A phrase pair as text.
#[derive(Clone, Copy)]
pub(crate) struct TextEntry<'a> {
    pub line: &'a [u8],
    /// The positions of the first and the second `|||`.
    pub separators: (usize, usize),
    /// The number of the line in the table.
    pub line_number: u64,
    /// The reordering scores and the number of their line.
    pub reordering: Option<(&'a [u8], u64)>,
}

/// The fields after the target phrase, trimmed.
pub(crate) struct EntryFields<'a> {
    pub scores: &'a [u8],
    pub alignment: &'a [u8],
    pub counts: &'a [u8],
    /// Field 6 and later ones; empty if they have separators only.
    pub extra: &'a [u8],
}

impl EntryFields<'_> {
    /// Whether field 6 has sparse features.
    pub fn has_sparse_features(&self) -> bool {
        has_sparse_features(self.extra)
    }
}

/// Returns the error for a table `name` of hierarchical rules.
pub(crate) fn rule_table_error(name: &str) -> Error {
    Error::Options(format!(
        "{name}: a table of hierarchical rules, with non-terminals such as [X]; hierarchical \
         decoding is not available, give the table of a phrase-based model"
    ))
}

/// Whether a word is a non-terminal inside a rule, `[X][NP]`.
pub(crate) fn is_linked_non_terminal(word: &[u8]) -> bool {
    is_non_terminal(word) && word.windows(2).any(|pair| pair == b"][")
}

/// Whether a word is `[LABEL]`.
fn is_non_terminal(word: &[u8]) -> bool {
    word.len() > 2 && word.starts_with(b"[") && word.ends_with(b"]")
}

impl<'a> TextEntry<'a> {
    pub fn source(&self) -> &'a [u8] {
        &self.line[..self.separators.0]
    }

    pub fn target(&self) -> &'a [u8] {
        &self.line[self.separators.0 + 3..self.separators.1]
    }

    /// Whether it has the form of a rule of hierarchical or syntactic models. Both sides of a rule
    /// end with a non-terminal, the left-hand side: `[X][X] house [X] ||| [X][X] casa [X]`.
    pub fn is_rule(&self) -> bool {
        fn ends_with_label(phrase: &[u8]) -> bool {
            fields::split_words(phrase).last().is_some_and(is_non_terminal)
        }
        fields::split_words(self.source()).nth(1).is_some()
            && ends_with_label(self.source())
            && ends_with_label(self.target())
    }

    /// Returns the number of reordering scores.
    pub fn num_reordering_scores(&self) -> usize {
        self.reordering.map_or(0, |(text, _)| fields::split_words(text).count())
    }

    /// Returns field 3.
    pub fn scores_field(&self) -> &'a [u8] {
        first_field(&self.line[self.separators.1 + 3..])
    }

    pub fn fields(&self) -> EntryFields<'a> {
        let mut rest = Some(&self.line[self.separators.1 + 3..]);
        let [scores, alignment, counts] = std::array::from_fn(|_| take_field(&mut rest));
        let extra = rest.map_or(&[][..], fields::trim);
        let blank = extra.iter().all(|b| matches!(b, b' ' | b'\t' | b'|' | b'\r'));
        EntryFields { scores, alignment, counts, extra: if blank { &[] } else { extra } }
    }
}

/// Removes the field before the first separator from `rest`, and returns it. After the last field,
/// `rest` is `None`.
#[inline]
fn take_field<'a>(rest: &mut Option<&'a [u8]>) -> &'a [u8] {
    let Some(text) = *rest else { return &[] };
    let (field, after) = match find_separator(text) {
        Some(at) => (&text[..at], Some(&text[at + 3..])),
        None => (text, None),
    };
    *rest = after;
    fields::trim(field)
}

/// Returns the field before the first separator of `text`, trimmed.
fn first_field(text: &[u8]) -> &[u8] {
    take_field(&mut Some(text))
}

/// Returns the positions of the first and the second `|||`.
#[inline]
fn find_separators(file: &str, line: &[u8], number: u64) -> Result<(usize, usize)> {
    let first = find_separator(line);
    let second = first.and_then(|at| find_separator(&line[at + 3..]).map(|more| at + 3 + more));
    match (first, second) {
        (Some(first), Some(second)) => Ok((first, second)),
        _ => {
            let found = 1 + usize::from(first.is_some());
            let hint = if found == 2 {
                "; a reordering table with two is that of an `f` model, which is not supported: give \
                 an `fe` model"
            } else {
                ""
            };
            let reason = format!(
                "expected at least 3 fields (source ||| target ||| scores), found {found}{hint}"
            );
            Err(Error::format(file, number, None, reason))
        }
    }
}

fn unsorted_line_error(file: &str, number: u64) -> Error {
    let reason =
        "it sorts before the line above it; sort the file with LC_ALL=C sort, or give --sort";
    Error::format(file, number, None, reason)
}

/// Reads the entries of a table in the order of the file.
pub(crate) struct EntryReader {
    name: String,
    table: Lines,
    /// The previous key, if keys must ascend.
    previous: Option<Vec<u8>>,
    reordering: Option<ReorderingReader>,
    /// Whether field 3 has reordering scores instead of phrase scores.
    reordering_only: bool,
}

impl EntryReader {
    /// Reads `table`, joined with `reordering` if given: then both must be sorted.
    pub fn new(table: Lines, reordering: Option<Lines>) -> Result<Self> {
        let reordering = reordering.map(ReorderingReader::new).transpose()?;
        let previous = reordering.is_some().then(Vec::new);
        let name = table.name().to_owned();
        Ok(EntryReader { name, table, previous, reordering, reordering_only: false })
    }

    /// Reads a reordering table by itself.
    pub fn reordering_only(table: Lines) -> Self {
        let name = table.name().to_owned();
        EntryReader { name, table, previous: None, reordering: None, reordering_only: true }
    }

    /// Returns the number of scores on the first line of the reordering table that is joined. Must
    /// be called before the first [`EntryReader::next`].
    pub fn num_joined_scores(&self) -> Option<usize> {
        let reordering = self.reordering.as_ref()?;
        reordering.lookahead.as_ref().map(|line| fields::split_words(line.scores()).count())
    }

    /// Returns the next entry, which is valid until the next call.
    #[inline]
    pub fn next(&mut self) -> Result<Option<TextEntry<'_>>> {
        let EntryReader { name, table, previous, reordering, reordering_only } = self;
        let Some(line) = table.next()? else { return Ok(None) };
        let separators = find_separators(name, line.bytes, line.number)?;
        let mut scores = None;
        if let Some(previous) = previous {
            let key = &line.bytes[..separators.1 + 3];
            if key < &previous[..] {
                return Err(unsorted_line_error(name, line.number));
            }
            previous.clear();
            previous.extend_from_slice(key);
            if let Some(reordering) = reordering {
                scores = reordering.find_scores(key)?;
            }
        }
        if *reordering_only {
            scores = Some((first_field(&line.bytes[separators.1 + 3..]), line.number));
        }
        Ok(Some(TextEntry {
            line: line.bytes,
            separators,
            line_number: line.number,
            reordering: scores,
        }))
    }

    /// Reads the rest of the reordering table. Returns the number of its pairs that the phrase
    /// table lacks.
    pub fn finish(mut self) -> Result<u64> {
        match &mut self.reordering {
            Some(reordering) => reordering.finish(),
            None => Ok(0),
        }
    }
}

/// A copied line of the reordering table.
#[derive(Default)]
struct OwnedLine {
    text: Vec<u8>,
    key_end: usize,
    number: u64,
}

impl OwnedLine {
    fn key(&self) -> &[u8] {
        &self.text[..self.key_end]
    }

    fn scores(&self) -> &[u8] {
        first_field(&self.text[self.key_end..])
    }
}

/// A sorted reordering table, read pair by pair. Of equal pairs, the last is used, as in Moses2.
struct ReorderingReader {
    lines: Lines,
    name: String,
    current: Option<OwnedLine>,
    /// The first line after the lines of the current pair.
    lookahead: Option<OwnedLine>,
    recycled: OwnedLine,
    is_used: bool,
    unused_pairs: u64,
}

impl ReorderingReader {
    fn new(lines: Lines) -> Result<Self> {
        let name = lines.name().to_owned();
        let recycled = OwnedLine::default();
        let mut reader = ReorderingReader {
            lines,
            name,
            current: None,
            lookahead: None,
            recycled,
            is_used: true,
            unused_pairs: 0,
        };
        reader.lookahead = reader.read_line()?;
        Ok(reader)
    }

    fn read_line(&mut self) -> Result<Option<OwnedLine>> {
        let Some(line) = self.lines.next()? else { return Ok(None) };
        let separators = find_separators(&self.name, line.bytes, line.number)?;
        let mut owned = std::mem::take(&mut self.recycled);
        owned.text.clear();
        owned.text.extend_from_slice(line.bytes);
        owned.key_end = separators.1 + 3;
        owned.number = line.number;
        Ok(Some(owned))
    }

    /// Advances to the next pair.
    fn advance_pair(&mut self) -> Result<()> {
        self.unused_pairs += u64::from(self.current.is_some() && !self.is_used);
        if let Some(done) = std::mem::replace(&mut self.current, self.lookahead.take()) {
            self.recycled = done;
        }
        self.is_used = false;
        loop {
            let next = if self.current.is_some() { self.read_line()? } else { None };
            let (Some(next), Some(current)) = (next, &self.current) else { return Ok(()) };
            match next.key().cmp(current.key()) {
                Ordering::Less => return Err(unsorted_line_error(&self.name, next.number)),
                Ordering::Equal => {
                    if let Some(done) = self.current.replace(next) {
                        self.recycled = done;
                    }
                }
                Ordering::Greater => {
                    self.lookahead = Some(next);
                    return Ok(());
                }
            }
        }
    }

    /// Returns the scores of the pair `key`; keys of successive calls must not descend.
    #[inline]
    fn find_scores(&mut self, key: &[u8]) -> Result<Option<(&[u8], u64)>> {
        while self.current.as_ref().map_or(self.lookahead.is_some(), |c| c.key() < key) {
            self.advance_pair()?;
        }
        match &self.current {
            Some(current) if current.key() == key => {
                self.is_used = true;
                Ok(Some((current.scores(), current.number)))
            }
            _ => Ok(None),
        }
    }

    fn finish(&mut self) -> Result<u64> {
        while self.current.is_some() || self.lookahead.is_some() {
            self.advance_pair()?;
        }
        Ok(self.unused_pairs)
    }
}

/// Copied entries, to be read twice or by another thread.
#[derive(Default)]
pub(crate) struct EntryBlock {
    bytes: Vec<u8>,
    spans: Vec<EntrySpan>,
}

#[derive(Clone, Copy)]
struct EntrySpan {
    start: usize,
    end: usize,
    separators: (usize, usize),
    line_number: u64,
    /// The end of the reordering scores, which follow the line in `bytes`.
    reordering_end: usize,
    /// The number of the line of the reordering scores; 0 if there are none.
    reordering_line: u64,
}

impl EntryBlock {
    pub fn push(&mut self, entry: &TextEntry<'_>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(entry.line);
        let end = self.bytes.len();
        let mut reordering_number = 0;
        if let Some((scores, number)) = entry.reordering {
            self.bytes.extend_from_slice(scores);
            reordering_number = number;
        }
        let (separators, number, reordering_end) =
            (entry.separators, entry.line_number, self.bytes.len());
        self.spans.push(EntrySpan {
            start,
            end,
            separators,
            line_number: number,
            reordering_end,
            reordering_line: reordering_number,
        });
    }

    pub fn len(&self) -> usize {
        self.spans.len()
    }

    pub fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    pub fn entries(&self) -> impl Iterator<Item = TextEntry<'_>> {
        self.spans.iter().map(|span| TextEntry {
            line: &self.bytes[span.start..span.end],
            separators: span.separators,
            line_number: span.line_number,
            reordering: (span.reordering_line > 0)
                .then(|| (&self.bytes[span.end..span.reordering_end], span.reordering_line)),
        })
    }

    /// Returns the last entry's source field.
    pub fn last_source(&self) -> Option<&[u8]> {
        let span = self.spans.last()?;
        Some(&self.bytes[span.start..span.start + span.separators.0])
    }
}
