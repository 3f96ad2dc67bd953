//! Files that a training run writes: its state and files derived from it.

use std::path::{Path, PathBuf};

use super::checkpoint::{SavedTraining, save_model, save_optimizer};
use super::config::TrainingConfig;
use super::divergence::REMEDY;
use super::marian_progress::marian_progress;
use super::model_files::ModelFiles;
use super::numbers::check_numbers;
use super::run::Run;
use crate::error::{Error, Result};

impl Run<'_, '_> {
    /// Checks parameters and the optimiser's state, which the trainer must have gathered.
    ///
    /// # Errors
    /// If a number is unusable.
    pub(super) fn check_numbers(&self) -> Result<()> {
        let (layout, updates) = (self.trainer.model().layout(), self.state.progress.updates);
        check_numbers(layout, self.trainer.values(), self.trainer.state()).map_err(|reason| {
            Error::Diverged(format!("after {updates} updates {reason}; {REMEDY}"))
        })
    }

    /// Saves the training and the files derived from it.
    ///
    /// # Errors
    /// If files cannot be written, or if the training has diverged; after divergence, all files are
    /// unchanged.
    pub(super) fn save(&mut self) -> Result<()> {
        let config = self.training.config;
        let path = self.training.files.optimizer();
        self.trainer.gather();
        self.check_numbers()?;
        // Curves are saved first: points beyond the saved state are dropped when training is
        // resumed.
        self.curves.save()?;
        self.trainer.save_pushes(&self.training.files.simulation())?;
        let kind = config.update.optimizer;
        match &mut self.before_last_pushes {
            Some(SavedTraining { values, optimizer, state, workers }) => {
                state.is_finished = self.state.is_finished;
                state.is_last_best = self.state.is_last_best;
                save_optimizer(&path, kind, values, optimizer, state, workers.as_ref())?;
            }
            None => {
                let (values, optimizer) = (self.trainer.values(), self.trainer.state());
                let workers = self.trainer.snapshot();
                save_optimizer(&path, kind, values, optimizer, &self.state, workers.as_ref())?;
            }
        }
        self.save_derived()
    }

    pub(super) fn save_as(&self, path: &Path) -> Result<()> {
        let (architecture, layout) =
            (&self.training.config.architecture, self.trainer.model().layout());
        save_model(path, architecture, layout, self.trainer.smoothed_values())
    }

    /// Saves the model as the best by a metric.
    pub(super) fn save_best(&self, metric: &str) -> Result<()> {
        self.save_copy(self.training.files.best_model(metric))
    }

    /// Saves the model at `path`. If the training has no folder, also saves a configuration that
    /// decodes with this model, as Marian does.
    fn save_copy(&self, path: PathBuf) -> Result<()> {
        let copy = ModelFiles { model: path };
        self.save_as(&copy.model)?;
        let decoder = self.training.decoder;
        if decoder.folder.is_none() {
            decoder.write(&copy.decoder_config(), &copy.model)?;
        }
        Ok(())
    }

    pub(super) fn save_derived(&mut self) -> Result<()> {
        let (files, progress) = (self.training.files, self.state.progress);
        self.save_as(&files.model)?;
        if !self.training.config.overwrites && !self.state.is_finished {
            self.save_copy(files.at_update(progress.updates))?;
        }
        let decoder = self.training.decoder;
        decoder.write(&decoder.path(files), &self.decoded_model())?;
        // The progress file is last: if it is up to date, all others are too.
        let texts = [
            (files.options(), self.training.options_yaml.to_owned()),
            (files.progress(), self.progress_text()),
        ];
        for (path, text) in texts {
            let mut output = miriam_textio::Output::create_atomic(&path)?;
            output.write(text.as_bytes())?;
            output.finish()?;
        }
        (self.log)(&format!("Saved {}", files.model.display()));
        Ok(())
    }

    /// Returns the text of Marian's progress file, which is written last.
    fn progress_text(&self) -> String {
        let TrainingConfig { schedule, seed, .. } = self.training.config;
        let state = self.resumable_state();
        let eta = schedule.rate_at(&state.schedule, &state.progress);
        marian_progress(state, eta, schedule.warmup, *seed)
    }

    /// Whether the files of [`save_derived`](Self::save_derived) exist and belong to this state.
    pub(super) fn has_derived_files(&self) -> bool {
        let files = self.training.files;
        let needs_copy = !self.training.config.overwrites && !self.state.is_finished;
        files.model.is_file()
            && (!needs_copy || files.at_update(self.state.progress.updates).is_file())
            && files.options().is_file()
            && self.training.decoder.path(files).is_file()
            && std::fs::read(files.progress())
                .is_ok_and(|found| found == self.progress_text().as_bytes())
    }

    /// Returns the model for decoding: the best one by the deciding metric, unless the last model
    /// is better. A run without validation takes the last model, because the best model of an
    /// earlier run lacks later updates.
    fn decoded_model(&self) -> PathBuf {
        let best = self.best_model().filter(|_| self.training.validates());
        let best = best.filter(|_| !self.state.is_last_best);
        best.unwrap_or_else(|| self.training.files.model.clone())
    }

    /// Returns the best model by the deciding metric, if there is one in the training's folder.
    pub(super) fn best_model(&self) -> Option<PathBuf> {
        let options = &self.training.config.validation;
        let deciding = options.metrics.get(options.deciding_translation())?;
        let best = self.training.files.best_model(deciding.name());
        (best.is_file() && self.training.decoder.folder.is_some()).then_some(best)
    }
}
