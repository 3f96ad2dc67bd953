//! The GPU language model: n-grams as a reverse trie whose nodes are immutable
//! B-trees of minimal depth (Bogoychev's thesis, chapter 4), in one file that the CPU
//! maps and searches and that a GPU takes unchanged.
//!
//! [`format`](mod@format) describes every byte. [`build_glm`] writes a file, [`GlmModel`]
//! searches it on the CPU, and [`device`], with the cargo feature `cuda`, on a GPU. Both
//! are language models of [`miriam_lmcpu`], which scores words, batches and text with
//! them, to the same bits. [`open()`] opens language models of every kind.

// Only `device/kernels.rs` has an unsafe block: it loads PTX.
#![cfg_attr(not(feature = "cuda"), forbid(unsafe_code))]
#![deny(unsafe_code)]

mod block_allocator;
pub mod build;
pub mod device;
mod error;
pub mod format;
mod model;
mod ngram_table;
mod open;
mod search;
mod source;
mod verify;

pub use build::{GlmOptions, build_glm, create_glm, write_glm};
pub use error::Error;
pub use model::{GlmModel, KIND, Level, VERSION};
pub use open::{is_glm, open, open_source};
pub use search::{Lookup, NodeRef};
pub use source::GlmSource;
pub use verify::verify;

#[cfg(test)]
mod tests;
