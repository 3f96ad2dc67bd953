//! The n-grams of a trie file as lists, sorted by the ids of their words, newest first, without
//! blanks.

use miriam_storage::Container;
use miriam_textio::display_name;
use rayon::prelude::*;

use super::{TrieModel, verify};
use crate::Result;
use crate::arpa::Unigram;
use crate::level_source::{
    LevelNgrams, LevelReader, LevelSource, keep_flags, offsets_by_key, read_vocabulary,
};

/// A reader of the orders of a trie file.
pub(crate) struct TrieLevels {
    model: TrieModel,
    /// By number of the n-grams of the previous order: the position in the order of words.
    positions: Vec<u32>,
    /// The number of n-grams of the previous order.
    suffix_count: usize,
}

/// Returns all n-grams of a container of this kind, which is checked in full.
pub(crate) fn trie_source(container: &Container) -> Result<LevelSource<TrieLevels>> {
    verify(container)?;
    let model = TrieModel::from_container(container)?;
    let vocabulary = read_vocabulary(container, model.head.words.iter(), model.head.words.len())?;
    let unigrams = model
        .unigrams
        .iter()
        .map(|unigram| Unigram { log10: unigram.log10, backoff: unigram.backoff })
        .collect();
    let (counts, has_unknown) = (model.metadata.counts.clone(), model.metadata.head.has_unknown);
    let suffix_count = model.head.words.len();
    let levels = TrieLevels { positions: (0..suffix_count as u32).collect(), model, suffix_count };
    let name = display_name(container.path());
    Ok(LevelSource::new(name, counts, vocabulary, unigrams, has_unknown, levels))
}

impl LevelReader for TrieLevels {
    fn read_level(&mut self, order: usize) -> Result<LevelNgrams> {
        let level = &self.model.levels[order - 2];
        // The file was checked, so suffixes are there and positions fit.
        let mut entries: Vec<(u64, u32, u64)> = level
            .entries()
            .map(|entry| {
                let suffix = u64::from(self.positions[entry.parent as usize]);
                (suffix << 32 | u64::from(entry.word), entry.number, entry.value)
            })
            .collect();
        entries.par_sort_unstable();
        let mut positions = vec![0; level.capacity() as usize];
        for (position, &(_, number, _)) in entries.iter().enumerate() {
            positions[number as usize] = position as u32;
        }
        let ngrams = entries.iter().map(|&(_, number, value)| level.decode_ngram(number, value));
        let longest = order == self.model.head.order();
        let numbers = entries.iter().map(|entry| entry.1);
        let suffixes = entries.iter().map(|entry| (entry.0 >> 32) as usize);
        let listed = LevelNgrams {
            log10: ngrams.clone().map(|found| found.log10).collect(),
            backoffs: if longest {
                Vec::new()
            } else {
                ngrams.map(|found| found.backoff).collect()
            },
            oldest: entries.iter().map(|entry| entry.0 as u32).collect(),
            offsets: offsets_by_key(self.suffix_count, suffixes),
            keep: keep_flags(self.model.blanks.for_order(order), numbers),
        };
        (self.positions, self.suffix_count) = (positions, entries.len());
        Ok(listed)
    }
}
