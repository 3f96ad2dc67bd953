//! Recurrent layers: cells, the encoders that run them over sentences, and the decoders
//! that run them with attention.
//!
//! What can be multiplied for many positions at once is, before or behind the recurrence:
//! the inputs of all words of a batch, the keys of attention, and, where the context is
//! only multiplied with weights, the values themselves (Devlin 2017, section 4.3).

mod attentional;
mod cell;
mod conditional;
mod encoder;
mod parents;
mod source;
mod term;

pub use attentional::Attentional;
pub use cell::{Cell, Place, State, States};
pub use conditional::Conditional;
pub use encoder::{Encoder, Sentences};
pub use parents::Parents;
pub use source::Source;
pub use term::Term;

use super::{Gates, Squash};
use crate::network::Row;

/// What writes a translation, looking at the states of an encoder.
pub trait Decoder<B: Gates> {
    /// What is kept of sentences whose states, `lengths` rows each, the encoder gave.
    fn remember(&self, backend: &mut B, states: &B::Rows, lengths: &[usize]) -> Vec<Source<B>>;

    /// A step: see [`Family::step`](crate::network::Family::step).
    fn step(
        &self,
        backend: &mut B,
        states: &mut States<B>,
        rows: &[Row],
        sources: &[&Source<B>],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Rows;
}

/// Ways to the same numbers (Devlin 2017, section 4), each a switch, so that each can be
/// measured. All but [`Squash::Table`] leave results as they are: `words` and `parents`
/// to the bit, `context` up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    /// Of so many words, the first of a vocabulary, products with input matrices are kept
    /// once they are computed (4.2).
    pub words: usize,
    /// What the context of attention is multiplied with is multiplied with the encoder's
    /// states instead, once a sentence (4.3).
    pub context: bool,
    /// Vector code or tables for sigmoid and tanh (4.4).
    pub squash: Squash,
    /// Hypotheses that continue the same one share its products (4.5).
    pub parents: bool,
}

impl Default for Shortcuts {
    fn default() -> Self {
        Shortcuts { words: 8000, context: true, squash: Squash::Vector, parents: true }
    }
}

impl Shortcuts {
    /// None of them.
    pub const NONE: Shortcuts =
        Shortcuts { words: 0, context: false, squash: Squash::Scalar, parents: false };
}
