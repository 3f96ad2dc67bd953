//! Search and output options as typed values, with Moses2's defaults.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::settings_reader::SettingsReader;
use super::{InputSettings, OutputOptions, Parameters, ServerSettings, output_options, rescoring};
use crate::Result;
use crate::output_streams::OutputStream;

/// The search algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchAlgorithm {
    /// Stack decoding: one stack per number of covered words (`docs/spec/phrase-decoding.md` 3.12).
    Stack,
    /// Cube pruning over mini-stacks (3.11).
    CubePruning,
}

/// Options of the search and of the output (`docs/spec/phrase-decoding.md` 1.4).
#[derive(Clone, Debug)]
pub struct Settings {
    /// The text to translate; `-` is standard input.
    pub input: PathBuf,
    /// The path of each output stream; `-` is standard output.
    pub outputs: Vec<(OutputStream, PathBuf)>,
    /// The number of worker threads.
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
    /// The minimum number of entries of a sentence's n-best list that the models of `[rescore]`
    /// score; they score more if a longer list is requested.
    pub rescore_list_size: usize,
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
    /// The server to start instead of translating a text.
    pub server: ServerSettings,
}

impl Settings {
    pub(super) fn new(ini: &Path, parameters: &Parameters) -> Result<Self> {
        let read = SettingsReader { ini, parameters };
        let algorithm = match read.integer("search-algorithm", 0)? {
            0 => SearchAlgorithm::Stack,
            1 | 14 => SearchAlgorithm::CubePruning,
            n @ (4 | 10..=13) => {
                tracing::warn!("search-algorithm {n} is an experiment of Moses2; 1 is used");
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
            return read.fail(
                "stack",
                "a stack holds at least one hypothesis; for no limit give a large number",
            );
        }
        let max_phrase_length = read.count("max-phrase-length", 20)?;
        if max_phrase_length == 0 {
            return read.fail("max-phrase-length", "give a number of words from 1");
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
            None | Some("all") => miriam_textio::available_threads(),
            Some(text) => match text.parse() {
                Ok(n) if (1..=4096).contains(&n) => n,
                _ => return read.fail("threads", "give a number from 1 to 4096, or all"),
            },
        };
        let mark_unknown = read.boolean("mark-unknown", false)?.then(|| {
            fn text(name: &str, default: &str, parameters: &Parameters) -> String {
                match parameters.get(name) {
                    Some([value, ..]) => value.clone(),
                    _ => default.to_owned(),
                }
            }
            (
                text("unknown-word-prefix", "UNK", parameters),
                text("unknown-word-suffix", "", parameters),
            )
        });
        if mark_unknown.is_none() {
            for name in ["unknown-word-prefix", "unknown-word-suffix"] {
                if parameters.get(name).is_some() {
                    tracing::warn!("{name} does nothing without mark-unknown");
                }
            }
        }
        let rescore_list_size = read.count("rescore-n-best", rescoring::DEFAULT_LIST_SIZE)?;
        if rescore_list_size == 0 {
            return read.fail("rescore-n-best", "a list that is scored has at least one entry");
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
            rescore_list_size,
            max_phrase_length,
            drop_unknown: read.boolean("drop-unknown", false)?,
            mark_unknown,
            print_score: read.boolean("output-hypo-score", false)?,
            // Moses2 checks only whether the option is present.
            print_segmentation: parameters.get("report-segmentation").is_some(),
            output,
            keep_cr: read.boolean("keep-cr", false)?,
            copy_known_words: read.boolean("always-create-direct-transopt", false)?,
            time_limit: read.time_limit()?,
            show_weights: parameters.get("show-weights").is_some(),
            input_format: InputSettings::new(&read)?,
            server: ServerSettings::read(&read)?,
        })
    }
}

impl Settings {
    /// Whether an output needs hypotheses that lost a recombination.
    pub(crate) fn needs_lattice(&self) -> bool {
        self.outputs.iter().any(|(stream, _)| match stream {
            OutputStream::NBest => self.output.n_best.is_some_and(|list| list.size > 0),
            OutputStream::SearchGraph => true,
            _ => false,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hypotheses that lost a recombination are kept only if an output needs them.
    #[test]
    fn only_lists_and_graphs_need_a_lattice() {
        let needs = |options: &[(&str, &str)]| {
            let mut parameters = Parameters::default();
            for (name, values) in options {
                parameters.values_mut(name).extend(values.split_whitespace().map(str::to_owned));
            }
            Settings::new(Path::new("moses.ini"), &parameters).unwrap().needs_lattice()
        };
        assert!(!needs(&[]));
        assert!(!needs(&[("report-segmentation-enriched", "")]));
        assert!(!needs(&[("alignment-output-file", "a"), ("translation-details", "d")]));
        assert!(!needs(&[("n-best-list", "f 0")]));
        assert!(needs(&[("n-best-list", "f 1")]));
        assert!(needs(&[("output-search-graph", "g")]));
    }
}
