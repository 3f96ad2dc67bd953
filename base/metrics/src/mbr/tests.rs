//! Tests of exact utilities against separate scores of all pairs, and of aggregates against exact
//! utilities and counts by hand.

use proptest::prelude::*;

use super::*;
use crate::{Metric, Tokenizer, sentence_score};

/// Returns expected utilities by the definition.
fn naive(metric: &dyn Metric, sign: f64, lines: &[&str], weights: &[f64]) -> Vec<f64> {
    let expected = lines.iter().map(|line| {
        lines.iter().zip(weights).fold(0.0, |sum, (reference, weight)| {
            sum + weight * (sign * sentence_score(metric, line, &[reference]).value)
        })
    });
    expected.collect()
}

fn check(utility: &Utility, lines: &[&str], weights: &[f64]) -> Result<(), TestCaseError> {
    let list = CandidateList::new(utility, lines);
    let expected = match utility {
        Utility::Chrf(metric) => naive(metric, 1.0, lines, weights),
        Utility::Bleu(metric) => naive(metric, 1.0, lines, weights),
        Utility::Ter(metric) => naive(metric, -1.0, lines, weights),
    };
    prop_assert_eq!(&list.expected(weights), &expected);
    let ranked = list.rank(weights, Estimate::Exact);
    let best = expected.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let winner = expected.iter().position(|&value| value == best);
    prop_assert_eq!(Some(ranked[0].0), winner);
    prop_assert!(ranked.is_sorted_by(|a, b| a.1 >= b.1));
    // A coarse-to-fine estimate returns exact utilities of the candidates that it keeps.
    for kept in [1, 2, lines.len()] {
        for (candidate, value) in list.rank(weights, Estimate::CoarseToFine(kept)) {
            prop_assert_eq!(value, expected[candidate]);
        }
    }
    prop_assert_eq!(&list.rank(weights, Estimate::CoarseToFine(lines.len())), &ranked);
    Ok(())
}

/// Returns utilities of all metrics, each with several sets of options; TER is last.
fn utilities() -> Vec<Utility> {
    let chrf = Chrf::default();
    let bleu = Bleu { effective_order: true, ..Bleu::default() };
    vec![
        Utility::Chrf(chrf),
        Utility::Chrf(Chrf::new(6, 2).unwrap().beta(1).lowercase(true)),
        Utility::Chrf(Chrf::new(0, 2).unwrap()),
        Utility::Chrf(Chrf::new(3, 1).unwrap().whitespace(true).epsilon_smoothing(true)),
        Utility::Bleu(bleu.clone()),
        Utility::Bleu(Bleu { tokenizer: Tokenizer::None, lowercase: true, ..bleu }),
        Utility::Bleu(Bleu::default()),
        Utility::Ter(Ter::default()),
        Utility::Ter(Ter { no_punctuation: true, case_sensitive: true, ..Ter::default() }),
        Utility::Ter(Ter { normalized: true, ..Ter::default() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn equals_every_pair_on_its_own(
        lines in proptest::collection::vec("[abA]{0,3}( [ab,.5]{1,3}){0,4}", 1..7),
        weights in proptest::collection::vec(0.0..1.0, 7),
    ) {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        for utility in utilities() {
            check(&utility, &lines, &weights[..lines.len()])?;
        }
    }
}

/// A list that is long enough to have rare n-grams, frequent ones and ones of all lines. TER, whose
/// exact scores need no n-grams, is left out.
#[test]
fn long_lists_equal_every_pair_on_its_own() {
    let words = ["ein", "Haus", "the", "small", "house", "is", "red", "ist", "klein", "."];
    let mut state = 1u64;
    let mut next = |n: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % n
    };
    let lines: Vec<String> = (0..150)
        .map(|_| {
            let (length, changed, word) = (9 + next(4), next(12), next(10));
            let line =
                (0..length).map(|i| words[if i == changed { word } else { i % 10 } as usize]);
            line.collect::<Vec<_>>().join(" ")
        })
        .collect();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let weights: Vec<f64> = (0..lines.len()).map(|i| 1.0 / (i + 1) as f64).collect();
    for utility in &utilities()[..7] {
        check(utility, &lines, &weights).unwrap();
    }
}

/// The average of equal references equals each of them, so the aggregate and the exact utility
/// agree.
#[test]
fn one_distinct_candidate_is_its_own_average() {
    for utility in [Utility::Chrf(Chrf::default()), Utility::Bleu(Bleu::default())] {
        let list = CandidateList::new(&utility, &["a small house"; 4]);
        for (_, value) in list.rank(&[0.25; 4], Estimate::Aggregate) {
            assert!((value - list.expected(&[0.25; 4])[0]).abs() < 1e-9);
        }
    }
}

/// Edits have no average, so the aggregate of TER is that of sentence BLEU over the words that TER
/// compares.
#[test]
fn the_aggregate_of_ter_is_bleu_of_its_words() {
    let lines = ["a dog", "The small house is red", "the Small house was red", "the house is red"];
    let lowercase = lines.map(str::to_lowercase);
    let weights = [0.1, 0.3, 0.2, 0.4];
    let bleu = Utility::Bleu(Bleu { tokenizer: Tokenizer::None, ..Bleu::default() });
    let bleu = CandidateList::new(&bleu, &lowercase.each_ref().map(String::as_str));
    let expected = bleu.rank(&weights, Estimate::Aggregate);
    let ter = CandidateList::new(&Utility::Ter(Ter::default()), &lines);
    assert_eq!(ter.rank(&weights, Estimate::Aggregate), expected);
    assert_eq!((expected[0].0, expected[3].0), (3, 0));
    // The candidates that are kept have their exact utilities.
    let exact = ter.expected(&weights);
    assert_eq!(ter.rank(&weights, Estimate::CoarseToFine(1)), [(3, exact[3])]);
}

/// Aggregated chrF of character unigrams alone, with counts computed by hand.
#[test]
fn average_counts_are_real_numbers() {
    let chrf = Chrf::new(1, 0).unwrap().beta(1);
    let list = CandidateList::new(&Utility::Chrf(chrf), &["ab", "a"]);
    let ranked = list.rank(&[0.5, 0.5], Estimate::Aggregate);
    // The average reference has one `a` and half a `b`. "ab" has a precision of 1.5/2 and a recall
    // of 1.5/1.5; "a" has a precision of 1 and a recall of 1/1.5.
    let f = |p: f64, r: f64| 100.0 * 2.0 * p * r / (p + r);
    for (candidate, expected) in [(0, f(0.75, 1.0)), (1, f(1.0, 1.0 / 1.5))] {
        let found = ranked.iter().find(|(i, _)| *i == candidate).unwrap().1;
        assert!((found - expected).abs() < 1e-9, "{found} {expected}");
    }
}
