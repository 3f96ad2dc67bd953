//! Training from a corpus to a model: progress, schedules, validation.

mod progress;
mod schedule;

pub use progress::{Progress, Span, Unit};
pub use schedule::{DecayStrategy, Event, Schedule, ScheduleState};
