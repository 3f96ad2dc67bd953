//! Benchmark harnesses of `miriam bench`, and the models and texts that they generate.
//!
//! Each harness has options and a function that measures and prints a table row by row; some also
//! write files and a chart. Harnesses use the public functions of the libraries, so that they
//! measure what users call. The exception is the timing of kernels on a GPU, for which the
//! libraries have special functions.
//!
//! ```
//! use miriam_bench::synthetic::{SyntheticOptions, Text, TextKind};
//!
//! // A trigram model of about 5,000 n-grams, and a text of 100 words that resembles its training
//! // text.
//! let options = SyntheticOptions { ngrams: SyntheticOptions::MIN_NGRAMS, order: 3, seed: 1 };
//! let model = options.generate_model();
//! let text = Text::sample(&model, TextKind::Training, 100, 1);
//! assert_eq!(text.words.len(), 100);
//! // The numbers of words whose longest n-gram in the model has one, two and three words.
//! let matches = text.match_length_counts(&model);
//! assert_eq!(matches.iter().sum::<u64>(), 100);
//! ```

#![forbid(unsafe_code)]

pub mod asynchronous;
pub mod cost;
mod description;
mod error;
pub mod glm;
mod input;
pub mod lm;
mod machine;
pub mod nmt;
pub mod pt;
pub mod pt_build;
mod saved_results;
pub mod scaling;
pub mod serving;
mod statistics;
pub mod synthetic;
mod workers;

pub use error::{Error, Result};
pub use saved_results::StudyFolder;
