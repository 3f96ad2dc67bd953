//! Vocabularies: the tokens of a model and their ids.
//!
//! Marian's vocabularies are maps of tokens to ids in YAML or JSON, lists of tokens, or
//! SentencePiece models; CTranslate2's are JSON lists. All of them become a list without
//! gaps, truncated to the rows of the model's embedding table, with the ids of EOS and of
//! the unknown token, which every model needs.

mod learn;
mod read;

use std::collections::BTreeMap;
use std::path::Path;

use miriam_storage::Bytes;
use miriam_storage::dictionary::Dictionary;
use miriam_textio::{Vocabulary as Words, WordId};
use miriam_textproc::SentencePiece;

use crate::segmentation::SentencePieceModel;
use crate::{Error, Result, compressed};
pub use learn::{LearnOptions, LearnedVocabulary, learn_vocabulary, select_words, words_to_yaml};

/// Spellings of EOS: the usual spelling, then Nematus' spelling, which has the id 0.
const EOS_NAMES: [&[u8]; 2] = [b"</s>", b"eos"];

/// Tokens that no text has. If a vocabulary lacks EOS, one of them stands for it, or the unknown
/// token.
const EOS_SUBSTITUTES: [&[u8]; 2] = [b"<blank>", b"<pad>"];
/// Spellings of the unknown token: the usual spelling, then those of Nematus, which have the id 1.
const UNK_NAMES: [&[u8]; 3] = [b"<unk>", b"UNK", b"unk"];
/// The beginning of the name of an id that has no token, because the model has more rows than its
/// tokeniser has tokens.
pub(crate) const PLACEHOLDER_PREFIX: &str = "<no-token-";

/// The special tokens of a model of CTranslate2.
#[derive(Clone, Debug)]
pub(crate) struct SpecialTokens {
    pub eos: String,
    /// The unknown token; it is appended to a vocabulary that lacks it.
    pub unk: String,
    pub bos: String,
    /// The token before the tokens of a source sentence.
    pub source_bos: Option<String>,
    /// Whether EOS follows the tokens of a source sentence.
    pub has_source_eos: bool,
    /// Whether EOS follows the tokens of a source sentence that is text.
    pub texts_have_source_eos: bool,
}

/// A bijection of tokens and ids `0..len`, with the ids of EOS and the unknown token. Only the
/// vocabularies of CTranslate2 may have a token again under further ids.
///
/// ```
/// use std::path::Path;
/// use miriam_nmt_models::Vocabulary;
///
/// # fn main() -> Result<(), miriam_nmt_models::Error> {
/// let vocabulary = Vocabulary::open(Path::new("../testdata/tiny.vocab.yml"))?;
/// assert_eq!(vocabulary.find(b"w7"), Some(7));
/// assert_eq!(vocabulary.word(vocabulary.eos_id()), Some(&b"</s>"[..]));
/// let json = br#"{"</s>": 0, "<unk>": 1, "null": 2}"#;
/// let vocabulary = Vocabulary::parse(json, Path::new("vocab.json"))?;
/// assert_eq!(vocabulary.find(b"null"), Some(2));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Vocabulary {
    words: WordStore,
    /// The ids of repeated tokens, each with the lowest id of its token. The storage has a unique
    /// placeholder in the place of each.
    repeats: BTreeMap<u32, u32>,
    name: String,
    eos_id: u32,
    unk_id: u32,
}

/// The storage of the tokens.
#[derive(Clone)]
enum WordStore {
    Owned(Words),
    Mapped(Dictionary),
}

impl Vocabulary {
    /// Reads the file at `path`, plain or compressed: `.spm` and `.model` are SentencePiece models,
    /// `.json`, `.yml` and `.yaml` are maps or lists, all others have one token per line unless
    /// they begin like a SentencePiece model or like a map of Marian.
    ///
    /// # Errors
    /// If the file cannot be read or is malformed, if a token has two ids or two tokens have the
    /// same id, or if EOS or the unknown token is missing.
    pub fn open(path: &Path) -> Result<Self> {
        Self::parse(&compressed::open(path)?, path)
    }

    /// Works as [`Vocabulary::open`]. If the file is a SentencePiece model, also returns that
    /// model, which segments text of its side.
    ///
    /// # Errors
    /// Those of [`Vocabulary::open`].
    pub fn open_with_segmentation(path: &Path) -> Result<(Self, Option<SentencePieceModel>)> {
        Self::parse_with_segmentation(compressed::open(path)?, path)
    }

    /// Works as [`Vocabulary::open_with_segmentation`], from memory.
    pub(crate) fn parse_with_segmentation(
        bytes: Bytes,
        path: &Path,
    ) -> Result<(Self, Option<SentencePieceModel>)> {
        if !read::is_sentencepiece(&bytes, path) {
            return Ok((Self::parse(&bytes, path)?, None));
        }
        let model = SentencePieceModel::from_bytes(bytes, path.display().to_string())?;
        Ok((Self::from_sentencepiece(&model.model, path)?, Some(model)))
    }

    /// Reads a vocabulary from memory; the extension of `path` tells the format.
    ///
    /// # Errors
    /// Those of [`Vocabulary::open`].
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        read::parse(bytes, path)
    }

    /// Reads a vocabulary of CTranslate2 with its special tokens. A SentencePiece model is also
    /// returned, as by [`Vocabulary::open_with_segmentation`]. The vocabulary of a source without
    /// EOS may lack EOS, as that of OpenNMT-py does; then `needs_eos` is false.
    pub(crate) fn parse_with_special_tokens(
        bytes: Bytes,
        path: &Path,
        tokens: &SpecialTokens,
        needs_eos: bool,
    ) -> Result<(Self, Option<SentencePieceModel>)> {
        if read::is_sentencepiece(&bytes, path) {
            let model = SentencePieceModel::from_bytes(bytes, path.display().to_string())?;
            return Ok((Self::from_sentencepiece(&model.model, path)?, Some(model)));
        }
        Ok((read::parse_list(&bytes, path, tokens, needs_eos)?, None))
    }

    /// Returns the vocabulary of the pieces of a SentencePiece model.
    ///
    /// # Errors
    /// If the model has no control piece for the end of a text, or a piece occurs twice.
    pub fn from_sentencepiece(model: &SentencePiece, path: &Path) -> Result<Self> {
        let pieces = (0..model.len() as u32).map(|id| model.piece(id).unwrap_or_default());
        // The name of the end piece was chosen in training, and a model may have an ordinary piece
        // </s>.
        let end = model.end_id().and_then(|id| model.piece(id));
        let Some(end) = end else {
            let vocabulary = Self::new(pieces, path, Some(model.unknown_id()))?;
            let name = vocabulary.word(vocabulary.eos_id).map(String::from_utf8_lossy);
            let reason = format!(
                "its piece {} is not a control piece, which models for translation need",
                name.unwrap_or_default()
            );
            return Err(invalid(path, reason));
        };
        Self::with_names(pieces, path, [&[end], &UNK_NAMES], Some(model.unknown_id()))
    }

    /// Creates a vocabulary of a list of distinct tokens. EOS and the unknown token have the ids
    /// `eos_id` and `unk_id`.
    pub(crate) fn with_special_ids<'a>(
        list: impl Iterator<Item = &'a [u8]>,
        path: &Path,
        [eos_id, unk_id]: [u32; 2],
    ) -> Result<Self> {
        let list: Vec<&[u8]> = list.collect();
        let eos = list.get(eos_id as usize).copied().unwrap_or_default();
        Self::with_names(list.into_iter(), path, [&[eos], &UNK_NAMES], Some(unk_id))
    }

    /// Returns the vocabulary of a list of distinct tokens, the first of which has id 0.
    pub(crate) fn new<'a>(
        list: impl Iterator<Item = &'a [u8]>,
        path: &Path,
        unk_id: Option<u32>,
    ) -> Result<Self> {
        let vocabulary = Self::with_names(list, path, [&EOS_NAMES, &UNK_NAMES], unk_id)?;
        // Elsewhere, these names are words, as in Marian.
        for (id, names, nematus_id) in
            [(vocabulary.eos_id, &EOS_NAMES[..], 0), (vocabulary.unk_id, &UNK_NAMES, 1)]
        {
            let name = names[1..].iter().find(|name| vocabulary.find(name) == Some(id));
            if let Some(name) = name.filter(|_| id != nematus_id && unk_id != Some(id)) {
                let [name, usual] = [name, &names[0]].map(|name| String::from_utf8_lossy(name));
                let reason = format!(
                    "{usual} is not there, and {name:?} stands for it only with the id \
                     {nematus_id}, not {id}; give the vocabulary of this model"
                );
                return Err(invalid(path, reason));
            }
        }
        Ok(vocabulary)
    }

    /// Works as [`Vocabulary::new`], with the spellings of EOS and of the unknown token.
    fn with_names<'a>(
        list: impl Iterator<Item = &'a [u8]>,
        path: &Path,
        [eos_names, unk_names]: [&[&[u8]]; 2],
        unk_id: Option<u32>,
    ) -> Result<Self> {
        let mut words = Words::new();
        let mut twice = None;
        for (id, word) in list.enumerate() {
            let found = words.intern(word);
            if found.index() != id && twice.is_none() {
                let word = String::from_utf8_lossy(word);
                twice = Some(invalid(path, format!("{word:?} has the ids {} and {id}", found.0)));
            }
        }
        let [eos_id, listed_unk_id] = [eos_names, unk_names]
            .map(|names| names.iter().find_map(|name| words.find(name)).map(|id| id.0));
        let missing = |names: &[&[u8]]| {
            let names: Vec<_> = names.iter().map(|name| String::from_utf8_lossy(name)).collect();
            let names = names[..names.len().min(2)].join(" nor ");
            let nor = if names.contains(' ') { "neither " } else { "no " };
            invalid(path, format!("{nor}{names} is there; give the vocabulary of this model"))
        };
        // For a file that is not a vocabulary, this error says more than one about a repeated word.
        let eos_id = eos_id.ok_or_else(|| missing(eos_names))?;
        if let Some(error) = twice {
            return Err(error);
        }
        let unk_id = unk_id.or(listed_unk_id).ok_or_else(|| missing(unk_names))?;
        Ok(Vocabulary {
            words: WordStore::Owned(words),
            repeats: BTreeMap::new(),
            name: path.display().to_string(),
            eos_id,
            unk_id,
        })
    }

    /// Returns the vocabulary of a model file. `eos_id` and `unk_id` must be less than its length.
    pub(crate) fn from_mapped(words: Dictionary, name: String, eos_id: u32, unk_id: u32) -> Self {
        let repeats = BTreeMap::new();
        Vocabulary { words: WordStore::Mapped(words), repeats, name, eos_id, unk_id }
    }

    /// Returns the vocabulary truncated to the `rows` rows of an embedding table. `side` is
    /// `source` or `target`, for messages.
    ///
    /// # Errors
    /// If there are fewer tokens than rows, or EOS or the unknown token would be cut off.
    pub fn truncated(mut self, rows: usize, side: &str) -> Result<Self> {
        if self.len() < rows {
            return Err(Error::mismatch(
                Path::new(&self.name),
                &format!("{side} vocabulary"),
                format!(
                    "it has {} words, the model's table has {rows} rows; give the vocabulary of \
                     this model",
                    self.len()
                ),
            ));
        }
        if self.len() > rows {
            let mut words = Words::new();
            for id in 0..rows as u32 {
                words.intern(self.stored_word(id).unwrap_or_default());
            }
            self.words = WordStore::Owned(words);
            self.repeats.retain(|&id, _| (id as usize) < rows);
            for (what, id) in [("end of sentence", self.eos_id), ("unknown word", self.unk_id)] {
                if id as usize >= rows {
                    let reason =
                        format!("the {what} has id {id}, the model's table has {rows} rows");
                    let place = format!("{side} vocabulary");
                    return Err(Error::mismatch(Path::new(&self.name), &place, reason));
                }
            }
        }
        Ok(self)
    }

    /// Returns the number of tokens.
    pub fn len(&self) -> usize {
        match &self.words {
            WordStore::Owned(words) => words.len(),
            WordStore::Mapped(words) => words.len(),
        }
    }

    /// Always false: every vocabulary has EOS.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the path of the file it was read from; for a model file of Miriam, also the side.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Finds the id of a token, the lowest one if the token is repeated.
    pub fn find(&self, word: &[u8]) -> Option<u32> {
        match &self.words {
            WordStore::Owned(words) => words.find(word).map(|id| id.0),
            WordStore::Mapped(words) => words.find(word),
        }
    }

    /// Returns the token of an id.
    pub fn word(&self, id: u32) -> Option<&[u8]> {
        self.stored_word(self.repeats.get(&id).copied().unwrap_or(id))
    }

    /// Returns a token that has several ids, if there is one.
    pub(crate) fn repeated_word(&self) -> Option<&[u8]> {
        self.repeats.values().next().and_then(|&id| self.stored_word(id))
    }

    fn stored_word(&self, id: u32) -> Option<&[u8]> {
        match &self.words {
            WordStore::Owned(words) => {
                ((id as usize) < words.len()).then(|| words.word(WordId(id)))
            }
            WordStore::Mapped(words) => words.get(id),
        }
    }

    /// Returns all tokens in the order of ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len() as u32).map(|id| self.word(id).unwrap_or_default())
    }

    /// Counts the tokens that are not UTF-8. Tokens of Marian and Nematus may be any bytes.
    pub fn count_non_utf8(&self) -> usize {
        self.iter().filter(|token| std::str::from_utf8(token).is_err()).count()
    }

    /// Returns the id of EOS.
    pub fn eos_id(&self) -> u32 {
        self.eos_id
    }

    /// Returns the id of EOS, if the vocabulary has one. Where that of a source lacks it,
    /// [`eos_id`](Self::eos_id) is another token, which stands for it.
    pub fn own_eos_id(&self) -> Option<u32> {
        let is_substitute = self.eos_id == self.unk_id
            || self.word(self.eos_id).is_some_and(|token| EOS_SUBSTITUTES.contains(&token));
        (!is_substitute).then_some(self.eos_id)
    }

    /// Returns the id of the unknown token, which replaces words that the vocabulary lacks.
    pub fn unk_id(&self) -> u32 {
        self.unk_id
    }

    /// Whether both are one vocabulary: of one name, with the same tokens. To Marian, files of
    /// different names are different vocabularies, even if their content is the same.
    pub fn is_shared_with(&self, other: &Vocabulary) -> bool {
        self.name == other.name && self.has_same_ids(other)
    }

    /// Whether both have the same tokens with the same ids.
    pub fn has_same_ids(&self, other: &Vocabulary) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

/// Returns the error that the vocabulary at `path` does not fit the model or is malformed.
fn invalid(path: &Path, reason: impl Into<String>) -> Error {
    Error::mismatch(path, "vocabulary", reason)
}

#[cfg(test)]
mod tests;
