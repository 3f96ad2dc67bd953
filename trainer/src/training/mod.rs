//! Training from a corpus to a model: progress, schedules, validation, saving.

mod checkpoint;
mod config;
mod curves;
mod divergence;
mod log;
mod marian_progress;
mod memory;
mod progress;
mod run;
mod schedule;
mod validation;

pub use checkpoint::ModelFiles;
pub use config::{
    Limits, Metric, StoppingRule, TrainingConfig, ValidationOptions, ValidationReset,
};
pub use memory::MemoryUse;
pub use progress::{Progress, Span, Unit};
pub use run::{Outcome, Training};
pub use schedule::{DecayStrategy, Event, Schedule, ScheduleState};
pub use validation::{CrossEntropySums, MetricState, ValidationSet, cross_entropy, model_of};
