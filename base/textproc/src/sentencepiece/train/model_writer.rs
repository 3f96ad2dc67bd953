//! Writer of model files: a message of protocol buffers with pieces, options of training and the
//! normalisation of text.

use super::super::model_parts::piece_message;
use super::super::protobuf::Message;
use super::super::{ModelType, PieceType, byte_piece};
use super::{NMT_NFKC_CHARSMAP, Normalization, ScoredPiece, TrainOptions};

/// The ids of special pieces, as in Marian's models. -1 means that a piece is not present.
const EOS_ID: i64 = 0;
const UNK_ID: i64 = 1;
const NO_ID: i64 = -1;

/// Returns the number of pieces that come before the learned ones: `</s>`, `<unk>`, user-defined
/// symbols and, with byte fallback, one for each byte.
pub fn num_special_pieces(options: &TrainOptions) -> usize {
    let bytes = if options.byte_fallback { 256 } else { 0 };
    2 + options.user_defined_symbols.len() + bytes
}

/// Returns the bytes of a model file.
pub fn write(options: &TrainOptions, pieces: &[ScoredPiece]) -> Vec<u8> {
    let mut model = Message::default();
    model.message(1, piece_message(b"</s>", 0.0, PieceType::Control));
    model.message(1, piece_message(b"<unk>", 0.0, PieceType::Unknown));
    for symbol in &options.user_defined_symbols {
        model.message(1, piece_message(symbol.as_bytes(), 0.0, PieceType::UserDefined));
    }
    if options.byte_fallback {
        for byte in 0..=255u8 {
            model.message(1, piece_message(byte_piece(byte).as_bytes(), 0.0, PieceType::Byte));
        }
    }
    for learned in pieces {
        model.message(1, piece_message(&learned.text, learned.score as f32, PieceType::Normal));
    }
    model.message(2, trainer_spec(options));
    model.message(3, normalizer_spec(options.normalization));
    model.into_bytes()
}

/// Returns the options of training. Readers take the defaults of the format for fields that are
/// left out.
fn trainer_spec(options: &TrainOptions) -> Message {
    let mut spec = Message::default();
    spec.varint(3, if options.model_type == ModelType::Unigram { 1 } else { 2 });
    spec.varint(4, options.vocab_size as u64);
    spec.float(10, options.character_coverage as f32);
    for symbol in &options.user_defined_symbols {
        spec.bytes(31, symbol.as_bytes());
    }
    if options.byte_fallback {
        spec.varint(35, 1);
    }
    // Negative numbers are varints of their 64 bits.
    for (field, id) in [(40, UNK_ID), (41, NO_ID), (42, EOS_ID), (43, NO_ID)] {
        spec.varint(field, id as u64);
    }
    spec
}

fn normalizer_spec(normalization: Normalization) -> Message {
    let mut spec = Message::default();
    match normalization {
        Normalization::NmtNfkc => {
            spec.bytes(1, b"nmt_nfkc");
            spec.bytes(2, NMT_NFKC_CHARSMAP);
        }
        Normalization::Identity => {
            spec.bytes(1, b"identity");
            spec.bytes(2, b"");
        }
    }
    // Add a dummy space at the beginning, collapse runs of spaces, write spaces as U+2581.
    for field in [3, 4, 5] {
        spec.varint(field, 1);
    }
    spec
}
