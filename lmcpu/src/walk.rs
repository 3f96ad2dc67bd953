//! One query: a walk from the newest word to the left, as far as the model has n-grams
//! (`ngram-lm.md` 2.2).
//!
//! A walk pauses when it waits for memory, so that a batch can keep many under way. With
//! [`NgramIndex::INDEPENDENT_LOOKUPS`] all lookups are prefetched at the start, and a walk pauses
//! only if a search continues in another cache line. Prefetching all lookups pays, because most
//! words of a minimised context match.
//!
//! The additions of f32 values and their order are KenLM's; nothing here may
//! reorder them.

use miriam_textio::Log10;

use crate::ngram_index::{FoundNgram, LookupStep, NO_EXTENSION, NgramIndex};
use crate::{LmWord, MAX_ORDER, State};

/// The lookups of a query: with [`NgramIndex::INDEPENDENT_LOOKUPS`] one for each order from 2;
/// otherwise only the first is used.
pub(crate) type Lookups<M> = [<M as NgramIndex>::Lookup; MAX_ORDER - 1];

/// Returns lookups that have not begun.
#[inline(always)]
pub(crate) fn empty_lookups<M: NgramIndex>() -> Lookups<M> {
    [M::Lookup::default(); MAX_ORDER - 1]
}

/// Returns the words of the context, newest first, that can be part of a match.
#[inline(always)]
pub(crate) fn usable_context<'s, M: NgramIndex>(
    model: &M,
    context: &'s State,
) -> &'s [(LmWord, f32)] {
    let entries = context.entries();
    &entries[..entries.len().min(model.head().order() - 1)]
}

/// The longest n-gram that a walk has found.
#[derive(Clone, Copy)]
struct LongestMatch {
    log10: f32,
    /// The number of words matched.
    length: usize,
    /// The number of matched words that the next state keeps.
    kept_length: usize,
}

impl LongestMatch {
    const NONE: LongestMatch = LongestMatch { log10: 0.0, length: 0, kept_length: 0 };

    /// Returns the match of the word alone.
    #[inline(always)]
    fn from_unigram<P>(word: LmWord, found: &FoundNgram<P>, next: &mut State) -> Self {
        next.entries_mut()[0] = (word, found.backoff);
        let kept_length = usize::from(found.backoff.to_bits() != NO_EXTENSION);
        LongestMatch { log10: found.log10, length: 1, kept_length }
    }

    /// Extends the match by one word.
    #[inline(always)]
    fn extend<P>(&mut self, older: LmWord, found: &FoundNgram<P>, next: &mut State) {
        self.log10 = found.log10;
        // A state has no entry for n-grams of [`MAX_ORDER`] words.
        if let Some(entry) = next.entries_mut().get_mut(self.length) {
            *entry = (older, found.backoff);
        }
        self.length += 1;
        if found.backoff.to_bits() != NO_EXTENSION {
            self.kept_length = self.length;
        }
    }

    /// Returns log10 p and the matched length; completes `next`.
    #[inline(always)]
    fn finish(self, context: &State, next: &mut State) -> (Log10, u8) {
        // The walk has set the entries of all words up to the last kept one.
        next.set_len(self.kept_length);
        (Log10(context.add_backoffs(self.length - 1, self.log10)), self.length as u8)
    }
}

/// A query under way. The caller keeps its lookups ([`Lookups`]).
pub(crate) struct Query {
    best: LongestMatch,
    /// The number of words of the context that may be part of the match.
    context_words: usize,
}

impl Query {
    /// Creates a query that has not begun.
    pub(crate) fn new() -> Self {
        Query { best: LongestMatch::NONE, context_words: 0 }
    }

    /// Begins a query of `word` after `context`, of which at most `limit` words may be part of the
    /// match. Prefetches n-grams if it can; the unigram has been prefetched before.
    #[inline(always)]
    pub(crate) fn begin<M: NgramIndex>(
        &mut self,
        model: &M,
        context: &State,
        word: LmWord,
        limit: usize,
        lookups: &mut [M::Lookup],
    ) {
        let words = usable_context(model, context);
        let words = &words[..words.len().min(limit)];
        self.context_words = words.len();
        if M::INDEPENDENT_LOOKUPS {
            let mut node = model.word_node(word);
            for (i, (&(older, _), lookup)) in words.iter().zip(lookups).enumerate() {
                let Some(known) = node else { return };
                *lookup = model.begin_lookup(i + 2, known, older);
                node = model.extend_node(known, older);
            }
        }
    }

    /// Continues as far as prefetched memory allows. When the walk ends, returns the result and
    /// completes `next`. The other arguments are the same as in [`Query::begin`].
    #[inline(always)]
    pub(crate) fn resume<M: NgramIndex>(
        &mut self,
        model: &M,
        context: &State,
        word: LmWord,
        lookups: &mut [M::Lookup],
        next: &mut State,
    ) -> Option<(Log10, u8)> {
        let words = &context.entries()[..self.context_words];
        let best = if M::INDEPENDENT_LOOKUPS {
            self.resume_independent(model, words, word, lookups, next)?
        } else {
            self.resume_dependent(model, words, word, &mut lookups[0], next)?
        };
        Some(best.finish(context, next))
    }

    /// Steps lookups that have all begun. Returns `None` while one is pending.
    #[inline(always)]
    fn resume_independent<M: NgramIndex>(
        &mut self,
        model: &M,
        words: &[(LmWord, f32)],
        word: LmWord,
        lookups: &mut [M::Lookup],
        next: &mut State,
    ) -> Option<LongestMatch> {
        let mut best = self.best;
        // A lookup that was pending has begun, so the match can be extended.
        let mut is_extendable = true;
        if best.length == 0 {
            let found = model.unigram(word);
            best = LongestMatch::from_unigram(word, &found, next);
            is_extendable = found.extend_left.is_some();
        }
        while is_extendable && let Some(&(older, _)) = words.get(best.length - 1) {
            let lookup = &mut lookups[best.length - 1];
            match model.step_lookup(best.length + 1, lookup) {
                LookupStep::Pending => {
                    self.best = best;
                    return None;
                }
                LookupStep::Absent => break,
                LookupStep::Found(found) => {
                    best.extend(older, &found, next);
                    is_extendable = found.extend_left.is_some();
                }
            }
        }
        self.best.length = 0;
        Some(best)
    }

    /// Steps the lookup; begins the next when one ends. Returns `None` while one is pending. Each
    /// step prefetches for the next; [`NgramIndex::prefetch_bigram`] does so for the first.
    #[inline(always)]
    fn resume_dependent<M: NgramIndex>(
        &mut self,
        model: &M,
        words: &[(LmWord, f32)],
        word: LmWord,
        lookup: &mut M::Lookup,
        next: &mut State,
    ) -> Option<LongestMatch> {
        let mut found = if self.best.length > 0 {
            self.step_lookup(model, words, lookup, next)?
        } else {
            let found = model.unigram(word);
            self.best = LongestMatch::from_unigram(word, &found, next);
            match (found.extend_left, words.first()) {
                (Some(node), Some(&(older, _))) if model.can_prefetch_bigram() => {
                    *lookup = model.begin_lookup_no_prefetch(2, node, older);
                    self.step_lookup(model, words, lookup, next)?
                }
                _ => Some(found),
            }
        };
        while let Some(node) = found.and_then(|found| found.extend_left)
            && let Some(&(older, _)) = words.get(self.best.length - 1)
        {
            *lookup = model.begin_lookup(self.best.length + 1, node, older);
            if !model.is_ready(lookup) {
                return None;
            }
            found = self.step_lookup(model, words, lookup, next)?;
        }
        Some(std::mem::replace(&mut self.best, LongestMatch::NONE))
    }

    /// Steps the lookup: `None` while it is pending, `Some(None)` when the n-gram is
    /// absent.
    #[inline(always)]
    fn step_lookup<M: NgramIndex>(
        &mut self,
        model: &M,
        words: &[(LmWord, f32)],
        lookup: &mut M::Lookup,
        next: &mut State,
    ) -> Option<Option<FoundNgram<M::NodeRef>>> {
        match model.step_lookup(self.best.length + 1, lookup) {
            LookupStep::Pending => None,
            LookupStep::Absent => Some(None),
            LookupStep::Found(found) => {
                let (older, _) = words[self.best.length - 1];
                self.best.extend(older, &found, next);
                Some(Some(found))
            }
        }
    }
}

/// Begins the lookup of the n-gram `oldest`, `newer`, `word` alone, without the lookups of shorter
/// n-grams; `newer` is oldest first.
#[inline(always)]
pub(crate) fn begin_longest<M: NgramIndex>(
    model: &M,
    oldest: LmWord,
    newer: &[LmWord],
    word: LmWord,
) -> M::Lookup {
    let mut node = model.word_node(word);
    for &older in newer.iter().rev() {
        node = node.and_then(|node| model.extend_node(node, older));
    }
    node.map_or_else(M::Lookup::default, |node| model.begin_lookup(newer.len() + 2, node, oldest))
}

/// Implements [`crate::LanguageModel::score`].
#[inline(always)]
pub(crate) fn score<M: NgramIndex>(
    model: &M,
    context: &State,
    word: LmWord,
    next: &mut State,
) -> (Log10, u8) {
    let found = model.unigram(word);
    let mut best = LongestMatch::from_unigram(word, &found, next);
    let mut longer = found.extend_left;
    for (i, &(older, _)) in usable_context(model, context).iter().enumerate() {
        let Some(node) = longer else { break };
        let mut lookup = model.begin_lookup_no_prefetch(i + 2, node, older);
        let found = loop {
            match model.step_lookup(i + 2, &mut lookup) {
                LookupStep::Pending => {}
                LookupStep::Absent => break None,
                LookupStep::Found(found) => break Some(found),
            }
        };
        let Some(found) = found else { break };
        best.extend(older, &found, next);
        longer = found.extend_left;
    }
    best.finish(context, next)
}

/// Implements [`crate::LanguageModel::prefetch`].
#[inline(always)]
pub(crate) fn prefetch<M: NgramIndex>(model: &M, context: &State, word: LmWord) {
    model.prefetch_unigram(word);
    if M::INDEPENDENT_LOOKUPS {
        let mut lookups = empty_lookups::<M>();
        Query::new().begin(model, context, word, context.len(), &mut lookups);
    }
}
