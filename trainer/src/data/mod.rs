//! Parallel corpora and the batches of an epoch (`training.md` A.11).

mod annotations;
mod batches;
mod corpus;

pub use annotations::{
    InvalidField, PairAnnotations, TargetLink, WeightScope, parse_alignment, parse_weights,
    weigh_links,
};
pub use batches::{BatchOptions, BatchPosition, BatchReader, BatchSize, Shuffle, SortKey};
pub use corpus::{CorpusCounts, LengthLimit, ParallelCorpus, Sequences, TokenIds};
