//! How text of one side of a model becomes words of its vocabulary, and the files that say
//! so.

use std::path::Path;
use std::sync::Arc;

use miriam_storage::{Bytes, LoadMethod};
use miriam_textproc::{BpeCodes, SentencePiece};

use crate::Result;

/// How text of one side becomes words of the vocabulary.
#[derive(Clone, Default)]
pub enum Segmentation {
    /// It comes in pieces already, with spaces between them.
    #[default]
    Presegmented,
    /// By a SentencePiece model, whose pieces are looked up in the vocabulary.
    SentencePiece(SentencePieceModel),
    /// By codes of byte pair encoding, whose pieces are looked up in the vocabulary; those
    /// that do not end a word have [`JOINER`] behind them there.
    Bpe(BpeCodesFile),
}

/// What pieces of byte pair encoding end with where the word goes on.
pub const BPE_SEPARATOR: &[u8] = b"@@";

/// Codes of byte pair encoding with the bytes of their file.
#[derive(Clone)]
pub struct BpeCodesFile {
    /// The codes.
    pub codes: Arc<BpeCodes>,
    /// The file they were read from, whole.
    pub bytes: Bytes,
}

impl BpeCodesFile {
    /// Reads the file at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_bytes(Bytes::open(path, LoadMethod::Lazy)?, &path.display().to_string())
    }

    pub(crate) fn from_bytes(bytes: Bytes, name: &str) -> Result<Self> {
        let codes = Arc::new(BpeCodes::from_text(&bytes, name)?);
        Ok(BpeCodesFile { codes, bytes })
    }
}

/// A SentencePiece model with the bytes of its file.
#[derive(Clone)]
pub struct SentencePieceModel {
    /// The model.
    pub model: Arc<SentencePiece>,
    /// The file it was read from, whole.
    pub bytes: Bytes,
    /// The file's name.
    pub name: String,
}

impl SentencePieceModel {
    /// Reads the file at `path`.
    pub fn open(path: &Path) -> Result<Self> {
        Self::from_bytes(Bytes::open(path, LoadMethod::Lazy)?, path.display().to_string())
    }

    pub(crate) fn from_bytes(bytes: Bytes, name: String) -> Result<Self> {
        let model = Arc::new(SentencePiece::from_bytes(&bytes, &name)?);
        Ok(SentencePieceModel { model, bytes, name })
    }
}
