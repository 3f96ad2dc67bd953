//! The GPU language model: n-grams as a reverse trie whose nodes are immutable
//! B-trees of minimal depth (Bogoychev's thesis, chapter 4), in one file that the
//! CPU searches where it lies and that goes to a GPU as it is.
//!
//! [`format`](mod@format) says where every byte lies.

#![forbid(unsafe_code)]

pub mod device;
mod error;
pub mod format;
pub mod synthetic;

pub use error::{Error, Result};
