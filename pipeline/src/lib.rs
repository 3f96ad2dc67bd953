//! The stages of `miriam train`, from parallel text to a tuned phrase model, and of distillation,
//! from a large neural model to the training set of a small one ([`distill`]).
//!
//! Every stage is a library call of another crate; this crate defines their order and their
//! files. A stage reads and writes files, and is recorded in a manifest (`manifest`) when it is
//! done. A run after a killed one, or with slightly different options, runs only the stages
//! that are missing or out of date (`stage_runner`).
//!
//! # Examples
//! ```
//! use std::fs;
//!
//! use miriam_pipeline::{TrainOptions, train};
//! use miriam_textio::NoProgress;
//!
//! let folder = tempfile::tempdir()?;
//! let path = |name| folder.path().join(name);
//! fs::write(path("source"), "das haus\ndas buch\nein buch\n")?;
//! fs::write(path("target"), "the house\nthe book\na book\n")?;
//! let mut options = TrainOptions::new(path("source"), path("target"), path("model"));
//! options.lm_order = 2;
//! let summary = train(&options, &NoProgress)?;
//! assert_eq!(summary.pairs, (3, 3));
//! assert!(path("model").join("moses.ini").exists());
//!
//! // Nothing is out of date, so nothing runs again.
//! let again = train(&options, &NoProgress)?;
//! assert_eq!(again.stages.0, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod corpus;
mod disk_estimate;
pub mod distill;
mod error;
mod input_check;
mod list_parts;
mod manifest;
mod moses_ini;
mod neural_options;
mod options;
mod raw_text;
mod resumable_folder;
mod stage;
mod stage_keys;
mod stage_runner;
mod summary;
mod train;
mod training_stages;

pub use error::{Error, Result};
pub use neural_options::NeuralOptions;
pub use options::{LanguagePair, LmKind, TrainOptions, Tuning};
pub use raw_text::{count_case_forms, prepare_file, train_truecase_model};
pub use summary::{CombinationSummary, DevSummary, TrainSummary};
pub use train::train;
pub use training_stages::{AUGMENTED_FOLDER, NEURAL_FOLDER, REVERSE_FOLDER};
