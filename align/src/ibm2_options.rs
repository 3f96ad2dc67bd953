//! The options of IBM models 1 and 2 as in fast_align, and the result of an iteration.

use crate::{Error, Result};

/// Largest tension: beyond it weights underflow.
const MAX_TENSION: f64 = 100.0;

/// The options of IBM model 2, by default as in fast_align with `-d -o -v`.
#[derive(Clone, Debug, PartialEq)]
pub struct Ibm2Options {
    /// Whether positions near the diagonal are preferred; otherwise the model is IBM model 1.
    pub diagonal: bool,
    /// The initial tension of the diagonal, from 0 (excluded) to 100.
    pub tension: f64,
    /// Whether training changes the tension.
    pub optimize_tension: bool,
    /// The Dirichlet prior's count of each translation, above 0; without it probabilities
    /// are relative counts.
    pub dirichlet: Option<f64>,
    /// The probability that the null word explains a word, if there is a diagonal.
    pub null_probability: f64,
    /// Whether there is a null word.
    pub null_word: bool,
}

impl Default for Ibm2Options {
    fn default() -> Self {
        Ibm2Options {
            diagonal: true,
            tension: 4.0,
            optimize_tension: true,
            dirichlet: Some(0.01),
            null_probability: 0.08,
            null_word: true,
        }
    }
}

impl Ibm2Options {
    /// Checks the ranges of the options.
    ///
    /// # Errors
    /// If an option is out of range ([`Error::InvalidOptions`], with the option and its range).
    pub fn validate(&self) -> Result<()> {
        let checks = [
            (
                self.tension > 0.0 && self.tension <= MAX_TENSION,
                "the tension must be above 0 and at most 100",
            ),
            (
                self.dirichlet.is_none_or(|alpha| alpha > 0.0 && alpha.is_finite()),
                "the Dirichlet prior must be a finite number above 0",
            ),
            (
                (0.0..1.0).contains(&self.null_probability),
                "the null word's probability must be at least 0 and below 1",
            ),
        ];
        match checks.into_iter().find(|(valid, _)| !valid) {
            Some((_, reason)) => Err(Error::InvalidOptions { reason: reason.into() }),
            None => Ok(()),
        }
    }
}

/// The result of a training iteration of IBM model 2 in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Ibm2Iteration {
    /// ln p(outputs | states) of the text.
    pub ln_likelihood: f64,
    /// The number of words that are explained.
    pub outputs: f64,
    /// The expected number of words that the null word explains.
    pub null_outputs: f64,
    /// The tension after the iteration.
    pub tension: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_out_of_range_are_rejected() {
        let plain = Ibm2Options::default();
        plain.validate().unwrap();
        for wrong in [
            Ibm2Options { tension: 0.0, ..plain.clone() },
            Ibm2Options { tension: 100.5, ..plain.clone() },
            Ibm2Options { dirichlet: Some(0.0), ..plain.clone() },
            Ibm2Options { dirichlet: Some(f64::INFINITY), ..plain.clone() },
            Ibm2Options { dirichlet: Some(f64::NAN), ..plain.clone() },
            Ibm2Options { null_probability: 1.0, ..plain },
        ] {
            assert!(matches!(wrong.validate(), Err(Error::InvalidOptions { .. })), "{wrong:?}");
        }
    }
}
