//! Synchronous or asynchronous updates of a training run.

use std::path::Path;

use super::asynchronous::AsyncTrainer;
use crate::asynchronous::AsyncSnapshot;
use crate::error::Result;
use crate::kernels::Fast;
use crate::trainable_model::TrainableModel;
use crate::update::{OptimizerState, SynchronousTrainer};

/// Synchronous or asynchronous updates.
pub(super) enum Updater {
    /// All workers compute an update together.
    Synchronous(Box<SynchronousTrainer<Fast>>),
    /// Each worker makes its own updates.
    Asynchronous(Box<AsyncTrainer>),
}

impl Updater {
    /// Gathers the values of all shards.
    pub fn gather(&mut self) {
        if let Updater::Asynchronous(trainer) = self {
            trainer.gather();
        }
    }

    /// Returns the model.
    pub fn model(&self) -> &TrainableModel<Fast> {
        match self {
            Updater::Synchronous(trainer) => trainer.model(),
            Updater::Asynchronous(trainer) => trainer.model(),
        }
    }

    /// Returns the trained parameters.
    pub fn values(&self) -> &[f32] {
        match self {
            Updater::Synchronous(trainer) => trainer.values(),
            Updater::Asynchronous(trainer) => &trainer.gathered().values,
        }
    }

    /// Returns the parameters for decoding: their moving average if there is one.
    pub fn smoothed_values(&self) -> &[f32] {
        match &self.state().average[..] {
            [] => self.values(),
            average => average,
        }
    }

    /// Returns the optimiser's state.
    pub fn state(&self) -> &OptimizerState<f32> {
        match self {
            Updater::Synchronous(trainer) => trainer.state(),
            Updater::Asynchronous(trainer) => &trainer.gathered().state,
        }
    }

    /// Resets the optimiser.
    pub fn reset_optimizer(&mut self) {
        match self {
            Updater::Synchronous(trainer) => trainer.reset_optimizer(),
            Updater::Asynchronous(trainer) => trainer.reset_optimizer(),
        }
    }

    /// Replaces the parameters by their moving average.
    pub fn replace_with_smoothed(&mut self) {
        match self {
            Updater::Synchronous(trainer) => trainer.replace_with_smoothed(),
            Updater::Asynchronous(trainer) => trainer.replace_with_smoothed(),
        }
    }

    /// Returns the state of asynchronous workers, if there are any.
    pub fn snapshot(&self) -> Option<AsyncSnapshot> {
        match self {
            Updater::Synchronous(_) => None,
            Updater::Asynchronous(trainer) => Some(trainer.snapshot()),
        }
    }

    /// Writes the pushes of a simulation, if there is one.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn save_pushes(&mut self, path: &Path) -> Result<()> {
        match self {
            Updater::Synchronous(_) => Ok(()),
            Updater::Asynchronous(trainer) => trainer.save_pushes(path),
        }
    }
}
