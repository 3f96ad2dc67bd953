//! Word alignment of parallel text: IBM model 2 with a diagonal prior and an HMM
//! model, symmetrisation of both directions, and lexical translation tables.

#![forbid(unsafe_code)]

mod aligner;
mod bitext;
mod cooccurrence;
mod diagonal;
mod digamma;
mod error;
mod expectation;
mod jumps;
mod lexicon;
mod links;
mod one_way;
mod positions;
mod symmetrization;

pub use aligner::{AlignOptions, AlignSummary, Model, align_files, symmetrize_files};
pub use bitext::MAX_WORDS;
pub use error::{Error, Result};
pub use links::{Link, MAX_POSITION, parse_links, print_links};
pub use symmetrization::Symmetrization;
