//! n-best lists of one or several systems: minimum Bayes risk decoding, scores of further models,
//! the best by weights, and the weights themselves.
//!
//! Lists are read a sentence at a time, worked on by several threads, and results are written in
//! the order of the sentences, so that neither memory nor output depends on the length of a list or
//! on the number of threads.

#![forbid(unsafe_code)]

mod error;
mod list_input;
pub mod lists;
pub mod mbr;
mod pooled_lists;
pub mod rerank;
pub mod rescore;
pub mod tune;
pub mod tuning;
pub mod weights;

pub use error::{Error, Result};
pub use list_input::ListInput;
