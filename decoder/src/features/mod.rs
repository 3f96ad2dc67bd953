//! What feature functions compute, apart from how the search asks for it.
//!
//! A feature belongs to one of three groups, and `CONTRIBUTING.md` walks through
//! adding one: features of a phrase alone are scored when options are prepared
//! (`options/`); features that need only the previous phrase's span (distortion,
//! reordering) are scored from an edge and two options (`search/expansion.rs`);
//! features with a state of words (language models) answer batches of requests
//! (`search/language_models.rs`).

mod lexical_reordering;

pub(crate) use lexical_reordering::Place;
pub use lexical_reordering::{Orientations, ReorderingType, Span};
