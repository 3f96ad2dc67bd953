//! Filter of lines by perplexity: between limits, or the best share of a text.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::text_scoring::BlockOutcome;

/// Conditions under which lines are written.
#[derive(Clone, Copy, Debug)]
pub struct PerplexityFilter {
    /// The lowest perplexity that passes.
    pub min_perplexity: f64,
    /// The highest perplexity that passes.
    pub max_perplexity: f64,
    /// The limit of the best lines of the text, if only these pass.
    pub rank_limit: Option<RankLimit>,
    /// Whether the lines that would not pass are written instead.
    pub invert: bool,
}

/// The best lines of a text: the lines below a perplexity, and the first lines of exactly this
/// perplexity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankLimit {
    /// The highest perplexity of these lines.
    pub perplexity: f64,
    /// The number of these lines that have exactly this perplexity.
    pub ties: u64,
}

/// A share of a text in percent, from 0 to 100, with up to six decimals, kept exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percent {
    millionths: u32,
}

/// The decision about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Written,
    LeftOut,
    /// It has the perplexity of [`RankLimit`], so it depends on the lines before it.
    Tied,
}

impl Default for PerplexityFilter {
    /// Creates a filter that passes every line with a perplexity.
    fn default() -> Self {
        PerplexityFilter {
            min_perplexity: 0.0,
            max_perplexity: f64::INFINITY,
            rank_limit: None,
            invert: false,
        }
    }
}

impl PerplexityFilter {
    /// Decides about a line. The perplexity of a line without tokens is not a number, so such a
    /// line does not pass.
    pub(super) fn judge(&self, perplexity: f64) -> Verdict {
        let in_limits = perplexity >= self.min_perplexity && perplexity <= self.max_perplexity;
        let passes = match self.rank_limit {
            Some(limit) if in_limits && perplexity == limit.perplexity => return Verdict::Tied,
            Some(limit) => in_limits && perplexity < limit.perplexity,
            None => in_limits,
        };
        if passes != self.invert { Verdict::Written } else { Verdict::LeftOut }
    }

    /// Returns for each line of a text whether it is written, from the perplexities of all lines.
    pub fn select(&self, perplexities: impl IntoIterator<Item = f64>) -> Vec<bool> {
        let mut ties = TieCounter::new(self);
        perplexities
            .into_iter()
            .map(|perplexity| match self.judge(perplexity) {
                Verdict::Written => true,
                Verdict::LeftOut => false,
                Verdict::Tied => ties.writes_next(),
            })
            .collect()
    }
}

impl RankLimit {
    /// Computes the limit of the best `share` of `perplexities`: of n lines n·share/100, rounded
    /// up. Perplexities that are not numbers count and come last. The order of `perplexities` is
    /// lost.
    pub fn new(perplexities: &mut [f64], share: Percent) -> Self {
        let count = share.apply(perplexities.len());
        let Some(last) = count.checked_sub(1) else {
            return RankLimit { perplexity: f64::NEG_INFINITY, ties: 0 };
        };
        let (better, &mut perplexity, _) = perplexities.select_nth_unstable_by(last, |a, b| {
            // NaN of either sign is the last.
            a.is_nan().cmp(&b.is_nan()).then(a.total_cmp(b))
        });
        let ties = 1 + better.iter().filter(|&&value| value == perplexity).count() as u64;
        if perplexity.is_nan() {
            // Every line with a perplexity is among the best.
            return RankLimit { perplexity: f64::INFINITY, ties: u64::MAX };
        }
        RankLimit { perplexity, ties }
    }
}

impl Percent {
    const PER_PERCENT: u32 = 1_000_000;
    const DECIMALS: usize = 6;

    /// Returns this share of `count`, rounded up.
    fn apply(self, count: usize) -> usize {
        let whole = u128::from(100 * Self::PER_PERCENT);
        // At most `count`.
        (count as u128 * u128::from(self.millionths)).div_ceil(whole) as usize
    }

    /// Returns the share in percent.
    pub fn to_f64(self) -> f64 {
        f64::from(self.millionths) / f64::from(Self::PER_PERCENT)
    }
}

impl FromStr for Percent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        fn wrong(text: &str) -> String {
            format!("{text:?}: give a number from 0 to 100 with up to 6 decimals")
        }
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        fn is_number(digits: &str) -> bool {
            digits.bytes().all(|byte| byte.is_ascii_digit())
        }
        let has_digits = !whole.is_empty() || !decimals.is_empty();
        let is_short = whole.len() <= 9 && decimals.len() <= Self::DECIMALS;
        if !(has_digits && is_short && is_number(whole) && is_number(decimals)) {
            return Err(wrong(text));
        }
        fn number(digits: &str) -> u64 {
            digits.parse::<u64>().unwrap_or(0)
        }
        let decimals = number(&format!("{decimals:0<width$}", width = Self::DECIMALS));
        let millionths = number(whole) * u64::from(Self::PER_PERCENT) + decimals;
        match u32::try_from(millionths) {
            Ok(millionths) if millionths <= 100 * Self::PER_PERCENT => Ok(Percent { millionths }),
            _ => Err(wrong(text)),
        }
    }
}

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_f64().fmt(f)
    }
}

/// A counter of tied lines, which have exactly the perplexity of a [`RankLimit`], in the order of
/// the text.
pub(super) struct TieCounter {
    left: u64,
    invert: bool,
}

impl TieCounter {
    pub fn new(filter: &PerplexityFilter) -> Self {
        TieCounter { left: filter.rank_limit.map_or(0, |limit| limit.ties), invert: filter.invert }
    }

    /// Whether the next tied line is written.
    fn writes_next(&mut self) -> bool {
        let passes = self.left > 0;
        self.left = self.left.saturating_sub(1);
        passes != self.invert
    }

    /// Removes the tied parts that are not written from the output of a block.
    pub fn settle(&mut self, block: &mut BlockOutcome) {
        if block.tied_parts.is_empty() {
            return;
        }
        let mut removed: Vec<Range<usize>> = Vec::new();
        for part in std::mem::take(&mut block.tied_parts) {
            if self.writes_next() { block.lines.kept += 1 } else { removed.push(part) }
        }
        let whole = std::mem::take(&mut block.output);
        let mut start = 0;
        for part in removed {
            block.output.extend_from_slice(&whole[start..part.start]);
            start = part.end;
        }
        block.output.extend_from_slice(&whole[start..]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn percent(text: &str) -> Percent {
        text.parse().unwrap()
    }

    #[test]
    fn percents_are_exact() {
        for (text, count, share) in [
            ("30", 10, 3),
            ("7", 100, 7),
            // As f64, 0.07 % of 10,000 is a little more than 7.
            ("0.07", 10_000, 7),
            ("0.1", 1000, 1),
            ("12.5", 8, 1),
            ("50", 1, 1),
            ("50", 3, 2),
            ("0", 5, 0),
            ("100", 5, 5),
            (".000001", 100_000_001, 2),
            ("30", 0, 0),
        ] {
            assert_eq!(percent(text).apply(count), share, "{text} % of {count}");
        }
        assert_eq!(percent("2.50").to_string(), "2.5");
        assert_eq!(percent("30").to_string(), "30");
        for wrong in ["", ".", "-1", "100.000001", "101", "1e1", "NaN", "+5", "0.0000001", "5%"] {
            assert!(wrong.parse::<Percent>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_of_equal_lines_are_kept() {
        let values = [5.0, 2.0, 3.0, 2.0, f64::NAN, 2.0, 1.0, 9.0];
        let kept = |share: &str, filter: PerplexityFilter| {
            let rank_limit = Some(RankLimit::new(&mut values.to_vec(), percent(share)));
            let selected = PerplexityFilter { rank_limit, ..filter }.select(values);
            let places = selected.iter().enumerate().filter(|(_, kept)| **kept);
            places.map(|(place, _)| place).collect::<Vec<_>>()
        };
        let all = PerplexityFilter::default();
        assert!(kept("0", all).is_empty());
        assert_eq!(kept("12.5", all), [6]);
        assert_eq!(kept("25", all), [1, 6]);
        assert_eq!(kept("37.5", all), [1, 3, 6]);
        assert_eq!(kept("38", all), [1, 3, 5, 6]);
        assert_eq!(kept("87.5", all), [0, 1, 2, 3, 5, 6, 7]);
        assert_eq!(kept("100", all), [0, 1, 2, 3, 5, 6, 7]);
        let inverse = PerplexityFilter { invert: true, ..all };
        assert_eq!(kept("25", inverse), [0, 2, 3, 4, 5, 7]);
        assert_eq!(kept("100", inverse), [4]);
        let from_two = PerplexityFilter { min_perplexity: 2.0, ..all };
        assert_eq!(kept("37.5", from_two), [1, 3]);
        let below_two = PerplexityFilter { max_perplexity: 1.5, ..all };
        assert_eq!(kept("37.5", below_two), [6]);
    }

    proptest! {
        /// The filter gives the same lines as a stable sort.
        #[test]
        fn the_best_lines_are_those_that_sorting_brings_first(
            values in proptest::collection::vec(0u8..6, 0..40),
            share in 0u32..=100,
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let mut order: Vec<usize> = (0..values.len()).collect();
            order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
            order.truncate((values.len() * share as usize).div_ceil(100));
            let rank_limit = Some(RankLimit::new(&mut values.clone(), percent(&share.to_string())));
            let filter = PerplexityFilter { rank_limit, ..PerplexityFilter::default() };
            let expected: Vec<bool> = (0..values.len()).map(|line| order.contains(&line)).collect();
            prop_assert_eq!(filter.select(values), expected);
        }
    }
}
