//! Search and output options as typed values, with Moses2's defaults.

use std::path::{Path, PathBuf};

use super::{InputSettings, Parameters};
use crate::{Result, Stream};

/// How hypotheses are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchAlgorithm {
    /// One stack a number of covered words, every expansion evaluated
    /// (`phrase-decoding.md` 3.12).
    Stack,
    /// Cube pruning over mini-stacks (3.11).
    CubePruning,
}

/// Options of the search and of the output (`phrase-decoding.md` 1.4).
#[derive(Clone, Debug)]
pub struct Settings {
    /// The text to translate; `-` is standard input.
    pub input: PathBuf,
    /// What is written where; `-` is standard output.
    pub outputs: Vec<(Stream, PathBuf)>,
    /// Worker threads.
    pub threads: usize,
    /// How hypotheses are built.
    pub algorithm: SearchAlgorithm,
    /// Hypotheses kept a stack (cube pruning: a mini-stack), at least 1.
    pub stack_size: usize,
    /// Pops a stack in cube pruning.
    pub pop_limit: usize,
    /// Whether the best hypothesis of every edge is added beyond the limit.
    pub diversity: bool,
    /// Whether stateful features are scored when an item is popped.
    pub lazy_scoring: bool,
    /// The beam, as a natural logarithm.
    pub beam: f32,
    /// The farthest jump in words; nothing for no limit.
    pub distortion_limit: Option<i64>,
    /// The longest source phrase looked up, in words.
    pub max_phrase_length: usize,
    /// Whether unknown words are left out.
    pub drop_unknown: bool,
    /// Prefix and suffix of unknown words, where they are to be marked.
    pub mark_unknown: Option<(String, String)>,
    /// Whether the score stands before each translation.
    pub print_score: bool,
    /// Whether `|start-end|` stands behind each phrase.
    pub print_segmentation: bool,
    /// Whether a CR at a line's end belongs to its last word.
    pub keep_cr: bool,
    /// What may stand in a line besides words, and how words are written.
    pub text: InputSettings,
}

impl Settings {
    pub(super) fn new(ini: &Path, parameters: &Parameters) -> Result<Self> {
        let read = Reader { ini, parameters };
        let algorithm = match read.integer("search-algorithm", 0)? {
            0 => SearchAlgorithm::Stack,
            1 | 14 => SearchAlgorithm::CubePruning,
            3 => {
                return read.fail("search-algorithm", "3, hierarchical decoding, is not supported");
            }
            n => {
                let reason = format!("{n} is not supported; 0 is stack decoding, 1 cube pruning");
                return read.fail("search-algorithm", reason);
            }
        };
        let stack_size = read.count("stack", 200)?;
        if stack_size == 0 {
            return read.fail("stack", "a stack holds at least one hypothesis");
        }
        let beam = read.number("beam-threshold", 0.00001)?;
        if !(0.0..=1.0).contains(&beam) {
            return read.fail("beam-threshold", "the beam is a probability from 0 to 1");
        }
        let distortion_limit = match read.integer("distortion-limit", -1)? {
            -1 => None,
            limit if limit >= 0 => Some(limit),
            limit => {
                let reason =
                    format!("{limit}: give a number of words, 0 for monotone, -1 for no limit");
                return read.fail("distortion-limit", reason);
            }
        };
        let threads = match read.value("threads")? {
            None => miriam_text::available_threads(),
            Some("all") => miriam_text::available_threads(),
            Some(text) => match text.parse() {
                Ok(n) if (1..=4096).contains(&n) => n,
                _ => return read.fail("threads", "give a number from 1 to 4096, or all"),
            },
        };
        let mark_unknown = read.boolean("mark-unknown", false)?.then(|| {
            let text = |name, default: &str| match parameters.get(name) {
                Some([value, ..]) => value.clone(),
                _ => default.to_owned(),
            };
            (text("unknown-word-prefix", "UNK"), text("unknown-word-suffix", ""))
        });
        Ok(Settings {
            input: read.value("input-file")?.unwrap_or("-").into(),
            outputs: vec![(Stream::Best, read.value("output-file")?.unwrap_or("-").into())],
            threads,
            algorithm,
            stack_size,
            pop_limit: read.count("cube-pruning-pop-limit", 1000)?,
            diversity: read.count("cube-pruning-diversity", 0)? != 0,
            lazy_scoring: read.boolean("cube-pruning-lazy-scoring", false)?,
            beam: miriam_text::Ln::of_probability(beam).0,
            distortion_limit,
            max_phrase_length: read.count("max-phrase-length", 20)?.max(1),
            drop_unknown: read.boolean("drop-unknown", false)?,
            mark_unknown,
            print_score: read.boolean("output-hypo-score", false)?,
            // Moses2 looks only whether it is there.
            print_segmentation: parameters.get("report-segmentation").is_some(),
            keep_cr: read.boolean("keep-cr", false)?,
            text: InputSettings::new(&read)?,
        })
    }
}

/// Reads single values, with complaints that name the parameter.
pub(super) struct Reader<'a> {
    ini: &'a Path,
    parameters: &'a Parameters,
}

impl Reader<'_> {
    pub(super) fn fail<T>(&self, name: &str, reason: impl Into<String>) -> Result<T> {
        Err(self.parameters.complain(self.ini, name, reason))
    }

    pub(super) fn value(&self, name: &str) -> Result<Option<&str>> {
        match self.parameters.get(name) {
            None => Ok(None),
            Some([value]) => Ok(Some(value)),
            Some([]) => self.fail(name, "needs a value"),
            Some(values) => self.fail(name, format!("takes one value, not {}", values.len())),
        }
    }

    /// All values, cut at blanks.
    pub(super) fn words(&self, name: &str) -> Option<Vec<String>> {
        let values = self.parameters.get(name)?;
        let words = values.iter().flat_map(|value| value.split_ascii_whitespace());
        Some(words.map(str::to_owned).collect())
    }

    fn integer(&self, name: &str, default: i64) -> Result<i64> {
        match self.value(name)? {
            None => Ok(default),
            Some(text) => match text.parse() {
                Ok(n) => Ok(n),
                Err(_) => self.fail(name, format!("{text:?} is not a whole number")),
            },
        }
    }

    fn count(&self, name: &str, default: usize) -> Result<usize> {
        match usize::try_from(self.integer(name, default as i64)?) {
            Ok(n) => Ok(n),
            Err(_) => self.fail(name, "takes a number that is not negative"),
        }
    }

    fn number(&self, name: &str, default: f32) -> Result<f32> {
        match self.value(name)? {
            None => Ok(default),
            Some(text) => match text.parse() {
                Ok(n) => Ok(n),
                Err(_) => self.fail(name, format!("{text:?} is not a number")),
            },
        }
    }

    /// Absent: the default; without a value: true; otherwise yes or no (1.3).
    pub(super) fn boolean(&self, name: &str, default: bool) -> Result<bool> {
        match self.parameters.get(name) {
            None => Ok(default),
            Some([]) => Ok(true),
            Some([value]) => match parse_boolean(value) {
                Some(value) => Ok(value),
                None => self.fail(name, format!("{value:?} is neither true nor false")),
            },
            Some(values) => self.fail(name, format!("takes one value, not {}", values.len())),
        }
    }
}

/// yes, y, true, 1, no, n, false or 0 in any case.
pub(super) fn parse_boolean(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "y" | "true" | "1" => Some(true),
        "no" | "n" | "false" | "0" => Some(false),
        _ => None,
    }
}
