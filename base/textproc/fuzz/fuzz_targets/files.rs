//! Any bytes as a list of nonbreaking prefixes, a truecase model, BPE codes, protected patterns and
//! a configuration: each is read or rejected, and a file that is read works.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_textproc::{
    BpeCodes, BpeScratch, NonbreakingPrefixes, ProtectedPatterns, TextProcessorConfig, Tokenizer,
    TruecaseModel,
};

const LINE: &[u8] = b"Mr. Smith's dog, No. 5, said: (a <b> c). It's true... or not!";

fuzz_target!(|bytes: &[u8]| {
    let mut out = Vec::new();
    let prefixes = NonbreakingPrefixes::parse_moses(bytes);
    let tokenizer = Tokenizer::new("en").with_nonbreaking_prefixes(prefixes);
    tokenizer.tokenize(LINE, &mut out);
    if let Ok(model) = TruecaseModel::from_text(bytes, "model") {
        model.truecase(LINE, &mut out);
        model.truecase_caseless(LINE, &mut out);
    }
    if let Ok(codes) = BpeCodes::from_text(bytes, "codes") {
        let word = bytes.split(|&byte| byte == b' ').next().unwrap_or_default();
        for word in [word, b"Smith's", b"aaaaaaa"] {
            let mut subwords = Vec::new();
            codes.segment_word(word, &mut BpeScratch::default(), |subword, _| {
                subwords.extend_from_slice(subword)
            });
            assert_eq!(subwords, word);
        }
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(protected) = ProtectedPatterns::from_lines(text, "patterns") {
        Tokenizer::new("en").with_protected_patterns(protected).tokenize(LINE, &mut out);
    }
    if let Ok(settings) = TextProcessorConfig::from_text(text, "settings") {
        let again = TextProcessorConfig::from_text(&settings.to_text(), "settings");
        assert_eq!(again.expect("as it was written"), settings);
    }
    assert!(!out.contains(&b'\n'));
});
