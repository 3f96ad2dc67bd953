//! Tests of reading vocabularies: all formats (`neural.md` 1.3), words that parsers could change,
//! malformed files, and mismatched sizes.

use super::*;

fn open_written(name: &str, text: &[u8]) -> Result<Vocabulary> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    Vocabulary::open(&path)
}

fn open_error(name: &str, text: &str) -> String {
    open_written(name, text.as_bytes()).err().expect("it should be rejected").to_string()
}

#[test]
fn maps_lists_and_lines_give_the_same_vocabulary() {
    let maps = [
        ("v.yml", "</s>: 0\n<unk>: 1\nnull: 2\n\"\\u2581a\": 3\n? ~\n: 4\n'1.0': 5\n"),
        ("vocab.de", "\"</s>\": 0\n<unk>: 1\nnull: 2\n\"\\u2581a\": 3\n? ~\n: 4\n'1.0': 5\n"),
        ("v.json", "{\"</s>\":0, \"<unk>\":1, \"null\":2, \"1.0\":5, \"~\":4, \"\\u2581a\":3}"),
        ("source_vocabulary.json", "[\"</s>\",\"<unk>\",\"null\",\"\\u2581a\",\"~\",\"1.0\"]"),
        ("v.txt", "</s>\n<unk>\r\nnull\n\u{2581}a\n~\n1.0\n"),
    ];
    for (name, text) in maps {
        let vocabulary = open_written(name, text.as_bytes()).unwrap();
        let words: Vec<&[u8]> = vocabulary.iter().collect();
        let expected = ["</s>", "<unk>", "null", "\u{2581}a", "~", "1.0"];
        assert_eq!(words, expected.map(str::as_bytes), "{name}");
        assert_eq!((vocabulary.eos_id(), vocabulary.unk_id()), (0, 1));
        assert_eq!(vocabulary.find(b"~"), Some(4));
        assert_eq!(vocabulary.word(6), None);
    }
}

/// Marian 1.12.42 reads the same ids and rejects the same files; it also rejects text files with
/// Nematus' names (`eos`, `UNK`), wherever they are.
#[test]
fn special_tokens_may_have_any_id_but_names_of_nematus_only_theirs() {
    for (name, text, ids) in [
        ("v.txt", "a\n</s>\nb\n<unk>\n", (1, 3)),
        ("v.txt", "<unk>\na\neos\nUNK\n</s>\n", (4, 0)),
        ("v.yml", "a: 0\nUNK: 1\n</s>: 2\neos: 3\n", (2, 1)),
        ("v.txt", "eos\nUNK\na\n", (0, 1)),
    ] {
        let vocabulary = open_written(name, text.as_bytes()).unwrap();
        assert_eq!((vocabulary.eos_id(), vocabulary.unk_id()), ids, "{text}");
    }
    for (name, text, expected) in [
        (
            "v.txt",
            "a\nUNK\nb\neos\n",
            "</s> is not there, and \"eos\" stands for it only with the id 0",
        ),
        (
            "v.yml",
            "a: 0\nUNK: 1\nb: 2\neos: 3\n",
            "\"eos\" stands for it only with the id 0, not 3",
        ),
        ("v.yml", "eos: 0\na: 1\nb: 2\nUNK: 3\n", "<unk> is not there, and \"UNK\" stands"),
        ("v.json", r#"["</s>", "a", "unk"]"#, "\"unk\" stands for it only with the id 1, not 2"),
        ("v.txt", "a\n<unk>\n", "neither </s> nor eos is there"),
        ("v.txt", "</s>\n<unk>\na\n</s>\n", "\"</s>\" has the ids 0 and 3"),
    ] {
        let error = open_error(name, text);
        assert!(error.contains(expected), "{text}: {error}");
    }
}

/// Words that look like values stay words, words that are not UTF-8 stay distinct, and a word with
/// two ids is rejected.
#[test]
fn json_words_keep_their_bytes() {
    let text = b"\xef\xbb\xbf{\"</s>\": 0, \"<unk>\": 1, \"true\": 2, \"1e3\": 3, \"\\udce4\": 4, \
                 \"\\udcf6\": 5, \"\xe4\": 6, \"\": 7, \"\\ud83d\\ude00\": 8, \"</s>\": 0}";
    let vocabulary = open_written("v.json", text).unwrap();
    let words: Vec<&[u8]> = vocabulary.iter().collect();
    assert_eq!(words[..4], [&b"</s>"[..], b"<unk>", b"true", b"1e3"]);
    assert_eq!(words[4..7], [&b"\xed\xb3\xa4"[..], b"\xed\xb3\xb6", b"\xe4"]);
    assert_eq!(words[7..], [&b""[..], "\u{1f600}".as_bytes()]);
    let twice = "{\"</s>\": 0, \"<unk>\": 1, \"a\": 2, \"a\": 3}";
    assert!(open_error("v.json", twice).contains("\"a\" has the ids 2 and 3"));
    assert!(open_error("v.json", "[\"</s>\", \"<unk>\", 5]").contains("a word in quotes"));
    assert!(open_error("v.json", "{\"</s>\": 0, \"<unk>\": -1}").contains("-1"));
    assert!(open_error("v.json", "{\"</s>\": 0,\n \"<unk>\": 1.5}").contains("line 2"));
    assert!(open_error("v.json", "{\"</s>\": 0, \"a\": 4000000000}").contains("4000000000"));
    assert!(open_error("v.json", &"[".repeat(100_000)).contains("line 1"));
}

#[test]
fn lists_of_ctranslate2_may_repeat_words_and_have_carriage_returns() {
    let special = SpecialTokens {
        eos: "</s>".into(),
        unk: "<unk>".into(),
        bos: "<s>".into(),
        source_bos: None,
        has_source_eos: true,
        texts_have_source_eos: false,
    };
    let read = |name: &str, text: &str| {
        let bytes = Bytes::copy_from(text.as_bytes());
        Vocabulary::parse_with_special_tokens(bytes, Path::new(name), &special, true).unwrap().0
    };
    for (name, text) in [
        ("v.txt", "<unk>\n</s>\na\nb\na\nb\na\n"),
        ("v.json", r#"["<unk>", "</s>", "a", "b", "a", "b", "a"]"#),
    ] {
        for vocabulary in [read(name, text), read(name, text).truncated(7, "source").unwrap()] {
            let words: Vec<&[u8]> = vocabulary.iter().collect();
            assert_eq!(words, ["<unk>", "</s>", "a", "b", "a", "b", "a"].map(str::as_bytes));
            assert_eq!((vocabulary.find(b"a"), vocabulary.find(b"b")), (Some(2), Some(3)));
            assert_eq!(vocabulary.repeated_word(), Some(&b"a"[..]));
        }
        let vocabulary = read(name, text).truncated(4, "source").unwrap();
        assert_eq!((vocabulary.len(), vocabulary.repeated_word()), (4, None));
    }
    let vocabulary = read("v.txt", "<unk>\r\n</s>\r\na\r\n");
    assert_eq!((vocabulary.find(b"a"), vocabulary.len()), (Some(2), 3));
    let vocabulary = read("v.txt", "<unk>\n</s>\na\na\r\n");
    assert_eq!((vocabulary.find(b"a"), vocabulary.find(b"a\r")), (Some(2), Some(3)));
}

#[test]
fn a_vocabulary_without_eos_has_a_substitute_that_is_not_its_own_eos() {
    let special = SpecialTokens {
        eos: "</s>".into(),
        unk: "<unk>".into(),
        bos: "<s>".into(),
        source_bos: None,
        has_source_eos: false,
        texts_have_source_eos: false,
    };
    for (text, ids) in [
        ("<unk>\na\n</s>\n", (2, Some(2))),
        ("<unk>\n<blank>\na\n", (1, None)),
        ("<unk>\na\n<pad>\n", (2, None)),
        ("<unk>\na\n", (0, None)),
    ] {
        let bytes = Bytes::copy_from(text.as_bytes());
        let path = Path::new("v.txt");
        let read = Vocabulary::parse_with_special_tokens(bytes, path, &special, false).unwrap().0;
        assert_eq!((read.eos_id(), read.own_eos_id()), ids, "{text}");
    }
}

#[test]
fn nematus_names_are_known() {
    let vocabulary = open_written("v.json", b"{\"eos\": 0, \"UNK\": 1, \"x\": 2}").unwrap();
    assert_eq!((vocabulary.eos_id(), vocabulary.unk_id()), (0, 1));
}

#[test]
fn size_mismatch_reports_both_numbers() {
    let three = || open_written("v.txt", b"</s>\n<unk>\nx\n").unwrap();
    assert_eq!(three().truncated(2, "source").unwrap().len(), 2);
    let error = three().truncated(4, "source").err().unwrap().to_string();
    assert!(error.contains("has 3 words") && error.contains("4 rows"), "{error}");
    let error = three().truncated(1, "target").err().unwrap().to_string();
    assert!(error.contains("unknown word has id 1"), "{error}");
}

#[test]
fn malformed_vocabularies_are_rejected() {
    assert!(open_error("v.txt", "a\nb\n").contains("</s>"));
    assert!(open_error("v.txt", "a text\n\nand\n\nmore\n").contains("</s>"));
    assert!(open_error("v.txt", "</s>\nb\n").contains("<unk>"));
    assert!(open_error("v.txt", "</s>\n<unk>\nb\nb\n").contains("\"b\" has the ids 2 and 3"));
    assert!(open_error("v.yml", "</s>: 0\n<unk>: 1\na: 2\nb: 2\n").contains("same id, 2"));
    assert!(open_error("v.yml", "</s>: 0\n<unk>: 1\na: 4000000000\n").contains("4000000000"));
    assert!(open_error("v.yml", "</s>: 0\n<unk>: -1\n").contains("-1"));
    assert!(open_error("v.yml", "words").contains("map of words"));
    assert!(open_error("v.spm", "no protobuf").contains("SentencePiece"));
    assert!(open_error("v.fsv", "").contains("factored"));
}
