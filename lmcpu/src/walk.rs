//! One query: from the newest word to the left, as far as the model has n-grams
//! (`ngram-lm.md` 2.2).
//!
//! A walk can stop whenever it waits for memory and go on later, so that a batch
//! keeps many under way. Where all lookups of a query can begin at once
//! ([`NgramIndex::seek_all`]) it is asked for at its beginning and never stops:
//! a minimised context seldom promises matches that do not come.
//!
//! The additions of f32 values and their order are KenLM's; nothing here may
//! reorder them.

use miriam_text::Log10;

use crate::index::{NO_EXTENSION, NgramIndex, Step};
use crate::{LmWord, MAX_ORDER, State};

/// How far a query has come.
pub(crate) struct Walk<M: NgramIndex> {
    /// All lookups of the query where they begin at once, else the first is the
    /// one under way.
    seeks: [M::Seek; MAX_ORDER - 1],
    log10: f32,
    /// Words matched so far, and how many of them the next state keeps.
    matched: usize,
    kept: usize,
}

/// The words of the context that can take part in a match.
#[inline(always)]
fn usable<'s, M: NgramIndex>(model: &M, context: &'s State) -> &'s [(LmWord, f32)] {
    let entries = context.entries();
    &entries[..entries.len().min(model.order() - 1)]
}

impl<M: NgramIndex> Walk<M> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Walk { seeks: [M::Seek::default(); MAX_ORDER - 1], log10: 0.0, matched: 0, kept: 0 }
    }

    /// Asks for memory that the walk will need; true when that is all of it.
    #[inline(always)]
    pub(crate) fn ask(&mut self, model: &M, context: &State, word: LmWord) -> bool {
        model.seek_all(word, usable(model, context), &mut self.seeks)
    }

    /// The word alone; true when the walk ends there. `asked` is what
    /// [`Walk::ask`] answered.
    #[inline(always)]
    pub(crate) fn begin(
        &mut self,
        model: &M,
        asked: bool,
        context: &State,
        word: LmWord,
        next: &mut State,
    ) -> bool {
        let found = model.unigram(word);
        next.entries_mut()[0] = (word, found.backoff);
        self.log10 = found.log10;
        self.matched = 1;
        self.kept = usize::from(found.backoff.to_bits() != NO_EXTENSION);
        let (Some(place), Some(&(older, _))) = (found.longer, usable(model, context).first())
        else {
            return true;
        };
        if !asked {
            self.seeks[0] = model.seek(2, place, older);
        }
        false
    }

    /// Goes on as far as memory has come; true at the end of the walk.
    #[inline(always)]
    pub(crate) fn go_on(
        &mut self,
        model: &M,
        asked: bool,
        context: &State,
        next: &mut State,
    ) -> bool {
        let words = usable(model, context);
        loop {
            let shorter = self.matched;
            let Some(&(older, _)) = words.get(shorter - 1) else { return true };
            let order = shorter + 1;
            let found =
                match model.step(order, &mut self.seeks[if asked { shorter - 1 } else { 0 }]) {
                    Step::Waiting => return false,
                    Step::Absent => return true,
                    Step::Found(found) => found,
                };
            self.log10 = found.log10;
            self.matched = order;
            if let Some(entry) = next.entries_mut().get_mut(shorter) {
                *entry = (older, found.backoff);
                if found.backoff.to_bits() != NO_EXTENSION {
                    self.kept = order;
                }
            }
            let Some(place) = found.longer else { return true };
            if !asked {
                let Some(&(older, _)) = words.get(shorter) else { return true };
                self.seeks[0] = model.seek(order + 1, place, older);
                return false;
            }
        }
    }

    /// The answer: log10 p and the matched length. `next` is complete then.
    #[inline(always)]
    pub(crate) fn end(&self, context: &State, next: &mut State) -> (Log10, u8) {
        // Words in front of a kept one were walked over, so they are in place.
        next.set_len(self.kept);
        let mut log10 = self.log10;
        // The backoffs that the match did not reach, shorter contexts first.
        for &(_, backoff) in context.entries().get(self.matched - 1..).unwrap_or_default() {
            log10 += backoff;
        }
        (Log10(log10), self.matched as u8)
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
    let mut walk = Walk::new();
    let asked = walk.ask(model, context, word);
    if !walk.begin(model, asked, context, word, next) {
        while !walk.go_on(model, asked, context, next) {}
    }
    walk.end(context, next)
}

/// [`crate::LanguageModel::prefetch`].
#[inline(always)]
pub(crate) fn prefetch<M: NgramIndex>(model: &M, context: &State, word: LmWord) {
    model.prefetch_unigram(word);
    Walk::new().ask(model, context, word);
}
