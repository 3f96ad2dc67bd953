//! One query: a walk from the newest word to the left, as far as the model has n-grams
//! (`ngram-lm.md` 2.2).
//!
//! A walk can stop whenever it waits for memory and resume later, so that a batch keeps
//! many under way. Where all lookups of a query can begin at once
//! ([`NgramIndex::INDEPENDENT_LOOKUPS`]) it never stops: everything was prefetched
//! before, which pays because most words of a minimised context do match.
//!
//! The additions of f32 values and their order are KenLM's; nothing here may
//! reorder them.

use miriam_textio::Log10;

use crate::ngram_index::{FoundNgram, LookupStep, NO_EXTENSION, NgramIndex};
use crate::{LmWord, MAX_ORDER, State};

/// The lookups of a query, for models with [`NgramIndex::INDEPENDENT_LOOKUPS`]: of
/// n-grams of 2 words, 3 words and so on.
pub(crate) type Lookups<M> = [<M as NgramIndex>::Lookup; MAX_ORDER - 1];

/// Returns lookups none of which has begun.
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

/// Begins all lookups of a query, in a model with [`NgramIndex::INDEPENDENT_LOOKUPS`].
#[inline(always)]
pub(crate) fn prefetch_query<M: NgramIndex>(
    model: &M,
    context: &State,
    word: LmWord,
    lookups: &mut Lookups<M>,
) {
    let mut node = model.word_node(word);
    for (i, &(older, _)) in usable_context(model, context).iter().enumerate() {
        let Some(known) = node else { return };
        lookups[i] = model.begin_lookup(i + 2, known, older);
        node = model.extend_node(known, older);
    }
}

/// Returns the result of a query whose lookups [`prefetch_query`] has begun.
#[inline(always)]
pub(crate) fn resolve_query<M: NgramIndex>(
    model: &M,
    lookups: &mut Lookups<M>,
    context: &State,
    word: LmWord,
    next: &mut State,
) -> (Log10, u8) {
    let found = model.unigram(word);
    let mut best = LongestMatch::from_unigram(word, &found, next);
    if found.extend_left.is_some() {
        for (i, &(older, _)) in usable_context(model, context).iter().enumerate() {
            let LookupStep::Found(found) = model.step_lookup(i + 2, &mut lookups[i]) else { break };
            best.extend(older, &found, next);
            if found.extend_left.is_none() {
                break;
            }
        }
    }
    best.finish(context, next)
}

/// Works like [`resolve_query`]; on the way it begins the lookups of the query for
/// `following` after `word`: whenever an n-gram is found, one that has it as context may exist too.
/// They replace the old ones in `lookups`.
#[inline(always)]
pub(crate) fn resolve_and_prefetch_next<M: NgramIndex>(
    model: &M,
    lookups: &mut Lookups<M>,
    context: &State,
    word: LmWord,
    following: LmWord,
    next: &mut State,
) -> (Log10, u8) {
    let found = model.unigram(word);
    let mut best = LongestMatch::from_unigram(word, &found, next);
    let max_order = model.head().order();
    // The lookup of `following` with as many words of context as are matched.
    let extend = |node: Option<M::NodeRef>, order: usize, older: LmWord| match node {
        Some(node) if order <= max_order => {
            (model.begin_lookup(order, node, older), model.extend_node(node, older))
        }
        _ => (M::Lookup::default(), None),
    };
    let (mut ahead, mut node) = extend(model.word_node(following), 2, word);
    if found.extend_left.is_some() {
        for (i, &(older, _)) in usable_context(model, context).iter().enumerate() {
            let LookupStep::Found(found) = model.step_lookup(i + 2, &mut lookups[i]) else { break };
            best.extend(older, &found, next);
            lookups[i] = ahead;
            (ahead, node) = extend(node, i + 3, older);
            if found.extend_left.is_none() {
                break;
            }
        }
    }
    if let Some(lookup) = lookups.get_mut(best.length - 1) {
        *lookup = ahead;
    }
    best.finish(context, next)
}

/// Begins to look for the longest n-gram that ends in `words`, and for no other.
#[inline(always)]
pub(crate) fn prefetch_longest<M: NgramIndex>(model: &M, words: &[LmWord]) -> M::Lookup {
    let order = model.head().order();
    let [oldest, middle @ .., newest] = &words[words.len() - order..] else {
        return M::Lookup::default();
    };
    let mut node = model.word_node(*newest);
    for &older in middle.iter().rev() {
        node = node.and_then(|node| model.extend_node(node, older));
    }
    node.map_or_else(M::Lookup::default, |node| model.begin_lookup(order, node, *oldest))
}

/// A query under way in a model whose lookups begin one after another.
pub(crate) struct ResumableQuery<M: NgramIndex> {
    best: LongestMatch,
    /// The lookup of the n-gram one word longer.
    lookup: M::Lookup,
}

impl<M: NgramIndex> ResumableQuery<M> {
    /// Creates a query that has not begun.
    pub(crate) fn new() -> Self {
        ResumableQuery {
            best: LongestMatch { log10: 0.0, length: 0, kept_length: 0 },
            lookup: M::Lookup::default(),
        }
    }

    /// Continues as far as prefetched memory allows and returns the result when the walk ends. Each
    /// step prefetches for the next; [`NgramIndex::prefetch_bigram`] does so for the first.
    #[inline(always)]
    pub(crate) fn resume(
        &mut self,
        model: &M,
        context: &State,
        word: LmWord,
        next: &mut State,
    ) -> Option<(Log10, u8)> {
        let words = usable_context(model, context);
        let mut found = if self.best.length > 0 {
            self.step_lookup(model, words, next)?
        } else {
            let found = model.unigram(word);
            self.best = LongestMatch::from_unigram(word, &found, next);
            match (found.extend_left, words.first()) {
                (Some(node), Some(&(older, _))) if model.can_prefetch_bigram() => {
                    self.lookup = model.begin_lookup_no_prefetch(2, node, older);
                    self.step_lookup(model, words, next)?
                }
                _ => Some(found),
            }
        };
        while let Some(node) = found.and_then(|found| found.extend_left)
            && let Some(&(older, _)) = words.get(self.best.length - 1)
        {
            self.lookup = model.begin_lookup(self.best.length + 1, node, older);
            if !model.is_ready(&self.lookup) {
                return None;
            }
            found = self.step_lookup(model, words, next)?;
        }
        let best = std::mem::replace(
            &mut self.best,
            LongestMatch { log10: 0.0, length: 0, kept_length: 0 },
        );
        Some(best.finish(context, next))
    }

    /// Steps the lookup: `None` while it is pending, `Some(None)` when the n-gram is
    /// absent.
    #[inline(always)]
    fn step_lookup(
        &mut self,
        model: &M,
        words: &[(LmWord, f32)],
        next: &mut State,
    ) -> Option<Option<FoundNgram<M::NodeRef>>> {
        match model.step_lookup(self.best.length + 1, &mut self.lookup) {
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
        prefetch_query(model, context, word, &mut empty_lookups::<M>());
    }
}
