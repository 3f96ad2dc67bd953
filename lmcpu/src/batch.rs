//! Interleaving of many queries: while one waits for memory, others are stepped.
//!
//! Queries form a ring. A visit steps one query as far as its prefetched memory allows, and
//! prefetches what the query needs next. Then the next query is visited. A query that ends is
//! replaced at once, so that the ring stays full, however long walks and sentences are
//! (asynchronous memory access chaining, Kocberber et al. 2015). If all lookups of a query begin at
//! once, one visit resolves it, unless a search continues in the next cache line of a table.

use miriam_textio::Log10;

use crate::walk::{Lookups, Query, begin_longest, empty_lookups, usable_context};
use crate::{LmWord, LookupStep, MAX_ORDER, NO_EXTENSION, NgramIndex, Request, ScoreResult, State};

/// The number of queries under way: enough to hide the latency of memory, few enough for their
/// cache lines to stay in the first-level cache.
const LANES: usize = 24;

/// The task of the next visit to a lane.
#[derive(Clone, Copy, PartialEq)]
enum LanePhase {
    /// Walk from the word to the left.
    Resolve,
    /// Look for the longest n-gram that the previous match allows, and for no other.
    LongestOnly,
    /// Compute the state after the previous word, which was not needed so far.
    RebuildState,
}

/// A sentence being scored.
///
/// Most words of running text extend the match of the previous word by one, or again match an
/// n-gram of the highest order. If so, shorter n-grams and the state before the word do not matter.
/// So the longest possible n-gram is looked up first: most words take one lookup instead of one per
/// order. A match implies all that a walk would have found, because models have the context and the
/// suffix of each n-gram. If there is no match, a walk follows. Before the walk, the state before
/// the word is computed if that was skipped.
#[repr(align(64))]
struct Lane<M: NgramIndex> {
    /// The state before the current word and the one after it; [`Lane::is_swapped`] says which
    /// is first.
    states: [State; 2],
    is_swapped: bool,
    phase: LanePhase,
    /// Whether the state before the current word has been computed.
    has_state: bool,
    /// The number of words before the current one that an n-gram may contain: the length of the
    /// state, or at least that length if the state was not computed.
    max_context: usize,
    /// The index of the current word.
    position: usize,
    /// The index of the first word of the sentence.
    start: usize,
    /// The index after the last word of the sentence.
    end: usize,
    query: Query,
    lookups: Lookups<M>,
}

/// The sentences to score, and their scores.
struct Batch<'b, M> {
    model: &'b M,
    /// The state before each sentence.
    begin: &'b State,
    words: &'b [LmWord],
    scores: &'b mut [(Log10, u8)],
}

impl<M: NgramIndex> Lane<M> {
    fn new() -> Self {
        let states = [State::EMPTY; 2];
        let (position, start, end) = (0, 0, 0);
        Lane {
            states,
            is_swapped: false,
            phase: LanePhase::Resolve,
            has_state: true,
            max_context: 0,
            position,
            start,
            end,
            query: Query::new(),
            lookups: empty_lookups::<M>(),
        }
    }

    /// Begins the sentence `words[start..end]` of `batch`.
    fn start_sentence(&mut self, batch: &Batch<'_, M>, (start, end): (usize, usize)) {
        let &Batch { model, begin, words, .. } = batch;
        (self.position, self.start, self.end) = (start, start, end);
        (self.is_swapped, self.phase) = (false, LanePhase::Resolve);
        self.states[0].copy_from(begin);
        if M::INDEPENDENT_LOOKUPS {
            self.has_state = true;
            self.max_context = usable_context(model, begin).len();
            return self.begin_word(batch);
        }
        prefetch_query_start(model, begin, words[start]);
        if let Some(&[first, second]) = words.get(start..start + 2) {
            model.prefetch_bigram(first, second);
        }
        self.begin_walk(model, words[start], usize::MAX);
    }

    /// Begins a walk from `word`. Its context is the state before the current word, of which at
    /// most `limit` words may match.
    #[inline(always)]
    fn begin_walk(&mut self, model: &M, word: LmWord, limit: usize) {
        let context = &self.states[usize::from(self.is_swapped)];
        self.query.begin(model, context, word, limit, &mut self.lookups);
    }

    /// Continues a walk from `word`. When it ends, returns its result and makes the state after the
    /// word the current one.
    #[inline(always)]
    fn resume_walk(&mut self, model: &M, word: LmWord) -> Option<(Log10, u8)> {
        let [first, second] = &mut self.states;
        let (context, next) = if self.is_swapped { (second, first) } else { (first, second) };
        let score = self.query.resume(model, context, word, &mut self.lookups, next)?;
        self.is_swapped = !self.is_swapped;
        Some(score)
    }

    /// Steps the lane as far as prefetched memory allows; true when the current word's
    /// score is known.
    #[inline(always)]
    fn advance(&mut self, batch: &mut Batch<'_, M>) -> bool {
        let (model, at) = (batch.model, self.position);
        if M::INDEPENDENT_LOOKUPS && self.phase == LanePhase::LongestOnly {
            let order = self.max_context + 1;
            match model.step_lookup(order, &mut self.lookups[0]) {
                LookupStep::Pending => return false,
                LookupStep::Absent => {
                    self.begin_shorter(batch);
                    return false;
                }
                LookupStep::Found(found) => {
                    // The context has no more words, so no backoff is added.
                    batch.scores[at] = (Log10(found.log10), order as u8);
                    let is_extended = found.backoff.to_bits() != NO_EXTENSION;
                    (self.has_state, self.max_context) = (false, order - usize::from(!is_extended));
                }
            }
        } else if M::INDEPENDENT_LOOKUPS && self.phase == LanePhase::RebuildState {
            if self.resume_walk(model, batch.words[at - 1]).is_some() {
                self.has_state = true;
                self.phase = LanePhase::Resolve;
                self.begin_walk(model, batch.words[at], self.max_context - 1);
            }
            return false;
        } else {
            let Some(score) = self.resume_walk(model, batch.words[at]) else { return false };
            batch.scores[at] = score;
            if M::INDEPENDENT_LOOKUPS {
                let state = &self.states[usize::from(self.is_swapped)];
                self.has_state = true;
                self.max_context = usable_context(model, state).len();
            }
        }
        self.position = at + 1;
        if self.position < self.end {
            if M::INDEPENDENT_LOOKUPS {
                self.begin_word(batch);
            } else {
                self.begin_walk(model, batch.words[at + 1], usize::MAX);
                if let Some(&[older, word]) = batch.words.get(at + 1..at + 3) {
                    // Prefetches one word further ahead than the walk.
                    model.prefetch_bigram(older, word);
                }
            }
        }
        true
    }

    /// Begins to look for the longest n-gram that ends in the current word.
    #[inline(always)]
    fn begin_word(&mut self, batch: &Batch<'_, M>) {
        let (model, words, at) = (batch.model, batch.words, self.position);
        let first = at.wrapping_sub(self.max_context);
        if let Some(&[oldest, ref newer @ ..]) = words.get(first..at)
            && first >= self.start
        {
            self.phase = LanePhase::LongestOnly;
            self.lookups[0] = begin_longest(model, oldest, newer, words[at]);
        } else {
            self.begin_early_word(batch);
        }
    }

    /// Works like [`Lane::begin_word`] for the first words of a sentence: those without a context,
    /// or with one that contains words before the sentence.
    #[inline(never)]
    fn begin_early_word(&mut self, batch: &Batch<'_, M>) {
        let (model, word) = (batch.model, batch.words[self.position]);
        let mut context = [LmWord::UNKNOWN; MAX_ORDER];
        let context = &mut context[..self.max_context];
        let words = self.words_before(batch, self.position);
        context.iter_mut().rev().zip(words).for_each(|(entry, word)| *entry = word);
        if let &mut [oldest, ref newer @ ..] = context {
            self.phase = LanePhase::LongestOnly;
            self.lookups[0] = begin_longest(model, oldest, newer, word);
        } else {
            self.phase = LanePhase::Resolve;
            model.prefetch_unigram(word);
            self.begin_walk(model, word, 0);
        }
    }

    /// Returns the words before the word `at` from the newest on, including the words before the
    /// sentence.
    fn words_before<'b>(
        &self,
        batch: &'b Batch<'_, M>,
        at: usize,
    ) -> impl Iterator<Item = LmWord> + use<'b, M> {
        let before = batch.begin.entries().iter().map(|entry| entry.0);
        batch.words[self.start..at].iter().rev().copied().chain(before)
    }

    /// Begins a walk through the shorter n-grams that end in the current word. If the state after
    /// the previous word is missing, begins a walk through the n-grams that end in that word
    /// instead.
    #[inline(never)]
    fn begin_shorter(&mut self, batch: &Batch<'_, M>) {
        let &Batch { model, words, .. } = batch;
        let at = self.position;
        model.prefetch_unigram(words[at]);
        if self.has_state {
            self.phase = LanePhase::Resolve;
            return self.begin_walk(model, words[at], self.max_context - 1);
        }
        self.phase = LanePhase::RebuildState;
        model.prefetch_unigram(words[at - 1]);
        let used = self.max_context - 1;
        let older = self.words_before(batch, at - 1).take(used);
        let state = &mut self.states[usize::from(self.is_swapped)];
        for (entry, word) in state.entries_mut().iter_mut().zip(older) {
            // The walk does not need backoffs: all these words match.
            *entry = (word, 0.0);
        }
        state.set_len(used);
        self.begin_walk(model, words[at - 1], used);
    }
}

/// Prefetches what the first visit to the query for `word` will read.
#[inline(always)]
fn prefetch_query_start<M: NgramIndex>(model: &M, context: &State, word: LmWord) {
    match context.entries().first() {
        Some(&(older, _)) if model.can_prefetch_bigram() => model.prefetch_bigram(older, word),
        _ => model.prefetch_unigram(word),
    }
}

/// Implements [`crate::LanguageModel::score_sentences`].
pub(crate) fn score_sentences<M: NgramIndex>(
    model: &M,
    begin: &State,
    words: &[LmWord],
    ends: &[usize],
    scores: &mut [(Log10, u8)],
) {
    let Some(&last) = ends.last() else { return };
    let mut batch = Batch { model, begin, words: &words[..last], scores: &mut scores[..last] };
    let mut start = 0;
    let mut waiting = ends.iter().filter_map(|&end| {
        assert!(start <= end && end <= last, "sentence ends must ascend");
        let span = (start, end);
        start = end;
        (span.0 < end).then_some(span)
    });
    let mut lanes: Vec<Lane<M>> = Vec::with_capacity(LANES.min(ends.len()));
    for span in waiting.by_ref().take(LANES) {
        let mut lane = Lane::new();
        lane.start_sentence(&batch, span);
        lanes.push(lane);
    }
    while !lanes.is_empty() {
        let mut ended = false;
        for lane in &mut lanes {
            if lane.advance(&mut batch) && lane.position == lane.end {
                match waiting.next() {
                    Some(span) => lane.start_sentence(&batch, span),
                    None => ended = true,
                }
            }
        }
        if ended {
            lanes.retain(|lane| lane.position < lane.end);
        }
    }
}

/// Implements [`crate::LanguageModel::score_batch`].
pub(crate) fn score_requests<M: NgramIndex>(
    model: &M,
    states: &[State],
    requests: &[Request],
    results: &mut [ScoreResult],
) {
    let results = &mut results[..requests.len()];
    let prefetch = |request: &Request| {
        prefetch_query_start(model, &states[request.state as usize], request.word);
    };
    requests.iter().take(2 * LANES).for_each(prefetch);
    // The number of lookups of each lane.
    let lookups_per_lane = if M::INDEPENDENT_LOOKUPS { model.head().order().max(2) - 1 } else { 1 };
    let mut all_lookups = vec![M::Lookup::default(); LANES * lookups_per_lane];
    let start_query = |query: &mut Query, lookups: &mut [M::Lookup], at: usize| {
        let Request { state, word } = requests[at];
        if let Some(ahead) = requests.get(at + LANES) {
            prefetch(ahead);
        }
        query.begin(model, &states[state as usize], word, usize::MAX, lookups);
    };
    let mut waiting = 0..requests.len();
    // Queries with the indices of their requests.
    let mut lanes: Vec<(Query, usize)> = Vec::with_capacity(LANES);
    for (at, lookups) in
        waiting.by_ref().take(LANES).zip(all_lookups.chunks_exact_mut(lookups_per_lane))
    {
        let mut query = Query::new();
        start_query(&mut query, lookups, at);
        lanes.push((query, at));
    }
    while !lanes.is_empty() {
        let mut lane = 0;
        while let Some((query, at)) = lanes.get_mut(lane) {
            let lookups = &mut all_lookups[lane * lookups_per_lane..][..lookups_per_lane];
            let (Request { state, word }, result) = (requests[*at], &mut results[*at]);
            let context = &states[state as usize];
            if let Some(score) = query.resume(model, context, word, lookups, &mut result.next_state)
            {
                (result.log10, result.ngram_length) = score;
                let Some(new) = waiting.next() else {
                    // The last lane moves here and is visited next.
                    lanes.swap_remove(lane);
                    let last = lanes.len() * lookups_per_lane;
                    all_lookups.copy_within(last..last + lookups_per_lane, lane * lookups_per_lane);
                    continue;
                };
                *at = new;
                start_query(query, lookups, new);
            }
            lane += 1;
        }
    }
}
