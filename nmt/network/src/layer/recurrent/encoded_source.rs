//! Encoded source sentence as recurrent decoders keep it.

use crate::layer::RecurrentOps;

/// An encoded sentence, kept while it is translated.
pub struct RecurrentSource<B: RecurrentOps> {
    /// Its keys and values.
    pub(super) annotations: B::Annotations,
    /// The initial state of each layer, `[1, width]`; layers without an entry use the last one.
    pub(super) initial_states: Vec<B::Tensor>,
}

impl<B: RecurrentOps> RecurrentSource<B> {
    /// Returns the initial state of a layer, `[1, width]`.
    pub(super) fn initial_state(&self, layer: usize) -> &B::Tensor {
        &self.initial_states[layer.min(self.initial_states.len() - 1)]
    }
}

/// Groups consecutive rows of one sentence. Returns the number of rows and the keys and values of
/// the sentence.
pub(super) fn group_by_source<'a, B: RecurrentOps>(
    sources: &[&'a RecurrentSource<B>],
) -> Vec<(usize, &'a B::Annotations)> {
    sources
        .chunk_by(|a, b| std::ptr::eq(*a, *b))
        .map(|group| (group.len(), &group[0].annotations))
        .collect()
}
