//! Many queries side by side, each waiting for memory while others go on.
//!
//! Queries lie in a ring. A visit takes one as far as its memory has come, asks
//! for what it needs next, and goes to its neighbour; a query that ends is
//! replaced at once, so that the ring stays full whatever the lengths of walks
//! and sentences (asynchronous memory access chaining, Kocberber et al. 2015).
//! Where all lookups of a query begin at once, one visit answers it.

use miriam_text::Log10;

use crate::walk::{Seeks, Walk, answer, answer_and_ask, ask, no_seeks};
use crate::{LmWord, NgramIndex, Request, Scored, State};

/// Queries under way: enough to hide the latency of memory, few enough for their
/// lines to stay in the first-level cache.
const LANES: usize = 24;

/// What is under way of a query: the lookups of a model that begins them at
/// once, or the walk through one that does not.
struct Query<M: NgramIndex> {
    seeks: Seeks<M>,
    walk: Walk<M>,
}

impl<M: NgramIndex> Query<M> {
    fn new() -> Self {
        Query { seeks: no_seeks::<M>(), walk: Walk::new() }
    }

    /// Asks for memory. That of the unigram has been asked for.
    #[inline(always)]
    fn ask(&mut self, model: &M, context: &State, word: LmWord) {
        if M::AT_ONCE {
            ask(model, context, word, &mut self.seeks);
        }
    }

    /// Goes on as far as memory has come; the answer at the end. Then memory has
    /// been asked for that `following` needs behind `word`, if that is given.
    #[inline(always)]
    fn go_on(
        &mut self,
        model: &M,
        context: &State,
        word: LmWord,
        following: Option<LmWord>,
        next: &mut State,
    ) -> Option<(Log10, u8)> {
        if M::AT_ONCE {
            let seeks = &mut self.seeks;
            Some(match following {
                Some(word_ahead) => answer_and_ask(model, seeks, context, word, word_ahead, next),
                None => answer(model, seeks, context, word, next),
            })
        } else {
            self.walk.go_on(model, context, word, next)
        }
    }
}

/// A sentence being scored.
#[repr(align(64))]
struct Lane<M: NgramIndex> {
    /// The state before the word and the one behind it, in turn.
    states: [State; 2],
    turn: bool,
    /// The word in question, and where the sentence ends.
    at: usize,
    end: usize,
    query: Query<M>,
}

impl<M: NgramIndex> Lane<M> {
    /// Takes on the sentence that begins and ends at these words.
    fn take(&mut self, model: &M, begin: &State, words: &[LmWord], (at, end): (usize, usize)) {
        (self.at, self.end, self.turn) = (at, end, false);
        self.states[0].copy_from(begin);
        for &word in &words[at..words.len().min(at + 2)] {
            model.prefetch_unigram(word);
        }
        self.query.ask(model, begin, words[at]);
    }
}

/// [`crate::LanguageModel::score_sentences`].
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
        assert!(start <= end && end <= last, "sentences end one after another");
        let place = (start, end);
        start = end;
        (place.0 < end).then_some(place)
    });
    let mut lanes: Vec<Lane<M>> = Vec::with_capacity(LANES);
    for place in waiting.by_ref().take(LANES) {
        let states = [State::EMPTY; 2];
        let mut lane = Lane { states, turn: false, at: 0, end: 0, query: Query::new() };
        lane.take(model, begin, words, place);
        lanes.push(lane);
    }
    while !lanes.is_empty() {
        let mut ended = false;
        for lane in &mut lanes {
            let [first, second] = &mut lane.states;
            let (context, next) = if lane.turn { (second, first) } else { (first, second) };
            let (word, following) = (words[lane.at], words.get(lane.at + 1).copied());
            let answer = lane.query.go_on(model, context, word, following, next);
            let Some(answer) = answer else { continue };
            scores[lane.at] = answer;
            lane.turn = !lane.turn;
            lane.at += 1;
            if lane.at < lane.end {
                // One word more ahead than what has been asked for.
                if let Some(&word) = words.get(lane.at + 1) {
                    model.prefetch_unigram(word);
                }
            } else if let Some(place) = waiting.next() {
                lane.take(model, begin, words, place);
            } else {
                ended = true;
            }
        }
        if ended {
            lanes.retain(|lane| lane.at < lane.end);
        }
    }
}

/// [`crate::LanguageModel::score_batch`].
pub(crate) fn score_requests<M: NgramIndex>(
    model: &M,
    states: &[State],
    requests: &[Request],
    results: &mut [Scored],
) {
    let results = &mut results[..requests.len()];
    for request in requests.iter().take(2 * LANES) {
        model.prefetch_unigram(request.word);
    }
    let ask = |query: &mut Query<M>, at: usize| {
        let Request { state, word } = requests[at];
        if let Some(ahead) = requests.get(at + LANES) {
            model.prefetch_unigram(ahead.word);
        }
        query.ask(model, &states[state as usize], word);
    };
    let mut waiting = 0..requests.len();
    // Queries with the places of their requests.
    let mut lanes: Vec<(Query<M>, usize)> = Vec::with_capacity(LANES.min(requests.len()));
    for at in waiting.by_ref().take(LANES) {
        let mut query = Query::new();
        ask(&mut query, at);
        lanes.push((query, at));
    }
    while !lanes.is_empty() {
        let mut ended = false;
        for (query, at) in &mut lanes {
            let (Request { state, word }, result) = (requests[*at], &mut results[*at]);
            let context = &states[state as usize];
            let Some(answer) = query.go_on(model, context, word, None, &mut result.next) else {
                continue;
            };
            (result.log10, result.matched) = answer;
            if let Some(new) = waiting.next() {
                *at = new;
                ask(query, new);
            } else {
                *at = requests.len();
                ended = true;
            }
        }
        if ended {
            lanes.retain(|lane| lane.1 < requests.len());
        }
    }
}
