//! Words of a model and their ids, from whatever holds them.
//!
//! Marian's vocabularies are maps of words to ids in YAML or JSON, lists of words, or
//! SentencePiece models; CTranslate2's are JSON lists. All of them end as a list without
//! gaps, cut to as many words as the model's tables have rows, with the ids of the two
//! words that every model needs.

mod read;

use std::io::Read;
use std::path::Path;

use miriam_storage::dictionary::Dictionary;
use miriam_textio::{Input, Vocabulary as Words, WordId};
use miriam_textproc::SentencePiece;
use miriam_textproc::sentencepiece::PieceType;

use crate::{Error, Result};

/// Names of the end of a sentence: Marian's and everybody's, Nematus'.
const EOS_NAMES: [&[u8]; 2] = [b"</s>", b"eos"];
/// Names of the unknown word.
const UNK_NAMES: [&[u8]; 3] = [b"<unk>", b"UNK", b"unk"];

/// Words by id, ids by word, and the ids that mean something of their own.
#[derive(Clone)]
pub struct Vocabulary {
    words: WordStore,
    name: String,
    eos_id: u32,
    unk_id: u32,
}

/// Where the words are.
#[derive(Clone)]
enum WordStore {
    Owned(Words),
    Mapped(Dictionary),
}

impl Vocabulary {
    /// Reads the file at `path`, plain or compressed: `.spm` is a SentencePiece model,
    /// `.json`, `.yml` and `.yaml` are maps or lists, all others have a word a line.
    pub fn open(path: &Path) -> Result<Self> {
        let mut input = Input::open(path)?;
        let mut bytes = Vec::new();
        let name = input.name().to_owned();
        input.read_to_end(&mut bytes).map_err(|e| miriam_textio::Error::io(&name, "read", e))?;
        Self::parse(&bytes, path)
    }

    /// A vocabulary whose bytes are at hand; the name of `path` tells the form.
    pub fn parse(bytes: &[u8], path: &Path) -> Result<Self> {
        read::parse(bytes, path)
    }

    /// The pieces of a SentencePiece model.
    pub fn from_sentencepiece(model: &SentencePiece, path: &Path) -> Result<Self> {
        let pieces = (0..model.len() as u32).map(|id| model.piece(id).unwrap_or_default());
        let mut vocabulary = Self::new(pieces, path, Some(model.unknown_id()))?;
        // A model may have a piece of that text which is no control piece.
        if model.piece_type(vocabulary.eos_id) != Some(PieceType::Control) {
            let reason = "its piece </s> is no control piece; a model for translation was \
                          trained with one";
            return Err(Error::mismatch(path, "vocabulary", reason));
        }
        vocabulary.unk_id = model.unknown_id();
        Ok(vocabulary)
    }

    /// A list of distinct words whose first has id 0.
    pub(crate) fn new<'a>(
        list: impl Iterator<Item = &'a [u8]>,
        path: &Path,
        unknown: Option<u32>,
    ) -> Result<Self> {
        let wrong = |reason: String| Error::mismatch(path, "vocabulary", reason);
        let mut words = Words::new();
        for (id, word) in list.enumerate() {
            let found = words.intern(word);
            if found.index() != id {
                let word = String::from_utf8_lossy(word);
                return Err(wrong(format!("{word:?} has the ids {} and {id}", found.0)));
            }
        }
        let find = |names: &[&[u8]]| names.iter().find_map(|name| words.find(name)).map(|id| id.0);
        let end = find(&EOS_NAMES).ok_or_else(|| {
            wrong("neither </s> nor eos is there; is this the vocabulary of the model?".into())
        })?;
        let unknown = unknown.or_else(|| find(&UNK_NAMES)).ok_or_else(|| {
            wrong("neither <unk> nor UNK is there; is this the vocabulary of the model?".into())
        })?;
        Ok(Vocabulary {
            words: WordStore::Owned(words),
            name: path.display().to_string(),
            eos_id: end,
            unk_id: unknown,
        })
    }

    /// The words of a model file of ours. `end` and `unknown` must be ids of it.
    pub(crate) fn from_mapped(words: Dictionary, name: String, eos_id: u32, unk_id: u32) -> Self {
        Vocabulary { words: WordStore::Mapped(words), name, eos_id, unk_id }
    }

    /// The vocabulary of a table with `rows` rows: cut if it is larger; if it is smaller
    /// the model knows words that have no name, and the two do not belong together.
    /// `side` is `source` or `target`.
    pub fn truncated(mut self, rows: usize, side: &str) -> Result<Self> {
        if self.len() < rows {
            return Err(Error::mismatch(
                Path::new(&self.name),
                &format!("{side} vocabulary"),
                format!("it has {} words, the model's table {rows} rows", self.len()),
            ));
        }
        if self.len() > rows {
            let mut words = Words::new();
            for word in self.iter().take(rows) {
                words.intern(word);
            }
            self.words = WordStore::Owned(words);
            for (what, id) in [("end of sentence", self.eos_id), ("unknown word", self.unk_id)] {
                if id as usize >= rows {
                    let reason = format!("the {what} has id {id}, the model's table {rows} rows");
                    let place = format!("{side} vocabulary");
                    return Err(Error::mismatch(Path::new(&self.name), &place, reason));
                }
            }
        }
        Ok(self)
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        match &self.words {
            WordStore::Owned(words) => words.len(),
            WordStore::Mapped(words) => words.len(),
        }
    }

    /// Whether there are none, which cannot be.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The file it was read from.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of a word.
    pub fn find(&self, word: &[u8]) -> Option<u32> {
        match &self.words {
            WordStore::Owned(words) => words.find(word).map(|id| id.0),
            WordStore::Mapped(words) => words.find(word),
        }
    }

    /// The word of an id.
    pub fn word(&self, id: u32) -> Option<&[u8]> {
        match &self.words {
            WordStore::Owned(words) => {
                ((id as usize) < words.len()).then(|| words.word(WordId(id)))
            }
            WordStore::Mapped(words) => words.get(id),
        }
    }

    /// Every word in the order of ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len() as u32).map(|id| self.word(id).unwrap_or_default())
    }

    /// The id of the end of a sentence.
    pub fn eos_id(&self) -> u32 {
        self.eos_id
    }

    /// The id that stands for words that are not there.
    pub fn unk_id(&self) -> u32 {
        self.unk_id
    }

    /// Whether the two have the same words in the same order.
    pub fn has_same_words(&self, other: &Vocabulary) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

#[cfg(test)]
mod tests;
