//! Phrases that come with the sentence: forced translations, entries of the sentence's own table,
//! copied words.

use miriam_textio::WordId;

/// A phrase that comes with the sentence.
pub(crate) struct InputPhrase {
    /// The sum of the phrase's weighted scores.
    pub(crate) total: f32,
    /// The target words.
    pub(crate) words: Vec<WordId>,
    /// The index of its details among all details of the sentence, or [`InputPhrase::COPIED`] for a
    /// copied word.
    pub(crate) details: u32,
}

impl InputPhrase {
    /// The value of `details` for a copied word.
    pub(crate) const COPIED: u32 = u32::MAX;
}

/// The origin of a phrase that comes with the sentence, which decides the feature that scores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OptionSource {
    /// Markup that forces a translation. The score of the translation belongs to the unknown-word
    /// penalty.
    Markup,
    /// The phrase table in an input line, scored by the sentence-table feature of this number.
    SentenceTable(usize),
}

/// The details, besides the words, of a phrase that comes with the sentence, for output.
#[derive(Debug)]
pub(crate) struct InputPhraseDetails {
    pub(crate) source: OptionSource,
    /// Unweighted natural logarithms, one per component of the feature that scores the phrase.
    /// Empty for forced translations without a probability.
    pub(crate) scores: Vec<f32>,
    /// Pairs of source and target positions.
    pub(crate) alignment: Vec<(u16, u16)>,
}
