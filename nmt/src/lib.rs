//! Neural machine translation: reading models of Marian, Nematus, Amun, CTranslate2 and
//! Hugging Face, translating and scoring with them on CPUs.
//!
//! A model is read in two steps. [`checkpoint`] maps a file and gives its named tensors,
//! whatever the format. [`architecture`] gives them a meaning: one typed description for
//! all formats, with every parameter found under one set of names and in one shape.
//! [`ModelBundle`] adds vocabularies, tokenisers, shortlist and decoder configuration, all
//! found from one path; [`model_file`] writes a bundle into one file of this program.
//! [`network`] runs a model through [`layer`] and [`engine`], [`search`] and [`batch`]
//! decode, [`translate()`] and [`score()`] go from lines of text to lines of text.

#![forbid(unsafe_code)]

pub mod ablation;
pub mod architecture;
pub mod batch;
pub mod checkpoint;
mod decoder_config;
pub mod engine;
mod error;
mod json;
pub mod layer;
mod model_bundle;
pub mod model_file;
pub mod network;
mod report;
pub mod score;
pub mod search;
mod segmentation;
pub mod shortlist;
pub mod translate;
mod vocabulary;
pub mod yaml;

pub use decoder_config::DecoderConfig;
pub use error::{Error, Result};
pub use model_bundle::{ModelBundle, ShortlistGenerator, TokenizerPair};
pub use model_file::{KIND, verify};
pub use report::{DIALECTS, Report};
pub use segmentation::{BPE_SEPARATOR, BpeCodesFile, Segmentation, SentencePieceModel};
pub use vocabulary::Vocabulary;
