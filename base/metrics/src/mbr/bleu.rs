//! Sentence BLEU of pairs of candidates from their matches.

use super::PairScorer;
use super::matches::MatchRow;
use super::ngrams::ListNgrams;
use crate::Bleu;
use crate::bleu::{BleuTable, MAX_NGRAM_ORDER, score_real_counts};

/// Counts the n-grams of candidates.
pub(super) fn count_ngrams(metric: &Bleu, candidates: &[&str]) -> ListNgrams {
    let mut word_ids = crate::word_ids::WordIds::default();
    let sequences = candidates.iter().map(|line| {
        vec![word_ids.intern_all(crate::python_text::split_whitespace(&metric.prepare(line)))]
    });
    ListNgrams::new(sequences, &[MAX_NGRAM_ORDER])
}

/// BLEU of the pairs of a list.
pub(super) struct BleuScorer {
    metric: Bleu,
    table: BleuTable,
    /// The length of each candidate in words.
    lengths: Vec<u32>,
}

impl BleuScorer {
    pub fn new(metric: &Bleu, list: &ListNgrams) -> Self {
        let lengths: Vec<u32> = (0..list.num_candidates()).map(|i| list.total(i, 0)).collect();
        BleuScorer {
            metric: metric.clone(),
            table: BleuTable::new(&lengths, metric.smoothing, metric.effective_order),
            lengths,
        }
    }
}

impl PairScorer for BleuScorer {
    fn score_row(
        &self,
        candidate: usize,
        from: usize,
        row: &MatchRow,
        forward: &mut [f64],
        mut backward: Option<&mut [f64]>,
    ) {
        let orders: [&[i32]; MAX_NGRAM_ORDER] = std::array::from_fn(|order| row.order(order));
        let own = self.lengths[candidate];
        for (other, &length) in self.lengths.iter().enumerate().skip(from) {
            let matches = orders.map(|row| row[other] as u32);
            forward[other] = self.table.score(own, length, matches);
            if let Some(backward) = &mut backward {
                backward[other] = self.table.score(length, own, matches);
            }
        }
    }

    fn score_totals(&self, candidate: usize, matches: &[f64], totals: &[f64]) -> f64 {
        let length = f64::from(self.lengths[candidate]);
        let counts = std::array::from_fn(|n| [matches[n], (length - n as f64).max(0.0)]);
        let Bleu { smoothing, effective_order, .. } = self.metric;
        score_real_counts([length, totals[0]], counts, smoothing, effective_order).0
    }
}
