//! Sentences in which an n-gram passes the filter.

/// Where an n-gram passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Passes {
    Nowhere,
    /// In every sentence.
    Everywhere,
    /// In these sentences, at least one, ascending; with one output, in any of them.
    In(Vec<u32>),
}

impl Passes {
    /// Creates the result for these sentences, which may be empty.
    pub fn in_some(sentences: Vec<u32>) -> Self {
        if sentences.is_empty() { Passes::Nowhere } else { Passes::In(sentences) }
    }
}
