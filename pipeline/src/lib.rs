//! From parallel text to a tuned phrase model: the stages of `miriam train`.
//!
//! Every stage is a library call of another crate; what is here is their order,
//! their files, and what is known about them. A stage reads files and writes
//! files, and is recorded when it is done ([`record`]): a run that was killed, or
//! that is asked for something a little different, does only what is missing
//! ([`stage`]).

#![forbid(unsafe_code)]

mod corpus;
mod error;
mod ini;
mod options;
mod plan;
mod raw_text;
mod record;
mod stage;
mod stages;
mod summary;
mod train;

pub use error::{Error, Result};
pub use options::{Languages, LmKind, TrainOptions, Tuning};
pub use raw_text::{learn_true_case, prepare_file, train_truecaser};
pub use summary::{DevSummary, Summary};
pub use train::train;
