//! Sessions over small random models: other rows do not change the numbers of a row, and a scorer
//! of whole sequences gives the same numbers as a session that computes step by step.

use std::path::Path;

use miriam_storage::random::SplitMix64;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::{Ensemble, HypothesisRow, Network, Session, Slot, TopK};
use crate::engine::MAX_GROUP_ROWS;
use crate::layer::recurrent::Speedups;
use miriam_nmt_models::architecture::{
    Activation, Architecture, AutoregressionConfig, AverageAttentionConfig, DecoderStart,
    EmbeddingConfig, Gelu, Model, PositionalEncodingKind, PreNormKeys, ProcessStep, ProcessSteps,
    RecurrentSublayerConfig, RelativeBiasConfig, SruKind, TransformerConfig,
    TransformerStackConfig,
};
use miriam_nmt_models::packed::Precision;

const VOCAB_SIZE: usize = 300;

/// Random numbers, the same for the same seed.
struct TestRng(SplitMix64);

impl TestRng {
    fn below(&mut self, limit: usize) -> usize {
        (self.0.next_u64() % limit as u64) as usize
    }

    /// Returns a number between -1 and 1.
    fn float(&mut self) -> f32 {
        2.0 * self.0.next_f32() - 1.0
    }

    fn sentence(&mut self, most: usize) -> Vec<u32> {
        let mut words: Vec<u32> =
            (0..self.below(most)).map(|_| 2 + self.below(VOCAB_SIZE - 2) as u32).collect();
        words.push(0);
        words
    }
}

/// Returns a model with usual initial values: Glorot's ranges, scales near 1.
fn random_model(shape: TransformerConfig, seed: u64) -> Model {
    let mut numbers = TestRng(SplitMix64::new(seed));
    Model::with_values(Architecture::Transformer(shape), |parameter| {
        let [rows, columns] = parameter.shape;
        let (middle, range) = match &parameter.name[..] {
            name if name.contains("scale") || name.contains("gamma") => (1.0, 0.2),
            name if name.contains("emb") => (0.0, (3.0 / columns as f32).sqrt()),
            _ if rows == 1 => (0.0, 0.1),
            _ => (0.0, (6.0 / (rows + columns) as f32).sqrt()),
        };
        (0..rows * columns).map(|_| middle + range * numbers.float()).collect()
    })
    .unwrap()
}

fn random_network(shape: TransformerConfig, seed: u64, precision: Precision) -> Network {
    Network::load(&random_model(shape, seed), Path::new("random"), precision).unwrap()
}

/// Returns the configuration whose steps compute what the scorer of `shape` computes: Marian's
/// search normalises the keys of the first step only, and its scorer normalises all keys.
fn as_scored(mut shape: TransformerConfig) -> TransformerConfig {
    if shape.pre_norm_keys == PreNormKeys::NormalizedAtFirstStep {
        shape.pre_norm_keys = PreNormKeys::Normalized;
    }
    shape
}

fn base_config() -> TransformerConfig {
    let stack = TransformerStackConfig { depth: 2, heads: 4, ffn_width: 48, ffn_depth: 2 };
    TransformerConfig {
        embeddings: EmbeddingConfig {
            source_vocab_size: VOCAB_SIZE,
            target_vocab_size: VOCAB_SIZE,
            dim: 32,
            shared: true,
            tied_output: true,
            output_bias: true,
            right_to_left: false,
            suppress_tokens: Vec::new(),
        },
        encoder: stack.clone(),
        decoder: stack,
        tied_layers: vec![1, 2],
        activation: Activation::Relu,
        preprocess: ProcessSteps::default(),
        postprocess: ProcessSteps(vec![ProcessStep::Add, ProcessStep::Norm]),
        postprocess_embedding: ProcessSteps::default(),
        postprocess_top: ProcessSteps::default(),
        has_output_projection: true,
        autoregression: AutoregressionConfig::SelfAttention,
        positional_encoding: PositionalEncodingKind::SinusoidalMarian,
        scales_embeddings: true,
        decoder_start: DecoderStart::ZeroEmbedding,
        pre_norm_keys: PreNormKeys::Normalized,
        alignment_layer: 2,
        alignment_heads: 1,
        norm_epsilon: 1e-6,
    }
}

/// Architectures with any combination of switches.
fn any_config() -> impl Strategy<Value = TransformerConfig> {
    let process = prop::sample::select(vec![
        (vec![], vec![ProcessStep::Add, ProcessStep::Norm], vec![]),
        (vec![ProcessStep::Norm], vec![ProcessStep::Add], vec![ProcessStep::Norm]),
        (
            vec![ProcessStep::Norm],
            vec![ProcessStep::Add, ProcessStep::Norm],
            vec![ProcessStep::Add, ProcessStep::Norm],
        ),
        (vec![], vec![ProcessStep::Norm, ProcessStep::Add], vec![ProcessStep::Norm]),
        (vec![], vec![ProcessStep::Norm], vec![]),
    ]);
    let average = (1usize..4, prop::sample::select(vec![24usize, 32]), any::<bool>());
    let autoregression = prop_oneof![
        3 => Just(AutoregressionConfig::SelfAttention),
        2 => average.prop_map(|(ffn_depth, ffn_width, gate)| {
            let activation = Activation::Swish;
            AutoregressionConfig::AverageAttention(AverageAttentionConfig { ffn_depth, ffn_width, activation, has_gate: gate })
        }),
        2 => (any::<bool>(), any::<bool>(), any::<bool>()).prop_map(|(sru, projection, layer_norm)| {
            let cell = if sru { SruKind::Sru } else { SruKind::Ssru };
            AutoregressionConfig::Recurrent(RecurrentSublayerConfig { kind: cell, has_output_projection: projection, has_layer_norm: layer_norm })
        }),
    ];
    let keys = prop::sample::select(vec![
        PreNormKeys::Raw,
        PreNormKeys::NormalizedAtFirstStep,
        PreNormKeys::Normalized,
    ]);
    let activation = prop::sample::select(vec![
        Activation::Relu,
        Activation::Swish,
        Activation::Gelu(Gelu::Exact),
        Activation::Gelu(Gelu::Sigmoid),
        Activation::Gelu(Gelu::Tanh),
        Activation::GatedRelu,
        Activation::GatedGelu(Gelu::Exact),
    ]);
    let positions = prop::sample::select(vec![
        PositionalEncodingKind::None,
        PositionalEncodingKind::SinusoidalMarian,
        PositionalEncodingKind::Sinusoidal,
        PositionalEncodingKind::Table { length: 9 },
        PositionalEncodingKind::SinusoidalFromOne,
        PositionalEncodingKind::SinusoidalFromTwo,
        PositionalEncodingKind::RelativeVectors { max_distance: 3 },
        PositionalEncodingKind::RelativeBias(RelativeBiasConfig {
            buckets: 8,
            max_distance: 11,
            head_dim: 5,
        }),
    ]);
    let flags = any::<[bool; 8]>();
    let numbers = (1usize..4, prop::sample::select(vec![0usize, 2, 2, 2]));
    (process, autoregression, keys, activation, positions, flags, numbers).prop_map(
        |(
            (before, after, top),
            autoregression,
            pre_norm_keys,
            activation,
            positions,
            flags,
            (ffn, encoder_depth),
        )| {
            let [shared, tied_output, bias, tied, projection, token, norm_embeddings, rms] = flags;
            let mut shape = base_config();
            shape.embeddings.shared = shared;
            shape.embeddings.tied_output = tied_output;
            shape.embeddings.output_bias = bias;
            // Without layers of the encoder, it is a language model.
            shape.encoder.depth = encoder_depth;
            shape.decoder.depth = 3;
            shape.decoder.ffn_depth = 1 + ffn;
            shape.encoder.heads = 2;
            shape.tied_layers = if tied { vec![1, 1, 3] } else { vec![1, 2, 3] };
            shape.alignment_layer = 3;
            shape.alignment_heads = if tied { shape.decoder.heads as u32 } else { 1 };
            shape.preprocess = ProcessSteps(before);
            shape.postprocess = ProcessSteps(after);
            shape.postprocess_top = ProcessSteps(top);
            if norm_embeddings {
                shape.postprocess_embedding = ProcessSteps(vec![ProcessStep::Norm]);
            }
            if rms {
                let steps = [
                    &mut shape.preprocess,
                    &mut shape.postprocess,
                    &mut shape.postprocess_embedding,
                    &mut shape.postprocess_top,
                ];
                let norms = steps.into_iter().flat_map(|steps| &mut steps.0);
                norms
                    .filter(|step| **step == ProcessStep::Norm)
                    .for_each(|step| *step = ProcessStep::RmsNorm);
            }
            if activation.is_gated() {
                shape.decoder.ffn_depth = 2;
            }
            let has_own_width = matches!(positions, PositionalEncodingKind::RelativeBias(_));
            shape.has_output_projection = projection || has_own_width;
            shape.decoder_start =
                if token { DecoderStart::Token(7) } else { DecoderStart::ZeroEmbedding };
            TransformerConfig {
                activation,
                autoregression,
                positional_encoding: positions,
                pre_norm_keys,
                ..shape
            }
        },
    )
}

/// Returns the log-probabilities of the words of `target`, computed alone and step by step.
fn step_by_step(session: &mut dyn Session, source: &[u32], target: &[u32]) -> Vec<f32> {
    let slot = session.begin(&[source], None).unwrap()[0];
    let (mut best, mut logit) = ([TopK::new(3, true)], Vec::new());
    let words = [None].into_iter().chain(target.iter().map(|&word| Some(word)));
    let scores = words.zip(target).enumerate().map(|(step, (word, &next))| {
        session
            .step(&[HypothesisRow { slot, parent: (step > 0).then_some(0), token: word }])
            .unwrap();
        session.topk(&mut best).unwrap();
        session.token_logits(&[(0, next)], &mut logit).unwrap();
        logit[0] - best[0].log_normalizer()
    });
    let scores = scores.collect();
    session.finish(slot);
    scores
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn forward_equals_steps(shape in any_config(), seed: u64) {
        let network = random_network(shape.clone(), seed, Precision::F32);
        let mut numbers = TestRng(SplitMix64::new(seed));
        let pairs: Vec<[Vec<u32>; 2]> =
            (0..4).map(|_| [numbers.sentence(14), numbers.sentence(14)]).collect();
        let sources: Vec<&[u32]> = pairs.iter().map(|[source, _]| &source[..]).collect();
        let targets: Vec<&[u32]> = pairs.iter().map(|[_, target]| &target[..]).collect();
        let scores = network.scorer().unwrap().score(&sources, &targets).unwrap();
        let stepwise = random_network(as_scored(shape), seed, Precision::F32);
        let mut session = stepwise.session().unwrap();
        for ([source, target], scores) in pairs.iter().zip(scores) {
            for (found, expected) in scores.iter().zip(step_by_step(session.as_mut(), source, target)) {
                prop_assert!((found - expected).abs() < 2e-4, "{found}, not {expected}");
            }
        }
    }

    /// Whatever the architecture, the engine computes what the reference backend computes.
    #[test]
    fn the_engine_follows_the_reference(shape in any_config(), seed: u64) {
        let mut numbers = TestRng(SplitMix64::new(seed));
        let sentences: Vec<Vec<u32>> = (0..4).map(|_| numbers.sentence(14)).collect();
        let sentences: Vec<&[u32]> = sentences.iter().map(|sentence| &sentence[..]).collect();
        let (sources, targets) = sentences.split_at(2);
        let path = Path::new("random");
        let model = random_model(as_scored(shape.clone()), seed);
        let stepwise = Network::load_reference(&model, path, &Speedups::default()).unwrap();
        let model = random_model(shape, seed);
        let reference = Network::load_reference(&model, path, &Speedups::default()).unwrap();
        let engine = Network::load(&model, path, Precision::F32).unwrap();
        let expected = reference.scorer().unwrap().score(sources, targets).unwrap();
        let found = engine.scorer().unwrap().score(sources, targets).unwrap();
        let mut session = stepwise.session().unwrap();
        for (at, (found, expected)) in found.iter().zip(&expected).enumerate() {
            let stepwise = step_by_step(session.as_mut(), sources[at], targets[at]);
            for ((found, expected), stepwise) in found.iter().zip(expected).zip(stepwise) {
                prop_assert!((found - expected).abs() < 2e-4, "{found}, not {expected}");
                prop_assert!((stepwise - expected).abs() < 2e-6, "{stepwise}, not {expected}");
            }
        }
    }

    /// A few sentences in one session begin at different steps, branch and lose rows. Their results
    /// have the same bits as in a session of one sentence. `token_logits` and `log_probabilities`
    /// agree with `topk`.
    #[test]
    fn batch_mates_do_not_change_results(
        shape in any_config(),
        seed: u64,
        precision in prop::sample::select(Precision::FOR_ANY_MODEL.to_vec()),
        candidates: bool,
    ) {
        let has_source = shape.has_source();
        let network = random_network(shape, seed, precision);
        let mut numbers = TestRng(SplitMix64::new(seed));
        let sources: Vec<Vec<u32>> = (0..4).map(|_| numbers.sentence(20)).collect();
        let lists: Vec<Vec<u32>> = (0..4)
            .map(|_| (0..VOCAB_SIZE as u32).filter(|_| numbers.below(4) == 0).collect())
            .collect();
        let mut session = network.session().unwrap();
        session.keep_alignments(true);
        // For each row of the previous step, its sentence and its words.
        let mut rows: Vec<(usize, Vec<u32>)> = Vec::new();
        let mut slots: Vec<Option<Slot>> = vec![None; sources.len()];
        let mut seen = Vec::new();
        for step in 0..40 {
            let mut next: Vec<(usize, Option<u32>, Vec<u32>)> = Vec::new();
            for sentence in 0..sources.len() {
                if step == 7 * sentence {
                    let lists = [&lists[sentence][..]];
                    let list = candidates.then_some(&lists[..]);
                    slots[sentence] = Some(session.begin(&[&sources[sentence]], list).unwrap()[0]);
                    next.push((sentence, None, Vec::new()));
                    continue;
                }
                let mine: Vec<usize> =
                    (0..rows.len()).filter(|&row| rows[row].0 == sentence).collect();
                if mine.is_empty() {
                    continue;
                }
                if step == 7 * sentence + 15 {
                    session.finish(slots[sentence].unwrap());
                    continue;
                }
                for _ in 0..1 + numbers.below(4) {
                    let parent = mine[numbers.below(mine.len())];
                    let mut words = rows[parent].1.clone();
                    words.push(numbers.below(VOCAB_SIZE) as u32);
                    next.push((sentence, Some(parent as u32), words));
                }
            }
            let step: Vec<HypothesisRow> = next
                .iter()
                .map(|(sentence, parent, words)| HypothesisRow {
                    slot: slots[*sentence].unwrap(),
                    parent: *parent,
                    token: words.last().copied(),
                })
                .collect();
            session.step(&step).unwrap();
            let mut best = vec![TopK::new(4, true); step.len()];
            session.topk(&mut best).unwrap();
            rows = next.into_iter().map(|(sentence, _, words)| (sentence, words)).collect();
            for (row, best) in best.into_iter().enumerate() {
                let attention = session.alignment(row as u32).to_vec();
                seen.push((rows[row].clone(), best, attention, row as u32));
            }
            if let Some(((sentence, _), best, ..)) = seen.last()
                && !rows.is_empty()
            {
                let row = rows.len() as u32 - 1;
                let wanted: Vec<(u32, u32)> =
                    best.candidates().iter().map(|candidate| (row, candidate.id)).collect();
                let (mut logits, mut all) = (Vec::new(), Vec::new());
                session.token_logits(&wanted, &mut logits).unwrap();
                session.log_probabilities(row, &mut all).unwrap();
                let expected: Vec<f32> = best.candidates().iter().map(|c| c.logit).collect();
                prop_assert_eq!(&logits, &expected);
                for candidate in best.candidates() {
                    let score = candidate.logit - best.log_normalizer();
                    prop_assert_eq!(all[candidate.id as usize], score);
                }
                let open = all.iter().filter(|score| **score > f32::NEG_INFINITY).count();
                prop_assert_eq!(open, if candidates { lists[*sentence].len() } else { VOCAB_SIZE });
                let sum: f32 = all.iter().map(|score| score.exp()).sum();
                prop_assert!((sum - 1.0).abs() < 1e-3);
            }
        }
        // Some of the hypotheses, each alone.
        let mut alone = network.session().unwrap();
        alone.keep_alignments(true);
        for ((sentence, words), best, attention, _) in seen.iter().step_by(11) {
            let lists = [&lists[*sentence][..]];
            let list = candidates.then_some(&lists[..]);
            let slot = alone.begin(&[&sources[*sentence]], list).unwrap()[0];
            let mut parent = None;
            for word in [None].into_iter().chain(words.iter().map(|&word| Some(word))) {
                alone.step(&[HypothesisRow { slot, parent, token: word }]).unwrap();
                parent = Some(0);
            }
            let mut own = [TopK::new(4, true)];
            alone.topk(&mut own).unwrap();
            prop_assert_eq!(own[0].candidates(), best.candidates());
            prop_assert_eq!(own[0].log_normalizer().to_bits(), best.log_normalizer().to_bits());
            prop_assert_eq!(alone.alignment(0), &attention[..]);
            if has_source {
                let sum: f32 = attention.iter().sum();
                prop_assert_eq!(attention.len(), sources[*sentence].len());
                prop_assert!((sum - 1.0).abs() < 1e-4);
            } else {
                prop_assert!(attention.is_empty());
            }
            alone.finish(slot);
        }
    }
}

/// Integer precisions change the scores of words little. The limits are for the largest change by a
/// random model: one limit for half of the models, one for all. The models are the same in every
/// run, since about one in 400 has a word with a larger change.
#[test]
fn quantized_scores_are_close() {
    let mut runner = TestRunner::deterministic();
    let precisions = [Precision::I16, Precision::I8];
    let mut errors = precisions.map(|_| Vec::new());
    for seed in 400..448 {
        let shape = any_config().new_tree(&mut runner).unwrap().current();
        let mut numbers = TestRng(SplitMix64::new(seed));
        let (source, target) = (numbers.sentence(14), numbers.sentence(14));
        let score = |precision| {
            let network = random_network(shape.clone(), seed, precision);
            network.scorer().unwrap().score(&[&source], &[&target]).unwrap().remove(0)
        };
        let exact = score(Precision::F32);
        for (precision, errors) in precisions.into_iter().zip(&mut errors) {
            let found = score(precision);
            let words = found.iter().zip(&exact).map(|(found, exact)| (found - exact).abs());
            errors.push(words.fold(0.0, f32::max));
        }
    }
    for (errors, [half_limit, full_limit]) in errors.iter_mut().zip([[3e-4, 1e-2], [0.03, 0.2]]) {
        errors.sort_by(f32::total_cmp);
        assert!(errors[24] < half_limit && errors[47] < full_limit, "{errors:?}");
    }
}

/// A batch that passes through the layers in several groups, one of them a single long sentence,
/// gives each sentence the bits that it gets alone.
#[test]
fn large_batches_give_the_bits_of_single_sentences() {
    for precision in Precision::FOR_ANY_MODEL {
        let network = random_network(base_config(), 7, precision);
        let mut numbers = TestRng(SplitMix64::new(7));
        let mut sources: Vec<Vec<u32>> = (0..30).map(|_| numbers.sentence(30)).collect();
        sources[11] = (0..MAX_GROUP_ROWS + 72).map(|_| numbers.below(VOCAB_SIZE) as u32).collect();
        let mut targets: Vec<Vec<u32>> = (0..30).map(|_| numbers.sentence(30)).collect();
        targets[19] = (0..MAX_GROUP_ROWS + 72).map(|_| numbers.below(VOCAB_SIZE) as u32).collect();
        for sentences in [&sources, &targets] {
            assert!(sentences.concat().len() > 3 * MAX_GROUP_ROWS, "several groups");
        }
        let sources: Vec<&[u32]> = sources.iter().map(|ids| &ids[..]).collect();
        let targets: Vec<&[u32]> = targets.iter().map(|ids| &ids[..]).collect();
        let mut scorer = network.scorer().unwrap();
        let together = scorer.score(&sources, &targets).unwrap();
        for (at, together) in together.iter().enumerate() {
            let alone = scorer.score(&sources[at..=at], &targets[at..=at]).unwrap();
            assert_eq!(&alone[0], together, "pair {at}");
        }
        let translation = [2, 3, 5, 7, 0];
        let logits = |session: &mut dyn Session, slot: Slot| -> Vec<u32> {
            let steps = translation.iter().enumerate().map(|(step, _)| {
                let first = step == 0;
                let parent = (!first).then_some(0);
                let token = (!first).then(|| translation[step - 1]);
                session.step(&[HypothesisRow { slot, parent, token }]).unwrap();
                let mut logits = Vec::new();
                session.token_logits(&[(0, translation[step])], &mut logits).unwrap();
                logits[0].to_bits()
            });
            steps.collect()
        };
        let mut session = network.session().unwrap();
        let slots = session.begin(&sources, None).unwrap();
        for (at, &slot) in slots.iter().enumerate() {
            let together = logits(session.as_mut(), slot);
            let mut alone = network.session().unwrap();
            let slot = alone.begin(&sources[at..=at], None).unwrap()[0];
            assert_eq!(logits(alone.as_mut(), slot), together, "sentence {at}");
        }
    }
}

/// The length of inputs has no limit but memory: entries of dropped hypotheses do not accumulate in
/// the caches.
#[test]
fn two_thousand_tokens_are_read_and_written() {
    let network = random_network(base_config(), 5, Precision::I8);
    let mut numbers = TestRng(SplitMix64::new(5));
    let source: Vec<u32> = (0..2000).map(|_| numbers.below(VOCAB_SIZE) as u32).collect();
    let mut session = network.session().unwrap();
    let slot = session.begin(&[&source], None).unwrap()[0];
    let mut best = [TopK::new(2, false), TopK::new(2, false)];
    for step in 0..2000 {
        let word = (step > 0).then(|| numbers.below(VOCAB_SIZE) as u32);
        let row =
            HypothesisRow { slot, parent: (step > 0).then_some(step as u32 % 2), token: word };
        session.step(&[row, row]).unwrap();
    }
    session.topk(&mut best).unwrap();
    assert_eq!(best[0].candidates(), best[1].candidates());
    assert_eq!(best[0].candidates().len(), 2);
}

/// The score of each word is bit-identical to the weighted sum of the models' own scores, whichever
/// rows are computed together.
#[test]
fn ensemble_scores_are_weighted_sums() {
    let weights = [0.75, -0.5];
    let networks = [1, 2].map(|seed| random_network(base_config(), seed, Precision::F32));
    let mut numbers = TestRng(SplitMix64::new(7));
    let sources: Vec<Vec<u32>> = (0..3).map(|_| numbers.sentence(9)).collect();
    let sources: Vec<&[u32]> = sources.iter().map(|source| &source[..]).collect();
    let lists = [3, 7, 2].map(|by| (0..VOCAB_SIZE as u32).step_by(by).collect::<Vec<u32>>());
    let lists: Vec<&[u32]> = lists.iter().map(|list| &list[..]).collect();
    for candidates in [None, Some(&lists[..])] {
        let mut alone: Vec<_> = networks.iter().map(|network| network.session().unwrap()).collect();
        let members = networks.iter().map(|network| network.session().unwrap()).collect();
        let mut together = Ensemble::new(members, Some(&weights)).unwrap();
        let slots: Vec<Slot> = together.begin(&sources, candidates).unwrap();
        for session in &mut alone {
            assert_eq!(session.begin(&sources, candidates).unwrap(), slots);
        }
        let first = slots.iter().map(|&slot| HypothesisRow { slot, parent: None, token: None });
        // More rows than are summed at once.
        let second = (0..120).map(|row| HypothesisRow {
            slot: slots[row / 40],
            parent: Some(row as u32 / 40),
            token: Some(numbers.below(VOCAB_SIZE) as u32),
        });
        for rows in [first.collect::<Vec<HypothesisRow>>(), second.collect()] {
            together.step(&rows).unwrap();
            alone.iter_mut().for_each(|session| session.step(&rows).unwrap());
            let mut best = vec![TopK::new(3, true); rows.len()];
            let (mut logits, mut votes, mut own) = (Vec::new(), Vec::new(), Vec::new());
            let wanted: Vec<(u32, u32)> =
                (0..rows.len() as u32).flat_map(|row| [(row, 6), (row, 11 + row)]).collect();
            // `token_logits` gives the same before `topk` and after it.
            together.token_logits(&wanted, &mut logits).unwrap();
            let before = logits.clone();
            together.topk(&mut best).unwrap();
            together.token_logits(&wanted, &mut logits).unwrap();
            assert_eq!(logits, before);
            for (row, best) in best.iter().enumerate() {
                let mut expected = vec![0.0f32; VOCAB_SIZE];
                for (session, weight) in alone.iter_mut().zip(weights) {
                    session.log_probabilities(row as u32, &mut own).unwrap();
                    for (sum, &score) in expected.iter_mut().zip(&own) {
                        *sum += if score.is_finite() { weight * score } else { score };
                    }
                }
                together.log_probabilities(row as u32, &mut votes).unwrap();
                assert_eq!(votes, expected);
                let mut order: Vec<u32> = (0..VOCAB_SIZE as u32).collect();
                order.sort_by(|&a, &b| expected[b as usize].total_cmp(&expected[a as usize]));
                let found: Vec<u32> = best.candidates().iter().map(|found| found.id).collect();
                assert_eq!(found, order[..3]);
                assert_eq!(best.candidates()[0].logit, expected[found[0] as usize]);
                assert_eq!(best.log_normalizer(), 0.0);
                for (at, word) in [(2 * row, 6), (2 * row + 1, 11 + row)] {
                    assert_eq!(logits[at], expected[word]);
                }
            }
        }
    }
}

#[test]
fn out_of_vocabulary_ids_are_rejected() {
    let network = random_network(base_config(), 1, Precision::F32);
    let mut session = network.session().unwrap();
    let error = session.begin(&[&[5, 300, 0]], None).err().unwrap().to_string();
    assert!(error.contains("300 words, word 300 is out of range"), "{error}");
    assert!(session.begin(&[&[5, 0]], Some(&[&[1, 301]])).is_err());
    assert!(network.scorer().unwrap().score(&[&[5, 0]], &[&[900]]).is_err());
    // An empty sentence is only `</s>`; it is allowed even without `</s>`.
    let slots = session.begin(&[&[0], &[]], None).unwrap();
    let rows: Vec<HypothesisRow> =
        slots.iter().map(|&slot| HypothesisRow { slot, parent: None, token: None }).collect();
    session.step(&rows).unwrap();
    let mut best = [TopK::new(1, true), TopK::new(1, true)];
    session.topk(&mut best).unwrap();
    assert!(best.iter().all(|best| best.candidates()[0].logit.is_finite()));
}

/// Overflow is reported as NaN even in integer precisions, which have no NaN.
#[test]
fn overflow_scores_as_nan() {
    for gain in [f32::NAN, f32::INFINITY, 3e38] {
        let mut numbers = TestRng(SplitMix64::new(3));
        let shape = Architecture::Transformer(base_config());
        let model = Model::with_values(shape, |parameter| {
            let [rows, columns] = parameter.shape;
            let range = match rows {
                1 => 0.1,
                _ if parameter.name.ends_with("Wemb") => 1.0,
                inputs => gain * (3.0 / inputs as f32).sqrt(),
            };
            (0..rows * columns).map(|_| range * numbers.float()).collect()
        });
        let model = model.unwrap();
        for precision in Precision::FOR_ANY_MODEL {
            let network = Network::load(&model, Path::new("random"), precision).unwrap();
            let mut session = network.session().unwrap();
            let scores = step_by_step(session.as_mut(), &[5, 6, 0], &[7, 8, 0]);
            assert!(scores.iter().all(|x| x.is_nan()), "{gain} {precision:?}: {scores:?}");
        }
    }
}
