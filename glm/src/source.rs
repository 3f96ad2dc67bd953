//! The n-grams of a `glm` file as lists, sorted by their word ids, newest word first,
//! without the blanks.

use std::mem::take;

use miriam_lmcpu::Result;
use miriam_lmcpu::arpa::Unigram;
use miriam_lmcpu::level_source::{
    LevelNgrams, LevelReader, LevelSource, keep_flags, offsets_by_key, read_vocabulary,
};
use miriam_storage::Container;
use miriam_textio::display_name;

use crate::model::GlmModel;
use crate::ngram_table::NgramTable;

/// Reader of the orders of a `glm` file; each order is fully checked before it is listed.
pub(crate) struct GlmLevels {
    container: Container,
    model: GlmModel,
    /// The n-grams of the previous order.
    suffixes: NgramTable,
}

/// Returns all n-grams of a container of this kind.
pub(crate) fn glm_source(container: Container) -> Result<LevelSource<GlmLevels>> {
    let model = GlmModel::from_container(&container)?;
    let words = &model.head.words;
    let vocabulary = read_vocabulary(&container, words.iter(), words.len())?;
    let suffixes = NgramTable::from_unigrams(&model, &container)?;
    let unigrams = suffixes
        .log10
        .iter()
        .zip(&suffixes.backoffs)
        .map(|(&log10, &backoff)| Unigram { log10, backoff })
        .collect();
    let (counts, has_unknown) = (model.metadata.counts.clone(), model.metadata.head.has_unknown);
    let name = display_name(container.path());
    let levels = GlmLevels { container, model, suffixes };
    Ok(LevelSource::new(name, counts, vocabulary, unigrams, has_unknown, levels))
}

impl LevelReader for GlmLevels {
    fn read_level(&mut self, order: usize) -> Result<LevelNgrams> {
        let mut table = self.suffixes.next_order(&self.model, &self.container, order)?;
        let suffixes = table.parents.iter().map(|&parent| parent as usize);
        let level = LevelNgrams {
            offsets: offsets_by_key(self.suffixes.len(), suffixes),
            log10: take(&mut table.log10),
            backoffs: if self.model.is_longest(order) {
                Vec::new()
            } else {
                take(&mut table.backoffs)
            },
            oldest: take(&mut table.words),
            keep: keep_flags(self.model.blanks.for_order(order), table.locations.iter().copied()),
        };
        self.suffixes = table;
        Ok(level)
    }
}
