//! What feature functions compute, apart from how the search asks for it.
//!
//! A feature belongs to one of four groups, and `CONTRIBUTING.md` walks through
//! adding one: features of a phrase alone are scored when options are prepared
//! (`options/`); features that need only the previous phrase's span and the coverage
//! (distortion, most reordering) are scored from an edge and two options
//! (`search/expansion.rs`); features with a state of words (language models) are
//! scored from a cache of states and words (`search/language_models.rs`); features with
//! any other state (hierarchical reordering, operation sequences) keep it by themselves
//! (`search/context/`).

mod distortion;
mod lexical_reordering;
mod operation_sequence_model;
mod operations;
mod span_stack;

pub(crate) use distortion::{early_distortion_distance, jump_distance};
pub(crate) use lexical_reordering::RelativePosition;
pub use lexical_reordering::{Orientations, ReorderingType, Span};
pub(crate) use operation_sequence_model::{IsolatedOperationScorer, OperationSequenceModel};
pub(crate) use operations::{Cursor, OperationCounts, OperationProgram, UNKNOWN_TARGET};
pub(crate) use span_stack::shift_reduce;
