//! Any bytes after the magic number of a binary shortlist, with a correct checksum.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_nmt::Vocabulary;
use miriam_nmt::shortlist::Shortlist;

const MAGIC: u64 = 0xf11a_48d5_0134_17f5;

fuzz_target!(|bytes: &[u8]| {
    let vocabulary = Vocabulary::parse(b"</s>\n<unk>\na\nb\n", Path::new("v")).expect("it is sound");
    let checksum = bytes.as_chunks::<8>().0.iter().fold(0u64, |hash, &number| {
        let number = u64::from_le_bytes(number).wrapping_add(0x9e37_79b9);
        hash ^ number.wrapping_add(hash << 6).wrapping_add(hash >> 2)
    });
    let file = [&MAGIC.to_le_bytes()[..], &checksum.to_le_bytes(), bytes].concat();
    let list = Shortlist::from_bytes(&file, Path::new("fuzz"), &vocabulary, &vocabulary);
    if let Ok(list) = list {
        let mut candidates = Vec::new();
        list.candidates(&[0, 1, 2, 3, 4, u32::MAX], &mut candidates);
        assert!(candidates.iter().all(|&id| (id as usize) < vocabulary.len()));
    }
});
