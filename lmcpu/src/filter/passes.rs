//! Sentences in which an n-gram passes the filter.

/// The sentences in which an n-gram passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    Nowhere,
    /// In every sentence.
    Everywhere,
    /// In these sentences: at least one, in ascending order. If there is one output, not all
    /// sentences need be listed.
    In(Vec<u32>),
}

impl Passes {
    /// Creates the result for a list of sentences, which may be empty.
    pub fn in_some(sentences: Vec<u32>) -> Self {
        if sentences.is_empty() { Passes::Nowhere } else { Passes::In(sentences) }
    }
}
