//! Optimisers of weights over n-best lists, which the tuning of a decoder and that of lists share: batch
//! MIRA, MERT and PRO.
//!
//! A translation is its feature values and its BLEU statistics. Nothing depends on the number of
//! threads: seeds follow from numbers of runs.

mod mert;
mod mira;
mod n_best_lists;
mod pro;
#[cfg(test)]
mod test_lists;

use miriam_storage::random::SplitMix64;

pub use n_best_lists::{BleuStatistics, NBestList, NBestLists};

/// The optimiser of weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TuningAlgorithm {
    /// Batch MIRA over n-best lists (Cherry and Foster 2012).
    #[default]
    Mira,
    /// Minimum error rate training (Och 2003).
    Mert,
    /// Pairwise ranked optimisation (Hopkins and May 2011).
    Pro,
}

impl TuningAlgorithm {
    /// Returns weights by which good translations of `lists` rank first, with magnitudes that sum to
    /// 1. The search begins with `start`; MERT also begins with `best`, the best weights so far.
    pub fn optimize(
        self,
        lists: &NBestLists,
        start: &[f64],
        best: &[f64],
        seed: u64,
        threads: usize,
    ) -> Vec<f64> {
        match self {
            TuningAlgorithm::Mira => mira::optimize(lists, start, seed, threads),
            TuningAlgorithm::Mert => {
                mert::optimize(lists, &[start.to_vec(), best.to_vec()], seed, threads)
            }
            TuningAlgorithm::Pro => pro::optimize(lists, start, seed),
        }
    }
}

/// Returns weights scaled so that their magnitudes sum to 1; equal weights if all are 0.
pub fn l1_normalized(mut weights: Vec<f64>) -> Vec<f64> {
    let sum: f64 = weights.iter().map(|weight| weight.abs()).sum();
    if sum > 0.0 && sum.is_finite() {
        weights.iter_mut().for_each(|weight| *weight /= sum);
    } else {
        let count = weights.len() as f64;
        weights.fill(1.0 / count);
    }
    weights
}

/// Returns a seed for part `number` of a run with `seed`.
pub fn derive_seed(seed: u64, number: u64) -> u64 {
    SplitMix64::new(seed ^ SplitMix64::new(number).next_u64()).next_u64()
}

/// Returns a uniform number from -1 to 1.
fn next_symmetric(random: &mut SplitMix64) -> f64 {
    2.0 * random.next_f64() - 1.0
}
