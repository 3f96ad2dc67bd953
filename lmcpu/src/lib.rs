//! N-gram language models on the CPU, with KenLM's scores and states to the bit.
//!
//! [`open`] opens any model behind the [`LanguageModel`] trait. ARPA text is
//! read by [`arpa`] and built into a [`probing`] model or a [`trie`]; KenLM's files are
//! read where they lie ([`kenlm`]); [`dump`] writes any model as ARPA text.
//! [`estimate`] makes ARPA text from plain text, as lmplz does.
//! [`query`], [`perplexity`] and [`next`] are what `miriam lm` prints.

#![forbid(unsafe_code)]

pub mod arpa;
mod batch;
mod dump;
mod duplicates;
mod error;
pub mod estimate;
mod file_checks;
mod hash;
mod index;
pub mod json_lines;
pub mod kenlm;
mod level_source;
mod model;
pub mod next_word;
mod ngram_errors;
mod open;
pub mod perplexity;
pub mod probing;
mod progress_stage;
pub mod query;
pub mod sorted;
mod source;
mod state;
#[cfg(test)]
mod test_support;
mod text_scoring;
pub mod trie;
mod walk;
pub mod word_ids;
mod word_key;

pub use dump::dump;
pub use duplicates::DuplicatePolicy;
pub use error::{Error, Result};
pub use index::{FoundNgram, LookupStep, NO_EXTENSION, NgramIndex};
pub use model::{LanguageModel, LmWord, Request, ScoreResult};
pub use open::open;
pub use probing::verify;
pub use progress_stage::ProgressStage;
pub use source::{NgramSource, open_source};
pub use state::{MAX_ORDER, State};
