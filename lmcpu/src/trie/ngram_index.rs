//! Lookups in a trie.

use miriam_storage::prefetch_at;
use miriam_storage::quotient_table::ProbeState;

use super::*;
use crate::{FoundNgram, LookupStep, NgramIndex};

impl NgramIndex for TrieModel {
    /// The number of an n-gram; the id of a single word.
    type NodeRef = u32;
    type Lookup = ProbeState;
    type Words = Dictionary;

    #[inline(always)]
    fn head(&self) -> &ModelHead {
        &self.head
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        prefetch_at(&self.unigrams, word.0 as usize);
    }

    #[inline(always)]
    fn can_prefetch_bigram(&self) -> bool {
        true
    }

    #[inline(always)]
    fn prefetch_bigram(&self, older: LmWord, word: LmWord) {
        self.prefetch_unigram(word);
        if let Some(bigrams) = self.levels.first() {
            bigrams.prefetch(&bigrams.begin_search(word.0, older.0));
        }
    }

    #[inline(always)]
    fn unigram(&self, word: LmWord) -> FoundNgram<u32> {
        let unigram = self.unigrams[word.0 as usize];
        let longer = (unigram.has_children != 0 && !self.levels.is_empty()).then_some(word.0);
        FoundNgram { log10: unigram.log10, backoff: unigram.backoff, extend_left: longer }
    }

    #[inline(always)]
    fn begin_lookup(&self, order: usize, node: u32, older: LmWord) -> ProbeState {
        let level = &self.levels[order - 2];
        let search = level.begin_search(node, older.0);
        level.prefetch(&search);
        search
    }

    #[inline(always)]
    fn begin_lookup_no_prefetch(&self, order: usize, node: u32, older: LmWord) -> ProbeState {
        self.levels[order - 2].begin_search(node, older.0)
    }

    #[inline(always)]
    fn step_lookup(&self, order: usize, seek: &mut ProbeState) -> LookupStep<u32> {
        self.levels[order - 2].step_search(seek)
    }
}
