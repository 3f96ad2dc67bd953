//! A SentencePiece model file: pieces with their scores and kinds, and how text is
//! normalised before it is cut.

use hashbrown::HashTable;
use std::hash::BuildHasher;

use super::normalizer::Normalizer;
use super::protobuf::{Fields, Wire};

/// What a piece is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Text, chosen by its score.
    Normal,
    /// Stands for what is not known.
    Unknown,
    /// Never part of text: the ends of a sentence and the like.
    Control,
    /// Text that is never cut.
    UserDefined,
    /// Was text once; merges go through it, results do not have it.
    Unused,
    /// One byte of what is not known.
    Byte,
}

/// How text is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// The best path under a unigram model (Kudo 2018).
    Unigram,
    /// Merges by rank (Sennrich et al. 2016).
    Bpe,
}

pub struct PieceInfo {
    /// Where its text lies.
    start: usize,
    end: usize,
    pub score: f32,
    pub kind: PieceKind,
}

/// Pieces by id, and ids by text.
pub struct Pieces {
    text: Vec<u8>,
    infos: Vec<PieceInfo>,
    ids: HashTable<u32>,
    hasher: hashbrown::DefaultHashBuilder,
}

impl Pieces {
    pub fn len(&self) -> usize {
        self.infos.len()
    }

    pub fn text(&self, id: u32) -> Option<&[u8]> {
        self.infos.get(id as usize).map(|info| &self.text[info.start..info.end])
    }

    pub fn info(&self, id: u32) -> &PieceInfo {
        &self.infos[id as usize]
    }

    pub fn kind(&self, id: u32) -> Option<PieceKind> {
        self.infos.get(id as usize).map(|info| info.kind)
    }

    pub fn find(&self, text: &[u8]) -> Option<u32> {
        let same = |&id: &u32| self.text(id) == Some(text);
        self.ids.find(self.hasher.hash_one(text), same).copied()
    }

    /// Ids and texts of pieces that text may consist of.
    pub fn of_text(&self) -> impl Iterator<Item = (u32, &[u8])> {
        let kinds = [PieceKind::Normal, PieceKind::UserDefined, PieceKind::Unused];
        let all = (0..).zip(&self.infos).filter(move |(_, info)| kinds.contains(&info.kind));
        all.map(|(id, info)| (id, &self.text[info.start..info.end]))
    }

    fn new() -> Self {
        Pieces {
            text: Vec::new(),
            infos: Vec::new(),
            ids: HashTable::new(),
            hasher: hashbrown::DefaultHashBuilder::default(),
        }
    }

    fn push(&mut self, text: &[u8], score: f32, kind: PieceKind) -> Result<(), String> {
        if text.is_empty() {
            return Err(format!("piece {} is empty", self.len()));
        }
        if self.find(text).is_some() {
            let text = String::from_utf8_lossy(text);
            return Err(format!("the piece {text:?} is there twice"));
        }
        let id = u32::try_from(self.len()).map_err(|_| "too many pieces".to_owned())?;
        let start = self.text.len();
        self.text.extend_from_slice(text);
        self.infos.push(PieceInfo { start, end: self.text.len(), score, kind });
        let (texts, infos, hasher) = (&self.text, &self.infos, &self.hasher);
        self.ids.insert_unique(hasher.hash_one(text), id, |&id| {
            let info = &infos[id as usize];
            hasher.hash_one(&texts[info.start..info.end])
        });
        Ok(())
    }
}

/// All that a model file says.
pub struct ModelFile {
    pub pieces: Pieces,
    pub algorithm: Algorithm,
    pub byte_fallback: bool,
    /// Whether the mark of a space ends a word instead of beginning it.
    pub space_behind: bool,
    pub unknown: u32,
    pub unknown_surface: Vec<u8>,
    pub normalizer: Normalizer,
    pub denormalizer: Option<Normalizer>,
}

const CUT: &str = "a field is cut or of an unknown kind";

impl ModelFile {
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let mut pieces = Pieces::new();
        let mut trainer = Trainer::default();
        let (mut normalizer, mut denormalizer) = (None, None);
        for field in Fields::new(bytes) {
            match field.map_err(|()| CUT)? {
                (1, Wire::Bytes(message)) => piece(message, &mut pieces)?,
                (2, Wire::Bytes(message)) => trainer = Trainer::parse(message)?,
                (3, Wire::Bytes(message)) => normalizer = Some(Normalizer::parse(message)?),
                (5, Wire::Bytes(message)) => denormalizer = Some(Normalizer::parse(message)?),
                _ => {}
            }
        }
        if pieces.len() == 0 {
            return Err("it has no pieces".into());
        }
        let algorithm = match trainer.algorithm {
            1 => Algorithm::Unigram,
            2 => Algorithm::Bpe,
            3 => return Err("models of whole words are not read; unigram and BPE are".into()),
            4 => return Err("models of characters are not read; unigram and BPE are".into()),
            other => return Err(format!("its kind, {other}, is not known")),
        };
        let ids = 0..pieces.len() as u32;
        let unknowns = ids.filter(|&id| pieces.info(id).kind == PieceKind::Unknown);
        let [unknown] = unknowns.collect::<Vec<_>>()[..] else {
            return Err("there is not one piece for what is unknown".into());
        };
        let complete = |byte: u8| pieces.find(format!("<0x{byte:02X}>").as_bytes()).is_some();
        if trainer.byte_fallback && !(0..=255).all(complete) {
            return Err("it falls back to bytes, but not every byte is a piece".into());
        }
        let mut normalizer = normalizer.unwrap_or_default();
        let user_defined =
            pieces.of_text().filter(|&(id, _)| pieces.info(id).kind == PieceKind::UserDefined);
        normalizer.keep(user_defined.map(|(_, text)| text));
        Ok(ModelFile {
            algorithm,
            byte_fallback: trainer.byte_fallback,
            space_behind: trainer.space_behind,
            unknown,
            unknown_surface: trainer.unknown_surface.unwrap_or_else(|| " \u{2047} ".into()),
            normalizer,
            denormalizer: denormalizer.filter(Normalizer::has_map),
            pieces,
        })
    }
}

fn piece(message: &[u8], pieces: &mut Pieces) -> Result<(), String> {
    let (mut text, mut score, mut kind) = (&b""[..], 0.0, PieceKind::Normal);
    for field in Fields::new(message) {
        match field.map_err(|()| CUT)? {
            (1, Wire::Bytes(bytes)) => text = bytes,
            (2, Wire::Four(bits)) => score = f32::from_bits(bits),
            (3, Wire::Number(number)) => {
                kind = match number {
                    1 => PieceKind::Normal,
                    2 => PieceKind::Unknown,
                    3 => PieceKind::Control,
                    4 => PieceKind::UserDefined,
                    5 => PieceKind::Unused,
                    6 => PieceKind::Byte,
                    _ => return Err(format!("piece {} is of kind {number}", pieces.len())),
                };
            }
            _ => {}
        }
    }
    if score.is_nan() {
        return Err(format!("piece {} has no number for a score", pieces.len()));
    }
    pieces.push(text, score, kind)
}

/// What the trainer left that later work needs.
struct Trainer {
    algorithm: u64,
    byte_fallback: bool,
    space_behind: bool,
    unknown_surface: Option<Vec<u8>>,
}

impl Default for Trainer {
    fn default() -> Self {
        Trainer { algorithm: 1, byte_fallback: false, space_behind: false, unknown_surface: None }
    }
}

impl Trainer {
    fn parse(message: &[u8]) -> Result<Self, String> {
        let mut trainer = Trainer::default();
        for field in Fields::new(message) {
            match field.map_err(|()| CUT)? {
                (3, Wire::Number(number)) => trainer.algorithm = number,
                (24, Wire::Number(number)) => trainer.space_behind = number != 0,
                (35, Wire::Number(number)) => trainer.byte_fallback = number != 0,
                (44, Wire::Bytes(text)) => trainer.unknown_surface = Some(text.to_vec()),
                _ => {}
            }
        }
        Ok(trainer)
    }
}
