//! Phrase translation probabilities from counts, plain or discounted. The arithmetic is the f32
//! arithmetic of Moses' `consolidate`, so that all six printed digits are equal.

use crate::Smoothing;
use crate::partition::{CountsOfCounts, MAX_COUNTED};

/// The counts of a phrase pair, as f32: the occurrences of the pair, of its source phrase and of
/// its target phrase, and for each of the two phrases the number of distinct pairs that have it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PhrasePairCounts {
    pub pair: f32,
    pub source: f32,
    pub target: f32,
    pub source_distinct: f32,
    pub target_distinct: f32,
}

/// The discounting of counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Discount {
    None,
    /// The factors of the counts 1, 2 and so on (Good 1953).
    GoodTuring([f32; MAX_COUNTED - 1]),
    /// The discounts of pairs that occur once, twice, and more often, and the number of pairs
    /// (Foster et al. 2006).
    KneserNey([f32; 3], f32),
}

impl Discount {
    /// Computes the discounts of `smoothing` from counts of counts.
    pub fn new(smoothing: Smoothing, statistics: &CountsOfCounts) -> Self {
        // The number of phrase pairs that occur n times is at index n - 1.
        let counts = statistics.counts.map(|count| count as f32);
        match smoothing {
            Smoothing::None => Discount::None,
            Smoothing::GoodTuring => {
                let mut factors = [0.0; MAX_COUNTED - 1];
                let mut last = 0.01f32;
                for (n, factor) in (1..).zip(&mut factors) {
                    let more = f64::from(counts[n]) + 0.1;
                    let same = f64::from(counts[n - 1]) + 0.1;
                    let ratio = f64::from((n as f32 + 1.0) / n as f32);
                    *factor = ((ratio * (more / same)) as f32).min(1.0).max(last);
                    last = *factor;
                }
                Discount::GoodTuring(factors)
            }
            Smoothing::KneserNey => {
                let y = counts[0] / (counts[0] + 2.0 * counts[1]);
                let discounts = [(1, 0.9), (2, 1.9), (3, 2.9)].map(|(n, most): (usize, f32)| {
                    let d = n as f32 - (n + 1) as f32 * y * counts[n] / counts[n - 1];
                    // Without pairs of this count the estimate is NaN or infinite, and Moses
                    // writes scores that are not numbers.
                    if d.is_finite() { d.min(most) } else { most }
                });
                Discount::KneserNey(discounts, statistics.pairs as f32)
            }
        }
    }

    /// Returns phi(f|e) and phi(e|f).
    pub fn probabilities(&self, counts: PhrasePairCounts) -> [f32; 2] {
        let PhrasePairCounts { pair, source, target, source_distinct, target_distinct } = counts;
        match self {
            Discount::None => [pair / target, pair / source],
            Discount::GoodTuring(factors) => {
                let last = (MAX_COUNTED - 2) as f32;
                let adjusted = if pair <= last { pair * factors[pair as usize - 1] } else { pair };
                [adjusted / target, adjusted / source]
            }
            Discount::KneserNey(discounts, pairs) => {
                let mut d = discounts[(pair as usize).min(3) - 1];
                if d > pair {
                    d = (f64::from(pair) - 0.01) as f32;
                }
                let adjusted = |condition: f32, own_distinct: f32, other_distinct: f32| {
                    let lower = other_distinct / pairs;
                    let mass = d * own_distinct / condition;
                    pair - d + condition * mass * lower
                };
                [
                    adjusted(target, target_distinct, source_distinct) / target,
                    adjusted(source, source_distinct, target_distinct) / source,
                ]
            }
        }
    }
}
