//! A phrase table joined to the vocabulary.

use std::path::PathBuf;

use miriam_probingpt::AnyTable;
use miriam_textio::WordId;

use super::UNKNOWN_ID;

/// The origin of a table and the form of its words, for joining it to the vocabulary.
pub(crate) struct TableFile {
    /// The name of its feature.
    pub(crate) feature: String,
    pub(crate) path: PathBuf,
    /// Whether it is text, so that a line of it can be named.
    pub(crate) is_text: bool,
    /// The factors in the columns of its source words.
    pub(crate) input_factors: Vec<usize>,
    /// The factors in the columns of its target words; `None` for 0, 1, 2 and so on.
    pub(crate) output_factors: Option<Vec<usize>>,
}

/// A phrase table joined to the vocabulary.
pub(crate) struct PhraseTable {
    pub(crate) phrases: AnyTable,
    pub(crate) file: TableFile,
    /// Whether a source phrase has the same options in every sentence: false if a
    /// model looks at factors of the source that the table does not have.
    pub(crate) caches_options: bool,
    /// The table's source id of each word of the vocabulary.
    pub(super) source_ids: Vec<u32>,
    /// The word of the vocabulary for each target id of the table.
    pub(crate) target_words: Vec<WordId>,
}

impl PhraseTable {
    /// Creates a table of `phrases`, not yet joined to a vocabulary.
    pub(crate) fn new(phrases: AnyTable, file: TableFile, caches_options: bool) -> Self {
        let (source_ids, target_words) = (Vec::new(), Vec::new());
        PhraseTable { phrases, file, caches_options, source_ids, target_words }
    }

    /// Returns the table's id of a source word of the vocabulary.
    #[inline]
    pub(crate) fn source_id(&self, word: WordId) -> u32 {
        self.source_ids.get(word.index()).copied().unwrap_or(UNKNOWN_ID)
    }
}
