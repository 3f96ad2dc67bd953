//! Test that the character map `nmt_nfkc` of learned SentencePiece models follows from its
//! definition and the Unicode tables of `unicode-normalization`. After an update of these tables,
//! this command writes the map again:
//!
//!     cargo test -p miriam-textproc --test charsmap -- --ignored

#[path = "charsmap/double_array.rs"]
mod double_array;
#[path = "charsmap/generator.rs"]
mod generator;

use std::sync::LazyLock;

use miriam_textproc::WordCounts;
use miriam_textproc::sentencepiece::{NMT_NFKC_CHARSMAP, PieceTrainer, TrainOptions};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization;

use generator::{REMOVED, SPACES, UNCHANGED, nmt_nfkc_charsmap};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/charsmaps/nmt_nfkc.charsmap");

#[test]
fn the_map_is_what_its_definition_gives() {
    assert!(nmt_nfkc_charsmap() == NMT_NFKC_CHARSMAP, "write it anew: see the head of this file");
}

#[test]
#[ignore = "writes the file"]
fn write_the_map() {
    std::fs::write(FILE, nmt_nfkc_charsmap()).unwrap();
}

/// Returns the words of a text normalised by the map, in byte order.
fn normalized_words(text: &str) -> Vec<String> {
    static TRAINER: LazyLock<PieceTrainer> =
        LazyLock::new(|| PieceTrainer::new(TrainOptions::default()));
    let mut counts = WordCounts::default();
    TRAINER.add_normalized(text.as_bytes(), 1, &mut counts);
    let words = counts.iter().map(|(word, _)| std::str::from_utf8(word).unwrap());
    let mut words: Vec<String> =
        words.map(|word| word.strip_prefix('\u{2581}').unwrap().to_owned()).collect();
    words.sort_unstable();
    words
}

#[test]
fn every_character_is_normalised() {
    for character in '\u{1}'..=char::MAX {
        let expected: String = match character {
            UNCHANGED => UNCHANGED.into(),
            _ if SPACES.contains(&character) => String::new(),
            _ if REMOVED.contains(&character) || character < ' ' => String::new(),
            _ => std::iter::once(character).nfkc().collect(),
        };
        let mut expected: Vec<&str> = expected.split(' ').filter(|word| !word.is_empty()).collect();
        expected.sort_unstable();
        assert_eq!(normalized_words(&character.to_string()), expected, "{character:?}");
    }
}

proptest! {
    /// Letters with separate marks, Hangul and Kana in all forms are normalised as NFKC does it.
    /// (The map has no keys for letters that already have one mark.)
    #[test]
    fn decomposed_text_becomes_nfkc(
        text in "([aAＡⒶ]\u{30a}?[\u{301}\u{341}]|[ᄀ-ᄂㄱ][\u{1161}ㅏ][\u{11a8}]?|[かｶヘﾍ][\u{3099}ﾞ]|[e-gﬁ①]){1,4}",
    ) {
        let composed: String = text.nfkc().collect();
        prop_assert_eq!(normalized_words(&text), [composed]);
    }
}
