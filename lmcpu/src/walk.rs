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

use crate::index::{Found, NO_EXTENSION, NgramIndex, Step};
use crate::{LmWord, MAX_ORDER, State};

/// The lookups of a query, for models that begin them [at
/// once](NgramIndex::AT_ONCE): of n-grams of 2 words, 3 words and so on.
pub(crate) type Seeks<M> = [<M as NgramIndex>::Seek; MAX_ORDER - 1];

/// No lookups.
#[inline(always)]
pub(crate) fn no_seeks<M: NgramIndex>() -> Seeks<M> {
    [M::Seek::default(); MAX_ORDER - 1]
}

/// The words of the context that can take part in a match.
#[inline(always)]
pub(crate) fn usable<'s, M: NgramIndex>(model: &M, context: &'s State) -> &'s [(LmWord, f32)] {
    let entries = context.entries();
    &entries[..entries.len().min(model.order() - 1)]
}

/// What a walk has found.
#[derive(Clone, Copy)]
struct Match {
    log10: f32,
    /// Words matched, and how many of them the next state keeps.
    length: usize,
    kept: usize,
}

impl Match {
    /// The word alone.
    #[inline(always)]
    fn begin<P>(word: LmWord, found: &Found<P>, next: &mut State) -> Self {
        next.entries_mut()[0] = (word, found.backoff);
        let kept = usize::from(found.backoff.to_bits() != NO_EXTENSION);
        Match { log10: found.log10, length: 1, kept }
    }

    /// One word more.
    #[inline(always)]
    fn extend<P>(&mut self, older: LmWord, found: &Found<P>, next: &mut State) {
        self.log10 = found.log10;
        // A state has no place for the longest n-grams of the highest order.
        if let Some(entry) = next.entries_mut().get_mut(self.length) {
            *entry = (older, found.backoff);
        }
        self.length += 1;
        if found.backoff.to_bits() != NO_EXTENSION {
            self.kept = self.length;
        }
    }

    /// The answer: log10 p and the matched length. `next` is complete then.
    #[inline(always)]
    fn end(self, context: &State, next: &mut State) -> (Log10, u8) {
        // Words in front of a kept one were walked over, so they are in place.
        next.set_len(self.kept);
        (Log10(context.add_backoffs(self.length - 1, self.log10)), self.length as u8)
    }
}

/// Begins all lookups of a query, in a model where that is possible.
#[inline(always)]
pub(crate) fn ask<M: NgramIndex>(model: &M, context: &State, word: LmWord, seeks: &mut Seeks<M>) {
    let mut place = model.word_place(word);
    for (i, &(older, _)) in usable(model, context).iter().enumerate() {
        let Some(known) = place else { return };
        seeks[i] = model.seek(i + 2, known, older);
        place = model.place_beyond(known, older);
    }
}

/// The answer to a query whose lookups have all [begun](ask).
#[inline(always)]
pub(crate) fn answer<M: NgramIndex>(
    model: &M,
    seeks: &mut Seeks<M>,
    context: &State,
    word: LmWord,
    next: &mut State,
) -> (Log10, u8) {
    let found = model.unigram(word);
    let mut best = Match::begin(word, &found, next);
    if found.longer.is_some() {
        for (i, &(older, _)) in usable(model, context).iter().enumerate() {
            let Step::Found(found) = model.step(i + 2, &mut seeks[i]) else { break };
            best.extend(older, &found, next);
            if found.longer.is_none() {
                break;
            }
        }
    }
    best.end(context, next)
}

/// As [`answer`]; on the way it begins the lookups of the query for `following`
/// behind `word`: whenever an n-gram is found, one that it is the context of may
/// be there too. They take the places of the old ones in `seeks`.
#[inline(always)]
pub(crate) fn answer_and_ask<M: NgramIndex>(
    model: &M,
    seeks: &mut Seeks<M>,
    context: &State,
    word: LmWord,
    following: LmWord,
    next: &mut State,
) -> (Log10, u8) {
    let found = model.unigram(word);
    let mut best = Match::begin(word, &found, next);
    let most = model.order();
    // The lookup of `following` with as many words of context as are matched.
    let extend = |place: Option<M::Place>, order: usize, older: LmWord| match place {
        Some(place) if order <= most => {
            (model.seek(order, place, older), model.place_beyond(place, older))
        }
        _ => (M::Seek::default(), None),
    };
    let (mut ahead, mut place) = extend(model.word_place(following), 2, word);
    if found.longer.is_some() {
        for (i, &(older, _)) in usable(model, context).iter().enumerate() {
            let Step::Found(found) = model.step(i + 2, &mut seeks[i]) else { break };
            best.extend(older, &found, next);
            seeks[i] = ahead;
            (ahead, place) = extend(place, i + 3, older);
            if found.longer.is_none() {
                break;
            }
        }
    }
    if let Some(seek) = seeks.get_mut(best.length - 1) {
        *seek = ahead;
    }
    best.end(context, next)
}

/// Begins to look for the longest n-gram that ends in `words`, and for no other.
#[inline(always)]
pub(crate) fn ask_longest<M: NgramIndex>(model: &M, words: &[LmWord]) -> M::Seek {
    let order = model.order();
    let mut newest_first = words[words.len() - order..].iter().rev();
    let mut place = newest_first.next().and_then(|&word| model.word_place(word));
    for &older in newest_first.by_ref().take(order - 2) {
        place = place.and_then(|place| model.place_beyond(place, older));
    }
    match (place, newest_first.next()) {
        (Some(place), Some(&oldest)) => model.seek(order, place, oldest),
        _ => M::Seek::default(),
    }
}

/// A query under way in a model whose lookups begin one after another.
pub(crate) struct Walk<M: NgramIndex> {
    best: Match,
    /// The lookup of the n-gram one word longer.
    seek: M::Seek,
}

impl<M: NgramIndex> Walk<M> {
    /// A walk that has not begun.
    pub(crate) fn new() -> Self {
        Walk { best: Match { log10: 0.0, length: 0, kept: 0 }, seek: M::Seek::default() }
    }

    /// Goes on as far as memory has come; the answer at the end. Each step asks
    /// for the memory of the next; before the first,
    /// [`NgramIndex::prefetch_pair`] does.
    #[inline(always)]
    pub(crate) fn go_on(
        &mut self,
        model: &M,
        context: &State,
        word: LmWord,
        next: &mut State,
    ) -> Option<(Log10, u8)> {
        let words = usable(model, context);
        let mut found = if self.best.length > 0 {
            self.step(model, words, next)?
        } else {
            let found = model.unigram(word);
            self.best = Match::begin(word, &found, next);
            match (found.longer, words.first()) {
                (Some(place), Some(&(older, _))) if model.pairs_ahead() => {
                    self.seek = model.seek_now(2, place, older);
                    self.step(model, words, next)?
                }
                _ => Some(found),
            }
        };
        while let Some(place) = found.and_then(|found| found.longer)
            && let Some(&(older, _)) = words.get(self.best.length - 1)
        {
            self.seek = model.seek(self.best.length + 1, place, older);
            if !model.is_at_hand(&self.seek) {
                return None;
            }
            found = self.step(model, words, next)?;
        }
        let best = std::mem::replace(&mut self.best, Match { log10: 0.0, length: 0, kept: 0 });
        Some(best.end(context, next))
    }

    /// Goes on with the lookup: nothing while it waits, then what it has found, if
    /// anything.
    #[inline(always)]
    fn step(
        &mut self,
        model: &M,
        words: &[(LmWord, f32)],
        next: &mut State,
    ) -> Option<Option<Found<M::Place>>> {
        match model.step(self.best.length + 1, &mut self.seek) {
            Step::Waiting => None,
            Step::Absent => Some(None),
            Step::Found(found) => {
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
    let mut best = Match::begin(word, &found, next);
    let mut longer = found.longer;
    for (i, &(older, _)) in usable(model, context).iter().enumerate() {
        let Some(place) = longer else { break };
        let mut seek = model.seek_now(i + 2, place, older);
        let found = loop {
            match model.step(i + 2, &mut seek) {
                Step::Waiting => {}
                Step::Absent => break None,
                Step::Found(found) => break Some(found),
            }
        };
        let Some(found) = found else { break };
        best.extend(older, &found, next);
        longer = found.longer;
    }
    best.end(context, next)
}

/// [`crate::LanguageModel::prefetch`].
#[inline(always)]
pub(crate) fn prefetch<M: NgramIndex>(model: &M, context: &State, word: LmWord) {
    model.prefetch_unigram(word);
    if M::AT_ONCE {
        ask(model, context, word, &mut no_seeks::<M>());
    }
}
