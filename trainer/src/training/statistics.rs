//! Moving averages over updates, as in Marian (`docs/spec/training.md` A.13): of the loss, for the
//! check for divergence, and of the gradient norm, for the log and `dynamic-gradient-scaling`.
//!
//! They are saved to the bit in the training's state, and in Marian's progress file, so that a
//! resumed training run shows and checks the same values as a run that was never stopped.

use crate::update::NormLimit;

/// The averages; all are 0 before the first update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The loss per word: mean over the slow window, mean over the fast one, variance over the slow
    /// one.
    pub loss: [f64; 3],
    /// The mean and the variance of the gradient norm per word.
    pub norm: [f64; 2],
    /// The mean and the variance of the logarithm of that norm.
    pub log_norm: [f64; 2],
}

impl Statistics {
    /// The number of averages.
    pub const COUNT: usize = 7;

    /// Marian's keys, in its order.
    pub const KEYS: [&str; Self::COUNT] = [
        "loss-avg-slow",
        "loss-avg-fast",
        "loss-var-slow",
        "gradient-norm-avg",
        "gradient-norm-var",
        "log-gradient-norm-avg",
        "log-gradient-norm-var",
    ];

    /// Returns all averages in the order of their keys.
    pub fn to_array(self) -> [f64; Self::COUNT] {
        let ([slow, fast, variance], [norm, norm_variance]) = (self.loss, self.norm);
        let [log, log_variance] = self.log_norm;
        [slow, fast, variance, norm, norm_variance, log, log_variance]
    }

    /// Returns the averages of an array in the order of the keys.
    pub fn from_array(all: [f64; Self::COUNT]) -> Self {
        let [slow, fast, variance, norm, norm_variance, log, log_variance] = all;
        Statistics {
            loss: [slow, fast, variance],
            norm: [norm, norm_variance],
            log_norm: [log, log_variance],
        }
    }

    /// Records the gradient norm per word of update number `updates`, over a window of `window`
    /// updates (`gradient-norm-average-window`). A skipped update has no norm.
    pub fn record_norm(&mut self, norm: f64, updates: u64, window: u64) {
        if norm > 0.0 && norm.is_finite() {
            let weight = window_weight(window as f64, updates);
            update_moments(&mut self.norm, norm, weight);
            update_moments(&mut self.log_norm, norm.ln(), weight);
        }
    }
}

/// Scaling of gradients whose norm is far above its average (`dynamic-gradient-scaling`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DynamicScaling {
    /// The number of standard deviations above the average that the norm may reach.
    pub deviations: f64,
    /// Whether the averages of the norm's logarithm are used.
    pub uses_logarithm: bool,
    /// The number of updates after which the allowed deviations grow with the updates; 0 for never.
    pub fade_out: u64,
}

impl DynamicScaling {
    /// Returns the limit on the norm in the update after `updates`, or `None` while the window is
    /// not full.
    pub fn limit(&self, statistics: &Statistics, updates: u64, window: u64) -> Option<NormLimit> {
        if updates < window {
            return None;
        }
        let growth = match self.fade_out {
            0 => 1.0,
            from => updates.max(from) as f64 / from as f64,
        };
        let factor = growth * self.deviations;
        Some(if self.uses_logarithm {
            let [mean, variance] = statistics.log_norm;
            NormLimit { limit: (mean + factor * variance.sqrt()).exp(), average: mean.exp() }
        } else {
            let [mean, variance] = statistics.norm;
            NormLimit { limit: mean + factor * variance.sqrt(), average: mean }
        })
    }
}

/// Returns the weight of the newest value in an average over a window. Until the training has as
/// many updates as the window, the window is as long as the training.
pub(super) fn window_weight(window: f64, updates: u64) -> f64 {
    2.0 / (window.min(updates as f64) + 1.0)
}

fn update_moments([mean, variance]: &mut [f64; 2], value: f64, weight: f64) {
    let difference = value - *mean;
    *mean += weight * difference;
    *variance = (1.0 - weight) * (*variance + weight * difference * difference);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_far_above_their_average_are_limited() {
        let statistics =
            Statistics { norm: [3.0, 0.25], log_norm: [1.0, 0.04], ..Default::default() };
        let mut scaling = DynamicScaling { deviations: 2.0, uses_logarithm: false, fade_out: 0 };
        assert_eq!(scaling.limit(&statistics, 99, 100), None);
        let limit = scaling.limit(&statistics, 100, 100).unwrap();
        assert_eq!(limit, NormLimit { limit: 4.0, average: 3.0 });
        scaling.fade_out = 50;
        assert_eq!(scaling.limit(&statistics, 100, 100).unwrap().limit, 5.0);
        scaling = DynamicScaling { uses_logarithm: true, fade_out: 0, ..scaling };
        let limit = scaling.limit(&statistics, 100, 100).unwrap();
        assert!((limit.limit - 1.4f64.exp()).abs() < 1e-12 && limit.average == 1f64.exp());
    }

    #[test]
    fn arrays_have_the_order_of_the_keys() {
        let all = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
        let statistics = Statistics::from_array(all);
        assert_eq!(statistics.to_array(), all);
        assert_eq!((statistics.norm, statistics.log_norm), ([4.0, 5.0], [6.0, 7.0]));
    }

    /// Expected means and variances are computed by hand: the weights are 1, 2/3 and, with the
    /// window of 2, 2/3 again.
    #[test]
    fn norms_are_averaged_over_a_window() {
        let mut statistics = Statistics::default();
        statistics.record_norm(3.0, 1, 2);
        assert_eq!(statistics.norm, [3.0, 0.0]);
        statistics.record_norm(0.0, 2, 2);
        assert_eq!(statistics.norm, [3.0, 0.0], "skipped updates change nothing");
        statistics.record_norm(6.0, 2, 2);
        // The mean is 3 + 2/3 * 3, the variance 1/3 * 2/3 * 9.
        assert!((statistics.norm[0] - 5.0).abs() < 1e-12);
        assert!((statistics.norm[1] - 2.0).abs() < 1e-12);
        statistics.record_norm(5.0, 3, 2);
        assert!((statistics.norm[0] - 5.0).abs() < 1e-12);
        assert!((statistics.norm[1] - 2.0 / 3.0).abs() < 1e-12);
        assert!(
            (statistics.log_norm[0]
                - (5f64.ln() * 2.0 + (3f64.ln() + 2.0 * 6f64.ln()) / 3.0) / 3.0)
                .abs()
                < 1e-12
        );
    }
}
