//! Minimum error rate training (Och 2003): exact line search on the BLEU of the
//! translations that weights put first in the lists.
//!
//! Along a line in the space of weights the score of a translation is a straight
//! line, so which translation of a list is best changes at the corners of an upper
//! envelope only. All corners of all lists, in order, give BLEU everywhere on the
//! line; the weights move to the middle of the best stretch.
//!
//! A search goes along one axis after another, in any order, and along some random
//! directions, until a round gains nothing. It starts from the weights that are
//! there and from random ones, and the best end counts. Along an axis the slopes are
//! columns of values, which are sorted once for all searches.

use std::ops::Range;
use std::thread;

use miriam_metrics::bleu::Counts;

use super::lists::{Lists, Tally};
use super::normalised;
use super::random::{Random, mixed};

/// Searches from random weights.
const RESTARTS: u64 = 10;
/// Random directions a round.
const DIRECTIONS: usize = 4;
/// A round that gains less BLEU is the last.
const ENOUGH: f64 = 1e-3;
/// How far beyond the outermost corner a move goes.
const BEYOND: f64 = 0.1;
/// Corners closer to each other leave nothing between them.
const NARROW: f64 = 1e-9;

/// The weights with the best BLEU that a search finds, from `starts` and from random
/// weights.
pub(super) fn optimise(lists: &Lists, starts: &[Vec<f64>], seed: u64, threads: usize) -> Vec<f64> {
    let problem = Problem::new(lists);
    let random = (0..RESTARTS).map(|number| {
        let mut random = Random::new(mixed(seed, number));
        normalised((0..lists.width).map(|_| random.symmetric()).collect())
    });
    let starts: Vec<(u64, Vec<f64>)> =
        (RESTARTS..).zip(starts.iter().cloned()).chain((0..).zip(random)).collect();
    let per_thread = starts.len().div_ceil(threads.max(1));
    let ends: Vec<(f64, Vec<f64>)> = thread::scope(|scope| {
        let problem = &problem;
        let search = |starts: &[(u64, Vec<f64>)]| -> Vec<(f64, Vec<f64>)> {
            let mut search = Search::new(problem);
            let seeded = starts.iter().map(|(number, start)| {
                search.random = Random::new(mixed(!seed, *number));
                search.climb(start.clone())
            });
            seeded.collect()
        };
        let threads: Vec<_> =
            starts.chunks(per_thread).map(|starts| scope.spawn(move || search(starts))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().flat_map(join).collect()
    });
    // Of equal ends the first counts.
    let mut best = &ends[0];
    for end in &ends {
        if end.0 > best.0 {
            best = end;
        }
    }
    best.1.clone()
}

/// All lists behind one another.
struct Problem {
    width: usize,
    lines: Vec<Range<usize>>,
    /// Values, component by component.
    columns: Vec<Vec<f32>>,
    /// The translations of each line by their values, ascending.
    orders: Vec<Vec<u32>>,
    fixed: Vec<f32>,
    tallies: Vec<Tally>,
}

impl Problem {
    fn new(lists: &Lists) -> Self {
        let width = lists.width;
        let mut problem = Problem {
            width,
            lines: Vec::with_capacity(lists.lines.len()),
            columns: vec![Vec::new(); width],
            orders: vec![Vec::new(); width],
            fixed: Vec::new(),
            tallies: Vec::new(),
        };
        for list in &lists.lines {
            let first = problem.tallies.len();
            problem.tallies.extend_from_slice(&list.tallies);
            problem.fixed.extend_from_slice(&list.fixed);
            for (component, column) in problem.columns.iter_mut().enumerate() {
                column.extend((0..list.len()).map(|i| list.row(i, width)[component]));
            }
            problem.lines.push(first..problem.tallies.len());
        }
        for (order, column) in problem.orders.iter_mut().zip(&problem.columns) {
            order.extend(0..column.len() as u32);
            for line in &problem.lines {
                order[line.clone()].sort_unstable_by(|&a, &b| {
                    column[a as usize].total_cmp(&column[b as usize]).then(a.cmp(&b))
                });
            }
        }
        problem
    }
}

/// Where another translation becomes the best of its line.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Corner {
    at: f64,
    before: u32,
    behind: u32,
}

/// Searches, in buffers that are reused.
struct Search<'p> {
    problem: &'p Problem,
    random: Random,
    /// The scores of all translations at the weights that were reached.
    scores: Vec<f64>,
    slopes: Vec<f64>,
    order: Vec<u32>,
    envelope: Vec<(u32, f64)>,
    corners: Vec<Corner>,
}

impl<'p> Search<'p> {
    fn new(problem: &'p Problem) -> Self {
        Search {
            problem,
            random: Random::new(0),
            scores: Vec::new(),
            slopes: Vec::new(),
            order: Vec::new(),
            envelope: Vec::new(),
            corners: Vec::new(),
        }
    }

    /// Climbs from `weights` until nothing more is gained: BLEU there and where.
    fn climb(&mut self, mut weights: Vec<f64>) -> (f64, Vec<f64>) {
        let mut axes: Vec<usize> = (0..self.problem.width).collect();
        self.score(&weights);
        let mut bleu = f64::NEG_INFINITY;
        loop {
            let before = bleu;
            self.random.shuffle(&mut axes);
            for &axis in &axes {
                let (moved, reached) = self.along_axis(axis);
                weights[axis] += moved;
                bleu = reached;
            }
            for _ in 0..DIRECTIONS {
                let direction: Vec<f64> = weights.iter().map(|_| self.random.symmetric()).collect();
                let (moved, reached) = self.along(&direction);
                weights.iter_mut().zip(&direction).for_each(|(w, d)| *w += moved * d);
                bleu = reached;
            }
            // Many small moves would add up errors.
            weights = normalised(weights);
            self.score(&weights);
            if bleu < before + ENOUGH {
                return (bleu.max(before), weights);
            }
        }
    }

    fn score(&mut self, weights: &[f64]) {
        self.scores.clear();
        self.scores.extend(self.problem.fixed.iter().map(|&fixed| f64::from(fixed)));
        for (column, weight) in self.problem.columns.iter().zip(weights) {
            add(&mut self.scores, column, *weight);
        }
    }

    /// How far the best stretch of an axis is, and BLEU there; the scores follow.
    fn along_axis(&mut self, axis: usize) -> (f64, f64) {
        let problem = self.problem;
        let column = &problem.columns[axis];
        let slope = |i: u32| f64::from(column[i as usize]);
        let order = &problem.orders[axis];
        let found = self.search(slope, order);
        add(&mut self.scores, column, found.0);
        found
    }

    /// The same of any direction.
    fn along(&mut self, direction: &[f64]) -> (f64, f64) {
        let problem = self.problem;
        let mut slopes = std::mem::take(&mut self.slopes);
        slopes.clear();
        slopes.resize(problem.tallies.len(), 0.0);
        for (column, part) in problem.columns.iter().zip(direction) {
            add(&mut slopes, column, *part);
        }
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..slopes.len() as u32);
        for line in &problem.lines {
            order[line.clone()].sort_unstable_by(|&a, &b| {
                slopes[a as usize].total_cmp(&slopes[b as usize]).then(a.cmp(&b))
            });
        }
        let found = self.search(|i| slopes[i as usize], &order);
        for (score, slope) in self.scores.iter_mut().zip(&slopes) {
            *score += found.0 * slope;
        }
        (self.slopes, self.order) = (slopes, order);
        found
    }

    /// The middle of the best stretch of a line on which scores have these slopes,
    /// and BLEU there; `order` has the translations of each line by slope.
    fn search(&mut self, slope: impl Fn(u32) -> f64, order: &[u32]) -> (f64, f64) {
        let problem = self.problem;
        self.corners.clear();
        let mut counts = Counts::default();
        for line in &problem.lines {
            upper_envelope(&order[line.clone()], &slope, &self.scores, &mut self.envelope);
            counts += problem.tallies[self.envelope[0].0 as usize].counts();
            for pair in self.envelope.windows(2) {
                let [(before, _), (behind, at)] = [pair[0], pair[1]];
                // Where BLEU counts the same nothing changes.
                if problem.tallies[before as usize] != problem.tallies[behind as usize] {
                    self.corners.push(Corner { at, before, behind });
                }
            }
        }
        self.corners.sort_unstable_by(|a, b| a.at.total_cmp(&b.at).then(a.before.cmp(&b.before)));
        best_stretch(&self.corners, &problem.tallies, counts)
    }
}

fn add(sums: &mut [f64], column: &[f32], weight: f64) {
    sums.iter_mut().zip(column).for_each(|(sum, &value)| *sum += weight * f64::from(value));
}

/// The straight lines that are highest somewhere, from left to right, each with the
/// place from which on it is. `order` is by slope, ascending.
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
            let behind = scores[last as usize] - new_score;
            if rise <= 0.0 {
                // Parallel: the higher one counts.
                if behind >= 0.0 {
                    from = f64::INFINITY;
                    break;
                }
            } else {
                from = behind / rise;
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

/// The middle of the stretch between corners that has the best BLEU, and BLEU there;
/// `counts` are those to the left of all corners. Where the stretch around 0 is as
/// good as any, 0.
fn best_stretch(corners: &[Corner], tallies: &[Tally], mut counts: Counts) -> (f64, f64) {
    let (Some(first), Some(last)) = (corners.first(), corners.last()) else {
        return (0.0, counts.bleu());
    };
    let (leftmost, rightmost) = (first.at.min(0.0) - BEYOND, last.at.max(0.0) + BEYOND);
    let mut best = (f64::NEG_INFINITY, 0.0);
    let mut here = (f64::NEG_INFINITY, 0.0);
    let mut start = f64::NEG_INFINITY;
    let mut next = corners.iter().peekable();
    loop {
        let end = next.peek().map_or(f64::INFINITY, |corner| corner.at);
        if end - start > NARROW {
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
        counts += tallies[corner.behind as usize].counts();
        counts -= tallies[corner.before as usize].counts();
        start = corner.at;
    }
    let (bleu, at) = if here.0 >= best.0 { here } else { best };
    (at, bleu)
}

#[cfg(test)]
mod tests {
    use super::super::lists::List;
    use super::*;
    use proptest::prelude::*;

    fn tally(length: u32, matches: u32) -> Tally {
        let matches = std::array::from_fn(|n| matches.saturating_sub(n as u32).min(length));
        Tally { length, reference: 10, matches }
    }

    /// Lists of translations with two values each.
    fn lists(lines: &[Vec<(i8, i8, u8)>]) -> Lists {
        let mut lists = Lists::new(lines.len(), 2);
        let list = |line: &Vec<(i8, i8, u8)>| {
            let mut list = List::default();
            for &(a, b, matches) in line {
                let values = [a, b].map(|value| f32::from(value) / 8.0);
                let matches = u32::from(matches % 11);
                list.push(values.into_iter(), 0.0, tally(matches + 2, matches));
            }
            list
        };
        lists.add(lines.iter().map(list).collect());
        lists
    }

    /// BLEU of the translations that are first at `weights`.
    fn bleu_at(problem: &Problem, weights: &[f64]) -> f64 {
        let mut search = Search::new(problem);
        search.score(weights);
        let mut counts = Counts::default();
        for line in &problem.lines {
            let best = line.clone().max_by(|&a, &b| search.scores[a].total_cmp(&search.scores[b]));
            counts += problem.tallies[best.unwrap()].counts();
        }
        counts.bleu()
    }

    proptest! {
        /// No place of a fine sweep along an axis is better than the one found, and
        /// BLEU there is what was said.
        #[test]
        fn line_search_equals_a_sweep(
            lines in proptest::collection::vec(
                proptest::collection::vec(any::<(i8, i8, u8)>(), 1..12), 1..8),
            start in (-1.0f64..1.0, -1.0f64..1.0),
            axis in 0usize..2,
        ) {
            let problem = Problem::new(&lists(&lines));
            let mut weights = vec![start.0, start.1];
            let mut search = Search::new(&problem);
            search.score(&weights);
            let (moved, bleu) = search.along_axis(axis);
            let begin = weights[axis];
            weights[axis] += moved;
            prop_assert!((bleu_at(&problem, &weights) - bleu).abs() < 1e-9);
            // Off the corners by a prime step.
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
            let problem = Problem::new(&lists);
            let start = vec![start.0, start.1];
            let found = optimise(&lists, std::slice::from_ref(&start), 1, 1);
            prop_assert!(bleu_at(&problem, &found) + 1e-9 >= bleu_at(&problem, &start));
            prop_assert_eq!(found, optimise(&lists, &[start], 1, 3));
        }
    }
}
