//! n-best lists of one or several systems: minimum Bayes risk decoding, rescoring by other
//! models, reranking by weights, and tuning of the weights.
//!
//! Lists are read a sentence at a time and worked on by several threads. Results are written in the
//! order of the sentences and do not depend on the number of threads. Memory does not depend on the
//! length of a list, except in tuning, which keeps the features of all entries.

#![forbid(unsafe_code)]

mod error;
mod list_input;
pub mod lists;
pub mod mbr;
pub mod optimizers;
mod pooled_lists;
pub mod rerank;
pub mod rescore;
pub mod tune;
pub mod weights;

pub use error::{Error, Result};
pub use list_input::ListInput;
