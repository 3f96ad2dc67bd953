//! From parallel text to a tuned phrase model: the stages of `miriam train`.
//!
//! Every stage is a library call of another crate; what is here is their order,
//! their files, and what is known about them. A stage reads files and writes
//! files, and is recorded when it is done ([`record`]): a run that was killed, or
//! that is asked for something a little different, does only what is missing
//! ([`stage`]).

#![forbid(unsafe_code)]

mod corpus;
mod disk_estimate;
mod error;
mod manifest;
mod moses_ini;
mod options;
mod raw_text;
mod stage_keys;
mod stage_runner;
mod summary;
mod train;
mod training_stages;

pub use error::{Error, Result};
pub use options::{Languages, LmKind, TrainOptions, Tuning};
pub use raw_text::{count_case_forms, prepare_file, train_truecase_model};
pub use summary::{DevSummary, TrainSummary};
pub use train::train;
