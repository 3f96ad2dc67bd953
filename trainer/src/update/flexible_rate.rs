//! Learning rates in proportion to the words of a step (`batch-flexible-lr`,
//! `docs/spec/training.md` A.10): batches of equal memory differ in their numbers of words, and a
//! gradient of fewer words deserves a smaller step.

/// The factor of a step's learning rate that depends on the step's target tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlexibleRate {
    /// The target tokens per batch for which the rate is meant. `None` before the first batch; the
    /// factor is then the number of batches of the step.
    pub normal_words: Option<f64>,
}

impl FlexibleRate {
    /// Returns the factor for a step with `words` target tokens from `batches` batches.
    pub fn factor(self, words: u64, batches: usize) -> f64 {
        self.normal_words.map_or(batches as f64, |normal| words as f64 / normal)
    }
}
