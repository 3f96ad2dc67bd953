//! Any bytes as the lines of a shortlist and of a vocabulary map: candidates are in the
//! vocabulary, or the lines are rejected.
#![no_main]

use std::io::Cursor;
use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_nmt::Vocabulary;
use miriam_nmt::shortlist::{Shortlist, ShortlistOptions, VocabularyMap};
use miriam_textio::{Input, Lines};

const SENTENCE: [u32; 7] = [0, 1, 2, 3, 2, 4, u32::MAX];

fuzz_target!(|bytes: &[u8]| {
    let words = b"</s>\n<unk>\na\nb\nNULL\n";
    let vocabulary = Vocabulary::parse(words, Path::new("v")).expect("it is sound");
    // Skips compressed bytes: decompression is not tested here.
    if bytes.starts_with(&[0x1f, 0x8b]) || bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        return;
    }
    let lines = || {
        let input = Input::from_reader(Cursor::new(bytes.to_vec()), "fuzz", None);
        Lines::new(input.expect("it is in memory"))
    };
    let check = |candidates: &[u32]| {
        assert!(candidates.is_sorted_by(|one, next| one < next), "ascending");
        assert!(candidates.iter().all(|&id| (id as usize) < vocabulary.len()));
    };
    let mut candidates = Vec::new();
    let options = ShortlistOptions { first: 1, best: 2, threshold: 0.1 };
    if let Ok(list) = Shortlist::from_lines(lines(), options, &vocabulary, &vocabulary) {
        list.candidates(&SENTENCE, &mut candidates);
        check(&candidates);
    }
    if let Ok(map) = VocabularyMap::read(lines(), &vocabulary, &vocabulary) {
        map.candidates(&SENTENCE, &mut candidates);
        check(&candidates);
    }
});
