//! Last pushes of an asynchronous training that ends with an epoch.
//!
//! With a delay, a worker may still have gradients of fewer batches than a push needs when the last
//! epoch is over. These gradients are pushed, and shards take a step with the pushes in their
//! buffers, so that the model has learnt from the whole epoch. The saved state is the state before
//! the last pushes: a run with more epochs resumes as if they had never been made.

use super::checkpoint::{SavedTraining, TrainingState};
use super::run::Run;
use super::updater::Updater;
use crate::error::Result;

impl Run<'_, '_> {
    /// Makes the last pushes, if the training is asynchronous and ends with an epoch. Afterwards
    /// nothing more can be trained.
    ///
    /// # Errors
    /// If the training has diverged, or the model fails.
    pub(super) fn make_last_pushes(&mut self) -> Result<()> {
        let Updater::Asynchronous(trainer) = &self.trainer else { return Ok(()) };
        let is_simulated = trainer.simulation.is_some();
        // A run that has ended makes the last pushes again, whatever its limits are now.
        if !self.state.has_last_pushes && !self.ends_with_epoch() {
            return Ok(());
        }
        self.trainer.gather();
        self.before_last_pushes = Some(SavedTraining {
            values: self.trainer.values().to_vec(),
            optimizer: self.trainer.state().clone(),
            state: TrainingState { has_last_pushes: true, ..self.state.clone() },
            workers: self.trainer.snapshot(),
        });
        if is_simulated {
            self.end_simulation()?
        } else {
            self.push_waiting()?
        }
        self.step_with_buffers();
        self.trainer.gather();
        Ok(())
    }

    /// Whether a limit in epochs, and not early stopping, ends the training. Limits in updates and
    /// target tokens are reached by pushes, so further pushes would exceed them.
    fn ends_with_epoch(&self) -> bool {
        let is_over = self.training.config.limits.end_with_pass(&self.state.progress);
        is_over && !self.is_stalled()
    }

    /// Returns the state that a later run resumes.
    pub(super) fn resumable_state(&self) -> &TrainingState {
        self.before_last_pushes.as_ref().map_or(&self.state, |saved| &saved.state)
    }
}
