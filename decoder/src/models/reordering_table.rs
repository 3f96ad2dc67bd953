//! A table of reordering scores in a file of its own, joined to the vocabulary.

use miriam_textio::WordId;

use super::{Models, PhraseTable, UNKNOWN_ID};

/// A table of reordering scores in a file of its own.
pub(crate) struct ReorderingTable {
    pub(crate) table: PhraseTable,
    /// Words of the vocabulary reduced to the table's target factors; `None` where words
    /// are surfaces.
    pub(super) projection: Option<FactorProjection>,
}

/// Words of the vocabulary with some of their factors alone.
pub(super) struct FactorProjection {
    /// By words of the vocabulary.
    pub(super) projected: Vec<WordId>,
    /// The factors that are left.
    pub(super) factors: Vec<usize>,
}

impl ReorderingTable {
    /// `table`, not yet joined to a vocabulary.
    pub(crate) fn new(table: PhraseTable) -> Self {
        ReorderingTable { table, projection: None }
    }

    /// Whether words have to be reduced to the table's target factors before they are
    /// compared.
    pub(crate) fn has_projection(&self) -> bool {
        self.projection.is_some()
    }

    /// `word`, whose bytes are `bytes`, reduced to the table's target factors; no word
    /// at all where no table has it.
    pub(crate) fn project_word(&self, word: WordId, bytes: &[u8], models: &Models) -> WordId {
        let Some(projection) = &self.projection else { return word };
        if let Some(&projected) = projection.projected.get(word.index()) {
            return projected;
        }
        let Some(scheme) = &models.factor_scheme else { return word };
        let mut reduced = Vec::new();
        scheme.retain_factors(bytes, &projection.factors, &mut reduced);
        models.vocabulary.find(&reduced).unwrap_or(WordId(UNKNOWN_ID))
    }
}
