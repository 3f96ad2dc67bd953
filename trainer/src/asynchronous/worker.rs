//! A worker: its copy of the parameters, and the gradients that it has not pushed yet.
//!
//! If [`needs_fetch`](AsyncWorker::needs_fetch), the caller calls [`fetch`](AsyncWorker::fetch) for
//! each shard, then [`end_fetch`](AsyncWorker::end_fetch). It calls
//! [`compute`](AsyncWorker::compute) for a batch. Then, if [`needs_push`](AsyncWorker::needs_push),
//! it calls [`begin_push`](AsyncWorker::begin_push), [`push`](AsyncWorker::push) for each shard,
//! and [`end_push`](AsyncWorker::end_push). Threads or the simulator decide when these methods run.

use std::ops::Range;
use std::sync::Arc;

use miriam_nmt::Result;
use num_traits::Float;
use serde::{Deserialize, Serialize};

use super::gradient_dropping::{SparseGradient, drop_gradient};
use super::options::{
    AsyncOptions, DroppingOptions, DroppingScope, FetchMode, LocalOptimizer, ShardUpdate,
};
use super::shard::{ParameterShard, PushTerms, PushedGradient};
use crate::Real;
use crate::dropout::Dropout;
use crate::kernels::{Kernels, OptimizerKind, Shard, Step};
use crate::tape::PackedParameters;
use crate::trainable_model::TrainableModel;
use crate::update::{
    FlexibleRate, MicroBatch, MicroBatchWorker, NormLimit, OptimizerState, UpdateOptions,
    UpdateReport, gradient_norm, scale_gradient,
};

/// The settings of a batch, which follow from the progress when the batch was handed out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BatchTerms {
    /// Dropout with its key.
    pub dropout: Dropout,
    /// The learning rate.
    pub rate: f64,
    /// The factor of the rate that depends on the words of a step, if it is used.
    pub flexible_rate: Option<FlexibleRate>,
    /// The limit on the norm of the gradient per word.
    pub norm_limit: Option<NormLimit>,
    /// The rate of gradient dropping.
    pub dropping_rate: f64,
}

/// The content of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Message {
    /// The whole gradient.
    Dense,
    /// The sparse gradient.
    Sparse,
    /// Nothing, because the gradient is not finite.
    Skipped,
}

/// A worker.
pub struct AsyncWorker<K: Kernels> {
    /// The number of the worker, and of its own shard.
    pub number: usize,
    kernels: K,
    micro_batches: MicroBatchWorker<K>,
    pub(super) copy: Arc<PackedParameters<K>>,
    scopes: Vec<Range<usize>>,
    pub(super) message: Message,
    /// The factor by which the shard's step scales the pushed gradient.
    pub(super) scale: f64,
    pub(super) accumulated: Vec<K::Real>,
    pub(super) residual: Vec<K::Real>,
    pub(super) velocity: Vec<K::Real>,
    pub(super) sent: SparseGradient<K::Real>,
    pub(super) local: OptimizerState<K::Real>,
    /// The change by the last local step in the part of the copy that is the worker's own shard.
    local_change: Vec<K::Real>,
    pub(super) counts: WorkerCounts,
    /// Report on the batches since the last push.
    pub(super) report: UpdateReport,
}

/// Counts of a worker.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WorkerCounts {
    /// The number of batches so far.
    pub batches: u64,
    /// The number of batches that are not pushed yet.
    pub waiting: usize,
    /// The number of pushes so far.
    pub pushes: u64,
    /// The number of pushes to each shard that the copy includes.
    pub seen: Vec<u64>,
}

impl<K: Kernels> AsyncWorker<K> {
    /// Creates worker `number` with `values` as its copy of the parameters.
    pub fn new(
        number: usize,
        model: &TrainableModel<K>,
        kernels: &K,
        options: &AsyncOptions,
        update: &UpdateOptions,
        values: Vec<K::Real>,
        shards: &[Range<usize>],
    ) -> Self {
        let len = values.len();
        let zeros = |needed: bool| vec![K::Real::ZERO; if needed { len } else { 0 }];
        let dropping = options.dropping.as_ref();
        let scopes = match dropping.map(|dropping| dropping.scope) {
            None => Vec::new(),
            Some(DroppingScope::Shard) => shards.to_vec(),
            Some(DroppingScope::Global) => std::iter::once(0..len).collect(),
            Some(DroppingScope::Tensor) => model.layout().iter().map(|p| p.range()).collect(),
        };
        // Only the server keeps moving averages.
        let plain = UpdateOptions { smoothing: 0.0, ..*update };
        let local = match options.local {
            Some(_) => OptimizerState::new(&plain, &values),
            None => OptimizerState::default(),
        };
        AsyncWorker {
            number,
            kernels: kernels.clone(),
            micro_batches: MicroBatchWorker::new(model, kernels),
            copy: Arc::new(PackedParameters::new(model.registry(), kernels, values)),
            scopes,
            message: Message::Dense,
            scale: 1.0,
            accumulated: zeros(true),
            residual: zeros(dropping.is_some()),
            velocity: zeros(dropping.is_some_and(|dropping| dropping.momentum > 0.0)),
            sent: SparseGradient::default(),
            local,
            local_change: Vec::new(),
            counts: WorkerCounts { seen: vec![0; shards.len()], ..WorkerCounts::default() },
            report: UpdateReport::default(),
        }
    }

    /// Whether the next step is a fetch.
    pub fn needs_fetch(&self) -> bool {
        self.counts.waiting == 0
    }

    fn fetch_mode(&self, options: &AsyncOptions) -> FetchMode {
        match &options.dropping {
            Some(DroppingOptions { warmup, fetch, .. }) if self.counts.pushes > *warmup => *fetch,
            _ => FetchMode::Dense,
        }
    }

    /// Returns the number of bytes that the next fetch of the shard at `range` moves; a fetch of
    /// differences moves the share that the dropping rate leaves, as indices and values.
    pub fn fetch_bytes(&self, options: &AsyncOptions, range: &Range<usize>, rate: f64) -> u64 {
        let numbers = match self.fetch_mode(options) {
            FetchMode::Dense => range.len(),
            FetchMode::Indices => self.sent.places(range).len(),
            FetchMode::Delta => 2 * (range.len() as f64 * (1.0 - rate)).ceil() as usize,
        };
        4 * numbers as u64
    }

    /// Fetches a shard; `rate` is the dropping rate.
    pub fn fetch(
        &mut self,
        options: &AsyncOptions,
        number: usize,
        shard: &ParameterShard<K::Real>,
        rate: f64,
    ) {
        let mode = self.fetch_mode(options);
        let copy = Arc::get_mut(&mut self.copy).expect("the tape has dropped it");
        let values = &mut copy.values_mut()[shard.range.clone()];
        match mode {
            FetchMode::Dense => values.copy_from_slice(&shard.values),
            FetchMode::Indices => {
                for place in self.sent.places(&shard.range) {
                    let index = self.sent.indices[place] as usize - shard.range.start;
                    values[index] = shard.values[index];
                }
            }
            FetchMode::Delta => {
                let pairs = shard.values.iter().zip(&*values);
                let difference: Vec<K::Real> = pairs.map(|(&new, &old)| new - old).collect();
                let limit = super::gradient_dropping::threshold(&difference, rate);
                for ((value, &new), d) in values.iter_mut().zip(&shard.values).zip(difference) {
                    if d.abs() > limit || d.is_nan() {
                        *value = new;
                    }
                }
            }
        }
        self.counts.seen[number] = shard.pushes;
    }

    /// Packs the weights of the copy for matrix products.
    pub fn end_fetch(&mut self, model: &TrainableModel<K>) {
        self.refresh(model);
    }

    /// Replaces the copy by other parameters.
    pub(super) fn set_copy(&mut self, model: &TrainableModel<K>, values: &[K::Real]) {
        let copy = Arc::get_mut(&mut self.copy).expect("the tape has dropped it");
        copy.values_mut().copy_from_slice(values);
        self.refresh(model);
    }

    fn refresh(&mut self, model: &TrainableModel<K>) {
        let copy = Arc::get_mut(&mut self.copy).expect("the tape has dropped it");
        copy.refresh(model.registry(), &self.kernels);
    }

    /// Computes the gradient of a batch and adds it to the gradients that are not pushed yet. While
    /// the local optimiser is in use, it also takes a step on the copy. Returns a report on the
    /// batch.
    ///
    /// # Errors
    /// If the model fails.
    pub fn compute(
        &mut self,
        model: &TrainableModel<K>,
        update: &UpdateOptions,
        options: &AsyncOptions,
        micro_batches: &[MicroBatch<'_>],
        terms: BatchTerms,
    ) -> Result<UpdateReport> {
        let mut report = UpdateReport::default();
        for (number, micro_batch) in micro_batches.iter().enumerate() {
            let worker = &mut self.micro_batches;
            let part =
                worker.compute(model, &self.copy, update, number, micro_batch, terms.dropout)?;
            report.add(&part);
        }
        if let Some(gradient) =
            crate::update::MicroBatchTree::join(&mut [&mut self.micro_batches.tree])
        {
            if self.counts.waiting == 0 {
                self.accumulated.copy_from_slice(&gradient);
            } else {
                let sums = self.accumulated.iter_mut().zip(gradient.iter());
                sums.for_each(|(sum, &g)| *sum += g);
            }
            self.local_change.clear();
            if let Some(local) = options.local.filter(|local| self.counts.batches < local.batches) {
                let words = report.target_tokens as u64;
                let factor = terms.flexible_rate.map_or(1.0, |rate| rate.factor(words, 1));
                self.step_locally(update, local, &gradient, &report, terms.rate * factor);
                self.refresh(model);
            }
            self.micro_batches.tree.recycle(gradient);
        }
        self.counts.batches += 1;
        self.counts.waiting += 1;
        self.report.add(&report);
        Ok(report)
    }

    fn step_locally(
        &mut self,
        update: &UpdateOptions,
        local: LocalOptimizer,
        gradient: &[K::Real],
        report: &UpdateReport,
        rate: f64,
    ) {
        let kind = match (update.optimizer, local.betas) {
            (OptimizerKind::Adam { epsilon, weight_decay, .. }, Some([beta1, beta2])) => {
                OptimizerKind::Adam { beta1, beta2, epsilon, weight_decay }
            }
            (kind, _) => kind,
        };
        let state = &mut self.local;
        if let OptimizerKind::Adam { beta1, beta2, .. } = kind {
            state.bias_corrections = state.bias_corrections.advanced(beta1, beta2);
        }
        let words = report.target_tokens.max(1) as f64;
        let step = Step {
            kind,
            rate,
            gradient_scale: if update.normalizes_gradient { 1.0 / words } else { 1.0 },
            bias_corrections: state.bias_corrections,
            smoothing: None,
        };
        let copy = Arc::get_mut(&mut self.copy).expect("the tape has dropped it");
        let range = super::shard::shard_ranges(gradient.len(), self.counts.seen.len());
        let own = range[self.number].clone();
        self.local_change.extend_from_slice(&copy.values()[own.clone()]);
        let shard = Shard {
            values: copy.values_mut(),
            gradient,
            first: &mut state.first,
            second: &mut state.second,
            average: &mut [],
        };
        self.kernels.take_step(&step, shard);
        for (change, &new) in self.local_change.iter_mut().zip(&copy.values()[own]) {
            *change = new - *change;
        }
    }

    /// Whether the last batch changes the worker's own shard too.
    pub fn changes_own_shard(&self, options: &AsyncOptions) -> bool {
        let kind = options.local.map_or(ShardUpdate::None, |local| local.shard_update);
        kind != ShardUpdate::None && !self.local_change.is_empty()
    }

    /// Applies the local optimiser's step to the worker's own shard.
    pub fn change_own_shard(&self, options: &AsyncOptions, shard: &mut ParameterShard<K::Real>) {
        let copy = &self.copy.values()[shard.range.clone()];
        match options.local.map_or(ShardUpdate::None, |local| local.shard_update) {
            ShardUpdate::Copy => shard.values.copy_from_slice(copy),
            ShardUpdate::Delta => {
                let values = shard.values.iter_mut();
                values.zip(&self.local_change).for_each(|(value, &change)| *value += change);
            }
            ShardUpdate::None => {}
        }
    }

    /// Returns the number of batches whose gradients are not pushed yet.
    pub fn waiting_batches(&self) -> usize {
        self.counts.waiting
    }

    /// Whether the next step is a push.
    pub fn needs_push(&self, options: &AsyncOptions) -> bool {
        self.counts.waiting >= options.delay
    }

    /// Prepares a push: normalises and clips the sum of gradients and applies gradient dropping.
    pub fn begin_push(
        &mut self,
        update: &UpdateOptions,
        options: &AsyncOptions,
        terms: BatchTerms,
    ) {
        let norm = gradient_norm(&self.kernels, &self.accumulated, 1);
        let scale = scale_gradient(update, terms.norm_limit, norm, &mut self.report);
        let Some(scale) = scale else {
            self.message = Message::Skipped;
            return;
        };
        // If each push is one dense step, the shard scales the gradient, so that its step equals a
        // synchronous step to the bit. Otherwise pushes are added up, which needs scaled gradients.
        let is_stepped = options.dropping.is_none() && options.gradient_buffer == 1;
        self.scale = if is_stepped { scale } else { 1.0 };
        if !is_stepped && scale != 1.0 {
            let scale = K::Real::of(scale);
            self.accumulated.iter_mut().for_each(|g| *g = scale * *g);
        }
        let dropping = options.dropping.as_ref();
        let dropping = dropping.filter(|dropping| self.counts.pushes >= dropping.warmup);
        self.message = match dropping {
            None => Message::Dense,
            Some(dropping) => {
                self.drop(dropping, terms.dropping_rate);
                Message::Sparse
            }
        };
    }

    fn drop(&mut self, dropping: &DroppingOptions, rate: f64) {
        self.sent.clear();
        for scope in &self.scopes {
            let velocity = match &mut self.velocity[..] {
                [] => None,
                velocity => Some((&mut velocity[scope.clone()], K::Real::of(dropping.momentum))),
            };
            drop_gradient(
                &self.accumulated[scope.clone()],
                &mut self.residual[scope.clone()],
                velocity,
                rate,
                scope.start,
                &mut self.sent,
            );
        }
    }

    /// Returns the number of bytes that the push to a shard at `range` moves.
    pub fn push_bytes(&self, range: &Range<usize>) -> u64 {
        match self.message {
            Message::Dense => 4 * range.len() as u64,
            Message::Sparse => 8 * self.sent.places(range).len() as u64,
            Message::Skipped => 0,
        }
    }

    /// Pushes to a shard. Returns the staleness: the number of other workers' pushes that the copy
    /// does not include.
    pub fn push(
        &mut self,
        number: usize,
        shard: &mut ParameterShard<K::Real>,
        terms: PushTerms<'_>,
    ) -> u64 {
        let staleness = shard.pushes - self.counts.seen[number];
        if number == self.number {
            shard.owner_batches = self.counts.batches;
        }
        let gradient = match self.message {
            Message::Dense => PushedGradient::Dense(&self.accumulated[shard.range.clone()]),
            Message::Sparse => PushedGradient::Sparse(&self.sent),
            Message::Skipped => return staleness,
        };
        shard.push(&self.kernels, gradient, PushTerms { gradient_scale: self.scale, ..terms });
        staleness
    }

    /// Returns the number of target tokens of the batches that are not pushed yet.
    pub fn words(&self) -> u64 {
        self.report.target_tokens as u64
    }

    /// Ends a push. Returns the report on the batches since the previous push.
    pub fn end_push(&mut self) -> UpdateReport {
        self.counts.pushes += 1;
        self.counts.waiting = 0;
        std::mem::take(&mut self.report)
    }
}
