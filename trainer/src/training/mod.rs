//! Training from a corpus to a model: progress, schedules, validation, saving.

mod checkpoint;
mod config;
mod curves;
mod decoder_settings;
mod divergence;
mod folder_lock;
mod identity;
mod log;
mod marian_checkpoint;
mod marian_progress;
mod memory;
mod metric;
mod model_files;
mod options_of_updates;
mod progress;
mod run;
mod saving;
mod schedule;
mod start;
mod statistics;
mod validating;
mod validation;
mod validation_script;

pub use config::{Limits, StoppingRule, TrainingConfig, ValidationOptions, ValidationReset};
pub use decoder_settings::DecoderSettings;
pub use divergence::DivergenceCheck;
pub use folder_lock::FolderLock;
pub use memory::MemoryUse;
pub use metric::{Metric, MetricState};
pub use model_files::ModelFiles;
pub use progress::{Progress, Span, Unit};
pub use run::{Outcome, Training};
pub use schedule::{DecayStrategy, Event, Schedule, ScheduleState};
pub use statistics::{DynamicScaling, Statistics};
pub use validation::{
    Candidate, CrossEntropySums, ValidationSet, Validator, cross_entropy, model_of,
};
pub use validation_script::ValidationScript;
