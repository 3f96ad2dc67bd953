//! Any bytes as lines: no tool adds a line break to a line. Tokenizing and splitting into sentences
//! keep all ASCII letters and digits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use miriam_textproc::{
    Detokenizer, PunctuationNormalizer, SentenceSplitter, Tokenizer, TruecaseTrainer, detruecase,
};

fn letters(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(u8::is_ascii_alphanumeric).collect()
}

fuzz_target!(|text: &[u8]| {
    let sentences = SentenceSplitter::new("en").split(text);
    let parts: Vec<&[u8]> = sentences.into_iter().map(|range| &text[range]).collect();
    assert_eq!(letters(&parts.concat()), letters(text));
    for line in text.split(|&byte| byte == b'\n') {
        let mut out = Vec::new();
        for language in ["en", "fr", "cs", "fi", "ca", "tdt"] {
            out.clear();
            Tokenizer::new(language).escape(false).aggressive(true).tokenize(line, &mut out);
            assert_eq!(letters(&out), letters(line));
            PunctuationNormalizer::new(language).normalize(line, &mut out);
            Detokenizer::new(language).capitalize(true).detokenize(line, &mut out);
        }
        detruecase(line, &mut out);
        TruecaseTrainer::new(true).add_line(line);
        assert!(!out.contains(&b'\n'));
    }
});
