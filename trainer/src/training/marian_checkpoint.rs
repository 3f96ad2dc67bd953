//! Resumption of a training run of Marian (`docs/spec/training.md` A.13).
//!
//! Marian's files contain the progress of a training run and its optimiser's state, but not its
//! options, corpus and vocabularies. Options, corpus and vocabularies must be given again, as with
//! Marian. The order of sentences in an epoch differs from Marian's, so in the current epoch as
//! many sentences are skipped as Marian has read. A model without an optimiser's file gives the
//! initial parameters, as in Marian.

use std::path::Path;

use miriam_nmt::checkpoint::{Checkpoint, DType};

use super::checkpoint::{SavedTraining, SavedVectors, TrainingState};
use super::config::TrainingConfig;
use super::fingerprint::TrainingFingerprint;
use super::marian_progress::MarianProgress;
use super::metric::MetricState;
use super::model_files::ModelFiles;
use super::schedule::ScheduleState;
use super::statistics::Statistics;
use crate::data::BatchPosition;
use crate::error::{Error, Result};
use crate::parameters::{ParameterLayout, read_parameters};
use crate::progress::Progress;
use crate::update::{BiasCorrections, OptimizerKind, OptimizerState};

/// A training run of Marian, ready to be resumed.
pub struct MarianTraining {
    /// The training, at the beginning of its epoch.
    pub saved: SavedTraining,
    /// The number of sentences of the epoch that Marian has read.
    pub sentences: u64,
    /// Remarks for the log.
    pub remarks: Vec<String>,
}

/// The files of a training run of Marian, and the training that resumes from them.
pub struct MarianFiles<'a> {
    /// The files.
    pub files: &'a ModelFiles,
    /// The configuration of the resumed training run.
    pub config: &'a TrainingConfig,
    /// The layout of its parameters.
    pub layout: &'a ParameterLayout,
}

impl MarianFiles<'_> {
    /// Returns the training whose optimiser's file is `checkpoint`.
    ///
    /// # Errors
    /// If a file is missing, cannot be read or does not match the others.
    pub fn resume(
        &self,
        checkpoint: Checkpoint,
        fingerprint: TrainingFingerprint,
    ) -> Result<MarianTraining> {
        let (path, progress_path) = (self.files.optimizer(), self.files.progress());
        if !progress_path.is_file() {
            let file = progress_path.display();
            return Err(Error::resume(
                &path,
                format!(
                    "it was written by Marian, and {file} is missing; copy it from Marian's folder"
                ),
            ));
        }
        let progress = MarianProgress::open(&progress_path)?;
        let vectors = SavedVectors::new(&path, checkpoint, self.layout);
        let updates = progress.progress.updates;
        let mut remarks = vec![format!(
            "[training] Resuming after {updates} updates of Marian; what its files lack (corpus, \
             vocabularies, options) must be the same"
        )];
        let kind = self.config.update.optimizer;
        let [first, second] = vectors.for_optimizer(kind)?;
        let (values, old_average) = self.values(&path, &vectors)?;
        let average = match vectors.get("exp_smoothing")?.or(old_average) {
            Some(_) if self.config.update.smoothing == 0.0 => {
                remarks.push(
                    "[training] Marian's average of parameters is ignored: there is no \
                     --exponential-smoothing"
                        .into(),
                );
                Vec::new()
            }
            Some(average) => average,
            None if self.config.update.smoothing > 0.0 => {
                remarks.push(
                    "[training] There is no saved average of parameters: it starts afresh".into(),
                );
                values.clone()
            }
            None => Vec::new(),
        };
        let optimizer = OptimizerState {
            first,
            second,
            bias_corrections: bias_corrections(&path, &vectors, kind, updates)?,
            average,
            average_updates: updates,
            // Marian keeps the residual in memory only.
            residual: Vec::new(),
        };
        Ok(self.training(progress, values, optimizer, fingerprint, remarks))
    }

    /// Returns a training run that starts with the parameters of a model without an optimiser's
    /// file.
    ///
    /// # Errors
    /// If the model, or Marian's file of progress, cannot be read or does not match.
    pub fn reload(&self, fingerprint: TrainingFingerprint) -> Result<MarianTraining> {
        let values = read_parameters(&self.files.model, self.layout)?;
        let progress_path = self.files.progress();
        let progress = if progress_path.is_file() {
            MarianProgress::open(&progress_path)?
        } else {
            MarianProgress {
                progress: Progress { updates: 0, labels: 0, epoch: 1 },
                sentences: 0,
                schedule: ScheduleState::default(),
                metrics: Vec::new(),
                statistics: Statistics::default(),
            }
        };
        let (file, updates) = (self.files.model.display(), progress.progress.updates);
        let remark = format!(
            "[training] There is no {}: starting with the parameters of {file}, after {updates} \
             updates; move {file} away to start with random ones",
            self.files.optimizer().display()
        );
        let optimizer = OptimizerState {
            average_updates: updates,
            ..OptimizerState::new(&self.config.update, &values)
        };
        Ok(self.training(progress, values, optimizer, fingerprint, vec![remark]))
    }

    /// Returns the trained parameters, and their average if an old version of Marian keeps it in
    /// the model.
    fn values(
        &self,
        path: &Path,
        vectors: &SavedVectors<'_>,
    ) -> Result<(Vec<f32>, Option<Vec<f32>>)> {
        let model = &self.files.model;
        let Some(values) = vectors.get("master_parameters")? else {
            let in_model = read_parameters(model, self.layout)?;
            let unsmoothed = self.files.unsmoothed();
            if !unsmoothed.is_file() {
                return Ok((in_model, None));
            }
            return Ok((read_parameters(&unsmoothed, self.layout)?, Some(in_model)));
        };
        if model.is_file() {
            // Both files were written at the same time and have the same order of parameters: the
            // model is the average, if there is one.
            let average = vectors.get("exp_smoothing")?;
            let written = average.as_ref().unwrap_or(&values);
            let in_model = read_parameters(model, self.layout)?;
            let differs = self.layout.iter().find(|parameter| {
                let range = parameter.range();
                written[range.clone()] != in_model[range]
            });
            if let Some(parameter) = differs {
                let reason = format!(
                    "the parameter {} differs from {}: the files belong to different updates or \
                     architectures; take both from one save, or begin with --pretrained-model",
                    parameter.name,
                    model.display()
                );
                return Err(Error::resume(path, reason));
            }
        }
        Ok((values, None))
    }

    fn training(
        &self,
        found: MarianProgress,
        values: Vec<f32>,
        optimizer: OptimizerState<f32>,
        fingerprint: TrainingFingerprint,
        remarks: Vec<String>,
    ) -> MarianTraining {
        let MarianProgress { progress, sentences, schedule, metrics, statistics } = found;
        let wanted = self.config.validation.metrics.iter();
        let state = TrainingState {
            progress,
            position: BatchPosition { epoch: progress.epoch, ..BatchPosition::default() },
            schedule,
            validated_at: 0,
            metrics: wanted
                .map(|&metric| {
                    let seen = metrics.iter().find(|(known, _)| *known == metric);
                    let state = seen.map_or_else(|| MetricState::new(metric), |(_, state)| *state);
                    (metric.name().to_owned(), state)
                })
                .collect(),
            is_finished: false,
            is_last_best: false,
            has_last_pushes: false,
            sentences: 0,
            epoch_batches: 0,
            statistics,
            fingerprint,
        };
        MarianTraining {
            saved: SavedTraining { values, optimizer, state, workers: None },
            sentences,
            remarks,
        }
    }
}

/// Returns Adam's bias corrections. Old versions of Marian did not write them; then they are
/// computed from the number of updates.
fn bias_corrections(
    path: &Path,
    vectors: &SavedVectors<'_>,
    kind: OptimizerKind,
    updates: u64,
) -> Result<BiasCorrections> {
    let OptimizerKind::Adam { beta1, beta2, .. } = kind else {
        return Ok(BiasCorrections::default());
    };
    let Some(entry) = vectors.entry("adam_denoms") else {
        let updates = updates.min(i32::MAX as u64) as i32;
        return Ok(BiasCorrections([beta1, beta2].map(|beta| 1.0 - beta.powi(updates))));
    };
    let (numbers, rest) = entry.bytes().as_chunks::<8>();
    match (entry.dtype(), numbers, rest) {
        (DType::F64, &[first, second], []) => {
            Ok(BiasCorrections([first, second].map(f64::from_le_bytes)))
        }
        _ => Err(Error::resume(path, "adam_denoms: expected two f64 numbers")),
    }
}
