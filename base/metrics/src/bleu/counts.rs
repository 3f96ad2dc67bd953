//! Sufficient statistics of BLEU, and the score of their sums.

use std::ops::{AddAssign, SubAssign};

use crate::{Error, Result};

/// The highest n-gram order, in words.
pub const MAX_NGRAM_ORDER: usize = 4;

/// The sufficient statistics of a segment or, as a sum, of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BleuCounts {
    /// The length of the hypothesis in words.
    pub hypothesis_len: u64,
    /// The length of the closest reference in words.
    pub reference_len: u64,
    /// Clipped n-gram matches, by order.
    pub matches: [u64; MAX_NGRAM_ORDER],
    /// The numbers of n-grams of the hypothesis, by order.
    pub totals: [u64; MAX_NGRAM_ORDER],
}

/// The smoothing of orders without matches.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Smoothing {
    /// Exponential: one half of a match for the first order without matches, a quarter for
    /// the next, and so on.
    #[default]
    Exponential,
    /// This number of matches for each order without matches.
    Floor(f64),
    /// Adds this number to the matches and totals of orders from 2 on.
    AddK(f64),
    /// No smoothing: the score is 0 if an order has no matches.
    None,
}

/// A BLEU score and its factors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BleuScore {
    /// BLEU, from 0 to 100.
    pub score: f64,
    /// Precisions by order, from 0 to 100.
    pub precisions: [f64; MAX_NGRAM_ORDER],
    /// The brevity penalty, from 0 to 1.
    pub brevity_penalty: f64,
    /// The counts.
    pub counts: BleuCounts,
}

/// The value used for the logarithm of zero.
const LOG_OF_ZERO: f64 = -9_999_999_999.0;

impl Smoothing {
    /// Returns the smoothing method `name`, with `value` or sacreBLEU's default.
    ///
    /// # Errors
    /// [`Error::InvalidOption`] if the name is unknown, or the value is negative or not finite.
    pub fn from_name(name: &str, value: Option<f64>) -> Result<Self> {
        if let Some(value) = value.filter(|value| !value.is_finite() || *value < 0.0) {
            let message = format!("smoothing value {value}: expected a number from 0");
            return Err(Error::InvalidOption(message));
        }
        Ok(match name {
            "exp" => Smoothing::Exponential,
            "floor" => Smoothing::Floor(value.unwrap_or(0.1)),
            "add-k" => Smoothing::AddK(value.unwrap_or(1.0)),
            "none" => Smoothing::None,
            _ => {
                return Err(Error::InvalidOption(format!(
                    "smoothing method {name:?}: expected exp, floor, add-k or none"
                )));
            }
        })
    }

    /// Returns the method's text in signatures.
    pub fn to_text(self) -> String {
        match self {
            Smoothing::Exponential => "exp".into(),
            Smoothing::Floor(value) => format!("floor[{value:.2}]"),
            Smoothing::AddK(value) => format!("add-k[{value:.2}]"),
            Smoothing::None => "none".into(),
        }
    }
}

impl BleuCounts {
    /// Returns the counts as a row of statistics, in sacreBLEU's order.
    pub(crate) fn to_row(self) -> Vec<f64> {
        let BleuCounts { hypothesis_len: hypothesis, reference_len: reference, matches, totals } =
            self;
        let row = [hypothesis, reference].into_iter().chain(matches).chain(totals);
        row.map(|count| count as f64).collect()
    }

    /// Returns the counts of a row of statistics, or of a sum of rows.
    pub(crate) fn from_row(row: &[f64]) -> Self {
        fn at(i: usize, row: &[f64]) -> u64 {
            row[i] as u64
        }
        BleuCounts {
            hypothesis_len: at(0, row),
            reference_len: at(1, row),
            matches: std::array::from_fn(|n| at(2 + n, row)),
            totals: std::array::from_fn(|n| at(2 + MAX_NGRAM_ORDER + n, row)),
        }
    }

    /// Returns corpus BLEU with exponential smoothing, from 0 to 100.
    pub fn bleu(&self) -> f64 {
        self.compute_score(Smoothing::Exponential, false).score
    }

    /// Returns the score and its factors.
    pub(crate) fn compute_score(&self, smoothing: Smoothing, effective_order: bool) -> BleuScore {
        let lengths = [self.hypothesis_len as f64, self.reference_len as f64];
        let counts = std::array::from_fn(|n| [self.matches[n] as f64, self.totals[n] as f64]);
        let (score, precisions) = score_real_counts(lengths, counts, smoothing, effective_order);
        let brevity_penalty = brevity_penalty(lengths);
        BleuScore { score, precisions, brevity_penalty, counts: *self }
    }
}

impl BleuScore {
    /// Returns the factors in sacreBLEU's text format.
    pub(crate) fn to_text(self) -> String {
        let [p1, p2, p3, p4] = self.precisions;
        let BleuCounts { hypothesis_len: hypothesis, reference_len: reference, .. } = self.counts;
        let ratio = if reference == 0 { 0.0 } else { hypothesis as f64 / reference as f64 };
        format!(
            "{p1:.1}/{p2:.1}/{p3:.1}/{p4:.1} (BP = {:.3} ratio = {ratio:.3} hyp_len = \
             {hypothesis} ref_len = {reference})",
            self.brevity_penalty
        )
    }
}

/// Returns the precision of an order, in percent, from its numbers of matches and n-grams; `None`
/// if it has no n-grams. Orders are counted from 0. `halves` is 1 before the first order;
/// exponential smoothing doubles it at each order without matches.
pub(super) fn precision(
    order: usize,
    [mut matches, mut total]: [f64; 2],
    smoothing: Smoothing,
    halves: &mut f64,
) -> Option<f64> {
    if let Smoothing::AddK(k) = smoothing
        && order > 0
    {
        (matches, total) = (matches + k, total + k);
    }
    if total == 0.0 {
        return None;
    }
    if matches != 0.0 {
        return Some(100.0 * matches / total);
    }
    Some(match smoothing {
        Smoothing::Exponential => {
            *halves *= 2.0;
            100.0 / (*halves * total)
        }
        Smoothing::Floor(value) => 100.0 * value / total,
        Smoothing::AddK(_) | Smoothing::None => 0.0,
    })
}

/// Returns the score and the precisions from the lengths of hypothesis and reference, and from the
/// matches and totals of each order. They may be real numbers: averages over references.
pub(crate) fn score_real_counts(
    lengths: [f64; 2],
    counts: [[f64; 2]; MAX_NGRAM_ORDER],
    smoothing: Smoothing,
    effective_order: bool,
) -> (f64, [f64; MAX_NGRAM_ORDER]) {
    let mut precisions = [0.0; MAX_NGRAM_ORDER];
    if counts.iter().all(|&[matches, _]| matches == 0.0) {
        return (0.0, precisions);
    }
    let (mut halves, mut order) = (1.0, MAX_NGRAM_ORDER);
    for (n, counts) in counts.into_iter().enumerate() {
        let Some(precision) = precision(n, counts, smoothing, &mut halves) else { break };
        if effective_order {
            order = n + 1;
        }
        precisions[n] = precision;
    }
    let sum = precisions[..order].iter().fold(0.0, |sum, &p| sum + log_or_floor(p));
    (brevity_penalty(lengths) * (sum / order as f64).exp(), precisions)
}

/// Returns the brevity penalty, which is 0 for an empty hypothesis of a reference with words.
pub(super) fn brevity_penalty([hypothesis, reference]: [f64; 2]) -> f64 {
    if hypothesis >= reference { 1.0 } else { (1.0 - reference / hypothesis).exp() }
}

pub(super) fn log_or_floor(x: f64) -> f64 {
    if x == 0.0 { LOG_OF_ZERO } else { x.ln() }
}

/// Returns the score of sums in f32. Like in NumPy, the product of an f32 and a Python number is
/// f32; logarithms and later results are f64.
pub(super) fn score_f32(sums: &[f32], smoothing: Smoothing, effective_order: bool) -> f64 {
    let (matches, totals) = sums[2..].split_at(MAX_NGRAM_ORDER);
    if matches.iter().all(|&count| count == 0.0) {
        return 0.0;
    }
    let mut precisions = [0f32; MAX_NGRAM_ORDER];
    let (mut halves, mut order) = (1f32, MAX_NGRAM_ORDER);
    for n in 0..MAX_NGRAM_ORDER {
        let (mut matches, mut total) = (matches[n], totals[n]);
        if let Smoothing::AddK(k) = smoothing
            && n > 0
        {
            (matches, total) = (matches + k as f32, total + k as f32);
        }
        if total == 0.0 {
            break;
        }
        if effective_order {
            order = n + 1;
        }
        precisions[n] = if matches != 0.0 {
            100.0 * matches / total
        } else {
            match smoothing {
                Smoothing::Exponential => {
                    halves *= 2.0;
                    100.0 / (halves * total)
                }
                Smoothing::Floor(value) => (100.0 * value) as f32 / total,
                Smoothing::AddK(_) | Smoothing::None => 0.0,
            }
        };
    }
    let sum = precisions[..order].iter().fold(0.0, |sum, &p| sum + log_or_floor(f64::from(p)));
    brevity_penalty([sums[0], sums[1]].map(f64::from)) * (sum / order as f64).exp()
}

impl AddAssign for BleuCounts {
    fn add_assign(&mut self, other: Self) {
        self.hypothesis_len += other.hypothesis_len;
        self.reference_len += other.reference_len;
        for n in 0..MAX_NGRAM_ORDER {
            self.matches[n] += other.matches[n];
            self.totals[n] += other.totals[n];
        }
    }
}

/// Removes counts from a sum that includes them.
impl SubAssign for BleuCounts {
    fn sub_assign(&mut self, other: Self) {
        self.hypothesis_len -= other.hypothesis_len;
        self.reference_len -= other.reference_len;
        for n in 0..MAX_NGRAM_ORDER {
            self.matches[n] -= other.matches[n];
            self.totals[n] -= other.totals[n];
        }
    }
}
