//! Minimum error rate training (Och 2003): exact line search on the BLEU of the
//! translations that weights rank first in the n-best lists.
//!
//! Along a line in weight space the score of a translation is a linear function, so the
//! best translation of a list changes only at the breakpoints of the upper envelope. All
//! breakpoints of all lists, in order, give BLEU everywhere on the line; the weights move
//! to the middle of the best interval.
//!
//! A search goes along one axis after another, in random order, and along some random
//! directions, until a round gains almost nothing. Searches start from the given weights and from
//! random weights, and the best result is taken. Along an axis the slopes are a column of values;
//! each column is sorted once for all searches.

use std::ops::Range;
use std::thread;

use miriam_metrics::bleu::BleuCounts;
use miriam_storage::random::SplitMix64;

use super::n_best_lists::{BleuStatistics, NBestLists};
use super::{WeightScale, derive_seed, l1_normalized, next_symmetric};

/// The number of searches that start from random weights.
const RESTARTS: u64 = 10;
/// The number of random directions in a round.
const RANDOM_DIRECTIONS: usize = 4;
/// A round that gains fewer points of BLEU than this is the last.
const MIN_GAIN: f64 = 1e-3;
/// The distance of a move beyond the outermost breakpoint.
const OUTER_MARGIN: f64 = 0.1;
/// Intervals that are not longer than this are ignored.
const MIN_INTERVAL: f64 = 1e-9;

/// Returns the weights with the best BLEU that the searches from `starts` and from random weights
/// find.
pub(super) fn optimize(
    lists: &NBestLists,
    scale: WeightScale,
    starts: &[Vec<f64>],
    seed: u64,
    threads: usize,
) -> Vec<f64> {
    let problem = MertProblem::new(lists, scale);
    let random = (0..RESTARTS).map(|number| {
        let mut random = SplitMix64::new(derive_seed(seed, number));
        l1_normalized((0..lists.num_components).map(|_| next_symmetric(&mut random)).collect())
    });
    let starts: Vec<(u64, Vec<f64>)> =
        (RESTARTS..).zip(starts.iter().cloned()).chain((0..).zip(random)).collect();
    let per_thread = starts.len().div_ceil(threads.max(1));
    let ends: Vec<(f64, Vec<f64>)> = thread::scope(|scope| {
        let problem = &problem;
        let search = |starts: &[(u64, Vec<f64>)]| -> Vec<(f64, Vec<f64>)> {
            let mut search = CoordinateAscent::new(problem);
            let seeded = starts.iter().map(|(number, start)| {
                search.random = SplitMix64::new(derive_seed(!seed, *number));
                search.climb(start.clone())
            });
            seeded.collect()
        };
        let threads: Vec<_> =
            starts.chunks(per_thread).map(|starts| scope.spawn(move || search(starts))).collect();
        let joined = threads.into_iter().flat_map(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect()
    });
    // Of equal results, the first is taken.
    let mut best = &ends[0];
    for end in &ends {
        if end.0 > best.0 {
            best = end;
        }
    }
    best.1.clone()
}

/// All n-best lists, concatenated.
struct MertProblem {
    scale: WeightScale,
    num_components: usize,
    line_ranges: Vec<Range<usize>>,
    /// Values, component by component.
    columns: Vec<Vec<f32>>,
    /// For each component, the translations of each line sorted by their values, ascending.
    sorted_by_value: Vec<Vec<u32>>,
    fixed_scores: Vec<f32>,
    statistics: Vec<BleuStatistics>,
}

impl MertProblem {
    fn new(lists: &NBestLists, scale: WeightScale) -> Self {
        let width = lists.num_components;
        let mut problem = MertProblem {
            scale,
            num_components: width,
            line_ranges: Vec::with_capacity(lists.lines.len()),
            columns: vec![Vec::new(); width],
            sorted_by_value: vec![Vec::new(); width],
            fixed_scores: Vec::new(),
            statistics: Vec::new(),
        };
        for list in &lists.lines {
            let first = problem.statistics.len();
            problem.statistics.extend_from_slice(&list.statistics);
            problem.fixed_scores.extend(list.fixed_scores.iter().map(|&f| scale.fixed_score(f)));
            for (component, column) in problem.columns.iter_mut().enumerate() {
                column.extend((0..list.len()).map(|i| list.row(i, width)[component]));
            }
            problem.line_ranges.push(first..problem.statistics.len());
        }
        for (order, column) in problem.sorted_by_value.iter_mut().zip(&problem.columns) {
            order.extend(0..column.len() as u32);
            for line in &problem.line_ranges {
                order[line.clone()].sort_unstable_by(|&a, &b| {
                    column[a as usize].total_cmp(&column[b as usize]).then(a.cmp(&b))
                });
            }
        }
        problem
    }
}

/// The point where another translation becomes the best of its list.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Breakpoint {
    at: f64,
    before: u32,
    after: u32,
}

/// A search from given weights, with buffers that are reused.
struct CoordinateAscent<'p> {
    problem: &'p MertProblem,
    random: SplitMix64,
    /// The scores of all translations at the current weights.
    scores: Vec<f64>,
    slopes: Vec<f64>,
    order: Vec<u32>,
    envelope: Vec<(u32, f64)>,
    breakpoints: Vec<Breakpoint>,
}

impl<'p> CoordinateAscent<'p> {
    fn new(problem: &'p MertProblem) -> Self {
        CoordinateAscent {
            problem,
            random: SplitMix64::new(0),
            scores: Vec::new(),
            slopes: Vec::new(),
            order: Vec::new(),
            envelope: Vec::new(),
            breakpoints: Vec::new(),
        }
    }

    /// Climbs from `weights` until a round gains almost nothing; returns BLEU and the weights.
    fn climb(&mut self, mut weights: Vec<f64>) -> (f64, Vec<f64>) {
        let mut axes: Vec<usize> = (0..self.problem.num_components).collect();
        self.score_all(&weights);
        let mut bleu = f64::NEG_INFINITY;
        loop {
            let before = bleu;
            self.random.shuffle(&mut axes);
            for &axis in &axes {
                let (moved, reached) = self.search_axis(axis);
                weights[axis] += moved;
                bleu = reached;
            }
            for _ in 0..RANDOM_DIRECTIONS {
                let direction: Vec<f64> =
                    weights.iter().map(|_| next_symmetric(&mut self.random)).collect();
                let (moved, reached) = self.search_direction(&direction);
                weights.iter_mut().zip(&direction).for_each(|(w, d)| *w += moved * d);
                bleu = reached;
            }
            // Scores are computed again, because the errors of many small moves would add up.
            weights = self.problem.scale.after_step(weights);
            self.score_all(&weights);
            if bleu < before + MIN_GAIN {
                return (bleu.max(before), weights);
            }
        }
    }

    fn score_all(&mut self, weights: &[f64]) {
        self.scores.clear();
        self.scores.extend(self.problem.fixed_scores.iter().map(|&fixed| f64::from(fixed)));
        for (column, weight) in self.problem.columns.iter().zip(weights) {
            add_scaled(&mut self.scores, column, *weight);
        }
    }

    /// Returns the distance to the best interval along an axis, and BLEU there; updates the scores.
    fn search_axis(&mut self, axis: usize) -> (f64, f64) {
        let problem = self.problem;
        let column = &problem.columns[axis];
        let order = &problem.sorted_by_value[axis];
        let found = self.search_line(|i: u32| f64::from(column[i as usize]), order);
        add_scaled(&mut self.scores, column, found.0);
        found
    }

    /// Returns the distance to the best interval along any direction, and BLEU there; updates the
    /// scores.
    fn search_direction(&mut self, direction: &[f64]) -> (f64, f64) {
        let problem = self.problem;
        let mut slopes = std::mem::take(&mut self.slopes);
        slopes.clear();
        slopes.resize(problem.statistics.len(), 0.0);
        for (column, part) in problem.columns.iter().zip(direction) {
            add_scaled(&mut slopes, column, *part);
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..slopes.len() as u32);
        for line in &problem.line_ranges {
            order[line.clone()].sort_unstable_by(|&a, &b| {
                slopes[a as usize].total_cmp(&slopes[b as usize]).then(a.cmp(&b))
            });
        }
        let found = self.search_line(|i| slopes[i as usize], &order);
        for (score, slope) in self.scores.iter_mut().zip(&slopes) {
            *score += found.0 * slope;
        }
        (self.slopes, self.order) = (slopes, order);
        found
    }

    /// Returns the middle of the best interval along a direction, and BLEU there. `slope` gives the
    /// slope of a translation's score in this direction. `order` has the translations of each line
    /// of text, sorted by slope.
    fn search_line(&mut self, slope: impl Fn(u32) -> f64, order: &[u32]) -> (f64, f64) {
        let problem = self.problem;
        self.breakpoints.clear();
        let mut counts = BleuCounts::default();
        for line in &problem.line_ranges {
            upper_envelope(&order[line.clone()], &slope, &self.scores, &mut self.envelope);
            counts += problem.statistics[self.envelope[0].0 as usize].to_counts();
            for pair in self.envelope.windows(2) {
                let [(before, _), (after, at)] = [pair[0], pair[1]];
                // Equal BLEU statistics change nothing.
                if problem.statistics[before as usize] != problem.statistics[after as usize] {
                    self.breakpoints.push(Breakpoint { at, before, after });
                }
            }
        }
        self.breakpoints
            .sort_unstable_by(|a, b| a.at.total_cmp(&b.at).then(a.before.cmp(&b.before)));
        find_best_interval(&self.breakpoints, &problem.statistics, counts)
    }
}

fn add_scaled(sums: &mut [f64], column: &[f32], weight: f64) {
    sums.iter_mut().zip(column).for_each(|(sum, &value)| *sum += weight * f64::from(value));
}

/// Writes the translations of the upper envelope to `envelope`, from left to right, each with the
/// point from which on it has the highest score. `order` has all translations by slope, ascending.
fn upper_envelope(
    order: &[u32],
    slope: impl Fn(u32) -> f64,
    scores: &[f64],
    envelope: &mut Vec<(u32, f64)>,
) {
    envelope.clear();
    for &new in order {
        let (new_slope, new_score) = (slope(new), scores[new as usize]);
        let mut from = f64::NEG_INFINITY;
        while let Some(&(last, last_from)) = envelope.last() {
            let rise = new_slope - slope(last);
            let deficit = scores[last as usize] - new_score;
            if rise <= 0.0 {
                // Of parallel lines, the higher one is kept.
                if deficit >= 0.0 {
                    from = f64::INFINITY;
                    break;
                }
            } else {
                from = deficit / rise;
                if from > last_from {
                    break;
                }
            }
            envelope.pop();
            from = f64::NEG_INFINITY;
        }
        if from < f64::INFINITY {
            envelope.push((new, from));
        }
    }
}

/// Finds the interval between breakpoints with the best BLEU. Returns its middle and its BLEU, or
/// the point 0 if the interval around 0 is as good as any. `counts` are the BLEU counts to the left
/// of all breakpoints.
fn find_best_interval(
    breakpoints: &[Breakpoint],
    statistics: &[BleuStatistics],
    mut counts: BleuCounts,
) -> (f64, f64) {
    let (Some(first), Some(last)) = (breakpoints.first(), breakpoints.last()) else {
        return (0.0, counts.bleu());
    };
    let (leftmost, rightmost) = (first.at.min(0.0) - OUTER_MARGIN, last.at.max(0.0) + OUTER_MARGIN);
    let mut best = (f64::NEG_INFINITY, 0.0);
    let mut here = (f64::NEG_INFINITY, 0.0);
    let mut start = f64::NEG_INFINITY;
    let mut next = breakpoints.iter().peekable();
    loop {
        let end = next.peek().map_or(f64::INFINITY, |corner| corner.at);
        if end - start > MIN_INTERVAL {
            let bleu = counts.bleu();
            let middle = match (start.is_finite(), end.is_finite()) {
                (false, _) => leftmost,
                (true, false) => rightmost,
                (true, true) => (start + end) / 2.0,
            };
            if bleu > best.0 {
                best = (bleu, middle);
            }
            if start <= 0.0 && 0.0 < end {
                here = (bleu, 0.0);
            }
        }
        let Some(corner) = next.next() else { break };
        counts += statistics[corner.after as usize].to_counts();
        counts -= statistics[corner.before as usize].to_counts();
        start = corner.at;
    }
    let (bleu, at) = if here.0 >= best.0 { here } else { best };
    (at, bleu)
}

#[cfg(test)]
mod tests {
    use super::super::n_best_lists::NBestList;
    use super::*;
    use proptest::prelude::*;

    fn bleu_statistics(length: u32, matches: u32) -> BleuStatistics {
        let matches = std::array::from_fn(|n| matches.saturating_sub(n as u32).min(length));
        BleuStatistics { length, reference_length: 10, matches }
    }

    /// Lists of translations with two values each.
    fn lists(lines: &[Vec<(i8, i8, u8)>]) -> NBestLists {
        let mut lists = NBestLists::new(lines.len(), 2);
        let list = |line: &Vec<(i8, i8, u8)>| {
            let mut list = NBestList::default();
            for &(a, b, matches) in line {
                let values = [a, b].map(|value| f32::from(value) / 8.0);
                let matches = u32::from(matches % 11);
                list.push(values.into_iter(), 0.0, bleu_statistics(matches + 2, matches));
            }
            list
        };
        lists.merge(lines.iter().map(list).collect());
        lists
    }

    /// BLEU of the translations that `weights` rank first. Of equal scores, the first is taken.
    fn bleu_at(problem: &MertProblem, weights: &[f64]) -> f64 {
        let mut search = CoordinateAscent::new(problem);
        search.score_all(weights);
        let mut counts = BleuCounts::default();
        for line in &problem.line_ranges {
            let backwards = line.clone().rev();
            let best = backwards.max_by(|&a, &b| search.scores[a].total_cmp(&search.scores[b]));
            counts += problem.statistics[best.unwrap()].to_counts();
        }
        counts.bleu()
    }

    proptest! {
        /// The search along an axis finds a point at least as good as every point of a fine sweep,
        /// and returns the BLEU of this point.
        #[test]
        fn line_search_matches_a_sweep(
            lines in proptest::collection::vec(
                proptest::collection::vec(any::<(i8, i8, u8)>(), 1..12), 1..8),
            start in (-1.0f64..1.0, -1.0f64..1.0),
            axis in 0usize..2,
        ) {
            let lists = lists(&lines);
            let problem = MertProblem::new(&lists, WeightScale::new(&lists, &[1.0], false));
            let mut weights = vec![start.0, start.1];
            let mut search = CoordinateAscent::new(&problem);
            search.score_all(&weights);
            let (moved, bleu) = search.search_axis(axis);
            let begin = weights[axis];
            weights[axis] += moved;
            prop_assert!((bleu_at(&problem, &weights) - bleu).abs() < 1e-9);
            // A step with many digits avoids the breakpoints.
            for step in -4001..4001 {
                weights[axis] = begin + f64::from(step) * 0.002_718_28;
                let swept = bleu_at(&problem, &weights);
                prop_assert!(swept <= bleu + 1e-9, "{swept} at {weights:?}, {bleu} found");
            }
        }

        #[test]
        fn climbing_never_loses(
            lines in proptest::collection::vec(
                proptest::collection::vec(any::<(i8, i8, u8)>(), 1..12), 1..8),
            start in (-1.0f64..1.0, -1.0f64..1.0),
        ) {
            let lists = lists(&lines);
            let scale = WeightScale::new(&lists, &[1.0], false);
            let problem = MertProblem::new(&lists, scale);
            let start = vec![start.0, start.1];
            let found = optimize(&lists, scale, std::slice::from_ref(&start), 1, 1);
            prop_assert!(bleu_at(&problem, &found) + 1e-9 >= bleu_at(&problem, &start));
            prop_assert_eq!(found, optimize(&lists, scale, &[start], 1, 3));
        }
    }
}
