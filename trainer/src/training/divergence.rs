//! The check for divergence (`throw-on-divergence`, `training.md` A.13).

/// Moving averages of the loss.
#[derive(Clone, Copy, Debug, Default)]
pub struct Divergence {
    /// Slow window, fast window, standard deviations.
    options: Option<[f64; 3]>,
    slow: f64,
    fast: f64,
    variance: f64,
    updates: u64,
}

impl Divergence {
    /// A check with these windows, or none.
    pub fn new(options: Option<[f64; 3]>) -> Self {
        Divergence { options, ..Divergence::default() }
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
        self.updates += 1;
        let weight = |window: f64| {
            // Until a window is full, the average is that of all so far.
            (2.0 / (window + 1.0)).max(1.0 / self.updates as f64)
        };
        let [slow, fast] = [weight(slow_window), weight(fast_window)];
        let difference = loss - self.slow;
        self.slow += slow * difference;
        self.fast += fast * (loss - self.fast);
        self.variance = (1.0 - slow) * (self.variance + slow * difference * difference);
        let limit = self.slow + deviations * self.variance.sqrt();
        if self.updates as f64 > slow_window && self.fast > limit {
            return Err(format!(
                "the loss of late is {:.4}, above {limit:.4} that was expected; {remedy}",
                self.fast
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
        let mut check = Divergence::new(Some([1000.0, 10.0, 5.0]));
        for update in 0..1500 {
            let noise = f64::from(update * 7919 % 13) / 130.0;
            assert!(check.follow(5.0 - f64::from(update) / 1500.0 + noise).is_ok());
        }
        // The deviation grows with the loss, so this takes a few updates: after n of them, the
        // fast average has come 1 - 0.82^n of the way, five deviations 5 sqrt(0.002 n) of it.
        let found = (0..20).map(|_| check.follow(20.0)).find(Result::is_err);
        assert!(found.is_some_and(|error| error.unwrap_err().contains("learn-rate")));
        assert!(Divergence::new(Some([100.0, 10.0, 5.0])).follow(f64::NAN).is_err());
        assert!(Divergence::new(None).follow(f64::NAN).is_ok());
    }
}
