//! Parallel corpora and the batches of an epoch (`docs/spec/training.md` A.11).

mod annotations;
mod batch_file;
mod batch_source;
mod batches;
mod case_augmentation;
mod corpus;

pub use annotations::{
    InvalidField, PairAnnotations, TargetLink, WeightScope, parse_alignment, parse_weights,
    weigh_links,
};
pub use batch_file::BatchFile;
pub use batch_source::{BatchSource, MicroBatchLimits, MicroBatchTokens};
pub use batches::{
    BatchOptions, BatchPosition, BatchReader, BatchSize, Shuffle, SortKey, sample_pairs,
};
pub use case_augmentation::CaseAugmentation;
pub use corpus::{CorpusCounts, ParallelCorpus, Sequences, TokenIds};
pub use miriam_nmt::score::LengthLimit;
