//! Options of asynchronous training, besides those of plain pushes.

use crate::progress::{Progress, SchedulingUnit, TrainingLength};

/// The effect of a step of a local optimiser on the worker's own shard
/// (`local-optimizer-shard`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ShardUpdate {
    /// The shard becomes the worker's copy: pushes of others since its fetch are lost.
    Copy,
    /// The change of the worker's copy is added to the shard.
    #[default]
    Delta,
    /// Nothing: only the copy of the worker changes.
    None,
}

/// A local optimiser of each worker, which moves its copy between two fetches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LocalOptimizer {
    /// The batches of each worker in which it is used.
    pub batches: u64,
    /// Adam's betas; those of the shards if none.
    pub betas: Option<[f64; 2]>,
    /// The effect on the worker's own shard.
    pub shard_update: ShardUpdate,
}

/// The numbers among which the largest are chosen (`grad-dropping-scope`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DroppingScope {
    /// Of each shard.
    #[default]
    Shard,
    /// Of the whole gradient.
    Global,
    /// Of each parameter matrix.
    Tensor,
}

/// The values that a worker fetches after the first dense pushes (`grad-dropping-fetch`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FetchMode {
    /// The values at the indices that it has pushed last.
    #[default]
    Indices,
    /// The largest differences between the shard and its copy. Those that are not sent stay in
    /// the difference, which so is its own residual.
    Delta,
    /// All values.
    Dense,
}

/// The rate of dropping over a training (`grad-dropping-rate`, `grad-dropping-anneal`).
#[derive(Clone, Debug, PartialEq)]
pub struct DroppingRates {
    /// The rate before the first of the others.
    pub first: f64,
    /// Rates from a length of training on, ascending.
    pub later: Vec<(TrainingLength, f64)>,
}

impl DroppingRates {
    /// Returns the rate after `progress`.
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

/// Gradient dropping: only the largest numbers of a gradient are pushed, the others remain for
/// the pushes that follow.
#[derive(Clone, Debug, PartialEq)]
pub struct DroppingOptions {
    /// The share of numbers that is not pushed.
    pub rates: DroppingRates,
    /// Dense pushes of each worker before the first sparse one.
    pub warmup: u64,
    /// The weight of momentum correction; 0 for none.
    pub momentum: f64,
    /// Among what numbers.
    pub scope: DroppingScope,
    /// What is fetched.
    pub fetch: FetchMode,
}

/// Asynchronous training.
#[derive(Clone, Debug, PartialEq)]
pub struct AsyncOptions {
    /// Batches of a push (`optimizer-delay`).
    pub delay: usize,
    /// Whether the rate is multiplied with that number (`scale-rate-by-delay`).
    pub scales_rate_by_delay: bool,
    /// Pushes that a shard adds up before its optimiser takes a step (`gradient-buffer`).
    pub gradient_buffer: usize,
    /// Optimisers of workers.
    pub local: Option<LocalOptimizer>,
    /// Gradient dropping.
    pub dropping: Option<DroppingOptions>,
}

impl AsyncOptions {
    /// Returns the factor of the learning rate of a push.
    pub fn rate_factor(&self) -> f64 {
        if self.scales_rate_by_delay { self.delay as f64 } else { 1.0 }
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
