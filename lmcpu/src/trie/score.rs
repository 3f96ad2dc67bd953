//! The trie as the walk of a query sees it.

use miriam_layout::prefetch_at;
use miriam_layout::sampled::Search;

use super::*;
use crate::trie::level::Children;
use crate::{Found, NgramIndex, Step};

impl NgramIndex for TrieModel {
    type Place = Children;
    type Seek = Search;

    fn order(&self) -> usize {
        self.metadata.order as usize
    }

    fn num_words(&self) -> usize {
        self.words.len()
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        // A damaged index may name a word that is not there.
        match self.words.find(word) {
            Some(id) if (id as usize) < self.words.len() => LmWord(id),
            _ => LmWord::UNKNOWN,
        }
    }

    fn word(&self, id: LmWord) -> Option<&[u8]> {
        self.words.get(id.0)
    }

    fn begin_state(&self) -> State {
        self.begin
    }

    fn end_of_sentence(&self) -> LmWord {
        LmWord(self.metadata.end)
    }

    fn minimisation_is_closed(&self) -> bool {
        self.metadata.minimisation_is_closed
    }

    #[inline(always)]
    fn prefetch_unigram(&self, word: LmWord) {
        prefetch_at(&self.unigrams, word.0 as usize);
        // Where its children end.
        prefetch_at(&self.unigrams, word.0 as usize + 1);
    }

    #[inline(always)]
    fn unigram(&self, word: LmWord) -> Found<Children> {
        let unigram = self.unigrams[word.0 as usize];
        let begin = unigram.children;
        let most = self.levels.first().map_or(0, |level| level.len);
        let end = self.unigrams[word.0 as usize + 1].children.min(most);
        let longer = (begin < end).then_some(Children { begin, end });
        Found { log10: unigram.log10, backoff: unigram.backoff, longer }
    }

    #[inline(always)]
    fn seek(&self, order: usize, place: Children, older: LmWord) -> Search {
        self.levels[order - 2].seek(place, older.0)
    }

    #[inline(always)]
    fn step(&self, order: usize, seek: &mut Search) -> Step<Children> {
        self.levels[order - 2].step(seek)
    }
}
