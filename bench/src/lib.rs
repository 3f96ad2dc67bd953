//! Benchmark harnesses of `miriam bench`, and the models and texts that they make.
//!
//! Each harness has options, a function that measures and prints its table row by row, and, where
//! the result is more than a table, a report with files and a chart. A harness is a caller of the
//! libraries like others: they have no modules for it, except for what must be timed on a GPU.
//!
//! ```
//! use miriam_bench::synthetic::{SyntheticOptions, Text, TextKind};
//!
//! // A trigram model of about 5,000 n-grams and a text of 100 words that it could have come from.
//! let options = SyntheticOptions { ngrams: SyntheticOptions::MIN_NGRAMS, order: 3, seed: 1 };
//! let model = options.generate_model();
//! let text = Text::sample(&model, TextKind::Training, 100, 1);
//! assert_eq!(text.words.len(), 100);
//! // How many words match one, two and three words of the model.
//! let matches = text.match_length_counts(&model);
//! assert_eq!(matches.iter().sum::<u64>(), 100);
//! ```

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
