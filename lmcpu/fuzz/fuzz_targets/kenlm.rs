//! Any bytes as a KenLM file: opening, scoring and listing never panic.
//!
//! The bytes are also read as changes of a small valid file, after its sanity block. The first byte
//! selects the kind of that file.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_lmcpu::kenlm::KenlmFile;
use miriam_lmcpu::{LmWord, State};
use miriam_storage::Bytes;

const SEEDS: [&[u8]; 6] = [
    include_bytes!("../../testdata/toy-probing.kenlm"),
    include_bytes!("../../testdata/toy-rest.kenlm"),
    include_bytes!("../../testdata/toy-trie.kenlm"),
    include_bytes!("../../testdata/toy-qtrie.kenlm"),
    include_bytes!("../../testdata/toy-atrie.kenlm"),
    include_bytes!("../../testdata/toy-qatrie.kenlm"),
];
const SANITY_BYTES: usize = 88;

fn open(bytes: &[u8]) -> Option<KenlmFile> {
    KenlmFile::from_bytes(&Bytes::copy_from(bytes), Path::new("fuzz")).ok()
}

fn exercise(bytes: &[u8]) {
    let Some(model) = open(bytes).map(KenlmFile::into_model) else { return };
    let (mut state, mut next) = (model.begin_state(), State::EMPTY);
    for id in (0..model.num_words() as u32).take(100) {
        let word = LmWord(id);
        let _ = model.word(word).map(|text| model.word_id(text));
        model.score(&state, word, &mut next);
        state.copy_from(&next);
    }
    let source = open(bytes).map(|file| file.into_source(Path::new("fuzz")));
    let Some(Ok(mut source)) = source else { return };
    while let Ok(Some(section)) = source.next_section() {
        assert!(section.words.iter().all(|&id| (id as usize) < source.vocabulary().len()));
    }
}

fuzz_target!(|bytes: &[u8]| {
    exercise(bytes);
    let Some((&kind, changes)) = bytes.split_first() else { return };
    let mut changed = SEEDS[usize::from(kind) % SEEDS.len()].to_vec();
    for change in changes.chunks_exact(3) {
        let offset = SANITY_BYTES + usize::from(u16::from_le_bytes([change[0], change[1]]));
        if let Some(byte) = changed.get_mut(offset) {
            *byte = change[2];
        }
    }
    exercise(&changed);
});
