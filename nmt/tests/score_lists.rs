//! Translations of a list share the work on their common prefixes. Each has the same scores as
//! alone: the same bits if it is scored alone step by step, and the same numbers up to rounding if
//! all its positions are scored at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miriam_nmt::ModelBundle;
use miriam_nmt::engine::{Autotuner, Cpu, Precision};
use miriam_nmt::network::{ForcedScores, Network, Target, score_targets};
use miriam_nmt::score::{
    LengthLimit, ListError, ListModel, ListOptions, ScoringDirection, TextList,
};
use miriam_nmt::translate::{LoadedModels, TranslationOptions};
use miriam_storage::random::SplitMix64;

const MODELS: [&str; 7] = [
    "tiny.npz",
    "tiny-ct2-int8",
    "ct2-relative",
    "ct2-t5",
    "hf-nllb",
    "stacked-gru.npz",
    "tiny.miriam",
];

fn load(name: &str) -> Network {
    let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
    let bundle = ModelBundle::open(&path, None).unwrap_or_else(|e| panic!("{e}"));
    let precision = bundle.models[0].precision().unwrap_or(Precision::F32);
    Network::load(&bundle.models[0], &path, precision).unwrap_or_else(|e| panic!("{e}"))
}

/// Returns token sequences. Most begin like an earlier one; some are prefixes of others, or equal.
fn random_sequences(random: &mut SplitMix64, count: usize, vocab: u64) -> Vec<Vec<u32>> {
    let mut all: Vec<Vec<u32>> = Vec::new();
    for _ in 0..count {
        let mut tokens = Vec::new();
        if !all.is_empty() && !random.next_u64().is_multiple_of(4) {
            let other = &all[random.next_u64() as usize % all.len()];
            tokens.extend(&other[..random.next_u64() as usize % (other.len() + 1)]);
        }
        let more = usize::from(tokens.is_empty()) + random.next_u64() as usize % 4;
        tokens.extend((0..more).map(|_| (random.next_u64() % vocab) as u32));
        all.push(tokens);
    }
    all
}

fn score(
    network: &Network,
    sources: &[&[u32]],
    targets: &[Target],
    alignments: bool,
) -> Vec<ForcedScores> {
    let mut session = network.session().unwrap();
    score_targets(session.as_mut(), sources, None, targets, alignments).unwrap()
}

#[test]
fn lists_have_the_scores_of_each_translation_alone() {
    for (number, name) in MODELS.into_iter().enumerate() {
        let network = load(name);
        let mut random = SplitMix64::new(number as u64);
        let vocab = network.session().unwrap().vocab_size() as u64;
        let sources: Vec<Vec<u32>> = (0..3)
            .map(|_| {
                (0..2 + random.next_u64() % 6).map(|_| (random.next_u64() % 20) as u32).collect()
            })
            .collect();
        let sources: Vec<&[u32]> = sources.iter().map(|ids| &ids[..]).collect();
        // More translations than are decoded side by side; their sources are in any order.
        let sequences = random_sequences(&mut random, 700, vocab);
        let targets: Vec<Target> = sequences
            .iter()
            .map(|tokens| Target { source_index: random.next_u64() as usize % 3, tokens })
            .collect();
        let together = score(&network, &sources, &targets, false);
        let with_alignments = score(&network, &sources, &targets[..40], true);
        let mut scorer = network.scorer().unwrap();
        for (at, target) in targets.iter().enumerate() {
            let source = sources[target.source_index];
            assert_eq!(together[at].token_scores.len(), target.tokens.len(), "{name}");
            if at < 40 {
                let own = Target { source_index: 0, ..*target };
                let alone = score(&network, &[source], &[own], true);
                assert_eq!(together[at].token_scores, alone[0].token_scores, "{name}");
                assert_eq!(with_alignments[at], alone[0], "{name}");
            }
            if at % 10 == 0 {
                let at_once = scorer.score(&[source], &[target.tokens]).unwrap();
                for (a, b) in together[at].token_scores.iter().zip(&at_once[0]) {
                    assert!((a - b).abs() <= 1e-3 * (1.0 + b.abs()), "{name}: {a} and {b}");
                }
            }
        }
        let kept = together.iter().filter(|found| found.sum() < 0.0).count();
        assert!(kept > 600, "{name}: only {kept} translations have a probability below 1");
    }
}

/// A translation that is too long has the reason in the place of its score; the others have the
/// scores that they have without it.
#[test]
fn texts_that_are_too_long_do_not_affect_other_scores() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy-neural");
    let mut bundle = ModelBundle::open(&path, None).unwrap();
    bundle.prepare_to_score();
    let options = TranslationOptions::for_bundle(&bundle, None);
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    let placement = options.placement(&tuner);
    let models = LoadedModels::new(&bundle, &options.weights, placement).unwrap();
    let long = b"casa ".repeat(60);
    for direction in [ScoringDirection::Forward, ScoringDirection::Reverse] {
        let limit = LengthLimit::error_above(30);
        let options = ListOptions { direction, limit, ..ListOptions::default() };
        let model = ListModel::new(models.clone(), options, true).unwrap();
        let mut scorer = model.scorer().unwrap();
        let source = b"the red house .";
        let good: [&[u8]; 2] = [b"la casa roja .", b"la casa"];
        let expected = scorer.score(&[TextList { source, translations: &good }]).unwrap();
        let translations = [&long, good[0], &long, good[1]];
        let found = scorer.score_each(TextList { source, translations: &translations }).unwrap();
        let scores: Vec<f32> = found.iter().flatten().copied().collect();
        assert_eq!(scores, expected[0], "{direction:?}");
        for refused in [&found[0], &found[2]] {
            let reason = refused.as_ref().unwrap_err();
            assert!(reason.contains("at most 30 are allowed"), "{reason}");
        }
        let found = scorer.score_each(TextList { source, translations: &translations[..1] });
        assert!(found.unwrap()[0].is_err(), "{direction:?}");
        let refused = scorer.score_each(TextList { source: &long, translations: &good });
        let error = refused.unwrap_err();
        assert!(matches!(error, ListError::Text { translation: None, .. }), "{error:?}");
    }
}
