//! Asynchronous training with threads: its batches, workers and shards.
//!
//! The main thread of the training hands out batches and counts pushes. A worker is sent to its
//! thread with each batch and returns with a report. Tasks that need all shards wait until all
//! workers are back. [`super::simulated`] does the same in one thread.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};

use miriam_textio::Progress as ProgressBar;

use super::config::TrainingConfig;
use super::model_files::ModelFiles;
use super::parameter_server::{Job, Server};
use super::push_table::PushTable;
use super::run::{Outcome, Run};
use super::simulated::Simulation;
use super::start::warmup_ratio;
use super::updater::Updater;
use crate::asynchronous::{
    AsyncOptions, AsyncSnapshot, AsyncWorker, BatchTerms, Coordinator, GatheredShards,
    ParameterShard, gather, shard_ranges,
};
use crate::error::{Error, Result};
use crate::kernels::Fast;
use crate::progress::Progress;
use crate::trainable_model::TrainableModel;
use crate::update::{OptimizerState, UpdateReport};

/// The state from which asynchronous training starts.
pub(super) struct AsyncStart {
    pub values: Vec<f32>,
    pub optimizer: OptimizerState<f32>,
    /// The saved state of workers.
    pub workers: Option<AsyncSnapshot>,
    /// The number of updates so far.
    pub updates: u64,
}

/// Shards, workers and the simulated machine, if there is one.
pub(super) struct AsyncTrainer {
    pub server: Arc<Server>,
    /// The workers by number; busy workers are in their threads.
    pub workers: Vec<Option<AsyncWorker<Fast>>>,
    gathered: GatheredShards<f32>,
    pub simulation: Option<Simulation>,
}

impl AsyncTrainer {
    pub fn new(
        model: TrainableModel<Fast>,
        config: &TrainingConfig,
        options: &AsyncOptions,
        start: AsyncStart,
        files: &ModelFiles,
        log: &mut dyn FnMut(&str),
    ) -> Result<Self> {
        let AsyncStart { values, optimizer, workers: snapshot, updates } = start;
        let (kernels, num_workers) =
            (Fast::default().with_products(config.products), config.num_async_workers());
        let ranges = shard_ranges(values.len(), num_workers);
        let mut shards: Vec<ParameterShard<f32>> = ranges
            .iter()
            .map(|range| ParameterShard::new(range.clone(), &values, &optimizer))
            .collect();
        let mut workers: Vec<AsyncWorker<Fast>> = (0..num_workers)
            .map(|number| {
                let copy = values.clone();
                AsyncWorker::new(number, &model, &kernels, options, &config.update, copy, &ranges)
            })
            .collect();
        let mut simulation = config.machine.clone().map(Simulation::new);
        if let Some(snapshot) = snapshot {
            let damaged = |reason: String| {
                let reason =
                    format!("the saved state of the workers is damaged: {reason}; move it away");
                Error::resume(&files.optimizer(), reason)
            };
            let mut all: Vec<&mut ParameterShard<f32>> = shards.iter_mut().collect();
            let driver = snapshot.restore(&mut all, &mut workers, &model).map_err(damaged)?;
            match (driver, &mut simulation) {
                (None, _) => {
                    log("[training] The number of workers has changed: they start with the saved \
                    parameters, and gradients that were not pushed are lost")
                }
                (Some(text), Some(simulation)) => {
                    simulation.restore(&text, config.dropout, options.delay).map_err(damaged)?;
                    simulation.pushes = PushTable::read(&files.simulation(), updates)?;
                }
                (Some(_), None) => {}
            }
        }
        let gathered = gather(shards.iter());
        let server = Server {
            model,
            update: config.update,
            options: options.clone(),
            momentum: config.momentum.clone(),
            guided_alignment_weight: config.guided_alignment_weight,
            shards: shards.into_iter().map(Mutex::new).collect(),
        };
        let workers = workers.into_iter().map(Some).collect();
        Ok(AsyncTrainer { server: Arc::new(server), workers, gathered, simulation })
    }

    pub fn model(&self) -> &TrainableModel<Fast> {
        &self.server.model
    }

    pub fn gathered(&self) -> &GatheredShards<f32> {
        &self.gathered
    }

    fn locked(&self) -> Vec<MutexGuard<'_, ParameterShard<f32>>> {
        (0..self.server.shards.len()).map(|shard| self.server.lock(shard)).collect()
    }

    pub fn gather(&mut self) {
        // The last vectors and the new ones together would take too much memory.
        self.gathered = GatheredShards::default();
        let gathered = gather(self.locked().iter().map(|shard| &**shard));
        self.gathered = gathered;
    }

    pub fn reset_optimizer(&mut self) {
        self.locked().iter_mut().for_each(|shard| shard.state.reset());
    }

    pub fn replace_with_smoothed(&mut self) {
        self.locked().iter_mut().for_each(|shard| shard.replace_with_smoothed());
    }

    /// Returns the state of workers and shards; none may be in a step.
    pub fn snapshot(&self) -> AsyncSnapshot {
        let workers: Vec<&AsyncWorker<Fast>> = self.workers.iter().flatten().collect();
        let driver = self.simulation.as_ref().map_or(String::new(), Simulation::saved);
        let shards = self.locked();
        AsyncSnapshot::take(shards.iter().map(|shard| &**shard), &workers, driver)
    }

    pub fn save_pushes(&mut self, path: &Path) -> Result<()> {
        match &mut self.simulation {
            Some(simulation) => simulation.pushes.save(path),
            None => Ok(()),
        }
    }
}

impl Run<'_, '_> {
    pub(super) fn asynchronous(&mut self) -> &mut AsyncTrainer {
        match &mut self.trainer {
            Updater::Asynchronous(trainer) => trainer,
            Updater::Synchronous(_) => unreachable!("the training is asynchronous"),
        }
    }

    /// Returns the next batch for a worker.
    pub(super) fn next_job(&mut self) -> Job {
        let config = self.training.config;
        let ratio = warmup_ratio(config.mini_batch_warmup, &self.state.progress);
        let mut micro_batches = Vec::new();
        self.source.next_batch(ratio, &mut micro_batches);
        // A simulation may stop before the batch is counted. Then it saves the batch with the
        // workers.
        self.state.position = self.source.position().clone();
        self.state.epoch_batches += 1;
        Job {
            micro_batches,
            terms: self.batch_terms(),
            batches: self.asynchronous().server.options.delay,
            epoch: self.source.position().epoch,
            is_epoch_end: self.source.is_at_epoch_end(),
        }
    }

    /// Returns the settings of a batch that begins now.
    fn batch_terms(&self) -> BatchTerms {
        let options = self.training.config.asynchronous.as_ref();
        let dropping = options.and_then(|options| options.dropping.as_ref());
        BatchTerms {
            dropout: self.dropout(),
            rate: self.rate(),
            flexible_rate: self.flexible_rate(),
            norm_limit: self.norm_limit(),
            dropping_rate: dropping.map_or(0.0, |d| d.rates.at(&self.state.progress)),
        }
    }

    /// Prepares the push of a worker's waiting gradients, which are of fewer batches than usual.
    /// Returns the job of the push, or `None` if no gradient waits.
    pub(super) fn begin_last_push(&mut self, worker: usize) -> Option<Job> {
        let (terms, epoch) = (self.batch_terms(), self.state.progress.epoch);
        let trainer = self.asynchronous();
        let worker = trainer.workers[worker].as_mut().expect("no worker is in its thread");
        let batches = worker.waiting_batches();
        if batches == 0 {
            return None;
        }
        worker.begin_push(&trainer.server.update, &trainer.server.options, terms);
        Some(Job { micro_batches: Vec::new(), terms, batches, epoch, is_epoch_end: false })
    }

    /// Pushes the waiting gradients of all workers, none of which may be in its thread.
    pub(super) fn push_waiting(&mut self) -> Result<()> {
        for number in 0..self.asynchronous().workers.len() {
            let Some(job) = self.begin_last_push(number) else { continue };
            let trainer = self.asynchronous();
            let worker = trainer.workers[number].as_mut().expect("no worker is in its thread");
            let report = trainer.server.push(worker, job.terms);
            self.count_batch(&job, Some(report))?;
        }
        Ok(())
    }

    /// Takes steps with the pushes that wait in the buffers of shards.
    pub(super) fn step_with_buffers(&mut self) {
        let (terms, products) = (self.batch_terms(), self.training.config.products);
        let kernels = Fast::default().with_products(products);
        self.asynchronous().server.step_with_buffers(&kernels, terms);
    }

    pub(super) fn is_over(&self) -> Option<Outcome> {
        if self.is_at_limit() {
            Some(Outcome::Finished)
        } else {
            self.training.is_cancelled().then_some(Outcome::Cancelled)
        }
    }

    /// Counts a batch, and a push if its `report` is given. Returns the progress before the batch.
    pub(super) fn count_batch(
        &mut self,
        job: &Job,
        report: Option<UpdateReport>,
    ) -> Result<Progress> {
        let before = self.state.progress;
        // Sentences are counted with their batch, because their push may belong to the next epoch.
        let sentences: usize = job.micro_batches.iter().map(Vec::len).sum();
        self.count_sentences(sentences);
        if let Some(report) = report {
            let report = UpdateReport { sentences: 0, ..report };
            let options = &self.asynchronous().server.options;
            let factor = match job.terms.flexible_rate {
                Some(rate) => rate.factor(report.target_tokens as u64, job.batches),
                None => options.rate_factor(job.batches),
            };
            self.count_update(&report, job.terms.rate * factor)?;
        }
        Ok(before)
    }

    /// Trains with a thread for each worker.
    pub(super) fn train_asynchronously(&mut self, task: &dyn ProgressBar) -> Result<Outcome> {
        let server = Arc::clone(&self.asynchronous().server);
        let num_workers = server.shards.len();
        let corpus = self.training.corpus;
        std::thread::scope(|scope| {
            let (reports, inbox) = channel();
            let mut senders: Vec<Sender<(AsyncWorker<Fast>, Job)>> = Vec::new();
            for _ in 0..num_workers {
                let (sender, jobs) = channel::<(AsyncWorker<Fast>, Job)>();
                let (reports, server) = (reports.clone(), &server);
                scope.spawn(move || {
                    for (mut worker, job) in jobs {
                        let found = catch_unwind(AssertUnwindSafe(|| {
                            server.run_batch(&mut worker, corpus, &job)
                        }));
                        if reports.send((worker, job, found)).is_err() {
                            return;
                        }
                    }
                });
                senders.push(sender);
            }
            self.coordinate(task, &senders, &inbox)
        })
    }

    fn coordinate(
        &mut self,
        task: &dyn ProgressBar,
        senders: &[Sender<(AsyncWorker<Fast>, Job)>],
        inbox: &Receiver<Report>,
    ) -> Result<Outcome> {
        let mut coordinator = Coordinator::new(senders.len());
        // Reports that are counted, but whose saves and validations wait for all workers.
        let mut due = Vec::new();
        let mut outcome = None;
        loop {
            if outcome.is_none() {
                outcome = self.is_over();
                coordinator.set_paused(outcome.is_some() || !due.is_empty());
            }
            while let Some(number) = coordinator.next_idle() {
                let worker = self.asynchronous().workers[number].take();
                let worker = worker.expect("an idle worker is not in its thread");
                let job = self.next_job();
                let sent = senders[number].send((worker, job));
                sent.map_err(|_| ()).expect("threads live as long as their channels");
            }
            if coordinator.has_busy_worker() {
                let (worker, job, found) = inbox.recv().expect("a worker will report");
                let number = worker.number;
                coordinator.mark_idle(number);
                self.asynchronous().workers[number] = Some(worker);
                let report = found.unwrap_or_else(|panic| resume_unwind(panic))?;
                let before = self.count_batch(&job, report)?;
                task.set_position(self.shown_progress());
                if !due.is_empty() || self.is_exclusive_due(&before, job.is_epoch_end) {
                    due.push((before, self.state.progress, job.is_epoch_end));
                    coordinator.set_paused(true);
                } else {
                    self.follow_up(&before, job.is_epoch_end)?;
                }
            }
            if coordinator.is_exclusive() {
                // Due reports are handled together: one validation for all updates that arrived
                // during the wait.
                let first = due.first().map(|(before, _, _)| *before);
                let ends_epoch = due.iter().any(|(_, _, is_epoch_end)| *is_epoch_end);
                due.clear();
                if let Some(before) = first
                    && self.follow_up(&before, ends_epoch)?
                {
                    return self.end(Outcome::EarlyStopped);
                }
                match outcome {
                    Some(Outcome::Cancelled) => return Ok(Outcome::Cancelled),
                    Some(outcome) => return self.end(outcome),
                    None => coordinator.set_paused(false),
                }
            }
        }
    }
}

/// The message of a worker after a batch.
type Report = (AsyncWorker<Fast>, Job, std::thread::Result<Result<Option<UpdateReport>>>);
