//! Optimisers of weights over n-best lists: batch MIRA, MERT and PRO. Decoder tuning and list
//! tuning share them.
//!
//! Optimisers see a translation only as feature values and BLEU statistics. Results do not depend
//! on the number of threads: seeds are derived from the indices of runs and lines.

mod mert;
mod mira;
mod n_best_lists;
mod pro;
#[cfg(test)]
mod test_lists;
mod weight_scale;

use miriam_storage::random::SplitMix64;

pub use n_best_lists::{BleuStatistics, NBestList, NBestLists};
use weight_scale::WeightScale;
pub use weight_scale::l1_normalized;

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
    /// Returns weights by which good translations of `lists` rank first. The search begins with
    /// `start`; MERT also begins with `best`, the best weights so far. `has_fixed` says that there
    /// are other weights, which stay fixed; the result then keeps its scale relative to them.
    /// Otherwise, its magnitudes sum to 1.
    pub fn optimize(
        self,
        lists: &NBestLists,
        start: &[f64],
        best: &[f64],
        has_fixed: bool,
        seed: u64,
        threads: usize,
    ) -> Vec<f64> {
        let scale = WeightScale::new(lists, start, has_fixed);
        let [start, best] = [start, best].map(|weights| scale.scale_down(weights));
        scale.scale_up(match self {
            TuningAlgorithm::Mira => mira::optimize(lists, scale, &start, seed, threads),
            TuningAlgorithm::Mert => mert::optimize(lists, scale, &[start, best], seed, threads),
            TuningAlgorithm::Pro => pro::optimize(lists, scale, &start, seed),
        })
    }
}

/// Returns a seed for part `number` of a run with `seed`.
pub fn derive_seed(seed: u64, number: u64) -> u64 {
    SplitMix64::new(seed ^ SplitMix64::new(number).next_u64()).next_u64()
}

/// Returns a uniform number from -1 to 1.
fn next_symmetric(random: &mut SplitMix64) -> f64 {
    2.0 * random.next_f64() - 1.0
}
