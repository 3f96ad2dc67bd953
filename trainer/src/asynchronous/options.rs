//! Options of asynchronous training.

use crate::progress::{Progress, SchedulingUnit, TrainingLength};

/// The effect of a local optimiser's step on the worker's own shard (`local-optimizer-shard`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShardUpdate {
    /// The worker's copy replaces the shard: pushes of others since its fetch are lost.
    Copy,
    /// The change of the worker's copy is added to the shard.
    #[default]
    Delta,
    /// The shard does not change, only the worker's copy.
    None,
}

/// An optimiser in each worker that updates its copy between two fetches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalOptimizer {
    /// The number of each worker's first batches in which this optimiser is used.
    pub batches: u64,
    /// Adam's betas; `None` for the betas of the shards.
    pub betas: Option<[f64; 2]>,
    /// The effect on the worker's own shard.
    pub shard_update: ShardUpdate,
}

/// The set of numbers from which the largest are pushed (`grad-dropping-scope`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DroppingScope {
    /// Each shard.
    #[default]
    Shard,
    /// The whole gradient.
    Global,
    /// Each parameter matrix.
    Tensor,
}

/// The values that a worker fetches after its first sparse push (`grad-dropping-fetch`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FetchMode {
    /// The values at the indices of the worker's last push.
    #[default]
    Indices,
    /// The values with the largest differences between the shard and the worker's copy. Other
    /// differences remain, and may be fetched later.
    Delta,
    /// All values.
    Dense,
}

/// The schedule of the dropping rate (`grad-dropping-rate`, `grad-dropping-anneal`).
#[derive(Clone, Debug, PartialEq)]
pub struct DroppingRates {
    /// The initial rate.
    pub first: f64,
    /// Later rates, each with the progress from which it holds; the last one that is reached holds.
    pub later: Vec<(TrainingLength, f64)>,
}

impl DroppingRates {
    /// Returns the rate at `progress`.
    pub fn at(&self, progress: &Progress) -> f64 {
        fn reached(length: &TrainingLength, progress: &Progress) -> bool {
            // Epochs count from 1.
            let epochs = u64::from(length.unit == SchedulingUnit::Epochs);
            progress.in_unit(length.unit).saturating_sub(epochs) >= length.count
        }
        let last = self.later.iter().rev().find(|(length, _)| reached(length, progress));
        last.map_or(self.first, |(_, rate)| *rate)
    }
}

/// Gradient dropping: only the largest numbers of a gradient are pushed; the others are kept for
/// later pushes.
#[derive(Clone, Debug, PartialEq)]
pub struct DroppingOptions {
    /// The share of numbers that is not pushed.
    pub rates: DroppingRates,
    /// The number of dense pushes of each worker before its first sparse push.
    pub warmup: u64,
    /// The weight of momentum correction; 0 for none.
    pub momentum: f64,
    /// The set of numbers from which the largest are pushed.
    pub scope: DroppingScope,
    /// The values that a worker fetches after its first sparse push.
    pub fetch: FetchMode,
}

/// Options of asynchronous training.
#[derive(Clone, Debug, PartialEq)]
pub struct AsyncOptions {
    /// The number of batches per push (`optimizer-delay`).
    pub delay: usize,
    /// Whether the learning rate of a push is multiplied by its number of batches
    /// (`scale-rate-by-delay`).
    pub scales_rate_by_delay: bool,
    /// The number of pushes that a shard adds up before its optimiser takes a step
    /// (`gradient-buffer`). At the end of the training, shards take a step with what they have, at
    /// the learning rate of pushes of `delay` batches.
    pub gradient_buffer: usize,
    /// Local optimisers of the workers.
    pub local: Option<LocalOptimizer>,
    /// Gradient dropping.
    pub dropping: Option<DroppingOptions>,
}

impl AsyncOptions {
    /// Returns the factor of the learning rate of a push of several batches.
    pub fn rate_factor(&self, batches: usize) -> f64 {
        if self.scales_rate_by_delay { batches as f64 } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_of_dropping_rise_with_progress() {
        let epochs = |count| TrainingLength { count, unit: SchedulingUnit::Epochs };
        let later = vec![(TrainingLength::from_updates(5), 0.75), (epochs(1), 0.9)];
        let rates = DroppingRates { first: 0.5, later };
        let at = |updates, epoch| rates.at(&Progress { updates, labels: 0, epoch });
        assert_eq!([at(0, 1), at(4, 1), at(5, 1), at(99, 1)], [0.5, 0.5, 0.75, 0.75]);
        assert_eq!(at(100, 2), 0.9);
    }
}
