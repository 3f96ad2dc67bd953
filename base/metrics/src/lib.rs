//! Metrics of translations against references: BLEU, chrF and TER with sacreBLEU's numbers and
//! signatures, and sufficient statistics for tuning.
//!
//! Every metric works in two steps ([`Metric`]). Each segment has a row of sufficient statistics;
//! the score of a corpus, of a sentence or of a resampled corpus is computed from a sum of rows. So
//! scores are cheap after the statistics: [`corpus_score`], [`estimate_confidence`] and
//! [`compare_systems`] all use the same rows. For tuning, [`bleu`] also provides its parts: n-grams
//! of references as lists of byte strings ([`bleu::ReferenceNgrams`]), sums ([`bleu::BleuCounts`]),
//! and scores of sums.
//!
//! Scores equal sacreBLEU's to the last bit: doubles are computed in the same order, and resampling
//! uses NumPy's random numbers and rounds to f32 like NumPy. Signatures contain sacreBLEU's
//! release.
//!
//! # Examples
//! ```
//! use miriam_metrics::{Bleu, corpus_score, corpus_statistics};
//!
//! let hypotheses = ["the cat sat on the mat".to_owned(), "it was raining".to_owned()];
//! let references = [vec!["the cat sat on a mat".to_owned(), "it was raining".to_owned()]];
//! let bleu = Bleu::default();
//! let statistics = corpus_statistics(&bleu, &hypotheses, &references)?;
//! let score = corpus_score(&bleu, &statistics, references.len());
//! // The precisions are 8/9, 5/7, 3/5 and 1/3, and both sides have nine words.
//! assert_eq!(format!("{} {:.1}", score.name, score.value), "BLEU 59.7");
//! # Ok::<(), miriam_metrics::Error>(())
//! ```

#![forbid(unsafe_code)]

pub mod bleu;
mod bootstrap;
pub mod chrf;
mod error;
pub mod mbr;
mod metric;
mod numpy_mean;
mod numpy_random;
mod paired_test;
mod python_text;
mod resampling;
mod score;
pub mod ter;
mod tokenize;
mod word_ids;

pub use bleu::Bleu;
pub use bootstrap::estimate_confidence;
pub use chrf::Chrf;
pub use error::{Error, Result};
pub use metric::{
    Metric, SegmentStatistics, corpus_score, corpus_statistics, score_of_sums, segment_statistics,
    sentence_score,
};
pub use paired_test::{SystemComparison, compare_systems};
pub use python_text::rstrip;
pub use resampling::{ConfidenceInterval, PairedTest, Resampling};
pub use score::{Score, ScoreFormat, Signature};
pub use ter::Ter;
pub use tokenize::{
    ExternalTokenizer, MISSING_TOKENIZERS, PIECE_TOKENIZERS, PieceTokenizer, Tokenizer,
    explain_missing_tokenizer,
};

/// The release of sacreBLEU with equal scores, which is part of signatures.
pub(crate) const SACREBLEU_VERSION: &str = "2.6.0";
