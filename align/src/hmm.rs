//! The HMM alignment model of Vogel, Ney and Tillmann (1996): the probability that a position
//! generates an output depends on the jump from the position that generated the output before.
//!
//! As in Och and Ney (2003), jumps are counted by their direction and width alone; jumps wider than
//! [`MAX_JUMP`] count as jumps of width [`MAX_JUMP`]. The transitions of a sentence are the jumps
//! that stay inside it, normalised and mixed with the uniform distribution. The null word generates
//! an output without a jump: the next jump starts where it would have started without that output.
//! The first jump starts before the first position.
//!
//! A null state remembers the last real state, and both have the same future. So they share their
//! forward and backward variables, and null states cost nothing. After training with
//! IBM model 2, only a few positions are likely for each output. The jumps from the others are left
//! out of the sums ([`PRUNING_THRESHOLD`]), so that an output costs far less than the square of the
//! sentence's length.
//!
//! An output is aligned to its most probable state over all paths (posterior decoding). For phrase
//! extraction this was as good as the Viterbi path, and it needs no second algorithm.

use std::sync::OnceLock;

use crate::directed_pair::{DirectedPair, EStepStatistics, LANES};

/// The widest jump with its own count, which it shares with all wider jumps.
const MAX_JUMP: usize = 40;
/// The probability that the null word generates an output.
const NULL_PROBABILITY: f64 = 0.2;
/// The weight of the uniform distribution in transitions.
const UNIFORM_WEIGHT: f64 = 0.2;
/// The count added to every expected count of a jump.
const SMOOTHING: f64 = 0.5;
/// The decay of the initial weights with the distance from the jump to the next position.
const INITIAL_DECAY: f64 = 0.4;
/// Jumps from a position are left out if it is less probable than this, given the outputs so far.
const PRUNING_THRESHOLD: f64 = 1e-6;
/// The transitions of sentences up to this length are cached.
const MAX_CACHED_LENGTH: usize = 128;

/// The transition model of one direction.
pub(crate) struct HmmTransitions {
    /// A weight for each jump from `-MAX_JUMP` to `MAX_JUMP`; they need not be normalised.
    weights: Vec<f64>,
    /// Transitions by the number of states, computed when they are first needed.
    cached_transitions: Vec<OnceLock<Vec<f64>>>,
}

impl Default for HmmTransitions {
    fn default() -> Self {
        let widest = MAX_JUMP as isize;
        Self::new(
            (-widest..=widest)
                .map(|jump| (-INITIAL_DECAY * (jump - 1).abs() as f64).exp())
                .collect(),
        )
    }
}

/// A worker's buffers, kept from sentence to sentence.
#[derive(Default)]
pub(crate) struct HmmScratch {
    /// Transitions of a long sentence.
    transitions: Vec<f64>,
    variables: ForwardBackward,
}

/// Returns the index of a jump among the weights.
fn jump_index(jump: isize) -> usize {
    (jump.clamp(-(MAX_JUMP as isize), MAX_JUMP as isize) + MAX_JUMP as isize) as usize
}

impl HmmTransitions {
    fn new(weights: Vec<f64>) -> Self {
        HmmTransitions {
            weights,
            cached_transitions: (0..=MAX_CACHED_LENGTH).map(|_| OnceLock::new()).collect(),
        }
    }

    /// Creates transitions from the weights in a file; `None` if they are not valid weights.
    pub fn from_weights(weights: Vec<f64>) -> Option<Self> {
        let fit = weights.iter().all(|weight| weight.is_finite() && *weight > 0.0);
        (fit && weights.len() == 2 * MAX_JUMP + 1).then(|| Self::new(weights))
    }

    /// Returns a weight for each jump, from the widest one backward to the widest one forward.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Performs the M step: computes transitions from expected counts of jumps.
    pub fn m_step(sums: &EStepStatistics) -> Self {
        Self::new(sums.jump_counts.iter().map(|count| count + SMOOTHING).collect())
    }

    /// Returns the transition matrix `[n + 1, n]`, whose rows are padded with zeros to a multiple
    /// of [`LANES`]. Row 0 has the jumps from the start, row `i + 1` those from position `i`. A
    /// column is the position that a jump reaches.
    fn transitions(&self, n: usize) -> Vec<f64> {
        let stride = n.next_multiple_of(LANES);
        let mut rows = vec![0.0; (n + 1) * stride];
        for (from, row) in rows.chunks_exact_mut(stride).enumerate() {
            let row = &mut row[..n];
            for (to, probability) in row.iter_mut().enumerate() {
                *probability = self.weights[jump_index(to as isize + 1 - from as isize)];
            }
            let sum: f64 = row.iter().sum();
            for probability in row {
                *probability =
                    *probability / sum * (1.0 - UNIFORM_WEIGHT) + UNIFORM_WEIGHT / n as f64;
            }
        }
        rows
    }

    /// Returns the transitions for the states of `view`, and the buffers sized for it and zeroed.
    fn prepare<'a>(
        &'a self,
        view: &DirectedPair,
        scratch: &'a mut HmmScratch,
    ) -> (&'a [f64], &'a mut ForwardBackward) {
        let (m, n, stride) = (view.outputs.len(), view.num_states, view.stride);
        let HmmScratch { transitions, variables } = scratch;
        let rows = match self.cached_transitions.get(n) {
            Some(ready) => ready.get_or_init(|| self.transitions(n)),
            None => {
                *transitions = self.transitions(n);
                transitions
            }
        };
        for (list, length) in [
            (&mut variables.forward, (m + 1) * (n + 1)),
            (&mut variables.aligned, m * stride),
            (&mut variables.scale, m),
            (&mut variables.backward, n + 1),
            (&mut variables.next_backward, n + 1),
            (&mut variables.predicted, stride),
            (&mut variables.jump_posteriors, (n + 1) * stride),
        ] {
            list.clear();
            list.resize(length, 0.0);
        }
        (rows, variables)
    }

    /// Performs the E step of a sentence pair: adds the posteriors of every output to `view` and
    /// the other statistics to `sums`.
    pub fn e_step(
        &self,
        view: &mut DirectedPair,
        scratch: &mut HmmScratch,
        sums: &mut EStepStatistics,
    ) {
        let (transitions, variables) = self.prepare(view, scratch);
        variables.run_forward(view, transitions, sums);
        let stride = view.stride;
        let outputs = std::mem::take(&mut view.outputs);
        for j in (0..outputs.len()).rev() {
            let output = usize::from(outputs[j]);
            let row = &mut view.posterior[output * stride..(output + 1) * stride];
            let current = &variables.aligned[j * stride..(j + 1) * stride];
            for ((posterior, current), future) in
                row.iter_mut().zip(current).zip(&variables.backward[1..])
            {
                *posterior += current * future;
            }
            let null = variables.null_posterior(view, output, j);
            view.null_posterior[output] += null;
            sums.null_count += null;
            variables.step_backward(view, transitions, output, j);
        }
        sums.output_count += outputs.len() as f64;
        view.outputs = outputs;
        sums.jump_counts.resize(2 * MAX_JUMP + 1, 0.0);
        let rows =
            transitions.chunks_exact(stride).zip(variables.jump_posteriors.chunks_exact(stride));
        for (from, (transitions, jumped)) in rows.enumerate() {
            for (to, (transition, jumped)) in
                transitions.iter().zip(jumped).take(view.num_states).enumerate()
            {
                sums.jump_counts[jump_index(to as isize + 1 - from as isize)] +=
                    transition * jumped;
            }
        }
    }

    /// Writes the most probable position of each output, `None` for the null word, to `best`. Ties
    /// go to the null word, then to the first position.
    pub fn decode(
        &self,
        view: &DirectedPair,
        scratch: &mut HmmScratch,
        best: &mut Vec<Option<u16>>,
    ) {
        let (transitions, variables) = self.prepare(view, scratch);
        variables.run_forward(view, transitions, &mut EStepStatistics::default());
        best.clear();
        best.resize(view.outputs.len(), None);
        for (j, &output) in view.outputs.iter().enumerate().rev() {
            let output = usize::from(output);
            let mut winner = (variables.null_posterior(view, output, j), None);
            for i in 0..view.num_states {
                let posterior = variables.aligned[j * view.stride + i] * variables.backward[i + 1];
                if posterior > winner.0 {
                    winner = (posterior, Some(i as u16));
                }
            }
            best[j] = winner.1;
            variables.step_backward(view, transitions, output, j);
        }
    }
}

/// The forward and backward variables of a sentence.
#[derive(Default)]
struct ForwardBackward {
    /// `[outputs + 1, states + 1]`: the probability that a position is the last that generated an
    /// output, given the outputs so far. Column 0 is the start, before all positions.
    forward: Vec<f64>,
    /// `[outputs, stride]`: the probability that an output belongs to a position, given the
    /// outputs so far.
    aligned: Vec<f64>,
    /// For each output the reciprocal of its probability, given the outputs before it.
    scale: Vec<f64>,
    /// For each position the scaled backward probability, given that it is the last that generated
    /// an output.
    backward: Vec<f64>,
    /// The buffer for the next `backward`.
    next_backward: Vec<f64>,
    /// `[stride]`. Forward: the probability that a jump reaches a position. Backward: the weight of
    /// the paths that reach it.
    predicted: Vec<f64>,
    /// `[states + 1, stride]`: the expected number of jumps from each row to each column of the
    /// transition matrix, divided by the transition.
    jump_posteriors: Vec<f64>,
}

impl ForwardBackward {
    /// Fills `forward`, `aligned` and `scale`, and sets `backward` for the end of the sentence.
    /// Adds ln p(outputs | states) to `sums`.
    fn run_forward(
        &mut self,
        view: &DirectedPair,
        transitions: &[f64],
        sums: &mut EStepStatistics,
    ) {
        let (n, stride) = (view.num_states, view.stride);
        self.forward[0] = 1.0;
        self.backward.fill(1.0);
        for (j, &output) in view.outputs.iter().enumerate() {
            let output = usize::from(output);
            let (before, after) = self.forward.split_at_mut((j + 1) * (n + 1));
            let (before, after) = (&before[j * (n + 1)..], &mut after[..n + 1]);
            self.predicted.fill(0.0);
            for (&last, row) in before.iter().zip(transitions.chunks_exact(stride)) {
                if last >= PRUNING_THRESHOLD {
                    for (reached, transition) in self.predicted.iter_mut().zip(row) {
                        *reached += last * transition;
                    }
                }
            }
            let current = &mut self.aligned[j * stride..(j + 1) * stride];
            let translation = &view.translation[output * stride..(output + 1) * stride];
            let null = NULL_PROBABILITY * view.null_translation[output];
            let mut sum = null * before[0];
            after[0] = sum;
            for i in 0..n {
                current[i] = (1.0 - NULL_PROBABILITY) * translation[i] * self.predicted[i];
                after[i + 1] = current[i] + null * before[i + 1];
                sum += after[i + 1];
            }
            // The probabilities of a damaged model may all be zero.
            let sum = sum.max(f64::MIN_POSITIVE);
            let scale = 1.0 / sum;
            after.iter_mut().for_each(|number| *number *= scale);
            current.iter_mut().for_each(|number| *number *= scale);
            self.scale[j] = scale;
            sums.ln_likelihood += sum.ln();
        }
    }

    /// Returns the posterior probability that the null word generated output `j`, whose row in the
    /// matrices is `output`.
    fn null_posterior(&self, view: &DirectedPair, output: usize, j: usize) -> f64 {
        let before = &self.forward[j * self.backward.len()..][..self.backward.len()];
        let paths: f64 =
            before.iter().zip(&self.backward).map(|(last, future)| last * future).sum();
        NULL_PROBABILITY * view.null_translation[output] * self.scale[j] * paths
    }

    /// Performs a step of the backward pass, from after output `j` to before it. `output` is the
    /// output's row in the matrices.
    fn step_backward(&mut self, view: &DirectedPair, transitions: &[f64], output: usize, j: usize) {
        let (n, stride) = (view.num_states, view.stride);
        let translation = &view.translation[output * stride..][..n];
        let factor = (1.0 - NULL_PROBABILITY) * self.scale[j];
        for ((reached, translation), future) in
            self.predicted.iter_mut().zip(translation).zip(&self.backward[1..])
        {
            *reached = factor * translation * future;
        }
        let null = NULL_PROBABILITY * view.null_translation[output] * self.scale[j];
        let before = &self.forward[j * (n + 1)..(j + 1) * (n + 1)];
        let reached = self.predicted.as_chunks::<LANES>().0;
        for (from, &last) in before.iter().enumerate() {
            if last < PRUNING_THRESHOLD {
                self.next_backward[from] = 0.0;
                continue;
            }
            let row = transitions[from * stride..(from + 1) * stride].as_chunks::<LANES>().0;
            let jumped = &mut self.jump_posteriors[from * stride..(from + 1) * stride];
            let mut sums = [0.0; LANES];
            for ((transition, reached), jumped) in
                row.iter().zip(reached).zip(jumped.as_chunks_mut::<LANES>().0)
            {
                for lane in 0..LANES {
                    sums[lane] += transition[lane] * reached[lane];
                    jumped[lane] += last * reached[lane];
                }
            }
            self.next_backward[from] =
                (sums[0] + sums[1]) + (sums[2] + sums[3]) + null * self.backward[from];
        }
        std::mem::swap(&mut self.backward, &mut self.next_backward);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a sentence of three outputs, the last equal to the first, and two states.
    fn example_pair() -> DirectedPair {
        let mut view = DirectedPair::default();
        view.reset(&[0, 1, 0], 2, 2);
        view.translation[0..2].copy_from_slice(&[0.6, 0.1]);
        view.translation[4..6].copy_from_slice(&[0.2, 0.5]);
        view.null_translation.copy_from_slice(&[0.05, 0.1]);
        view
    }

    /// Returns the probability of every path of states, with the state of each output (2: null).
    fn all_paths(jumps: &HmmTransitions, view: &DirectedPair) -> Vec<(f64, [usize; 3])> {
        let transitions = jumps.transitions(view.num_states);
        let mut all = Vec::new();
        for code in 0..27 {
            let states = [code % 3, code / 3 % 3, code / 9];
            let (mut probability, mut last) = (1.0, 0);
            for (&state, &output) in states.iter().zip(&view.outputs) {
                let output = usize::from(output);
                if state == 2 {
                    probability *= NULL_PROBABILITY * view.null_translation[output];
                } else {
                    probability *= (1.0 - NULL_PROBABILITY)
                        * transitions[last * view.stride + state]
                        * view.translation[output * view.stride + state];
                    last = state + 1;
                }
            }
            all.push((probability, states));
        }
        all
    }

    #[test]
    fn posteriors_are_those_of_all_paths() {
        let jumps = HmmTransitions::default();
        let (mut view, mut sums) = (example_pair(), EStepStatistics::default());
        let paths = all_paths(&jumps, &view);
        let total: f64 = paths.iter().map(|path| path.0).sum();
        jumps.e_step(&mut view, &mut HmmScratch::default(), &mut sums);
        assert!((sums.ln_likelihood - total.ln()).abs() < 1e-12);
        let mut expected_jumps = vec![0.0; 2 * MAX_JUMP + 1];
        for output in 0..2 {
            for state in 0..3 {
                let expected: f64 = paths
                    .iter()
                    .map(|(probability, states)| {
                        let times = (0..3)
                            .filter(|&j| {
                                usize::from(view.outputs[j]) == output && states[j] == state
                            })
                            .count();
                        probability * times as f64 / total
                    })
                    .sum();
                let found = match state {
                    2 => view.null_posterior[output],
                    _ => view.posterior[output * view.stride + state],
                };
                assert!((found - expected).abs() < 1e-12, "{output} {state}: {found} {expected}");
            }
        }
        for (probability, states) in &paths {
            let mut last = 0;
            for &state in states.iter().filter(|&&state| state < 2) {
                expected_jumps[jump_index(state as isize + 1 - last)] += probability / total;
                last = state as isize + 1;
            }
        }
        for (found, expected) in sums.jump_counts.iter().zip(&expected_jumps) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn the_most_probable_state_of_each_output_wins() {
        let jumps = HmmTransitions::default();
        let (view, mut best) = (example_pair(), Vec::new());
        let paths = all_paths(&jumps, &view);
        jumps.decode(&view, &mut HmmScratch::default(), &mut best);
        for (j, &best) in best.iter().enumerate() {
            let mut sums = [0.0; 3];
            paths.iter().for_each(|(probability, states)| sums[states[j]] += probability);
            let winner = (0..3).max_by(|&a, &b| f64::total_cmp(&sums[a], &sums[b]));
            assert_eq!(best.map_or(2, usize::from), winner.expect("three states"));
        }
    }

    #[test]
    fn transitions_are_distributions() {
        for n in [1, 2, 7, MAX_CACHED_LENGTH + 60] {
            let rows = HmmTransitions::default().transitions(n);
            for row in rows.chunks_exact(n.next_multiple_of(LANES)) {
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(row[n..].iter().all(|&p| p == 0.0));
            }
        }
    }
}
