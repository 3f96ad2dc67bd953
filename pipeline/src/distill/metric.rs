//! The metric that selects one of several translations of a sentence by its similarity to the
//! reference.

use miriam_metrics::bleu::{BleuCounts, MAX_NGRAM_ORDER, NgramMatcher, ReferenceNgrams, TokenId};
use miriam_metrics::{Bleu, Chrf, Metric};
use miriam_textio::fields::split_words;

/// A sentence-level metric by which a translation is selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SelectionMetric {
    /// sacreBLEU's sentence BLEU with effective order: only n-gram orders for which the translation
    /// is long enough count.
    #[default]
    Effective,
    /// The BLEU of Marian's student recipes: n-grams of one to four words separated by spaces, with
    /// one added to the numbers of matches and of n-grams. Translations of fewer than four words
    /// score 0.
    Marian,
    /// sacreBLEU's chrF.
    Chrf,
}

impl SelectionMetric {
    /// All metrics.
    pub const ALL: [SelectionMetric; 3] =
        [SelectionMetric::Effective, SelectionMetric::Marian, SelectionMetric::Chrf];

    /// Returns the name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            SelectionMetric::Effective => "effective",
            SelectionMetric::Marian => "marian",
            SelectionMetric::Chrf => "chrf",
        }
    }

    /// Finds the metric with this name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// Returns the score of each translation of one sentence; higher is better.
    pub fn scores(self, reference: &[u8], translations: &[Vec<u8>]) -> Vec<f64> {
        match self {
            SelectionMetric::Marian => {
                let reference = ReferenceNgrams::new([split_words(reference)]);
                let mut matcher = NgramMatcher::default();
                translations
                    .iter()
                    .map(|translation| {
                        let tokens: Vec<TokenId> =
                            split_words(translation).map(|word| reference.token_id(word)).collect();
                        marian_bleu(&matcher.count_matches(&reference, &tokens))
                    })
                    .collect()
            }
            SelectionMetric::Effective => {
                let bleu = Bleu { effective_order: true, ..Bleu::default() };
                score_text(&bleu, reference, translations)
            }
            SelectionMetric::Chrf => score_text(&Chrf::default(), reference, translations),
        }
    }

    /// Returns the index of the best translation, or the first of equally good ones.
    ///
    /// # Panics
    /// If `translations` is empty.
    pub fn select(self, reference: &[u8], translations: &[Vec<u8>]) -> usize {
        let scores = self.scores(reference, translations);
        (0..scores.len())
            .reduce(|best, index| if scores[index] > scores[best] { index } else { best })
            .expect("a sentence has a translation")
    }
}

/// Scores translations by a metric of `miriam-metrics`. Bytes that are not UTF-8 become U+FFFD.
fn score_text(metric: &dyn Metric, reference: &[u8], translations: &[Vec<u8>]) -> Vec<f64> {
    let reference = String::from_utf8_lossy(reference);
    translations
        .iter()
        .map(|translation| {
            let translation = String::from_utf8_lossy(translation);
            metric.score(&metric.statistics(&translation, &[&reference])).0
        })
        .collect()
}

/// Computes the BLEU of [`SelectionMetric::Marian`], from 0 to 1. An order without n-grams has
/// precision 0, so the score is 0.
fn marian_bleu(counts: &BleuCounts) -> f64 {
    let mut product = 1.0;
    for (&matches, &total) in counts.matches.iter().zip(&counts.totals) {
        if total == 0 {
            return 0.0;
        }
        product *= (matches as f64 + 1.0) / (total as f64 + 1.0);
    }
    let [hypothesis, reference] =
        [counts.hypothesis_len, counts.reference_len].map(|length| length as f64);
    let penalty = if hypothesis > reference { 1.0 } else { (1.0 - reference / hypothesis).exp() };
    penalty * product.powf(1.0 / MAX_NGRAM_ORDER as f64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn score(metric: SelectionMetric, reference: &str, translation: &str) -> f64 {
        metric.scores(reference.as_bytes(), &[translation.as_bytes().to_vec()])[0]
    }

    /// Marian's BLEU by its definition: n-grams are counted in maps.
    fn slow_marian_bleu(reference: &[&str], hypothesis: &[&str]) -> f64 {
        let mut log_sum = 0.0;
        for order in 1..=4 {
            let [reference_counts, hypothesis_counts] = [reference, hypothesis].map(|words| {
                let mut counts: HashMap<Vec<String>, u64> = HashMap::new();
                for ngram in words.windows(order) {
                    *counts.entry(ngram.iter().map(|w| (*w).into()).collect()).or_default() += 1;
                }
                counts
            });
            let possible: u64 = hypothesis_counts.values().sum();
            let matched: u64 = hypothesis_counts
                .iter()
                .map(|(ngram, &n)| n.min(reference_counts.get(ngram).copied().unwrap_or(0)))
                .sum();
            if matched == 0 && possible == 0 {
                return 0.0;
            }
            log_sum += ((matched + 1) as f64 / (possible + 1) as f64).ln() / 4.0;
        }
        let ratio = reference.len() as f64 / hypothesis.len() as f64;
        let penalty = if hypothesis.len() > reference.len() { 1.0 } else { (1.0 - ratio).exp() };
        penalty * log_sum.exp()
    }

    /// The precisions are 4/5, 3/4, 2/3 and 1/2, and the lengths are equal. A hypothesis of three
    /// words has no n-gram of four words.
    #[test]
    fn marian_bleu_by_hand() {
        let expected = (0.8f64 * 0.75 * (2.0 / 3.0) * 0.5).powf(0.25);
        let found = score(SelectionMetric::Marian, "a b c d", "a b c x");
        assert!((found - (0.8f64 * 0.75 * (2.0 / 3.0) * 0.5).powf(0.25)).abs() < 1e-12, "{found}");
        let longer = score(SelectionMetric::Marian, "a b c", "a b c x");
        assert!((longer - expected).abs() < 1e-12, "no penalty of length");
        assert_eq!(score(SelectionMetric::Marian, "a b c", "a b c"), 0.0);
        assert_eq!(score(SelectionMetric::Marian, "a b c d", ""), 0.0);
    }

    /// `sacrebleu.sentence_bleu(h, [r], use_effective_order=True)` and `sentence_chrf` of
    /// sacreBLEU 2.6.0.
    #[test]
    fn sentences_score_as_in_sacrebleu() {
        for (reference, translation, bleu, chrf) in SACREBLEU {
            let found = score(SelectionMetric::Effective, reference, translation);
            assert!((found - bleu).abs() < 1e-9, "{translation}: {found} for {bleu}");
            let found = score(SelectionMetric::Chrf, reference, translation);
            assert!((found - chrf).abs() < 1e-9, "{translation}: {found} for {chrf}");
        }
    }

    #[test]
    fn the_first_of_equals_is_selected() {
        let translations = ["x y", "a b", "a b", "a"].map(|text| text.as_bytes().to_vec());
        for metric in [SelectionMetric::Effective, SelectionMetric::Chrf] {
            assert_eq!(metric.select(b"a b", &translations), 1, "{}", metric.name());
        }
        // All have the score 0.
        assert_eq!(SelectionMetric::Marian.select(b"a b", &translations), 0);
    }

    proptest! {
        #[test]
        fn marian_bleu_is_the_slow_one(
            reference in proptest::collection::vec(0u8..4, 0..12),
            hypothesis in proptest::collection::vec(0u8..5, 0..12),
        ) {
            let words = ["a", "b", "c", "d", "e"];
            let [reference, hypothesis] =
                [reference, hypothesis].map(|ids| ids.iter().map(|&id| words[id as usize]).collect::<Vec<_>>());
            let found = score(SelectionMetric::Marian, &reference.join(" "), &hypothesis.join(" "));
            prop_assert!((found - slow_marian_bleu(&reference, &hypothesis)).abs() < 1e-12);
        }
    }

    const SACREBLEU: [(&str, &str, f64, f64); 8] = [
        (
            "two young men are outside near many bushes .",
            "two young guys are outside near bushes .",
            26.66354429712651,
            65.18533502108407,
        ),
        ("a cat", "a cat", 100.00000000000004, 100.0),
        ("a cat", "the dog sleeps", 0.0, 4.464285714285714),
        ("Hello, world!", "hello , world !", 59.460355750136046, 89.11315536315534),
        (
            "a little girl climbing into a wooden playhouse .",
            "a little girl climbs into a playhouse made of wood .",
            19.081654556856684,
            64.35745448356205,
        ),
        ("ein haus", "", 0.0, 0.0),
        (
            "the man in the blue shirt is standing on a ladder",
            "a man",
            0.785524678436902,
            5.577195224159487,
        ),
        ("größe zählt , oder ?", "Größe zählt, oder?", 66.87403049764218, 92.47065434565434),
    ];
}
