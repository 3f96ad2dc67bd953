//! Scores of single sentences from tables, for many pairs of short sentences.
//!
//! A sentence's score depends on the lengths of both sides and on four small counts. Logarithms of
//! precisions and brevity penalties are computed once for each length; a score then needs one
//! exponential. The operations are the same as in [`super::BleuCounts`], in the same order.

use super::counts::{brevity_penalty, log_or_floor, precision};
use super::{MAX_NGRAM_ORDER, Smoothing};

/// Scores of hypotheses and references of the same set of lengths.
pub(crate) struct BleuTable {
    /// The index of each length, in words.
    indices: Vec<u32>,
    lengths: Vec<LengthTable>,
}

/// The table of the hypotheses of one length.
struct LengthTable {
    /// The logarithm of the precision of each order, by number of matches, from 1.
    matched: [Vec<f64>; MAX_NGRAM_ORDER],
    /// The logarithm of the precision of each order if it has no matches, by the number of lower
    /// orders without matches.
    unmatched: [[f64; MAX_NGRAM_ORDER]; MAX_NGRAM_ORDER],
    /// The number of orders that are averaged.
    num_orders: usize,
    /// The brevity penalty by the index of the reference's length.
    brevity_penalties: Vec<f64>,
}

impl BleuTable {
    /// Computes the table of the lengths in `lengths`, which may repeat.
    pub fn new(lengths: &[u32], smoothing: Smoothing, effective_order: bool) -> Self {
        let mut distinct = lengths.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let mut indices = vec![0; distinct.last().map_or(0, |&longest| longest as usize + 1)];
        for (index, &length) in distinct.iter().enumerate() {
            indices[length as usize] = index as u32;
        }
        let tables = distinct.iter().map(|&length| {
            let mut table = LengthTable::new(length, smoothing, effective_order);
            table.brevity_penalties = distinct
                .iter()
                .map(|&reference| brevity_penalty([length, reference].map(f64::from)))
                .collect();
            table
        });
        let lengths = tables.collect();
        BleuTable { indices, lengths }
    }

    /// Returns the score of a hypothesis against a reference, given their lengths and the matches
    /// of each order. Both lengths must be among the lengths of the table.
    pub fn score(&self, hypothesis: u32, reference: u32, matches: [u32; MAX_NGRAM_ORDER]) -> f64 {
        if matches[0] == 0 {
            return 0.0;
        }
        let table = &self.lengths[self.indices[hypothesis as usize] as usize];
        let (mut sum, mut zeros) = (0.0, 0);
        let orders = table.matched.iter().zip(&table.unmatched).zip(matches);
        for ((matched, unmatched), count) in orders.take(table.num_orders) {
            sum += match matched.get((count as usize).wrapping_sub(1)) {
                Some(&log) => log,
                None => {
                    zeros += 1;
                    unmatched[zeros - 1]
                }
            };
        }
        let brevity = table.brevity_penalties[self.indices[reference as usize] as usize];
        brevity * (sum / table.num_orders as f64).exp()
    }
}

impl LengthTable {
    fn new(length: u32, smoothing: Smoothing, effective_order: bool) -> Self {
        let mut table = LengthTable {
            matched: Default::default(),
            unmatched: [[log_or_floor(0.0); MAX_NGRAM_ORDER]; MAX_NGRAM_ORDER],
            num_orders: MAX_NGRAM_ORDER,
            brevity_penalties: Vec::new(),
        };
        for n in 0..MAX_NGRAM_ORDER {
            let total = length.saturating_sub(n as u32);
            let log = |matches: u32, mut halves: f64| {
                let precision =
                    precision(n, [matches.into(), total.into()], smoothing, &mut halves)?;
                Some(log_or_floor(precision))
            };
            if log(0, 1.0).is_none() {
                if effective_order {
                    table.num_orders = n;
                }
                break;
            }
            table.matched[n] = (1..=total).map_while(|matches| log(matches, 1.0)).collect();
            for (zeros, value) in table.unmatched[n].iter_mut().enumerate() {
                *value = log(0, f64::from(1 << zeros)).unwrap_or(*value);
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bleu::BleuCounts;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_the_score_of_counts(
            hypothesis in 0u32..9,
            reference in 0u32..9,
            matches in proptest::array::uniform4(0u32..9),
            effective in any::<bool>(),
            smoothing in 0usize..4,
        ) {
            let smoothing = [
                Smoothing::Exponential, Smoothing::Floor(0.1), Smoothing::AddK(1.0), Smoothing::None,
            ][smoothing];
            let totals = std::array::from_fn(|n| u64::from(hypothesis).saturating_sub(n as u64));
            // An order has no more matches than n-grams, and no more than the order before.
            let mut most = u64::MAX;
            let matches = std::array::from_fn(|n| {
                most = totals[n].min(matches[n].into()).min(most);
                most
            });
            let counts = BleuCounts {
                hypothesis_len: hypothesis.into(), reference_len: reference.into(), matches, totals,
            };
            let table = BleuTable::new(&[hypothesis, reference], smoothing, effective);
            let found = table.score(hypothesis, reference, matches.map(|count| count as u32));
            prop_assert_eq!(found, counts.compute_score(smoothing, effective).score);
        }
    }
}
