//! Comparison with recorded output of Moses' scripts for difficult lines
//! (`scripts/compare_text_tools.py`).

use std::path::Path;

use miriam_textproc::{
    Detokenizer, NonbreakingPrefixes, ProtectedPatterns, PunctuationNormalizer,
    TextProcessorConfig, Tokenizer, TruecaseModel, TruecaseTrainer, detruecase,
};
use proptest::prelude::*;

fn golden(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.strip_suffix(b"\n").unwrap().split(|&byte| byte == b'\n').collect()
}

/// Checks that `change` turns the lines of the file `input` into those of the file `name`.
fn check(input: &str, name: &str, change: impl Fn(&[u8], &mut Vec<u8>)) {
    let (input, expected) = (golden(input), golden(name));
    let (input, expected) = (lines(&input), lines(&expected));
    assert_eq!(input.len(), expected.len(), "{name}");
    for (line, expected) in input.into_iter().zip(expected) {
        let mut out = Vec::new();
        change(line, &mut out);
        let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&out), text(expected), "{name}: {:?}", text(line));
    }
}

#[test]
fn tokenizer_equals_moses() {
    for language in "cs de en es fr so".split(' ') {
        let tokenizer = Tokenizer::new(language);
        check("raw", &format!("tok.{language}"), |line, out| tokenizer.tokenize(line, out));
    }
    for language in ["en", "fr"] {
        let tokenizer = Tokenizer::new(language).aggressive(true);
        let name = format!("tok-aggressive.{language}");
        check("raw", &name, |line, out| tokenizer.tokenize(line, out));
    }
    let tokenizer = Tokenizer::new("en").escape(false);
    check("raw", "tok-noescape.en", |line, out| tokenizer.tokenize(line, out));
}

#[test]
fn punctuation_normalizer_equals_moses() {
    for language in ["cs", "de", "en", "fr", "pl"] {
        let normalizer = PunctuationNormalizer::new(language);
        let name = format!("normalized.{language}");
        check("raw", &name, |line, out| normalizer.normalize(line, out));
    }
}

#[test]
fn detokenizer_equals_moses() {
    for language in ["cs", "de", "en", "fi", "fr", "it", "ko"] {
        let detokenizer = Detokenizer::new(language);
        let name = format!("detok.{language}");
        check("tok.en", &name, |line, out| detokenizer.detokenize(line, out));
    }
    let detokenizer = Detokenizer::new("en").capitalize(true);
    check("tok.en", "detok-uppercase.en", |line, out| detokenizer.detokenize(line, out));
}

#[test]
fn truecaser_equals_moses() {
    let model = TruecaseModel::from_text(&golden("truecase-model"), "golden").unwrap();
    check("tok.en", "truecased", |line, out| model.truecase(line, out));
    check("tok.en", "truecased-asr", |line, out| model.truecase_caseless(line, out));
    check("truecased", "detruecased", detruecase);
}

/// Returns the lines of a model without random differences in Moses: the order of words, and of
/// equally frequent casings.
fn strip_ties(model: &[u8]) -> Vec<(Vec<String>, String)> {
    let text = std::str::from_utf8(model).unwrap();
    let mut words: Vec<_> = text
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(' ').collect();
            let (most, total) = fields[1].trim_end_matches(')').split_once('/').unwrap();
            let forms = fields.chunks(2).enumerate().map(|(i, form)| match i {
                0 => format!("{} {most})", form[0]),
                _ => format!("{} {}", form[0], form[1]),
            });
            let mut forms: Vec<String> = forms.collect();
            forms.sort();
            (forms, format!("{most} {total}"))
        })
        .collect();
    words.sort();
    words
}

#[test]
fn casing_counts_equal_moses() {
    let text = golden("tok.en");
    let mut training = TruecaseTrainer::new(false);
    let mut halves = [training.clone(), training.clone()];
    for (i, line) in lines(&text).into_iter().enumerate() {
        training.add_line(line);
        halves[usize::from(i >= 70)].add_line(line);
    }
    let mut model = Vec::new();
    training.write_model(&mut model);
    assert_eq!(strip_ties(&model), strip_ties(&golden("truecase-model")));
    let [mut first, second] = halves;
    first.merge(second);
    let mut merged = Vec::new();
    first.write_model(&mut merged);
    assert_eq!(merged, model);
}

#[test]
fn lone_first_tokens_count_a_tenth() {
    let mut training = TruecaseTrainer::new(true);
    for line in [&b"Word"[..], b"Word", b"a word", b"word", b"Other words"] {
        training.add_line(line);
    }
    let mut model = Vec::new();
    training.write_model(&mut model);
    assert_eq!(model, b"word (2/2.2) Word (0.2)\na (1/1)\nwords (1/1)\n");
}

#[test]
fn protected_text_is_unchanged() {
    // The outputs are those of Moses' tokenizer.perl -protected.
    let patterns = "[\\w\\-\\_\\.]+\\@([\\w\\-\\_]+\\.)+[a-zA-Z]{2,}\n\\<\\/?\\S+\\/?\\>\n1,0\n";
    let protected = ProtectedPatterns::from_lines(patterns, "test").unwrap();
    let tokenizer = Tokenizer::new("en").with_protected_patterns(protected);
    for (line, expected) in [
        ("Ask a.b@c-d.org, (a.b@c-d.org)!", "Ask a.b@c-d.org , ( a.b@c-d.org ) !"),
        (
            "a<b class='x'>it's</b>.",
            "a &lt; b class = &apos; x &apos; &gt; it &apos;s &lt;/b&gt; .",
        ),
        ("51,000 x", "5 1,0 00 x"),
    ] {
        let mut out = Vec::new();
        tokenizer.tokenize(line.as_bytes(), &mut out);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
    // Braces, brackets in sets and POSIX classes mean what they mean in Perl.
    let patterns = "{\\w+}\n{{.*?}}\n\\[[^[]+\\]\n[[:alpha:]]+-[[:alpha:]]+\n";
    let protected = ProtectedPatterns::from_lines(patterns, "test").unwrap();
    let tokenizer = Tokenizer::new("en").with_protected_patterns(protected).aggressive(true);
    let mut out = Vec::new();
    tokenizer.tokenize("See {0}, {{a b}} [c d] naïve-été, 1-2.".as_bytes(), &mut out);
    let expected = "See {0} , {{a b}} &#91;c d&#93; naïve-été , 1 @-@ 2 .";
    assert_eq!(String::from_utf8(out).unwrap(), expected);
    let error = ProtectedPatterns::from_lines("a\n(", "patterns").unwrap_err().to_string();
    assert!(error.starts_with("patterns, line 2: \"(\" is not a regular expression: "), "{error}");
}

/// Generates lines with many characters that have rules, and invalid bytes.
fn any_line() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => "[a-dA-D5 ,.'\"()|<>&;@-]{1,4}".prop_map(String::into_bytes),
        1 => "[éÉß«»“”’ \u{a0}日½]".prop_map(String::into_bytes),
        1 => prop::sample::select(vec!["&quot;", " @-@ ", "Mr.", "l'", "<a>", "|"])
            .prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec((0u8..=255).prop_filter("a line end", |&b| b != b'\n'), 1..3),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn apply(change: impl Fn(&[u8], &mut Vec<u8>), line: &[u8]) -> Vec<u8> {
    let mut out = b"before".to_vec();
    change(line, &mut out);
    assert!(out.starts_with(b"before"));
    out.split_off(6)
}

proptest! {
    #[test]
    fn every_tool_keeps_letters_and_makes_no_line_ends(line in any_line()) {
        let letters = |text: &[u8]| -> Vec<u8> {
            text.iter().copied().filter(|b| b.is_ascii_alphanumeric() || *b >= 0xf5).collect()
        };
        for language in ["en", "fr", "cs", "fi", "ca"] {
            let tokenizer = Tokenizer::new(language).escape(false);
            let tokens = apply(|l, o| tokenizer.tokenize(l, o), &line);
            prop_assert!(!tokens.contains(&b'\n'));
            prop_assert_eq!(letters(&tokens), letters(&line));
            let detokenizer = Detokenizer::new(language).capitalize(true);
            prop_assert!(!apply(|l, o| detokenizer.detokenize(l, o), &line).contains(&b'\n'));
            let normalizer = PunctuationNormalizer::new(language);
            let normal = apply(|l, o| normalizer.normalize(l, o), &line);
            prop_assert!(!normal.contains(&b'\n'));
            prop_assert_eq!(letters(&normal), letters(&line));
        }
    }

    #[test]
    fn truecaser_changes_case_only(line in any_line()) {
        let mut training = TruecaseTrainer::new(true);
        training.add_line(&line);
        let mut model = Vec::new();
        training.write_model(&mut model);
        let model = TruecaseModel::from_text(&model, "test").unwrap();
        let lower = |text: &[u8]| -> Vec<u8> {
            text.iter().filter(|b| b.is_ascii()).map(u8::to_ascii_lowercase)
                .filter(|b| !b.is_ascii_whitespace() && *b != 0x0b).collect()
        };
        for change in [&|l: &[u8], o: &mut Vec<u8>| model.truecase(l, o),
                       &|l: &[u8], o: &mut Vec<u8>| model.truecase_caseless(l, o)]
            as [&dyn Fn(&[u8], &mut Vec<u8>); 2]
        {
            let changed = apply(change, &line);
            prop_assert!(!changed.contains(&b'\n'));
            prop_assert_eq!(lower(&changed), lower(&line));
        }
    }

    #[test]
    fn any_file_is_read_or_rejected(text in any_line(), more in any_line()) {
        let text = [text, b"\n".to_vec(), more].concat();
        let _ = TruecaseModel::from_text(&text, "test");
        let prefixes = NonbreakingPrefixes::parse_moses(&text);
        let tokenizer = Tokenizer::new("en").with_nonbreaking_prefixes(prefixes);
        let _ = apply(|l, o| tokenizer.tokenize(l, o), b"Mr. No. 5 a. B");
        let text = String::from_utf8_lossy(&text);
        if let Ok(protected) = ProtectedPatterns::from_lines(&text, "test") {
            let tokenizer = Tokenizer::new("en").with_protected_patterns(protected);
            let tokens = apply(|l, o| tokenizer.tokenize(l, o), text.replace('\n', " ").as_bytes());
            prop_assert!(!tokens.contains(&2) && !tokens.contains(&3));
        }
        if let Ok(settings) = TextProcessorConfig::from_text(&text, "test") {
            let again = TextProcessorConfig::from_text(&settings.to_text(), "test").unwrap();
            prop_assert_eq!(again, settings);
        }
    }
}
