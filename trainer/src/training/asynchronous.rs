//! Asynchronous training: its batches, workers and shards, over threads or a simulated machine.
//!
//! With threads, the thread of the training hands out batches and counts pushes; a worker goes to
//! its thread with each batch and comes back with the report. Whatever needs the shards as a whole
//! waits until all workers are back. In the simulation everything happens in one thread, in the
//! order of a simulated clock.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use miriam_textio::{Output, Progress as ProgressBar};
use serde::{Deserialize, Serialize};

use super::config::TrainingConfig;
use super::model_files::ModelFiles;
use super::run::{Outcome, Run};
use super::start::warmup_ratio;
use super::updater::Updater;
use crate::asynchronous::simulation::{Clock, Machine, PushRecord, Work};
use crate::asynchronous::{
    AsyncOptions, AsyncSnapshot, AsyncWorker, BatchTerms, Coordinator, Gathered, ParameterShard,
    PushTerms, gather, shard_ranges,
};
use crate::data::ParallelCorpus;
use crate::dropout::Dropout;
use crate::error::{Error, Result};
use crate::kernels::Fast;
use crate::trainable_model::TrainableModel;
use crate::update::{Granule, NormLimit, OptimizerState, UpdateOptions, UpdateReport};

const HEADER: &str = "update,worker,seconds,staleness,bytes,words";

/// A batch that was handed out.
struct Job {
    granules: Vec<Vec<u32>>,
    terms: BatchTerms,
    /// Whether it is the last of its epoch.
    is_epoch_end: bool,
}

/// A job as it is saved; numbers are bits.
#[derive(Serialize, Deserialize)]
struct SavedJob {
    granules: Vec<Vec<u32>>,
    key: [u32; 2],
    rate: u64,
    norm_limit: Option<[u64; 2]>,
    dropping_rate: u64,
    is_epoch_end: bool,
}

/// The simulator as it is saved.
#[derive(Serialize, Deserialize)]
struct SavedSimulation {
    clock: Clock,
    jobs: Vec<Option<SavedJob>>,
}

/// The parameter server: what all workers share.
struct Server {
    model: TrainableModel<Fast>,
    update: UpdateOptions,
    options: AsyncOptions,
    guided_alignment_weight: f64,
    shards: Vec<Mutex<ParameterShard<f32>>>,
}

impl Server {
    /// A shard under its lock. A worker that panicked ends the training, so no state is half done.
    fn lock(&self, shard: usize) -> MutexGuard<'_, ParameterShard<f32>> {
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn terms(&self, job: BatchTerms, words: u64) -> PushTerms<'_> {
        PushTerms {
            update: &self.update,
            momentum: &self.options.momentum,
            gradient_buffer: self.options.gradient_buffer,
            rate: job.rate * self.options.rate_factor(),
            gradient_scale: 1.0,
            words,
        }
    }

    fn compute(
        &self,
        worker: &mut AsyncWorker<Fast>,
        corpus: &ParallelCorpus,
        job: &Job,
    ) -> Result<()> {
        let weight = self.guided_alignment_weight;
        let granules: Vec<Granule<'_>> =
            job.granules.iter().map(|pairs| Granule::of_pairs(corpus, pairs, weight)).collect();
        worker.compute(&self.model, &self.update, &self.options, &granules, job.terms)?;
        if worker.changes_own_shard(&self.options) {
            worker.change_own_shard(&self.options, &mut self.lock(worker.number));
        }
        if worker.needs_push(&self.options) {
            worker.begin_push(&self.update, &self.options, job.terms);
        }
        Ok(())
    }

    /// All steps of a batch in a thread of its own. Gives the report of a push, if one was due.
    fn work(
        &self,
        worker: &mut AsyncWorker<Fast>,
        corpus: &ParallelCorpus,
        job: &Job,
    ) -> Result<Option<UpdateReport>> {
        let count = self.shards.len();
        // Each begins with its own, so that they rarely wait for each other.
        let own_first = |step: usize| (worker.number + step) % count;
        let shards: Vec<usize> = (0..count).map(own_first).collect();
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

/// Where an asynchronous training begins.
pub(super) struct AsyncStart {
    pub values: Vec<f32>,
    pub optimizer: OptimizerState<f32>,
    /// What workers had.
    pub workers: Option<AsyncSnapshot>,
    /// Updates so far.
    pub updates: u64,
}

/// Shards, workers and the simulated machine, if there is one.
pub(super) struct AsyncTrainer {
    server: Arc<Server>,
    /// By number; those that work are in their threads.
    workers: Vec<Option<AsyncWorker<Fast>>>,
    gathered: Gathered<f32>,
    simulation: Option<Simulation>,
}

struct Simulation {
    machine: Machine,
    clock: Clock,
    jobs: Vec<Option<Job>>,
    /// A line for each push.
    pushes: Vec<String>,
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
        let (kernels, num_workers) = (Fast::default(), config.num_async_workers());
        let ranges = shard_ranges(values.len(), num_workers);
        let shard = |range: &std::ops::Range<usize>| {
            ParameterShard::new(range.clone(), &values, &optimizer)
        };
        let mut shards: Vec<ParameterShard<f32>> = ranges.iter().map(shard).collect();
        let worker = |number| {
            let copy = values.clone();
            AsyncWorker::new(number, &model, &kernels, options, &config.update, copy, &ranges)
        };
        let mut workers: Vec<AsyncWorker<Fast>> = (0..num_workers).map(worker).collect();
        let mut simulation = config.machine.clone().map(|machine| Simulation {
            clock: Clock::new(machine.workers),
            jobs: (0..num_workers).map(|_| None).collect(),
            machine,
            pushes: Vec::new(),
        });
        if let Some(snapshot) = snapshot {
            let damaged = |reason: String| {
                let reason = format!("the state of its workers is damaged: {reason}; move it away");
                Error::resume(&files.optimizer(), reason)
            };
            let mut all: Vec<&mut ParameterShard<f32>> = shards.iter_mut().collect();
            let driver = snapshot.restore(&mut all, &mut workers, &model).map_err(damaged)?;
            match (driver, &mut simulation) {
                (None, _) => log(
                    "[training] Another number of workers: they begin with the saved parameters, \
                     and what they had not pushed is left out",
                ),
                (Some(text), Some(simulation)) => {
                    let saved: SavedSimulation =
                        serde_json::from_str(&text).map_err(|e| damaged(e.to_string()))?;
                    simulation.restore(saved, config.dropout).map_err(damaged)?;
                    simulation.read_pushes(&files.simulation(), updates)?;
                }
                (Some(_), None) => {}
            }
        }
        let gathered = gather(shards.iter());
        let server = Server {
            model,
            update: config.update,
            options: options.clone(),
            guided_alignment_weight: config.guided_alignment_weight,
            shards: shards.into_iter().map(Mutex::new).collect(),
        };
        let workers = workers.into_iter().map(Some).collect();
        Ok(AsyncTrainer { server: Arc::new(server), workers, gathered, simulation })
    }

    pub fn model(&self) -> &TrainableModel<Fast> {
        &self.server.model
    }

    pub fn gathered(&self) -> &Gathered<f32> {
        &self.gathered
    }

    fn locked(&self) -> Vec<MutexGuard<'_, ParameterShard<f32>>> {
        (0..self.server.shards.len()).map(|shard| self.server.lock(shard)).collect()
    }

    pub fn gather(&mut self) {
        let gathered = gather(self.locked().iter().map(|shard| &**shard));
        self.gathered = gathered;
    }

    pub fn reset_optimizer(&mut self) {
        self.locked().iter_mut().for_each(|shard| shard.state.reset());
    }

    pub fn replace_with_smoothed(&mut self) {
        self.locked().iter_mut().for_each(|shard| shard.replace_with_smoothed());
    }

    /// What workers have of their own; all stand between two steps.
    pub fn snapshot(&self) -> AsyncSnapshot {
        let workers: Vec<&AsyncWorker<Fast>> = self.workers.iter().flatten().collect();
        let driver = self.simulation.as_ref().map_or(String::new(), |simulation| {
            let jobs = simulation.jobs.iter().map(|job| job.as_ref().map(SavedJob::new)).collect();
            let saved = SavedSimulation { clock: simulation.clock.clone(), jobs };
            serde_json::to_string(&saved).expect("plain data is JSON")
        });
        let shards = self.locked();
        AsyncSnapshot::take(shards.iter().map(|shard| &**shard), &workers, driver)
    }

    pub fn save_pushes(&self, path: &Path) -> Result<()> {
        let Some(simulation) = &self.simulation else { return Ok(()) };
        let mut output = Output::create_atomic(path)?;
        output.write(format!("{HEADER}\n{}", simulation.pushes.concat()).as_bytes())?;
        output.finish()?;
        Ok(())
    }
}

impl SavedJob {
    fn new(job: &Job) -> Self {
        let BatchTerms { dropout, rate, norm_limit, dropping_rate } = job.terms;
        SavedJob {
            granules: job.granules.clone(),
            key: dropout.key,
            rate: rate.to_bits(),
            norm_limit: norm_limit
                .map(|NormLimit { limit, average }| [limit.to_bits(), average.to_bits()]),
            dropping_rate: dropping_rate.to_bits(),
            is_epoch_end: job.is_epoch_end,
        }
    }

    fn restore(self, dropout: Dropout) -> Job {
        let number = f64::from_bits;
        Job {
            granules: self.granules,
            terms: BatchTerms {
                dropout: Dropout { key: self.key, ..dropout },
                rate: number(self.rate),
                norm_limit: self.norm_limit.map(|[limit, average]| NormLimit {
                    limit: number(limit),
                    average: number(average),
                }),
                dropping_rate: number(self.dropping_rate),
            },
            is_epoch_end: self.is_epoch_end,
        }
    }
}

impl Simulation {
    fn restore(
        &mut self,
        saved: SavedSimulation,
        dropout: Dropout,
    ) -> std::result::Result<(), String> {
        let workers = self.jobs.len();
        if saved.clock.num_workers() != workers || saved.jobs.len() != workers {
            return Err("the clock is of another number of workers".into());
        }
        self.clock = saved.clock;
        let restore = |job: Option<SavedJob>| job.map(|job| job.restore(dropout));
        self.jobs = saved.jobs.into_iter().map(restore).collect();
        Ok(())
    }

    /// Reads the pushes of the updates so far; those after the last save come again.
    fn read_pushes(&mut self, path: &Path, updates: u64) -> Result<()> {
        let text = std::fs::read_to_string(path)
            .map_err(|e| miriam_storage::Error::io(path, "read", e))?;
        let lines = text.lines().skip(1).take(updates as usize);
        self.pushes = lines.map(|line| format!("{line}\n")).collect();
        Ok(())
    }
}

impl Run<'_, '_> {
    fn asynchronous(&mut self) -> &mut AsyncTrainer {
        match &mut self.trainer {
            Updater::Asynchronous(trainer) => trainer,
            Updater::Synchronous(_) => unreachable!("the training is asynchronous"),
        }
    }

    /// The next batch for a worker.
    fn next_job(&mut self) -> Job {
        let config = self.training.config;
        let ratio = warmup_ratio(config, &self.state.progress);
        let mut granules = Vec::new();
        self.source.next_batch(ratio, &mut granules);
        self.state.epoch_batches += 1;
        let dropping = config.asynchronous.as_ref().and_then(|options| options.dropping.as_ref());
        let terms = BatchTerms {
            dropout: self.dropout(),
            rate: self.rate(),
            norm_limit: self.norm_limit(),
            dropping_rate: dropping.map_or(0.0, |d| d.rates.at(&self.state.progress)),
        };
        Job { granules, terms, is_epoch_end: self.source.is_at_epoch_end() }
    }

    fn is_over(&self) -> Option<Outcome> {
        match self.is_at_limit() {
            true => Some(Outcome::Finished),
            false => self.training.stop.is_cancelled().then_some(Outcome::Cancelled),
        }
    }

    /// Counts what a batch did. Gives the progress before it.
    fn count_batch(
        &mut self,
        job: &Job,
        report: Option<UpdateReport>,
    ) -> Result<super::progress::Progress> {
        let before = self.state.progress;
        match report {
            Some(report) => {
                let factor = self.asynchronous().server.options.rate_factor();
                self.count_update(&report, job.terms.rate * factor)?;
            }
            None => self.state.position = self.source.position().clone(),
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
            let mut desks: Vec<Sender<(AsyncWorker<Fast>, Job)>> = Vec::new();
            for _ in 0..num_workers {
                let (desk, jobs) = channel::<(AsyncWorker<Fast>, Job)>();
                let (reports, server) = (reports.clone(), &server);
                scope.spawn(move || {
                    for (mut worker, job) in jobs {
                        let work = || server.work(&mut worker, corpus, &job);
                        let found = catch_unwind(AssertUnwindSafe(work));
                        if reports.send((worker, job, found)).is_err() {
                            return;
                        }
                    }
                });
                desks.push(desk);
            }
            self.coordinate(task, &desks, &inbox)
        })
    }

    fn coordinate(
        &mut self,
        task: &dyn ProgressBar,
        desks: &[Sender<(AsyncWorker<Fast>, Job)>],
        inbox: &Receiver<Report>,
    ) -> Result<Outcome> {
        let mut coordinator = Coordinator::new(desks.len());
        // Reports that are counted, but what follows from them waits for all workers.
        let mut due = Vec::new();
        let mut outcome = None;
        loop {
            if outcome.is_none() {
                outcome = self.is_over();
                coordinator.set_pauses(outcome.is_some() || !due.is_empty());
            }
            while let Some(number) = coordinator.next_idle() {
                let worker = self.asynchronous().workers[number].take();
                let worker = worker.expect("an idle worker is here");
                let job = self.next_job();
                let sent = desks[number].send((worker, job));
                sent.map_err(|_| ()).expect("threads live as long as their desks");
            }
            if coordinator.has_work() {
                let (worker, job, found) = inbox.recv().expect("a worker will report");
                let number = worker.number;
                coordinator.has_reported(number);
                self.asynchronous().workers[number] = Some(worker);
                let report = found.unwrap_or_else(|panic| resume_unwind(panic))?;
                let before = self.count_batch(&job, report)?;
                task.set_position(self.state.progress.updates);
                if !due.is_empty() || self.is_exclusive_due(&before, job.is_epoch_end) {
                    due.push((before, self.state.progress, job.is_epoch_end));
                    coordinator.set_pauses(true);
                } else {
                    self.follow_up(&before, job.is_epoch_end)?;
                }
            }
            if coordinator.is_exclusive() {
                // Together: one validation for updates that came while workers were waited for.
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
                    None => coordinator.set_pauses(false),
                }
            }
        }
    }

    /// Trains on the simulated machine.
    pub(super) fn train_simulated(&mut self, task: &dyn ProgressBar) -> Result<Outcome> {
        loop {
            if let Some(outcome) = self.is_over() {
                let is_cancelled = outcome == Outcome::Cancelled;
                return if is_cancelled { Ok(outcome) } else { self.end(outcome) };
            }
            let simulation = self.asynchronous().simulation.as_mut().expect("a machine");
            let (machine, workers) = (simulation.machine.clone(), simulation.jobs.len());
            let mut clock = std::mem::replace(&mut simulation.clock, Clock::new(workers));
            let mut step = Step { run: self, follows: None };
            let stepped = clock.step(&machine, &mut step);
            let follows = step.follows;
            // What follows may save: the clock must be there.
            self.asynchronous().simulation.as_mut().expect("a machine").clock = clock;
            stepped?;
            if let Some((before, is_epoch_end)) = follows {
                task.set_position(self.state.progress.updates);
                if self.follow_up(&before, is_epoch_end)? {
                    return self.end(Outcome::EarlyStopped);
                }
            }
        }
    }
}

/// What a worker brings back.
type Report = (AsyncWorker<Fast>, Job, std::thread::Result<Result<Option<UpdateReport>>>);

/// A step of the simulation, in which workers do their work.
struct Step<'r, 'a, 'l> {
    run: &'r mut Run<'a, 'l>,
    /// What was counted, of which the rest follows after the step.
    follows: Option<(super::progress::Progress, bool)>,
}

impl Step<'_, '_, '_> {
    fn trainer(&self) -> &AsyncTrainer {
        match &self.run.trainer {
            Updater::Asynchronous(trainer) => trainer,
            Updater::Synchronous(_) => unreachable!("the training is asynchronous"),
        }
    }

    fn worker(&self, worker: usize) -> &AsyncWorker<Fast> {
        self.trainer().workers[worker].as_ref().expect("in a simulation all are here")
    }

    fn dropping_rate(&self) -> f64 {
        let dropping = self.trainer().server.options.dropping.as_ref();
        dropping.map_or(0.0, |dropping| dropping.rates.at(&self.run.state.progress))
    }

    fn range(&self, shard: usize) -> std::ops::Range<usize> {
        self.trainer().server.lock(shard).range.clone()
    }

    fn job(&mut self, worker: usize) -> &mut Option<Job> {
        let trainer = self.run.asynchronous();
        &mut trainer.simulation.as_mut().expect("a machine").jobs[worker]
    }

    /// Does something with a worker and the server.
    fn with<T>(
        &mut self,
        worker: usize,
        body: impl FnOnce(&mut AsyncWorker<Fast>, &Server) -> T,
    ) -> T {
        let trainer = self.run.asynchronous();
        let worker = trainer.workers[worker].as_mut().expect("in a simulation all are here");
        body(worker, &trainer.server)
    }
}

impl Work for Step<'_, '_, '_> {
    type Error = Error;

    fn needs_fetch(&self, worker: usize) -> bool {
        self.worker(worker).needs_fetch()
    }

    fn fetch_bytes(&self, worker: usize, shard: usize) -> u64 {
        let options = &self.trainer().server.options;
        self.worker(worker).fetch_bytes(options, &self.range(shard), self.dropping_rate())
    }

    fn fetch(&mut self, worker: usize, shard: usize) {
        let rate = self.dropping_rate();
        self.with(worker, |worker, server| {
            worker.fetch(&server.options, shard, &server.lock(shard), rate);
        });
    }

    fn begin(&mut self, worker: usize) -> Result<Option<u64>> {
        if self.worker(worker).needs_fetch() {
            self.with(worker, |worker, server| worker.end_fetch(&server.model));
        }
        let job = self.run.next_job();
        let pairs = job.granules.iter().flatten();
        let corpus = self.run.training.corpus;
        let words = pairs.map(|&pair| corpus.target(pair as usize).len() as u64).sum();
        *self.job(worker) = Some(job);
        Ok(Some(words))
    }

    fn compute(&mut self, worker: usize) -> Result<bool> {
        let corpus = self.run.training.corpus;
        let job = self.job(worker).take().expect("a batch was begun");
        let pushes = self.with(worker, |worker, server| {
            server.compute(worker, corpus, &job)?;
            Ok::<_, Error>(worker.needs_push(&server.options))
        })?;
        if pushes {
            *self.job(worker) = Some(job);
        } else {
            let before = self.run.count_batch(&job, None)?;
            self.follows = Some((before, job.is_epoch_end));
        }
        Ok(pushes)
    }

    fn push_bytes(&self, worker: usize, shard: usize) -> u64 {
        self.worker(worker).push_bytes(&self.range(shard))
    }

    fn push(&mut self, worker: usize, shard: usize) -> u64 {
        let job = self.job(worker).as_ref().expect("a batch was begun").terms;
        self.with(worker, |worker, server| {
            let terms = server.terms(job, worker.words());
            worker.push(shard, &mut server.lock(shard), terms)
        })
    }

    fn end_push(&mut self, push: PushRecord) -> Result<()> {
        let PushRecord { worker, seconds, staleness, bytes } = push;
        let job = self.job(worker).take().expect("a batch was begun");
        let report = self.with(worker, |worker, _| worker.end_push());
        let words = report.target_tokens;
        let before = self.run.count_batch(&job, Some(report))?;
        let update = self.run.state.progress.updates;
        let trainer = self.run.asynchronous();
        let staleness = staleness as f64 / trainer.workers.len() as f64;
        let simulation = trainer.simulation.as_mut().expect("a machine");
        let line = format!("{update},{worker},{seconds},{staleness},{bytes},{words}\n");
        simulation.pushes.push(line);
        self.follows = Some((before, job.is_epoch_end));
        Ok(())
    }
}
