//! Learning rates in proportion to the words of a step (`batch-flexible-lr`,
//! `docs/spec/training.md` A.10): batches of a fixed memory differ in words, and a gradient of few
//! words is worth less.

/// The factor of a rate for a step, by its target tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlexibleRate {
    /// The target tokens of a batch for which the rate is meant; none before any batch, which is
    /// taken to have as many.
    pub normal_words: Option<f64>,
}

impl FlexibleRate {
    /// Returns the factor for `words` of `batches` batches.
    pub fn factor(self, words: u64, batches: usize) -> f64 {
        self.normal_words.map_or(batches as f64, |normal| words as f64 / normal)
    }
}
