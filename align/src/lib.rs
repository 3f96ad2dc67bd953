//! Word alignment of parallel text: IBM model 2 with a diagonal prior and an HMM
//! model, symmetrisation of both directions, and lexical translation tables.

#![forbid(unsafe_code)]

mod aligner;
mod bitext;
mod cooccurrence;
mod diagonal;
mod digamma;
mod error;
mod error_rate;
mod expectation;
mod jumps;
mod lexical_table;
mod lexicon;
mod links;
mod model_file;
mod one_way;
mod parallel_lines;
mod positions;
mod shortlist;
mod symmetrization;

pub use aligner::{AlignOptions, AlignSummary, Model, align_files, symmetrize_files};
pub use bitext::MAX_WORDS;
pub use error::{Error, Result};
pub use error_rate::{Agreement, compare_with_gold};
pub use links::{Link, MAX_POSITION, parse_links, print_links};
pub use model_file::{KIND, verify};
pub use shortlist::{ShortlistOptions, write_shortlist};
pub use symmetrization::Symmetrization;
