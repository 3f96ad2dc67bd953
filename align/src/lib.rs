//! Word alignment of parallel text: IBM model 2 with a diagonal prior and an HMM
//! model, symmetrisation of both directions, and lexical translation tables.
//!
//! # Examples
//! ```
//! use std::fs;
//!
//! use miriam_align::{AlignOptions, align_files};
//! use miriam_textio::NoProgress;
//!
//! let folder = tempfile::tempdir()?;
//! let [source, target, links] = ["source", "target", "links"].map(|name| folder.path().join(name));
//! fs::write(&source, "das haus\ndas buch\nein buch\n")?;
//! fs::write(&target, "the house\nthe book\na book\n")?;
//! let summary = align_files(&source, &target, &links, &AlignOptions::default(), &NoProgress)?;
//! assert_eq!((summary.pairs, summary.links), (3, 6));
//! assert_eq!(fs::read_to_string(&links)?, "0-0 1-1\n0-0 1-1\n0-0 1-1\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
mod fast_align;
mod forced_alignment;
mod hmm;
mod ibm2_options;
mod lexical_counts;
mod lexical_table;
mod link_operations;
mod links;
mod model_file;
mod position_model;
mod shortlist;
mod symmetrization;
mod translation_table;

pub use aligner::{AlignModel, AlignOptions, AlignSummary, align_files, symmetrize_files};
pub use bitext::MAX_SENTENCE_WORDS;
pub use error::{Error, Result};
pub use evaluation::{AlignmentEvaluation, evaluate_alignment};
pub use fast_align::{FastAlignOptions, FastAlignSummary, fast_align};
pub use forced_alignment::{ForcedAlignOptions, ForcedAlignSummary, force_align};
pub use ibm2_options::{Ibm2Iteration, Ibm2Options};
pub use lexical_counts::{LexicalCountSummary, write_lexical_counts};
pub use link_operations::{LinkOperation, apply_link_operation};
pub use links::{Link, MAX_POSITION, parse_links, print_links};
pub use model_file::{FILE_KIND, verify};
pub use shortlist::{ShortlistOptions, write_shortlist};
pub use symmetrization::Symmetrization;
