//! Recurrent layers: cells, the encoders that run them over sentences, and the decoders
//! that run them with attention.
//!
//! Products that do not depend on the state are computed for many positions at once, outside the
//! recurrence: the input projections of all tokens of a batch, and the keys of attention.
//! Where the context is only multiplied with weights, the values of attention are the products
//! of the encoder's states with these weights (Devlin 2017, section 4.3).

mod cell;
mod column_norms;
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

use super::{ActivationImpl, HypothesisRow, RecurrentOps};
use crate::Result;

/// A recurrent decoder with attention to the states of an encoder.
pub trait RecurrentDecoder<B: RecurrentOps> {
    /// Prepares sentences for decoding from their encoder states, `lengths` rows of `states` each,
    /// `[rows, width]`.
    ///
    /// # Errors
    /// If the backend fails.
    fn prepare_sources(
        &self,
        backend: &mut B,
        states: &B::Tensor,
        lengths: &[usize],
    ) -> Result<Vec<RecurrentSource<B>>>;

    /// Computes a step of hypotheses: `sources` has the sentence of each row. Returns the input of
    /// the output layer, `[rows, width]`. Appends the attention weights of each row to `alignment`,
    /// if it is given.
    ///
    /// # Errors
    /// If the backend fails.
    fn step(
        &self,
        backend: &mut B,
        states: &mut DecoderStates<B>,
        rows: &[HypothesisRow],
        sources: &[&RecurrentSource<B>],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<B::Tensor>;
}

/// Switches for faster computation (Devlin 2017, section 4), one for each method so that each can
/// be measured. All but [`ActivationImpl::Table`] keep results: `cached_tokens` and `merge_parents`
/// to the bit, `precompute_context` up to rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Speedups {
    /// The number of tokens at the start of the vocabulary whose products with input matrices are
    /// cached (4.2).
    pub cached_tokens: usize,
    /// Whether the weights of the context are multiplied with the encoder's states, once per
    /// sentence, instead of with the context in every step (4.3).
    pub precompute_context: bool,
    /// The implementation of sigmoid and tanh (4.4).
    pub activation_impl: ActivationImpl,
    /// Whether hypotheses with the same parent share its products (4.5).
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
    /// No speedups.
    pub const NONE: Speedups = Speedups {
        cached_tokens: 0,
        precompute_context: false,
        activation_impl: ActivationImpl::Scalar,
        merge_parents: false,
    };
}
