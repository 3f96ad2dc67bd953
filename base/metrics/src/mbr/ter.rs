//! TER of pairs of candidates.
//!
//! Shifts depend on both lines of a pair, so nothing is shared between pairs but the words.

use super::ngrams::ListNgrams;
use crate::bleu::MAX_NGRAM_ORDER;
use crate::ter::count_edits;
use crate::word_ids::WordIds;
use crate::{Metric, Ter};

/// The words of candidates in both roles, which normalisation may split differently.
pub(super) struct TerList {
    metric: Ter,
    hypotheses: Vec<Vec<u32>>,
    references: Vec<Vec<u32>>,
}

impl TerList {
    pub fn new(metric: &Ter, candidates: &[&str]) -> Self {
        let mut ids = WordIds::default();
        let words = candidates.iter().map(|line| {
            (metric.hypothesis_words(line, &mut ids), metric.reference_words(line, &mut ids))
        });
        let (hypotheses, references) = words.unzip();
        TerList { metric: *metric, hypotheses, references }
    }

    /// Counts the n-grams of words.
    pub fn count_ngrams(&self) -> ListNgrams {
        ListNgrams::new(self.hypotheses.iter().map(|words| vec![words.clone()]), &[MAX_NGRAM_ORDER])
    }

    /// Returns the negative expected TER of a candidate.
    pub fn expected(&self, candidate: usize, weights: &[f64]) -> f64 {
        let hypothesis = &self.hypotheses[candidate];
        self.references.iter().zip(weights).fold(0.0, |sum, (reference, weight)| {
            let edits = count_edits(hypothesis, reference);
            sum - weight * self.metric.score(&[edits as f64, reference.len() as f64]).0
        })
    }
}
