//! Ids of words in a language model.

/// The id of a word in one model; 0 is `<unk>`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(transparent)]
pub struct LmWord(pub u32);

impl LmWord {
    /// The unknown word.
    pub const UNKNOWN: LmWord = LmWord(0);
}
