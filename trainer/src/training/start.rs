//! Start of a training run: with random parameters, with the parameters of a model, or from a saved
//! state.

use miriam_nmt::checkpoint::Checkpoint;

use super::checkpoint::{FoundTraining, SavedTraining, TrainingState, load_optimizer};
use super::config::{TrainingConfig, ValidationReset};
use super::fingerprint::TrainingFingerprint;
use super::marian_checkpoint::{MarianFiles, MarianTraining};
use super::metric::{Metric, MetricState};
use super::numbers::check_saved_numbers;
use super::run::Training;
use super::schedule::ScheduleState;
use super::statistics::Statistics;
use crate::data::BatchPosition;
use crate::error::{Error, Result};
use crate::init::initial_values;
use crate::parameters::ParameterLayout;
use crate::progress::{Progress, SchedulingUnit, TrainingLength};
use crate::update::OptimizerState;

/// A training run before its next update.
pub struct Start {
    /// The parameters, the optimiser and the rest of the state.
    pub saved: SavedTraining,
    /// The number of sentences to skip in the current epoch.
    pub skipped_sentences: u64,
    /// Remarks for the log.
    pub remarks: Vec<String>,
    /// Whether the state was saved by Miriam. Then missing files that are derived from it are
    /// written before training continues.
    pub is_from_miriam: bool,
}

impl Training<'_> {
    /// Reads the saved state, if there is one. Otherwise training begins with the parameters of the
    /// model file, if there is one, else with `pretrained` or random parameters.
    ///
    /// # Errors
    /// If files cannot be read or do not match.
    pub(super) fn start(
        &self,
        layout: &ParameterLayout,
        pretrained: Option<Vec<f32>>,
    ) -> Result<Start> {
        let config = self.config;
        let fingerprint = self.fingerprint()?;
        let kind = config.update.optimizer;
        let marian = MarianFiles { files: self.files, config, layout };
        let path = self.files.optimizer();
        let found = load_optimizer(&path, kind, layout, &fingerprint, config.restores_corpus)?;
        let mut start = match found {
            FoundTraining::Miriam(saved) => {
                let updates = saved.state.progress.updates;
                let remark = format!("[training] Resuming after {updates} updates");
                let remarks = vec![remark];
                Start { saved: *saved, skipped_sentences: 0, remarks, is_from_miriam: true }
            }
            FoundTraining::Marian(checkpoint) => {
                self.start_from_marian(&marian, Some(checkpoint), fingerprint)?
            }
            FoundTraining::Nothing if self.files.model.is_file() => {
                self.start_from_marian(&marian, None, fingerprint)?
            }
            FoundTraining::Nothing => return Ok(self.begin(fingerprint, pretrained)),
        };
        check_saved_numbers(layout, &start.saved).map_err(|reason| {
            // The numbers of the model were checked when it was read.
            let file = if path.is_file() { &path } else { &self.files.progress() };
            Error::resume(
                file,
                format!(
                    "{reason}, so the training cannot be resumed; copy the files of an earlier \
                     save here, or move this file away to start with the parameters of the model"
                ),
            )
        })?;
        start.remarks.extend(remark_on_limits(config, &start.saved.state.progress));
        let state = &mut start.saved.state;
        if !config.restores_corpus {
            state.fingerprint.corpus = self.corpus.fingerprint();
            state.position = first_position(config, &state.progress);
            (state.sentences, state.epoch_batches) = (0, 0);
            start.skipped_sentences = 0;
        }
        for (name, seen) in &mut state.metrics {
            match (config.validation.reset, Metric::from_name(name)) {
                (ValidationReset::All, Some(metric)) => *seen = MetricState::new(metric),
                (ValidationReset::Stalls, _) => seen.stalled = 0,
                _ => {}
            }
        }
        if config.validation.reset != ValidationReset::Nothing {
            state.schedule.max_stalled = 0;
        }
        Ok(start)
    }

    /// Returns the training that resumes from `checkpoint`, an optimiser's file of Marian. Without
    /// one, it starts with the parameters of the model file.
    fn start_from_marian(
        &self,
        marian: &MarianFiles<'_>,
        checkpoint: Option<Checkpoint>,
        fingerprint: TrainingFingerprint,
    ) -> Result<Start> {
        let found = match checkpoint {
            Some(checkpoint) => marian.resume(checkpoint, fingerprint)?,
            None => marian.reload(fingerprint)?,
        };
        let MarianTraining { mut saved, sentences, remarks } = found;
        saved.state.position = first_position(self.config, &saved.state.progress);
        Ok(Start { saved, skipped_sentences: sentences, remarks, is_from_miriam: false })
    }

    /// Returns the training from its beginning.
    fn begin(&self, fingerprint: TrainingFingerprint, pretrained: Option<Vec<f32>>) -> Start {
        let config = self.config;
        let values = pretrained.unwrap_or_else(|| {
            initial_values(&config.architecture, config.seed, config.depth_scaling)
        });
        let progress = Progress { updates: 0, labels: 0, epoch: 1 };
        let metrics = config.validation.metrics.iter();
        let state = TrainingState {
            progress,
            position: first_position(config, &progress),
            schedule: ScheduleState::default(),
            validated_at: 0,
            metrics: metrics
                .map(|metric| (metric.name().into(), MetricState::new(*metric)))
                .collect(),
            is_finished: false,
            is_last_best: false,
            has_last_pushes: false,
            sentences: 0,
            epoch_batches: 0,
            statistics: Statistics::default(),
            fingerprint,
        };
        let optimizer = OptimizerState::new(&config.update, &values);
        let saved = SavedTraining { values, optimizer, state, workers: None };
        Start { saved, skipped_sentences: 0, remarks: Vec::new(), is_from_miriam: false }
    }
}

/// Returns a remark if a run with greater limits trained the model, so that no update is left to
/// make. Limits in tokens are ignored, because the last batch usually passes them. Asynchronous
/// workers may pass limits in updates by the batches that they have when the limit is reached.
fn remark_on_limits(config: &TrainingConfig, progress: &Progress) -> Option<String> {
    let in_flight = match config.asynchronous {
        Some(_) => config.num_async_workers() as u64,
        None => 0,
    };
    let passed = config.limits.lengths.iter().find(|limit| {
        let length = config.limits.in_data(**limit);
        let done = match length.unit {
            // If an epoch is a number of updates, training passes its last epoch by an update.
            SchedulingUnit::Updates if limit.unit == SchedulingUnit::Epochs => 0,
            SchedulingUnit::Updates => progress.updates.saturating_sub(in_flight),
            SchedulingUnit::Epochs => progress.epoch.saturating_sub(1),
            SchedulingUnit::Labels => 0,
        };
        !limit.is_zero() && done > length.count
    })?;
    Some(format!(
        "[training] The model is kept: it was trained for more than {passed}; to train one for \
         {passed} choose another folder"
    ))
}

/// Returns the position at the beginning of the epoch of `progress`.
fn first_position(config: &TrainingConfig, progress: &Progress) -> BatchPosition {
    BatchPosition {
        epoch: progress.epoch,
        size_ratio: warmup_ratio(config.mini_batch_warmup, progress),
        ..BatchPosition::default()
    }
}

/// Returns the factor of the size of the next batch during the warm-up of sizes
/// (`mini-batch-warmup`): the share of the length `warmup` that ends with the next update, token or
/// epoch. For tokens it is the square root of this share, because the tokens per update grow as
/// well.
pub(super) fn warmup_ratio(warmup: TrainingLength, progress: &Progress) -> f64 {
    let TrainingLength { count, unit } = warmup;
    if count == 0 {
        return 1.0;
    }
    let next = match unit {
        // Epochs count from 1.
        SchedulingUnit::Epochs => progress.epoch,
        SchedulingUnit::Updates | SchedulingUnit::Labels => progress.in_unit(unit) + 1,
    };
    let ratio = (next as f64 / count as f64).min(1.0);
    if unit == SchedulingUnit::Labels { ratio.sqrt() } else { ratio }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_grow_to_their_size_within_the_warmup() {
        let ratio = |count, unit, updates, labels, epoch| {
            warmup_ratio(TrainingLength { count, unit }, &Progress { updates, labels, epoch })
        };
        assert_eq!(ratio(0, SchedulingUnit::Updates, 0, 0, 1), 1.0);
        assert_eq!(ratio(4, SchedulingUnit::Updates, 0, 99, 1), 0.25);
        assert_eq!(ratio(4, SchedulingUnit::Updates, 3, 99, 1), 1.0);
        assert_eq!(ratio(4, SchedulingUnit::Updates, 9, 99, 1), 1.0);
        assert_eq!(ratio(400, SchedulingUnit::Labels, 7, 99, 1), 0.5);
        assert_eq!(ratio(2, SchedulingUnit::Epochs, 7, 99, 1), 0.5);
        assert_eq!(ratio(2, SchedulingUnit::Epochs, 7, 99, 2), 1.0);
    }
}
