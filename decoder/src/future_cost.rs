//! Future costs (`docs/spec/phrase-decoding.md` 3.5): for each span of the source, an estimate of
//! the best score that its options can give.

/// The largest number of words of a sentence whose spans are split at every position, which takes
/// cubic time. In longer sentences, only a first phrase is split off. This gives the same estimates
/// except for rounding, in quadratic time.
const MAX_DIVIDED: usize = 1000;

/// The number of splits that are compared at once.
const LANES: usize = 8;

/// The future costs of all spans of a sentence, in a buffer that is reused.
#[derive(Default)]
pub(crate) struct FutureCost {
    length: usize,
    /// Row: start; column: last position.
    costs: Vec<f32>,
    /// The same costs. Row: last position; column: start. So both parts of a split are read in
    /// order.
    by_end: Vec<f32>,
}

impl FutureCost {
    /// Fills the matrix from `best(start, length)`, the score of the best option of a span, or
    /// minus infinity.
    pub(crate) fn fill(
        &mut self,
        length: usize,
        max_span: usize,
        best: impl Fn(usize, usize) -> f32,
    ) {
        let max_first = if length > MAX_DIVIDED { max_span } else { length };
        self.fill_with(length, max_span, max_first, best);
    }

    /// Fills the matrix from splits whose first part has at most `max_first` words.
    fn fill_with(
        &mut self,
        length: usize,
        max_span: usize,
        max_first: usize,
        best: impl Fn(usize, usize) -> f32,
    ) {
        self.length = length;
        for costs in [&mut self.costs, &mut self.by_end] {
            costs.clear();
            costs.resize(length * length, f32::NEG_INFINITY);
        }
        for width in 1..=length {
            for start in 0..=length - width {
                let last = start + width - 1;
                let option = if width <= max_span { best(start, width) } else { f32::NEG_INFINITY };
                let splits = (width - 1).min(max_first);
                let firsts = &self.costs[start * length + start..][..splits];
                let seconds = &self.by_end[last * length + start + 1..][..splits];
                let cost = best_split(firsts, seconds).max(option);
                self.costs[start * length + last] = cost;
                self.by_end[last * length + start] = cost;
            }
        }
    }

    /// Returns the estimate of positions `start..end`.
    #[inline]
    pub(crate) fn cost(&self, start: u32, end: u32) -> f32 {
        self.costs[start as usize * self.length + end as usize - 1]
    }

    /// Creates a matrix of zeros, for tests.
    #[cfg(test)]
    pub(crate) fn zero(length: u32) -> Self {
        let length = length as usize;
        let costs = vec![0.0; length * length];
        FutureCost { length, by_end: costs.clone(), costs }
    }
}

/// Returns the highest sum of a first part and the second part with the same index.
#[inline]
fn best_split(firsts: &[f32], seconds: &[f32]) -> f32 {
    let higher = |a: f32, b: f32| if b > a { b } else { a };
    let mut best = [f32::NEG_INFINITY; LANES];
    let (mut rows, mut others) = (firsts.chunks_exact(LANES), seconds.chunks_exact(LANES));
    for (first, second) in (&mut rows).zip(&mut others) {
        for ((best, a), b) in best.iter_mut().zip(first).zip(second) {
            *best = higher(*best, a + b);
        }
    }
    let rest = rows.remainder().iter().zip(others.remainder());
    let rest = rest.fold(f32::NEG_INFINITY, |best, (a, b)| higher(best, a + b));
    best.into_iter().fold(rest, higher)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::FutureCost;

    /// The definition: the best of an option and of all splits.
    fn reference(length: usize, max_span: usize, best: impl Fn(usize, usize) -> f32) -> Vec<f32> {
        let mut costs = vec![f32::NEG_INFINITY; length * length];
        for width in 1..=length {
            for start in 0..=length - width {
                let last = start + width - 1;
                let mut cost = f32::NEG_INFINITY;
                if width <= max_span {
                    cost = best(start, width);
                }
                for middle in start..last {
                    let joined =
                        costs[start * length + middle] + costs[(middle + 1) * length + last];
                    cost = cost.max(joined);
                }
                costs[start * length + last] = cost;
            }
        }
        costs
    }

    /// Above the limit, only first phrases are split off.
    #[test]
    fn long_sentences_have_the_same_estimates() {
        let length = super::MAX_DIVIDED + 1;
        let best = |start: usize, span: usize| -1.0 - ((start * 7 + span * 3) % 11) as f32;
        let [mut long, mut every] = [FutureCost::default(), FutureCost::default()];
        long.fill(length, 2, best);
        every.fill_with(length, 2, length, best);
        // Whole numbers are added exactly.
        assert!(long.costs == every.costs);
    }

    proptest! {
        #[test]
        fn all_splits_are_compared(
            values in proptest::collection::vec(prop_oneof![-20f32..0.0, Just(f32::NEG_INFINITY)], 1..400),
            max_span in 1usize..8,
        ) {
            let length = values.len().div_ceil(7);
            let best = |start: usize, span: usize| {
                values.get(start * 7 + span - 1).copied().unwrap_or(-1.0)
            };
            let expected = reference(length, max_span, best);
            let mut costs = FutureCost::default();
            costs.fill(length, max_span, best);
            prop_assert_eq!(&costs.costs, &expected);
            // If only first phrases are split off, costs are equal except for rounding.
            costs.fill_with(length, max_span, max_span, best);
            for (found, expected) in costs.costs.iter().zip(&expected) {
                let is_close = (found - expected).abs() <= 1e-5 * expected.abs();
                prop_assert!(found == expected || is_close, "{} {}", found, expected);
            }
        }
    }

    #[test]
    fn finds_the_best_segmentation() {
        let mut costs = FutureCost::default();
        let spans = [[-1.0, -3.0, f32::NEG_INFINITY], [-4.0, -2.5, -9.0], [-1.5, -9.0, -9.0]];
        costs.fill(3, 2, |start, length| spans[start][length - 1]);
        assert_eq!(costs.cost(0, 1), -1.0);
        assert_eq!(costs.cost(0, 2), -3.0, "one phrase beats -1 + -4");
        assert_eq!(costs.cost(1, 3), -2.5);
        assert_eq!(costs.cost(0, 3), -3.5, "-1 + -2.5 beats -3 + -1.5");
    }
}
