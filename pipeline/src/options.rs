//! The options of a training run.

use std::path::PathBuf;

use miriam_align::{AlignModel, Symmetrization};
use miriam_decoder::tuning::TuningAlgorithm;

use crate::NeuralOptions;

/// The options of `miriam train`.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// The source side of the parallel text: plain, .gz, .zst, .bz2 or .xz.
    pub source: PathBuf,
    /// The target side.
    pub target: PathBuf,
    /// Source and target side of the text that weights are tuned on.
    pub dev: Option<(PathBuf, PathBuf)>,
    /// Text for the language model in place of the target side.
    pub lm_text: Vec<PathBuf>,
    /// The folder of the model; it is created if it does not exist.
    pub output: PathBuf,
    /// The languages of the texts if these are raw, that is, not tokenised.
    pub raw_languages: Option<LanguagePair>,
    /// Lists of nonbreaking prefixes of the source and target side of raw texts, in Moses'
    /// format, in place of the built-in ones.
    pub nonbreaking_prefixes: [Option<PathBuf>; 2],
    /// The maximum number of words on a side; longer pairs are left out.
    pub max_words: usize,
    /// The maximum ratio of the sides' numbers of words; pairs above it are left out.
    pub max_ratio: usize,
    /// The alignment model.
    pub alignment_model: AlignModel,
    /// The heuristic that symmetrises the alignments of both directions.
    pub symmetrization: Symmetrization,
    /// The maximum phrase length in words.
    pub max_length: usize,
    /// The reordering model by its Moses name; `None` for no model.
    pub reordering: Option<String>,
    /// The order of the language model.
    pub lm_order: usize,
    /// The pruning threshold of each n-gram order: n-grams with counts up to the threshold are
    /// left out, as in `lm estimate`.
    pub lm_prune: Vec<u64>,
    /// The data structure of the language model.
    pub lm_kind: LmKind,
    /// The tuning of weights on the dev text; `None` keeps the initial weights.
    pub tuning: Option<Tuning>,
    /// The seed of random choices in tuning. The weights of a combination with neural models are
    /// tuned even if `tuning` is `None`.
    pub seed: u64,
    /// The neural models that are also trained, on the same text; `None` trains none.
    pub neural: Option<NeuralOptions>,
    /// Whether to also keep the tables and the language model as text.
    pub keep_text: bool,
    /// Whether to keep the intermediate files between stages.
    pub keep_work: bool,
    /// The memory limit in bytes of the stages that have one.
    pub memory: u64,
    /// Worker threads.
    pub threads: usize,
}

/// The two languages of a parallel text, by their ISO 639-1 codes.
#[derive(Clone, Debug)]
pub struct LanguagePair {
    /// The source language.
    pub source: String,
    /// The target language.
    pub target: String,
}

/// The data structure of a language model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LmKind {
    /// A probing hash table: fast.
    Probing,
    /// A trie: small.
    Trie,
}

/// The options of weight tuning.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// The method.
    pub method: TuningAlgorithm,
    /// The maximum number of iterations; `None` for the method's default.
    pub iterations: Option<usize>,
}

impl Default for Tuning {
    /// Returns batch MIRA.
    fn default() -> Self {
        Tuning { method: TuningAlgorithm::Mira, iterations: None }
    }
}

impl TrainOptions {
    /// Returns the defaults for a model in `output` from these files, as Moses' users train:
    /// phrases of up to 7 words, a reordering model, a language model of order 5, all cores.
    pub fn new(source: PathBuf, target: PathBuf, output: PathBuf) -> Self {
        TrainOptions {
            source,
            target,
            dev: None,
            lm_text: Vec::new(),
            output,
            raw_languages: None,
            nonbreaking_prefixes: [None, None],
            max_words: 80,
            max_ratio: 9,
            alignment_model: AlignModel::default(),
            symmetrization: Symmetrization::default(),
            max_length: 7,
            reordering: Some("wbe-msd-bidirectional-fe".into()),
            lm_order: 5,
            lm_prune: Vec::new(),
            lm_kind: LmKind::Probing,
            tuning: Some(Tuning::default()),
            seed: 1,
            neural: None,
            keep_text: false,
            keep_work: false,
            memory: miriam_lmcpu::estimate::default_memory(),
            threads: miriam_textio::available_threads(),
        }
    }
}
