//! One query: from the newest word to the left, as far as the model has n-grams
//! (`ngram-lm.md` 2.2).
//!
//! A walk can stop whenever it waits for memory and go on later, so that a batch
//! keeps many under way. Where all lookups of a query can begin at once
//! ([`NgramIndex::AT_ONCE`]) it never stops: everything was asked for before, for
//! a minimised context seldom promises matches that do not come.
//!
//! The additions of f32 values and their order are KenLM's; nothing here may
//! reorder them.

use miriam_textio::Log10;

use crate::index::{FoundNgram, LookupStep, NO_EXTENSION, NgramIndex};
use crate::{LmWord, MAX_ORDER, State};

/// The lookups of a query, for models that begin them [at
/// once](NgramIndex::AT_ONCE): of n-grams of 2 words, 3 words and so on.
pub(crate) type Lookups<M> = [<M as NgramIndex>::Lookup; MAX_ORDER - 1];

/// No lookups.
#[inline(always)]
pub(crate) fn empty_lookups<M: NgramIndex>() -> Lookups<M> {
    [M::Lookup::default(); MAX_ORDER - 1]
}

/// The words of the context that can take part in a match.
#[inline(always)]
pub(crate) fn usable_context<'s, M: NgramIndex>(
    model: &M,
    context: &'s State,
) -> &'s [(LmWord, f32)] {
    let entries = context.entries();
    &entries[..entries.len().min(model.order() - 1)]
}

/// What a walk has found.
#[derive(Clone, Copy)]
struct LongestMatch {
    log10: f32,
    /// Words matched, and how many of them the next state keeps.
    length: usize,
    kept_length: usize,
}

impl LongestMatch {
    /// The word alone.
    #[inline(always)]
    fn from_unigram<P>(word: LmWord, found: &FoundNgram<P>, next: &mut State) -> Self {
        next.entries_mut()[0] = (word, found.backoff);
        let kept_length = usize::from(found.backoff.to_bits() != NO_EXTENSION);
        LongestMatch { log10: found.log10, length: 1, kept_length }
    }

    /// One word more.
    #[inline(always)]
    fn extend<P>(&mut self, older: LmWord, found: &FoundNgram<P>, next: &mut State) {
        self.log10 = found.log10;
        // A state has no place for the longest n-grams of the highest order.
        if let Some(entry) = next.entries_mut().get_mut(self.length) {
            *entry = (older, found.backoff);
        }
        self.length += 1;
        if found.backoff.to_bits() != NO_EXTENSION {
            self.kept_length = self.length;
        }
    }

    /// The answer: log10 p and the matched length. `next` is complete then.
    #[inline(always)]
    fn finish(self, context: &State, next: &mut State) -> (Log10, u8) {
        // Words in front of a kept one were walked over, so they are in place.
        next.set_len(self.kept_length);
        (Log10(context.add_backoffs(self.length - 1, self.log10)), self.length as u8)
    }
}

/// Begins all lookups of a query, in a model where that is possible.
#[inline(always)]
pub(crate) fn prefetch_query<M: NgramIndex>(
    model: &M,
    context: &State,
    word: LmWord,
    seeks: &mut Lookups<M>,
) {
    let mut place = model.word_node(word);
    for (i, &(older, _)) in usable_context(model, context).iter().enumerate() {
        let Some(known) = place else { return };
        seeks[i] = model.begin_lookup(i + 2, known, older);
        place = model.extend_node(known, older);
    }
}

/// The answer to a query whose lookups have all [begun](ask).
#[inline(always)]
pub(crate) fn resolve_query<M: NgramIndex>(
    model: &M,
    seeks: &mut Lookups<M>,
    context: &State,
    word: LmWord,
    next: &mut State,
) -> (Log10, u8) {
    let found = model.unigram(word);
    let mut best = LongestMatch::from_unigram(word, &found, next);
    if found.extend_left.is_some() {
        for (i, &(older, _)) in usable_context(model, context).iter().enumerate() {
            let LookupStep::Found(found) = model.step_lookup(i + 2, &mut seeks[i]) else { break };
            best.extend(older, &found, next);
            if found.extend_left.is_none() {
                break;
            }
        }
    }
    best.finish(context, next)
}

/// As [`answer`]; on the way it begins the lookups of the query for `following`
/// behind `word`: whenever an n-gram is found, one that it is the context of may
/// be there too. They take the places of the old ones in `seeks`.
#[inline(always)]
pub(crate) fn resolve_and_prefetch_next<M: NgramIndex>(
    model: &M,
    seeks: &mut Lookups<M>,
    context: &State,
    word: LmWord,
    following: LmWord,
    next: &mut State,
) -> (Log10, u8) {
    let found = model.unigram(word);
    let mut best = LongestMatch::from_unigram(word, &found, next);
    let most = model.order();
    // The lookup of `following` with as many words of context as are matched.
    let extend = |place: Option<M::NodeRef>, order: usize, older: LmWord| match place {
        Some(place) if order <= most => {
            (model.begin_lookup(order, place, older), model.extend_node(place, older))
        }
        _ => (M::Lookup::default(), None),
    };
    let (mut ahead, mut place) = extend(model.word_node(following), 2, word);
    if found.extend_left.is_some() {
        for (i, &(older, _)) in usable_context(model, context).iter().enumerate() {
            let LookupStep::Found(found) = model.step_lookup(i + 2, &mut seeks[i]) else { break };
            best.extend(older, &found, next);
            seeks[i] = ahead;
            (ahead, place) = extend(place, i + 3, older);
            if found.extend_left.is_none() {
                break;
            }
        }
    }
    if let Some(seek) = seeks.get_mut(best.length - 1) {
        *seek = ahead;
    }
    best.finish(context, next)
}

/// Begins to look for the longest n-gram that ends in `words`, and for no other.
#[inline(always)]
pub(crate) fn prefetch_longest<M: NgramIndex>(model: &M, words: &[LmWord]) -> M::Lookup {
    let order = model.order();
    let mut newest_first = words[words.len() - order..].iter().rev();
    let mut place = newest_first.next().and_then(|&word| model.word_node(word));
    for &older in newest_first.by_ref().take(order - 2) {
        place = place.and_then(|place| model.extend_node(place, older));
    }
    match (place, newest_first.next()) {
        (Some(place), Some(&oldest)) => model.begin_lookup(order, place, oldest),
        _ => M::Lookup::default(),
    }
}

/// A query under way in a model whose lookups begin one after another.
pub(crate) struct ResumableQuery<M: NgramIndex> {
    best: LongestMatch,
    /// The lookup of the n-gram one word longer.
    lookup: M::Lookup,
}

impl<M: NgramIndex> ResumableQuery<M> {
    /// A walk that has not begun.
    pub(crate) fn new() -> Self {
        ResumableQuery {
            best: LongestMatch { log10: 0.0, length: 0, kept_length: 0 },
            lookup: M::Lookup::default(),
        }
    }

    /// Goes on as far as memory has come; the answer at the end. Each step asks
    /// for the memory of the next; before the first,
    /// [`NgramIndex::prefetch_pair`] does.
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
                (Some(place), Some(&(older, _))) if model.can_prefetch_bigram() => {
                    self.lookup = model.begin_lookup_no_prefetch(2, place, older);
                    self.step_lookup(model, words, next)?
                }
                _ => Some(found),
            }
        };
        while let Some(place) = found.and_then(|found| found.extend_left)
            && let Some(&(older, _)) = words.get(self.best.length - 1)
        {
            self.lookup = model.begin_lookup(self.best.length + 1, place, older);
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

    /// Goes on with the lookup: nothing while it waits, then what it has found, if
    /// anything.
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

/// [`crate::LanguageModel::score`].
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
        let Some(place) = longer else { break };
        let mut seek = model.begin_lookup_no_prefetch(i + 2, place, older);
        let found = loop {
            match model.step_lookup(i + 2, &mut seek) {
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

/// [`crate::LanguageModel::prefetch`].
#[inline(always)]
pub(crate) fn prefetch<M: NgramIndex>(model: &M, context: &State, word: LmWord) {
    model.prefetch_unigram(word);
    if M::INDEPENDENT_LOOKUPS {
        prefetch_query(model, context, word, &mut empty_lookups::<M>());
    }
}
