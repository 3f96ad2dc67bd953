//! What measures: the harnesses of `miriam bench`, and the models and texts that they make.
//!
//! Each harness has options, a function that measures and prints its table row by row, and, where
//! the result is more than a table, a report with files and a chart. A harness is a caller of the
//! libraries like others: they have no modules for it, except for what must be timed on a GPU.

#![forbid(unsafe_code)]

pub mod asynchronous;
mod date;
mod error;
pub mod glm;
mod input;
pub mod lm;
mod machine;
pub mod nmt;
pub mod scaling;
pub mod serving;
mod statistics;
pub mod synthetic;
mod workers;

pub use error::{Error, Result};
