//! Search and output options as typed values, with Moses2's defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use miriam_textio::parse_truth_word;

use super::{InputSettings, OutputOptions, Parameters, cpu_affinity, output_options};
use crate::Result;
use crate::output_streams::OutputStream;

/// The search algorithm.
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
    /// The path of each output stream; `-` is standard output.
    pub outputs: Vec<(OutputStream, PathBuf)>,
    /// Worker threads.
    pub threads: usize,
    /// The CPU of each worker, cyclically; empty if the system chooses.
    pub cpus: Vec<usize>,
    /// The search algorithm.
    pub algorithm: SearchAlgorithm,
    /// The stack size (cube pruning: of a mini-stack), at least 1.
    pub stack_size: usize,
    /// The pop limit of a stack in cube pruning.
    pub pop_limit: usize,
    /// Whether the best hypothesis of every edge is added beyond the pop limit.
    pub diversity: bool,
    /// Whether stateful features are scored when an item is popped.
    pub lazy_scoring: bool,
    /// The beam, as a natural logarithm.
    pub beam_threshold: f32,
    /// The distortion limit in words; `None` for no limit.
    pub distortion_limit: Option<i64>,
    /// Whether the cost of a jump is charged as soon as it is unavoidable.
    pub early_distortion: bool,
    /// Whether hypotheses whose future scores may differ are never recombined.
    pub exact_recombination: bool,
    /// The longest source phrase looked up, in words.
    pub max_phrase_length: usize,
    /// Whether unknown words are dropped.
    pub drop_unknown: bool,
    /// Prefix and suffix of unknown words, if they are marked.
    pub mark_unknown: Option<(String, String)>,
    /// Whether the score precedes each translation.
    pub print_score: bool,
    /// Whether `|start-end|` follows each phrase.
    pub print_segmentation: bool,
    /// The other outputs.
    pub output: OutputOptions,
    /// Whether a CR at a line's end belongs to its last word.
    pub keep_cr: bool,
    /// Whether known words may also be copied like unknown ones.
    pub copy_known_words: bool,
    /// The time after which a sentence is translated by a narrower search.
    pub time_limit: Option<Duration>,
    /// Whether to print the weights and translate nothing.
    pub show_weights: bool,
    /// The syntax of input lines.
    pub input_format: InputSettings,
}

impl Settings {
    pub(super) fn new(ini: &Path, parameters: &Parameters) -> Result<Self> {
        let read = SettingsReader { ini, parameters };
        let algorithm = match read.integer("search-algorithm", 0)? {
            0 => SearchAlgorithm::Stack,
            1 | 14 => SearchAlgorithm::CubePruning,
            n @ (4 | 10..=13) => {
                tracing::warn!("search-algorithm {n} is an experiment of Moses2's; 1 is used");
                SearchAlgorithm::CubePruning
            }
            3 | 5..=9 => {
                let reason = "hierarchical and syntactic decoding are not available";
                return read.fail("search-algorithm", reason);
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
            None => miriam_textio::available_threads(),
            Some("all") => miriam_textio::available_threads(),
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
        if mark_unknown.is_none() {
            for name in ["unknown-word-prefix", "unknown-word-suffix"] {
                if parameters.get(name).is_some() {
                    tracing::warn!("{name} does nothing without mark-unknown");
                }
            }
        }
        let mut outputs = Vec::new();
        let output = OutputOptions::read(&read, &mut outputs)?;
        if let Some(path) = read.value("errors")? {
            outputs.push((OutputStream::Errors, output_options::output_path(path)));
        }
        Ok(Settings {
            input: read.value("input-file")?.unwrap_or("-").into(),
            outputs,
            threads,
            cpus: read.read_cpus(threads)?,
            algorithm,
            stack_size,
            pop_limit: read.count("cube-pruning-pop-limit", 1000)?,
            diversity: read.count("cube-pruning-diversity", 0)? != 0,
            lazy_scoring: read.boolean("cube-pruning-lazy-scoring", false)?,
            beam_threshold: miriam_textio::Ln::from_probability(beam).0,
            distortion_limit,
            early_distortion: read.boolean("early-distortion-cost", false)?,
            exact_recombination: read.boolean("exact-recombination", false)?,
            max_phrase_length: read.count("max-phrase-length", 20)?.max(1),
            drop_unknown: read.boolean("drop-unknown", false)?,
            mark_unknown,
            print_score: read.boolean("output-hypo-score", false)?,
            // Moses2 checks only its presence.
            print_segmentation: parameters.get("report-segmentation").is_some(),
            output,
            keep_cr: read.boolean("keep-cr", false)?,
            copy_known_words: read.boolean("always-create-direct-transopt", false)?,
            time_limit: read.time_limit()?,
            show_weights: parameters.get("show-weights").is_some(),
            input_format: InputSettings::new(&read)?,
        })
    }
}

/// Reads single values, with errors that name the parameter.
pub(super) struct SettingsReader<'a> {
    pub(super) ini: &'a Path,
    pub(super) parameters: &'a Parameters,
}

impl SettingsReader<'_> {
    pub(super) fn fail<T>(&self, name: &str, reason: impl Into<String>) -> Result<T> {
        Err(self.parameters.invalid_value(self.ini, name, reason))
    }

    pub(super) fn value(&self, name: &str) -> Result<Option<&str>> {
        match self.parameters.get(name) {
            None => Ok(None),
            Some([value]) => Ok(Some(value)),
            Some([]) => self.fail(name, "needs a value"),
            Some(values) => self.fail(name, format!("takes one value, not {}", values.len())),
        }
    }

    /// All values, split at blanks.
    pub(super) fn split_values(&self, name: &str) -> Option<Vec<String>> {
        let values = self.parameters.get(name)?;
        let words = values.iter().flat_map(|value| value.split_ascii_whitespace());
        Some(words.map(str::to_owned).collect())
    }

    /// `cpus`, else Moses2's offset and increment.
    fn read_cpus(&self, threads: usize) -> Result<Vec<usize>> {
        if let Some(list) = self.value("cpus")? {
            return cpu_affinity::parse_cpu_list(list).or_else(|reason| self.fail("cpus", reason));
        }
        let offset = self.integer("cpu-affinity-offset", -1)?;
        let increment = self.integer("cpu-affinity-increment", 1)?;
        if offset < 0 {
            return Ok(Vec::new());
        }
        match miriam_textio::affinity::allowed_cpus() {
            Ok(allowed) => {
                Ok(cpu_affinity::assign_round_robin(offset, increment, threads, &allowed))
            }
            Err(reason) => self.fail("cpu-affinity-offset", reason.to_string()),
        }
    }

    pub(super) fn integer(&self, name: &str, default: i64) -> Result<i64> {
        match self.value(name)? {
            None => Ok(default),
            Some(text) => match text.parse() {
                Ok(n) => Ok(n),
                Err(_) => self.fail(name, format!("{text:?} is not a whole number")),
            },
        }
    }

    pub(super) fn count(&self, name: &str, default: usize) -> Result<usize> {
        match usize::try_from(self.integer(name, default as i64)?) {
            Ok(n) => Ok(n),
            Err(_) => self.fail(name, "takes a number that is not negative"),
        }
    }

    /// `timeout-ms`, or Moses 1's options in seconds, whose 0 and -1 mean none.
    fn time_limit(&self) -> Result<Option<Duration>> {
        if self.value("timeout-ms")?.is_some() {
            return match self.integer("timeout-ms", 0)? {
                1.. => Ok(Some(Duration::from_millis(self.count("timeout-ms", 0)? as u64))),
                _ => self.fail("timeout-ms", "give a number of milliseconds from 1 on"),
            };
        }
        if self.value("time-out")?.is_some_and(|text| !matches!(text, "0" | "-1")) {
            tracing::warn!("time-out limits each sentence, not the run");
        }
        let seconds = self.integer("segment-time-out", self.integer("time-out", 0)?)?;
        Ok(u64::try_from(seconds).ok().filter(|&s| s > 0).map(Duration::from_secs))
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
            Some([value]) => match parse_truth_word(value) {
                Some(value) => Ok(value),
                None => self.fail(name, format!("{value:?} is neither true nor false")),
            },
            Some(values) => self.fail(name, format!("takes one value, not {}", values.len())),
        }
    }
}
