//! Training loop: updates, log, validation, saving, stopping.

use std::path::Path;

use miriam_textio::{CancellationToken, Progress as ProgressBar};

use super::asynchronous::{AsyncStart, AsyncTrainer};
use super::checkpoint::{SavedTraining, TrainingState, check_fingerprint};
use super::config::TrainingConfig;
use super::curves::{Curves, LOSS, RATE};
use super::decoder_settings::DecoderSettings;
use super::divergence::FinitenessCheck;
use super::fingerprint::{TrainingFingerprint, architecture_fingerprint};
use super::model_files::ModelFiles;
use super::schedule::ScheduleEvent;
use super::start::{Start, warmup_ratio};
use super::training_log::{TrainingLog, with_commas};
use super::updater::Updater;
use super::validation::ValidationSet;
use crate::data::{BatchFile, BatchSize, BatchSource, ParallelCorpus, sample_pairs};
use crate::dropout::Dropout;
use crate::error::{Error, Result};
use crate::kernels::Fast;
use crate::parameters::ParameterLayout;
use crate::progress::{LogicalEpoch, Progress, SchedulingUnit};
use crate::trainable_model::TrainableModel;
use crate::update::{
    FlexibleRate, MicroBatch, NormLimit, OptimizerState, QuantizationOptions, SynchronousTrainer,
    UpdateReport, limit_weights,
};

/// The name under which the progress of training is reported.
pub const TRAINING_TASK: &str = "training";

/// The reason why a training run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A limit was reached.
    Finished,
    /// Validation has not improved for too long.
    EarlyStopped,
    /// The training was cancelled; its state is saved.
    Cancelled,
    /// The training had already ended in an earlier run.
    AlreadyFinished,
}

/// The inputs of a training run.
pub struct Training<'a> {
    /// The configuration.
    pub config: &'a TrainingConfig,
    /// The corpus.
    pub corpus: &'a ParallelCorpus,
    /// The batches, if they come from a file and not from the corpus.
    pub batches: Option<&'a BatchFile>,
    /// The validation set, if there is one.
    pub validation: Option<&'a ValidationSet>,
    /// The files to write.
    pub files: &'a ModelFiles,
    /// All options in Marian's form.
    pub options_yaml: &'a str,
    /// The settings for decoding with the model.
    pub decoder: &'a DecoderSettings,
    /// Initial parameters instead of random ones, as a flat vector.
    pub pretrained: Option<Vec<f32>>,
    /// The fingerprint of the vocabularies.
    pub vocabularies_fingerprint: u64,
    /// The folder for the curves of the training, if any.
    pub plot: Option<&'a Path>,
    /// Cancels the training after the current update; `progress` can cancel it too.
    pub stop: &'a CancellationToken,
    /// The display of progress.
    pub progress: &'a dyn ProgressBar,
}

impl Training<'_> {
    /// Whether the training should end after the current update.
    pub(super) fn is_cancelled(&self) -> bool {
        self.stop.is_cancelled() || self.progress.is_cancelled()
    }

    /// Checks that existing files belong to this training run.
    ///
    /// # Errors
    /// If they belong to another run, or are damaged; the message contains the difference.
    pub fn check(&self) -> Result<()> {
        let restores_corpus = self.config.restores_corpus;
        check_fingerprint(&self.files.optimizer(), &self.fingerprint()?, restores_corpus)
    }

    /// Trains from the saved progress or from the beginning. Lines of the log go to `log`.
    ///
    /// # Errors
    /// If files cannot be read or written or do not match, the model or a validation script fails,
    /// or the training diverges.
    pub fn run(&mut self, log: &mut dyn FnMut(&str)) -> Result<Outcome> {
        let pretrained = self.pretrained.take();
        let (mut run, is_from_miriam) = Run::new(self, pretrained, log)?;
        if !run.training.validates()
            && let Some(best) = run.best_model()
        {
            (run.log)(&format!(
                "[valid] No validation text: decoder.yml names the last model, not {}",
                best.display()
            ));
        }
        // If a limit is higher now than when the training ended, the training goes on.
        if run.state.is_finished && (run.is_at_limit() || run.is_stalled()) {
            // The saved state is the one before the last pushes. Trainings with other kinds of
            // limits, or by earlier versions of Miriam, ended without last pushes.
            if run.state.has_last_pushes {
                run.make_last_pushes()?;
            }
            run.curves = Curves::open(run.training.plot, &run.state.progress)?;
            run.save_derived()?;
            if run.training.plot.is_some() && run.curves.is_empty() {
                (run.log)("No curves: none were recorded during the training")
            } else {
                run.curves.save()?
            }
            return Ok(Outcome::AlreadyFinished);
        }
        if is_from_miriam && !run.has_derived_files() {
            // A killed run may have saved only the optimiser's file.
            run.save_derived()?;
        }
        (run.state.is_finished, run.state.is_last_best) = (false, false);
        run.state.has_last_pushes = false;
        let outcome = run.train()?;
        run.state.is_finished = outcome != Outcome::Cancelled;
        run.finiteness.check_end(run.state.progress.updates).map_err(Error::Diverged)?;
        run.save()?;
        Ok(outcome)
    }

    /// Whether the run validates: with a validation set, or a script and no metric that needs one.
    pub(super) fn validates(&self) -> bool {
        let options = &self.config.validation;
        self.validation.is_some() || options.script.is_some() && !options.needs_set()
    }

    pub(super) fn fingerprint(&self) -> Result<TrainingFingerprint> {
        let mut options = self.config.fingerprint_options();
        let batches = self.batches.map_or("none".into(), |file| file.fingerprint().to_string());
        options.push(("batches, as a hash,".into(), batches));
        if self.corpus.has_links() {
            let weight = self.config.guided_alignment_weight.to_string();
            options.push(("guided-alignment-weight".into(), weight));
        }
        let (architecture, model_options) = architecture_fingerprint(&self.config.architecture)?;
        Ok(TrainingFingerprint {
            corpus: self.corpus.fingerprint(),
            vocabularies: self.vocabularies_fingerprint,
            architecture,
            options,
            model_options,
        })
    }
}

/// Quantises the parameters with which a training run starts, as Marian does: their rounding errors
/// are not kept, and a new moving average starts with the rounded parameters. If the saved state
/// has rounding errors, nothing changes, because its parameters are rounded already.
///
/// # Panics
/// If the number of values differs from that of the layout.
fn quantize_start(
    options: &QuantizationOptions,
    layout: &ParameterLayout,
    values: &mut [f32],
    state: &mut OptimizerState<f32>,
) {
    if !state.residual.is_empty() {
        return;
    }
    options.quantize(layout, values, &mut state.residual);
    state.residual.fill(0.0);
    if state.average_updates == 0 && !state.average.is_empty() {
        state.average.copy_from_slice(values);
    }
}

/// Describes how often the log gets a line and when the training ends: users know what to wait for
/// while the log is still silent.
fn describe_start(training: &Training<'_>) -> String {
    let config = training.config;
    let limits = config.limits.lengths.iter().filter(|length| !length.is_zero());
    let mut ends: Vec<String> = limits.map(|length| format!("after {length}")).collect();
    if config.limits.is_one_pass {
        ends.push("after one pass over the corpus".to_owned());
    }
    let has_metrics = training.validates() && !config.validation.metrics.is_empty();
    if config.validation.early_stopping > 0 && has_metrics {
        let stalled = config.validation.early_stopping;
        ends.push(format!("after {stalled} validations without improvement"));
    }
    let ends = match &ends[..] {
        [] => "when it is stopped (--after sets a limit)".to_owned(),
        ends => ends.join(" or "),
    };
    let lines = if config.display_frequency.is_zero() {
        "No regular log lines (--disp-freq 0)".to_owned()
    } else {
        format!("A log line every {} (--disp-freq)", config.display_frequency)
    };
    format!("[training] {lines}; training ends {ends}")
}

/// The state of a training run.
pub(super) struct Run<'a, 'l> {
    pub(super) training: &'a Training<'a>,
    pub(super) trainer: Updater,
    pub(super) source: BatchSource<'a>,
    pub(super) state: TrainingState,
    /// The training before its last pushes, once they are made.
    pub(super) before_last_pushes: Option<SavedTraining>,
    display: TrainingLog,
    /// The unit in which progress is shown, and the length of the training in this unit.
    shown_length: (SchedulingUnit, Option<u64>),
    /// The learning rate of the last update.
    last_rate: f64,
    /// The pairs of the training text whose cross-entropy is shown.
    pub(super) training_sample: Option<ParallelCorpus>,
    pub(super) curves: Curves,
    /// Whether no update has been made yet in this run.
    is_at_start: bool,
    finiteness: FinitenessCheck,
    pub(super) log: &'l mut dyn FnMut(&str),
}

impl<'a, 'l> Run<'a, 'l> {
    /// Starts or resumes the training. Returns the run, and whether it resumes from a state that
    /// Miriam has saved.
    fn new(
        training: &'a Training<'a>,
        pretrained: Option<Vec<f32>>,
        log: &'l mut dyn FnMut(&str),
    ) -> Result<(Self, bool)> {
        let config = training.config;
        let program = training.program_bytes();
        let model = TrainableModel::<Fast>::new(config.architecture.clone())?
            .with_product_clip(config.product_clip);
        let start = training.start(model.layout(), pretrained)?;
        let Start { saved, skipped_sentences, remarks, is_from_miriam } = start;
        remarks.iter().for_each(|remark| log(remark));
        let SavedTraining { mut values, mut optimizer, mut state, workers } = saved;
        if let Some(limit) = config.product_clip {
            limit_weights(model.layout(), &mut values, limit);
        }
        if let Some(quantization) = config.quantization {
            quantize_start(&quantization, model.layout(), &mut values, &mut optimizer);
        }
        let costs = training.sentence_costs(&model)?;
        if !training.corpus.is_empty() {
            log(&training.count_memory(program, &model, &optimizer, costs.as_ref())?.describe());
        }
        let position = state.position.clone();
        let source = match training.batches {
            Some(file) => BatchSource::from_file(file, position),
            None => {
                let (batches, limits) = (config.batches, config.micro_batch_limits);
                BatchSource::from_corpus(training.corpus, batches, limits, costs, position)
            }
        };
        let mut source = source.map_err(Error::Config)?;
        // When Marian resumes a training run of Miriam, it orders batches in its own way. It may
        // count a full batch where the epoch here had a short one, so its count may exceed the
        // corpus by less than a batch.
        let most_excess = match config.batches.size {
            BatchSize::Sentences(size) => size.saturating_sub(1),
            _ => config.batches.maxi_batch,
        };
        if skipped_sentences > (training.corpus.len() as u64).saturating_add(most_excess as u64) {
            let pairs = training.corpus.len();
            let reason = format!(
                "{skipped_sentences} sentences of the epoch were read, but the corpus has only \
                {pairs}; use the corpus of that training, or --no-restore-corpus to restart the \
                epoch"
            );
            return Err(Error::resume(&training.files.progress(), reason));
        }
        if skipped_sentences > training.corpus.len() as u64 {
            log(&format!(
                "[data] {skipped_sentences} sentences of the epoch were read, more than the {} of \
                the corpus: the epoch ends",
                training.corpus.len()
            ));
        }
        if skipped_sentences > 0 {
            let ratio = warmup_ratio(config.mini_batch_warmup, &state.progress);
            [state.sentences, state.epoch_batches] = source.skip(skipped_sentences, ratio);
            let (sentences, epoch) = (state.sentences, state.progress.epoch);
            log(&format!("[data] Skipped {sentences} sentences of epoch {epoch}"));
            state.position = source.position().clone();
        }
        let trainer = match &config.asynchronous {
            None => {
                let mut trainer = SynchronousTrainer::new(
                    model,
                    Fast::default().with_products(config.products),
                    config.update,
                    values,
                    optimizer,
                    config.workers,
                );
                trainer.set_quantization(config.quantization);
                trainer.set_weight_limit(config.product_clip);
                Updater::Synchronous(Box::new(trainer))
            }
            Some(options) => {
                let start =
                    AsyncStart { values, optimizer, workers, updates: state.progress.updates };
                let trainer =
                    AsyncTrainer::new(model, config, options, start, training.files, log)?;
                Updater::Asynchronous(Box::new(trainer))
            }
        };
        let display = TrainingLog::new(state.sentences);
        let curves = Curves::open(training.plot, &state.progress)?;
        let size = config.validation.training_sample;
        let training_sample = (size > 0).then(|| {
            training.corpus.subset(&sample_pairs(training.corpus.len(), size, config.seed))
        });
        let mut run = Run {
            training,
            trainer,
            source,
            state,
            before_last_pushes: None,
            display,
            shown_length: config.limits.shown_length(training.corpus.num_tokens()[1] as u64),
            last_rate: 0.0,
            training_sample,
            curves,
            is_at_start: true,
            finiteness: FinitenessCheck::default(),
            log,
        };
        if skipped_sentences > 0 && run.source.is_at_epoch_end() {
            run.end_epoch();
        }
        Ok((run, is_from_miriam))
    }

    /// Makes updates until a limit is reached, validation stalls, or the training is cancelled.
    fn train(&mut self) -> Result<Outcome> {
        let training = self.training;
        let config = training.config;
        let task = training.progress.task(TRAINING_TASK, self.shown_length.1);
        task.skip(self.shown_progress());
        (self.log)(&describe_start(training));
        match (&self.trainer, &config.machine) {
            (Updater::Synchronous(_), _) => {}
            (_, Some(_)) => return self.train_simulated(training.progress),
            (_, None) => return self.train_asynchronously(training.progress),
        }
        loop {
            if self.is_at_limit() {
                return self.end(Outcome::Finished);
            }
            if training.is_cancelled() {
                return Ok(Outcome::Cancelled);
            }
            let before = self.state.progress;
            let is_epoch_end = self.update()?;
            task.set_position(self.shown_progress());
            if self.follow_up(&before, is_epoch_end)? {
                return self.end(Outcome::EarlyStopped);
            }
        }
    }

    /// Returns the progress in the unit in which it is shown.
    pub(super) fn shown_progress(&self) -> u64 {
        let (unit, total) = self.shown_length;
        let done = self.state.progress.in_unit(unit);
        // The last batch may have more tokens than are left.
        total.map_or(done, |total| done.min(total))
    }

    /// Whether the progress since `before` makes a task due for which all workers must wait:
    /// validation, replacing the parameters, saving.
    pub(super) fn is_exclusive_due(&self, before: &Progress, is_epoch_end: bool) -> bool {
        let config = self.training.config;
        let mut reached = self.state.progress;
        reached.epoch += u64::from(is_epoch_end);
        let periods =
            [config.validation.frequency, config.replace_frequency, config.save_frequency];
        periods.iter().any(|&period| reached.crossed_period(before, period))
    }

    /// Runs the tasks that are due after the progress since `before`: a line of the log,
    /// validation, the end of an epoch, the replacement of the parameters by their average, saving.
    /// Returns whether training stops because validation has stalled; then the caller saves.
    pub(super) fn follow_up(&mut self, before: &Progress, is_epoch_end: bool) -> Result<bool> {
        let training = self.training;
        let config = training.config;
        let mut reached = self.state.progress;
        reached.epoch += u64::from(is_epoch_end);
        if self.state.progress.updates > before.updates {
            self.display(before, &reached);
        }
        let mut is_stopped = false;
        if training.validates() && reached.crossed_period(before, config.validation.frequency) {
            let stalls = self.stalls();
            self.validate(false)?;
            self.state.validated_at = self.state.progress.updates;
            if self.stalls() > stalls {
                self.notify_schedule(ScheduleEvent::Stalled(self.stalls()));
            }
            is_stopped = self.is_stalled();
        }
        if is_epoch_end {
            self.end_epoch();
        }
        if reached.crossed_period(before, config.replace_frequency) {
            self.trainer.replace_with_smoothed();
        }
        if !is_stopped && self.state.progress.crossed_period(before, config.save_frequency) {
            self.save()?;
        }
        Ok(is_stopped)
    }

    /// Counts the epoch that has ended, and tells the log and the schedule.
    fn end_epoch(&mut self) {
        (self.log)(&format!("Seen {} samples", with_commas(self.state.sentences)));
        self.state.progress.epoch += 1;
        let (progress, logical) = (&self.state.progress, self.training.config.limits.epoch);
        if logical != LogicalEpoch::default() {
            let (data, logical) = (progress.epoch, logical.format(progress));
            (self.log)(&format!("Starting data epoch {data} in logical epoch {logical}"));
        }
        self.notify_schedule(ScheduleEvent::EpochEnd);
        self.display.sentences = 0;
        (self.state.sentences, self.state.epoch_batches) = (0, 0);
    }

    /// Ends the training. If a limit was reached, makes the last pushes, and a last validation
    /// unless one has just been made. The last validation is not recorded, and does not replace the
    /// best models of recorded validations. So a training run with a raised limit resumes as if the
    /// lower limit had never existed.
    pub(super) fn end(&mut self, outcome: Outcome) -> Result<Outcome> {
        if outcome == Outcome::Finished {
            self.make_last_pushes()?;
        }
        let updates = self.state.progress.updates;
        let just_validated = self.state.validated_at == updates;
        if outcome == Outcome::Finished && !just_validated && updates > 0 {
            let metrics = self.state.metrics.clone();
            self.validate(true)?;
            self.state.metrics = metrics;
        }
        (self.log)("Training finished");
        Ok(outcome)
    }

    /// Makes one synchronous update. Returns whether it ended an epoch.
    fn update(&mut self) -> Result<bool> {
        let training = self.training;
        let config = training.config;
        let ratio = warmup_ratio(config.mini_batch_warmup, &self.state.progress);
        let (mut micro_batches, mut is_epoch_end) = (Vec::new(), false);
        for _ in 0..config.optimizer_delay.max(1) {
            self.source.next_batch(ratio, &mut micro_batches);
            self.state.epoch_batches += 1;
            is_epoch_end |= self.source.is_at_epoch_end();
            if is_epoch_end {
                break;
            }
        }
        let weight = config.guided_alignment_weight;
        let micro_batches: Vec<MicroBatch<'_>> = micro_batches
            .iter()
            .map(|pairs| MicroBatch::from_pairs(training.corpus, pairs, weight))
            .collect();
        let (dropout, rate, norm_limit) = (self.dropout(), self.rate(), self.norm_limit());
        let flexible_rate = self.flexible_rate();
        let Updater::Synchronous(trainer) = &mut self.trainer else {
            unreachable!("asynchronous workers make their own updates")
        };
        // As in asynchronous training, the betas depend on the number of updates with this one.
        let updates = self.state.progress.updates + 1;
        trainer.set_optimizer(config.momentum.at(config.update.optimizer, updates));
        trainer.set_norm_limit(norm_limit);
        trainer.set_flexible_rate(flexible_rate, config.optimizer_delay.max(1));
        let report = trainer.update(&micro_batches, dropout, rate)?;
        let factor = flexible_rate.map_or(1.0, |flexible| {
            flexible.factor(report.target_tokens as u64, config.optimizer_delay.max(1))
        });
        self.count_update(&report, rate * factor)?;
        Ok(is_epoch_end)
    }

    /// Returns the dropout with the key of the current batch.
    pub(super) fn dropout(&self) -> Dropout {
        let config = self.training.config;
        let (epoch, seed) = (self.source.position().epoch, config.seed);
        Dropout { key: [seed as u32 ^ (seed >> 32) as u32, epoch as u32], ..config.dropout }
    }

    /// Returns the learning rate of the next batch.
    pub(super) fn rate(&self) -> f64 {
        self.training.config.schedule.rate_at(&self.state.schedule, &self.state.progress)
    }

    /// Returns the factor of the learning rate that depends on a step's target tokens, if any.
    pub(super) fn flexible_rate(&self) -> Option<FlexibleRate> {
        let config = self.training.config;
        let Progress { updates, labels, .. } = self.state.progress;
        config.normal_words.map(|words| FlexibleRate {
            normal_words: match words {
                // The mean of all batches so far.
                0 => {
                    let batches = updates * config.optimizer_delay.max(1) as u64;
                    (labels > 0).then(|| labels as f64 / batches as f64)
                }
                words => Some(words as f64),
            },
        })
    }

    /// Returns the limit on the norm of the next batch's gradient.
    pub(super) fn norm_limit(&self) -> Option<NormLimit> {
        let config = self.training.config;
        config.scaling.and_then(|scaling| {
            scaling.limit(&self.state.statistics, self.state.progress.updates, config.norm_window)
        })
    }

    /// Counts an update that was made with the learning rate `rate`.
    ///
    /// # Errors
    /// If the training has diverged.
    pub(super) fn count_update(&mut self, report: &UpdateReport, rate: f64) -> Result<()> {
        let config = self.training.config;
        let before = self.state.progress;
        self.state.progress.updates += 1;
        self.state.progress.labels += report.target_tokens as u64;
        self.state.position = self.source.position().clone();
        self.display.add(report);
        self.last_rate = rate;
        let TrainingState { statistics, progress, .. } = &mut self.state;
        self.finiteness.record(report, progress.updates).map_err(Error::Diverged)?;
        if report.is_skipped {
            (self.log)("The gradient is not finite; the update is skipped");
        } else {
            if let Some(detector) = config.divergence {
                let loss = report.loss / report.loss_count.max(1.0);
                detector.check(statistics, loss, progress.updates).map_err(Error::Diverged)?;
            }
            let norm = report.norm_per_word(config.update.normalizes_gradient);
            statistics.record_norm(norm, progress.updates, config.norm_window);
        }
        let is_first = std::mem::replace(&mut self.is_at_start, false);
        self.notify_schedule(ScheduleEvent::Update { before, is_first });
        self.state.sentences = self.display.sentences;
        Ok(())
    }

    /// Counts sentences of this epoch, for the log.
    pub(super) fn count_sentences(&mut self, sentences: usize) {
        self.display.sentences += sentences as u64;
        self.state.sentences = self.display.sentences;
    }

    /// Logs the updates since the last line, if a line is due.
    fn display(&mut self, before: &Progress, reached: &Progress) {
        let (config, progress) = (self.training.config, self.state.progress);
        // The rate of the next update, as in Marian's log.
        let next_rate = config.schedule.rate_at(&self.state.schedule, &progress);
        let epoch = config.limits.epoch;
        let [norm, _] = self.state.statistics.norm;
        if progress.updates > config.display_first
            && !reached.crossed_period(before, config.display_frequency)
        {
            if let Some(line) = self.display.early_line(epoch, &progress, norm, next_rate) {
                (self.log)(&line);
            }
        } else {
            self.curves.add(&progress, LOSS, self.display.loss());
            self.curves.add(&progress, RATE, self.last_rate);
            let line = self.display.take_line(epoch, &progress, norm, next_rate);
            (self.log)(&line);
        }
    }

    /// Tells the schedule of an event, and resets the optimiser if the schedule asks for it.
    fn notify_schedule(&mut self, event: ScheduleEvent) {
        let TrainingState { schedule, progress, .. } = &mut self.state;
        if self.training.config.schedule.apply_event(schedule, progress, event) {
            self.trainer.reset_optimizer();
        }
    }

    pub(super) fn is_at_limit(&self) -> bool {
        self.training.config.limits.are_reached(&self.state.progress)
    }
}
