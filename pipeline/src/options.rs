//! What to train from, into what, and within which means.

use std::path::PathBuf;

use miriam_align::{AlignModel, Symmetrization};
use miriam_decoder::tuning::Method;

/// Everything `miriam train` can be told.
#[derive(Clone, Debug)]
pub struct TrainOptions {
    /// The source side of the parallel text: plain, .gz or .zst.
    pub source: PathBuf,
    /// The target side.
    pub target: PathBuf,
    /// Source and target side of the text that weights are tuned on.
    pub dev: Option<(PathBuf, PathBuf)>,
    /// Text for the language model in place of the target side.
    pub lm_text: Vec<PathBuf>,
    /// The folder of the model; it is made if it is not there.
    pub output: PathBuf,
    /// The languages of the texts, where these are raw: not tokenised yet.
    pub raw_languages: Option<Languages>,
    /// Pairs with more words on a side are left out.
    pub max_words: usize,
    /// Pairs with more than this many words on one side for each on the other are
    /// left out.
    pub max_ratio: usize,
    /// The alignment model.
    pub alignment_model: AlignModel,
    /// How alignments of both directions are joined.
    pub symmetrization: Symmetrization,
    /// Words in the longest phrases.
    pub max_length: usize,
    /// The reordering model by its Moses name; none.
    pub reordering: Option<String>,
    /// The order of the language model.
    pub lm_order: usize,
    /// Counts up to which n-grams of each order are left out, as in `lm estimate`.
    pub lm_prune: Vec<u64>,
    /// The kind of the language model's file.
    pub lm_kind: LmKind,
    /// How weights are tuned, where there is a text to tune them on.
    pub tuning: Option<Tuning>,
    /// Also keep the tables and the language model as text.
    pub keep_text: bool,
    /// Keep what lies between stages.
    pub keep_work: bool,
    /// Bytes of memory that stages may use, as far as they can be told.
    pub memory: u64,
    /// Worker threads.
    pub threads: usize,
}

/// The two languages of a text, by their ISO 639-1 codes.
#[derive(Clone, Debug)]
pub struct Languages {
    /// Of the source side.
    pub source: String,
    /// Of the target side.
    pub target: String,
}

/// The kind of a language model's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LmKind {
    /// Fast.
    Probing,
    /// Small.
    Trie,
}

/// How weights are tuned.
#[derive(Clone, Copy, Debug)]
pub struct Tuning {
    /// The method.
    pub method: Method,
    /// What random choices begin from.
    pub seed: u64,
    /// The most times the text is decoded; nothing for the method's own choice.
    pub iterations: Option<usize>,
}

impl TrainOptions {
    /// Trains a model in `output` from these files as Moses' users do: phrases of up
    /// to 7 words, a reordering model, a language model of order 5, all cores.
    pub fn new(source: PathBuf, target: PathBuf, output: PathBuf) -> Self {
        TrainOptions {
            source,
            target,
            dev: None,
            lm_text: Vec::new(),
            output,
            raw_languages: None,
            max_words: 80,
            max_ratio: 9,
            alignment_model: AlignModel::default(),
            symmetrization: Symmetrization::default(),
            max_length: 7,
            reordering: Some("wbe-msd-bidirectional-fe".into()),
            lm_order: 5,
            lm_prune: Vec::new(),
            lm_kind: LmKind::Probing,
            tuning: Some(Tuning { method: Method::Mira, seed: 1, iterations: None }),
            keep_text: false,
            keep_work: false,
            memory: miriam_lmcpu::estimate::default_memory(),
            threads: miriam_textio::available_threads(),
        }
    }
}
