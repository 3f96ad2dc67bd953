//! Significance pruning: Fisher's exact test on sentence pairs finds phrase pairs that do not
//! cooccur more often than by chance (Johnson et al. 2007).
//!
//! A pair cooccurs in a sentence pair that contains both phrases, aligned or not. The counts of
//! the single phrases decide most pairs, because a pair cooccurs at least once and at most as
//! often as its rarer phrase. Cooccurrences of the other pairs are counted.

use std::f64::consts::PI;
use std::fmt;

use miriam_textio::SliceInterner;

use crate::Result;
use crate::corpus::Corpus;
use crate::phrases::hash_phrase;
use crate::sentence_pair::SentencePair;

/// The epsilon of `a+e` and `a-e`, that of Moses' `filter-pt`.
const EPSILON: f64 = 0.001;

/// The significance that a phrase pair must reach: the negated natural logarithm of its p-value.
/// Alpha is the significance of two phrases that both occur once, in the same sentence pair: the
/// logarithm of the number of sentence pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SignificanceThreshold {
    /// Above alpha (`a+e`): pairs of phrases that occur only once, together, are pruned.
    AboveAlpha,
    /// Alpha or above (`a-e`): pairs of phrases that occur only once, together, are kept, and less
    /// significant pairs are pruned.
    Alpha,
    /// Above this number.
    Above(f64),
}

impl SignificanceThreshold {
    /// Parses `a+e`, `a-e` or a number that is not negative.
    ///
    /// # Errors
    /// Fails with a message that lists the valid values.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "a+e" => Ok(SignificanceThreshold::AboveAlpha),
            "a-e" => Ok(SignificanceThreshold::Alpha),
            _ => match text.parse::<f64>() {
                Ok(level) if level.is_finite() && level >= 0.0 => {
                    Ok(SignificanceThreshold::Above(level))
                }
                _ => Err(format!(
                    "invalid significance level {text:?}; write a+e, a-e or a number of at least 0"
                )),
            },
        }
    }

    /// Returns the value that the negated logarithm of a p-value must exceed, for a corpus of
    /// `pairs` sentence pairs.
    fn threshold(self, pairs: u64) -> f64 {
        match self {
            SignificanceThreshold::AboveAlpha => (pairs as f64).ln() + EPSILON,
            SignificanceThreshold::Alpha => (pairs as f64).ln() - EPSILON,
            SignificanceThreshold::Above(level) => level,
        }
    }
}

impl fmt::Display for SignificanceThreshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SignificanceThreshold::AboveAlpha => write!(f, "a+e"),
            SignificanceThreshold::Alpha => write!(f, "a-e"),
            SignificanceThreshold::Above(level) => write!(f, "{level}"),
        }
    }
}

/// The numbers of sentence pairs with the source phrase, with the target phrase, and in all.
#[derive(Clone, Copy, Debug)]
struct MarginalCounts {
    /// All sentence pairs.
    all: u64,
    source: u64,
    target: u64,
}

impl MarginalCounts {
    /// Returns the negated logarithm of the p-value: the probability that the phrases cooccur in
    /// at least `together` sentence pairs by chance.
    fn neg_ln_p_value(self, together: u64) -> f64 {
        let MarginalCounts { all, source, target } = self;
        // At least this many cooccurrences are certain.
        if together + all <= source + target {
            return 0.0;
        }
        let most = source.min(target);
        let first = ln_choose(source, together) + ln_choose(all - source, target - together)
            - ln_choose(all, target);
        // The sum of the terms relative to the first.
        let (mut sum, mut term) = (1.0, 1.0f64);
        for k in together..most {
            let ratio = (source - k) as f64 * (target - k) as f64
                / ((k + 1) as f64 * (all + k + 1 - source - target) as f64);
            term *= ratio;
            sum += term;
            if ratio < 1.0 && term < sum * 1e-17 {
                break;
            }
        }
        -(first + sum.ln()).min(0.0)
    }
}

/// Returns the logarithm of the binomial coefficient of `n` over `k`.
fn ln_choose(n: u64, k: u64) -> f64 {
    // For small `k`, differences of large logarithms would lose digits.
    let few = k.min(n - k);
    if few <= 32 {
        return (0..few).map(|i| ((n - i) as f64 / (i + 1) as f64).ln()).sum();
    }
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Returns the logarithm of n!, accurate to the last digits: Stirling's series for large n.
fn ln_factorial(n: u64) -> f64 {
    if n < 16 {
        return (2..=n).map(|i| i as f64).product::<f64>().ln();
    }
    let n = n as f64;
    let series = 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3)) + 1.0 / (1260.0 * n.powi(5));
    n * n.ln() - n + 0.5 * (2.0 * PI * n).ln() + series
}

/// Returns for each of `pairs`, in the order of the table, whether it is pruned. `sources` and
/// `targets` are all phrases of a partition, of up to `max_length` words; `is_in_partition` tells
/// by the hash of a target phrase whether it belongs to the partition.
pub(crate) fn find_insignificant(
    corpus: &Corpus,
    significance: SignificanceThreshold,
    max_length: usize,
    is_in_partition: impl Fn(u64) -> bool,
    [sources, targets]: [&SliceInterner<u32>; 2],
    pairs: &[(u32, u32)],
) -> Result<Vec<bool>> {
    let all = corpus.pairs;
    let phrases =
        PartitionPhrases { corpus, max_length, is_in_partition, pools: [sources, targets] };
    let level = significance.threshold(all);
    let mut occurrences = [sources, targets].map(|pool| vec![0u32; pool.len()]);
    phrases.for_each_sentence_pair(|present| {
        for (counts, present) in occurrences.iter_mut().zip(present) {
            present.found.iter().for_each(|&id| counts[id as usize] += 1);
        }
    })?;
    fn marginals(
        (source, target): (u32, u32),
        all: u64,
        occurrences: &[Vec<u32>; 2],
    ) -> MarginalCounts {
        MarginalCounts {
            all,
            source: occurrences[0][source as usize].into(),
            target: occurrences[1][target as usize].into(),
        }
    }
    let mut pruned = vec![false; pairs.len()];
    // Target, source and index of the pairs that only a count of their cooccurrences decides.
    let mut open: Vec<(u32, u32, u32)> = Vec::new();
    for (index, &pair) in (0..).zip(pairs) {
        let counts = marginals(pair, all, &occurrences);
        let most = counts.source.min(counts.target);
        if counts.neg_ln_p_value(most) <= level {
            pruned[index as usize] = true;
        } else if most > 1 && counts.neg_ln_p_value(1) <= level {
            open.push((pair.1, pair.0, index));
        }
    }
    open.sort_unstable();
    let mut starts = vec![0u32; targets.len() + 1];
    open.iter().for_each(|&(target, ..)| starts[target as usize + 1] += 1);
    (1..starts.len()).for_each(|i| starts[i] += starts[i - 1]);
    let mut together = vec![0u32; open.len()];
    phrases.for_each_sentence_pair(|[sources, targets]| {
        for &target in &targets.found {
            let range = starts[target as usize] as usize..starts[target as usize + 1] as usize;
            let (candidates, counts) = (&open[range.clone()], &mut together[range]);
            // Tests every candidate, unless binary searches for the found phrases are cheaper.
            if candidates.len() <= 8 * sources.found.len() {
                for ((_, source, _), count) in candidates.iter().zip(counts) {
                    if sources.contains(*source) {
                        *count += 1;
                    }
                }
            } else {
                for id in &sources.found {
                    if let Ok(index) = candidates.binary_search_by_key(id, |&(_, source, _)| source)
                    {
                        counts[index] += 1;
                    }
                }
            }
        }
    })?;
    for (&(target, source, index), &together) in open.iter().zip(&together) {
        pruned[index as usize] =
            marginals((source, target), all, &occurrences).neg_ln_p_value(together.into()) <= level;
    }
    Ok(pruned)
}

/// The phrases of a partition in a corpus.
struct PartitionPhrases<'a, F> {
    corpus: &'a Corpus,
    max_length: usize,
    /// Whether a target phrase with this hash belongs to the partition.
    is_in_partition: F,
    /// All source phrases and all target phrases of the partition.
    pools: [&'a SliceInterner<u32>; 2],
}

impl<F: Fn(u64) -> bool> PartitionPhrases<'_, F> {
    /// Calls `take` with the interned phrases in every sentence pair.
    fn for_each_sentence_pair(&self, mut take: impl FnMut(&[PhraseFinder<'_>; 2])) -> Result<()> {
        let mut present = self.pools.map(PhraseFinder::new);
        let mut sentence = SentencePair::default();
        for block in 0..self.corpus.num_blocks() {
            self.corpus.for_each_sentence_pair(block, &mut sentence, |sentence| {
                let [sources, targets] = &mut present;
                targets.find_phrases(&sentence.target, self.max_length, &self.is_in_partition);
                // Without a target phrase there is no pair, but source phrases still count.
                sources.find_phrases(&sentence.source, self.max_length, |_| true);
                take(&present);
            })?;
        }
        Ok(())
    }
}

/// A finder of the interned phrases in a sentence.
struct PhraseFinder<'p> {
    pool: &'p SliceInterner<u32>,
    found: Vec<u32>,
    /// The last sentence that each phrase was found in.
    last_seen: Vec<u64>,
    sentence_number: u64,
}

impl<'p> PhraseFinder<'p> {
    fn new(pool: &'p SliceInterner<u32>) -> Self {
        PhraseFinder { pool, found: Vec::new(), last_seen: vec![0; pool.len()], sentence_number: 0 }
    }

    fn find_phrases(&mut self, words: &[u32], longest: usize, may_occur: impl Fn(u64) -> bool) {
        self.found.clear();
        self.sentence_number += 1;
        for start in 0..words.len() {
            for end in start + 1..=words.len().min(start + longest) {
                let phrase = &words[start..end];
                let hash = hash_phrase(phrase);
                if !may_occur(hash) {
                    continue;
                }
                if let Some(id) = self.pool.find(phrase, hash)
                    && self.last_seen[id as usize] != self.sentence_number
                {
                    self.last_seen[id as usize] = self.sentence_number;
                    self.found.push(id);
                }
            }
        }
    }

    fn contains(&self, id: u32) -> bool {
        self.last_seen[id as usize] == self.sentence_number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the binomial coefficient of `n` over `k`.
    fn choose(n: u64, k: u64) -> u128 {
        if k > n {
            return 0;
        }
        (0..u128::from(k)).fold(1, |c, i| c * (u128::from(n) - i) / (i + 1))
    }

    fn p_value(all: u64, source: u64, target: u64, together: u64) -> f64 {
        (-MarginalCounts { all, source, target }.neg_ln_p_value(together)).exp()
    }

    /// Fisher's lady: eight cups, four of them with milk first; she names four.
    #[test]
    fn lady_tasting_tea() {
        for (right, expected) in
            [(4, 1.0 / 70.0), (3, 17.0 / 70.0), (2, 53.0 / 70.0), (1, 69.0 / 70.0), (0, 1.0)]
        {
            assert!((p_value(8, 4, 4, right) - expected).abs() < 1e-12, "{right}");
        }
    }

    #[test]
    fn phrases_that_cooccur_once_have_the_significance_alpha() {
        for all in [1u64, 2, 29_000, 738_981, 5_000_000_000] {
            let once = MarginalCounts { all, source: 1, target: 1 }.neg_ln_p_value(1);
            assert!((once - (all as f64).ln()).abs() < 1e-6, "{all}: {once}");
        }
    }

    /// In Moses, a significance within a thousandth of alpha counts as alpha.
    #[test]
    fn a_thousandth_from_alpha_is_alpha() {
        // The p-value is 90 * 89 / (all * (all - 1)).
        for (all, is_above) in [(8012, true), (8010, false)] {
            let significance = MarginalCounts { all, source: 2, target: 90 }.neg_ln_p_value(2);
            assert_eq!(significance > (all as f64).ln(), is_above, "{all}");
            assert!(significance < SignificanceThreshold::AboveAlpha.threshold(all), "{all}");
            assert!(significance > SignificanceThreshold::Alpha.threshold(all), "{all}");
        }
    }

    #[test]
    fn levels_are_read() {
        for text in ["a+e", "a-e", "12.5", "0"] {
            assert_eq!(SignificanceThreshold::parse(text).unwrap().to_string(), text);
        }
        for bad in ["", "a", "-1", "nan", "inf", "a+E"] {
            assert!(SignificanceThreshold::parse(bad).unwrap_err().contains("a+e"), "{bad}");
        }
    }

    proptest! {
        /// The p-value equals sums of binomial coefficients in whole numbers.
        #[test]
        fn tails_are_sums_of_counts(all in 1u64..60, source in 0u64..60, target in 0u64..60, together in 0u64..60) {
            let (source, target) = (source.min(all), target.min(all));
            let most = source.min(target);
            let together = together.min(most);
            let tail: u128 = (together..=most)
                .map(|k| choose(source, k) * choose(all - source, target - k))
                .sum();
            let expected = tail as f64 / choose(all, target) as f64;
            let found = p_value(all, source, target, together);
            prop_assert!((found - expected).abs() <= 1e-10 * expected, "{} {}", found, expected);
        }
    }
}
