//! chrF (Popović 2015): F-scores of character n-grams; with word n-grams, chrF++ (Popović 2017).
//!
//! A row of statistics has three numbers per order, characters first: the n-grams of the
//! hypothesis, of the reference, and in common.

mod ngram_overlap;

use crate::python_text::{is_space, lowercase_if, split_whitespace};
use crate::word_ids::WordIds;
use crate::{Error, Metric, Result, Signature};
use ngram_overlap::NgramOverlap;

/// chrF with its options.
///
/// # Examples
/// ```
/// use miriam_metrics::{Chrf, sentence_score};
///
/// let chrf_plus_plus = Chrf::new(6, 2)?;
/// let score = sentence_score(&chrf_plus_plus, "a small house", &["a small house"]);
/// assert_eq!((&score.name[..], score.value.round()), ("chrF2++", 100.0));
/// # Ok::<(), miriam_metrics::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chrf {
    char_order: usize,
    word_order: usize,
    beta: f64,
    lowercase: bool,
    keep_whitespace: bool,
    epsilon_smoothing: bool,
}

/// The precision or recall of an order without n-grams, and the F-score where both are 0.
const EPSILON: f64 = 1e-16;

impl Default for Chrf {
    fn default() -> Self {
        Chrf {
            char_order: 6,
            word_order: 0,
            beta: 2.0,
            lowercase: false,
            keep_whitespace: false,
            epsilon_smoothing: false,
        }
    }
}

impl Chrf {
    /// Returns chrF of n-grams of up to `char_order` characters and `word_order` words.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the sum of the orders is not from 1 to 100.
    pub fn new(char_order: usize, word_order: usize) -> Result<Self> {
        if !(1..=100).contains(&char_order.saturating_add(word_order)) {
            return Err(Error::InvalidOption(
                "the sum of the orders of chrF must be from 1 to 100".into(),
            ));
        }
        Ok(Chrf { char_order, word_order, ..Chrf::default() })
    }

    /// Sets beta of the F-score, in which recall has `beta^2` times the weight of precision; 2 by
    /// default.
    pub fn beta(self, beta: impl Into<f64>) -> Self {
        Chrf { beta: beta.into(), ..self }
    }

    /// Sets whether case is ignored; off by default.
    pub fn lowercase(self, lowercase: bool) -> Self {
        Chrf { lowercase, ..self }
    }

    /// Sets whether character n-grams include white space; off by default.
    pub fn whitespace(self, whitespace: bool) -> Self {
        Chrf { keep_whitespace: whitespace, ..self }
    }

    /// Sets whether the score is the mean of the F-scores of all orders, with a tiny precision or
    /// recall where an order has no n-grams. Off by default: then it is the F-score of the mean
    /// precision and the mean recall of the orders of which both sides have n-grams.
    pub fn epsilon_smoothing(self, epsilon: bool) -> Self {
        Chrf { epsilon_smoothing: epsilon, ..self }
    }

    /// Returns the orders of n-grams of characters and of words.
    pub(crate) fn orders(&self) -> [usize; 2] {
        [self.char_order, self.word_order]
    }

    pub(crate) fn has_epsilon_smoothing(&self) -> bool {
        self.epsilon_smoothing
    }

    /// Returns the characters and the ids of the words of a line that form n-grams.
    pub(crate) fn scored_tokens(&self, line: &str, word_ids: &mut WordIds) -> [Vec<u32>; 2] {
        let line = lowercase_if(line, self.lowercase);
        let words = match self.word_order {
            0 => Vec::new(),
            _ => word_ids.intern_all(split_punctuation(&line)),
        };
        [self.scored_characters(&line), words]
    }

    fn total_order(&self) -> usize {
        self.char_order + self.word_order
    }

    /// Returns the score for the counts of n-grams of each order: in the hypothesis, in the
    /// reference, and in common.
    pub(crate) fn f_score(&self, counts: impl Iterator<Item = [f64; 3]>) -> f64 {
        let factor = self.beta * self.beta;
        let (mut smoothed, mut precision_sum, mut recall_sum) = (0.0, 0.0, 0.0);
        let mut num_orders = 0;
        for [hypothesis, reference, common] in counts {
            let precision = if hypothesis > 0.0 { common / hypothesis } else { EPSILON };
            let recall = if reference > 0.0 { common / reference } else { EPSILON };
            let denominator = factor * precision + recall;
            smoothed += if denominator > 0.0 {
                (1.0 + factor) * precision * recall / denominator
            } else {
                EPSILON
            };
            if hypothesis > 0.0 && reference > 0.0 {
                precision_sum += precision;
                recall_sum += recall;
                num_orders += 1;
            }
        }
        if self.epsilon_smoothing {
            return 100.0 * smoothed / self.total_order() as f64;
        }
        fn mean(sum: f64, num_orders: i32) -> f64 {
            if num_orders == 0 { 0.0 } else { sum / f64::from(num_orders) }
        }
        self.f_score_of_means(mean(precision_sum, num_orders), mean(recall_sum, num_orders))
    }

    /// Returns the F-score of the means of precisions and recalls over orders.
    #[inline]
    pub(crate) fn f_score_of_means(&self, precision: f64, recall: f64) -> f64 {
        let factor = self.beta * self.beta;
        if precision + recall == 0.0 {
            return 0.0;
        }
        100.0 * ((1.0 + factor) * precision * recall / (factor * precision + recall))
    }

    /// Works like [`Chrf::f_score`], computed in f32.
    fn f_score_f32(&self, counts: impl Iterator<Item = [f32; 3]>) -> f64 {
        let factor = (self.beta * self.beta) as f32;
        let epsilon = EPSILON as f32;
        let (mut smoothed, mut precision_sum, mut recall_sum) = (0f32, 0f32, 0f32);
        let mut num_orders = 0u16;
        for [hypothesis, reference, common] in counts {
            let precision = if hypothesis > 0.0 { common / hypothesis } else { epsilon };
            let recall = if reference > 0.0 { common / reference } else { epsilon };
            let denominator = factor * precision + recall;
            smoothed += if denominator > 0.0 {
                (1.0 + factor) * precision * recall / denominator
            } else {
                epsilon
            };
            if hypothesis > 0.0 && reference > 0.0 {
                precision_sum += precision;
                recall_sum += recall;
                num_orders += 1;
            }
        }
        if self.epsilon_smoothing {
            return f64::from(100.0 * smoothed / self.total_order() as f32);
        }
        fn mean(sum: f32, num_orders: u16) -> f32 {
            if num_orders == 0 { 0.0 } else { sum / f32::from(num_orders) }
        }
        let (precision, recall) = (mean(precision_sum, num_orders), mean(recall_sum, num_orders));
        if precision + recall == 0.0 {
            return 0.0;
        }
        let score = (1.0 + factor) * precision * recall / (factor * precision + recall);
        f64::from(100.0 * score)
    }

    /// Returns the characters of a line, without white space unless n-grams include it.
    fn scored_characters(&self, line: &str) -> Vec<u32> {
        line.chars().filter(|c| self.keep_whitespace || !is_space(*c)).map(u32::from).collect()
    }
}

/// Splits a line into words, and splits a punctuation mark off the end of each word, or else off
/// its beginning.
fn split_punctuation(line: &str) -> impl Iterator<Item = &str> {
    fn is_mark(c: char) -> bool {
        c.is_ascii_punctuation()
    }
    split_whitespace(line)
        .flat_map(move |word| {
            let is_single_char = word.chars().nth(1).is_none();
            if !is_single_char && word.ends_with(is_mark) {
                let (start, mark) = word.split_at(word.len() - 1);
                [start, mark]
            } else if !is_single_char && word.starts_with(is_mark) {
                let (mark, end) = word.split_at(1);
                [mark, end]
            } else {
                [word, ""]
            }
        })
        .filter(|word| !word.is_empty())
}

impl Metric for Chrf {
    fn name(&self) -> String {
        format!("chrF{}{}", self.beta, "+".repeat(self.word_order))
    }

    fn extend_signature(&self, signature: &mut Signature) {
        signature.push("case", "c", if self.lowercase { "lc" } else { "mixed" });
        signature.push_flag("eff", "e", !self.epsilon_smoothing);
        signature.push("nc", "nc", self.char_order);
        signature.push("nw", "nw", self.word_order);
        signature.push_flag("space", "s", self.keep_whitespace);
    }

    fn num_statistics(&self) -> usize {
        3 * self.total_order()
    }

    /// Returns the statistics against the reference with the best score.
    fn statistics(&self, hypothesis: &str, references: &[&str]) -> Vec<f64> {
        let mut word_ids = WordIds::default();
        let [characters, words] = self.scored_tokens(hypothesis, &mut word_ids);
        let mut ngrams = NgramOverlap::default();
        let mut best = (-1.0, vec![0.0; self.num_statistics()]);
        let mut counts = Vec::with_capacity(self.total_order());
        for line in references {
            counts.clear();
            let [line_characters, line_words] = self.scored_tokens(line, &mut word_ids);
            ngrams.count_ngrams(&characters, &line_characters, self.char_order, &mut counts);
            if self.word_order > 0 {
                ngrams.count_ngrams(&words, &line_words, self.word_order, &mut counts);
            }
            let score = self.f_score(counts.iter().copied());
            if score > best.0 {
                best = (score, counts.concat());
            }
        }
        best.1
    }

    fn score(&self, sums: &[f64]) -> (f64, String) {
        let triples = sums.chunks_exact(3).map(|c| [c[0], c[1], c[2]]);
        (self.f_score(triples), String::new())
    }

    fn score_f32(&self, sums: &[f32]) -> f64 {
        self.f_score_f32(sums.chunks_exact(3).map(|c| [c[0], c[1], c[2]]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn punctuation_is_split_off() {
        let split = |line| split_punctuation(line).collect::<Vec<_>>();
        assert_eq!(
            split("(hi) \"so\u{a0}é, . --"),
            ["(hi", ")", "\"", "so", "é", ",", ".", "-", "-"]
        );
    }

    #[test]
    fn orders_out_of_range_are_rejected() {
        assert!(Chrf::new(0, 0).is_err());
        // The sum of these numbers overflows.
        assert!(Chrf::new(usize::MAX, 2).is_err());
        assert!(Chrf::new(0, 2).is_ok());
    }
}
