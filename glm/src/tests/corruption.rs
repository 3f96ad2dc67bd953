//! Damaged and hostile files.

use miriam_lmcpu::NgramSource;
use proptest::prelude::*;

use super::*;
use crate::source::glm_source;

/// Makes queries of all kinds to damaged bytes. Each must give a score or an error.
pub(super) fn query_everything(bytes: &[u8], words: &[u32]) {
    let Ok(container) = Container::from_bytes(Bytes::copy_from(bytes), Path::new("x")) else {
        return;
    };
    let _ = verify(&container);
    let _ = glm_source(container.clone())
        .map(|mut source| while let Ok(Some(_)) = source.next_section() {});
    let Ok(model) = GlmModel::from_container(&container) else { return };
    let model: &dyn LanguageModel = &model;
    let (mut state, mut next) = (model.begin_state(), State::EMPTY);
    let known = |&&word: &&u32| (word as usize) < model.num_words();
    for &word in words.iter().filter(known) {
        model.score(&state, LmWord(word), &mut next);
        state = next;
        let text = model.word(LmWord(word)).unwrap_or_default();
        let _ = model.word_id(text);
    }
    let ids: Vec<LmWord> = words.iter().filter(known).map(|&word| LmWord(word)).collect();
    let mut scores = vec![(Log10(0.0), 0); ids.len()];
    model.score_sentences(&model.begin_state(), &ids, &[ids.len()], &mut scores);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damage_never_panics(
        changes in proptest::collection::vec((4096usize..6500, any::<u8>()), 1..30),
        words in proptest::collection::vec(0u32..5, 0..20),
        hashed in 0..4usize,
    ) {
        let original = TestModel::new(TOY).bytes(&GlmOptions { max_hashed_order: hashed, ..GlmOptions::default() });
        let mut bytes = original.to_vec();
        for (index, value) in changes {
            if let Some(byte) = bytes.get_mut(index) {
                *byte = value;
            }
        }
        let container = Container::from_bytes(Bytes::copy_from(&bytes), Path::new("x")).unwrap();
        prop_assert!(container.verify().is_err() || bytes[..] == original[..]);
        query_everything(&bytes, &words);
    }

    /// Invalid locations in any field of n-grams do not make a query panic.
    #[test]
    fn hostile_locations_never_panic(
        changes in proptest::collection::vec(
            (0..200usize, prop_oneof![Just(u32::MAX), Just(u32::MAX - 1), Just(1 << 31), 0..300u32, any::<u32>()]),
            1..60,
        ),
        words in proptest::collection::vec(0u32..40, 0..40),
        hashed in 0..4usize,
        width in 0..3usize,
    ) {
        let built = TestModel::new(&large_arpa(37, 400));
        let original = built.bytes(&GlmOptions { node_width: WIDTHS[width], max_hashed_order: hashed });
        let container = Container::from_bytes(original.clone(), Path::new("x")).unwrap();
        let mut bytes = original.to_vec();
        for section in container.sections().iter().filter(|s| s.name.starts_with("order-")) {
            for &(index, value) in &changes {
                let at = (section.offset as usize) + index * 4 % section.length.max(4) as usize;
                bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            }
        }
        query_everything(&bytes, &words);
    }
}

#[test]
fn every_truncation_is_an_error() {
    let bytes = TestModel::new(TOY).bytes(&GlmOptions::default());
    for end in (0..bytes.len()).step_by(7) {
        assert!(Container::from_bytes(Bytes::copy_from(&bytes[..end]), Path::new("cut")).is_err());
    }
}

/// Without the checksums, `verify` notices changed bits at least once per bigram: in its word, or
/// in the location of its children.
#[test]
fn verify_notices_misplaced_blocks() {
    let built = TestModel::new(&large_arpa(37, 400));
    for hashed in [0, 2, 3] {
        let original =
            built.bytes(&GlmOptions { max_hashed_order: hashed, ..GlmOptions::default() });
        let container = Container::from_bytes(original.clone(), Path::new("x")).unwrap();
        let section = container.sections().iter().find(|s| s.name == "order-2").unwrap();
        let (start, length) = (section.offset as usize, section.length as usize);
        let mut noticed = 0;
        for index in (start..start + length).step_by(4) {
            let mut bytes = original.to_vec();
            bytes[index] ^= 1;
            let changed = Container::from_bytes(Bytes::copy_from(&bytes), Path::new("x")).unwrap();
            assert!(changed.verify().is_err());
            noticed += usize::from(verify(&changed).is_err());
        }
        // A changed score is not noticed, because a score may be any number.
        assert!(noticed >= 400, "{hashed}: {noticed} of {}", length / 4);
    }
}
