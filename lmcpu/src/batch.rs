//! Many queries side by side, each waiting for memory while others go on.
//!
//! Queries lie in a ring. A visit takes one as far as its memory has come, asks
//! for what it needs next, and goes to its neighbour; a query that ends is
//! replaced at once, so that the ring stays full whatever the lengths of walks
//! and sentences (asynchronous memory access chaining, Kocberber et al. 2015).
//! Where all lookups of a query begin at once, one visit answers it.

use miriam_text::Log10;

use crate::walk::Walk;
use crate::{LmWord, NgramIndex, Request, Scored, State};

/// Queries under way: enough to hide the latency of memory, few enough for their
/// lines to stay in the first-level cache.
const LANES: usize = 24;

/// A sentence being scored.
struct Lane<M: NgramIndex> {
    walk: Walk<M>,
    /// The state before the word and the one behind it, in turn.
    states: [State; 2],
    turn: usize,
    /// Whether the word's unigram has been looked at.
    begun: bool,
    asked: bool,
    /// The word in question, and where the sentence ends.
    at: usize,
    end: usize,
}

impl<M: NgramIndex> Lane<M> {
    /// The states before and behind the word.
    #[inline(always)]
    fn split(states: &mut [State; 2], turn: usize) -> (&State, &mut State) {
        let [first, second] = states;
        if turn == 0 { (first, second) } else { (second, first) }
    }

    /// Asks for what the next visit reads.
    #[inline(always)]
    fn ask(&mut self, model: &M, words: &[LmWord]) {
        if let Some(&ahead) = words.get(self.at + 1) {
            model.prefetch_unigram(ahead);
        }
        self.begun = false;
        self.asked = self.walk.ask(model, &self.states[self.turn], words[self.at]);
    }

    /// Takes on the next sentence that has words.
    fn take(
        &mut self,
        model: &M,
        begin: &State,
        words: &[LmWord],
        waiting: &mut impl Iterator<Item = (usize, usize)>,
    ) -> bool {
        let Some((at, end)) = waiting.next() else { return false };
        (self.at, self.end, self.turn) = (at, end, 0);
        self.states[0].copy_from(begin);
        model.prefetch_unigram(words[at]);
        self.ask(model, words);
        true
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
    while lanes.len() < LANES {
        let mut lane = Lane {
            walk: Walk::new(),
            states: [State::EMPTY; 2],
            turn: 0,
            begun: false,
            asked: false,
            at: 0,
            end: 0,
        };
        if !lane.take(model, begin, words, &mut waiting) {
            break;
        }
        lanes.push(lane);
    }
    let mut i = 0;
    while !lanes.is_empty() {
        if i >= lanes.len() {
            i = 0;
        }
        let lane = &mut lanes[i];
        let (context, next) = Lane::<M>::split(&mut lane.states, lane.turn);
        if !lane.begun {
            lane.begun = true;
            let ended = lane.walk.begin(model, lane.asked, context, words[lane.at], next);
            if !ended && !lane.asked {
                i += 1;
                continue;
            }
            if !ended && !lane.walk.go_on(model, lane.asked, context, next) {
                i += 1;
                continue;
            }
        } else if !lane.walk.go_on(model, lane.asked, context, next) {
            i += 1;
            continue;
        }
        scores[lane.at] = lane.walk.end(context, next);
        lane.turn ^= 1;
        lane.at += 1;
        if lane.at < lane.end {
            lane.ask(model, words);
            i += 1;
        } else if lane.take(model, begin, words, &mut waiting) {
            i += 1;
        } else {
            lanes.swap_remove(i);
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
    // (request, whether its unigram has been looked at, what `ask` answered)
    let mut lanes: Vec<(Walk<M>, usize, bool, bool)> = Vec::with_capacity(LANES);
    let mut waiting = 0..requests.len();
    for at in waiting.by_ref().take(LANES) {
        let mut walk = Walk::new();
        let asked = walk.ask(model, &states[requests[at].state as usize], requests[at].word);
        lanes.push((walk, at, false, asked));
    }
    let mut i = 0;
    while !lanes.is_empty() {
        if i >= lanes.len() {
            i = 0;
        }
        let (walk, at, begun, asked) = &mut lanes[i];
        let (request, result) = (&requests[*at], &mut results[*at]);
        let context = &states[request.state as usize];
        let mut ended = false;
        if !*begun {
            *begun = true;
            ended = walk.begin(model, *asked, context, request.word, &mut result.next);
            if !ended && !*asked {
                i += 1;
                continue;
            }
        }
        if !ended && !walk.go_on(model, *asked, context, &mut result.next) {
            i += 1;
            continue;
        }
        (result.log10, result.matched) = walk.end(context, &mut result.next);
        if let Some(request) = requests.get(*at + 2 * LANES) {
            model.prefetch_unigram(request.word);
        }
        let Some(new) = waiting.next() else {
            lanes.swap_remove(i);
            continue;
        };
        (*at, *begun) = (new, false);
        *asked = walk.ask(model, &states[requests[new].state as usize], requests[new].word);
        i += 1;
    }
}
