//! Comparison of learned vocabularies with the vocabularies that subword-nmt and SentencePiece's
//! trainer learned from `examples/toy` (in `testdata`), and properties on random text.

use std::path::{Path, PathBuf};

use miriam_textproc::sentencepiece::{
    Encoding, ModelType, Normalization, PieceTrainer, TrainError, TrainOptions,
};
use miriam_textproc::{
    BpeCodes, BpeLearnOptions, BpeScratch, LearnedBpe, SentencePiece, WordCounts, add_bpe_line,
    learn_bpe,
};
use proptest::prelude::*;

fn read(path: &str) -> Vec<u8> {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn learn_codes(text: &[u8], max_merges: usize) -> LearnedBpe {
    let mut counts = WordCounts::default();
    text.split(|&byte| byte == b'\n').for_each(|line| add_bpe_line(line, &mut counts));
    let options = BpeLearnOptions { max_merges, min_frequency: 2 };
    learn_bpe(&counts, options, |_| true).unwrap()
}

#[test]
fn learning_merges_stops_when_it_is_told_to() {
    let mut counts = WordCounts::default();
    let letters = b'a'..=b'z';
    for word in letters.clone().flat_map(|first| letters.clone().map(move |last| [first, last])) {
        counts.add(&word, 2);
    }
    let options = BpeLearnOptions { max_merges: 1000, min_frequency: 2 };
    assert!(learn_bpe(&counts, options, |num_merges| num_merges < 64).is_err());
}

fn train(text: &[u8], options: TrainOptions) -> Result<Vec<u8>, TrainError> {
    train_on(2, text, options)
}

fn train_on(threads: usize, text: &[u8], options: TrainOptions) -> Result<Vec<u8>, TrainError> {
    let mut counts = WordCounts::default();
    text.split(|&byte| byte == b'\n').for_each(|line| counts.add_line(line));
    PieceTrainer::new(options).train(&counts, threads, |done, total| {
        assert!(done <= total);
        true
    })
}

fn open(model: &[u8]) -> SentencePiece {
    SentencePiece::from_bytes(model, "learned").unwrap()
}

#[test]
fn codes_equal_those_of_subword_nmt() {
    let text = read("../../examples/toy/corpus.es");
    let learned = learn_codes(&text, 300);
    assert!(learned.codes == read("testdata/learned.codes"));
    assert_eq!(learned.num_merges, 300);
    // The file that is learned with fewer merges is a prefix of this file.
    assert!(learned.codes.starts_with(&learn_codes(&text, 100).codes));
    // The text has overlapping pairs, symbols made in two ways, Python's line ends, and white space
    // in words.
    let odd = learn_codes(&read("testdata/odd.txt"), 200);
    assert_eq!(
        String::from_utf8_lossy(&odd.codes),
        String::from_utf8_lossy(&read("testdata/odd.codes"))
    );
}

#[test]
fn learned_codes_segment_as_subword_nmt_applies_them() {
    let codes = learn_codes(&read("../../examples/toy/corpus.es"), 300).codes;
    let codes = BpeCodes::from_text(&codes, "learned").unwrap();
    let mut segmented = Vec::new();
    for line in read("../../examples/toy/test.es").split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap();
        for (number, word) in line.split(|&byte| byte == b' ').enumerate() {
            segmented.extend_from_slice(if number > 0 { b" " } else { b"" });
            codes.segment_word(word, &mut BpeScratch::default(), |subword, more| {
                segmented.extend_from_slice(subword);
                segmented.extend_from_slice(if more { b"@@ " } else { b"" });
            });
        }
        segmented.push(b'\n');
    }
    let expected = read("testdata/learned.segmented");
    assert_eq!(String::from_utf8_lossy(&segmented), String::from_utf8_lossy(&expected));
}

#[test]
fn bpe_pieces_equal_those_of_the_original_trainer() {
    let options =
        TrainOptions { model_type: ModelType::Bpe, vocab_size: 200, ..TrainOptions::default() };
    let model = open(&train(&read("../../examples/toy/corpus.es"), options).unwrap());
    let expected = String::from_utf8(read("testdata/learned-bpe.vocab")).unwrap();
    let lines: Vec<&str> = expected.lines().collect();
    assert_eq!(model.len(), lines.len());
    for (id, line) in (0..).zip(lines) {
        let (piece, score) = line.split_once('\t').unwrap();
        assert_eq!(String::from_utf8_lossy(model.piece(id).unwrap()), piece);
        assert_eq!(model.score(id), score.parse().ok(), "{piece}");
    }
}

/// For new text, a unigram model needs at most one percent more pieces than a model of `spm_train`.
#[test]
fn unigram_pieces_serve_new_text_as_those_of_the_original_trainer() {
    // The number of pieces of the test text with models of `spm_train --vocab_size=N` and Marian's
    // ids.
    for (vocab_size, original_size) in [(100, 1430), (120, 1302), (150, 1174)] {
        let options = TrainOptions { vocab_size, ..TrainOptions::default() };
        let model = open(&train(&read("../../examples/toy/train.es"), options).unwrap());
        let mut encoding = Encoding::new();
        let mut num_pieces = 0;
        for line in read("../../examples/toy/test.es").split(|&byte| byte == b'\n') {
            model.encode(line, &mut encoding);
            num_pieces += encoding.ids().len();
        }
        assert!(num_pieces <= original_size * 101 / 100, "{vocab_size}: {num_pieces}");
    }
}

#[test]
fn sizes_that_do_not_fit_are_rejected() {
    let text = b"abc abd bcd\nabc";
    let size = |vocab_size| TrainOptions {
        vocab_size,
        character_coverage: 1.0,
        ..TrainOptions::default()
    };
    // The model needs U+2581, a, b, c, d and the two special pieces.
    assert_eq!(train(text, size(6)), Err(TrainError::TooFewPieces { asked: 6, least: 7 }));
    assert_eq!(open(&train(text, size(7)).unwrap()).len(), 7);
    for model_type in [ModelType::Unigram, ModelType::Bpe] {
        let options = |vocab_size| TrainOptions { model_type, ..size(vocab_size) };
        let Err(TrainError::TooManyPieces { asked: 999, most }) = train(text, options(999)) else {
            panic!("999 pieces were found");
        };
        let largest_vocabulary = train(text, options(most)).unwrap();
        assert_eq!(open(&largest_vocabulary).len(), most);
        let soft = TrainOptions { hard_vocab_limit: false, ..options(999) };
        assert_eq!(train(text, soft).unwrap(), largest_vocabulary);
        let bytes = TrainOptions { byte_fallback: true, ..options(263) };
        let model = open(&train(text, bytes).unwrap());
        assert!(model.len() == 263 && model.has_byte_fallback());
    }
    assert_eq!(train(b" \n\x01 \t", size(9)), Err(TrainError::NoText));
}

/// Text is divided at user-defined symbols, never in them, and pieces are learned from the rest.
#[test]
fn user_defined_symbols_are_pieces() {
    for model_type in [ModelType::Unigram, ModelType::Bpe] {
        let options = TrainOptions {
            model_type,
            vocab_size: 30,
            hard_vocab_limit: false,
            character_coverage: 1.0,
            user_defined_symbols: vec!["<A>".into(), "<A>B".into()],
            ..TrainOptions::default()
        };
        let plain = TrainOptions { user_defined_symbols: Vec::new(), ..options.clone() };
        let model = open(&train(b"abc<A>abd<A>Bcd <A> bcd\nabc abd", options).unwrap());
        assert_eq!([model.piece_id(b"<A>"), model.piece_id(b"<A>B")], [Some(2), Some(3)]);
        // U+2581 alone is a word before a symbol.
        let same = open(&train("abc\nabd\ncd\n\u{2581} bcd abc abd".as_bytes(), plain).unwrap());
        let learned = |model: &SentencePiece, from: u32| -> Vec<Vec<u8>> {
            let ids = from..model.len() as u32;
            let mut pieces: Vec<_> = ids.map(|id| model.piece(id).unwrap().to_vec()).collect();
            pieces.sort_unstable();
            pieces
        };
        let characters = |pieces: Vec<Vec<u8>>| -> Vec<Vec<u8>> {
            let one = |piece: &Vec<u8>| String::from_utf8_lossy(piece).chars().count() == 1;
            pieces.into_iter().filter(one).collect()
        };
        assert_eq!(characters(learned(&model, 4)), characters(learned(&same, 2)));
        let mut encoding = Encoding::new();
        model.encode(b"<A> abc<A>B", &mut encoding);
        let ids = encoding.ids();
        assert_eq!((ids[1], *ids.last().unwrap()), (2, 3), "{ids:?}");
        let mut text = Vec::new();
        model.decode(ids, &mut text);
        assert_eq!(text, b"<A> abc<A>B");
    }
}

/// The names of special pieces in a text are left out, as by `spm_train` (0.2.3), whose pieces are
/// given here. They count as covered text, so that fewer rare characters become pieces.
#[test]
fn learned_pieces_contain_no_part_of_special_ones() {
    let options = |vocab_size, character_coverage| TrainOptions {
        model_type: ModelType::Bpe,
        vocab_size,
        character_coverage,
        ..TrainOptions::default()
    };
    let symbol = TrainOptions { user_defined_symbols: vec!["<A>".into()], ..options(15, 0.993) };
    let bytes = TrainOptions { byte_fallback: true, ..options(270, 0.9995) };
    let identity = TrainOptions { normalization: Normalization::Identity, ..options(16, 0.9995) };
    let merges = "ab cd ▁ab ▁cd ▁abab ▁abcd ▁cdcd";
    for (line, count, rare, options, expected) in [
        ("ab<A>", 150, "z", symbol, "ab ▁ab cd ▁cd ▁abab ▁abcd ▁cdcd ▁ a b c d".into()),
        ("ab</s>cd <unk>c", 150, "z", options(14, 0.993), format!("{merges} ▁ c a b d")),
        ("ab<0x41>cd", 150, "", bytes, format!("{merges} a b c d ▁")),
        ("a\tb c\x1fd", 10, "", identity, format!("{merges} ▁a ▁ a b c d \t")),
    ] {
        let mut text = "abab cdcd abcd\n".repeat(20) + &format!("{line}\n").repeat(count);
        text += &format!("{rare}\n").repeat(6);
        let num_special = 2 + options.user_defined_symbols.len() as u32;
        let num_special = if options.byte_fallback { num_special + 256 } else { num_special };
        let model = open(&train(text.as_bytes(), options).unwrap());
        let learned = (num_special..model.len() as u32).map(|id| model.piece(id).unwrap());
        let learned: Vec<String> =
            learned.map(|piece| String::from_utf8_lossy(piece).into_owned()).collect();
        assert_eq!(learned, expected.split(' ').collect::<Vec<&str>>(), "{line:?}");
    }
}

#[test]
fn user_defined_symbols_that_cannot_be_pieces_are_rejected() {
    for (symbols, byte_fallback, expected) in [
        (&["<A>", "<B>", "<A>"][..], false, "<A> is given twice"),
        (&["<B>", "</s>"], false, "</s> is a piece of every model"),
        (&["<unk>"], false, "<unk> is a piece of every model"),
        (&["<A>", "a b"], false, "a b has white space"),
        (&[""], false, "has no characters"),
        (&["<0x0A>"], true, "<0x0A> is the piece of a byte"),
    ] {
        let options = TrainOptions {
            user_defined_symbols: symbols.iter().map(|&symbol| symbol.to_owned()).collect(),
            byte_fallback,
            ..TrainOptions::default()
        };
        let error = train(b"abc", options).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let symbol = TrainOptions {
        vocab_size: 20,
        hard_vocab_limit: false,
        user_defined_symbols: vec!["<0x0A>".into()],
        ..TrainOptions::default()
    };
    assert!(open(&train(b"abc", symbol).unwrap()).piece_id(b"<0x0A>").is_some());
}

#[test]
fn a_training_ends_when_it_is_cancelled() {
    let mut counts = WordCounts::default();
    read("../../examples/toy/train.es").split(|&b| b == b'\n').for_each(|l| counts.add_line(l));
    for model_type in [ModelType::Unigram, ModelType::Bpe] {
        let options = TrainOptions { model_type, vocab_size: 200, ..TrainOptions::default() };
        let mut reports = 0;
        let found = PieceTrainer::new(options).train(&counts, 2, |_, _| {
            reports += 1;
            false
        });
        assert_eq!((found, reports), (Err(TrainError::Cancelled), 1));
    }
}

#[test]
fn codes_of_single_characters_are_empty() {
    assert_eq!(learn_codes(b"a b c a b\n", 10).codes, b"#version: 0.2\n");
    assert_eq!(learn_codes(b"", 10).num_merges, 0);
}

/// Trains a model of `text` with the possible size nearest to `wanted`, on `threads` threads.
fn train_up_to(wanted: usize, threads: usize, text: &[u8], options: TrainOptions) -> Vec<u8> {
    let options = |vocab_size| TrainOptions { vocab_size, ..options.clone() };
    let fitting = match train_on(threads, text, options(wanted)) {
        Err(TrainError::TooFewPieces { least, .. }) => train_on(threads, text, options(least)),
        Err(TrainError::TooManyPieces { most, .. }) => train_on(threads, text, options(most)),
        result => result,
    };
    fitting.unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pieces_segment_their_text_and_do_not_depend_on_order_or_threads(
        mut lines in proptest::collection::vec("[a-dä-éб-д東京ア'1-3 ]{0,12}x", 1..20),
        wanted in 10usize..60, is_bpe in any::<bool>(), threads in 2usize..4,
    ) {
        let options = TrainOptions {
            model_type: if is_bpe { ModelType::Bpe } else { ModelType::Unigram },
            character_coverage: 1.0,
            normalization: Normalization::Identity,
            ..TrainOptions::default()
        };
        let bytes = train_up_to(wanted, 1, lines.join("\n").as_bytes(), options.clone());
        let model = open(&bytes);
        let mut encoding = Encoding::new();
        for line in &lines {
            model.encode(line.as_bytes(), &mut encoding);
            prop_assert!(!encoding.ids().contains(&model.unknown_id()), "{line:?}");
        }
        lines.reverse();
        let again = train_up_to(wanted, threads, lines.join("\n").as_bytes(), options);
        prop_assert!(bytes == again);
    }

    /// Counting all pairs again before each merge gives the same codes. Words have at most three
    /// letters, so that no symbol can be made in two ways.
    #[test]
    fn codes_equal_those_of_counting_anew(words in proptest::collection::vec("[abc]{1,3}", 1..30)) {
        let learned = learn_codes(words.join(" ").as_bytes(), 12);
        let mut split: Vec<Vec<String>> = words.iter().map(|word| {
            let mut symbols: Vec<String> = word.chars().map(String::from).collect();
            symbols.last_mut().unwrap().push_str("</w>");
            symbols
        }).collect();
        let mut expected = "#version: 0.2\n".to_owned();
        for _ in 0..12 {
            let mut counts = std::collections::BTreeMap::new();
            for pair in split.iter().flat_map(|word| word.windows(2)) {
                *counts.entry((pair[0].clone(), pair[1].clone())).or_insert(0) += 1;
            }
            let Some((pair, count)) = counts.into_iter().max_by_key(|(pair, count)| (*count, pair.clone()))
            else { break };
            if count < 2 { break }
            expected += &format!("{} {}\n", pair.0, pair.1);
            for word in &mut split {
                let mut at = 0;
                while at + 1 < word.len() {
                    if word[at] == pair.0 && word[at + 1] == pair.1 {
                        word[at] = format!("{}{}", pair.0, pair.1);
                        word.remove(at + 1);
                    }
                    at += 1;
                }
            }
        }
        prop_assert_eq!(String::from_utf8_lossy(&learned.codes), expected);
    }

    #[test]
    fn any_bytes_are_learned_from(text in any::<Vec<u8>>()) {
        let codes = learn_codes(&text, 20).codes;
        BpeCodes::from_text(&codes, "learned").unwrap();
        if let Ok(model) = train(&text, TrainOptions { vocab_size: 40, ..TrainOptions::default() }) {
            prop_assert_eq!(open(&model).len(), 40);
        }
    }
}
