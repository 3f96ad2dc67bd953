//! Training of a model on a corpus: progress, schedules, validation, saving.

mod asynchronous;
mod base_rate;
mod checkpoint;
mod config;
mod curves;
mod decoder_settings;
mod divergence;
mod fingerprint;
mod fingerprint_options;
mod last_pushes;
mod marian_checkpoint;
mod marian_progress;
mod memory;
mod metric;
mod model_files;
mod numbers;
mod parameter_server;
mod push_table;
mod run;
mod run_lock;
mod saving;
mod schedule;
mod simulated;
mod start;
mod statistics;
mod training_log;
mod updater;
mod validating;
mod validation;
mod validation_script;

pub use crate::progress::{LogicalEpoch, Progress, SchedulingUnit, TrainingLength};

pub use base_rate::BaseRate;
pub use config::{Limits, StoppingRule, TrainingConfig, ValidationOptions, ValidationReset};
pub use decoder_settings::DecoderSettings;
pub use divergence::DivergenceDetector;
pub use memory::MemoryUse;
pub use metric::{Metric, MetricState};
pub use model_files::ModelFiles;
pub use run::{Outcome, TRAINING_TASK, Training};
pub use run_lock::{lock_folder, lock_model};
pub use schedule::{DecayStrategy, Schedule, ScheduleEvent, ScheduleState};
pub use statistics::{DynamicScaling, Statistics};
pub use validation::{
    Candidate, CrossEntropySums, ValidationSet, Validator, build_model, cross_entropy,
};
pub use validation_script::ValidationScript;
