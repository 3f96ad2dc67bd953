//! A shard of the parameter server: a part of the flat vector of parameters with its optimiser.

use std::ops::Range;

use super::gradient_dropping::SparseGradient;
use crate::Real;
use crate::kernels::{Kernels, Shard};
use crate::update::{FlexibleRate, MomentumSchedule, OptimizerState, UpdateOptions};

/// Divides a vector of `len` numbers into one range per worker; the last ranges may be shorter or
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

/// A shard. The caller locks it.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterShard<R> {
    /// The range of the shard in the flat vector of all parameters.
    pub range: Range<usize>,
    /// The parameters of the shard.
    pub values: Vec<R>,
    /// The state of the optimiser, and the moving average of the parameters.
    pub state: OptimizerState<R>,
    /// The number of pushes so far.
    pub pushes: u64,
    /// The number of batches of the shard's own worker up to its last push.
    pub owner_batches: u64,
    /// The sum of pushes since the last step. A dense push that is a whole step does not use it.
    pub buffer: Vec<R>,
    /// The number of pushes in the buffer.
    pub buffered: usize,
    /// The number of target tokens of the pushes in the buffer.
    pub buffered_words: u64,
}

/// The terms of a shard's step besides the gradient.
#[derive(Clone, Copy, Debug)]
pub struct PushTerms<'a> {
    /// The options of updates.
    pub update: &'a UpdateOptions,
    /// Adam's betas by the number of batches of the shard's own worker.
    pub momentum: &'a MomentumSchedule,
    /// The number of pushes per step.
    pub gradient_buffer: usize,
    /// The learning rate.
    pub rate: f64,
    /// The factor of the rate that depends on the words of a step, if it is used, and the number of
    /// batches per push.
    pub flexible_rate: Option<(FlexibleRate, usize)>,
    /// The factor of the gradient, from the worker's normalisation and clipping; 1 for pushes that
    /// are added up, whose workers have applied it already.
    pub gradient_scale: f64,
    /// The number of target tokens of the push.
    pub words: u64,
}

impl<R: Real> ParameterShard<R> {
    /// Creates the shard of `range` from the whole `values` and optimiser's state.
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
                // Only synchronous training quantises.
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

    /// Applies a push: takes a step, or adds the gradient to the buffer of the next step.
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
            self.step_with_buffer(kernels, terms);
        }
    }

    /// Takes a step with the pushes in the buffer, if there are any. The buffer need not be full.
    pub fn step_with_buffer<K: Kernels<Real = R>>(&mut self, kernels: &K, terms: PushTerms<'_>) {
        if self.buffered > 0 {
            let words = self.buffered_words;
            (self.buffered, self.buffered_words) = (0, 0);
            self.step(kernels, None, words, terms);
        }
    }

    /// Takes a step with a gradient, or with the buffer.
    fn step<K: Kernels<Real = R>>(
        &mut self,
        kernels: &K,
        gradient: Option<&[R]>,
        words: u64,
        terms: PushTerms<'_>,
    ) {
        let PushTerms { update, momentum, .. } = terms;
        let kind = momentum.at(update.optimizer, self.owner_batches);
        let flexible = terms
            .flexible_rate
            .map_or(1.0, |(rate, batches)| rate.factor(words, batches * terms.gradient_buffer));
        let state = &mut self.state;
        let rate = terms.rate * flexible;
        let step = state.next_step(update, kind, rate, terms.gradient_scale, words);
        let shard = Shard {
            values: &mut self.values,
            gradient: gradient.unwrap_or(&self.buffer),
            first: &mut state.first,
            second: &mut state.second,
            average: &mut state.average,
        };
        kernels.take_step(&step, shard);
    }

    /// Replaces the parameters by their moving average, if there is one.
    pub fn replace_with_smoothed(&mut self) {
        if !self.state.average.is_empty() {
            self.values.copy_from_slice(&self.state.average);
        }
    }
}

/// The parameters and the optimiser's state of all shards as flat vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GatheredShards<R> {
    /// The parameters.
    pub values: Vec<R>,
    /// The optimiser's state. Bias corrections and the number of averaged updates come from the
    /// first shard.
    pub state: OptimizerState<R>,
}

/// Concatenates shards in their order.
pub fn gather<'a, R: Real>(
    shards: impl Iterator<Item = &'a ParameterShard<R>>,
) -> GatheredShards<R> {
    let mut all = GatheredShards::default();
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
