//! Interleaving of many queries: while one waits for memory, others are stepped.
//!
//! Queries form a ring. A visit steps one as far as its prefetched memory allows,
//! prefetches what it needs next, and moves to its neighbour; a query that ends is
//! replaced at once, so that the ring stays full whatever the lengths of walks and
//! sentences (asynchronous memory access chaining, Kocberber et al. 2015). Where all
//! lookups of a query begin at once, one visit resolves it.

use miriam_textio::Log10;

use crate::walk::{
    Lookups, ResumableQuery, empty_lookups, prefetch_longest, prefetch_query,
    resolve_and_prefetch_next, resolve_query,
};
use crate::{LmWord, LookupStep, NgramIndex, Request, ScoreResult, State};

/// Queries under way: enough to hide the latency of memory, few enough for their cache
/// lines to stay in the first-level cache.
const LANES: usize = 24;

/// A query under way: the lookups of a model that begins them at once, or the walk
/// through one that does not.
struct LaneQuery<M: NgramIndex> {
    lookups: Lookups<M>,
    resumable: ResumableQuery<M>,
}

impl<M: NgramIndex> LaneQuery<M> {
    fn new() -> Self {
        LaneQuery { lookups: empty_lookups::<M>(), resumable: ResumableQuery::new() }
    }

    /// Prefetches the n-grams; the unigram has been prefetched before.
    #[inline(always)]
    fn prefetch(&mut self, model: &M, context: &State, word: LmWord) {
        if M::INDEPENDENT_LOOKUPS {
            prefetch_query(model, context, word, &mut self.lookups);
        }
    }

    /// Steps the query as far as prefetched memory allows and returns the result when it ends. Also
    /// prefetches what the query for `following`, if given, will need after `word`.
    #[inline(always)]
    fn resume(
        &mut self,
        model: &M,
        context: &State,
        word: LmWord,
        following: Option<LmWord>,
        next: &mut State,
    ) -> Option<(Log10, u8)> {
        if M::INDEPENDENT_LOOKUPS {
            let lookups = &mut self.lookups;
            Some(match following {
                Some(word_ahead) => {
                    resolve_and_prefetch_next(model, lookups, context, word, word_ahead, next)
                }
                None => resolve_query(model, lookups, context, word, next),
            })
        } else {
            self.resumable.resume(model, context, word, next)
        }
    }
}

/// The task of the next visit to a lane.
#[derive(Clone, Copy, PartialEq)]
enum LanePhase {
    /// Walk from the word to the left.
    Resolve,
    /// Look for the n-gram of the highest order that ends in the word, and for no other.
    LongestOnly,
    /// Compute the state after the previous word, which was not needed so far.
    RebuildState,
}

/// A sentence being scored.
///
/// Where an n-gram of the highest order matches, the next word is likely to end another. If it
/// does, shorter n-grams and the state before it do not matter, so the highest order is looked up
/// first: in text that the model knows, one lookup per word instead of one per order. A match
/// implies all that a walk would have found, because models have the context and the suffix of each
/// n-gram.
#[repr(align(64))]
struct Lane<M: NgramIndex> {
    /// The state before the current word and the one after it; [`Lane::is_swapped`] says which
    /// is first.
    states: [State; 2],
    is_swapped: bool,
    phase: LanePhase,
    /// The index of the current word.
    position: usize,
    /// The index of the first word of the sentence.
    start: usize,
    /// The index after the last word of the sentence.
    end: usize,
    query: LaneQuery<M>,
}

impl<M: NgramIndex> Lane<M> {
    fn new() -> Self {
        let states = [State::EMPTY; 2];
        let (position, start, end) = (0, 0, 0);
        Lane {
            states,
            is_swapped: false,
            phase: LanePhase::Resolve,
            position,
            start,
            end,
            query: LaneQuery::new(),
        }
    }

    /// Begins the sentence `words[start..end]`.
    fn start_sentence(
        &mut self,
        model: &M,
        begin: &State,
        words: &[LmWord],
        (start, end): (usize, usize),
    ) {
        (self.position, self.start, self.end) = (start, start, end);
        (self.is_swapped, self.phase) = (false, LanePhase::Resolve);
        self.states[0].copy_from(begin);
        prefetch_query_start(model, begin, words[start]);
        if let Some(&[first, second]) = words.get(start..start + 2) {
            model.prefetch_bigram(first, second);
        }
        self.query.prefetch(model, begin, words[start]);
    }

    /// Steps the lane as far as prefetched memory allows; true when the current word's
    /// score is known.
    #[inline(always)]
    fn advance(&mut self, model: &M, words: &[LmWord], scores: &mut [(Log10, u8)]) -> bool {
        let at = self.position;
        if M::INDEPENDENT_LOOKUPS && self.phase == LanePhase::LongestOnly {
            let order = model.head().order();
            let LookupStep::Found(found) = model.step_lookup(order, &mut self.query.lookups[0])
            else {
                self.begin_state_rebuild(model, words);
                return false;
            };
            scores[at] = (Log10(found.log10), order as u8);
            self.position = at + 1;
            if self.position < self.end {
                self.query.lookups[0] = prefetch_longest(model, &words[..at + 2]);
            }
            return true;
        }
        let [first, second] = &mut self.states;
        let (context, next) = if self.is_swapped { (second, first) } else { (first, second) };
        if M::INDEPENDENT_LOOKUPS && self.phase == LanePhase::RebuildState {
            self.phase = LanePhase::Resolve;
            self.is_swapped = !self.is_swapped;
            self.query.resume(model, context, words[at - 1], Some(words[at]), next);
            return false;
        }
        let following = words.get(at + 1).copied();
        let Some(score) = self.query.resume(model, context, words[at], following, next) else {
            return false;
        };
        scores[at] = score;
        self.is_swapped = !self.is_swapped;
        self.position = at + 1;
        if self.position < self.end {
            let order = model.head().order();
            if M::INDEPENDENT_LOOKUPS
                && usize::from(score.1) == order
                && order > 2
                && self.position + 1 >= self.start + order
            {
                self.phase = LanePhase::LongestOnly;
                self.query.lookups[0] = prefetch_longest(model, &words[..at + 2]);
            } else if let Some(&[older, word]) = words.get(at + 1..at + 3) {
                // One word further ahead than what has been prefetched.
                model.prefetch_bigram(older, word);
            }
        }
        true
    }

    /// Begins to compute the state after the previous word by a walk from that word,
    /// whose last match was of the highest order.
    #[inline(never)]
    fn begin_state_rebuild(&mut self, model: &M, words: &[LmWord]) {
        let used = model.head().order() - 2;
        let state = &mut self.states[usize::from(self.is_swapped)];
        let older = words[..self.position - 1].iter().rev();
        for (entry, &word) in state.entries_mut().iter_mut().zip(older.take(used)) {
            *entry = (word, 0.0);
        }
        state.set_len(used);
        for &word in &words[self.position - 1..words.len().min(self.position + 2)] {
            model.prefetch_unigram(word);
        }
        self.query.prefetch(model, state, words[self.position - 1]);
        self.phase = LanePhase::RebuildState;
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
    let (words, scores) = (&words[..last], &mut scores[..last]);
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
        lane.start_sentence(model, begin, words, span);
        lanes.push(lane);
    }
    while !lanes.is_empty() {
        let mut ended = false;
        for lane in &mut lanes {
            if lane.advance(model, words, scores) && lane.position == lane.end {
                match waiting.next() {
                    Some(span) => lane.start_sentence(model, begin, words, span),
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
    let start_query = |query: &mut LaneQuery<M>, at: usize| {
        let Request { state, word } = requests[at];
        if let Some(ahead) = requests.get(at + LANES) {
            prefetch(ahead);
        }
        query.prefetch(model, &states[state as usize], word);
    };
    let mut waiting = 0..requests.len();
    // Queries with the indices of their requests.
    let mut lanes: Vec<(LaneQuery<M>, usize)> = Vec::new();
    lanes.resize_with(LANES.min(requests.len()), || (LaneQuery::new(), 0));
    for ((query, lane), at) in lanes.iter_mut().zip(waiting.by_ref()) {
        *lane = at;
        start_query(query, at);
    }
    while !lanes.is_empty() {
        let mut lane = 0;
        while let Some((query, at)) = lanes.get_mut(lane) {
            let (Request { state, word }, result) = (requests[*at], &mut results[*at]);
            let context = &states[state as usize];
            if let Some(score) = query.resume(model, context, word, None, &mut result.next_state) {
                (result.log10, result.ngram_length) = score;
                let Some(new) = waiting.next() else {
                    // The last lane moves here and is visited next.
                    lanes.swap_remove(lane);
                    continue;
                };
                *at = new;
                start_query(query, new);
            }
            lane += 1;
        }
    }
}
