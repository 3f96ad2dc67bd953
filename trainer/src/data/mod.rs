//! Parallel corpora and the batches of an epoch (`training.md` A.11).

mod batches;
mod corpus;

pub use batches::{BatchOptions, BatchPosition, BatchReader, BatchSize, Shuffle, SortKey};
pub use corpus::{CorpusCounts, LengthLimit, ParallelCorpus, TokenIds};
