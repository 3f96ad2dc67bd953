//! Small shortlists with candidates worked out by hand. Shortlists that Marian has written are
//! tested in `nmt/tests/oracle.rs`.

use super::*;
use miriam_storage::Bytes;
use proptest::prelude::*;

fn vocabulary(count: usize) -> Vocabulary {
    named_vocabulary(count, "v")
}

fn named_vocabulary(count: usize, name: &str) -> Vocabulary {
    let words = (0..count).map(|id| match id {
        0 => "</s>".to_owned(),
        1 => "<unk>".to_owned(),
        _ => format!("w{id}"),
    });
    let words: Vec<String> = words.collect();
    Vocabulary::new(words.iter().map(String::as_bytes), Path::new(name), None).unwrap()
}

fn with_file<T>(text: &[u8], read: impl Fn(&Path) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    std::fs::write(&path, text).unwrap();
    read(&path)
}

fn parse_text(lines: &str, options: ShortlistOptions, words: [usize; 2]) -> Result<Shortlist> {
    let [source, target] = words.map(vocabulary);
    with_file(lines.as_bytes(), |path| Shortlist::open(path, options, &source, &target))
}

#[test]
fn the_best_translations_above_the_threshold_are_kept() {
    let options = ShortlistOptions { first: 2, best: 2, threshold: 0.1 };
    let lines = "w5 w2 0.5\nw6 w2 0.1\nw7 w2 0.2\nw8 w2 0.3\nNULL w2 0.9\nw9 nothing 0.7\n\
                 nothing w3 0.4\nw4 NULL 1\n";
    let list = parse_text(lines, options, [10, 12]).unwrap();
    assert_eq!(list.translations_of(2), [5, 8]);
    assert_eq!(list.translations_of(1), [9], "unknown source words");
    assert_eq!(list.translations_of(3), [1], "an unknown target word");
    assert_eq!(list.translations_of(99), [0; 0]);
    let mut candidates = Vec::new();
    list.candidates(&[2, 3], &mut candidates);
    assert_eq!(candidates, [0, 1, 2, 3, 4, 5, 6, 8], "padded to eight");
    let shared = parse_text(lines, options, [12, 12]).unwrap();
    shared.candidates(&[11, 1], &mut candidates);
    assert_eq!(candidates, [0, 1, 2, 3, 4, 5, 9, 11]);
    let small = parse_text("w5 w2 1\n", options, [6, 7]).unwrap();
    small.candidates(&[2], &mut candidates);
    assert_eq!(candidates, [0, 1, 2, 3, 4, 5, 6], "no more words to pad with");
}

/// In Marian, two files are two vocabularies, even if one is a copy of the other.
#[test]
fn words_of_the_source_are_candidates_if_one_file_is_the_vocabulary_of_both_sides() {
    let options = ShortlistOptions { first: 1, best: 1, threshold: 0.0 };
    let [source, copy] = ["v", "w"].map(|name| named_vocabulary(20, name));
    with_file(b"w5 w12 1\n", |path| {
        for (target, expected) in
            [(&source, [0, 1, 2, 3, 4, 5, 6, 12]), (&copy, [0, 1, 2, 3, 4, 5, 6, 7])]
        {
            let list = Shortlist::open(path, options, &source, target).unwrap();
            let bytes = list.to_binary(options);
            let binary = Shortlist::from_bytes(&bytes, path, &source, target).unwrap();
            for list in [list, binary] {
                let mut candidates = Vec::new();
                list.candidates(&[12], &mut candidates);
                assert_eq!(candidates, expected);
            }
        }
    });
}

#[test]
fn flags_in_the_place_of_numbers_are_skipped() {
    let parse = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        ShortlistOptions::parse(&words)
    };
    for flag in ["true", "False", "no"] {
        assert_eq!(parse(&[flag]), Ok(ShortlistOptions::default()), "{flag}");
    }
    assert_eq!(parse(&["1", "0"]).unwrap().first, 1);
    assert!(parse(&["maybe"]).is_err());
}

#[test]
fn malformed_lines_are_reported() {
    for line in ["a b\n", "a b 1 2\n", "a b x\n", "a b nan\n"] {
        let error = parse_text(&format!("w2 w2 1\n{line}"), ShortlistOptions::default(), [4, 4]);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("line 2"), "{error}");
    }
}

/// The file is the one that `marian-conv --shortlist list 2 2 0.05` of Marian 1.12.42 writes.
#[test]
fn binary_lists_equal_those_of_marians_converter() {
    let lines = "w2 w3 0.5\nw4 w3 0.25\nw5 w3 0.1\nw2 w3 0.2\nw3 w3 0.25\nNULL w3 1\n\
                 w5 w4 0.1\nx w4 0.3\nw2 y 0.3\n";
    let vocabulary = vocabulary(6);
    let options = ShortlistOptions { first: 2, best: 2, threshold: 0.05 };
    let list = with_file(lines.as_bytes(), |path| {
        let lines = Lines::new(Input::open(path).unwrap());
        Shortlist::from_lines_for_binary(lines, options, &vocabulary, &vocabulary).unwrap()
    });
    let header = [0xf11a_48d5_0134_17f5, 0x3600_2f5b_ea20_7b52, 2, 2, 7, 5];
    let offsets = [0u64, 0, 1, 1, 3, 5, 5];
    let mut expected: Vec<u8> =
        header.into_iter().chain(offsets).flat_map(u64::to_le_bytes).collect();
    expected.extend([2u32, 2, 4, 1, 5].into_iter().flat_map(u32::to_le_bytes));
    let bytes = list.to_binary(options);
    assert_eq!(bytes, expected);
    let read = Shortlist::from_bytes(&bytes, Path::new("list"), &vocabulary, &vocabulary);
    assert_eq!(read.unwrap(), list);
}

#[test]
fn vocabulary_map_gives_words_of_all_matching_ngrams() {
    let [source, target] = [10, 10].map(vocabulary);
    let parse = |text: &str| {
        let bytes = Bytes::copy_from(text.as_bytes());
        VocabularyMap::parse(bytes, Path::new("vmap.txt"), &source, &target)
    };
    let map = "\tw2 w3\nw4\tw5\nw4 w5\tw6 nothing\nnothing w4\tw9\nw5\tw7\n";
    let map = parse(map).unwrap();
    let mut candidates = Vec::new();
    map.candidates(&[4, 5], &mut candidates);
    assert_eq!(candidates, [0, 1, 2, 3, 5, 6, 7]);
    map.candidates(&[5, 4], &mut candidates);
    assert_eq!(candidates, [0, 1, 2, 3, 5, 7]);
    let error = parse("no tab\n").unwrap_err().to_string();
    assert!(error.contains("vmap.txt") && error.contains("line 1"), "{error}");
}

proptest! {
    /// What is written is read back, whatever the pruning.
    #[test]
    fn binary_lists_are_read_back(
        pairs in proptest::collection::vec((0..12u32, 0..12u32, 0.0..1.0f32), 0..40),
        first in 0..20usize,
        best in 0..5usize,
    ) {
        let vocabulary = vocabulary(10);
        let lines: String =
            pairs.iter().map(|(to, from, p)| format!("w{to} w{from} {p}\n")).collect();
        let options = ShortlistOptions { first, best, threshold: 0.0 };
        let list = with_file(lines.as_bytes(), |path| {
            let lines = Lines::new(Input::open(path).unwrap());
            Shortlist::from_lines_for_binary(lines, options, &vocabulary, &vocabulary).unwrap()
        });
        let bytes = list.to_binary(options);
        let read = Shortlist::from_bytes(&bytes, Path::new("list"), &vocabulary, &vocabulary);
        prop_assert_eq!(read.unwrap(), list);
    }

    #[test]
    fn any_bytes_after_the_magic_give_a_list_or_an_error(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..120),
    ) {
        bytes.splice(0..0, 0xf11a_48d5_0134_17f5u64.to_le_bytes());
        let vocabulary = vocabulary(4);
        let _ = Shortlist::from_bytes(&bytes, Path::new("list"), &vocabulary, &vocabulary);
    }
}
