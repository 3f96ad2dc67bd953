//! Neural and n-gram models as features of n-best lists.
//!
//! `miriam-combine` and the decoder work with n-best lists and weights; the crates of models score
//! texts. This crate connects both, for the command line, the server and Python.

#![forbid(unsafe_code)]

mod neural;
mod ngram;
mod system;

pub use neural::NeuralFeature;
pub use ngram::NgramFeature;
pub use system::load_system;
