//! chrF of pairs of candidates from their matches.
//!
//! The sum of precisions of a candidate against a reference is the sum of recalls in the other
//! direction, so both directions of a pair share their divisions. Loops run over blocks of
//! references, with the operations of [`Chrf::f_score`] in the same order.

use super::PairScorer;
use super::matches::{MatchRow, ROW_BLOCK};
use super::ngrams::ListNgrams;
use crate::Chrf;

/// Counts the n-grams of candidates, of characters first.
pub(super) fn count_ngrams(metric: &Chrf, candidates: &[&str]) -> ListNgrams {
    let mut word_ids = crate::word_ids::WordIds::default();
    let sequences = candidates.iter().map(|line| metric.scored_tokens(line, &mut word_ids).into());
    ListNgrams::new(sequences, &metric.orders())
}

/// chrF of the pairs of a list.
pub(super) struct ChrfScorer {
    metric: Chrf,
    /// By order, the number of n-grams of each candidate, or 1 if it has none. Rows have whole
    /// blocks.
    divisors: Vec<Vec<f64>>,
    /// By order, the number of n-grams of each candidate.
    totals: Vec<Vec<f64>>,
    /// The number of orders of which each candidate has n-grams: of characters, and of words.
    num_orders: [Vec<f64>; 2],
}

impl ChrfScorer {
    pub fn new(metric: Chrf, list: &ListNgrams) -> Self {
        let stride = list.num_candidates().next_multiple_of(ROW_BLOCK);
        let totals: Vec<Vec<f64>> = (0..list.num_orders())
            .map(|order| {
                let totals = (0..list.num_candidates()).map(|i| list.total(i, order).into());
                totals.chain(std::iter::repeat(0.0)).take(stride).collect()
            })
            .collect();
        let divisors = totals
            .iter()
            .map(|row: &Vec<f64>| row.iter().map(|total| total.max(1.0)).collect())
            .collect();
        let (characters, words) = totals.split_at(metric.orders()[0]);
        let num_orders = [characters, words].map(|rows| {
            (0..stride)
                .map(|i| rows.iter().filter(|totals| totals[i] > 0.0).count() as f64)
                .collect()
        });
        ChrfScorer { metric, divisors, totals, num_orders }
    }

    /// Computes a block of utilities in both directions.
    fn score_block(
        &self,
        candidate: usize,
        start: usize,
        row: &MatchRow,
    ) -> ([f64; ROW_BLOCK], [f64; ROW_BLOCK]) {
        let (mut precisions, mut recalls) = ([0.0; ROW_BLOCK], [0.0; ROW_BLOCK]);
        for (order, divisors) in self.divisors.iter().enumerate() {
            let own = divisors[candidate];
            let others: &[f64; ROW_BLOCK] = block(divisors, start);
            let matches: &[i32; ROW_BLOCK] = block(row.order(order), start);
            for i in 0..ROW_BLOCK {
                let common = f64::from(matches[i]);
                precisions[i] += common / own;
                recalls[i] += common / others[i];
            }
        }
        let [characters, words] = &self.num_orders;
        let (own_characters, own_words) = (characters[candidate], words[candidate]);
        let (characters, words): (&[f64; ROW_BLOCK], &[f64; ROW_BLOCK]) =
            (block(characters, start), block(words, start));
        let (mut forward, mut backward) = ([0.0; ROW_BLOCK], [0.0; ROW_BLOCK]);
        for i in 0..ROW_BLOCK {
            let num_orders = own_characters.min(characters[i]) + own_words.min(words[i]);
            let num_orders = num_orders.max(1.0);
            let (precision, recall) = (precisions[i] / num_orders, recalls[i] / num_orders);
            forward[i] = self.metric.f_score_of_means(precision, recall);
            backward[i] = self.metric.f_score_of_means(recall, precision);
        }
        (forward, backward)
    }

    /// Computes the utility of a candidate against a reference by the definition of chrF, which
    /// epsilon smoothing needs. Their matches are in the row of one of them, at index `place`.
    fn score_pair(&self, [candidate, reference]: [usize; 2], place: usize, row: &MatchRow) -> f64 {
        let counts = self.totals.iter().enumerate().map(|(order, totals)| {
            triple(totals[candidate], totals[reference], f64::from(row.order(order)[place]))
        });
        self.metric.f_score(counts)
    }
}

/// Returns the counts of an order as [`crate::Metric::statistics`] has them: if the reference has
/// no n-grams, the number of the candidate is 0.
fn triple(candidate: f64, reference: f64, matches: f64) -> [f64; 3] {
    [if reference > 0.0 { candidate } else { 0.0 }, reference, matches]
}

fn block<T>(row: &[T], start: usize) -> &[T; ROW_BLOCK] {
    row[start..].first_chunk().expect("rows have whole blocks")
}

impl PairScorer for ChrfScorer {
    fn score_row(
        &self,
        candidate: usize,
        from: usize,
        row: &MatchRow,
        forward: &mut [f64],
        mut backward: Option<&mut [f64]>,
    ) {
        let start = from - from % ROW_BLOCK;
        if self.metric.has_epsilon_smoothing() {
            for (other, utility) in forward.iter_mut().enumerate().skip(from) {
                *utility = self.score_pair([candidate, other], other, row);
            }
            for (other, utility) in backward.into_iter().flatten().enumerate().skip(from) {
                *utility = self.score_pair([other, candidate], other, row);
            }
            return;
        }
        for start in (start..forward.len()).step_by(ROW_BLOCK) {
            let (ours, theirs) = self.score_block(candidate, start, row);
            forward[start..start + ROW_BLOCK].copy_from_slice(&ours);
            if let Some(backward) = &mut backward {
                backward[start..start + ROW_BLOCK].copy_from_slice(&theirs);
            }
        }
    }

    fn score_totals(&self, candidate: usize, matches: &[f64], totals: &[f64]) -> f64 {
        let counts = self.totals.iter().zip(matches.iter().zip(totals));
        self.metric
            .f_score(counts.map(|(own, (&matches, &total))| triple(own[candidate], total, matches)))
    }
}
