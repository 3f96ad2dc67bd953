//! SentencePiece models (Kudo and Richardson 2018): segmenting raw text into pieces and
//! joining pieces.
//!
//! This independent implementation reads `.spm` files and has exactly the results of the original
//! library. It supports normalisation maps, unigram and BPE models, byte fallback, user-defined and
//! control pieces. Word and character models, sampling and n-best lists are not supported.

mod bpe;
mod model;
mod model_parts;
mod normalizer;
mod protobuf;
mod train;
mod trie;
mod unigram;

use std::path::Path;

pub use model::{ModelType, PieceType};
pub use model_parts::ModelParts;
pub use train::{NMT_NFKC_CHARSMAP, Normalization, PieceTrainer, TrainError, TrainOptions};

use crate::{Error, Result};
use model::Model;
use normalizer::{SPACE_SYMBOL, char_len};
use unigram::UnigramModel;

/// A SentencePiece model.
///
/// # Examples
/// ```
/// use miriam_textproc::SentencePiece;
/// use miriam_textproc::sentencepiece::Encoding;
///
/// # let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
/// let model = SentencePiece::open(&folder.join("unigram.spm"))?;
/// let mut encoding = Encoding::new();
/// model.encode(b"the  car is red .", &mut encoding);
/// assert_eq!(encoding.ids(), [10, 44, 23, 6, 58, 4]);
/// assert_eq!(model.pieces(&encoding).next(), Some("▁the".as_bytes()));
///
/// let mut text = Vec::new();
/// model.decode(encoding.ids(), &mut text);
/// assert_eq!(text, b"the car is red .");
/// # Ok::<(), miriam_textproc::Error>(())
/// ```
pub struct SentencePiece {
    model: Model,
    unigram: Option<UnigramModel>,
}

/// A segmented text and the buffers of [`SentencePiece::encode`]; reused for all texts.
#[derive(Default)]
pub struct Encoding {
    ids: Vec<u32>,
    /// The byte range of each piece in `normalized`; for a byte piece, the range of its character.
    spans: Vec<(usize, usize)>,
    normalized: Vec<u8>,
    best_paths: Vec<unigram::BestPathNode>,
    merge_scratch: bpe::MergeScratch,
}

impl Encoding {
    /// Returns an empty encoding, for [`SentencePiece::encode`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the ids of the pieces, in the order of the text.
    pub fn ids(&self) -> &[u32] {
        &self.ids
    }
}

impl SentencePiece {
    /// Reads the model file at `path`.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be read, [`Error::Content`] if it is not a usable model.
    pub fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let bytes = std::fs::read(path).map_err(Error::cannot_read(&name))?;
        Self::from_bytes(&bytes, &name)
    }

    /// Returns the pieces of `text` with spaces between them.
    pub fn join_pieces(&self, text: &str) -> String {
        let mut encoding = Encoding::new();
        self.encode(text.as_bytes(), &mut encoding);
        let pieces: Vec<&[u8]> = self.pieces(&encoding).collect();
        String::from_utf8_lossy(&pieces.join(&b' ')).into_owned()
    }

    /// Parses the bytes of a model file; `name` is its name in error messages.
    ///
    /// # Errors
    /// [`Error::Content`] if the bytes are not a usable model.
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Self> {
        let model = Model::parse(bytes).map_err(|reason| Error::Content {
            file: name.to_owned(),
            reason: format!("not a usable SentencePiece model: {reason}"),
        })?;
        let unigram =
            (model.model_type == ModelType::Unigram).then(|| UnigramModel::new(&model.pieces));
        Ok(SentencePiece { model, unigram })
    }

    /// Returns the number of pieces.
    pub fn len(&self) -> usize {
        self.model.pieces.len()
    }

    /// Whether the model has no pieces; never true.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the segmentation algorithm.
    pub fn model_type(&self) -> ModelType {
        self.model.model_type
    }

    /// Whether unknown characters are segmented into byte pieces.
    pub fn has_byte_fallback(&self) -> bool {
        !self.model.byte_ids.is_empty()
    }

    /// Returns the text of piece `id`; `None` if there is no such piece.
    pub fn piece(&self, id: u32) -> Option<&[u8]> {
        self.model.pieces.text(id)
    }

    /// Returns the type of piece `id`; `None` if there is no such piece.
    pub fn piece_type(&self, id: u32) -> Option<PieceType> {
        self.model.pieces.piece_type(id)
    }

    /// Returns the score of piece `id`: a log probability (natural logarithm) or, in BPE models, a
    /// negative rank.
    pub fn score(&self, id: u32) -> Option<f32> {
        self.piece_type(id).map(|_| self.model.pieces.entry(id).score)
    }

    /// Returns the id of a piece.
    pub fn piece_id(&self, piece: &[u8]) -> Option<u32> {
        self.model.pieces.find(piece)
    }

    /// Returns the id of the unknown piece.
    pub fn unknown_id(&self) -> u32 {
        self.model.unknown_id
    }

    /// Returns the id of the piece that ends a text, whatever its name; `None` if there is none.
    pub fn end_id(&self) -> Option<u32> {
        self.model.end_id
    }

    /// Whether white space belongs to the word before it: `word▁`, not `▁word`.
    pub fn treats_whitespace_as_suffix(&self) -> bool {
        self.model.treat_whitespace_as_suffix
    }

    /// Segments `text` into pieces. Any bytes are accepted; invalid UTF-8 becomes U+FFFD.
    /// Without byte fallback, neighbouring unknown characters are one piece.
    pub fn encode(&self, text: &[u8], encoding: &mut Encoding) {
        let Encoding { ids, spans, normalized: normal, best_paths, merge_scratch: bpe } = encoding;
        ids.clear();
        spans.clear();
        normal.clear();
        self.model.normalizer.normalize(text, self.model.treat_whitespace_as_suffix, normal);
        let pieces = &self.model.pieces;
        let unknown = self.model.unknown_id;
        match &self.unigram {
            Some(unigram) => {
                unigram.encode(pieces, unknown, normal, best_paths, |id, start, end| {
                    ids.push(id);
                    spans.push((start, end));
                });
                ids.reverse();
                spans.reverse();
            }
            None => bpe::encode(pieces, &self.model.normalizer, normal, bpe, |id, start, end| {
                ids.push(id.unwrap_or(unknown));
                spans.push((start, end));
            }),
        }
        if ids.contains(&unknown) {
            self.resolve_unknown(ids, spans, normal);
        }
    }

    /// Joins neighbouring unknown pieces, or replaces them by byte pieces.
    fn resolve_unknown(&self, ids: &mut Vec<u32>, spans: &mut Vec<(usize, usize)>, normal: &[u8]) {
        let unknown = self.model.unknown_id;
        let (mut new_ids, mut new_spans) = (Vec::new(), Vec::<(usize, usize)>::new());
        for (&id, &(start, end)) in ids.iter().zip(&*spans) {
            if id == unknown && self.has_byte_fallback() {
                for &byte in &normal[start..end] {
                    new_ids.push(self.model.byte_ids[usize::from(byte)]);
                    new_spans.push((start, end));
                }
                continue;
            }
            match new_spans.last_mut() {
                Some(last) if id == unknown && new_ids.last() == Some(&unknown) => last.1 = end,
                _ => {
                    new_ids.push(id);
                    new_spans.push((start, end));
                }
            }
        }
        *ids = new_ids;
        *spans = new_spans;
    }

    /// Returns the pieces of `encoding` as text; an unknown piece is the normalised text it covers.
    pub fn pieces<'a>(&'a self, encoding: &'a Encoding) -> impl Iterator<Item = &'a [u8]> {
        encoding.ids.iter().zip(&encoding.spans).map(|(&id, &(start, end))| match self.piece(id) {
            Some(piece) if id != self.model.unknown_id => piece,
            _ => &encoding.normalized[start..end],
        })
    }

    /// Decodes `ids` and appends the text. An id without a piece counts as unknown.
    pub fn decode(&self, ids: &[u32], text: &mut Vec<u8>) {
        self.decode_pieces(
            ids.iter().map(|&id| {
                self.piece(id)
                    .unwrap_or_else(|| self.piece(self.model.unknown_id).unwrap_or_default())
            }),
            text,
        );
    }

    /// Decodes pieces and appends the text. A string that is not a piece of the model is plain
    /// text.
    pub fn decode_pieces<'a>(&self, pieces: impl Iterator<Item = &'a [u8]>, text: &mut Vec<u8>) {
        let mut joined = Vec::new();
        let mut bytes = Vec::new();
        // Whether the text has begun, so that no leading space may be removed any more.
        let mut begun = false;
        for piece in pieces {
            let id = self.piece_id(piece);
            if id.is_some_and(|id| self.piece_type(id) == Some(PieceType::Byte)) {
                bytes.extend(parse_byte_piece(piece));
                continue;
            }
            flush_bytes(&mut bytes, &mut joined);
            begun |= !joined.is_empty();
            match id.and_then(|id| self.piece_type(id)) {
                Some(PieceType::Control) => {}
                Some(PieceType::Unknown) => joined.extend_from_slice(&self.model.unknown_surface),
                _ => begun |= self.append_surface(piece, begun, &mut joined),
            }
        }
        flush_bytes(&mut bytes, &mut joined);
        match &self.model.denormalizer {
            Some(rules) => rules.replace_all(&joined, text),
            None => text.extend_from_slice(&joined),
        }
    }

    /// Appends the text that a piece adds inside a sentence, with a space where a word begins (or
    /// where it ends, in models that treat white space as a suffix).
    ///
    /// ```no_run
    /// # use miriam_textproc::sentencepiece::SentencePiece;
    /// # fn show(model: &SentencePiece) {
    /// let mut text = Vec::new();
    /// model.append_piece("▁Haus".as_bytes(), &mut text);
    /// model.append_piece("es".as_bytes(), &mut text);
    /// assert_eq!(text, b" Hauses");
    /// # }
    /// ```
    pub fn append_piece(&self, piece: &[u8], text: &mut Vec<u8>) {
        match self.piece_id(piece).and_then(|id| self.piece_type(id)) {
            Some(PieceType::Byte) => text.extend(parse_byte_piece(piece)),
            Some(PieceType::Control) => {}
            Some(PieceType::Unknown) => text.extend_from_slice(&self.model.unknown_surface),
            _ => drop(self.append_surface(piece, true, text)),
        }
    }

    /// Appends a piece, with spaces in place of U+2581. If the text has not `begun`, and the model
    /// adds a leading space or removes extra ones, the leading space of the piece is dropped.
    /// Returns whether a space was dropped and no later one may be dropped. Models that remove
    /// extra white space drop the leading spaces of all pieces until there is text. Models that
    /// treat white space as a suffix drop none.
    fn append_surface(&self, piece: &[u8], begun: bool, joined: &mut Vec<u8>) -> bool {
        let rules = &self.model.normalizer;
        let mut rest = piece;
        let mut is_last_removal = false;
        let removes_space = rules.add_dummy_prefix || rules.remove_extra_whitespaces;
        if !begun
            && !self.model.treat_whitespace_as_suffix
            && removes_space
            && let Some(shorter) = rest.strip_prefix(SPACE_SYMBOL)
        {
            rest = shorter;
            is_last_removal = !rules.remove_extra_whitespaces;
        }
        while !rest.is_empty() {
            match rest.strip_prefix(SPACE_SYMBOL) {
                Some(shorter) => {
                    joined.push(b' ');
                    rest = shorter;
                }
                None => {
                    joined.push(rest[0]);
                    rest = &rest[1..];
                }
            }
        }
        is_last_removal
    }
}

/// Returns the piece of a byte.
fn byte_piece(byte: u8) -> String {
    format!("<0x{byte:02X}>")
}

/// Returns the byte of a byte piece such as `<0xE2>`.
fn parse_byte_piece(piece: &[u8]) -> Option<u8> {
    let digits = piece.strip_prefix(b"<0x")?.strip_suffix(b">")?;
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Appends the bytes of byte pieces; invalid UTF-8 becomes U+FFFD.
fn flush_bytes(bytes: &mut Vec<u8>, text: &mut Vec<u8>) {
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        match char_len(rest) {
            Some(length) => {
                text.extend_from_slice(&rest[..length]);
                rest = &rest[length..];
            }
            None => {
                text.extend_from_slice("\u{fffd}".as_bytes());
                rest = &rest[1..];
            }
        }
    }
    bytes.clear();
}
