//! The learning rate without warm-up and decay: a constant, or a rate that changes with every
//! update as in Bogoychev's thesis (`docs/spec/training.md` A.10). All these rates follow from the
//! number of the update and the start of a cycle, which are saved.

use crate::random::RandomStream;

/// The random stream of the rates, different from other streams with the same seed.
const STREAM: u32 = 0x6c72;

/// The learning rate without warm-up and decay.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BaseRate {
    /// A constant rate (`learn-rate`).
    Constant(f64),
    /// A rate that rises linearly for a number of updates and restarts then, and whenever
    /// validation stalls (`lr-cycle`).
    Cycle {
        /// The rate of the first update of a cycle.
        low: f64,
        /// The rate that a cycle approaches; the next cycle begins before it is reached.
        high: f64,
        /// The length of a cycle, at least 1.
        updates: u64,
    },
    /// A random rate for each update, uniform from 0 to a limit (`lr-random`). It follows from the
    /// seed and the number of the update.
    Random {
        /// The limit.
        high: f64,
        /// The seed of the training.
        seed: u64,
    },
}

impl BaseRate {
    /// Returns the rate of the update after `updates` earlier updates, in a cycle that began after
    /// `cycle_start` updates.
    pub fn at(self, updates: u64, cycle_start: u64) -> f64 {
        match self {
            BaseRate::Constant(rate) => rate,
            BaseRate::Cycle { low, high, updates: length } => {
                let since = updates.saturating_sub(cycle_start) % length.max(1);
                low + (high - low) * (since as f64 / length as f64)
            }
            BaseRate::Random { high, seed } => {
                let key = [seed as u32, (seed >> 32) as u32];
                let stream = [updates as u32, (updates >> 32) as u32, STREAM];
                high * f64::from(RandomStream::new(key, stream).next_unit())
            }
        }
    }

    /// Returns the configured rates.
    pub(super) fn numbers(self) -> [f64; 2] {
        match self {
            BaseRate::Constant(rate) => [rate, rate],
            BaseRate::Cycle { low, high, .. } => [low, high],
            BaseRate::Random { high, .. } => [high, high],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_rise_and_begin_anew() {
        let cycle = BaseRate::Cycle { low: 1.0, high: 2.0, updates: 4 };
        let rates = |start: u64| [0, 1, 3, 4, 5, 9].map(|updates| cycle.at(updates, start));
        assert_eq!(rates(0), [1.0, 1.25, 1.75, 1.0, 1.25, 1.25]);
        assert_eq!(rates(5), [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!([6, 7].map(|updates| cycle.at(updates, 5)), [1.25, 1.5]);
    }

    #[test]
    fn random_rates_are_uniform_and_depend_on_the_update() {
        let rate = |seed, updates| BaseRate::Random { high: 2.0, seed }.at(updates, 0);
        let rates: Vec<f64> = (0..4000).map(|updates| rate(7, updates)).collect();
        assert!(rates.iter().all(|rate| (0.0..2.0).contains(rate)));
        // The mean of 4000 rates has a standard deviation of 0.009.
        let mean = rates.iter().sum::<f64>() / 4000.0;
        assert!((mean - 1.0).abs() < 0.05, "{mean}");
        assert!(rates.iter().filter(|rate| **rate < 0.5).count() > 800);
        assert_eq!(rate(7, 11), rates[11]);
        assert!(rate(8, 11) != rates[11] && rates[11] != rates[12]);
    }
}
