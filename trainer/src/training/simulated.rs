//! Asynchronous training on a simulated machine, and its saved state. The workers and shards of a
//! threaded training act in one thread, in the order of a simulated clock.

use miriam_textio::Progress as ProgressBar;
use serde::{Deserialize, Serialize};

use super::asynchronous::AsyncTrainer;
use super::parameter_server::{Job, Server};
use super::push_table::PushTable;
use super::run::{Outcome, Run};
use super::updater::Updater;
use crate::asynchronous::simulation::{Clock, Machine, PushRecord, Work};
use crate::asynchronous::{AsyncWorker, BatchTerms};
use crate::dropout::Dropout;
use crate::error::{Error, Result};
use crate::kernels::Fast;
use crate::progress::Progress;
use crate::update::{FlexibleRate, NormLimit};

/// The saved form of a job; floats are stored as bits.
#[derive(Serialize, Deserialize)]
struct SavedJob {
    micro_batches: Vec<Vec<u32>>,
    key: [u32; 2],
    rate: u64,
    /// The normal words of a flexible rate, as bits, or 0 if not known yet; absent if rates are not
    /// flexible.
    #[serde(default)]
    normal_words: Option<u64>,
    norm_limit: Option<[u64; 2]>,
    dropping_rate: u64,
    /// The number of the batch's epoch; 0 in files of earlier versions.
    #[serde(default)]
    epoch: u64,
    is_epoch_end: bool,
}

/// The saved form of the simulator.
#[derive(Serialize, Deserialize)]
struct SavedSimulation {
    clock: Clock,
    jobs: Vec<Option<SavedJob>>,
}

/// A simulated machine with its clock, its jobs and its pushes.
pub(super) struct Simulation {
    machine: Machine,
    clock: Clock,
    jobs: Vec<Option<Job>>,
    /// The pushes, each as `update,worker,seconds,staleness,bytes,words`.
    pub pushes: PushTable,
}

impl SavedJob {
    fn new(job: &Job) -> Self {
        let BatchTerms { dropout, rate, flexible_rate, norm_limit, dropping_rate } = job.terms;
        SavedJob {
            micro_batches: job.micro_batches.clone(),
            key: dropout.key,
            rate: rate.to_bits(),
            normal_words: flexible_rate.map(|rate| rate.normal_words.map_or(0, f64::to_bits)),
            norm_limit: norm_limit
                .map(|NormLimit { limit, average }| [limit.to_bits(), average.to_bits()]),
            dropping_rate: dropping_rate.to_bits(),
            epoch: job.epoch,
            is_epoch_end: job.is_epoch_end,
        }
    }

    fn restore(self, dropout: Dropout, delay: usize) -> Job {
        let number = f64::from_bits;
        Job {
            micro_batches: self.micro_batches,
            terms: BatchTerms {
                dropout: Dropout { key: self.key, ..dropout },
                rate: number(self.rate),
                flexible_rate: self.normal_words.map(|words| FlexibleRate {
                    normal_words: (words != 0).then(|| number(words)),
                }),
                norm_limit: self.norm_limit.map(|[limit, average]| NormLimit {
                    limit: number(limit),
                    average: number(average),
                }),
                dropping_rate: number(self.dropping_rate),
            },
            batches: delay,
            epoch: self.epoch,
            is_epoch_end: self.is_epoch_end,
        }
    }
}

impl Simulation {
    pub fn new(machine: Machine) -> Self {
        let jobs = (0..machine.workers).map(|_| None).collect();
        Simulation { clock: Clock::new(machine.workers), jobs, machine, pushes: PushTable::new() }
    }

    /// Returns the clock and the jobs, as [`Simulation::restore`] reads them.
    pub fn saved(&self) -> String {
        let jobs = self.jobs.iter().map(|job| job.as_ref().map(SavedJob::new)).collect();
        let saved = SavedSimulation { clock: self.clock.clone(), jobs };
        serde_json::to_string(&saved).expect("plain data is JSON")
    }

    /// Restores the state that was saved as `text`; `delay` is the number of batches of a push.
    ///
    /// # Errors
    /// If the text is damaged or for another number of workers, with the reason.
    pub fn restore(
        &mut self,
        text: &str,
        dropout: Dropout,
        delay: usize,
    ) -> std::result::Result<(), String> {
        let saved: SavedSimulation = serde_json::from_str(text).map_err(|e| e.to_string())?;
        let workers = self.jobs.len();
        if saved.clock.num_workers() != workers || saved.jobs.len() != workers {
            return Err("the clock is for another number of workers".into());
        }
        self.clock = saved.clock;
        let jobs = saved.jobs.into_iter();
        self.jobs = jobs.map(|job| job.map(|job| job.restore(dropout, delay))).collect();
        Ok(())
    }
}

impl Run<'_, '_> {
    /// Trains on the simulated machine.
    pub(super) fn train_simulated(&mut self, task: &dyn ProgressBar) -> Result<Outcome> {
        loop {
            if let Some(outcome) = self.is_over() {
                let is_cancelled = outcome == Outcome::Cancelled;
                return if is_cancelled { Ok(outcome) } else { self.end(outcome) };
            }
            // The tasks after the step may save the training, which needs the clock.
            let follows = self.with_clock(|clock, machine, step| {
                clock.step(machine, step)?;
                Ok(step.follows)
            })?;
            if let Some((before, is_epoch_end)) = follows {
                task.set_position(self.shown_progress());
                if self.follow_up(&before, is_epoch_end)? {
                    return self.end(Outcome::EarlyStopped);
                }
            }
        }
    }

    /// Ends the batches of the last epoch and the pushes that are under way, and pushes gradients
    /// that wait for more batches. Batches of the next epoch are given up.
    pub(super) fn end_simulation(&mut self) -> Result<()> {
        self.with_clock(|clock, machine, step| clock.finish(machine, step))
    }

    /// Calls `act` with the clock, which is taken out of the training meanwhile.
    fn with_clock<T>(
        &mut self,
        act: impl FnOnce(&mut Clock, &Machine, &mut Step<'_, '_, '_>) -> Result<T>,
    ) -> Result<T> {
        let simulation = self.asynchronous().simulation.as_mut().expect("a machine");
        let (machine, workers) = (simulation.machine.clone(), simulation.jobs.len());
        let mut clock = std::mem::replace(&mut simulation.clock, Clock::new(workers));
        let result = act(&mut clock, &machine, &mut Step { run: self, follows: None });
        self.asynchronous().simulation.as_mut().expect("a machine").clock = clock;
        result
    }
}

/// A step of the simulation, in which a worker acts.
struct Step<'r, 'a, 'l> {
    run: &'r mut Run<'a, 'l>,
    /// The progress before the step and whether an epoch ended, for the tasks that follow the step.
    follows: Option<(Progress, bool)>,
}

impl Step<'_, '_, '_> {
    fn trainer(&self) -> &AsyncTrainer {
        match &self.run.trainer {
            Updater::Asynchronous(trainer) => trainer,
            Updater::Synchronous(_) => unreachable!("the training is asynchronous"),
        }
    }

    fn worker(&self, worker: usize) -> &AsyncWorker<Fast> {
        self.trainer().workers[worker].as_ref().expect("a simulation keeps all workers")
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

    /// Calls a function with a worker and the server.
    fn with<T>(
        &mut self,
        worker: usize,
        body: impl FnOnce(&mut AsyncWorker<Fast>, &Server) -> T,
    ) -> T {
        let trainer = self.run.asynchronous();
        let worker = trainer.workers[worker].as_mut().expect("a simulation keeps all workers");
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
        let pairs = job.micro_batches.iter().flatten();
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

    fn needs_batch(&self, worker: usize) -> bool {
        let simulation = self.trainer().simulation.as_ref().expect("a machine");
        let job = simulation.jobs[worker].as_ref();
        job.is_some_and(|job| job.epoch < self.run.state.progress.epoch)
    }

    fn begin_last_push(&mut self, worker: usize) -> bool {
        let job = self.run.begin_last_push(worker);
        let has_gradient = job.is_some();
        *self.job(worker) = job;
        has_gradient
    }

    fn push_bytes(&self, worker: usize, shard: usize) -> u64 {
        self.worker(worker).push_bytes(&self.range(shard))
    }

    fn push(&mut self, worker: usize, shard: usize) -> u64 {
        let batch = self.job(worker).as_ref().expect("a batch was begun").terms;
        self.with(worker, |worker, server| {
            let terms = server.push_terms(worker, batch);
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
        let table = &mut simulation.pushes;
        table.push(format_args!("{update},{worker},{seconds},{staleness},{bytes},{words}"));
        self.follows = Some((before, job.is_epoch_end));
        Ok(())
    }
}
