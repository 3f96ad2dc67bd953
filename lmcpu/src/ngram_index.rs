//! The n-grams of a model as a query sees them: one lookup after another, each one word
//! longer to the left.
//!
//! Each kind of file implements [`NgramIndex`]; scoring, one query at a time or in
//! batches, is written once for all kinds.

use crate::LmWord;
use crate::model_head::{ModelHead, ModelVocabulary};

/// The bits of a backoff of -0.0, which says that the n-gram has no backoff and does not begin a
/// longer one (`ngram-lm.md` 2.3).
pub const NO_EXTENSION: u32 = SIGN;

/// The sign bit of an f32; in a log10 p it is a flag of files (`ngram-lm.md` 2.3).
pub(crate) const SIGN: u32 = 1 << 31;

/// An n-gram of a model, as a lookup finds it. `P` is [`NgramIndex::NodeRef`].
#[derive(Clone, Copy, Debug)]
pub struct FoundNgram<P> {
    /// log10 p. A zero has the sign that KenLM gives it for the same kind of file.
    pub log10: f32,
    /// log10 of the backoff; -0.0 ([`NO_EXTENSION`]) if there is none and this n-gram does not
    /// begin a longer one, and always for the longest n-grams.
    pub backoff: f32,
    /// A reference to the n-grams with one more word to the left; `None` when the model
    /// knows that there are none.
    pub extend_left: Option<P>,
}

/// The state of a lookup after one step.
#[derive(Clone, Copy, Debug)]
pub enum LookupStep<P> {
    /// A prefetch is under way; step again when it may be done.
    Pending,
    /// The model has no such n-gram.
    Absent,
    /// The model has the n-gram.
    Found(FoundNgram<P>),
}

/// The n-grams of a model, found word by word.
///
/// A query walks from the newest word to the left: [`NgramIndex::unigram`], then for
/// each older word [`NgramIndex::begin_lookup`] and [`NgramIndex::step_lookup`] until
/// the n-gram is found or absent. Each of these prefetches what the next call will
/// read, so that a batch can step other queries meanwhile.
///
/// Every implementor is a [`crate::LanguageModel`]. All word ids are below
/// [`crate::LanguageModel::num_words`]. Damaged files may give wrong scores but must not panic.
pub trait NgramIndex: Send + Sync {
    /// A reference to the n-grams that extend one n-gram to the left: a hash, or a range of
    /// children.
    type NodeRef: Copy + Send;
    /// A lookup under way. The default is not a lookup and is never stepped.
    type Lookup: Copy + Default + Send;

    /// The words of the file.
    type Words: ModelVocabulary;

    /// Returns what the file has besides its n-grams.
    fn head(&self) -> &ModelHead<Self::Words>;

    /// Implements [`crate::LanguageModel::has_only_lowering_backoffs`].
    fn has_only_lowering_backoffs(&self) -> bool {
        false
    }

    /// Prefetches what [`NgramIndex::unigram`] will read.
    fn prefetch_unigram(&self, word: LmWord);

    /// Whether the address of a bigram follows from its words alone, but the addresses of longer
    /// n-grams do not. Then [`NgramIndex::prefetch_bigram`] prefetches it, and one visit resolves
    /// both unigram and bigram.
    #[inline(always)]
    fn can_prefetch_bigram(&self) -> bool {
        false
    }

    /// Prefetches what [`NgramIndex::unigram`] will read of `word` and, with
    /// [`NgramIndex::can_prefetch_bigram`], what a lookup of the bigram `older word`
    /// will read.
    fn prefetch_bigram(&self, older: LmWord, word: LmWord) {
        let _ = older;
        self.prefetch_unigram(word);
    }

    /// Returns the n-gram of `word` alone.
    fn unigram(&self, word: LmWord) -> FoundNgram<Self::NodeRef>;

    /// Begins to look for the n-gram of `order` words, from 2, that has `older` in
    /// front of the n-gram whose extensions `node` refers to.
    fn begin_lookup(&self, order: usize, node: Self::NodeRef, older: LmWord) -> Self::Lookup;

    /// Works like [`NgramIndex::begin_lookup`], for a caller that steps at once: a prefetch
    /// would come too late to help.
    #[inline(always)]
    fn begin_lookup_no_prefetch(
        &self,
        order: usize,
        node: Self::NodeRef,
        older: LmWord,
    ) -> Self::Lookup {
        self.begin_lookup(order, node, older)
    }

    /// Whether the next step of a lookup that has just begun reads only memory that is
    /// in the cache.
    #[inline(always)]
    fn is_ready(&self, lookup: &Self::Lookup) -> bool {
        let _ = lookup;
        false
    }

    /// Continues a lookup among n-grams of `order` words.
    fn step_lookup(&self, order: usize, lookup: &mut Self::Lookup) -> LookupStep<Self::NodeRef>;

    /// Whether node references follow from the words alone, as hashes do. Then
    /// [`NgramIndex::word_node`] and [`NgramIndex::extend_node`] are implemented. All lookups of a
    /// query can begin at once, because the lookup of an n-gram does not need the lookups
    /// of shorter n-grams.
    const INDEPENDENT_LOOKUPS: bool = false;

    /// Returns a reference to the n-grams that extend `word` to the left, if there are any.
    fn word_node(&self, word: LmWord) -> Option<Self::NodeRef> {
        let _ = word;
        None
    }

    /// Returns a reference to the n-grams that extend this n-gram: the one that has `older` in
    /// front of the n-gram whose extensions `node` refers to.
    fn extend_node(&self, node: Self::NodeRef, older: LmWord) -> Option<Self::NodeRef> {
        let _ = (node, older);
        None
    }
}
