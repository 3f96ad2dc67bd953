//! Parameter server of asynchronous training in the memory of one process: shards with locks, and
//! the steps of a worker for a batch.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::asynchronous::{AsyncOptions, AsyncWorker, BatchTerms, ParameterShard, PushTerms};
use crate::data::ParallelCorpus;
use crate::error::Result;
use crate::kernels::Fast;
use crate::trainable_model::TrainableModel;
use crate::update::{MicroBatch, MomentumSchedule, UpdateOptions, UpdateReport};

/// A batch that was handed out.
pub(super) struct Job {
    pub micro_batches: Vec<Vec<u32>>,
    pub terms: BatchTerms,
    /// Whether it is the last of its epoch.
    pub is_epoch_end: bool,
}

/// The parameter server, which all workers share.
pub(super) struct Server {
    pub model: TrainableModel<Fast>,
    pub update: UpdateOptions,
    pub options: AsyncOptions,
    pub momentum: MomentumSchedule,
    pub guided_alignment_weight: f64,
    pub shards: Vec<Mutex<ParameterShard<f32>>>,
}

impl Server {
    /// Locks and returns a shard. A poisoned lock is harmless: a worker that panicked ends the
    /// training.
    pub fn lock(&self, shard: usize) -> MutexGuard<'_, ParameterShard<f32>> {
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn terms(&self, job: BatchTerms, words: u64) -> PushTerms<'_> {
        PushTerms {
            update: &self.update,
            momentum: &self.momentum,
            gradient_buffer: self.options.gradient_buffer,
            rate: match job.flexible_rate {
                // Flexible rates count the words of all batches.
                Some(_) => job.rate,
                None => job.rate * self.options.rate_factor(),
            },
            flexible_rate: job.flexible_rate.map(|rate| (rate, self.options.delay)),
            gradient_scale: 1.0,
            words,
        }
    }

    pub fn compute(
        &self,
        worker: &mut AsyncWorker<Fast>,
        corpus: &ParallelCorpus,
        job: &Job,
    ) -> Result<()> {
        let weight = self.guided_alignment_weight;
        let micro_batches: Vec<MicroBatch<'_>> = job
            .micro_batches
            .iter()
            .map(|pairs| MicroBatch::from_pairs(corpus, pairs, weight))
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

    /// Runs all steps of a batch, in the worker's thread. Returns the report of a push, if one was
    /// due.
    pub fn work(
        &self,
        worker: &mut AsyncWorker<Fast>,
        corpus: &ParallelCorpus,
        job: &Job,
    ) -> Result<Option<UpdateReport>> {
        let count = self.shards.len();
        // Each worker begins with its own shard, so that workers rarely wait for each other.
        let shards: Vec<usize> = (0..count).map(|step| (worker.number + step) % count).collect();
        if worker.needs_fetch() {
            for &shard in &shards {
                worker.fetch(&self.options, shard, &self.lock(shard), job.terms.dropping_rate);
            }
            worker.end_fetch(&self.model);
        }
        self.compute(worker, corpus, job)?;
        if !worker.needs_push(&self.options) {
            return Ok(None);
        }
        let terms = self.terms(job.terms, worker.words());
        for shard in shards {
            worker.push(shard, &mut self.lock(shard), terms);
        }
        Ok(Some(worker.end_push()))
    }
}
