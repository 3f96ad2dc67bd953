//! Batch MIRA over n-best lists (Cherry and Foster 2012).
//!
//! A run makes passes over the lines, each in another order. For a line, the hope is the
//! translation with the largest score plus BLEU, and the fear is the translation with the largest
//! score minus BLEU. If the margin between their scores is smaller than the difference of their
//! BLEU, the weights take a step of at most C towards the hope. BLEU of a line is computed with a
//! background, the decaying sum of the statistics of hope translations. This BLEU is multiplied by
//! the length of the references of background and line (Chiang et al. 2008). After each pass, BLEU
//! is computed for the translations that the mean of all weights so far ranks first. The result is
//! the mean with the best BLEU.
//!
//! Several runs with different orders run in parallel, and their weights are averaged,
//! which cancels the influence of the order.

use std::thread;

use miriam_metrics::bleu::{BleuCounts, MAX_NGRAM_ORDER};
use miriam_storage::random::SplitMix64;

use super::n_best_lists::{BleuStatistics, NBestList, NBestLists};
use super::{WeightScale, derive_seed};

/// The largest step size, for weights whose magnitudes sum to 1.
const C: f64 = 0.001;
/// The decay of the background after each line.
const DECAY: f64 = 0.999;
const EPOCHS: usize = 30;
const RUNS: u64 = 4;

/// Returns weights that rank good translations of `lists` first, starting from `start`.
pub(super) fn optimize(
    lists: &NBestLists,
    scale: WeightScale,
    start: &[f64],
    seed: u64,
    threads: usize,
) -> Vec<f64> {
    let problem = MiraProblem::new(lists, scale);
    let seeds: Vec<u64> = (0..RUNS).map(|run| derive_seed(seed, run)).collect();
    let per_thread = seeds.len().div_ceil(threads.max(1));
    let found: Vec<Vec<f64>> = thread::scope(|scope| {
        let problem = &problem;
        let mut threads = Vec::new();
        for seeds in seeds.chunks(per_thread) {
            threads.push(scope.spawn(move || {
                let runs = seeds.iter().map(|&seed| MiraRun::new(problem, start, seed).train());
                runs.map(|weights| scale.after_step(weights)).collect::<Vec<_>>()
            }));
        }
        let joined = threads.into_iter().flat_map(|thread| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        joined.collect()
    });
    let mut mean = vec![0.0; start.len()];
    for weights in &found {
        let parts = weights.iter().map(|weight| weight / found.len() as f64);
        mean.iter_mut().zip(parts).for_each(|(mean, part)| *mean += part);
    }
    scale.after_step(mean)
}

/// The n-best lists, with values stored component by component.
struct MiraProblem {
    lines: Vec<LineCandidates>,
}

/// The translations of a line: their values component by component, and their distinct BLEU
/// statistics. Scores are weighted sums of the columns of values.
struct LineCandidates {
    columns: Vec<f32>,
    fixed_scores: Vec<f32>,
    statistics: Vec<BleuStatistics>,
    statistics_index: Vec<u32>,
}

impl MiraProblem {
    fn new(lists: &NBestLists, scale: WeightScale) -> Self {
        let width = lists.num_components;
        let lines = lists.lines.iter().map(|list| LineCandidates::new(list, width, scale));
        MiraProblem { lines: lines.collect() }
    }
}

impl LineCandidates {
    fn new(list: &NBestList, width: usize, scale: WeightScale) -> Self {
        let columns = (0..width).flat_map(|c| (0..list.len()).map(move |i| list.row(i, width)[c]));
        let mut numbers = hashbrown::HashMap::new();
        let mut statistics = Vec::new();
        let statistics_index = list
            .statistics
            .iter()
            .map(|found| {
                *numbers.entry(*found).or_insert_with(|| {
                    statistics.push(*found);
                    statistics.len() as u32 - 1
                })
            })
            .collect();
        LineCandidates {
            columns: columns.collect(),
            fixed_scores: list.fixed_scores.iter().map(|&f| scale.fixed_score(f)).collect(),
            statistics,
            statistics_index,
        }
    }

    fn len(&self) -> usize {
        self.statistics_index.len()
    }

    /// Computes the scores of all translations.
    fn compute_scores(&self, weights: &[f64], scores: &mut Vec<f32>) {
        scores.clear();
        scores.extend_from_slice(&self.fixed_scores);
        for (column, &weight) in self.columns.chunks_exact(self.len()).zip(weights) {
            let weight = weight as f32;
            scores.iter_mut().zip(column).for_each(|(score, value)| *score += weight * value);
        }
    }

    fn values(&self, i: usize) -> impl Iterator<Item = f64> {
        self.columns.chunks_exact(self.len()).map(move |column| f64::from(column[i]))
    }
}

/// Returns the index of the largest of `numbers`, the first of equals.
fn argmax(numbers: impl Iterator<Item = f32>) -> usize {
    let mut best = (0, f32::NEG_INFINITY);
    for (i, number) in numbers.enumerate() {
        if number > best.1 {
            best = (i, number);
        }
    }
    best.0
}

/// Decaying sums of BLEU statistics.
#[derive(Clone, Copy, Default)]
struct Background {
    length: f64,
    reference: f64,
    matches: [f64; MAX_NGRAM_ORDER],
    totals: [f64; MAX_NGRAM_ORDER],
}

impl Background {
    fn add(&mut self, statistics: &BleuStatistics) {
        let BleuCounts { hypothesis_len: hypothesis, reference_len: reference, matches, totals } =
            statistics.to_counts();
        self.length += hypothesis as f64;
        self.reference += reference as f64;
        for n in 0..MAX_NGRAM_ORDER {
            self.matches[n] += matches[n] as f64;
            self.totals[n] += totals[n] as f64;
        }
    }

    fn scale(&mut self, factor: f64) {
        self.length *= factor;
        self.reference *= factor;
        for n in 0..MAX_NGRAM_ORDER {
            self.matches[n] *= factor;
            self.totals[n] *= factor;
        }
    }

    /// Returns BLEU of the background with one more line, from 0 to 1.
    fn bleu_with(mut self, statistics: &BleuStatistics) -> f64 {
        self.add(statistics);
        let (mut matches, mut totals) = (1.0, 1.0);
        for n in 0..MAX_NGRAM_ORDER {
            matches *= self.matches[n];
            totals *= self.totals[n];
        }
        if matches <= 0.0 {
            return 0.0;
        }
        let mean = (matches / totals).sqrt().sqrt();
        if self.length < self.reference {
            mean * (1.0 - self.reference / self.length).exp()
        } else {
            mean
        }
    }
}

/// One run of MIRA over the lines.
struct MiraRun<'p> {
    problem: &'p MiraProblem,
    weights: Vec<f64>,
    /// The sum of the weights after every line so far.
    weight_sums: Vec<f64>,
    num_updates: f64,
    background: Background,
    random: SplitMix64,
    scores: Vec<f32>,
    bleu_gains: Vec<f32>,
}

impl<'p> MiraRun<'p> {
    fn new(problem: &'p MiraProblem, start: &[f64], seed: u64) -> Self {
        let mut run = MiraRun {
            problem,
            weights: start.to_vec(),
            weight_sums: vec![0.0; start.len()],
            num_updates: 0.0,
            background: Background::default(),
            random: SplitMix64::new(seed),
            scores: Vec::new(),
            bleu_gains: Vec::new(),
        };
        // The background starts with the counts that endless repetition of the lines would leave.
        // The 1 that is added to each count keeps the numbers of matches above zero.
        for line in &problem.lines {
            line.compute_scores(start, &mut run.scores);
            let best = argmax(run.scores.iter().copied());
            run.background.add(&line.statistics[line.statistics_index[best] as usize]);
        }
        run.background.scale(1.0 / (1.0 - DECAY) / problem.lines.len() as f64);
        for n in 0..MAX_NGRAM_ORDER {
            run.background.matches[n] += 1.0;
            run.background.totals[n] += 1.0;
        }
        run
    }

    /// Returns the mean weights of the pass with the best BLEU over the lists.
    fn train(mut self) -> Vec<f64> {
        let mut order: Vec<usize> = (0..self.problem.lines.len()).collect();
        let mut best = (f64::NEG_INFINITY, self.weights.clone());
        for _ in 0..EPOCHS {
            self.random.shuffle(&mut order);
            order.iter().for_each(|&line| self.update(line));
            let mean: Vec<f64> =
                self.weight_sums.iter().map(|total| total / self.num_updates).collect();
            let bleu = self.bleu(&mean);
            if bleu > best.0 {
                best = (bleu, mean);
            }
        }
        best.1
    }

    /// Returns BLEU of the translations that `weights` rank first in the lists.
    fn bleu(&mut self, weights: &[f64]) -> f64 {
        let mut counts = BleuCounts::default();
        for line in &self.problem.lines {
            line.compute_scores(weights, &mut self.scores);
            let best = argmax(self.scores.iter().copied());
            counts += line.statistics[line.statistics_index[best] as usize].to_counts();
        }
        counts.bleu()
    }

    fn update(&mut self, number: usize) {
        let line = &self.problem.lines[number];
        line.compute_scores(&self.weights, &mut self.scores);
        self.bleu_gains.clear();
        let background = self.background;
        self.bleu_gains.extend(line.statistics.iter().map(|statistics| {
            let reference = background.reference + f64::from(statistics.reference_length);
            (background.bleu_with(statistics) * reference) as f32
        }));
        let gain = |i: usize| self.bleu_gains[line.statistics_index[i] as usize];
        let scores = self.scores.iter().enumerate();
        let hope = argmax(scores.clone().map(|(i, score)| score + gain(i)));
        let fear = argmax(scores.map(|(i, score)| score - gain(i)));
        let better = f64::from(gain(hope) - gain(fear));
        if hope != fear && better > 0.0 {
            let difference = || line.values(hope).zip(line.values(fear)).map(|(h, f)| h - f);
            let margin = f64::from(self.scores[hope]) - f64::from(self.scores[fear]);
            let length: f64 = difference().map(|d| d * d).sum();
            if margin < better && length > 0.0 {
                let step = C.min((better - margin) / length);
                let weights = self.weights.iter_mut().zip(difference());
                weights.for_each(|(weight, d)| *weight += step * d);
            }
        }
        self.weight_sums.iter_mut().zip(&self.weights).for_each(|(total, weight)| *total += weight);
        self.num_updates += 1.0;
        self.background.scale(DECAY);
        self.background.add(&line.statistics[line.statistics_index[hope] as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::l1_normalized;
    use super::super::test_lists::correlated_lists;
    use super::*;

    #[test]
    fn finds_the_values_that_correlate_with_bleu() {
        let lists = correlated_lists();
        let scale = WeightScale::new(&lists, &[1.0], false);
        let problem = MiraProblem::new(&lists, scale);
        let wrong = l1_normalized(vec![-1.0, 1.0, 1.0]);
        let bleu = |weights: &[f64]| MiraRun::new(&problem, weights, 0).bleu(weights);
        let found = optimize(&lists, scale, &wrong, 5, 1);
        assert!(bleu(&wrong) < 60.0, "{}", bleu(&wrong));
        assert!(bleu(&found) > 99.0, "{found:?}: {}", bleu(&found));
        assert!(found[0] > 0.0 && found[2] < 0.0, "{found:?}");
    }

    #[test]
    fn threads_do_not_matter() {
        let lists = correlated_lists();
        let start = l1_normalized(vec![0.1, 0.5, 0.4]);
        let scale = WeightScale::new(&lists, &start, false);
        let found = optimize(&lists, scale, &start, 9, 1);
        assert_eq!(optimize(&lists, scale, &start, 9, 3), found);
        assert_ne!(optimize(&lists, scale, &start, 10, 1), found);
    }
}
