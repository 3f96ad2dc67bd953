//! Detection of divergence: skipped updates in a row, costs and gradients that are not finite, and
//! `throw-on-divergence` (`docs/spec/training.md` A.13).

use super::statistics::{Statistics, window_weight};
use crate::update::UpdateReport;

/// The remedy for a training run that has diverged.
pub(super) const REMEDY: &str = "start again with a lower --learn-rate or a longer --lr-warmup, or \
    from an earlier model; files that were saved earlier are unchanged";

/// The number of consecutive skipped updates that ends a run. Parameters do not change meanwhile, so
/// if none of these batches has a finite gradient, later ones will not have one either.
const SKIP_LIMIT: u64 = 10;

/// Counts of all updates of this run, and of the updates skipped since the last successful one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SkippedUpdates {
    updates: u64,
    in_a_row: u64,
}

impl SkippedUpdates {
    /// Counts an update and, unless it was skipped, checks that its cost and gradient are finite.
    ///
    /// # Errors
    /// With a remedy, if they are not, or if too many consecutive updates were skipped.
    pub fn count(&mut self, report: &UpdateReport, number: u64) -> Result<(), String> {
        self.updates += 1;
        if !report.is_skipped {
            self.in_a_row = 0;
            let cost = report.loss / report.loss_count.max(1.0);
            let norm = report.gradient_norm;
            if cost.is_finite() && norm.is_finite() {
                return Ok(());
            }
            return Err(format!(
                "update {number}: the cost is {cost}, the gradient norm {norm}; {REMEDY}; \
                 --check-gradient-nan skips such updates"
            ));
        }
        self.in_a_row += 1;
        if self.in_a_row < SKIP_LIMIT { Ok(()) } else { Err(self.describe(number)) }
    }

    /// Checks at the end of a run that its last updates were not skipped.
    ///
    /// # Errors
    /// With a remedy, if at least half of its updates were skipped after the last successful one.
    pub fn check_end(&self, number: u64) -> Result<(), String> {
        let is_spoilt = self.in_a_row > 0 && 2 * self.in_a_row >= self.updates;
        if is_spoilt { Err(self.describe(number)) } else { Ok(()) }
    }

    fn describe(&self, number: u64) -> String {
        format!(
            "the last {} updates up to {number} were skipped because their gradients were not \
             finite; {REMEDY}",
            self.in_a_row
        )
    }
}

/// Detector of divergence by the slow window, the fast window and standard deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DivergenceDetector(pub [f64; 3]);

impl DivergenceDetector {
    /// Checks the loss per word of update `updates` and adds it to the averages.
    ///
    /// # Errors
    /// With a remedy, if the average over the fast window is too far above that over the slow one.
    pub fn check(
        &self,
        statistics: &mut Statistics,
        loss: f64,
        updates: u64,
    ) -> Result<(), String> {
        let DivergenceDetector([slow_window, fast_window, deviations]) = *self;
        let [slow, fast, variance] = &mut statistics.loss;
        if *slow == 0.0 {
            (*slow, *fast) = (loss, loss);
        }
        let limit = *slow + deviations * variance.sqrt();
        if updates as f64 > slow_window && *variance > 0.0 && *fast > limit {
            return Err(format!(
                "the recent loss {fast:.4} is above the expected limit {limit:.4}; {REMEDY}"
            ));
        }
        let weight = window_weight(slow_window, updates);
        let difference = loss - *slow;
        *slow += weight * difference;
        *variance = (1.0 - weight) * (*variance + weight * difference * difference);
        *fast += window_weight(fast_window, updates) * (loss - *fast);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_rises_is_found() {
        let (detector, mut averages) =
            (DivergenceDetector([1000.0, 10.0, 5.0]), Statistics::default());
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
        // A resumed training run knows the averages.
        let mut resumed = Statistics::from_array(averages.to_array());
        assert!((0..20).any(|_| check(&mut resumed, 20.0).is_err()));
        // The deviation grows with the loss, so detection takes a few updates: after n of them, the
        // fast average has moved by 1 - 0.82^n of the jump, five deviations by 5 sqrt(0.002 n) of
        // it.
        let found = (0..20).map(|_| check(&mut averages, 20.0)).find(Result::is_err);
        assert!(found.is_some_and(|error| error.unwrap_err().contains("learn-rate")));
    }

    fn report(loss: f64, gradient_norm: f64, is_skipped: bool) -> UpdateReport {
        UpdateReport { loss, loss_count: 2.0, gradient_norm, is_skipped, ..Default::default() }
    }

    #[test]
    fn costs_and_gradients_that_are_not_finite_are_errors_at_once() {
        let mut counts = SkippedUpdates::default();
        assert_eq!(counts.count(&report(3.0, 1.0, false), 1), Ok(()));
        for (loss, norm) in [(f64::NAN, 1.0), (f64::INFINITY, 1.0), (3.0, f64::NAN)] {
            let error = counts.count(&report(loss, norm, false), 7).unwrap_err();
            assert!(error.contains("update 7: the cost is") && error.contains("--learn-rate"));
        }
    }

    #[test]
    fn updates_that_are_skipped_may_be_few_in_a_row() {
        let skipped = report(f64::NAN, f64::NAN, true);
        let mut counts = SkippedUpdates::default();
        for update in 1..SKIP_LIMIT {
            assert_eq!(counts.count(&skipped, update), Ok(()));
        }
        assert!(counts.check_end(9).unwrap_err().contains("the last 9 updates up to 9"));
        counts.count(&report(3.0, 1.0, false), 10).unwrap();
        assert_eq!(counts.check_end(10), Ok(()));
        for update in 1..SKIP_LIMIT {
            assert_eq!(counts.count(&skipped, 10 + update), Ok(()));
        }
        assert_eq!(counts.check_end(19), Ok(()), "9 of 19");
        assert!(counts.count(&skipped, 20).unwrap_err().contains("--learn-rate"));
    }
}
