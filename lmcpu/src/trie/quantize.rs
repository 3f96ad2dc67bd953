//! Quantisation of probabilities and backoffs, as KenLM does it (`ngram-lm.md` 2.11).
//!
//! The values of one order are divided into bins of equal population; a value is stored
//! as the index of the nearest bin centre. Every operation and its type are the same
//! as in KenLM, so that scores are the same too.

use rayon::prelude::*;

use crate::NO_EXTENSION;

/// The numbers of bits of a probability and of a backoff: 1 to 25 each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantizationBits {
    prob: u32,
    backoff: u32,
}

impl QuantizationBits {
    /// The largest number of bits of either.
    pub const MAX: u32 = 25;

    /// Creates the quantisation to `prob` bits for a probability and `backoff` bits for a backoff;
    /// `None` unless both are between 1 and [`QuantizationBits::MAX`].
    pub fn new(prob: u32, backoff: u32) -> Option<Self> {
        let valid = 1..=Self::MAX;
        (valid.contains(&prob) && valid.contains(&backoff))
            .then_some(QuantizationBits { prob, backoff })
    }

    /// Returns the number of bits of a probability.
    pub fn prob(self) -> u32 {
        self.prob
    }

    /// Returns the number of bits of a backoff.
    pub fn backoff(self) -> u32 {
        self.backoff
    }

    /// Warns that one bit cannot hold backoffs.
    pub(crate) fn warn_of_lost_backoffs(self) {
        if self.backoff == 1 {
            tracing::warn!(
                "one bit holds no backoffs: those that are not 0 are lost and change probabilities, \
                 as in KenLM; use 2 bits or more"
            );
        }
    }
}

/// Returns the `2^bits` bin centres of the log10 probabilities `values`, which are in any order.
pub(crate) fn prob_centres(values: Vec<f32>, bits: u32) -> Vec<f32> {
    centres(values, 1 << bits)
}

/// The number of reserved backoffs: no extension, and an extension without a backoff.
const RESERVED_CODES: usize = 2;

/// Returns the `2^bits` bin centres of backoffs: the reserved backoffs, then the centres of the
/// nonzero `values`.
pub(crate) fn backoff_centres(values: Vec<f32>, bits: u32) -> Vec<f32> {
    let mut codebook = vec![f32::from_bits(NO_EXTENSION), 0.0];
    codebook.extend(centres(values, (1 << bits) - RESERVED_CODES));
    codebook
}

fn centres(mut values: Vec<f32>, bins: usize) -> Vec<f32> {
    values.par_sort_unstable_by(f32::total_cmp);
    let mut centres: Vec<f32> = Vec::with_capacity(bins);
    let mut start = 0;
    for bin in 0..bins {
        let end = values.len() * (bin + 1) / bins;
        centres.push(if start == end {
            centres.last().copied().unwrap_or(f32::NEG_INFINITY)
        } else {
            let sum = values[start..end].iter().fold(0.0, |sum, &value| sum + f64::from(value));
            (sum / f64::from((end - start) as f32)) as f32
        });
        start = end;
    }
    centres
}

/// Returns the indices of the centres nearest to the probability and the backoff of an n-gram. The
/// longest n-grams have no backoffs, nor a codebook of them.
///
/// One bit leaves no bins for backoffs. KenLM's index, 2, then overflows into the lowest bit of the
/// index of the probability, and the n-gram loses its backoff and its extension. KenLM's scores
/// depend on this, so it is repeated here.
pub(crate) fn encode_ngram(
    log10_codebook: &[f32],
    backoff_codebook: &[f32],
    log10: f32,
    backoff: f32,
) -> (u32, u32) {
    let prob = nearest_centre(log10_codebook, log10);
    match backoff_codebook.split_at_checked(RESERVED_CODES) {
        // The longest n-grams.
        None => (prob, 0),
        _ if backoff == 0.0 => (prob, u32::from(backoff.to_bits() != NO_EXTENSION)),
        Some((_, [])) => (prob | 1, 0),
        Some((_, centres)) => (prob, RESERVED_CODES as u32 + nearest_centre(centres, backoff)),
    }
}

/// Returns the index of the nearest of `centres`, which are sorted; of two equally near, the upper.
fn nearest_centre(centres: &[f32], value: f32) -> u32 {
    let above = centres.partition_point(|&centre| centre < value);
    let index = match above {
        0 => 0,
        _ if above == centres.len() => above - 1,
        _ => above - usize::from(value - centres[above - 1] < centres[above] - value),
    };
    index as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_of_equal_population_and_ties_go_up() {
        let codebook = prob_centres(vec![-1.0, -4.0, -2.0, -3.0, -5.0], 1);
        assert_eq!(codebook, [-4.5, -2.0]);
        for (log10, code) in [(-9.0, 0), (-3.25, 1), (-3.26, 0), (0.0, 1)] {
            assert_eq!(encode_ngram(&codebook, &[], log10, 0.0), (code, 0), "{log10}");
        }
    }

    #[test]
    fn empty_bins_repeat_the_one_before() {
        assert_eq!(
            prob_centres(vec![-1.0], 2),
            [f32::NEG_INFINITY; 3].iter().copied().chain([-1.0]).collect::<Vec<_>>()
        );
        assert_eq!(prob_centres(vec![], 1), [f32::NEG_INFINITY; 2]);
        let codebook = backoff_centres(vec![-0.5, -0.25], 2);
        assert_eq!(codebook[1..], [0.0, -0.5, -0.25]);
        assert_eq!(codebook[0].to_bits(), NO_EXTENSION);
        for (backoff, code) in [(-0.0, 0), (0.0, 1), (0.3, 3), (-0.5, 2)] {
            assert_eq!(encode_ngram(&[-1.0], &codebook, -1.0, backoff), (0, code), "{backoff}");
        }
    }

    /// The high bit of a backoff's index 2 falls on the lowest bit of the probability's index.
    #[test]
    fn with_one_bit_backoffs_overflow_as_in_kenlm() {
        let backoffs = backoff_centres(vec![-0.5], 1);
        let log10s = [-4.0, -3.0, -2.0, -1.0];
        for (log10, backoff, codes) in [
            (-4.0, -0.5, (1, 0)),
            (-3.0, -0.5, (1, 0)),
            (-2.0, 0.25, (3, 0)),
            (-4.0, 0.0, (0, 1)),
            (-4.0, -0.0, (0, 0)),
        ] {
            assert_eq!(
                encode_ngram(&log10s, &backoffs, log10, backoff),
                codes,
                "{log10} {backoff}"
            );
        }
    }

    #[test]
    fn bits_are_checked() {
        assert!(QuantizationBits::new(0, 8).is_none() && QuantizationBits::new(8, 26).is_none());
        assert_eq!(QuantizationBits::new(25, 1).unwrap().prob(), 25);
    }
}
