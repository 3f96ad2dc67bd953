//! The n-grams of a trie file as lists, sorted by their words, newest first, as ids
//! go; blanks are left out.
//!
//! An entry names its suffix by number, so an order is put together from the one
//! before: sorted by the suffix's place there, then by the oldest word.

use std::path::Path;

use miriam_storage::{Container, LoadMethod};
use miriam_textio::{Vocabulary, display_name};
use rayon::prelude::*;

use super::{TrieModel, verify};
use crate::arpa::{Section, Unigram};
use crate::{NgramIndex, NgramSource, Result};

/// A trie file being listed.
pub struct TrieSource {
    name: String,
    container: Container,
    model: TrieModel,
    vocabulary: Vocabulary,
    unigrams: Vec<Unigram>,
    next_order: usize,
    suffixes: SuffixLevel,
}

/// The n-grams of the order before, blanks among them.
struct SuffixLevel {
    /// Their words, newest first, end to end, in the order of the list.
    words: Vec<u32>,
    /// By number: the place in the list.
    positions: Vec<u32>,
}

impl TrieSource {
    /// Opens the file at `path`, which is checked whole.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_container(Container::open_any(path, LoadMethod::Lazy)?, display_name(path))
    }

    pub(super) fn from_container(container: Container, name: String) -> Result<Self> {
        verify(&container)?;
        let model = TrieModel::from_container(&container)?;
        let mut vocabulary = Vocabulary::new();
        for word in model.words.iter() {
            vocabulary.intern(word);
        }
        let unigrams = model
            .unigrams
            .iter()
            .map(|unigram| Unigram { log10: unigram.log10, backoff: unigram.backoff })
            .collect();
        let ids: Vec<u32> = (0..vocabulary.len() as u32).collect();
        let below = SuffixLevel { words: ids.clone(), positions: ids };
        Ok(TrieSource {
            name,
            container,
            model,
            vocabulary,
            unigrams,
            next_order: 2,
            suffixes: below,
        })
    }
}

impl NgramSource for TrieSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn counts(&self) -> &[u64] {
        &self.model.metadata.counts
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn unigrams(&self) -> &[Unigram] {
        &self.unigrams
    }

    fn has_unknown(&self) -> bool {
        self.model.metadata.has_unknown
    }

    fn next_section(&mut self) -> Result<Option<Section>> {
        let order = self.next_order;
        if order > NgramIndex::order(&self.model) {
            return Ok(None);
        }
        self.next_order += 1;
        let level = &self.model.levels[order - 2];
        // The file was checked, so suffixes are there and places fit.
        let mut entries: Vec<(u64, u32, u64)> = level
            .entries()
            .map(|entry| {
                let place = u64::from(self.suffixes.positions[entry.parent as usize]);
                (place << 32 | u64::from(entry.word), entry.number, entry.value)
            })
            .collect();
        entries.par_sort_unstable();
        let is_last = order == NgramIndex::order(&self.model);
        let blanks = self.model.blanks_of(order);
        let mut section = Section::default();
        section.order = order;
        let mut words = Vec::with_capacity(entries.len() * order);
        let mut places = vec![0; level.capacity() as usize];
        for (place, &(key, number, value)) in entries.iter().enumerate() {
            let suffix = (key >> 32) as usize * (order - 1);
            words.extend_from_slice(&self.suffixes.words[suffix..suffix + order - 1]);
            words.push(key as u32);
            places[number as usize] = place as u32;
            if blanks.binary_search(&number).is_err() {
                let found = level.decode_ngram(number, value);
                section.words.extend(words[place * order..].iter().rev());
                section.log10.push(found.log10);
                if !is_last {
                    section.backoffs.push(found.backoff);
                }
            }
        }
        self.suffixes = SuffixLevel { words, positions: places };
        Ok(Some(section))
    }

    fn ngram_error(&self, section: &Section, index: usize, reason: String) -> crate::Error {
        let place = format!("order-{}", section.order);
        self.container.damaged(&place, format!("n-gram {index}: {reason}")).into()
    }
}
