//! Tests of properties that hold for any lines.

use miriam_metrics::bleu::{BleuCounts, NgramMatcher, ReferenceNgrams, TokenId};
use miriam_metrics::{Bleu, Chrf, Metric, Ter, Tokenizer, sentence_score};
use proptest::prelude::*;

fn metrics() -> Vec<Box<dyn Metric>> {
    let mut metrics: Vec<Box<dyn Metric>> = vec![
        Box::new(Chrf::default()),
        Box::new(Chrf::new(3, 2).unwrap().whitespace(true)),
        Box::new(Ter::default()),
        Box::new(Ter {
            normalized: true,
            asian_support: true,
            no_punctuation: true,
            case_sensitive: false,
        }),
    ];
    for tokenizer in Tokenizer::NAMES.map(|name| Tokenizer::from_name(name).unwrap()) {
        metrics.push(Box::new(Bleu { tokenizer, lowercase: true, ..Bleu::default() }));
    }
    metrics
}

/// Generates lines of words with few letters, so that words repeat, and lines of any characters.
fn any_line() -> impl Strategy<Value = String> {
    prop_oneof!["([ab.,]{1,3} ){0,30}", ".{0,40}"]
}

/// Counts clipped matches of n-grams naively.
fn count_matches_naively(hypothesis: &[&str], references: &[Vec<&str>], n: usize) -> u64 {
    let count = |words: &[&str], ngram: &[&str]| words.windows(n).filter(|w| *w == ngram).count();
    let mut ngrams: Vec<&[&str]> = hypothesis.windows(n).collect();
    ngrams.sort_unstable();
    ngrams.dedup();
    let clipped = ngrams.iter().map(|ngram| {
        let most = references.iter().map(|words| count(words, ngram)).max().unwrap_or(0);
        most.min(count(hypothesis, ngram)) as u64
    });
    clipped.sum()
}

proptest! {
    #[test]
    fn every_line_has_a_score(
        hypothesis in any_line(), references in proptest::collection::vec(any_line(), 1..3),
    ) {
        let references: Vec<&str> = references.iter().map(String::as_str).collect();
        for metric in metrics() {
            let score = sentence_score(&*metric, &hypothesis, &references);
            prop_assert!(score.value >= 0.0 && score.value.is_finite(), "{score:?}");
            let own_score = sentence_score(&*metric, references[0], &references);
            let limit = if score.name == "TER" { 0.0 } else { 100.0 + 1e-9 };
            if score.name == "TER" {
                prop_assert_eq!(own_score.value, limit);
            } else {
                prop_assert!(own_score.value <= limit, "{own_score:?}");
            }
        }
    }

    #[test]
    fn bleu_counts_equal_naive_counts(
        hypothesis in "([abc] ){0,12}", references in proptest::collection::vec("([abc] ){0,12}", 1..4),
    ) {
        let words: Vec<&str> = hypothesis.split_whitespace().collect();
        let texts: Vec<Vec<&str>> = references.iter().map(|r| r.split_whitespace().collect()).collect();
        let ngrams = ReferenceNgrams::new(texts.iter().map(|words| words.iter().map(|w| w.as_bytes())));
        let tokens: Vec<TokenId> = words.iter().map(|word| ngrams.token_id(word.as_bytes())).collect();
        let counts = NgramMatcher::default().count_matches(&ngrams, &tokens);
        for n in 1..=4 {
            prop_assert_eq!(counts.matches[n - 1], count_matches_naively(&words, &texts, n));
            prop_assert_eq!(counts.totals[n - 1], (words.len() + 1).saturating_sub(n) as u64);
        }
        let closest = texts.iter().map(|text| text.len() as i64);
        let hypothesis_len = words.len() as i64;
        let closest = closest.min_by_key(|&length| ((length - hypothesis_len).abs(), length));
        prop_assert_eq!(counts.reference_len as i64, closest.unwrap());
        let mut sums = counts;
        sums += counts;
        prop_assert_eq!(sums.hypothesis_len, 2 * counts.hypothesis_len);
        sums -= counts;
        prop_assert_eq!(sums, counts);
        sums -= counts;
        prop_assert_eq!(sums, BleuCounts::default());
    }
}
