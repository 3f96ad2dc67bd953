//! Any bytes as a model file: opening, checking and scoring never panic.
//!
//! Start from the files in `../testdata`. A checksum detects most changes of their first page, so
//! the bytes are also read as changes of the sections after it.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_lmcpu::probing::{self, ProbingModel};
use miriam_lmcpu::trie::{self, TrieModel};
use miriam_lmcpu::{LanguageModel, LmWord, State};
use miriam_storage::{Bytes, Container};

const SEEDS: [&[u8]; 3] = [
    include_bytes!("../../testdata/toy-v1.ngram-probing"),
    include_bytes!("../../testdata/toy-v2.ngram-trie"),
    include_bytes!("../../testdata/toy-v2-3-2.ngram-trie"),
];
const FIRST_PAGE: usize = 4096;

fn exercise(bytes: &[u8]) {
    let Ok(container) = Container::from_bytes(Bytes::copy_from(bytes), Path::new("fuzz")) else {
        return;
    };
    match container.kind() {
        trie::KIND => {
            let _ = trie::verify(&container);
            let _ = TrieModel::from_container(&container).map(|model| score(&model));
        }
        _ => {
            let _ = probing::verify(&container);
            let _ = ProbingModel::from_container(&container).map(|model| score(&model));
        }
    }
}

fn score(model: &dyn LanguageModel) {
    let (mut state, mut next) = (model.begin_state(), State::EMPTY);
    for id in (0..model.num_words() as u32).take(100) {
        let word = LmWord(id);
        let _ = model.word(word).map(|text| model.word_id(text));
        model.score(&state, word, &mut next);
        state.copy_from(&next);
    }
}

fuzz_target!(|bytes: &[u8]| {
    exercise(bytes);
    for seed in SEEDS {
        let mut changed = seed.to_vec();
        for change in bytes.chunks_exact(3) {
            let offset = FIRST_PAGE + usize::from(u16::from_le_bytes([change[0], change[1]]));
            if let Some(byte) = changed.get_mut(offset) {
                *byte = change[2];
            }
        }
        exercise(&changed);
    }
});
