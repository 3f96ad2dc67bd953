//! The words that may follow a context, with their probabilities.
//!
//! Each line of input is a context; the line printed for it holds words and their log10
//! p, separated by tabs.

use std::sync::atomic::Ordering;

use miriam_textio::{
    BlockReader, Input, Log10, Output, Progress, number, ordered_map, split_lines,
};

use crate::text_scoring::check_block_length;
use crate::word_ids::{EncodedText, TextEncoder};
use crate::{Error, LanguageModel, LmWord, Result, State};

/// Bytes of text in a block of work: few, because each line takes as many scores as the
/// model has words.
const BLOCK: usize = 1 << 10;

/// The words that are printed.
#[derive(Clone, Debug)]
pub enum NextWordSelection {
    /// The n most probable words, the most probable first; equally probable ones in the order of
    /// their ids. `<s>`, which never follows a word, is not among them.
    Top(usize),
    /// These words, in this order, printed as given.
    Words(Vec<(Vec<u8>, LmWord)>),
}

/// Options for reading contexts and printing words.
#[derive(Clone, Debug)]
pub struct NextWordOptions {
    /// The words that are printed.
    pub candidates: NextWordSelection,
    /// Whether `<s>` comes before each line.
    pub sentence_markers: bool,
    /// The number of worker threads, from 1.
    pub threads: usize,
}

/// Checks that `model` has the text of its words, without which next words cannot be listed. `file`
/// is the name of the model in the error.
///
/// # Errors
///
/// If it does not, as files of KenLM's `build_binary -v` do not.
pub fn check_words(model: &dyn LanguageModel, file: &str) -> Result<()> {
    if model.word(LmWord::UNKNOWN).is_some() {
        return Ok(());
    }
    let reason = "the file does not hold its words, so next words cannot be listed; build it again \
                  from the ARPA file, without build_binary's option -v";
    Err(Error::Unsupported { file: file.to_owned(), reason: reason.into() })
}

/// Reads a list of words, separated by whitespace, from `input`; returns them with
/// their ids.
///
/// # Errors
///
/// If the input cannot be read or has 4 GiB or more.
pub fn read_words(model: &dyn LanguageModel, mut input: Input) -> Result<Vec<(Vec<u8>, LmWord)>> {
    let name = input.name().to_owned();
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut input, &mut text)
        .map_err(|error| miriam_textio::Error::io(&name, "read", error))?;
    if text.len() >= u32::MAX as usize - 1 {
        return Err(Error::Unsupported { file: name, reason: "4 GiB of words or more".into() });
    }
    text.push(b'\n');
    let mut words = EncodedText::default();
    TextEncoder::new(model, false, true).encode(&text, &mut words);
    let spans = words.spans.iter().map(|&(start, end)| &text[start as usize..end as usize]);
    Ok(spans.map(<[u8]>::to_vec).zip(words.ids).collect())
}

/// Prints the words that may follow each line of `input`.
///
/// # Errors
///
/// If the input cannot be read, has a line of 4 GiB or more, or the output cannot be
/// written.
pub fn print_next_words(
    model: &dyn LanguageModel,
    input: Input,
    output: &mut Output,
    options: &NextWordOptions,
    progress: &dyn Progress,
) -> Result<()> {
    let (size, consumed) = (input.size(), input.consumed());
    let name = input.name().to_owned();
    let mut blocks = BlockReader::new(input, BLOCK, size.is_none());
    let task = progress.task("scoring", size);
    ordered_map(
        options.threads,
        || -> Result<Option<Vec<u8>>> {
            let mut block = Vec::new();
            let more = blocks.read_block(&mut block)?;
            task.set_position(consumed.load(Ordering::Relaxed));
            check_block_length(&name, &block)?;
            Ok(more.then_some(block))
        },
        || {
            let mut scorer = NextWordScorer::new(model, options);
            move |block| {
                let mut output_text = Vec::new();
                for line in split_lines(&block) {
                    scorer.print_line(line, &mut output_text);
                }
                output_text
            }
        },
        |output_text, more| {
            output.write(&output_text)?;
            if !more {
                output.flush()?;
            }
            Ok(())
        },
    )
}

/// Returns the `count` most probable words after `context`, as [`NextWordSelection::Top`] says.
/// With `markers` the context follows `<s>`.
///
/// ```
/// use miriam_lmcpu::next_word::most_probable;
/// # let file = tempfile::NamedTempFile::new()?;
/// # let arpa = "\\data\\\nngram 1=4\nngram 2=2\n\n\
/// #     \\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n-1.25\t</s>\n-1.5\ta\t-0.25\n\n\
/// #     \\2-grams:\n-0.5\t<s> a\n-0.75\ta </s>\n\n\\end\\\n";
/// # std::fs::write(file.path(), arpa)?;
/// # let load = miriam_storage::LoadMethod::Lazy;
/// let model = miriam_lmcpu::open(file.path(), load, &miriam_textio::NoProgress)?;
/// let best = most_probable(&*model, b"a", true, 1);
/// assert_eq!((model.word(best[0].0), best[0].1.0), (Some(&b"</s>"[..]), -0.75));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn most_probable(
    model: &dyn LanguageModel,
    context: &[u8],
    markers: bool,
    count: usize,
) -> Vec<(LmWord, Log10)> {
    let options = NextWordOptions {
        candidates: NextWordSelection::Top(count),
        sentence_markers: markers,
        threads: 1,
    };
    let mut scorer = NextWordScorer::new(model, &options);
    // A context is one line.
    let context: Vec<u8> =
        context.iter().map(|&byte| if byte == b'\n' { b' ' } else { byte }).collect();
    scorer.score_line(&context);
    scorer.rank(count);
    scorer.ranking.iter().map(|&at| (LmWord(at), scorer.scores[at as usize])).collect()
}

/// A scorer of lines; each thread has its own.
struct NextWordScorer<'m> {
    model: &'m dyn LanguageModel,
    options: &'m NextWordOptions,
    encoder: TextEncoder<'m>,
    /// The id of `<s>`, to which models of lmplz give the probability 1.
    bos_id: Option<u32>,
    line: Vec<u8>,
    words: EncodedText,
    candidates: Vec<LmWord>,
    scores: Vec<Log10>,
    /// Indices of candidates.
    ranking: Vec<u32>,
}

impl<'m> NextWordScorer<'m> {
    fn new(model: &'m dyn LanguageModel, options: &'m NextWordOptions) -> Self {
        let candidates: Vec<LmWord> = match &options.candidates {
            NextWordSelection::Top(_) => (0..model.num_words() as u32).map(LmWord).collect(),
            NextWordSelection::Words(words) => words.iter().map(|word| word.1).collect(),
        };
        NextWordScorer {
            model,
            options,
            encoder: TextEncoder::new(model, false, false),
            bos_id: Some(model.word_id(b"<s>")).filter(|&id| id != LmWord::UNKNOWN).map(|id| id.0),
            line: Vec::new(),
            words: EncodedText::default(),
            scores: vec![Log10::default(); candidates.len()],
            candidates,
            ranking: Vec::new(),
        }
    }

    /// Scores every candidate after `line`.
    fn score_line(&mut self, line: &[u8]) {
        self.line.clear();
        self.line.extend_from_slice(line);
        self.line.push(b'\n');
        self.encoder.encode(&self.line, &mut self.words);
        let mut state =
            if self.options.sentence_markers { self.model.begin_state() } else { State::EMPTY };
        let mut next = State::EMPTY;
        for &word in &self.words.ids {
            self.model.score(&state, word, &mut next);
            state.copy_from(&next);
        }
        self.model.score_next_words(&state, &self.candidates, &mut self.scores);
    }

    /// Ranks the `count` best of all words but `<s>`.
    fn rank(&mut self, count: usize) {
        self.ranking.clear();
        let bos_id = self.bos_id;
        self.ranking.extend((0..self.scores.len() as u32).filter(|&id| Some(id) != bos_id));
        let scores = &self.scores;
        if count < self.ranking.len() {
            self.ranking.select_nth_unstable_by(count, |a, b| compare_ranks(scores, a, b));
            self.ranking.truncate(count);
        }
        self.ranking.sort_unstable_by(|a, b| compare_ranks(scores, a, b));
    }

    fn print_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        self.score_line(line);
        if let NextWordSelection::Top(count) = self.options.candidates {
            self.rank(count);
        }
        let start = out.len();
        let mut push = |word: &[u8], log10: Log10| {
            if out.len() > start {
                out.push(b'\t');
            }
            out.extend_from_slice(word);
            out.push(b'\t');
            number::push_shortest_f32(out, log10.0);
        };
        match &self.options.candidates {
            NextWordSelection::Words(words) => {
                words.iter().zip(&self.scores).for_each(|(word, &score)| push(&word.0, score));
            }
            NextWordSelection::Top(_) => {
                for &at in &self.ranking {
                    push(self.model.word(LmWord(at)).unwrap_or_default(), self.scores[at as usize]);
                }
            }
        }
        out.push(b'\n');
    }
}

/// Compares words by falling probability; equally probable ones by their ids.
fn compare_ranks(scores: &[Log10], a: &u32, b: &u32) -> std::cmp::Ordering {
    scores[*b as usize].0.total_cmp(&scores[*a as usize].0).then(a.cmp(b))
}
