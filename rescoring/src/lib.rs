//! Neural and n-gram models as features of n-best lists.
//!
//! `miriam-combine` and the decoder know lists and weights, but no models. The crates of models
//! know no lists. This crate connects them, for the command line, the server and Python.

#![forbid(unsafe_code)]

mod neural;
mod ngram;
mod system;

pub use neural::NeuralFeature;
pub use ngram::NgramFeature;
pub use system::load_system;
