//! The check for divergence (`throw-on-divergence`, `training.md` A.13).

use super::statistics::{Statistics, window_weight};

/// Slow window, fast window, standard deviations.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DivergenceDetector(pub [f64; 3]);

impl DivergenceDetector {
    /// Checks the loss of a word in update `updates`, and adds it to the averages.
    ///
    /// # Errors
    /// With a remedy, if the average over the fast window was further above that over the slow
    /// one than it should be, or the loss is no number.
    pub fn check(
        &self,
        statistics: &mut Statistics,
        loss: f64,
        updates: u64,
    ) -> Result<(), String> {
        let DivergenceDetector([slow_window, fast_window, deviations]) = *self;
        let remedy = "lower --learn-rate, make --lr-warmup longer, or begin from an earlier model";
        if !loss.is_finite() {
            return Err(format!("the loss is {loss}; {remedy}"));
        }
        let [slow, fast, variance] = &mut statistics.loss;
        if *slow == 0.0 {
            (*slow, *fast) = (loss, loss);
        }
        let limit = *slow + deviations * variance.sqrt();
        if updates as f64 > slow_window && *variance > 0.0 && *fast > limit {
            return Err(format!(
                "the loss of late is {fast:.4}, above {limit:.4} that was expected; {remedy}"
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
        // A training that goes on knows what was expected.
        let mut resumed = Statistics::from_array(averages.to_array());
        assert!((0..20).any(|_| check(&mut resumed, 20.0).is_err()));
        // The deviation grows with the loss, so this takes a few updates: after n of them, the
        // fast average has come 1 - 0.82^n of the way, five deviations 5 sqrt(0.002 n) of it.
        let found = (0..20).map(|_| check(&mut averages, 20.0)).find(Result::is_err);
        assert!(found.is_some_and(|error| error.unwrap_err().contains("learn-rate")));
        let mut fresh = Statistics::default();
        assert!(check(&mut fresh, f64::NAN).is_err());
    }
}
