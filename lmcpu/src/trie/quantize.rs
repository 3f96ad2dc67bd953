//! Quantisation of probabilities and backoffs, as KenLM does it (`ngram-lm.md` 2.11).
//!
//! The values of one order are divided into bins of equal population; a value is stored
//! as the index of the nearest bin centre. Every operation, and its type, is KenLM's,
//! so that scores are too.

use rayon::prelude::*;

use crate::NO_EXTENSION;

/// The bits of a probability and of a backoff: 1 to 25 each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuantizationBits {
    prob: u32,
    backoff: u32,
}

impl QuantizationBits {
    /// The largest number of bits of either.
    pub const MAX: u32 = 25;

    /// `prob` bits for a probability and `backoff` bits for a backoff; `None` unless
    /// both are between 1 and [`QuantizationBits::MAX`].
    pub fn new(prob: u32, backoff: u32) -> Option<Self> {
        let valid = 1..=Self::MAX;
        (valid.contains(&prob) && valid.contains(&backoff))
            .then_some(QuantizationBits { prob, backoff })
    }

    /// Bits of a probability.
    pub fn prob(self) -> u32 {
        self.prob
    }

    /// Bits of a backoff.
    pub fn backoff(self) -> u32 {
        self.backoff
    }
}

/// The `2^bits` bin centres of the log10 probabilities `values`, which are in any
/// order.
pub(crate) fn prob_centres(values: Vec<f32>, bits: u32) -> Vec<f32> {
    centres(values, 1 << bits)
}

/// Two reserved backoffs: no extension, and an extension without a backoff.
const RESERVED_CODES: usize = 2;

/// The `2^bits` bin centres of backoffs: the reserved ones and those of `values`, which
/// are not 0.
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

/// The index of the centre nearest to the probability `value`.
pub(crate) fn encode_prob(codebook: &[f32], value: f32) -> u32 {
    nearest_centre(codebook, value)
}

/// The index of the centre nearest to the backoff `value`, or of its reserved value.
pub(crate) fn encode_backoff(codebook: &[f32], value: f32) -> u32 {
    if value == 0.0 {
        return u32::from(value.to_bits() != NO_EXTENSION);
    }
    if codebook.len() == RESERVED_CODES {
        // With one bit there are no bins: the backoff is lost, the extension is not.
        // KenLM would write the number of a bin that does not exist.
        return 1;
    }
    RESERVED_CODES as u32 + nearest_centre(&codebook[RESERVED_CODES..], value)
}

/// The index of the nearest of `centres`, which are sorted; of two equally near, the
/// upper.
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
        assert_eq!(encode_prob(&codebook, -9.0), 0);
        assert_eq!(encode_prob(&codebook, -3.25), 1);
        assert_eq!(encode_prob(&codebook, -3.26), 0);
        assert_eq!(encode_prob(&codebook, 0.0), 1);
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
        assert_eq!(encode_backoff(&codebook, -0.0), 0);
        assert_eq!(encode_backoff(&codebook, 0.0), 1);
        assert_eq!(encode_backoff(&codebook, 0.3), 3);
        assert_eq!(encode_backoff(&backoff_centres(vec![-0.5], 1), -0.5), 1);
    }

    #[test]
    fn bits_are_checked() {
        assert!(QuantizationBits::new(0, 8).is_none() && QuantizationBits::new(8, 26).is_none());
        assert_eq!(QuantizationBits::new(25, 1).unwrap().prob(), 25);
    }
}
