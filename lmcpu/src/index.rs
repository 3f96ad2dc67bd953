//! A model as the walk of a query sees it: lookup after lookup, each one word
//! longer to the left.
//!
//! A kind of file says where its n-grams lie ([`NgramIndex`]); scoring, one at a
//! time or in batches, is written once, for all of them.

use miriam_textio::Log10;

use crate::{LanguageModel, LmWord, Request, ScoreResult, State, batch, walk};

/// The bits of a backoff that says: none, and no longer n-gram begins with this
/// one (`ngram-lm.md` 2.3).
pub const NO_EXTENSION: u32 = SIGN;

/// The sign bit of an f32; in a log10 p it is a flag of files (`ngram-lm.md` 2.3).
pub(crate) const SIGN: u32 = 1 << 31;

/// An n-gram of a model.
#[derive(Clone, Copy, Debug)]
pub struct FoundNgram<P> {
    /// log10 p, with the sign that KenLM's file of the same kind answers for 0.
    pub log10: f32,
    /// log10 of the backoff; -0.0 ([`NO_EXTENSION`]) where there is none and no
    /// longer n-gram begins with this one, and always for the longest n-grams.
    pub backoff: f32,
    /// Where the n-grams with one more word to the left lie; `None` when the
    /// model knows that there are none.
    pub extend_left: Option<P>,
}

/// How far one lookup has come.
#[derive(Clone, Copy, Debug)]
pub enum LookupStep<P> {
    /// Memory was asked for; go on when it may be there.
    Pending,
    /// The model has no such n-gram.
    Absent,
    /// It has.
    Found(FoundNgram<P>),
}

/// Where the n-grams of a model lie.
///
/// A query walks from the newest word to the left: [`NgramIndex::unigram`], then
/// for each older word [`NgramIndex::seek`] and [`NgramIndex::step`] until the
/// n-gram is found or absent. Each of these asks for the memory that the next
/// call will read, so that a batch can do something else meanwhile.
///
/// Whoever implements this is a [`LanguageModel`]. Contexts never hold ids that
/// are not below [`NgramIndex::num_words`]; damaged files may give wrong answers
/// but must not panic.
pub trait NgramIndex: Send + Sync {
    /// Where the n-grams lie that extend one n-gram to the left: a hash, a range
    /// of children.
    type NodeRef: Copy + Send;
    /// A lookup under way. The default stands for none and is never stepped.
    type Lookup: Copy + Default + Send;

    /// See [`LanguageModel::order`].
    fn order(&self) -> usize;
    /// See [`LanguageModel::num_words`].
    fn num_words(&self) -> usize;
    /// See [`LanguageModel::word_id`].
    fn word_id(&self, word: &[u8]) -> LmWord;
    /// See [`LanguageModel::word_ids`].
    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        for (&(start, end), id) in spans.iter().zip(&mut ids[..spans.len()]) {
            *id = self.word_id(&text[start as usize..end as usize]);
        }
    }
    /// See [`LanguageModel::word`].
    fn word(&self, id: LmWord) -> Option<&[u8]>;
    /// See [`LanguageModel::begin_state`].
    fn begin_state(&self) -> State;
    /// See [`LanguageModel::end_of_sentence`].
    fn end_of_sentence(&self) -> LmWord;
    /// See [`LanguageModel::minimisation_is_closed`].
    fn minimisation_is_closed(&self) -> bool;

    /// Asks for what [`NgramIndex::unigram`] will read.
    fn prefetch_unigram(&self, word: LmWord);

    /// Whether the place of a bigram follows from its words alone though those of
    /// longer n-grams do not: then [`NgramIndex::prefetch_pair`] asks for it, and
    /// one visit answers both unigram and bigram.
    #[inline(always)]
    fn can_prefetch_bigram(&self) -> bool {
        false
    }

    /// Asks for what [`NgramIndex::unigram`] will read of `word` and, with
    /// [`NgramIndex::pairs_ahead`], a lookup of the bigram with `older` in front.
    fn prefetch_bigram(&self, older: LmWord, word: LmWord) {
        let _ = older;
        self.prefetch_unigram(word);
    }

    /// The word alone.
    fn unigram(&self, word: LmWord) -> FoundNgram<Self::NodeRef>;

    /// Begins to look for the n-gram of `order` words, from 2, that has `older`
    /// in front of the n-gram whose extensions lie at `place`.
    fn begin_lookup(&self, order: usize, place: Self::NodeRef, older: LmWord) -> Self::Lookup;

    /// As [`NgramIndex::seek`], for a caller that steps at once: where the place
    /// was known early the processor is ahead of any request for memory.
    #[inline(always)]
    fn begin_lookup_no_prefetch(
        &self,
        order: usize,
        place: Self::NodeRef,
        older: LmWord,
    ) -> Self::Lookup {
        self.begin_lookup(order, place, older)
    }

    /// Whether the next step of a lookup that has just begun needs no memory that has
    /// to be waited for.
    #[inline(always)]
    fn is_ready(&self, seek: &Self::Lookup) -> bool {
        let _ = seek;
        false
    }

    /// Goes on with a lookup among n-grams of `order` words.
    fn step_lookup(&self, order: usize, seek: &mut Self::Lookup) -> LookupStep<Self::NodeRef>;

    /// Whether places follow from the words alone, as hashes do: then
    /// [`NgramIndex::word_place`] and [`NgramIndex::place_beyond`] answer, all
    /// lookups of a query can begin at once, and [`NgramIndex::step`] never
    /// waits.
    const INDEPENDENT_LOOKUPS: bool = false;

    /// Where the n-grams lie that extend `word`, if there are any.
    fn word_node(&self, word: LmWord) -> Option<Self::NodeRef> {
        let _ = word;
        None
    }

    /// Where the n-grams lie that extend the one with `older` in front of the
    /// n-gram whose extensions lie at `place`, if both are there.
    fn extend_node(&self, place: Self::NodeRef, older: LmWord) -> Option<Self::NodeRef> {
        let _ = (place, older);
        None
    }
}

impl<M: NgramIndex> LanguageModel for M {
    fn order(&self) -> usize {
        NgramIndex::order(self)
    }

    fn num_words(&self) -> usize {
        NgramIndex::num_words(self)
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        NgramIndex::word_id(self, word)
    }

    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        NgramIndex::word_ids(self, text, spans, ids);
    }

    fn word(&self, id: LmWord) -> Option<&[u8]> {
        NgramIndex::word(self, id)
    }

    fn begin_state(&self) -> State {
        NgramIndex::begin_state(self)
    }

    fn end_of_sentence(&self) -> LmWord {
        NgramIndex::end_of_sentence(self)
    }

    #[inline]
    fn score(&self, context: &State, word: LmWord, next: &mut State) -> (Log10, u8) {
        walk::score(self, context, word, next)
    }

    #[inline]
    fn prefetch(&self, context: &State, word: LmWord) {
        walk::prefetch(self, context, word);
    }

    fn score_batch(&self, states: &[State], requests: &[Request], results: &mut [ScoreResult]) {
        batch::score_requests(self, states, requests, results);
    }

    fn score_sentences(
        &self,
        begin: &State,
        words: &[LmWord],
        ends: &[usize],
        scores: &mut [(Log10, u8)],
    ) {
        batch::score_sentences(self, begin, words, ends, scores);
    }

    fn minimisation_is_closed(&self) -> bool {
        NgramIndex::minimisation_is_closed(self)
    }
}
