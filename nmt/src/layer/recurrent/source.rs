//! A sentence as recurrent decoders see it.

use crate::layer::Gates;

/// What is kept of a sentence while it is translated.
pub struct Source<B: Gates> {
    /// Its words to attention.
    pub(super) annotations: B::Annotations,
    /// The state that each layer begins with; layers behind the last begin as that one.
    pub(super) starts: Vec<B::Rows>,
}

impl<B: Gates> Source<B> {
    /// The state that a layer begins with.
    pub(super) fn start(&self, layer: usize) -> &B::Rows {
        &self.starts[layer.min(self.starts.len() - 1)]
    }
}

/// Neighbouring rows of one sentence: how many, and what attention sees.
pub(super) fn groups<'a, B: Gates>(sources: &[&'a Source<B>]) -> Vec<(usize, &'a B::Annotations)> {
    let same = |a: &&Source<B>, b: &&Source<B>| std::ptr::eq(*a, *b);
    sources.chunk_by(same).map(|group| (group.len(), &group[0].annotations)).collect()
}
