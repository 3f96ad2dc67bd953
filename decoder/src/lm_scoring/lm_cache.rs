//! Cache of language-model scores during a search.
//!
//! Within a sentence, the states of a model are interned: equal states have the same id, by which
//! hypotheses are compared. Scores are cached by state and word, in entries of 16 bytes, for one
//! sentence only: half of all requests repeat within a sentence, few repeat across sentences,
//! and a small cache stays in the CPU's L2 cache. Old entries need not be cleared: state ids grow
//! from sentence to sentence, and an entry whose state id is below the first id of the sentence
//! counts as empty.

use miriam_lmcpu::{LanguageModel, LmWord, State};
use miriam_storage::prefetch_at;

use super::LmPhraseParts;
use super::interned_states::InternedStates;

/// One model's states and scores within a sentence.
pub(crate) struct LmScoreCache {
    states: InternedStates,
    /// A hash table with linear probing; its length is a power of two.
    cache: Vec<CacheEntry>,
    /// The number of entries of this sentence.
    num_entries: usize,
    /// Buffer for the state after a word.
    next_state: State,
}

/// A cached score: log10 p(word | state), with the state after the word.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct CacheEntry {
    /// The id of the state in the upper 32 bits and the word in the lower ones. The entry is empty
    /// if the state belongs to an earlier sentence.
    key: u64,
    log10: f32,
    /// The id of the state after the word.
    next_state: u32,
}

/// A state of a model: the id of an interned state, or the state itself.
#[derive(Clone, Copy)]
pub(crate) enum LmContext {
    Interned(u32),
    State(State),
}

/// The initial number of slots of the cache.
const INITIAL_CACHE_SIZE: usize = 1 << 14;

#[inline(always)]
fn cache_key(state: u32, word: LmWord) -> u64 {
    u64::from(state) << 32 | u64::from(word.0)
}

impl LmScoreCache {
    /// Creates an empty cache. No state has the id 0, so a cache of zeros is empty.
    pub(crate) fn new() -> Self {
        LmScoreCache {
            states: InternedStates::new(),
            cache: vec![CacheEntry::default(); INITIAL_CACHE_SIZE],
            num_entries: 0,
            next_state: State::EMPTY,
        }
    }

    /// Begins a sentence.
    pub(crate) fn start(&mut self) {
        if !self.states.start() {
            self.cache.fill(CacheEntry::default());
        }
        self.num_entries = 0;
    }

    /// Returns the id of `state`.
    #[inline]
    pub(crate) fn intern(&mut self, state: &State) -> u32 {
        self.states.intern(state)
    }

    /// Returns the log10 probability of a phrase after `state`, and the state after the phrase:
    /// scores the words that depend on the state and adds the phrase's constant scores. If the
    /// phrase `ends` the sentence, `</s>` is included. Later words of the phrase, whose scores are
    /// in its total, are left out.
    #[inline(always)]
    pub(crate) fn score_phrase(
        &mut self,
        model: &dyn LanguageModel,
        phrase: LmPhraseParts<'_>,
        state: u32,
        ends: bool,
    ) -> (f32, u32) {
        let (mut log10, mut state) = (0f32, state);
        for &word in phrase.dependent {
            let (score, next) = self.score(model, state, LmWord(word));
            log10 += score;
            state = next;
        }
        log10 = phrase.add_constants(log10);
        if let Some(known) = phrase.right_state {
            state = known;
        }
        if ends {
            let (score, next) = self.score(model, state, model.end_of_sentence());
            log10 += score;
            state = next;
        }
        (log10, state)
    }

    /// Starts loading the memory of the cache's entry for `word` after `state`.
    #[inline(always)]
    pub(crate) fn prefetch(&self, state: u32, word: LmWord) {
        prefetch_at(&self.cache, self.slot_of(cache_key(state, word)));
    }

    /// Starts loading the model's data for `word` after `state`, if the cache does not have the
    /// score.
    #[inline(always)]
    pub(crate) fn prefetch_model(&self, model: &dyn LanguageModel, state: u32, word: LmWord) {
        if self.find(state, word).is_none() {
            model.prefetch(self.state(state), word);
        }
    }

    #[inline(always)]
    fn slot_of(&self, key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.cache.len() - 1)
    }

    /// Returns log10 p(word | state) and the state after the word, if they are in the cache.
    #[inline(always)]
    pub(crate) fn find(&self, state: u32, word: LmWord) -> Option<(f32, u32)> {
        let key = cache_key(state, word);
        let mut slot = self.slot_of(key);
        loop {
            let entry = &self.cache[slot];
            if entry.key == key {
                return Some((entry.log10, entry.next_state));
            }
            if ((entry.key >> 32) as u32) < self.states.first_id() {
                return None;
            }
            slot = (slot + 1) & (self.cache.len() - 1);
        }
    }

    /// Returns the state with the id `id`.
    #[inline(always)]
    pub(crate) fn state(&self, id: u32) -> &State {
        self.states.get(id)
    }

    /// Scores a word from the cache, or else from the model.
    #[inline(always)]
    pub(crate) fn score(
        &mut self,
        model: &dyn LanguageModel,
        state: u32,
        word: LmWord,
    ) -> (f32, u32) {
        match self.find(state, word) {
            Some(known) => known,
            None => self.query_model(model, state, word),
        }
    }

    /// Returns the log10 probability that [`LmScoreCache::score_phrase`] returns, without changing
    /// the cache, which has nearly all scores after a search.
    pub(crate) fn rescore_phrase(
        &self,
        model: &dyn LanguageModel,
        phrase: LmPhraseParts<'_>,
        state: u32,
        ends: bool,
    ) -> f32 {
        let (mut log10, mut context) = (0f32, LmContext::Interned(state));
        for &word in phrase.dependent {
            let (score, next) = self.rescore(model, context, LmWord(word));
            log10 += score;
            context = next;
        }
        log10 = phrase.add_constants(log10);
        if let Some(known) = phrase.right_state {
            context = LmContext::Interned(known);
        }
        if ends {
            log10 += self.rescore(model, context, model.end_of_sentence()).0;
        }
        log10
    }

    /// Scores a word from the cache, or else from the model, without changing the cache.
    pub(crate) fn rescore(
        &self,
        model: &dyn LanguageModel,
        context: LmContext,
        word: LmWord,
    ) -> (f32, LmContext) {
        let state = match context {
            LmContext::Interned(id) => match self.find(id, word) {
                Some((log10, next)) => return (log10, LmContext::Interned(next)),
                None => *self.state(id),
            },
            LmContext::State(state) => state,
        };
        let mut next = State::EMPTY;
        let (log10, _) = model.score(&state, word, &mut next);
        (log10.0, LmContext::State(next))
    }

    /// Scores a word by the model and adds the score to the cache.
    #[inline(never)]
    fn query_model(&mut self, model: &dyn LanguageModel, state: u32, word: LmWord) -> (f32, u32) {
        let (log10, _) = model.score(self.states.get(state), word, &mut self.next_state);
        let next = self.states.intern(&self.next_state);
        if (self.num_entries + 1) * 2 > self.cache.len() {
            self.grow();
        }
        self.insert(CacheEntry { key: cache_key(state, word), log10: log10.0, next_state: next });
        self.num_entries += 1;
        (log10.0, next)
    }

    /// Adds an entry whose key is not in the cache, which has room for it.
    fn insert(&mut self, entry: CacheEntry) {
        let mut slot = self.slot_of(entry.key);
        while (self.cache[slot].key >> 32) as u32 >= self.states.first_id() {
            slot = (slot + 1) & (self.cache.len() - 1);
        }
        self.cache[slot] = entry;
    }

    /// Doubles the cache.
    fn grow(&mut self) {
        let size = self.cache.len() * 2;
        let old = std::mem::replace(&mut self.cache, vec![CacheEntry::default(); size]);
        for entry in old {
            if (entry.key >> 32) as u32 >= self.states.first_id() {
                self.insert(entry);
            }
        }
    }
}
