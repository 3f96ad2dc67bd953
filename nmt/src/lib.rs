//! Neural translation models: other people's files and our own, what they are, and what
//! lies beside them.
//!
//! A model is read in two steps. [`checkpoint`] gives named tensors where they lie,
//! whatever the format. [`architecture`] says what they are: one typed description for
//! all formats, with every parameter it needs found, in one set of names and of one
//! shape. [`Package`] adds what lies beside a model, and finds all of it by one path;
//! [`file`] writes it into one file of ours.

#![forbid(unsafe_code)]

pub mod architecture;
pub mod batch;
pub mod checkpoint;
pub mod engine;
mod error;
pub mod file;
pub mod layer;
pub mod network;
mod package;
mod report;
pub mod score;
pub mod search;
mod segmentation;
mod settings;
pub mod shortlist;
pub mod study;
pub mod translate;
mod vocabulary;
pub mod yaml;

pub use error::{Error, Result};
pub use file::{KIND, verify};
pub use package::{Candidates, Package, Words};
pub use report::{DIALECTS, Report};
pub use segmentation::{CodesFile, JOINER, PieceModel, Segmentation};
pub use settings::Settings;
pub use vocabulary::Vocabulary;
