//! The loop of training: updates, validation, saving, stopping.

use std::path::Path;

use miriam_nmt::architecture::{Architecture, marian_options};
use miriam_storage::hash::hash64;
use miriam_textio::{CancellationToken, Progress as ProgressBar};

use super::checkpoint::{
    Identity, ModelFiles, SavedTraining, TrainingState, check_identity, load_optimizer, save_model,
    save_optimizer,
};
use super::config::{StoppingRule, TrainingConfig, ValidationReset};
use super::curves::{Curves, LOSS, RATE};
use super::divergence::{Divergence, LossAverages};
use super::log::Display;
use super::marian_progress::marian_progress;
use super::memory::{GranuleLimit, MemoryUse};
use super::progress::{Progress, Span, Unit};
use super::schedule::{Event, ScheduleState};
use super::validation::{MetricState, ValidationSet, reset_metrics};
use crate::data::{BatchPosition, BatchReader, ParallelCorpus};
use crate::dropout::Dropout;
use crate::error::{Error, Result};
use crate::init::initial_values;
use crate::kernels::Fast;
use crate::model::TrainableModel;
use crate::update::{Granule, OptimizerState, SynchronousTrainer};

/// Why a training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A limit was reached.
    Finished,
    /// Validation has not improved for too long.
    EarlyStopped,
    /// It was cancelled; its state is saved.
    Cancelled,
    /// It had ended before.
    AlreadyFinished,
}

/// What a training needs beside its configuration.
pub struct Training<'a> {
    /// The configuration.
    pub config: &'a TrainingConfig,
    /// The corpus.
    pub corpus: &'a ParallelCorpus,
    /// The validation set, if there is one.
    pub validation: Option<&'a ValidationSet>,
    /// The files to write.
    pub files: &'a ModelFiles,
    /// A model to begin with instead of random values, a flat vector.
    pub pretrained: Option<Vec<f32>>,
    /// A fingerprint of the vocabularies.
    pub vocabularies: u64,
    /// A folder for the curves of the training, if they are wanted.
    pub plot: Option<&'a Path>,
    /// Cancels the training after an update.
    pub stop: &'a CancellationToken,
    /// Shows progress.
    pub progress: &'a dyn ProgressBar,
}

impl Training<'_> {
    /// Whether files of a training before are of this one.
    ///
    /// # Errors
    /// With what differs, or if they are damaged.
    pub fn check(&self) -> Result<()> {
        check_identity(&self.files.optimizer(), &self.identity()?)
    }

    /// Trains from where the files say that it was, or from the beginning. `log` gets the lines
    /// of the log.
    ///
    /// # Errors
    /// If files cannot be read or written, do not fit, or the loss diverges.
    pub fn run(&mut self, log: &mut dyn FnMut(&str)) -> Result<Outcome> {
        let pretrained = self.pretrained.take();
        let mut run = Run::new(self, pretrained, log)?;
        // Limits may have been raised since.
        if run.state.is_finished && (run.is_at_limit() || run.is_stalled()) {
            run.save_derived()?;
            return Ok(Outcome::AlreadyFinished);
        }
        if run.state.progress.updates > 0 && !run.has_derived_files() {
            // A run that was killed may have saved the optimiser's file alone.
            run.save_derived()?;
        }
        run.state.is_finished = false;
        let outcome = run.train()?;
        run.state.is_finished = outcome != Outcome::Cancelled;
        run.save()?;
        Ok(outcome)
    }

    fn identity(&self) -> Result<Identity> {
        let mut options = self.config.options_of_updates();
        if self.corpus.has_links() {
            let weight = self.config.guided_alignment_weight.to_string();
            options.push(("guided-alignment-weight".into(), weight));
        }
        Ok(Identity {
            corpus: self.corpus.fingerprint(),
            vocabularies: self.vocabularies,
            architecture: architecture_fingerprint(&self.config.architecture)?,
            options,
        })
    }
}

/// A hash of an architecture by Marian's options, which stay when this program changes.
fn architecture_fingerprint(architecture: &Architecture) -> Result<u64> {
    let options = marian_options(architecture, Path::new("(the model in training)"))?;
    // The version says who has written them.
    let lines: Vec<&str> = options.lines().filter(|line| !line.starts_with("version:")).collect();
    Ok(hash64(lines.join("\n").as_bytes()))
}

/// A training under way.
struct Run<'a, 'l> {
    training: &'a Training<'a>,
    trainer: SynchronousTrainer<Fast>,
    reader: BatchReader<'a>,
    state: TrainingState,
    display: Display,
    /// The learning rate of the last update.
    last_rate: f64,
    divergence: Divergence,
    curves: Curves,
    /// Whether no update has been made yet in this run.
    is_at_start: bool,
    log: &'l mut dyn FnMut(&str),
}

impl<'a, 'l> Run<'a, 'l> {
    fn new(
        training: &'a Training<'a>,
        pretrained: Option<Vec<f32>>,
        log: &'l mut dyn FnMut(&str),
    ) -> Result<Self> {
        let config = training.config;
        let model = TrainableModel::<Fast>::new(config.architecture.clone())?;
        let identity = training.identity()?;
        let path = training.files.optimizer();
        let saved = load_optimizer(&path, config.update.rule, model.layout(), &identity)?;
        let SavedTraining { values, optimizer, state } = match saved {
            Some(saved) => {
                log(&format!("[training] Going on after {} updates", saved.state.progress.updates));
                let mut state = saved.state;
                reset_metrics(&mut state.metrics, config.validation.reset);
                if config.validation.reset != ValidationReset::Nothing {
                    state.schedule.max_stalled = 0;
                }
                SavedTraining { state, ..saved }
            }
            None => {
                let values = pretrained.unwrap_or_else(|| {
                    initial_values(&config.architecture, config.seed, config.depth_scaling)
                });
                let metrics = config.validation.metrics.iter();
                SavedTraining {
                    optimizer: OptimizerState::new(&config.update, &values),
                    values,
                    state: TrainingState {
                        progress: Progress { updates: 0, labels: 0, epoch: 1 },
                        position: BatchPosition {
                            size_ratio: warmup_ratio(config, &Progress::default()),
                            ..BatchPosition::default()
                        },
                        schedule: ScheduleState::default(),
                        divergence: LossAverages::default(),
                        validated_at: 0,
                        metrics: metrics
                            .map(|metric| (metric.name().into(), MetricState::new(*metric)))
                            .collect(),
                        is_finished: false,
                        sentences: 0,
                        epoch_batches: 0,
                        identity,
                    },
                }
            }
        };
        if !training.corpus.is_empty() {
            let validates = training.validation.is_some();
            let memory = MemoryUse::count(config, &model, training.corpus, &optimizer, validates)?;
            log(&memory.describe(config.workers));
        }
        let reader = BatchReader::new(training.corpus, config.batches, state.position.clone())
            .map_err(Error::Config)?;
        let trainer = SynchronousTrainer::new(
            model,
            Fast::default(),
            config.update,
            values,
            optimizer,
            config.workers,
        );
        let display = Display::new(state.sentences);
        let divergence = Divergence::new(config.divergence, state.divergence);
        let curves = Curves::open(training.plot, &state.progress)?;
        Ok(Run {
            training,
            trainer,
            reader,
            state,
            display,
            last_rate: 0.0,
            divergence,
            curves,
            is_at_start: true,
            log,
        })
    }

    fn train(&mut self) -> Result<Outcome> {
        let training = self.training;
        let config = training.config;
        let total = config.limits.spans.iter().find(|span| span.unit == Unit::Updates);
        let task = training.progress.task("training", total.map(|span| span.count));
        loop {
            if self.is_at_limit() {
                return self.end(Outcome::Finished);
            }
            if training.stop.is_cancelled() {
                return Ok(Outcome::Cancelled);
            }
            let before = self.state.progress;
            let is_epoch_end = self.update()?;
            task.set_position(self.state.progress.updates);
            let mut reached = self.state.progress;
            reached.epoch += u64::from(is_epoch_end);
            self.display(&before, &reached);
            let mut stops = false;
            if training.validation.is_some() && reached.passed(&before, config.validation.frequency)
            {
                let stalls = self.stalls();
                self.validate()?;
                self.state.validated_at = self.state.progress.updates;
                if self.stalls() > stalls {
                    self.follow(Event::Stalled(self.stalls()));
                }
                stops = self.is_stalled();
            }
            if is_epoch_end {
                (self.log)(&format!("Seen {} epochs", self.state.progress.epoch));
                self.state.progress.epoch += 1;
                self.follow(Event::EpochEnd);
                self.display.sentences = 0;
                (self.state.sentences, self.state.epoch_batches) = (0, 0);
            }
            if stops {
                return self.end(Outcome::EarlyStopped);
            }
            if self.state.progress.passed(&before, config.save_frequency) {
                self.save()?;
            }
        }
    }

    /// The last validation, if training does not end with one. It is not remembered: where a
    /// limit is raised, training goes on as if it had never been there.
    fn end(&mut self, outcome: Outcome) -> Result<Outcome> {
        let updates = self.state.progress.updates;
        let just_validated = self.state.validated_at == updates;
        if outcome == Outcome::Finished && !just_validated && updates > 0 {
            let metrics = self.state.metrics.clone();
            self.validate()?;
            self.state.metrics = metrics;
        }
        (self.log)("Training finished");
        Ok(outcome)
    }

    /// Makes one update. Gives whether it has ended an epoch.
    fn update(&mut self) -> Result<bool> {
        let training = self.training;
        let config = training.config;
        let ratio = warmup_ratio(config, &self.state.progress);
        let mut granules = Vec::new();
        let mut is_epoch_end = false;
        for _ in 0..config.optimizer_delay.max(1) {
            let batch = self.reader.next_batch(ratio);
            split_into_granules(training.corpus, batch, config, &mut granules);
            self.state.epoch_batches += 1;
            is_epoch_end |= self.reader.is_at_epoch_end();
            if is_epoch_end {
                break;
            }
        }
        let epoch = self.reader.position().epoch;
        let seed = config.seed;
        let dropout =
            Dropout { key: [seed as u32 ^ (seed >> 32) as u32, epoch as u32], ..config.dropout };
        let rate = config.schedule.rate_at(&self.state.schedule, &self.state.progress);
        let report = self.trainer.update(&granules, dropout, rate)?;
        let before = self.state.progress;
        self.state.progress.updates += 1;
        self.state.progress.labels += report.target_tokens as u64;
        self.state.position = self.reader.position().clone();
        self.display.add(&report);
        self.last_rate = rate;
        if report.is_skipped {
            (self.log)("The gradient is not finite; the update is skipped");
        } else {
            let loss = report.loss / report.loss_count.max(1.0);
            self.divergence.follow(loss).map_err(Error::Diverged)?;
            self.state.divergence = self.divergence.averages();
        }
        let is_first = std::mem::replace(&mut self.is_at_start, false);
        self.follow(Event::Update { before, is_first });
        self.state.sentences = self.display.sentences;
        Ok(is_epoch_end)
    }

    /// Logs the updates since the last line, if that is due.
    fn display(&mut self, before: &Progress, reached: &Progress) {
        let (config, progress) = (self.training.config, self.state.progress);
        if progress.updates <= config.display_first
            || reached.passed(before, config.display_frequency)
        {
            self.curves.add(&progress, LOSS, self.display.loss());
            self.curves.add(&progress, RATE, self.last_rate);
            // The rate of the next update, as in Marian's log.
            let next_rate = config.schedule.rate_at(&self.state.schedule, &progress);
            let line = self.display.take_line(&progress, next_rate);
            (self.log)(&line);
        }
    }

    fn follow(&mut self, event: Event) {
        let TrainingState { schedule, progress, .. } = &mut self.state;
        if self.training.config.schedule.follow(schedule, progress, event) {
            self.trainer.reset_optimizer();
        }
    }

    /// Validates the model.
    fn validate(&mut self) -> Result<()> {
        let training = self.training;
        let Some(set) = training.validation else { return Ok(()) };
        let config = training.config;
        let mut options = config.validation.clone();
        options.translation_output =
            options.translation_path(&self.state.progress, self.state.epoch_batches);
        let layout = self.trainer.model().layout().clone();
        let values = self.trainer.smoothed_values();
        let found =
            set.validate(&options, &config.architecture, &layout, values, config.workers)?;
        let Progress { updates, epoch, .. } = self.state.progress;
        let metrics = options.metrics.iter().zip(&options.epsilons);
        for ((&metric, &epsilon), value) in metrics.zip(found) {
            let name = metric.name();
            let states = &mut self.state.metrics;
            let index = match states.iter().position(|(known, _)| known == name) {
                Some(index) => index,
                None => {
                    states.push((name.into(), MetricState::new(metric)));
                    states.len() - 1
                }
            };
            let state = &mut states[index].1;
            let is_best = state.follow(metric, value, epsilon);
            self.curves.add(&self.state.progress, name, value);
            let remark = match state.stalled {
                0 => "new best".into(),
                times => format!("stalled {times} times (last best: {:.6})", state.best()),
            };
            (self.log)(&format!(
                "[valid] Ep. {epoch} : Up. {updates} : {name} : {value:.6} : {remark}"
            ));
            if is_best && options.keeps_best {
                let path = training.files.best(name);
                let values = self.trainer.smoothed_values();
                save_model(&path, &config.architecture, &layout, values)?;
            }
        }
        Ok(())
    }

    /// The number of stalls in turn that decides when training stops.
    fn stalls(&self) -> u64 {
        let options = &self.training.config.validation;
        let stalls = options.metrics.iter().filter_map(|metric| {
            let states = &self.state.metrics;
            states.iter().find(|(name, _)| name == metric.name()).map(|(_, s)| s.stalled)
        });
        let deciding = match options.stopping_rule {
            StoppingRule::First => { stalls }.next(),
            StoppingRule::All => stalls.min(),
            StoppingRule::Any => stalls.max(),
        };
        deciding.unwrap_or(0)
    }

    /// Whether validation has not improved for too long.
    fn is_stalled(&self) -> bool {
        let allowed = self.training.config.validation.early_stopping;
        allowed > 0 && self.stalls() >= allowed
    }

    fn is_at_limit(&self) -> bool {
        let progress = &self.state.progress;
        let reached = |span: &Span| match span.unit {
            _ if span.is_zero() => false,
            // An epoch is over when the next one has begun.
            Unit::Epochs => progress.epoch > span.count,
            unit => progress.in_unit(unit) >= span.count,
        };
        self.training.config.limits.spans.iter().any(reached)
    }

    /// Saves the training and what is derived from it.
    fn save(&mut self) -> Result<()> {
        let config = self.training.config;
        let path = self.training.files.optimizer();
        let state = self.trainer.state();
        // Curves first: what they have beyond the saved state is left out where training goes on.
        self.curves.save()?;
        save_optimizer(&path, config.update.rule, self.trainer.values(), state, &self.state)?;
        self.save_derived()
    }

    fn save_derived(&mut self) -> Result<()> {
        let TrainingConfig { architecture, overwrites, .. } = self.training.config;
        let (files, progress) = (self.training.files, self.state.progress);
        let layout = self.trainer.model().layout();
        let values = self.trainer.smoothed_values();
        let save = |path: &Path| save_model(path, architecture, layout, values);
        save(&files.model)?;
        if !overwrites && !self.state.is_finished {
            save(&files.of_update(progress.updates))?;
        }
        let mut output = miriam_textio::Output::create_atomic(&files.progress())?;
        output.write(self.progress_text().as_bytes())?;
        output.finish()?;
        (self.log)(&format!("Saved {}", files.model.display()));
        Ok(())
    }

    /// Marian's file of progress, the last one to be written.
    fn progress_text(&self) -> String {
        let TrainingConfig { schedule, seed, .. } = self.training.config;
        let eta = schedule.rate_at(&self.state.schedule, &self.state.progress);
        marian_progress(&self.state, eta, schedule.warmup, *seed)
    }

    /// Whether the files that [`save_derived`](Self::save_derived) writes are those of this
    /// state.
    fn has_derived_files(&self) -> bool {
        let files = self.training.files;
        let needs_copy = !self.training.config.overwrites && !self.state.is_finished;
        files.model.is_file()
            && (!needs_copy || files.of_update(self.state.progress.updates).is_file())
            && std::fs::read(files.progress())
                .is_ok_and(|found| found == self.progress_text().as_bytes())
    }
}

/// The size of batches during their warm-up, as a factor (`mini-batch-warmup`): the root of
/// the progress where that is counted in tokens, since steps grow as well.
fn warmup_ratio(config: &TrainingConfig, progress: &Progress) -> f64 {
    let Span { count, unit } = config.mini_batch_warmup;
    if count == 0 {
        return 1.0;
    }
    let ratio = ((progress.in_unit(unit) + 1) as f64 / count as f64).min(1.0);
    if unit == Unit::Labels { ratio.sqrt() } else { ratio }
}

/// Divides a batch into granules, each closed by the limits of [`GranuleLimit`].
fn split_into_granules<'c>(
    corpus: &'c ParallelCorpus,
    batch: &[u32],
    config: &TrainingConfig,
    granules: &mut Vec<Granule<'c>>,
) {
    let (mut granule, mut limit) = (Granule::default(), GranuleLimit::new(config.granule_words));
    for &index in batch {
        let index = index as usize;
        granule.push_pair(corpus, index, config.guided_alignment_weight);
        if limit.is_reached_by([corpus.source(index).len(), corpus.target(index).len()]) {
            granules.push(std::mem::take(&mut granule));
        }
    }
    if !granule.sources.is_empty() {
        granules.push(granule);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameters::ParameterLayout;
    use miriam_nmt::architecture::Architecture;
    use miriam_nmt::checkpoint::Checkpoint;
    use miriam_storage::LoadMethod;

    /// What a model file says of its architecture is what is compared.
    #[test]
    fn architectures_are_compared_by_the_options_of_model_files() {
        let architecture = crate::tests::tiny_architecture();
        let layout = ParameterLayout::new(&architecture);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.npz");
        save_model(&path, &architecture, &layout, &vec![0.0; layout.len()]).unwrap();
        let checkpoint = Checkpoint::open(&path, LoadMethod::Lazy).unwrap();
        let options = String::from_utf8(checkpoint.options().unwrap().to_vec()).unwrap();
        let lines: Vec<&str> = options.trim_end_matches('\0').lines().collect();
        let lines: Vec<&str> =
            lines.into_iter().filter(|line| !line.starts_with("version: ")).collect();
        assert!(lines.contains(&"transformer-heads: 2"), "{options}");
        let found = architecture_fingerprint(&architecture).unwrap();
        assert_eq!(found, hash64(lines.join("\n").as_bytes()));
        let Architecture::Transformer(mut other) = architecture else { panic!("a transformer") };
        other.encoder.heads = 4;
        other.decoder.heads = 4;
        assert_ne!(architecture_fingerprint(&Architecture::Transformer(other)).unwrap(), found);
    }
}
