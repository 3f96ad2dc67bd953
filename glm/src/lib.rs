//! The GPU language model: n-grams as a reverse trie whose nodes are immutable B-trees of minimal
//! depth (Bogoychev's thesis, chapter 4). The CPU maps and searches its file, and a GPU uses the
//! same file unchanged.
//!
//! [`format`](mod@format) describes the layout of the n-grams, and `docs/formats.md` describes
//! every byte. [`build_glm`] writes a file. [`GlmModel`] searches it on the CPU; with the cargo
//! feature `cuda`, a model of [`device`] searches it on a GPU. Models of both kinds are language
//! models for [`miriam_lmcpu`], which scores words, batches and text with them. Their scores are
//! equal to the bit. [`open()`] opens language models of every kind.
//!
//! # Examples
//!
//! A model built from ARPA text, and a bigram of it:
//!
//! ```
//! use miriam_glm::{GlmModel, GlmOptions, build_glm};
//! use miriam_lmcpu::{ArpaOptions, LanguageModel, State};
//! use miriam_storage::LoadMethod;
//! use miriam_textio::NoProgress;
//!
//! let folder = tempfile::tempdir()?;
//! let [arpa, file] = ["lm.arpa", "lm.glm"].map(|name| folder.path().join(name));
//! std::fs::write(
//!     &arpa,
//!     "\\data\\\nngram 1=4\nngram 2=2\n\n\
//!      \\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n-1.25\t</s>\n-1.5\ta\t-0.25\n\n\
//!      \\2-grams:\n-0.5\t<s> a\n-0.75\ta </s>\n\n\\end\\\n",
//! )?;
//! let options = GlmOptions::default();
//! let size = build_glm(&arpa, &file, &options, ArpaOptions::default(), &NoProgress)?;
//! assert_eq!(size.counts, [4, 2]);
//!
//! let model = GlmModel::open(&file, LoadMethod::Lazy)?;
//! let (a, mut after_a) = (model.word_id(b"a"), State::EMPTY);
//! let (log10, matched) = model.score(&model.begin_state(), a, &mut after_a);
//! assert_eq!((log10.0, matched), (-0.5, 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use open::{is_glm, open, open_as_kenlm, open_source};
pub use search::{Lookup, NodeRef};
pub use verify::verify;

#[cfg(test)]
mod tests;
