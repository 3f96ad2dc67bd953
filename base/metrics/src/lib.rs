//! How good translations are, by their references: BLEU, chrF and TER with
//! sacreBLEU's numbers and signatures, and the sufficient statistics that tuning
//! adds up.
//!
//! Every metric works in two steps ([`Metric`]). A segment gives statistics, a few
//! numbers; statistics of segments add up; the score of a corpus, of a sentence or of
//! a resampled corpus is worked out from sums. So scores are cheap once statistics
//! are there: [`corpus_score`], [`bootstrap`] and [`paired`] all use the same rows.
//! [`bleu`] also gives its parts alone, as tuning needs them: statistics of token
//! lists of bytes ([`bleu::References`]), sums ([`bleu::Counts`]), and scores of
//! sums.
//!
//! "As sacreBLEU" means to the last bit: the doubles are worked out in the same
//! order, resampling draws NumPy's random numbers and rounds to f32 where NumPy does
//! ([`RELEASE`] is the release that was followed).

#![forbid(unsafe_code)]

pub mod bleu;
mod bootstrap;
pub mod chrf;
mod error;
mod metric;
mod numpy_random;
mod paired_test;
mod python_text;
mod score;
pub mod ter;
mod tokenize;

pub use bleu::Bleu;
pub use bootstrap::{ConfidenceInterval, Resampling, estimate_confidence};
pub use chrf::Chrf;
pub use error::{Error, Result};
pub use metric::{Metric, SegmentStatistics, corpus_score, corpus_statistics, sentence_score};
pub use paired_test::{PairedTest, SystemComparison, compare_systems};
pub use python_text::rstrip;
pub use score::{Score, ScoreFormat, Signature};
pub use ter::Ter;
pub use tokenize::Tokenizer;

/// The release of sacreBLEU whose numbers these are; signatures name it.
pub const SACREBLEU_VERSION: &str = "2.6.0";
