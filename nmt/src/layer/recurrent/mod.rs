//! Recurrent layers: cells, the encoders that run them over sentences, and the decoders
//! that run them with attention.
//!
//! What can be multiplied for many positions at once is, before or behind the recurrence:
//! the inputs of all words of a batch, the keys of attention, and, where the context is
//! only multiplied with weights, the values themselves (Devlin 2017, section 4.3).

mod cell;
mod conditional_decoder;
mod encoded_source;
mod encoder;
mod normed_affine;
mod parent_rows;
mod stacked_decoder;

pub use cell::{Cell, CellRole, CellState, DecoderStates};
pub use conditional_decoder::ConditionalDecoder;
pub use encoded_source::RecurrentSource;
pub use encoder::{PackedSequences, RecurrentEncoder};
pub use normed_affine::NormedAffine;
pub use parent_rows::ParentRows;
pub use stacked_decoder::StackedDecoder;

use super::{ActivationImpl, RecurrentOps};
use crate::network::HypothesisRow;

/// What writes a translation, looking at the states of an encoder.
pub trait RecurrentDecoder<B: RecurrentOps> {
    /// What is kept of sentences whose states, `lengths` rows each, the encoder gave.
    fn prepare_sources(
        &self,
        backend: &mut B,
        states: &B::Tensor,
        lengths: &[usize],
    ) -> Vec<RecurrentSource<B>>;

    /// A step: see [`Family::step`](crate::network::Family::step).
    fn step(
        &self,
        backend: &mut B,
        states: &mut DecoderStates<B>,
        rows: &[HypothesisRow],
        sources: &[&RecurrentSource<B>],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Tensor;
}

/// Ways to the same numbers (Devlin 2017, section 4), each a switch, so that each can be
/// measured. All but [`Squash::Table`] leave results as they are: `words` and `parents`
/// to the bit, `context` up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speedups {
    /// Of so many words, the first of a vocabulary, products with input matrices are kept
    /// once they are computed (4.2).
    pub cached_tokens: usize,
    /// What the context of attention is multiplied with is multiplied with the encoder's
    /// states instead, once a sentence (4.3).
    pub precompute_context: bool,
    /// Vector code or tables for sigmoid and tanh (4.4).
    pub activation_impl: ActivationImpl,
    /// Hypotheses that continue the same one share its products (4.5).
    pub merge_parents: bool,
}

impl Default for Speedups {
    fn default() -> Self {
        Speedups {
            cached_tokens: 8000,
            precompute_context: true,
            activation_impl: ActivationImpl::Vector,
            merge_parents: true,
        }
    }
}

impl Speedups {
    /// None of them.
    pub const NONE: Speedups = Speedups {
        cached_tokens: 0,
        precompute_context: false,
        activation_impl: ActivationImpl::Scalar,
        merge_parents: false,
    };
}
