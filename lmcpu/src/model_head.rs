//! Contents of every model file besides its n-grams: order, vocabulary with `<s>` and `</s>`, and
//! the state that sentences begin in.
//!
//! Each kind of file has a [`ModelHead`]; words are looked up and opened files are checked here for
//! all kinds.

use miriam_storage::dictionary::Dictionary;
use miriam_storage::zerocopy::{FromBytes, Immutable, KnownLayout};
use miriam_storage::{Container, View};
use serde::{Deserialize, Serialize};

use crate::{LmWord, MAX_ORDER, Result, State};

/// The part of the metadata that all our kinds of files end with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeadMetadata {
    /// The id of `<s>`; 0, the id of `<unk>`, if the model does not have `<s>`.
    pub bos_id: u32,
    /// The id of `</s>`, or 0 as for `<s>`.
    pub eos_id: u32,
    /// Whether the source had `<unk>`.
    pub has_unknown: bool,
    /// [`crate::LanguageModel::minimization_is_closed`].
    pub minimization_is_closed: bool,
}

/// The words of a model file; `<unk>` is 0.
pub trait ModelVocabulary: Send + Sync {
    /// Implements [`crate::LanguageModel::num_words`].
    fn num_words(&self) -> usize;
    /// Implements [`crate::LanguageModel::word_id`].
    fn word_id(&self, word: &[u8]) -> LmWord;
    /// Implements [`crate::LanguageModel::word_ids`].
    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]);
    /// Implements [`crate::LanguageModel::word`].
    fn word(&self, id: LmWord) -> Option<&[u8]>;
}

impl ModelVocabulary for Dictionary {
    fn num_words(&self) -> usize {
        self.len()
    }

    fn word_id(&self, word: &[u8]) -> LmWord {
        self.find(word).map_or(LmWord::UNKNOWN, LmWord)
    }

    fn word_ids(&self, text: &[u8], spans: &[(u32, u32)], ids: &mut [LmWord]) {
        let words = spans.iter().map(|&(start, end)| &text[start as usize..end as usize]);
        let mut ids = ids[..spans.len()].iter_mut();
        self.find_batch(words, |found| {
            if let Some(id) = ids.next() {
                *id = found.map_or(LmWord::UNKNOWN, LmWord);
            }
        });
    }

    fn word(&self, id: LmWord) -> Option<&[u8]> {
        self.get(id.0)
    }
}

/// The parts of a model besides its n-grams; a [`Dictionary`] holds the words of our files.
pub struct ModelHead<V = Dictionary> {
    pub(crate) order: usize,
    /// The vocabulary.
    pub words: V,
    pub(crate) begin_state: State,
    pub(crate) eos_id: LmWord,
    pub(crate) minimization_is_closed: bool,
}

impl<V: ModelVocabulary> ModelHead<V> {
    /// Creates the head of a KenLM file from its words; `backoff` gives the backoff of a word.
    /// Whether minimisation is closed is not known without reading all of such a file.
    pub(crate) fn from_kenlm(order: usize, words: V, backoff: impl Fn(LmWord) -> f32) -> Self {
        let (bos_id, eos_id) = (words.word_id(b"<s>"), words.word_id(b"</s>"));
        let begin_state = State::from_word(bos_id, backoff(bos_id));
        ModelHead { order, words, begin_state, eos_id, minimization_is_closed: false }
    }

    /// Returns the length of the longest n-grams, 1 to [`MAX_ORDER`].
    #[inline(always)]
    pub fn order(&self) -> usize {
        self.order
    }
}

impl ModelHead {
    /// Opens the vocabulary (sections `words.*`) and the unigrams (`order-1`) of
    /// `container`; `backoff` reads the backoff of a unigram. `counts` is the number of
    /// orders from 1 that the metadata lists, `levels` the number of orders from 2.
    ///
    /// # Errors
    ///
    /// If a section is missing or contradicts the metadata.
    pub fn open<U: FromBytes + Immutable + KnownLayout>(
        container: &Container,
        order: u32,
        (counts, levels): (usize, usize),
        metadata: &HeadMetadata,
        backoff: impl Fn(&U) -> f32,
    ) -> Result<(Self, View<U>)> {
        let damaged = |reason: &str| container.damaged("metadata", reason);
        let order = order as usize;
        if !(1..=MAX_ORDER).contains(&order) {
            return Err(damaged(&format!("order {order} is not between 1 and {MAX_ORDER}")).into());
        }
        if counts != order || levels != order - 1 {
            return Err(damaged("the counts do not fit the order").into());
        }
        let words = Dictionary::open(container, "words")?;
        let unigrams = container.section::<U>("order-1")?;
        if unigrams.len() != words.len() || u32::try_from(words.len()).is_err() {
            let reason = "there is not one unigram for each word";
            return Err(container.damaged("order-1", reason).into());
        }
        let &HeadMetadata { bos_id, eos_id, minimization_is_closed, .. } = metadata;
        fn is_valid(id: u32, marker: &[u8], words: &Dictionary) -> bool {
            match id {
                0 => words.find(marker).is_none(),
                _ => (id as usize) < words.len(),
            }
        }
        if !is_valid(bos_id, b"<s>", &words) || !is_valid(eos_id, b"</s>", &words) {
            return Err(damaged("<s> or </s> is not a word of the model").into());
        }
        let begin_state = State::from_word(LmWord(bos_id), backoff(&unigrams[bos_id as usize]));
        let eos_id = LmWord(eos_id);
        Ok((ModelHead { order, words, begin_state, eos_id, minimization_is_closed }, unigrams))
    }

    /// Checks that each word is found by its own text and that the special words have their ids.
    /// The time grows with the vocabulary.
    ///
    /// # Errors
    ///
    /// The first fault found, with its section.
    pub fn verify(&self, container: &Container) -> Result<()> {
        if let Err(id) = self.words.verify() {
            let reason = format!("word {id} is not found by its own text");
            return Err(container.damaged("words.index", reason).into());
        }
        let bos_id = self.begin_state.entries()[0].0;
        let markers = [(&b"<s>"[..], bos_id), (b"</s>", self.eos_id)];
        // Markers that the model does not have are <unk>.
        let markers = markers.into_iter().filter(|&(_, id)| id != LmWord::UNKNOWN);
        let mut special_words = markers.chain([(&b"<unk>"[..], LmWord::UNKNOWN)]);
        if special_words.any(|(text, id)| self.words.word(id) != Some(text)) {
            return Err(container
                .damaged("words.bytes", "<s>, </s> or <unk> has the id of another word")
                .into());
        }
        Ok(())
    }
}

/// Checks the two values of an n-gram.
///
/// # Errors
///
/// The reason why they are invalid.
pub fn check_values(log10: f32, backoff: f32) -> Result<(), &'static str> {
    if log10.is_nan() {
        return Err("its log probability is not a number");
    }
    if !backoff.is_finite() {
        return Err("its backoff is not a finite number");
    }
    Ok(())
}
