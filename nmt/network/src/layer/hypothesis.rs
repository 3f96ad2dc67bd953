//! The rows of a decoding step: hypotheses and their sentences.

/// The number of a sentence under translation. Numbers of finished sentences are reused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot(pub u32);

/// A hypothesis in the next decoding step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HypothesisRow {
    /// Its sentence.
    pub slot: Slot,
    /// The row of the previous step that it continues; `None` where a sentence begins.
    pub parent: Option<u32>,
    /// The last token of the hypothesis; `None` where a sentence begins.
    pub token: Option<u32>,
}
