//! Any bytes as a `glm` file: opening, verifying and scoring must not panic.
//!
//! Start from the files in `../testdata`. Checksums reject most changes of a file's first page, so
//! this target also changes bytes after the first page of valid files.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use miriam_glm::GlmModel;
use miriam_lmcpu::{LanguageModel, LmWord, State};
use miriam_storage::{Bytes, Container};

const SEEDS: [&[u8]; 2] = [
    include_bytes!("../../testdata/toy-v1.ngram-glm"),
    include_bytes!("../../testdata/toy-v1-hashed.ngram-glm"),
];
const FIRST_PAGE: usize = 4096;

fn score_all(bytes: &[u8]) {
    let Ok(container) = Container::from_bytes(Bytes::copy_from(bytes), Path::new("fuzz")) else {
        return;
    };
    let _ = miriam_glm::verify(&container);
    let Ok(model) = GlmModel::from_container(&container) else { return };
    let model: &dyn LanguageModel = &model;
    let ids: Vec<LmWord> = (0..model.num_words().min(100) as u32).map(LmWord).collect();
    let (mut state, mut next) = (model.begin_state(), State::EMPTY);
    for &word in ids.iter().chain(ids.iter().rev()) {
        let _ = model.word(word).map(|text| model.word_id(text));
        model.score(&state, word, &mut next);
        state.copy_from(&next);
    }
    let mut scores = vec![Default::default(); ids.len()];
    model.score_sentences(&model.begin_state(), &ids, &[ids.len()], &mut scores);
}

fuzz_target!(|bytes: &[u8]| {
    score_all(bytes);
    for seed in SEEDS {
        let mut changed = seed.to_vec();
        for change in bytes.chunks_exact(3) {
            let offset = FIRST_PAGE + usize::from(u16::from_le_bytes([change[0], change[1]]));
            if let Some(byte) = changed.get_mut(offset) {
                *byte = change[2];
            }
        }
        score_all(&changed);
    }
});
