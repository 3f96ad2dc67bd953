//! What measures: the harnesses of `miriam bench`, and the models and texts that they make.
//!
//! Each harness has options, a function that measures and prints its table row by row, and, where
//! the result is more than a table, a report with files and a chart. The libraries have nothing
//! that exists to be measured; the harnesses use what every caller can.

#![forbid(unsafe_code)]

mod date;
mod error;
pub mod glm;
mod input;
pub mod lm;
mod machine;
pub mod nmt;
pub mod scaling;
mod statistics;
pub mod synthetic;
mod workers;

pub use error::{Error, Result};
