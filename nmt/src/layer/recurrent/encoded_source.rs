//! A sentence as recurrent decoders see it.

use crate::layer::RecurrentOps;

/// What is kept of a sentence while it is translated.
pub struct RecurrentSource<B: RecurrentOps> {
    /// Its words to attention.
    pub(super) annotations: B::Annotations,
    /// The state that each layer begins with; layers behind the last begin as that one.
    pub(super) initial_states: Vec<B::Tensor>,
}

impl<B: RecurrentOps> RecurrentSource<B> {
    /// The state that a layer begins with.
    pub(super) fn initial_state(&self, layer: usize) -> &B::Tensor {
        &self.initial_states[layer.min(self.initial_states.len() - 1)]
    }
}

/// Neighbouring rows of one sentence: how many, and what attention sees.
pub(super) fn group_by_source<'a, B: RecurrentOps>(
    sources: &[&'a RecurrentSource<B>],
) -> Vec<(usize, &'a B::Annotations)> {
    let same = |a: &&RecurrentSource<B>, b: &&RecurrentSource<B>| std::ptr::eq(*a, *b);
    sources.chunk_by(same).map(|group| (group.len(), &group[0].annotations)).collect()
}
