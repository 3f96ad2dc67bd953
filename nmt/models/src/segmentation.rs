//! Segmentation of text into the tokens of a vocabulary, and the files it needs.

mod moses_words;

use std::path::Path;
use std::sync::Arc;

use miriam_storage::Bytes;
use miriam_textproc::{BpeCodes, SentencePiece};

pub use moses_words::{MosesWords, WordRules};

use crate::{Result, compressed};

/// The segmentation of text of one side into tokens of the vocabulary.
#[derive(Clone, Default)]
pub enum Segmentation {
    /// The text is tokenised already: tokens with spaces between them.
    #[default]
    Presegmented,
    /// By a SentencePiece model; its pieces are looked up in the vocabulary.
    SentencePiece(SentencePieceModel),
    /// By byte pair encoding; its subwords are looked up in the vocabulary, where subwords that do
    /// not end a word have [`BPE_SEPARATOR`] as suffix.
    Bpe(BpeCodesFile),
}

impl Segmentation {
    /// Returns the name of the file with the pieces or codes.
    pub fn file_name(&self) -> Option<&str> {
        match self {
            Segmentation::Presegmented => None,
            Segmentation::SentencePiece(model) => Some(&model.name),
            Segmentation::Bpe(codes) => Some(&codes.name),
        }
    }

    /// Returns the segmentation of the target: this one, or the source's, which both sides share if
    /// only the source has one.
    pub(crate) fn or_shared(self, source: &Segmentation) -> Segmentation {
        match self {
            Segmentation::Presegmented => source.clone(),
            own => own,
        }
    }
}

/// The suffix of BPE subwords that do not end a word.
pub const BPE_SEPARATOR: &[u8] = b"@@";

/// BPE codes (the merges in order) with the bytes of their file.
#[derive(Clone)]
pub struct BpeCodesFile {
    /// The codes.
    pub codes: Arc<BpeCodes>,
    /// The content of the file they were read from.
    pub bytes: Bytes,
    /// The file's name.
    pub name: String,
    /// The rules that split text into words first and join them after translation; without them,
    /// spaces separate words.
    pub words: Option<Arc<MosesWords>>,
}

impl BpeCodesFile {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read or a line is not a merge.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_bytes(compressed::open(path)?, &path.display().to_string())
    }

    /// Reads codes from the bytes of a file; `name` names it in messages.
    ///
    /// # Errors
    /// If a line is not a merge.
    pub fn from_bytes(bytes: Bytes, name: &str) -> Result<Self> {
        let codes = Arc::new(BpeCodes::from_text(&bytes, name)?);
        Ok(BpeCodesFile { codes, bytes, name: name.to_owned(), words: None })
    }

    /// Returns the codes for the words of `rules`; without rules, spaces separate words.
    pub(crate) fn with_words(self, rules: Option<WordRules>) -> Self {
        BpeCodesFile { words: rules.map(|rules| Arc::new(MosesWords::new(rules))), ..self }
    }
}

/// A SentencePiece model with the bytes of its file.
#[derive(Clone)]
pub struct SentencePieceModel {
    /// The model.
    pub model: Arc<SentencePiece>,
    /// The content of the file it was read from.
    pub bytes: Bytes,
    /// The file's name.
    pub name: String,
}

impl SentencePieceModel {
    /// Reads the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be read or is not a SentencePiece model.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_bytes(compressed::open(path)?, path.display().to_string())
    }

    pub(crate) fn from_bytes(bytes: Bytes, name: String) -> Result<Self> {
        let model = Arc::new(SentencePiece::from_bytes(&bytes, &name)?);
        Ok(SentencePieceModel { model, bytes, name })
    }
}
