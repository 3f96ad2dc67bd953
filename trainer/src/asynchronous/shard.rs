//! A shard of the parameter server: a part of the flat vector with its optimiser.

use std::ops::Range;

use super::gradient_dropping::SparseGradient;
use crate::Real;
use crate::kernels::{Kernels, OptimizerKind, Shard, Smoothing, Step};
use crate::update::{FlexibleRate, MomentumSchedule, OptimizerState, UpdateOptions};

/// Returns the parts of a vector of `len` numbers, one for each worker, the last ones shorter or
/// empty.
pub fn shard_ranges(len: usize, workers: usize) -> Vec<Range<usize>> {
    let part = len.div_ceil(workers).next_multiple_of(crate::ALIGNMENT);
    (0..workers).map(|w| (w * part).min(len)..((w + 1) * part).min(len)).collect()
}

/// The part of a push for a shard.
#[derive(Clone, Copy, Debug)]
pub enum PushedGradient<'a, R> {
    /// All numbers of the shard.
    Dense(&'a [R]),
    /// Numbers at indices of the flat vector.
    Sparse(&'a SparseGradient<R>),
}

/// A shard. Its owner locks it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterShard<R> {
    /// Its place in the flat vector.
    pub range: Range<usize>,
    /// Its parameters.
    pub values: Vec<R>,
    /// Its optimiser and moving average.
    pub state: OptimizerState<R>,
    /// Pushes so far.
    pub pushes: u64,
    /// Batches of the worker that has the shard's number, by its last push.
    pub owner_batches: u64,
    /// The sum of pushes since the last step, if several make one.
    pub buffer: Vec<R>,
    /// Pushes in it.
    pub buffered: usize,
    /// Their target tokens.
    pub buffered_words: u64,
}

/// The terms of a shard's step beside the gradient.
#[derive(Clone, Copy, Debug)]
pub struct PushTerms<'a> {
    /// The options of updates.
    pub update: &'a UpdateOptions,
    /// Adam's betas over the batches of the worker whose number the shard has.
    pub momentum: &'a MomentumSchedule,
    /// Pushes that make a step.
    pub gradient_buffer: usize,
    /// The learning rate.
    pub rate: f64,
    /// Its factor for the words of a step, if any, with the batches of a push.
    pub flexible_rate: Option<(FlexibleRate, usize)>,
    /// The factor of the gradient: the worker's normalisation and clipping.
    pub gradient_scale: f64,
    /// Target tokens of the push.
    pub words: u64,
}

impl<R: Real> ParameterShard<R> {
    /// Creates a part of `values` with that of the optimiser's state.
    pub fn new(range: Range<usize>, values: &[R], state: &OptimizerState<R>) -> Self {
        let part = |vector: &[R]| match vector {
            [] => Vec::new(),
            vector => vector[range.clone()].to_vec(),
        };
        ParameterShard {
            values: part(values),
            state: OptimizerState {
                first: part(&state.first),
                second: part(&state.second),
                average: part(&state.average),
                bias_corrections: state.bias_corrections,
                average_updates: state.average_updates,
                // Quantisation is of synchronous training.
                residual: Vec::new(),
            },
            range,
            pushes: 0,
            owner_batches: 0,
            buffer: Vec::new(),
            buffered: 0,
            buffered_words: 0,
        }
    }

    /// Takes a push: a step of the optimiser, or a part of the next one.
    pub fn push<K: Kernels<Real = R>>(
        &mut self,
        kernels: &K,
        gradient: PushedGradient<'_, R>,
        terms: PushTerms<'_>,
    ) {
        self.pushes += 1;
        if let (PushedGradient::Dense(gradient), 1) = (gradient, terms.gradient_buffer) {
            self.step(kernels, Some(gradient), terms.words, terms);
            return;
        }
        if self.buffered == 0 {
            self.buffer.clear();
            self.buffer.resize(self.values.len(), R::ZERO);
        }
        match gradient {
            PushedGradient::Dense(gradient) => {
                self.buffer.iter_mut().zip(gradient).for_each(|(sum, &g)| *sum += g);
            }
            PushedGradient::Sparse(sparse) => {
                for place in sparse.places(&self.range) {
                    self.buffer[sparse.indices[place] as usize - self.range.start] +=
                        sparse.values[place];
                }
            }
        }
        self.buffered += 1;
        self.buffered_words += terms.words;
        if self.buffered >= terms.gradient_buffer {
            let words = self.buffered_words;
            (self.buffered, self.buffered_words) = (0, 0);
            self.step(kernels, None, words, terms);
        }
    }

    /// Steps by a gradient, or by the buffer.
    fn step<K: Kernels<Real = R>>(
        &mut self,
        kernels: &K,
        gradient: Option<&[R]>,
        words: u64,
        terms: PushTerms<'_>,
    ) {
        let PushTerms { update, momentum, .. } = terms;
        let kind = momentum.at(update.optimizer, self.owner_batches);
        let state = &mut self.state;
        if let OptimizerKind::Adam { beta1, beta2, .. } = kind {
            state.bias_corrections = state.bias_corrections.advanced(beta1, beta2);
        }
        let flexible = terms
            .flexible_rate
            .map_or(1.0, |(rate, batches)| rate.factor(words, batches * terms.gradient_buffer));
        let reference = update.reference_words as u64;
        let [words, reference] =
            if (1..words).contains(&reference) { [words, reference] } else { [1, 1] };
        let smoothing = (!state.average.is_empty())
            .then(|| Smoothing::new(update.smoothing, state.average_updates, words, reference));
        state.average_updates += 1;
        let step = Step {
            kind,
            rate: terms.rate * flexible * (words as f64 / reference as f64),
            gradient_scale: terms.gradient_scale,
            bias_corrections: state.bias_corrections,
            smoothing,
        };
        let shard = Shard {
            values: &mut self.values,
            gradient: gradient.unwrap_or(&self.buffer),
            first: &mut state.first,
            second: &mut state.second,
            average: &mut state.average,
        };
        kernels.take_step(&step, shard);
    }

    /// Makes the moving average, if there is one, the parameters.
    pub fn replace_with_smoothed(&mut self) {
        if !self.state.average.is_empty() {
            self.values.copy_from_slice(&self.state.average);
        }
    }
}

/// All shards as flat vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gathered<R> {
    /// The parameters.
    pub values: Vec<R>,
    /// The optimiser; its bias corrections are those of the first shard.
    pub state: OptimizerState<R>,
}

/// Puts shards together, in their order.
pub fn gather<'a, R: Real>(shards: impl Iterator<Item = &'a ParameterShard<R>>) -> Gathered<R> {
    let mut all = Gathered::default();
    for (number, shard) in shards.enumerate() {
        let ParameterShard { values, state, .. } = shard;
        all.values.extend_from_slice(values);
        all.state.first.extend_from_slice(&state.first);
        all.state.second.extend_from_slice(&state.second);
        all.state.average.extend_from_slice(&state.average);
        if number == 0 {
            all.state.bias_corrections = state.bias_corrections;
            all.state.average_updates = state.average_updates;
        }
    }
    all
}
