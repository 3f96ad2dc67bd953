//! Word alignment of parallel text: IBM model 2 with a diagonal prior and an HMM
//! model, symmetrisation of both directions, and lexical translation tables.

#![forbid(unsafe_code)]

mod aligner;
mod bitext;
mod cooccurrence;
mod corpus_pass;
mod diagonal;
mod digamma;
mod directed_pair;
mod error;
mod evaluation;
mod hmm;
mod lexical_table;
mod links;
mod model_file;
mod parallel_lines;
mod position_model;
mod shortlist;
mod symmetrization;
mod translation_table;

pub use aligner::{AlignModel, AlignOptions, AlignSummary, align_files, symmetrize_files};
pub use bitext::MAX_SENTENCE_WORDS;
pub use error::{Error, Result};
pub use evaluation::{AlignmentEvaluation, evaluate_alignment};
pub use links::{Link, MAX_POSITION, parse_links, print_links};
pub use model_file::{FILE_KIND, verify};
pub use shortlist::{ShortlistOptions, write_shortlist};
pub use symmetrization::Symmetrization;
