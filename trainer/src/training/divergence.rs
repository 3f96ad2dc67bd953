//! Detection of divergence: skipped updates in a row, costs and gradients that are not finite, and
//! `throw-on-divergence` (`docs/spec/training.md` A.13).

use super::statistics::{Statistics, window_weight};
use crate::update::UpdateReport;

/// The remedy for a training run that has diverged.
pub(super) const REMEDY: &str = "start again with a lower --learn-rate or a longer --lr-warmup, or \
    from an earlier model; files that were saved earlier are unchanged";

/// The number of consecutive skipped updates that ends a run. Parameters do not change meanwhile,
/// so if none of these batches has a finite gradient, later batches will not either.
const SKIP_LIMIT: u64 = 10;

/// Counts of all updates of this run, and of the updates skipped since the last successful one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FinitenessCheck {
    num_updates: u64,
    num_skipped: u64,
}

impl FinitenessCheck {
    /// Counts an update and, unless it was skipped, checks that its cost and gradient are finite.
    ///
    /// # Errors
    /// If the cost or the gradient is not finite, or if too many consecutive updates were skipped;
    /// the message contains a remedy.
    pub fn record(&mut self, report: &UpdateReport, number: u64) -> Result<(), String> {
        self.num_updates += 1;
        if report.is_skipped {
            self.num_skipped += 1;
            return if self.num_skipped < SKIP_LIMIT {
                Ok(())
            } else {
                Err(self.skip_error(number))
            };
        }
        self.num_skipped = 0;
        let cost = report.loss / report.loss_count.max(1.0);
        let norm = report.gradient_norm;
        if cost.is_finite() && norm.is_finite() {
            return Ok(());
        }
        Err(format!(
            "update {number}: the cost is {cost}, the gradient norm {norm}; {REMEDY}; \
             --check-gradient-nan skips such updates"
        ))
    }

    /// Checks at the end of a run that fewer than half of its updates were skipped after the last
    /// successful one.
    ///
    /// # Errors
    /// If half of the updates or more were skipped; the message contains a remedy.
    pub fn check_end(&self, number: u64) -> Result<(), String> {
        let ends_in_skips = self.num_skipped > 0 && 2 * self.num_skipped >= self.num_updates;
        if ends_in_skips { Err(self.skip_error(number)) } else { Ok(()) }
    }

    fn skip_error(&self, number: u64) -> String {
        format!(
            "the last {} updates up to {number} were skipped because their gradients were not \
             finite; {REMEDY}",
            self.num_skipped
        )
    }
}

/// Detector of divergence (`throw-on-divergence`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DivergenceDetector {
    /// The length of the slow average, in updates.
    pub slow_window: f64,
    /// The length of the fast average, in updates.
    pub fast_window: f64,
    /// The number of standard deviations by which the fast average may exceed the slow one.
    pub deviations: f64,
}

impl DivergenceDetector {
    /// Checks the averages of the updates before update number `update`, then adds its loss per
    /// word to them.
    ///
    /// # Errors
    /// If `update` is above the length of the slow window, and the average over the fast window is
    /// too far above the average over the slow one; the message contains a remedy.
    pub fn check(&self, statistics: &mut Statistics, loss: f64, update: u64) -> Result<(), String> {
        let DivergenceDetector { slow_window, fast_window, deviations } = *self;
        let [slow, fast, variance] = &mut statistics.loss;
        if *slow == 0.0 {
            (*slow, *fast) = (loss, loss);
        }
        let limit = *slow + deviations * variance.sqrt();
        if update as f64 > slow_window && *variance > 0.0 && *fast > limit {
            return Err(format!(
                "update {update}: the average loss {fast:.4} is above the limit {limit:.4} of \
                 --throw-on-divergence; {REMEDY}"
            ));
        }
        let weight = window_weight(slow_window, update);
        let difference = loss - *slow;
        *slow += weight * difference;
        *variance = (1.0 - weight) * (*variance + weight * difference * difference);
        *fast += window_weight(fast_window, update) * (loss - *fast);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_rises_is_an_error_also_after_resuming() {
        let detector =
            DivergenceDetector { slow_window: 1000.0, fast_window: 10.0, deviations: 5.0 };
        let mut averages = Statistics::default();
        let mut updates = 0;
        let mut check = |averages: &mut Statistics, loss| {
            updates += 1;
            detector.check(averages, loss, updates)
        };
        for update in 0..1500 {
            let noise = f64::from(update * 7919 % 13) / 130.0;
            let loss = 5.0 - f64::from(update) / 1500.0 + noise;
            assert!(check(&mut averages, loss).is_ok());
        }
        // A resumed run has the saved averages.
        let mut resumed = Statistics::from_array(averages.to_array());
        assert!((0..20).any(|_| check(&mut resumed, 20.0).is_err()));
        // The deviation grows with the loss, so detection takes a few updates: after n updates, the
        // fast average has moved by 1 - 0.82^n of the jump, and five deviations have grown to 5
        // sqrt(0.002 n) of it.
        let found = (0..20).map(|_| check(&mut averages, 20.0)).find(Result::is_err);
        assert!(found.is_some_and(|error| error.unwrap_err().contains("learn-rate")));
    }

    fn report(loss: f64, gradient_norm: f64, is_skipped: bool) -> UpdateReport {
        UpdateReport { loss, loss_count: 2.0, gradient_norm, is_skipped, ..Default::default() }
    }

    #[test]
    fn costs_and_gradients_that_are_not_finite_end_a_run() {
        let mut check = FinitenessCheck::default();
        assert_eq!(check.record(&report(3.0, 1.0, false), 1), Ok(()));
        for (loss, norm) in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (3.0, f64::NAN)] {
            let error = check.record(&report(loss, norm, false), 7).unwrap_err();
            assert!(error.contains("update 7: the cost is") && error.contains("--learn-rate"));
        }
    }

    #[test]
    fn ten_skipped_updates_in_a_row_end_a_run() {
        let skipped = report(f64::NAN, f64::NAN, true);
        let mut check = FinitenessCheck::default();
        for update in 1..SKIP_LIMIT {
            assert_eq!(check.record(&skipped, update), Ok(()));
        }
        assert!(check.check_end(9).unwrap_err().contains("the last 9 updates up to 9"));
        check.record(&report(3.0, 1.0, false), 10).unwrap();
        assert_eq!(check.check_end(10), Ok(()));
        for update in 1..SKIP_LIMIT {
            assert_eq!(check.record(&skipped, 10 + update), Ok(()));
        }
        assert_eq!(check.check_end(19), Ok(()), "9 of 19");
        assert!(check.record(&skipped, 20).unwrap_err().contains("--learn-rate"));
    }
}
