//! BLEU (Papineni et al. 2002) with the smoothing methods of Chen and Cherry (2014).

mod counts;
mod references;

pub use counts::{Counts, ORDER, Parts, Smoothing};
pub use references::{Matcher, References, Token};

use crate::python_text::{lower, trim_end, words};
use crate::{Metric, Signature, Tokenizer};

/// BLEU of n-grams up to [`ORDER`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bleu {
    /// How lines are cut into tokens.
    pub tokenizer: Tokenizer,
    /// Whether case is ignored.
    pub lowercase: bool,
    /// What stands for matches where there are none.
    pub smoothing: Smoothing,
    /// Whether lengths of which the translation has no n-grams are left out, as
    /// scores of single sentences need it.
    pub effective_order: bool,
}

impl Bleu {
    fn counts(&self, hypothesis: &str, references: &[&str]) -> Counts {
        let prepare = |line: &str| {
            let line = lower(line, self.lowercase);
            self.tokenizer.tokenize(trim_end(&line)).into_owned()
        };
        let lines: Vec<String> = references.iter().map(|line| prepare(line)).collect();
        let references = References::new(lines.iter().map(|line| words(line).map(str::as_bytes)));
        let mut matcher = Matcher::default();
        let hypothesis = prepare(hypothesis);
        let tokens: Vec<Token> =
            words(&hypothesis).map(|word| references.token(word.as_bytes())).collect();
        matcher.counts(&references, &tokens)
    }
}

impl Metric for Bleu {
    fn name(&self) -> String {
        "BLEU".into()
    }

    fn sign(&self, signature: &mut Signature) {
        signature.push("case", "c", if self.lowercase { "lc" } else { "mixed" });
        signature.push_flag("eff", "e", self.effective_order);
        signature.push("tok", "tok", self.tokenizer.name());
        signature.push("smooth", "s", self.smoothing.text());
    }

    fn width(&self) -> usize {
        2 + 2 * ORDER
    }

    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        self.counts(hypothesis, references).to_row()
    }

    fn score(&self, sums: &[f64]) -> (f64, String) {
        let parts = Counts::of_row(sums).parts(self.smoothing, self.effective_order);
        (parts.score, parts.text())
    }

    fn resampled(&self, sums: &[f32]) -> f64 {
        counts::resampled(sums, self.smoothing, self.effective_order)
    }

    fn resampled_is_f32(&self) -> bool {
        false
    }
}
