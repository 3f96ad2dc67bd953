//! The hidden Markov model of Vogel, Ney and Tillmann (1996): an output's position
//! depends on how far it jumps from the position that explained the output before.
//!
//! As in Och and Ney (2003) jumps are counted by their width alone, those beyond a
//! widest one together; the probabilities of a sentence are the jumps that stay inside
//! it, normalised, and mixed with the uniform distribution. An output of the null word
//! keeps the last position for the next jump. Nothing stands before the first position:
//! the first jump starts there.
//!
//! A real state and the null state that remembers it have the same future, so forward
//! and backward variables are kept for the position alone, and null states cost nothing.
//! After IBM model 2 few positions of a sentence are likely at a time; the others take
//! no part in the sums (see [`UNLIKELY`]), which makes a sentence cheaper by far than
//! its length squared for each output.
//!
//! An output is aligned to its most probable state over all paths, which for the
//! extraction of phrases was as good as the best path and needs no second algorithm.

use std::sync::OnceLock;

use crate::one_way::{LANES, OneWay, Sums};

/// The widest jump with a count of its own.
const WIDEST: usize = 40;
/// The probability that the null word explains an output.
const NULL: f64 = 0.2;
/// How much of each jump's probability is uniform.
const UNIFORM: f64 = 0.2;
/// What is added to every expected count.
const SMOOTHING: f64 = 0.5;
/// How fast the first guess falls with the distance from a jump of one.
const FIRST_FALL: f64 = 0.4;
/// Positions less probable than this, given the outputs so far, are passed over.
const UNLIKELY: f64 = 1e-6;
/// Sentences up to this length find their transitions ready.
const READY: usize = 128;

/// Which jumps are likely, of one direction.
pub(crate) struct Jumps {
    /// A weight for each jump from -WIDEST to WIDEST.
    weights: Vec<f64>,
    /// Transitions by the number of states, made when they are first needed.
    ready: Vec<OnceLock<Vec<f64>>>,
}

impl Default for Jumps {
    fn default() -> Self {
        let weight = |jump: isize| (-FIRST_FALL * (jump - 1).abs() as f64).exp();
        let widest = WIDEST as isize;
        Self::of((-widest..=widest).map(weight).collect())
    }
}

/// What a worker keeps from sentence to sentence.
#[derive(Default)]
pub(crate) struct Scratch {
    /// Transitions of a long sentence.
    transitions: Vec<f64>,
    /// A row for each output and one before: how probable it is that a position was the
    /// last one, given the outputs so far. The start stands before the positions.
    last: Vec<f64>,
    /// A row for each output: how probable it is that it belongs to a position, given
    /// the outputs so far.
    here: Vec<f64>,
    /// For each output the reciprocal of its probability, given those before.
    scale: Vec<f64>,
    /// For each position as the last one: how much more probable what follows becomes.
    future: Vec<f64>,
    next_future: Vec<f64>,
    reached: Vec<f64>,
    /// Expected jumps of the sentence, before they are weighted by the transitions.
    jumped: Vec<f64>,
}

/// The index of a jump among the weights.
fn index(jump: isize) -> usize {
    (jump.clamp(-(WIDEST as isize), WIDEST as isize) + WIDEST as isize) as usize
}

impl Jumps {
    fn of(weights: Vec<f64>) -> Self {
        Jumps { weights, ready: (0..=READY).map(|_| OnceLock::new()).collect() }
    }

    /// The jumps with weights from a file; nothing if these are no weights.
    pub fn with_weights(weights: Vec<f64>) -> Option<Self> {
        let fit = weights.iter().all(|weight| weight.is_finite() && *weight > 0.0);
        (fit && weights.len() == 2 * WIDEST + 1).then(|| Self::of(weights))
    }

    /// A weight for each jump, from the widest one back to the widest one ahead.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The jumps that fit expected counts.
    pub fn fit(sums: &Sums) -> Self {
        Self::of(sums.jumps.iter().map(|count| count + SMOOTHING).collect())
    }

    /// A row for the start and for each of `n` positions: where the next jump lands.
    /// Rows have `n` numbers, filled up with zeros.
    fn transitions(&self, n: usize) -> Vec<f64> {
        let stride = n.next_multiple_of(LANES);
        let mut rows = vec![0.0; (n + 1) * stride];
        for (from, row) in rows.chunks_exact_mut(stride).enumerate() {
            let row = &mut row[..n];
            for (to, probability) in row.iter_mut().enumerate() {
                *probability = self.weights[index(to as isize + 1 - from as isize)];
            }
            let sum: f64 = row.iter().sum();
            for probability in row {
                *probability = *probability / sum * (1.0 - UNIFORM) + UNIFORM / n as f64;
            }
        }
        rows
    }

    fn begin<'a>(&'a self, view: &OneWay, scratch: &'a mut Scratch) -> (&'a [f64], Desk<'a>) {
        let (m, n, stride) = (view.outputs.len(), view.states, view.stride);
        let Scratch { transitions, last, here, scale, future, next_future, reached, jumped } =
            scratch;
        let rows = match self.ready.get(n) {
            Some(ready) => ready.get_or_init(|| self.transitions(n)),
            None => {
                *transitions = self.transitions(n);
                transitions
            }
        };
        for (list, length) in [
            (&mut *last, (m + 1) * (n + 1)),
            (here, m * stride),
            (scale, m),
            (future, n + 1),
            (next_future, n + 1),
            (reached, stride),
            (jumped, (n + 1) * stride),
        ] {
            list.clear();
            list.resize(length, 0.0);
        }
        (rows, Desk { last, here, scale, future, next_future, reached, jumped })
    }

    /// Posteriors of every output, added to `view`; what else is counted, to `sums`.
    pub fn expect(&self, view: &mut OneWay, scratch: &mut Scratch, sums: &mut Sums) {
        let (transitions, mut desk) = self.begin(view, scratch);
        desk.go_forward(view, transitions, sums);
        let stride = view.stride;
        let outputs = std::mem::take(&mut view.outputs);
        for j in (0..outputs.len()).rev() {
            let output = usize::from(outputs[j]);
            let row = &mut view.posterior[output * stride..(output + 1) * stride];
            let here = &desk.here[j * stride..(j + 1) * stride];
            for ((posterior, here), future) in row.iter_mut().zip(here).zip(&desk.future[1..]) {
                *posterior += here * future;
            }
            let null = desk.null_posterior(view, output, j);
            view.null_posterior[output] += null;
            sums.null += null;
            desk.go_back(view, transitions, output, j);
        }
        sums.outputs += outputs.len() as f64;
        view.outputs = outputs;
        sums.jumps.resize(2 * WIDEST + 1, 0.0);
        let rows = transitions.chunks_exact(stride).zip(desk.jumped.chunks_exact(stride));
        for (from, (transitions, jumped)) in rows.enumerate() {
            for (to, (transition, jumped)) in
                transitions.iter().zip(jumped).take(view.states).enumerate()
            {
                sums.jumps[index(to as isize + 1 - from as isize)] += transition * jumped;
            }
        }
    }

    /// The most probable position of each output, or nothing for the null word, in
    /// `best`. Of equal ones the null word is taken, then the first.
    pub fn decode(&self, view: &OneWay, scratch: &mut Scratch, best: &mut Vec<Option<u16>>) {
        let (transitions, mut desk) = self.begin(view, scratch);
        desk.go_forward(view, transitions, &mut Sums::default());
        best.clear();
        best.resize(view.outputs.len(), None);
        for (j, &output) in view.outputs.iter().enumerate().rev() {
            let output = usize::from(output);
            let mut winner = (desk.null_posterior(view, output, j), None);
            for i in 0..view.states {
                let posterior = desk.here[j * view.stride + i] * desk.future[i + 1];
                if posterior > winner.0 {
                    winner = (posterior, Some(i as u16));
                }
            }
            best[j] = winner.1;
            desk.go_back(view, transitions, output, j);
        }
    }
}

/// The scratch of a sentence.
struct Desk<'a> {
    last: &'a mut Vec<f64>,
    here: &'a mut Vec<f64>,
    scale: &'a mut Vec<f64>,
    future: &'a mut Vec<f64>,
    next_future: &'a mut Vec<f64>,
    reached: &'a mut Vec<f64>,
    jumped: &'a mut Vec<f64>,
}

impl Desk<'_> {
    fn go_forward(&mut self, view: &OneWay, transitions: &[f64], sums: &mut Sums) {
        let (n, stride) = (view.states, view.stride);
        self.last[0] = 1.0;
        self.future.fill(1.0);
        for (j, &output) in view.outputs.iter().enumerate() {
            let output = usize::from(output);
            let (before, after) = self.last.split_at_mut((j + 1) * (n + 1));
            let (before, after) = (&before[j * (n + 1)..], &mut after[..n + 1]);
            self.reached.fill(0.0);
            for (&last, row) in before.iter().zip(transitions.chunks_exact(stride)) {
                if last >= UNLIKELY {
                    for (reached, transition) in self.reached.iter_mut().zip(row) {
                        *reached += last * transition;
                    }
                }
            }
            let here = &mut self.here[j * stride..(j + 1) * stride];
            let translation = &view.translation[output * stride..(output + 1) * stride];
            let null = NULL * view.null_translation[output];
            let mut sum = null * before[0];
            after[0] = sum;
            for i in 0..n {
                here[i] = (1.0 - NULL) * translation[i] * self.reached[i];
                after[i + 1] = here[i] + null * before[i + 1];
                sum += after[i + 1];
            }
            // Numbers of a damaged model may all be zero.
            let sum = sum.max(f64::MIN_POSITIVE);
            let scale = 1.0 / sum;
            after.iter_mut().for_each(|number| *number *= scale);
            here.iter_mut().for_each(|number| *number *= scale);
            self.scale[j] = scale;
            sums.ln_likelihood += sum.ln();
        }
    }

    /// The probability that the null word explains output `j`.
    fn null_posterior(&self, view: &OneWay, output: usize, j: usize) -> f64 {
        let before = &self.last[j * self.future.len()..][..self.future.len()];
        let paths: f64 = before.iter().zip(&*self.future).map(|(last, future)| last * future).sum();
        NULL * view.null_translation[output] * self.scale[j] * paths
    }

    /// From the future behind output `j` to the one before it.
    fn go_back(&mut self, view: &OneWay, transitions: &[f64], output: usize, j: usize) {
        let (n, stride) = (view.states, view.stride);
        let translation = &view.translation[output * stride..][..n];
        let factor = (1.0 - NULL) * self.scale[j];
        for ((reached, translation), future) in
            self.reached.iter_mut().zip(translation).zip(&self.future[1..])
        {
            *reached = factor * translation * future;
        }
        let null = NULL * view.null_translation[output] * self.scale[j];
        let before = &self.last[j * (n + 1)..(j + 1) * (n + 1)];
        let reached = self.reached.as_chunks::<LANES>().0;
        for (from, &last) in before.iter().enumerate() {
            if last < UNLIKELY {
                self.next_future[from] = 0.0;
                continue;
            }
            let row = transitions[from * stride..(from + 1) * stride].as_chunks::<LANES>().0;
            let jumped = &mut self.jumped[from * stride..(from + 1) * stride];
            let mut sums = [0.0; LANES];
            for ((transition, reached), jumped) in
                row.iter().zip(reached).zip(jumped.as_chunks_mut::<LANES>().0)
            {
                for lane in 0..LANES {
                    sums[lane] += transition[lane] * reached[lane];
                    jumped[lane] += last * reached[lane];
                }
            }
            self.next_future[from] =
                (sums[0] + sums[1]) + (sums[2] + sums[3]) + null * self.future[from];
        }
        std::mem::swap(self.future, self.next_future);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sentence of three outputs, the last equal to the first, and two states.
    fn view() -> OneWay {
        let mut view = OneWay::default();
        view.begin(&[0, 1, 0], 2, 2);
        view.translation[0..2].copy_from_slice(&[0.6, 0.1]);
        view.translation[4..6].copy_from_slice(&[0.2, 0.5]);
        view.null_translation.copy_from_slice(&[0.05, 0.1]);
        view
    }

    /// Every path of states, its probability, and for each output its state (2: null).
    fn paths(jumps: &Jumps, view: &OneWay) -> Vec<(f64, [usize; 3])> {
        let transitions = jumps.transitions(view.states);
        let mut all = Vec::new();
        for code in 0..27 {
            let states = [code % 3, code / 3 % 3, code / 9];
            let (mut probability, mut last) = (1.0, 0);
            for (&state, &output) in states.iter().zip(&view.outputs) {
                let output = usize::from(output);
                if state == 2 {
                    probability *= NULL * view.null_translation[output];
                } else {
                    probability *= (1.0 - NULL)
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
        let jumps = Jumps::default();
        let (mut view, mut sums) = (view(), Sums::default());
        let paths = paths(&jumps, &view);
        let total: f64 = paths.iter().map(|path| path.0).sum();
        jumps.expect(&mut view, &mut Scratch::default(), &mut sums);
        assert!((sums.ln_likelihood - total.ln()).abs() < 1e-12);
        let mut expected_jumps = vec![0.0; 2 * WIDEST + 1];
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
                expected_jumps[index(state as isize + 1 - last)] += probability / total;
                last = state as isize + 1;
            }
        }
        for (found, expected) in sums.jumps.iter().zip(&expected_jumps) {
            assert!((found - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn the_most_probable_state_of_each_output_wins() {
        let jumps = Jumps::default();
        let (view, mut best) = (view(), Vec::new());
        let paths = paths(&jumps, &view);
        jumps.decode(&view, &mut Scratch::default(), &mut best);
        for (j, &best) in best.iter().enumerate() {
            let mut sums = [0.0; 3];
            paths.iter().for_each(|(probability, states)| sums[states[j]] += probability);
            let winner = (0..3).max_by(|&a, &b| f64::total_cmp(&sums[a], &sums[b]));
            assert_eq!(best.map_or(2, usize::from), winner.expect("three states"));
        }
    }

    #[test]
    fn transitions_are_distributions() {
        for n in [1, 2, 7, READY + 60] {
            let rows = Jumps::default().transitions(n);
            for row in rows.chunks_exact(n.next_multiple_of(LANES)) {
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                assert!(row[n..].iter().all(|&p| p == 0.0));
            }
        }
    }
}
