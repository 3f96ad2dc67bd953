//! Counts of counts and the discounts computed from them (`ngram-lm.md` 3.3, 3.4).

use crate::{Error, Result};

/// The counts of counts of the n-grams of one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CountsOfCounts {
    /// The number of n-grams with the adjusted count 0 to 4.
    counts: [u64; 5],
    /// The number of n-grams.
    pub total: u64,
    /// The number of n-grams that are not pruned.
    pub kept: u64,
}

impl CountsOfCounts {
    /// Counts an n-gram with this adjusted count.
    #[inline]
    pub fn add(&mut self, adjusted: u64, pruned: bool) {
        self.total += 1;
        self.kept += u64::from(!pruned);
        if let Some(count) = self.counts.get_mut(adjusted as usize) {
            *count += 1;
        }
    }

    /// Counts one n-gram of the adjusted count `old` as one of `new` instead.
    pub fn recount(&mut self, old: u64, new: u64) {
        if let Some(count) = self.counts.get_mut(old as usize) {
            *count -= 1;
        }
        if let Some(count) = self.counts.get_mut(new as usize) {
            *count += 1;
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &CountsOfCounts) {
        self.counts.iter_mut().zip(other.counts).for_each(|(count, more)| *count += more);
        self.total += other.total;
        self.kept += other.kept;
    }
}

/// The discounts of adjusted counts of 0, 1, 2, and 3 or more.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Discounts(pub [f32; 4]);

impl Discounts {
    /// Returns the discount of the adjusted count `adjusted`.
    #[inline]
    pub fn for_count(&self, adjusted: u64) -> f32 {
        self.0[adjusted.min(3) as usize]
    }
}

/// Computes the discounts of n-grams of `order` words by Chen and Goodman's closed form, or
/// `fallback` where that is undefined.
pub(super) fn estimate_discounts(
    order: usize,
    statistics: &CountsOfCounts,
    fallback: Option<[f32; 3]>,
) -> Result<Discounts> {
    let [_, n1, n2, n3, n4] = statistics.counts.map(|n| n as f32);
    let seen = [n1, n2, n3, n4];
    let y = n1 / (statistics.counts[1] as f64 + 2.0 * statistics.counts[2] as f64) as f32;
    let mut found = Discounts::default();
    let mut reason = None;
    for j in 1..=3u8 {
        let (n_count, n_next) = (seen[usize::from(j) - 1], seen[usize::from(j)]);
        let count = f32::from(j);
        if n_count == 0.0 {
            reason = Some(format!("no {order}-gram has the adjusted count {j}"));
            break;
        }
        let discount = count - f32::from(j + 1) * y * n_next / n_count;
        if !(0.0..=count).contains(&discount) {
            reason = Some(format!(
                "the discount of {order}-grams of the adjusted count {j} would be {discount}, \
                 which is not between 0 and {j}"
            ));
            break;
        }
        found.0[usize::from(j)] = discount;
    }
    let Some(reason) = reason else { return Ok(found) };
    let Some([one, two, more]) = fallback else {
        return Err(Error::Discounts { order, reason });
    };
    tracing::warn!("{reason}: taking the fallback discounts {one} {two} {more} for {order}-grams");
    Ok(Discounts([0.0, one, two, more]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discounts_follow_the_closed_form() {
        let mut statistics = CountsOfCounts::default();
        for (adjusted, number) in [(0, 2), (1, 60), (2, 20), (3, 10), (4, 5), (9, 7)] {
            (0..number).for_each(|_| statistics.add(adjusted, false));
        }
        assert_eq!((statistics.total, statistics.kept), (104, 104));
        // y = 60 / 100; 1 - 2 y 20/60, 2 - 3 y 10/20, 3 - 4 y 5/10.
        let Discounts(found) = estimate_discounts(2, &statistics, None).unwrap();
        let expected = [0.0, 0.6, 1.1, 1.8];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?}");
    }

    #[test]
    fn missing_counts_are_reported_or_replaced() {
        let mut statistics = CountsOfCounts::default();
        statistics.add(1, false);
        let error = estimate_discounts(3, &statistics, None).unwrap_err().to_string();
        assert!(error.contains("no 3-gram") && error.contains("count 2"), "{error}");
        assert!(error.contains("--discount-fallback"), "{error}");
        let found = estimate_discounts(3, &statistics, Some([0.5, 1.0, 1.5])).unwrap();
        assert_eq!(found, Discounts([0.0, 0.5, 1.0, 1.5]));
    }
}
