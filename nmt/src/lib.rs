//! Neural translation models: other people's files and our own, what they are, and what
//! lies beside them.
//!
//! A model is read in two steps. [`checkpoint`] gives named tensors where they lie,
//! whatever the format. [`architecture`] says what they are: one typed description for
//! all formats, with every parameter it needs found, in one set of names and of one
//! shape. [`Package`] adds what lies beside a model, and finds all of it by one path;
//! [`file`] writes it into one file of ours.

#![forbid(unsafe_code)]

pub mod ablation;
pub mod architecture;
pub mod batch;
pub mod checkpoint;
mod decoder_config;
pub mod engine;
mod error;
pub mod layer;
mod model_bundle;
pub mod model_file;
pub mod network;
pub mod packed;
pub mod reference;
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
