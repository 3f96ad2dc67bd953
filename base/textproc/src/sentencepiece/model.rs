//! A SentencePiece model file: pieces with their scores and types, and the normalisation of text.

use hashbrown::HashTable;
use std::hash::BuildHasher;

use super::byte_piece;
use super::normalizer::Normalizer;
use super::protobuf::{Fields, WireValue};

/// The type of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceType {
    /// Ordinary text, chosen by its score.
    Normal,
    /// The unknown piece.
    Unknown,
    /// A control symbol such as BOS or EOS, which is never part of text.
    Control,
    /// Text that is never split.
    UserDefined,
    /// An intermediate result of merges, which never occurs in results.
    Unused,
    /// One byte of an unknown character.
    Byte,
}

/// The segmentation algorithm of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelType {
    /// The best path under a unigram model (Kudo 2018).
    Unigram,
    /// Merges by rank (Sennrich et al. 2016).
    Bpe,
}

pub struct PieceEntry {
    /// The range of its text in the string pool.
    start: usize,
    end: usize,
    pub score: f32,
    pub piece_type: PieceType,
}

/// Pieces by id, and ids by text.
pub struct PieceVocabulary {
    text: Vec<u8>,
    entries: Vec<PieceEntry>,
    ids: HashTable<u32>,
    hasher: hashbrown::DefaultHashBuilder,
}

impl PieceVocabulary {
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn text(&self, id: u32) -> Option<&[u8]> {
        self.entries.get(id as usize).map(|info| &self.text[info.start..info.end])
    }

    pub fn entry(&self, id: u32) -> &PieceEntry {
        &self.entries[id as usize]
    }

    pub fn piece_type(&self, id: u32) -> Option<PieceType> {
        self.entries.get(id as usize).map(|info| info.piece_type)
    }

    pub fn find(&self, text: &[u8]) -> Option<u32> {
        self.ids.find(self.hasher.hash_one(text), |&id: &u32| self.text(id) == Some(text)).copied()
    }

    /// Returns the ids and texts of the normal, user-defined and unused pieces, which segmentation
    /// may form.
    pub fn text_pieces(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let kinds = [PieceType::Normal, PieceType::UserDefined, PieceType::Unused];
        let all =
            (0..).zip(&self.entries).filter(move |(_, info)| kinds.contains(&info.piece_type));
        all.map(|(id, info)| (id, &self.text[info.start..info.end]))
    }

    fn new() -> Self {
        PieceVocabulary {
            text: Vec::new(),
            entries: Vec::new(),
            ids: HashTable::new(),
            hasher: hashbrown::DefaultHashBuilder::default(),
        }
    }

    fn push(&mut self, text: &[u8], score: f32, kind: PieceType) -> Result<(), String> {
        if text.is_empty() {
            return Err(format!("piece {} is empty", self.len()));
        }
        if std::str::from_utf8(text).is_err() {
            let text = String::from_utf8_lossy(text);
            return Err(format!("piece {}, {text:?}, is not UTF-8", self.len()));
        }
        if self.find(text).is_some() {
            let text = String::from_utf8_lossy(text);
            return Err(format!("the piece {text:?} occurs twice"));
        }
        let id = u32::try_from(self.len()).map_err(|_| "too many pieces".to_owned())?;
        let start = self.text.len();
        self.text.extend_from_slice(text);
        self.entries.push(PieceEntry { start, end: self.text.len(), score, piece_type: kind });
        let (texts, infos, hasher) = (&self.text, &self.entries, &self.hasher);
        self.ids.insert_unique(hasher.hash_one(text), id, |&id| {
            let info = &infos[id as usize];
            hasher.hash_one(&texts[info.start..info.end])
        });
        Ok(())
    }
}

/// The content of a model file.
pub struct Model {
    pub pieces: PieceVocabulary,
    pub model_type: ModelType,
    /// The ids of the 256 byte pieces; empty without byte fallback.
    pub byte_ids: Vec<u32>,
    /// Whether U+2581 ends a word instead of beginning it.
    pub treat_whitespace_as_suffix: bool,
    pub unknown_id: u32,
    /// The piece that ends a text, if there is one.
    pub end_id: Option<u32>,
    pub unknown_surface: Vec<u8>,
    pub normalizer: Normalizer,
    pub denormalizer: Option<Normalizer>,
}

const TRUNCATED_FIELD: &str = "a field is truncated or of an unknown type";

impl Model {
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut pieces = PieceVocabulary::new();
        let mut trainer = TrainerSpec::default();
        let (mut normalizer, mut denormalizer) = (None, None);
        for field in Fields::new(bytes) {
            match field.map_err(|()| TRUNCATED_FIELD)? {
                (1, WireValue::Bytes(message)) => parse_piece(message, &mut pieces)?,
                (2, WireValue::Bytes(message)) => trainer.merge(message)?,
                (3, WireValue::Bytes(message)) => normalizer = Some(Normalizer::parse(message)?),
                (5, WireValue::Bytes(message)) => denormalizer = Some(Normalizer::parse(message)?),
                _ => {}
            }
        }
        if pieces.len() == 0 {
            return Err("it has no pieces".into());
        }
        let algorithm = match trainer.model_type {
            1 => ModelType::Unigram,
            2 => ModelType::Bpe,
            3 => return Err("word models are not supported; expected unigram or BPE".into()),
            4 => return Err("character models are not supported; expected unigram or BPE".into()),
            other => return Err(format!("unknown model type {other}")),
        };
        let ids = 0..pieces.len() as u32;
        let unknowns = ids.filter(|&id| pieces.entry(id).piece_type == PieceType::Unknown);
        let [unknown] = unknowns.collect::<Vec<_>>()[..] else {
            return Err("expected exactly one unknown piece".into());
        };
        let bytes = if trainer.byte_fallback { 0..256 } else { 0..0 };
        let byte_ids = bytes.map(|byte| pieces.find(byte_piece(byte as u8).as_bytes()));
        let byte_ids = byte_ids
            .collect::<Option<_>>()
            .ok_or("it has byte fallback, but not a piece for every byte")?;
        let mut normalizer = normalizer.unwrap_or_default();
        let user_defined = pieces
            .text_pieces()
            .filter(|&(id, _)| pieces.entry(id).piece_type == PieceType::UserDefined);
        normalizer.set_user_defined(user_defined.map(|(_, text)| text));
        Ok(Model {
            model_type: algorithm,
            byte_ids,
            treat_whitespace_as_suffix: trainer.treat_whitespace_as_suffix,
            unknown_id: unknown,
            end_id: trainer.find_end(&pieces),
            unknown_surface: trainer.unknown_surface.unwrap_or_else(|| " \u{2047} ".into()),
            normalizer,
            denormalizer: denormalizer.filter(Normalizer::has_charsmap),
            pieces,
        })
    }
}

fn parse_piece(message: &[u8], pieces: &mut PieceVocabulary) -> Result<(), String> {
    let (mut text, mut score, mut kind) = (&b""[..], 0.0, PieceType::Normal);
    for field in Fields::new(message) {
        match field.map_err(|()| TRUNCATED_FIELD)? {
            (1, WireValue::Bytes(bytes)) => text = bytes,
            (2, WireValue::Fixed32(bits)) => score = f32::from_bits(bits),
            (3, WireValue::Varint(number)) => {
                kind = match number {
                    1 => PieceType::Normal,
                    2 => PieceType::Unknown,
                    3 => PieceType::Control,
                    4 => PieceType::UserDefined,
                    5 => PieceType::Unused,
                    6 => PieceType::Byte,
                    _ => {
                        let reason =
                            format!("piece {} has the unknown type {number}", pieces.len());
                        return Err(reason);
                    }
                };
            }
            _ => {}
        }
    }
    if score.is_nan() {
        return Err(format!("piece {} has an invalid score", pieces.len()));
    }
    pieces.push(text, score, kind)
}

/// The fields of the trainer's specification that segmentation needs.
struct TrainerSpec {
    model_type: u64,
    byte_fallback: bool,
    treat_whitespace_as_suffix: bool,
    unknown_surface: Option<Vec<u8>>,
    end_id: Option<u64>,
    end_piece: Option<Vec<u8>>,
}

impl Default for TrainerSpec {
    fn default() -> Self {
        TrainerSpec {
            model_type: 1,
            byte_fallback: false,
            treat_whitespace_as_suffix: false,
            unknown_surface: None,
            end_id: None,
            end_piece: None,
        }
    }
}

impl TrainerSpec {
    /// Merges the fields of a message; a later one replaces an earlier one.
    fn merge(&mut self, message: &[u8]) -> Result<(), String> {
        let trainer = self;
        for field in Fields::new(message) {
            match field.map_err(|()| TRUNCATED_FIELD)? {
                (3, WireValue::Varint(number)) => trainer.model_type = number,
                (24, WireValue::Varint(number)) => trainer.treat_whitespace_as_suffix = number != 0,
                (35, WireValue::Varint(number)) => trainer.byte_fallback = number != 0,
                (42, WireValue::Varint(number)) => trainer.end_id = Some(number),
                (44, WireValue::Bytes(text)) => trainer.unknown_surface = Some(text.to_vec()),
                (47, WireValue::Bytes(text)) => trainer.end_piece = Some(text.to_vec()),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the control piece that ends a text: the one with the name in the trainer's
    /// specification (default `</s>`), or else the one with the id in the specification.
    fn find_end(&self, pieces: &PieceVocabulary) -> Option<u32> {
        let is_control = |id: &u32| pieces.piece_type(*id) == Some(PieceType::Control);
        let named = pieces.find(self.end_piece.as_deref().unwrap_or(b"</s>")).filter(is_control);
        named.or_else(|| self.end_id.and_then(|id| u32::try_from(id).ok()).filter(is_control))
    }
}
