//! Encoded source sentence as recurrent decoders keep it.

use crate::Result;
use crate::layer::RecurrentOps;

/// An encoded sentence, kept while it is translated.
pub struct RecurrentSource<B: RecurrentOps> {
    /// Its keys and values; `None` in a language model, which has no source.
    pub(super) annotations: Option<B::Annotations>,
    /// The initial state of each layer, `[1, width]`; layers without an entry use the last one.
    pub(super) initial_states: Vec<B::Tensor>,
}

impl<B: RecurrentOps> RecurrentSource<B> {
    /// Returns the source of a language model: no keys and values, and initial states of zeros,
    /// `[1, width]`.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn without_annotations(backend: &mut B, width: usize) -> Result<Self> {
        Ok(RecurrentSource { annotations: None, initial_states: vec![backend.zeros(1, width)?] })
    }

    /// Returns the initial state of a layer, `[1, width]`.
    pub(super) fn initial_state(&self, layer: usize) -> &B::Tensor {
        &self.initial_states[layer.min(self.initial_states.len() - 1)]
    }
}

/// Groups consecutive rows of the same sentence. Returns for each group the number of rows, and the
/// keys and values of the sentence.
///
/// # Panics
/// If a sentence has no keys and values, as in a language model.
pub(super) fn group_by_source<'a, B: RecurrentOps>(
    sources: &[&'a RecurrentSource<B>],
) -> Vec<(usize, &'a B::Annotations)> {
    sources
        .chunk_by(|a, b| std::ptr::eq(*a, *b))
        .map(|group| {
            let annotations = group[0].annotations.as_ref();
            (group.len(), annotations.expect("attention has keys and values"))
        })
        .collect()
}
