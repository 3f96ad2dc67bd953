//! Parameter server of asynchronous training, in the memory of one process. Each shard has a lock;
//! the workers call the server from their threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::asynchronous::{AsyncOptions, AsyncWorker, BatchTerms, ParameterShard, PushTerms};
use crate::data::ParallelCorpus;
use crate::error::Result;
use crate::kernels::Fast;
use crate::trainable_model::TrainableModel;
use crate::update::{MicroBatch, MomentumSchedule, UpdateOptions, UpdateReport};

/// A batch that was handed out to a worker.
pub(super) struct Job {
    /// The sentence pairs of each micro-batch, by their indices in the corpus.
    pub micro_batches: Vec<Vec<u32>>,
    /// The settings of the batch.
    pub terms: BatchTerms,
    /// The number of batches of the push that this batch belongs to.
    pub batches: usize,
    /// The number of the batch's epoch.
    pub epoch: u64,
    /// Whether the batch is the last one of its epoch.
    pub is_epoch_end: bool,
}

/// The parameter server, which all workers share.
pub(super) struct Server {
    pub model: TrainableModel<Fast>,
    pub update: UpdateOptions,
    pub options: AsyncOptions,
    /// Adam's betas by the number of batches.
    pub momentum: MomentumSchedule,
    /// The weight of guided alignment in the loss.
    pub guided_alignment_weight: f64,
    /// The shards in the order of their parameters, one for each worker.
    pub shards: Vec<Mutex<ParameterShard<f32>>>,
}

impl Server {
    /// Locks and returns a shard. A poisoned lock is harmless: a worker that panicked ends the
    /// training.
    pub fn lock(&self, shard: usize) -> MutexGuard<'_, ParameterShard<f32>> {
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the terms of a worker's push. `batch` has the settings of the worker's last batch.
    pub fn push_terms(&self, worker: &AsyncWorker<Fast>, batch: BatchTerms) -> PushTerms<'_> {
        self.terms(worker.waiting_batches(), worker.words(), batch)
    }

    /// Returns the terms of a push of `batches` batches with `words` target tokens. `batch` has the
    /// settings of the last batch.
    fn terms(&self, batches: usize, words: u64, batch: BatchTerms) -> PushTerms<'_> {
        // The factor of a flexible rate includes the delay: it counts the words of all batches.
        let delay_factor =
            if batch.flexible_rate.is_some() { 1.0 } else { self.options.rate_factor(batches) };
        PushTerms {
            update: &self.update,
            momentum: &self.momentum,
            gradient_buffer: self.options.gradient_buffer,
            rate: batch.rate * delay_factor,
            flexible_rate: batch.flexible_rate.map(|rate| (rate, batches)),
            gradient_scale: 1.0,
            words,
        }
    }

    /// Computes the gradient of a batch, applies the step of a local optimiser to the worker's own
    /// shard if the step changes the shard, and prepares the push if one is due.
    ///
    /// # Errors
    /// If the model fails.
    pub fn compute(
        &self,
        worker: &mut AsyncWorker<Fast>,
        corpus: &ParallelCorpus,
        job: &Job,
    ) -> Result<()> {
        let micro_batches: Vec<MicroBatch<'_>> = job
            .micro_batches
            .iter()
            .map(|pairs| MicroBatch::from_pairs(corpus, pairs, self.guided_alignment_weight))
            .collect();
        worker.compute(&self.model, &self.update, &self.options, &micro_batches, job.terms)?;
        if worker.changes_own_shard(&self.options) {
            worker.change_own_shard(&self.options, &mut self.lock(worker.number));
        }
        if worker.needs_push(&self.options) {
            worker.begin_push(&self.update, &self.options, job.terms);
        }
        Ok(())
    }

    /// Runs all steps of a batch in the worker's thread: fetch, gradient, push. Returns the report
    /// of the push, if one was due.
    ///
    /// # Errors
    /// If the model fails.
    pub fn run_batch(
        &self,
        worker: &mut AsyncWorker<Fast>,
        corpus: &ParallelCorpus,
        job: &Job,
    ) -> Result<Option<UpdateReport>> {
        if worker.needs_fetch() {
            for shard in self.shard_order(worker.number) {
                worker.fetch(&self.options, shard, &self.lock(shard), job.terms.dropping_rate);
            }
            worker.end_fetch(&self.model);
        }
        self.compute(worker, corpus, job)?;
        if !worker.needs_push(&self.options) {
            return Ok(None);
        }
        Ok(Some(self.push(worker, job.terms)))
    }

    /// Pushes a worker's prepared gradient to all shards. Returns the report of the push.
    pub fn push(&self, worker: &mut AsyncWorker<Fast>, batch: BatchTerms) -> UpdateReport {
        let terms = self.push_terms(worker, batch);
        for shard in self.shard_order(worker.number) {
            worker.push(shard, &mut self.lock(shard), terms);
        }
        worker.end_push()
    }

    /// Takes a step in each shard whose buffer has pushes, although a step usually needs more
    /// pushes. `batch` has the settings of a batch that begins now.
    pub fn step_with_buffers(&self, kernels: &Fast, batch: BatchTerms) {
        for shard in 0..self.shards.len() {
            let mut shard = self.lock(shard);
            let (gradient_buffer, words) = (shard.buffered, shard.buffered_words);
            let terms = self.terms(self.options.delay, words, batch);
            shard.step_with_buffer(kernels, PushTerms { gradient_buffer, ..terms });
        }
    }

    /// Returns the shards in the order in which a worker visits them. Each worker begins with its
    /// own shard, so that workers rarely wait for each other.
    fn shard_order(&self, worker: usize) -> impl Iterator<Item = usize> + use<> {
        let num_shards = self.shards.len();
        (0..num_shards).map(move |offset| (worker + offset) % num_shards)
    }
}
