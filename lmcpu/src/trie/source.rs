//! The n-grams of a trie file as lists, in the order of the file; blanks are
//! left out.

use std::path::Path;

use miriam_layout::{Container, Load};
use miriam_text::{Vocabulary, name_of};
use rayon::prelude::*;

use super::{TrieModel, verify};
use crate::arpa::{Section, Unigram};
use crate::{MAX_ORDER, NgramIndex, NgramSource, Result};

/// A trie file being listed.
pub struct TrieSource {
    name: String,
    container: Container,
    model: TrieModel,
    vocabulary: Vocabulary,
    unigrams: Vec<Unigram>,
    next_order: usize,
}

impl TrieSource {
    /// Opens the file at `path`, which is checked whole.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_container(Container::open_any(path, Load::Lazy)?, name_of(path))
    }

    pub(super) fn from_container(container: Container, name: String) -> Result<Self> {
        verify(&container)?;
        let model = TrieModel::from_container(&container)?;
        let mut vocabulary = Vocabulary::new();
        for word in model.words.iter() {
            vocabulary.intern(word);
        }
        let unigrams = model.unigrams[..vocabulary.len()]
            .iter()
            .map(|unigram| Unigram { log10: unigram.log10, backoff: unigram.backoff })
            .collect();
        Ok(TrieSource { name, container, model, vocabulary, unigrams, next_order: 2 })
    }

    /// The n-grams of `order` that end in `newest`.
    fn ending_in(&self, order: usize, newest: u32, into: &mut Section) {
        let mut words = [0; MAX_ORDER];
        words[order - 1] = newest;
        let begin = self.model.unigrams[newest as usize].children;
        let end = self.model.unigrams[newest as usize + 1].children;
        self.descend(order, 2, begin..end, &mut words, into);
    }

    /// Takes the nodes `range` of order `depth`, or what hangs below them, into
    /// the section. Recursion ends at the order, at most [`MAX_ORDER`].
    fn descend(
        &self,
        order: usize,
        depth: usize,
        range: std::ops::Range<u32>,
        words: &mut [u32; MAX_ORDER],
        into: &mut Section,
    ) {
        let level = &self.model.levels[depth - 2];
        for at in range {
            words[order - depth] = level.word(at);
            if depth < order {
                let children = level.children_begin(at)..level.children_begin(at + 1);
                self.descend(order, depth + 1, children, words, into);
            } else if self.model.blanks_of(order).binary_search(&at).is_err() {
                let found = level.get(at);
                into.words.extend_from_slice(&words[..order]);
                into.log10.push(found.log10);
                if order < self.order() {
                    into.backoffs.push(found.backoff);
                }
            }
        }
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
        /// Words whose n-grams one task lists.
        const WORDS: usize = 256;
        let all: Vec<u32> = (0..self.vocabulary.len() as u32).collect();
        let parts: Vec<Section> = all
            .par_chunks(WORDS)
            .map(|words| {
                let mut part = Section::default();
                words.iter().for_each(|&newest| self.ending_in(order, newest, &mut part));
                part
            })
            .collect();
        let mut section = Section::default();
        section.order = order;
        for part in parts {
            section.words.extend_from_slice(&part.words);
            section.log10.extend_from_slice(&part.log10);
            section.backoffs.extend_from_slice(&part.backoffs);
        }
        Ok(Some(section))
    }

    fn ngram_error(&self, section: &Section, index: usize, reason: String) -> crate::Error {
        let place = format!("order-{}", section.order);
        self.container.damaged(&place, format!("n-gram {index}: {reason}")).into()
    }
}
