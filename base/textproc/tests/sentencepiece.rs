//! Comparison with SentencePiece. The original library trained the models on the toy corpus, with a
//! small character map. Its output for some lines has the model, the text, the ids, the pieces and
//! the decoded text, separated by U+241F.

use std::path::{Path, PathBuf};

use miriam_textproc::SentencePiece;
use miriam_textproc::sentencepiece::{Encoding, ModelParts, ModelType, PieceType};
use proptest::prelude::*;

const MODELS: [&str; 4] = ["unigram", "bpe", "unigram-bytes", "bpe-bytes"];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn open(name: &str) -> SentencePiece {
    SentencePiece::open(&file(&format!("{name}.spm"))).unwrap()
}

#[test]
fn pieces_ids_and_text_equal_the_original_library() {
    let golden = std::fs::read_to_string(file("sentence-piece.txt")).unwrap();
    let models = MODELS.map(open);
    let mut encoding = Encoding::new();
    let mut cases = 0;
    for line in golden.split_terminator('\n') {
        let fields: Vec<&str> = line.split('\u{241f}').collect();
        let [name, text, ids, pieces, decoded] = fields[..] else { panic!("{line}") };
        let model = &models[MODELS.iter().position(|model| *model == name).unwrap()];
        model.encode(text.as_bytes(), &mut encoding);
        let found: Vec<String> = encoding.ids().iter().map(u32::to_string).collect();
        assert_eq!(found.join(" "), ids, "{name}: {text:?}");
        let found: Vec<&[u8]> = model.pieces(&encoding).collect();
        assert_eq!(String::from_utf8(found.join(&b'|')).unwrap(), pieces, "{name}: {text:?}");
        let mut back = Vec::new();
        model.decode(encoding.ids(), &mut back);
        assert_eq!(String::from_utf8(back).unwrap(), decoded, "{name}: {text:?}");
        cases += 1;
    }
    assert_eq!(cases, 188);
}

#[test]
fn model_properties_are_read() {
    let [unigram, bpe, bytes, _] = MODELS.map(open);
    assert_eq!((unigram.model_type(), bpe.model_type()), (ModelType::Unigram, ModelType::Bpe));
    assert!(bytes.has_byte_fallback() && !bpe.has_byte_fallback());
    assert_eq!((unigram.piece_id(b"</s>"), unigram.unknown_id()), (Some(0), 1));
    assert_eq!(unigram.piece_type(0), Some(PieceType::Control));
    let user_defined = unigram.piece_id(b"<x>").unwrap();
    assert_eq!(unigram.piece_type(user_defined), Some(PieceType::UserDefined));
    assert_eq!(
        bytes.piece_id(b"<0xFF>").and_then(|id| bytes.piece_type(id)),
        Some(PieceType::Byte)
    );
    assert_eq!(unigram.piece(unigram.len() as u32), None);
}

/// Builds a BPE model with these pieces (text, score, type) that does not normalise text.
fn build_bpe_model(pieces: &[(&str, f32, u8)]) -> Result<SentencePiece, miriam_textproc::Error> {
    let mut bytes = Vec::new();
    for (text, score, kind) in pieces {
        let mut message = vec![0x0a, text.len() as u8];
        message.extend_from_slice(text.as_bytes());
        message.push(0x15);
        message.extend_from_slice(&score.to_le_bytes());
        message.extend_from_slice(&[0x18, *kind]);
        bytes.extend_from_slice(&[0x0a, message.len() as u8]);
        bytes.extend_from_slice(&message);
    }
    // Trainer specification: BPE. Normalizer specification: no dummy prefix, spaces stay.
    bytes.extend_from_slice(&[0x12, 2, 0x18, 2, 0x1a, 4, 0x18, 0, 0x20, 0]);
    SentencePiece::from_bytes(&bytes, "made.spm")
}

#[test]
fn unused_pieces_are_split_into_their_halves() {
    let pieces =
        [("<unk>", 0.0, 2), ("ab", -1.0, 5), ("abc", -2.0, 1), ("a", -9.0, 1), ("b", -9.0, 1)];
    let model = build_bpe_model(&pieces).unwrap();
    let mut encoding = Encoding::new();
    model.encode(b"abcab", &mut encoding);
    assert_eq!(encoding.ids(), [2, 3, 4]);
    model.encode(b"xyaz", &mut encoding);
    assert_eq!(encoding.ids(), [0, 3, 0], "unknown neighbours are one piece");
    assert_eq!(model.pieces(&encoding).next(), Some(&b"xy"[..]));
}

/// The expected pieces are those of SentencePiece 0.2.3.
#[test]
fn user_defined_pieces_are_not_split_into_frequent_pieces() {
    let normal = |text: &str, score: f32| (text.as_bytes().to_vec(), score, PieceType::Normal);
    let kept = |text: &str| (text.as_bytes().to_vec(), 0.0, PieceType::UserDefined);
    let parts = ModelParts {
        model_type: ModelType::Unigram,
        pieces: vec![
            (b"<unk>".to_vec(), 0.0, PieceType::Unknown),
            normal("▁a", -2.0),
            normal("b", -2.5),
            normal("c", -3.0),
            normal("▁", -4.0),
            kept("ab"),
            kept("bcc"),
        ],
        byte_fallback: false,
        charsmap: Vec::new(),
        add_dummy_prefix: true,
        remove_extra_whitespaces: true,
    };
    let model = SentencePiece::from_bytes(&parts.to_bytes(), "made.spm").unwrap();
    for (text, pieces) in [
        ("abc", "▁ ab c"),
        ("ab ac", "▁ ab ▁a c"),
        ("bccab", "▁ bcc ab"),
        ("abcc", "▁a bcc"),
        ("acab", "▁a c ab"),
    ] {
        assert_eq!(model.join_pieces(text), pieces, "{text}");
    }
}

#[test]
fn invalid_models_are_rejected_with_a_reason() {
    let refused = |pieces: &[(&str, f32, u8)], reason: &str| {
        let error = build_bpe_model(pieces).err().expect("it should be rejected").to_string();
        assert!(error.starts_with("made.spm: ") && error.contains(reason), "{error}");
    };
    refused(&[], "no pieces");
    refused(&[("a", 0.0, 1)], "unknown");
    refused(&[("<unk>", 0.0, 2), ("a", 0.0, 1), ("a", 0.0, 1)], "twice");
    refused(&[("<unk>", 0.0, 2), ("", 0.0, 1)], "empty");
    refused(&[("<unk>", 0.0, 2), ("a", f32::NAN, 1)], "invalid score");
    refused(&[("<unk>", 0.0, 2), ("a", 0.0, 9)], "unknown type 9");
}

/// The expected pieces are those of SentencePiece 0.2: folding a capital leaves its combining
/// accent, which is then not composed.
#[test]
fn normalisation_is_not_idempotent_as_in_sentencepiece() {
    let model = open("unigram-bytes");
    let mut encoding = Encoding::new();
    let mut check = |text: &str, pieces: &[&str], decoded: &str| {
        model.encode(text.as_bytes(), &mut encoding);
        let found: Vec<&[u8]> = model.pieces(&encoding).collect();
        let expected: Vec<&[u8]> = pieces.iter().map(|piece| piece.as_bytes()).collect();
        assert_eq!(found, expected, "{text:?}");
        let mut back = Vec::new();
        model.decode(encoding.ids(), &mut back);
        assert_eq!(back, decoded.as_bytes(), "{text:?}");
    };
    check("E\u{301}", &["▁", "e", "<0xCC>", "<0x81>"], "e\u{301}");
    check("e\u{301}", &["▁", "é"], "é");
    check("\u{c9}", &["▁", "<0xC3>", "<0x89>"], "\u{c9}");
}

proptest! {
    #[test]
    fn any_text_is_segmented_and_decodes_to_utf8(
        text in proptest::collection::vec(
            prop_oneof![proptest::sample::select(b"la csTE.<x>\xe2\x96\x81".to_vec()), any::<u8>()],
            0..60,
        ),
    ) {
        let mut encoding = Encoding::new();
        for name in MODELS {
            let model = open(name);
            model.encode(&text, &mut encoding);
            prop_assert!(encoding.ids().iter().all(|&id| (id as usize) < model.len()));
            let mut back = Vec::new();
            model.decode(encoding.ids(), &mut back);
            prop_assert!(std::str::from_utf8(&back).is_ok());
            // With byte fallback no character is lost, so a second round returns the decoded text
            // after normalisation: SentencePiece's folding leaves a capital's combining accent,
            // which the second round composes.
            if model.has_byte_fallback() && name == "unigram-bytes" {
                let mut decode_again = |text: &[u8]| {
                    model.encode(text, &mut encoding);
                    let mut decoded = Vec::new();
                    model.decode(encoding.ids(), &mut decoded);
                    decoded
                };
                let normalised = decode_again(&back);
                prop_assert_eq!(decode_again(&normalised), normalised);
            }
        }
    }

    #[test]
    fn damaged_models_give_a_model_or_an_error(
        model in 0..4usize,
        changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 0..12),
        cut in any::<proptest::sample::Index>(),
        keep_length in any::<bool>(),
    ) {
        let mut bytes = std::fs::read(file(&format!("{}.spm", MODELS[model]))).unwrap();
        for (at, byte) in changes {
            let at = usize::from(at) % bytes.len();
            bytes[at] = byte;
        }
        if !keep_length {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(model) = SentencePiece::from_bytes(&bytes, "damaged") {
            let mut encoding = Encoding::new();
            model.encode("la casa  TE <x> \u{fb01}n 日 ..".as_bytes(), &mut encoding);
            let mut back = Vec::new();
            model.decode(encoding.ids(), &mut back);
        }
    }
}
