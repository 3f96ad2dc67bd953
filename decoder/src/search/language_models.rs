//! Language-model scores of expansions, in batches.
//!
//! Within a sentence the states of a model are interned: equal states have one
//! `u32`, and hypotheses compare by it. Scores are cached by (state, word), 16
//! bytes an entry, and only for the sentence: half of all requests repeat within
//! one, few do across, and a small cache stays in the L2. Old entries are not
//! cleared but recognised: state ids grow from sentence to sentence, and an
//! entry below the sentence's first id counts as empty.
//!
//! A batch is answered in rounds: every request is followed while the cache
//! knows the next word; the misses of a round are prefetched together and then
//! scored.

use hashbrown::HashTable;
use miriam_layout::prefetch_at;
use miriam_lmcpu::{LanguageModel, LmWord, State};
use miriam_text::Log10;

use super::context::Contexts;
use super::{Search, SearchSpace};
use crate::options::{OptionId, SentenceOptions};

/// Expansions to be scored by all language models.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    /// The joint state before the phrase.
    pub(crate) state: u32,
    /// The phrase.
    pub(crate) option: OptionId,
    /// Whether the phrase completes the sentence, so that `</s>` follows.
    pub(crate) completes: bool,
}

/// A batch of requests with its answers, reused.
#[derive(Default)]
pub(crate) struct Requests {
    requests: Vec<Request>,
    /// A row a request: of each model its natural-log score, unweighted, then the
    /// weighted addends of other features with states.
    scores: Vec<f32>,
    /// Joint states behind the phrases.
    states: Vec<u32>,
    /// Scratch: states by request and feature, chains, and their numbers.
    single_states: Vec<u32>,
    chains: Vec<Chain>,
    active: Vec<u32>,
    missed: Vec<u32>,
}

/// A request on its way through the dependent words of its phrase.
#[derive(Clone, Copy)]
struct Chain {
    state: u32,
    /// Where in the options' pool the next dependent word stands, and how many
    /// there are left.
    next: u32,
    left: u32,
    log10: f32,
}

impl Requests {
    /// Forgets requests and answers.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.requests.clear();
    }

    /// Adds a request; answers come in the same order.
    #[inline]
    pub(crate) fn push(&mut self, state: u32, option: OptionId, completes: bool) {
        self.requests.push(Request { state, option, completes });
    }

    /// How many requests there are.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// What request `i` was answered with, rows being `width` wide: a natural-log
    /// score a model, then addends.
    #[inline(always)]
    pub(crate) fn scores(&self, i: usize, width: usize) -> &[f32] {
        &self.scores[i * width..(i + 1) * width]
    }

    /// The joint state behind request `i`.
    #[inline(always)]
    pub(crate) fn state(&self, i: usize) -> u32 {
        self.states[i]
    }

    /// Answers all requests, which `search` made.
    pub(crate) fn answer(
        &mut self,
        space: &SearchSpace<'_>,
        search: &dyn Search,
        lms: &mut [LanguageModelScores],
        contexts: &mut Contexts,
        joint: &mut JointStates,
    ) {
        self.states.clear();
        self.scores.clear();
        match lms {
            _ if !contexts.is_empty() => self.answer_many(space, search, lms, contexts, joint),
            [] => self.states.resize(self.requests.len(), 0),
            // With one model its states are the joint states.
            [only] => {
                let model = &*space.system.language_models[0].model;
                self.follow(model, 0, space.options, only, joint);
                self.scores.extend(self.chains.iter().map(|c| Log10(c.log10).to_ln().0));
                self.states.extend(self.chains.iter().map(|c| c.state));
            }
            _ => self.answer_many(space, search, lms, contexts, joint),
        }
    }

    fn answer_many(
        &mut self,
        space: &SearchSpace<'_>,
        search: &dyn Search,
        lms: &mut [LanguageModelScores],
        contexts: &mut Contexts,
        joint: &mut JointStates,
    ) {
        let (n, models) = (self.requests.len(), lms.len());
        let (width, parts) = (space.system.answer_width, joint.parts);
        self.scores.resize(n * width, 0.0);
        self.single_states.clear();
        self.single_states.resize(n * parts, 0);
        for (m, lm) in lms.iter_mut().enumerate() {
            let model = &*space.system.language_models[m].model;
            self.follow(model, m, space.options, lm, joint);
            for (i, chain) in self.chains.iter().enumerate() {
                self.scores[i * width + m] = Log10(chain.log10).to_ln().0;
                self.single_states[i * parts + m] = chain.state;
            }
        }
        if !contexts.is_empty() {
            for i in 0..n {
                let addends = &mut self.scores[i * width + models..(i + 1) * width];
                let states = &mut self.single_states[i * parts + models..(i + 1) * parts];
                let expansion = search.expansion(i);
                contexts.answer(space, search, expansion, joint, models, (addends, states));
            }
        }
        for states in self.single_states.chunks_exact(parts) {
            self.states.push(joint.intern(states));
        }
    }

    /// Leaves in `chains` what model `m` says to each request.
    #[inline]
    fn follow(
        &mut self,
        model: &dyn LanguageModel,
        m: usize,
        options: &SentenceOptions,
        lm: &mut LanguageModelScores,
        joint: &JointStates,
    ) {
        self.chains.clear();
        self.chains.extend(self.requests.iter().map(|request| {
            let part = options.lm_part(request.option, m);
            let state = joint.state(request.state, m);
            Chain { state, next: part.pool, left: u32::from(part.dependent), log10: 0.0 }
        }));
        if self.requests.len() < WORTH_ROUNDS {
            self.follow_one_by_one(model, m, options, lm);
        } else {
            self.follow_in_rounds(model, m, options, lm);
        }
    }

    fn follow_one_by_one(
        &mut self,
        model: &dyn LanguageModel,
        m: usize,
        options: &SentenceOptions,
        lm: &mut LanguageModelScores,
    ) {
        for chain in &self.chains {
            if chain.left > 0 {
                lm.prefetch(chain.state, options.pooled_word(chain.next));
            }
        }
        for (chain, request) in self.chains.iter_mut().zip(&self.requests) {
            while chain.left > 0 {
                let (log10, next) = lm.score(model, chain.state, options.pooled_word(chain.next));
                chain.step(log10, next);
            }
            chain.close(options, m, request);
            if request.completes && options.scores(request.option).len > 0 {
                let (log10, next) = lm.score(model, chain.state, model.end_of_sentence());
                chain.log10 += log10;
                chain.state = next;
            }
        }
    }

    fn follow_in_rounds(
        &mut self,
        model: &dyn LanguageModel,
        m: usize,
        options: &SentenceOptions,
        lm: &mut LanguageModelScores,
    ) {
        let Requests { requests, chains, active, missed, .. } = self;
        active.clear();
        active.extend((0..chains.len() as u32).filter(|&i| chains[i as usize].left > 0));
        lm.run(model, chains, active, missed, |chain| options.pooled_word(chain.next));
        for (i, (chain, request)) in chains.iter_mut().zip(&*requests).enumerate() {
            chain.close(options, m, request);
            // `</s>` is one more dependent word. An empty phrase returns at
            // once, and then no `</s>` is scored.
            if request.completes && options.scores(request.option).len > 0 {
                chain.left = 1;
                active.push(i as u32);
            }
        }
        if !active.is_empty() {
            let end = model.end_of_sentence();
            lm.run(model, chains, active, missed, |_| end);
        }
    }
}

/// One model's states and scores within a sentence.
pub(crate) struct LanguageModelScores {
    states: Vec<State>,
    ids: HashTable<u32>,
    /// The id of the first state of this sentence.
    base: u32,
    cache: Vec<Cached>,
    live: usize,
}

/// log10 p(word | state) and the state behind; empty when `state` is old.
#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Cached {
    state: u32,
    word: u32,
    log10: f32,
    next: u32,
}

const FIRST_CACHE: usize = 1 << 13;
/// Requests from which on a batch is worked on in rounds. The neighbours of a
/// popped item come in ones and twos, which are quicker one after the other.
const WORTH_ROUNDS: usize = 4;

impl LanguageModelScores {
    /// Without states; ids of states start at 1, so that a cache of zeros is
    /// empty.
    pub(crate) fn new() -> Self {
        LanguageModelScores {
            states: Vec::new(),
            ids: HashTable::new(),
            base: 1,
            cache: vec![Cached::default(); FIRST_CACHE],
            live: 0,
        }
    }

    /// Begins a sentence.
    pub(crate) fn start(&mut self) {
        self.base = match self.base.checked_add(self.states.len() as u32) {
            Some(base) if base < u32::MAX / 2 => base,
            _ => {
                self.cache.fill(Cached::default());
                1
            }
        };
        self.states.clear();
        self.ids.clear();
        self.live = 0;
    }

    /// The id of `state`.
    #[inline]
    pub(crate) fn intern(&mut self, state: &State) -> u32 {
        let (states, base) = (&self.states, self.base);
        let hash = hash_state(state);
        if let Some(&id) = self.ids.find(hash, |&id| states[(id - base) as usize] == *state) {
            return id;
        }
        let id = base + states.len() as u32;
        self.states.push(*state);
        let states = &self.states;
        self.ids.insert_unique(hash, id, |&id| hash_state(&states[(id - base) as usize]));
        id
    }

    /// Follows every chain in `active` to its end; `word` tells the next word of
    /// a chain. `active` is empty afterwards.
    #[inline(always)]
    fn run(
        &mut self,
        model: &dyn LanguageModel,
        chains: &mut [Chain],
        active: &mut Vec<u32>,
        missed: &mut Vec<u32>,
        word: impl Fn(&Chain) -> LmWord,
    ) {
        for &i in &*active {
            let chain = &chains[i as usize];
            self.prefetch(chain.state, word(chain));
        }
        while !active.is_empty() {
            missed.clear();
            for &i in &*active {
                let chain = &mut chains[i as usize];
                while chain.left > 0 {
                    match self.find(chain.state, word(chain)) {
                        Some((log10, next)) => chain.step(log10, next),
                        None => {
                            missed.push(i);
                            break;
                        }
                    }
                }
            }
            for &i in &*missed {
                let chain = &chains[i as usize];
                let context = &self.states[(chain.state - self.base) as usize];
                model.prefetch(context, word(chain));
            }
            for &i in &*missed {
                let chain = &mut chains[i as usize];
                let (log10, next) = self.score(model, chain.state, word(chain));
                chain.step(log10, next);
            }
            std::mem::swap(active, missed);
        }
    }

    #[inline(always)]
    fn slot(&self, state: u32, word: LmWord) -> usize {
        let key = u64::from(state) << 32 | u64::from(word.0);
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.cache.len() - 1)
    }

    #[inline(always)]
    fn find(&self, state: u32, word: LmWord) -> Option<(f32, u32)> {
        let mut slot = self.slot(state, word);
        loop {
            let entry = &self.cache[slot];
            if entry.state == state && entry.word == word.0 {
                return Some((entry.log10, entry.next));
            }
            if entry.state < self.base {
                return None;
            }
            slot = (slot + 1) & (self.cache.len() - 1);
        }
    }

    #[inline(always)]
    fn prefetch(&self, state: u32, word: LmWord) {
        prefetch_at(&self.cache, self.slot(state, word));
    }

    /// The state called `id`.
    pub(super) fn state(&self, id: u32) -> &State {
        &self.states[(id - self.base) as usize]
    }

    /// From the cache, else from the model.
    #[inline(always)]
    pub(super) fn score(
        &mut self,
        model: &dyn LanguageModel,
        state: u32,
        word: LmWord,
    ) -> (f32, u32) {
        match self.find(state, word) {
            Some(known) => known,
            None => self.ask(model, state, word),
        }
    }

    #[inline(never)]
    fn ask(&mut self, model: &dyn LanguageModel, state: u32, word: LmWord) -> (f32, u32) {
        let mut behind = State::EMPTY;
        let context = &self.states[(state - self.base) as usize];
        let (log10, _) = model.score(context, word, &mut behind);
        let next = self.intern(&behind);
        if (self.live + 1) * 2 > self.cache.len() {
            self.grow();
        }
        self.insert(Cached { state, word: word.0, log10: log10.0, next });
        self.live += 1;
        (log10.0, next)
    }

    fn insert(&mut self, entry: Cached) {
        let mut slot = self.slot(entry.state, LmWord(entry.word));
        while self.cache[slot].state >= self.base {
            slot = (slot + 1) & (self.cache.len() - 1);
        }
        self.cache[slot] = entry;
    }

    fn grow(&mut self) {
        let size = self.cache.len() * 2;
        let old = std::mem::replace(&mut self.cache, vec![Cached::default(); size]);
        for entry in old {
            if entry.state >= self.base {
                self.insert(entry);
            }
        }
    }
}

impl Chain {
    #[inline(always)]
    fn step(&mut self, log10: f32, next: u32) {
        self.log10 += log10;
        self.state = next;
        self.next += 1;
        self.left -= 1;
    }

    /// The constant scores behind the dependent words, and the state of a phrase
    /// that brings its own.
    #[inline(always)]
    fn close(&mut self, options: &SentenceOptions, m: usize, request: &Request) {
        let part = options.lm_part(request.option, m);
        for &bits in options.constants(part) {
            self.log10 += f32::from_bits(bits);
        }
        if part.closed {
            self.state = part.state;
        }
    }
}

#[inline]
fn hash_state(state: &State) -> u64 {
    let hash = state.entries().iter().fold(state.len() as u64, |hash, (word, _)| {
        (hash ^ u64::from(word.0)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    hash ^ hash >> 32
}

/// The states of several features together as one `u32`: those of the language
/// models, then those of other features. With one feature (or none) it is that
/// feature's own state.
pub(crate) struct JointStates {
    parts: usize,
    states: Vec<u32>,
    ids: HashTable<u32>,
}

impl JointStates {
    /// For `parts` features.
    pub(crate) fn new(parts: usize) -> Self {
        JointStates { parts, states: Vec::new(), ids: HashTable::new() }
    }

    /// Begins a sentence.
    pub(crate) fn start(&mut self) {
        self.states.clear();
        self.ids.clear();
    }

    /// The joint state of one state a feature.
    #[inline(always)]
    pub(crate) fn intern(&mut self, states: &[u32]) -> u32 {
        match states {
            [] => 0,
            [only] => *only,
            _ => self.intern_many(states),
        }
    }

    fn intern_many(&mut self, states: &[u32]) -> u32 {
        let hash = |states: &[u32]| {
            states.iter().fold(0u64, |hash, &state| {
                (hash ^ u64::from(state)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
            })
        };
        let (known, parts) = (&self.states, self.parts);
        let tuple = |id: u32| &known[id as usize * parts..(id as usize + 1) * parts];
        if let Some(&id) = self.ids.find(hash(states), |&id| tuple(id) == states) {
            return id;
        }
        let id = (known.len() / parts) as u32;
        self.states.extend_from_slice(states);
        let known = &self.states;
        self.ids.insert_unique(hash(states), id, |&id| {
            hash(&known[id as usize * parts..(id as usize + 1) * parts])
        });
        id
    }

    /// The state of feature `m` in the joint state `id`.
    #[inline(always)]
    pub(crate) fn state(&self, id: u32, m: usize) -> u32 {
        if self.parts == 1 { id } else { self.states[id as usize * self.parts + m] }
    }
}
