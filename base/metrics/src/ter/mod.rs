//! TER (Snover et al. 2006) by Tercom's algorithm: edits of words and shifts of phrases,
//! per word of the reference.

mod distance;
mod shifts;
mod tercom;

use std::borrow::Cow;

use crate::python_text::{rstrip, split_whitespace};
use crate::word_ids::WordIds;
use crate::{Metric, Signature};
use distance::EditDistance;

/// TER with its options.
///
/// # Examples
/// ```
/// use miriam_metrics::{Ter, sentence_score};
///
/// // One shift of "down", for a reference of four words.
/// let score = sentence_score(&Ter::default(), "down the cat sat", &["the cat sat down"]);
/// assert_eq!(score.value, 25.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ter {
    /// Whether punctuation is split from words, as Tercom does.
    pub normalized: bool,
    /// Whether punctuation is removed.
    pub no_punctuation: bool,
    /// Whether normalisation splits Asian characters one by one.
    pub asian_support: bool,
    /// Whether case matters.
    pub case_sensitive: bool,
}

impl Ter {
    fn tokenize<'l>(&self, line: &'l str) -> Cow<'l, str> {
        tercom::tokenize(rstrip(line), self)
    }

    /// Returns the words of a hypothesis.
    pub(crate) fn hypothesis_words(&self, line: &str, word_ids: &mut WordIds) -> Vec<u32> {
        word_ids.intern_all(split_whitespace(&self.tokenize(line)))
    }

    /// Returns the words of a reference.
    pub(crate) fn reference_words(&self, line: &str, word_ids: &mut WordIds) -> Vec<u32> {
        // SacreBLEU tokenises references twice; normalisation can split more the second time, also
        // because words are then joined by single spaces.
        let mut tokenized = self.tokenize(line);
        if self.normalized {
            let words: Vec<&str> = split_whitespace(&tokenized).collect();
            tokenized = Cow::Owned(self.tokenize(&words.join(" ")).into_owned());
        }
        word_ids.intern_all(split_whitespace(&tokenized))
    }
}

impl Metric for Ter {
    fn name(&self) -> String {
        "TER".into()
    }

    fn extend_signature(&self, signature: &mut Signature) {
        signature.push("case", "c", if self.case_sensitive { "mixed" } else { "lc" });
        signature.push("tok", "t", "tercom");
        signature.push_flag("norm", "nr", self.normalized);
        signature.push_flag("punct", "pn", !self.no_punctuation);
        signature.push_flag("asian", "as", self.asian_support);
    }

    fn num_statistics(&self) -> usize {
        2
    }

    /// Returns the smallest number of edits for any reference, and the mean length of the
    /// references.
    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        let mut word_ids = WordIds::default();
        let hypothesis = self.hypothesis_words(hypothesis, &mut word_ids);
        let mut lengths = 0;
        let mut fewest = usize::MAX;
        for line in references {
            let reference = self.reference_words(line, &mut word_ids);
            lengths += reference.len();
            fewest = fewest.min(count_edits(&hypothesis, &reference));
        }
        vec![fewest as f64, lengths as f64 / references.len() as f64]
    }

    fn score(&self, sums: &[f64]) -> (f64, String) {
        let score = match (sums[0] > 0.0, sums[1] > 0.0) {
            (_, true) => sums[0] / sums[1],
            (true, false) => 1.0,
            (false, false) => 0.0,
        };
        (100.0 * score, String::new())
    }

    fn score_f32(&self, sums: &[f32]) -> f64 {
        match (sums[0] > 0.0, sums[1] > 0.0) {
            (_, true) => f64::from(100.0 * (sums[0] / sums[1])),
            (true, false) => 100.0,
            (false, false) => 0.0,
        }
    }
}

/// Returns the number of edits from `hypothesis` to `reference`: shifts while they help, then
/// insertions, deletions and substitutions.
pub(crate) fn count_edits(hypothesis: &[u32], reference: &[u32]) -> usize {
    if reference.is_empty() {
        return hypothesis.len();
    }
    let mut distance = EditDistance::new(reference, hypothesis.len());
    let mut words = hypothesis.to_vec();
    let mut candidates = 0;
    let mut shifts = 0;
    while let Some(shifted) = shifts::best_shift(&words, reference, &mut distance, &mut candidates)
    {
        words = shifted;
        shifts += 1;
    }
    shifts + distance.compute(&words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sentence_score;

    /// sacreBLEU 2.6.0 gave the scores: the second pass over a reference splits the possessive.
    #[test]
    fn references_are_joined_by_single_spaces_before_the_second_pass() {
        let normalized = Ter { normalized: true, ..Ter::default() };
        for line in ["It's\tfine ok", "It's\u{a0}fine ok", "It's\u{3000}fine\t\tok"] {
            assert_eq!(sentence_score(&normalized, line, &[line]).value, 50.0, "{line:?}");
            assert_eq!(sentence_score(&Ter::default(), line, &[line]).value, 0.0, "{line:?}");
        }
        assert_eq!(sentence_score(&normalized, "It's fine ok", &["It's fine ok"]).value, 0.0);
    }
}
