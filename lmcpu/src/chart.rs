//! Pieces of sentences that grow on both sides, for decoders that put phrases
//! into phrases (`ngram-lm.md` 2.4).
//!
//! The score of a fragment's first words depends on what will stand left of it.
//! A fragment keeps, for each of them, the n-gram that may yet grow to the left
//! and what has been charged for it; when something comes to stand there, the
//! n-grams are looked up on, from where they lie, and the difference is charged.
//! Scores, states and the order of additions are those of KenLM's rule scores.

use crate::index::{FoundNgram, LookupStep, NO_EXTENSION, NgramIndex};
use crate::walk::usable_context;
use crate::{LmWord, MAX_ORDER, State};

/// An n-gram at the left edge of a fragment that may grow.
#[derive(Clone, Copy, Debug)]
struct LeftPointer<P> {
    /// Where the n-grams with one more word to the left lie.
    node: P,
    /// The log10 p that was charged for it.
    log10: f32,
}

/// Both edges of a fragment: all that its surroundings can see of it. `P` is the
/// [`NgramIndex::Place`] of the model.
#[derive(Clone, Debug)]
pub struct ChartState<P> {
    /// The n-grams that may grow, of 1 word, 2 words and so on.
    left: [Option<LeftPointer<P>>; MAX_ORDER - 1],
    left_len: usize,
    /// Whether the words behind those do not depend on what stands to the left.
    full: bool,
    right: State,
}

impl<P: Copy> ChartState<P> {
    /// The state of no words at all.
    pub fn empty() -> Self {
        ChartState { left: [None; MAX_ORDER - 1], left_len: 0, full: false, right: State::EMPTY }
    }

    /// The context that words to the right see.
    pub fn right(&self) -> &State {
        &self.right
    }

    /// How many n-grams at the left edge may still grow.
    pub fn left_len(&self) -> usize {
        self.left_len
    }

    /// Whether nothing left of the fragment matters beyond the open n-grams.
    pub fn is_full(&self) -> bool {
        self.full
    }

    fn push_left(&mut self, place: P, log10: f32) {
        if let Some(entry) = self.left.get_mut(self.left_len) {
            *entry = Some(LeftPointer { node: place, log10 });
            self.left_len += 1;
        }
    }
}

/// A fragment being put together from left to right.
pub struct RuleScorer<'m, M: NgramIndex> {
    model: &'m M,
    state: ChartState<M::NodeRef>,
    log10: f32,
    /// Whether words that follow can add nothing to the left edge.
    left_done: bool,
}

/// How far an n-gram could be extended to the left.
struct Extension<P> {
    log10: f32,
    length: usize,
    /// Where still longer ones lie, when it was the words that gave out.
    extend_left: Option<P>,
}

/// Looks an n-gram of `length` words up on with `words` in front, nearest first.
/// `each` hears the backoff of every longer one.
fn extend_left<M: NgramIndex>(
    model: &M,
    found: FoundNgram<M::NodeRef>,
    mut length: usize,
    words: &[(LmWord, f32)],
    mut each: impl FnMut(usize, f32),
) -> Extension<M::NodeRef> {
    let (mut log10, mut longer) = (found.log10, found.extend_left);
    for (i, &(older, _)) in words.iter().enumerate() {
        let Some(place) = longer else { break };
        let mut seek = model.begin_lookup_no_prefetch(length + 1, place, older);
        let found = loop {
            match model.step_lookup(length + 1, &mut seek) {
                LookupStep::Pending => {}
                LookupStep::Absent => return Extension { log10, length, extend_left: None },
                LookupStep::Found(found) => break found,
            }
        };
        length += 1;
        (log10, longer) = (found.log10, found.extend_left);
        each(i, found.backoff);
    }
    Extension { log10, length, extend_left: longer }
}

impl<'m, M: NgramIndex> RuleScorer<'m, M> {
    /// A fragment without words.
    pub fn new(model: &'m M) -> Self {
        RuleScorer { model, state: ChartState::empty(), log10: 0.0, left_done: false }
    }

    /// A fragment that begins a sentence: `<s>` stands in front, not scored.
    pub fn begin_sentence(model: &'m M) -> Self {
        let mut fragment = RuleScorer::new(model);
        fragment.state.right = model.begin_state();
        fragment.left_done = true;
        fragment
    }

    /// Appends `word`.
    pub fn add_terminal(&mut self, word: LmWord) {
        let context = &self.state.right;
        let words = usable_context(self.model, context);
        let mut next = State::EMPTY;
        let found = self.model.unigram(word);
        next.entries_mut()[0] = (word, found.backoff);
        let mut kept = usize::from(found.backoff.to_bits() != NO_EXTENSION);
        let end = extend_left(self.model, found, 1, words, |i, backoff| {
            if let Some(entry) = next.entries_mut().get_mut(i + 1) {
                *entry = (words[i].0, backoff);
            }
            if backoff.to_bits() != NO_EXTENSION {
                kept = i + 2;
            }
        });
        next.set_len(kept);
        let log10 = context.add_backoffs(end.length - 1, end.log10);
        let grown = kept == context.len() + 1;
        self.log10 += log10;
        self.record_left_ngram(end.extend_left, log10);
        self.left_done |= !grown;
        self.state.right = next;
    }

    /// Notes an n-gram at the left edge, while that is open.
    fn record_left_ngram(&mut self, longer: Option<M::NodeRef>, log10: f32) {
        if self.left_done {
            return;
        }
        match longer {
            Some(place) => self.state.push_left(place, log10),
            None => self.left_done = true,
        }
    }

    /// Appends a finished fragment with its score.
    pub fn add_nonterminal(&mut self, other: &ChartState<M::NodeRef>, log10: f32) {
        self.log10 += log10;
        if other.left_len == 0 {
            // Its first word backs off from everything, or there is no word.
            if other.full {
                self.log10 = self.state.right.add_backoffs(0, self.log10);
                self.left_done = true;
                self.state.right = other.right;
            }
            return;
        }
        if self.state.right.is_empty() {
            self.state.right = other.right;
            if self.left_done || self.state.left_len > 0 {
                self.left_done = true;
            } else {
                (self.state.left, self.state.left_len) = (other.left, other.left_len);
                self.left_done = other.full;
            }
            return;
        }
        let context = self.state.right;
        // How many words of the context matter to the next word, and the backoffs
        // that it would be charged: of the context joined to the words before it.
        let mut used = context.len();
        let mut backoffs = [0.0f32; MAX_ORDER - 1];
        for (to, &(_, backoff)) in backoffs.iter_mut().zip(context.entries()) {
            *to = backoff;
        }
        for (i, open) in other.left[..other.left_len].iter().flatten().enumerate() {
            let length = i + 1;
            let words = &context.entries()[..used];
            let mut next_backoffs = [0.0f32; MAX_ORDER - 1];
            let mut next_used = 0;
            let start =
                FoundNgram { log10: open.log10, backoff: 0.0, extend_left: Some(open.node) };
            let end = extend_left(self.model, start, length, words, |i, backoff| {
                next_backoffs[i] = backoff;
                if backoff.to_bits() != NO_EXTENSION {
                    next_used = i + 1;
                }
            });
            let mut log10 = end.log10;
            for backoff in &backoffs[end.length - length..used] {
                log10 += backoff;
            }
            self.log10 += log10 - open.log10;
            self.record_left_ngram(end.extend_left, log10);
            (used, backoffs) = (next_used, next_backoffs);
            if used != context.len() {
                self.left_done = true;
                if used == 0 {
                    self.state.right = other.right;
                    return;
                }
            }
        }
        if other.full {
            for backoff in &backoffs[..used] {
                self.log10 += backoff;
            }
            self.left_done = true;
            self.state.right = other.right;
        } else if other.right.len() < other.left_len {
            // Minimised: no longer context matters to words to come.
            self.state.right = other.right;
        } else {
            let inner = other.right.len();
            let mut right = other.right;
            let entries = right.entries_mut()[inner..].iter_mut();
            for (entry, (&(word, _), &backoff)) in
                entries.zip(context.entries()[..used].iter().zip(&backoffs))
            {
                *entry = (word, backoff);
            }
            right.set_len((inner + used).min(MAX_ORDER - 1));
            self.state.right = right;
        }
    }

    /// Its log10 p, as far as it is known, and its edges.
    pub fn finish(mut self) -> (f32, ChartState<M::NodeRef>) {
        self.state.full = self.left_done || self.state.left_len + 1 == self.model.order();
        (self.log10, self.state)
    }
}
