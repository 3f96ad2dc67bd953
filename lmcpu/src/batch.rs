//! Many queries side by side, each waiting for memory while others go on.
//!
//! Queries lie in a ring. A visit takes one as far as its memory has come, asks
//! for what it needs next, and goes to its neighbour; a query that ends is
//! replaced at once, so that the ring stays full whatever the lengths of walks
//! and sentences (asynchronous memory access chaining, Kocberber et al. 2015).
//! Where all lookups of a query begin at once, one visit answers it.

use miriam_textio::Log10;

use crate::walk::{Seeks, Walk, answer, answer_and_ask, ask, ask_longest, no_seeks};
use crate::{LmWord, NgramIndex, Request, Scored, State, Step};

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

/// What the next visit to a sentence does.
#[derive(Clone, Copy, PartialEq)]
enum Visit {
    /// Walks from the word to the left.
    Walk,
    /// Looks for the longest n-gram that ends in the word, and for no other.
    Longest,
    /// Makes the state behind the word before, which was not needed so far.
    State,
}

/// A sentence being scored.
///
/// Where one of the longest n-grams matches, the next word is likely to end
/// another. If it does, its shorter n-grams and the state before it do not matter,
/// so the longest is looked for first: in text that the model knows, one lookup a
/// word instead of one an order. A match implies all that a walk would have found
/// on its way, because models have the context and the suffix of each n-gram.
#[repr(align(64))]
struct Lane<M: NgramIndex> {
    /// The state before the word and the one behind it, in turn.
    states: [State; 2],
    turn: bool,
    visit: Visit,
    /// The word in question, and where the sentence begins and ends.
    at: usize,
    start: usize,
    end: usize,
    query: Query<M>,
}

impl<M: NgramIndex> Lane<M> {
    fn new() -> Self {
        let states = [State::EMPTY; 2];
        let (at, start, end) = (0, 0, 0);
        Lane { states, turn: false, visit: Visit::Walk, at, start, end, query: Query::new() }
    }

    /// Takes on the sentence that begins and ends at these words.
    fn take(&mut self, model: &M, begin: &State, words: &[LmWord], (start, end): (usize, usize)) {
        (self.at, self.start, self.end) = (start, start, end);
        (self.turn, self.visit) = (false, Visit::Walk);
        self.states[0].copy_from(begin);
        prefetch_behind(model, begin, words[start]);
        if let Some(&[first, second]) = words.get(start..start + 2) {
            model.prefetch_pair(first, second);
        }
        self.query.ask(model, begin, words[start]);
    }

    /// Goes on as far as memory has come: true when the word's score is there.
    #[inline(always)]
    fn visit(&mut self, model: &M, words: &[LmWord], scores: &mut [(Log10, u8)]) -> bool {
        let at = self.at;
        if M::AT_ONCE && self.visit == Visit::Longest {
            let order = model.order();
            let Step::Found(found) = model.step(order, &mut self.query.seeks[0]) else {
                self.make_state(model, words);
                return false;
            };
            scores[at] = (Log10(found.log10), order as u8);
            self.at = at + 1;
            if self.at < self.end {
                self.query.seeks[0] = ask_longest(model, &words[..at + 2]);
            }
            return true;
        }
        let [first, second] = &mut self.states;
        let (context, next) = if self.turn { (second, first) } else { (first, second) };
        if M::AT_ONCE && self.visit == Visit::State {
            self.visit = Visit::Walk;
            self.turn = !self.turn;
            self.query.go_on(model, context, words[at - 1], Some(words[at]), next);
            return false;
        }
        let following = words.get(at + 1).copied();
        let Some(answer) = self.query.go_on(model, context, words[at], following, next) else {
            return false;
        };
        scores[at] = answer;
        self.turn = !self.turn;
        self.at = at + 1;
        if self.at < self.end {
            let order = model.order();
            if M::AT_ONCE
                && usize::from(answer.1) == order
                && order > 2
                && self.at + 1 >= self.start + order
            {
                self.visit = Visit::Longest;
                self.query.seeks[0] = ask_longest(model, &words[..at + 2]);
            } else if let Some(&[older, word]) = words.get(at + 1..at + 3) {
                // One word more ahead than what has been asked for.
                model.prefetch_pair(older, word);
            }
        }
        true
    }

    /// Asks for what the state behind the word before consists of: a walk from
    /// that word, which must be in a longest n-gram, finds it again.
    #[inline(never)]
    fn make_state(&mut self, model: &M, words: &[LmWord]) {
        let used = model.order() - 2;
        let state = &mut self.states[usize::from(self.turn)];
        let older = words[..self.at - 1].iter().rev();
        for (entry, &word) in state.entries_mut().iter_mut().zip(older.take(used)) {
            *entry = (word, 0.0);
        }
        state.set_len(used);
        for &word in &words[self.at - 1..words.len().min(self.at + 2)] {
            model.prefetch_unigram(word);
        }
        self.query.ask(model, state, words[self.at - 1]);
        self.visit = Visit::State;
    }
}

/// Asks for what the first visit to the query for `word` will read.
#[inline(always)]
fn prefetch_behind<M: NgramIndex>(model: &M, context: &State, word: LmWord) {
    match context.entries().first() {
        Some(&(older, _)) if model.pairs_ahead() => model.prefetch_pair(older, word),
        _ => model.prefetch_unigram(word),
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
        let mut lane = Lane::new();
        lane.take(model, begin, words, place);
        lanes.push(lane);
    }
    while !lanes.is_empty() {
        let mut ended = false;
        for lane in &mut lanes {
            if lane.visit(model, words, scores) && lane.at == lane.end {
                match waiting.next() {
                    Some(place) => lane.take(model, begin, words, place),
                    None => ended = true,
                }
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
    let prefetch = |request: &Request| {
        prefetch_behind(model, &states[request.state as usize], request.word);
    };
    requests.iter().take(2 * LANES).for_each(prefetch);
    let ask = |query: &mut Query<M>, at: usize| {
        let Request { state, word } = requests[at];
        if let Some(ahead) = requests.get(at + LANES) {
            prefetch(ahead);
        }
        query.ask(model, &states[state as usize], word);
    };
    let mut waiting = 0..requests.len();
    // Queries with the places of their requests, made where they stay.
    let mut lanes: Vec<(Query<M>, usize)> = Vec::new();
    lanes.resize_with(LANES.min(requests.len()), || (Query::new(), 0));
    for ((query, lane), at) in lanes.iter_mut().zip(waiting.by_ref()) {
        *lane = at;
        ask(query, at);
    }
    while !lanes.is_empty() {
        let mut lane = 0;
        while let Some((query, at)) = lanes.get_mut(lane) {
            let (Request { state, word }, result) = (requests[*at], &mut results[*at]);
            let context = &states[state as usize];
            if let Some(answer) = query.go_on(model, context, word, None, &mut result.next) {
                (result.log10, result.matched) = answer;
                let Some(new) = waiting.next() else {
                    // The last lane takes this one's turn.
                    lanes.swap_remove(lane);
                    continue;
                };
                *at = new;
                ask(query, new);
            }
            lane += 1;
        }
    }
}
