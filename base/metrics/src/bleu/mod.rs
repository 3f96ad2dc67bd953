//! BLEU (Papineni et al. 2002) with the smoothing methods of Chen and Cherry (2014).

mod counts;
mod references;
mod table;

pub(crate) use counts::score_real_counts;
pub use counts::{BleuCounts, MAX_NGRAM_ORDER, Smoothing};
pub use references::{NgramMatcher, ReferenceNgrams, TokenId};
pub(crate) use table::BleuTable;

use crate::python_text::{lowercase_if, rstrip, split_whitespace};
use crate::{Metric, Signature, Tokenizer};

/// BLEU of n-grams up to [`MAX_NGRAM_ORDER`].
///
/// # Examples
/// ```
/// use miriam_metrics::{Bleu, sentence_score};
///
/// let bleu = Bleu { effective_order: true, ..Bleu::default() };
/// let score = sentence_score(&bleu, "a small house", &["a small house", "one little house"]);
/// assert!((score.value - 100.0).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Bleu {
    /// The tokeniser for hypothesis and references.
    pub tokenizer: Tokenizer,
    /// Whether case is ignored.
    pub lowercase: bool,
    /// The smoothing of orders without matches.
    pub smoothing: Smoothing,
    /// Whether orders are left out that are longer than the hypothesis. Sentence BLEU needs this.
    pub effective_order: bool,
}

impl Bleu {
    /// Returns the tokens of a line, separated by white space, in lower case if case is ignored.
    pub(crate) fn prepare(&self, line: &str) -> String {
        let line = lowercase_if(line, self.lowercase);
        self.tokenizer.tokenize(rstrip(&line)).into_owned()
    }

    /// Counts the matches of a hypothesis.
    fn counts(&self, hypothesis: &str, references: &[&str]) -> BleuCounts {
        let lines: Vec<String> = references.iter().map(|line| self.prepare(line)).collect();
        let references = ReferenceNgrams::new(
            lines.iter().map(|line| split_whitespace(line).map(str::as_bytes)),
        );
        let mut matcher = NgramMatcher::default();
        let hypothesis = self.prepare(hypothesis);
        let tokens: Vec<TokenId> = split_whitespace(&hypothesis)
            .map(|word| references.token_id(word.as_bytes()))
            .collect();
        matcher.count_matches(&references, &tokens)
    }
}

impl Metric for Bleu {
    fn name(&self) -> String {
        "BLEU".into()
    }

    fn extend_signature(&self, signature: &mut Signature) {
        signature.push("case", "c", if self.lowercase { "lc" } else { "mixed" });
        signature.push_flag("eff", "e", self.effective_order);
        signature.push("tok", "tok", self.tokenizer.name());
        signature.push("smooth", "s", self.smoothing.to_text());
    }

    fn num_statistics(&self) -> usize {
        2 + 2 * MAX_NGRAM_ORDER
    }

    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        self.counts(hypothesis, references).to_row()
    }

    fn score(&self, sums: &[f64]) -> (f64, String) {
        let parts = BleuCounts::from_row(sums).compute_score(self.smoothing, self.effective_order);
        (parts.score, parts.to_text())
    }

    fn score_f32(&self, sums: &[f32]) -> f64 {
        counts::score_f32(sums, self.smoothing, self.effective_order)
    }

    fn has_f32_scores(&self) -> bool {
        false
    }
}
