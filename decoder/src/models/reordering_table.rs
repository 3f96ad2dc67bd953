//! Tables of reordering scores in separate files, joined to the vocabulary.

use miriam_probingpt::{AnyTable, Targets};
use miriam_textio::WordId;

use super::{Models, PhraseTable, UNKNOWN_ID};
use crate::Result;

/// A table of reordering scores in a separate file.
pub(crate) struct ReorderingTable {
    pub(crate) table: PhraseTable,
    /// Words of the vocabulary reduced to the table's target factors; `None` if words
    /// are surfaces.
    pub(super) projection: Option<FactorProjection>,
}

impl Models {
    /// Warns about reordering tables that share no phrase pair with any phrase table, such as
    /// tables of another system: nothing would be charged for reordering.
    pub(crate) fn warn_of_unmatched_reordering(&self) -> Result<()> {
        for own in &self.reordering_tables {
            let mut is_matched = self.phrase_tables.is_empty();
            for table in &self.phrase_tables {
                is_matched = is_matched || own.shares_pairs(table, self)?;
            }
            if !is_matched {
                tracing::warn!(
                    "{}: {} has no phrase pair of the phrase table, so that reordering costs \
                     nothing; was it made with another table, or from other factors?",
                    own.table.file.feature,
                    own.table.file.path.display()
                );
            }
        }
        Ok(())
    }
}

impl ReorderingTable {
    /// Whether the table has a phrase pair of `phrase_table`; true if that cannot be found out.
    /// Looks at the source phrases of the smaller table, up to the first pair that both have.
    fn shares_pairs(&self, phrase_table: &PhraseTable, models: &Models) -> Result<bool> {
        let (own, other) = (&self.table.phrases, &phrase_table.phrases);
        if self.table.file.input_factors != phrase_table.file.input_factors {
            return Ok(true);
        }
        let swaps = match other {
            AnyTable::Native(other) => other.num_sources() < own.num_source_phrases(),
            // A table of Moses lists few of its source phrases.
            AnyTable::Moses(_) => false,
        };
        let (listed, found_in) = if swaps { (other, own) } else { (own, other) };
        let (mut is_empty, mut shared) = (true, false);
        let (mut own_targets, mut other_targets) = (Targets::new(), Targets::new());
        let listing = listed.for_each_source(|record, source| {
            is_empty = false;
            let mut ids = Vec::with_capacity(source.len());
            for &word in source {
                let word = listed.source_word(word)?;
                ids.push(found_in.find_source_word(word).unwrap_or(UNKNOWN_ID));
            }
            if let Some(found) = found_in.find(&ids) {
                let (own_record, other_record) =
                    if swaps { (found, record) } else { (record, found) };
                own.read_targets(own_record, &mut own_targets)?;
                other.read_targets(other_record, &mut other_targets)?;
                shared = self.shares_target(&own_targets, phrase_table, &other_targets, models);
            }
            if shared { Err(Listing::Ended) } else { Ok(()) }
        });
        match listing {
            Err(Listing::Failed(error)) => Err(error.into()),
            Err(Listing::Ended) | Ok(_) => Ok(shared || is_empty),
        }
    }

    /// Whether a target phrase is both in `own`, from this table, and in `others`, from
    /// `phrase_table`.
    fn shares_target(
        &self,
        own: &Targets,
        phrase_table: &PhraseTable,
        others: &Targets,
        models: &Models,
    ) -> bool {
        (0..others.len()).any(|i| {
            let words: Vec<WordId> = others
                .words(i)
                .iter()
                .map(|&word| phrase_table.target_words[word as usize])
                .map(|word| self.project_word(word, models.vocabulary.word(word), models))
                .collect();
            (0..own.len()).any(|i| {
                let own = own.words(i).iter();
                own.map(|&word| self.table.target_words[word as usize]).eq(words.iter().copied())
            })
        })
    }
}

/// The reason why the listing of source phrases ended early.
enum Listing {
    Ended,
    Failed(miriam_probingpt::Error),
}

impl From<miriam_probingpt::Error> for Listing {
    fn from(error: miriam_probingpt::Error) -> Self {
        Listing::Failed(error)
    }
}

/// Words of the vocabulary, reduced to some of their factors.
pub(super) struct FactorProjection {
    /// The reduced form of each word of the vocabulary.
    pub(super) projected: Vec<WordId>,
    /// The factors that are left.
    pub(super) factors: Vec<usize>,
}

impl ReorderingTable {
    /// Creates a reordering table of `table`, not yet joined to a vocabulary.
    pub(crate) fn new(table: PhraseTable) -> Self {
        ReorderingTable { table, projection: None }
    }

    /// Whether words have to be reduced to the table's target factors before they are
    /// compared.
    pub(crate) fn has_projection(&self) -> bool {
        self.projection.is_some()
    }

    /// Returns `word`, whose bytes are `bytes`, reduced to the table's target factors. If no table
    /// has the reduced word, the id is [`UNKNOWN_ID`].
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
