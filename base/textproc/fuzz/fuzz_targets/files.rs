//! Any bytes as a list of abbreviations, a truecase model, codes of byte pairs, patterns
//! and settings: they are read or refused, and what is read does its work.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_textproc::{BpeCodes, BpeWork, PreparationSettings, Prefixes, Protected, Tokenizer, TruecaseModel};

const LINE: &[u8] = b"Mr. Smith's dog, No. 5, said: (a <b> c). It's true... or not!";

fuzz_target!(|bytes: &[u8]| {
    let mut out = Vec::new();
    let tokenizer = Tokenizer::new("en").with_prefixes(Prefixes::from_moses(bytes));
    tokenizer.tokenize(LINE, &mut out);
    if let Ok(model) = TruecaseModel::from_text(bytes, "model") {
        model.truecase(LINE, &mut out);
        model.truecase_all(LINE, &mut out);
    }
    if let Ok(codes) = BpeCodes::from_text(bytes, "codes") {
        let word = bytes.split(|&byte| byte == b' ').next().unwrap_or_default();
        for word in [word, b"Smith's", b"aaaaaaa"] {
            let mut pieces = Vec::new();
            codes.cut(word, &mut BpeWork::default(), |piece, _| pieces.extend_from_slice(piece));
            assert_eq!(pieces, word);
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(protected) = Protected::from_lines(text, "patterns") {
        Tokenizer::new("en").with_protected(protected).tokenize(LINE, &mut out);
    }
    if let Ok(settings) = PreparationSettings::from_text(text, "settings") {
        let again = PreparationSettings::from_text(&settings.to_text(), "settings");
        assert_eq!(again.expect("as it was written"), settings);
    }
    assert!(!out.contains(&b'\n'));
});
