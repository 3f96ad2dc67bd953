//! Model files made from their parts, for pieces that are stored in other formats.

use super::protobuf::Message;
use super::{ModelType, PieceType};

/// The parts of a model file that segmentation depends on.
///
/// # Examples
/// ```
/// use miriam_textproc::SentencePiece;
/// use miriam_textproc::sentencepiece::{Encoding, ModelParts, ModelType, PieceType};
///
/// let piece = |text: &str, score: f32| (text.as_bytes().to_vec(), score, PieceType::Normal);
/// let parts = ModelParts {
///     model_type: ModelType::Unigram,
///     pieces: vec![
///         (b"<unk>".to_vec(), 0.0, PieceType::Unknown),
///         piece("▁a", -1.0),
///         piece("b", -1.0),
///         piece("▁ab", -1.5),
///     ],
///     byte_fallback: false,
///     charsmap: Vec::new(),
///     add_dummy_prefix: true,
///     remove_extra_whitespaces: true,
/// };
/// let model = SentencePiece::from_bytes(&parts.to_bytes(), "made of parts")?;
/// let mut encoding = Encoding::new();
/// model.encode(b"a  ab", &mut encoding);
/// assert_eq!(encoding.ids(), [1, 3]);
/// # Ok::<(), miriam_textproc::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ModelParts {
    /// The segmentation algorithm.
    pub model_type: ModelType,
    /// The pieces in the order of ids: text, score (natural logarithm of a probability, or the
    /// negative rank of a merge) and type. Exactly one is the unknown piece.
    pub pieces: Vec<(Vec<u8>, f32, PieceType)>,
    /// Whether unknown characters become byte pieces, all of which must exist.
    pub byte_fallback: bool,
    /// The compiled character map; empty if there is none.
    pub charsmap: Vec<u8>,
    /// Whether a space is put before a text.
    pub add_dummy_prefix: bool,
    /// Whether runs of spaces become one space, and spaces at both ends are removed.
    pub remove_extra_whitespaces: bool,
}

impl ModelParts {
    /// Returns the bytes of a model file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut model = Message::default();
        for (text, score, kind) in &self.pieces {
            model.message(1, piece_message(text, *score, *kind));
        }
        let mut trainer = Message::default();
        trainer.varint(3, if self.model_type == ModelType::Unigram { 1 } else { 2 });
        trainer.varint(35, u64::from(self.byte_fallback));
        model.message(2, trainer);
        let mut normalizer = Message::default();
        normalizer.bytes(2, &self.charsmap);
        normalizer.varint(3, u64::from(self.add_dummy_prefix));
        normalizer.varint(4, u64::from(self.remove_extra_whitespaces));
        normalizer.varint(5, 1);
        model.message(3, normalizer);
        model.into_bytes()
    }
}

/// Returns a piece as a message; the default type is not written.
pub fn piece_message(text: &[u8], score: f32, kind: PieceType) -> Message {
    let number = match kind {
        PieceType::Normal => None,
        PieceType::Unknown => Some(2),
        PieceType::Control => Some(3),
        PieceType::UserDefined => Some(4),
        PieceType::Unused => Some(5),
        PieceType::Byte => Some(6),
    };
    let mut piece = Message::default();
    piece.bytes(1, text);
    piece.float(2, score);
    if let Some(number) = number {
        piece.varint(3, number);
    }
    piece
}
