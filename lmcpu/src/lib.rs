//! N-gram language models on the CPU, with KenLM's scores and states to the bit.
//!
//! [`open`](open()) opens any model file as a [`LanguageModel`]. ARPA text is read by [`arpa`] and
//! built into a [`probing`] model or a [`trie`]; KenLM's binary files are mapped and used as they
//! are ([`kenlm`]); [`dump`](dump()) writes any model as ARPA text. [`estimate`] estimates a model
//! from plain text, as lmplz does; [`filter`] reduces a model to what given sentences need.
//! [`query`], [`perplexity`] and [`next_word`] print what `miriam lm` prints; [`line_scoring`]
//! gives the same scores for lines in memory.
//!
//! A model estimated from text and queried:
//!
//! ```
//! use miriam_lmcpu::estimate::{EstimateOptions, estimate};
//! use miriam_lmcpu::{State, open};
//! use miriam_storage::LoadMethod;
//! use miriam_textio::{Input, NoProgress, Output};
//!
//! let folder = tempfile::tempdir()?;
//! let arpa = folder.path().join("toy.arpa");
//! // So small a text needs discounts to be given.
//! let options =
//!     EstimateOptions { discount_fallback: Some([0.5, 1.0, 1.5]), ..EstimateOptions::new(2) };
//! let text = Input::from_reader(&b"a b\na a b\nb a\n"[..], "text", None)?;
//! let mut output = Output::create(&arpa)?;
//! let summary = estimate(&options, text, &mut output, &NoProgress)?;
//! output.finish()?;
//! assert_eq!((summary.tokens, summary.types), (7, 5));
//!
//! let model = open(&arpa, LoadMethod::Lazy, &NoProgress)?;
//! let (mut state, mut next) = (model.begin_state(), State::EMPTY);
//! let mut lengths = Vec::new();
//! for word in [model.word_id(b"b"), model.word_id(b"c"), model.end_of_sentence()] {
//!     let (log10, matched) = model.score(&state, word, &mut next);
//!     assert!(log10.0 < 0.0);
//!     lengths.push(matched);
//!     state.copy_from(&next);
//! }
//! // `<s> b` is a bigram of the text, `c` is unknown.
//! assert_eq!(lengths, [2, 1, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod arpa;
mod batch;
mod blank_lists;
mod dump;
mod duplicates;
mod error;
pub mod estimate;
pub mod filter;
mod hash;
mod indexed_model;
pub mod json_lines;
pub mod kenlm;
pub mod level_source;
pub mod line_scoring;
mod lm_word;
mod model;
mod model_head;
pub mod next_word;
mod ngram_errors;
mod ngram_index;
mod ngram_source;
mod open;
mod open_source;
pub mod perplexity;
pub mod probing;
pub mod query;
pub mod sorted;
mod state;
#[cfg(test)]
mod test_support;
mod text_scoring;
pub mod trie;
mod walk;
pub mod word_ids;
mod word_key;

pub use arpa::{ArpaOptions, DuplicatePolicy, MissingMarkerPolicy, PositivePolicy};
pub use blank_lists::BlankLists;
pub use dump::dump;
pub use duplicates::{AsDuplicateError, read_keeping_first};
pub use error::{Error, Result};
pub use lm_word::LmWord;
pub use model::{LanguageModel, Request, ScoreResult};
pub use model_head::{HeadMetadata, ModelHead, ModelVocabulary, check_values};
pub use ngram_index::{FoundNgram, LookupStep, NO_EXTENSION, NgramIndex};
pub use ngram_source::NgramSource;
pub use open::{OpenOptions, is_binary_model, open};
pub use open_source::open_source;
pub use probing::verify;
pub use state::{MAX_ORDER, State};
