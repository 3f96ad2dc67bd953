//! The check for divergence (`throw-on-divergence`, `training.md` A.13).

/// Moving averages of the loss, which are saved with the model: a training that goes on is
/// guarded as one that was never stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossAverages {
    /// Over the slow window.
    pub slow: f64,
    /// Over the fast window.
    pub fast: f64,
    /// The variance over the slow window.
    pub variance: f64,
    /// The updates that they have seen.
    pub updates: u64,
}

/// The check of losses.
#[derive(Clone, Copy, Debug, Default)]
pub struct Divergence {
    /// Slow window, fast window, standard deviations.
    options: Option<[f64; 3]>,
    averages: LossAverages,
}

impl Divergence {
    /// A check with these windows, or none, after some updates.
    pub fn new(options: Option<[f64; 3]>, averages: LossAverages) -> Self {
        Divergence { options, averages }
    }

    /// The averages so far.
    pub fn averages(&self) -> LossAverages {
        self.averages
    }

    /// Follows the loss a token of an update.
    ///
    /// # Errors
    /// With a remedy, if the fast average is further above the slow one than it should be, or
    /// the loss is no number.
    pub fn follow(&mut self, loss: f64) -> Result<(), String> {
        let Some([slow_window, fast_window, deviations]) = self.options else { return Ok(()) };
        let remedy = "lower --learn-rate, make --lr-warmup longer, or begin from an earlier model";
        if !loss.is_finite() {
            return Err(format!("the loss is {loss}; {remedy}"));
        }
        let averages = &mut self.averages;
        averages.updates += 1;
        let updates = averages.updates as f64;
        // Until a window is full, the average is that of all so far.
        let weight = |window: f64| (2.0 / (window + 1.0)).max(1.0 / updates);
        let [slow, fast] = [weight(slow_window), weight(fast_window)];
        let difference = loss - averages.slow;
        averages.slow += slow * difference;
        averages.fast += fast * (loss - averages.fast);
        averages.variance = (1.0 - slow) * (averages.variance + slow * difference * difference);
        let limit = averages.slow + deviations * averages.variance.sqrt();
        if updates > slow_window && averages.fast > limit {
            return Err(format!(
                "the loss of late is {:.4}, above {limit:.4} that was expected; {remedy}",
                averages.fast
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_that_rises_is_found() {
        let options = Some([1000.0, 10.0, 5.0]);
        let mut check = Divergence::new(options, LossAverages::default());
        for update in 0..1500 {
            let noise = f64::from(update * 7919 % 13) / 130.0;
            assert!(check.follow(5.0 - f64::from(update) / 1500.0 + noise).is_ok());
        }
        // A training that goes on knows what was expected.
        let mut resumed = Divergence::new(options, check.averages());
        assert!((0..20).any(|_| resumed.follow(20.0).is_err()));
        // The deviation grows with the loss, so this takes a few updates: after n of them, the
        // fast average has come 1 - 0.82^n of the way, five deviations 5 sqrt(0.002 n) of it.
        let found = (0..20).map(|_| check.follow(20.0)).find(Result::is_err);
        assert!(found.is_some_and(|error| error.unwrap_err().contains("learn-rate")));
        let fresh = |options| Divergence::new(options, LossAverages::default());
        assert!(fresh(Some([100.0, 10.0, 5.0])).follow(f64::NAN).is_err());
        assert!(fresh(None).follow(f64::NAN).is_ok());
    }
}
