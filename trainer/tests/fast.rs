//! Tests that the fast kernels compute the gradients of the plain ones, up to rounding in f32.

use std::sync::Arc;

use miriam_kernels::Cpu;
use miriam_nmt::architecture::Architecture;
use miriam_trainer::dropout::Dropout;
use miriam_trainer::kernels::{Fast, Kernels, Plain};
use miriam_trainer::random::RandomStream;
use miriam_trainer::tape::{GuidedAlignment, LossOptions, PackedParameters};
use miriam_trainer::update::{
    ClipScope, MicroBatch, OptimizerKind, OptimizerState, SynchronousTrainer, UpdateOptions,
};
use miriam_trainer::{Parameter, ParameterLayout, Real, TrainableModel};

use crate::architectures::{all, random_sentences, random_values};
use crate::oracle::{MODELS, OracleModel, oracle_folder, oracle_pairs};

/// Returns sentence pairs of different lengths, with a word that occurs fifty times.
fn pairs(vocab: u32) -> [Vec<Vec<u32>>; 2] {
    let lengths: Vec<usize> = (0..8).map(|i| 1 + (i * 11) % 40).collect();
    let mut sources = random_sentences(&lengths, 3);
    let mut targets = random_sentences(&lengths.iter().rev().copied().collect::<Vec<_>>(), 4);
    sources.push([vec![5; 50], vec![0]].concat());
    targets.push([vec![6; 30], vec![0]].concat());
    for token in sources.iter_mut().chain(&mut targets).flatten() {
        *token %= vocab;
    }
    [sources, targets]
}

/// Returns the loss and the gradient of all parameters.
fn gradient<K: Kernels>(
    kernels: K,
    architecture: &Architecture,
    values: &[f32],
    pairs: &[Vec<Vec<u32>>; 2],
    dropout: Dropout,
) -> (f64, Vec<f64>) {
    let model = TrainableModel::<K>::new(architecture.clone()).unwrap_or_else(|e| panic!("{e}"));
    let mut tape = model.tape(kernels.clone());
    let values = values.iter().map(|&x| K::Real::of(x.into())).collect();
    let packed_parameters = Arc::new(PackedParameters::new(model.registry(), &kernels, values));
    let [sources, targets] =
        pairs.each_ref().map(|side| side.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let numbers: Vec<u32> = (0..sources.len() as u32).collect();
    // A second micro-batch must not depend on the first.
    for _ in 0..2 {
        tape.begin(&packed_parameters, dropout, &numbers);
        let links = vec![(0, 0, 1.0)];
        let links = vec![links; sources.len()];
        tape.guide_alignment(GuidedAlignment { weight: 0.1, links });
        let options = LossOptions { label_smoothing: 0.1, row_weights: None };
        model.loss(&mut tape, &sources, &targets, options).unwrap();
        tape.backward();
    }
    let loss = {
        tape.begin(&packed_parameters, dropout, &numbers);
        let options = LossOptions { label_smoothing: 0.1, row_weights: None };
        let loss = model.loss(&mut tape, &sources, &targets, options).unwrap().sum;
        tape.backward();
        loss
    };
    (loss, tape.parameter_gradient().iter().map(|g| g.as_f64()).collect())
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// Returns the values with relative changes of `f32::EPSILON`, up or down.
fn perturb(values: &[f32], seed: u32) -> Vec<f32> {
    let mut random = RandomStream::new([seed, 7], [0; 3]);
    let mut direction = || if random.next_below(2) == 0 { 1.0 } else { -1.0 };
    values.iter().map(|&x| x * (1.0 + direction() * f32::EPSILON)).collect()
}

/// Compares gradients tensor by tensor. The norm of their difference may be 2e-5 of the norm of the
/// tensor's gradient, or of a tenth of the model's usual norm. Small errors grow on their way
/// through the model. Therefore the norm may also be a few times the error of plain f32 kernels in
/// the same tensor, or the effect of the parameters' last bits.
fn compare(
    name: &str,
    architecture: &Architecture,
    values: &[f32],
    pairs: &[Vec<Vec<u32>>; 2],
    dropout: Dropout,
) {
    let plain = Plain::<f64>::default();
    let (loss, expected) = gradient(plain, architecture, values, pairs, dropout);
    let (single_loss, single) =
        gradient(Plain::<f32>::default(), architecture, values, pairs, dropout);
    let layout = ParameterLayout::new(architecture);
    let usual = norm(&expected) / (layout.len() as f64).sqrt();
    let error = |found: &[f64], parameter: &Parameter| {
        let pairs = found[parameter.range()].iter().zip(&expected[parameter.range()]);
        let difference: Vec<f64> = pairs.map(|(found, expected)| found - expected).collect();
        let least = 0.1 * usual * (parameter.len() as f64).sqrt();
        norm(&difference) / norm(&expected[parameter.range()]).max(least)
    };
    let perturbed = [1, 2].map(|seed| {
        let values = perturb(values, seed);
        gradient(Plain::<f64>::default(), architecture, &values, pairs, dropout).1
    });
    let rounding = |parameter: &Parameter| {
        let parameter_errors = perturbed.iter().map(|found| error(found, parameter));
        parameter_errors.fold(error(&single, parameter), f64::max)
    };
    for cpu in Cpu::all() {
        let (fast_loss, found) = gradient(Fast::new(cpu), architecture, values, pairs, dropout);
        let allowed = (1e-6 * loss).max(8.0 * (single_loss - loss).abs());
        assert!((fast_loss - loss).abs() <= allowed, "{name}: {fast_loss} {loss}");
        for parameter in layout.iter() {
            let allowed = (8.0 * rounding(parameter)).max(2e-5);
            let error = error(&found, parameter);
            assert!(
                error <= allowed,
                "{name}, {}: {} is off by {error:.2e}, at most {allowed:.2e}",
                cpu.name(),
                parameter.name
            );
        }
    }
}

#[test]
fn gradients_are_those_of_plain_kernels() {
    for (name, architecture) in all() {
        let layout = ParameterLayout::new(&architecture);
        let values = random_values(&layout, 2);
        // Learned positions are limited to six.
        let pairs = if name.contains("learned") {
            [vec![vec![2, 3, 0]], vec![vec![4, 0]]]
        } else {
            pairs(crate::architectures::VOCAB as u32)
        };
        let dropout = Dropout {
            transformer: 0.2,
            feed_forward: 0.1,
            attention: 0.1,
            key: [1, 7],
            ..Dropout::default()
        };
        compare(name, &architecture, &values, &pairs, Dropout::default());
        compare(name, &architecture, &values, &pairs, dropout);
    }
}

/// Compares parameters and the optimiser's state after some updates by different numbers of
/// workers.
#[test]
fn updates_do_not_depend_on_workers() {
    let kinds = [
        OptimizerKind::Sgd,
        OptimizerKind::Adagrad { epsilon: 1e-6 },
        OptimizerKind::Adam { beta1: 0.9, beta2: 0.98, epsilon: 1e-9, weight_decay: 0.01 },
    ];
    let architecture = Architecture::Transformer(crate::architectures::transformer());
    let values: Vec<f32> = random_values(&ParameterLayout::new(&architecture), 2);
    let [sources, targets] = pairs(crate::architectures::VOCAB as u32);
    let micro_batches: Vec<MicroBatch> = (0..sources.len())
        .map(|index| MicroBatch {
            numbers: vec![index as u32],
            sources: vec![&sources[index]],
            targets: vec![&targets[index]],
            ..MicroBatch::default()
        })
        .collect();
    for kind in kinds {
        let options = UpdateOptions {
            optimizer: kind,
            label_smoothing: 0.1,
            clip_norm: 1.0,
            clip_scope: ClipScope::default(),
            normalizes_gradient: false,
            skips_nan: false,
            smoothing: 1e-2,
            reference_words: 0,
        };
        let train = |workers| {
            let model = TrainableModel::<Fast>::new(architecture.clone()).unwrap();
            let state = OptimizerState::new(&options, &values);
            let (kernels, values) = (Fast::default(), values.clone());
            let mut trainer =
                SynchronousTrainer::new(model, kernels, options, values, state, workers);
            let dropout = Dropout { transformer: 0.2, key: [1, 7], ..Dropout::default() };
            for _ in 0..3 {
                trainer.update(&micro_batches, dropout, 0.01).unwrap();
            }
            (trainer.values().to_vec(), trainer.state().clone())
        };
        let alone = train(1);
        assert_ne!(alone.0, values);
        for workers in [2, 3, 5] {
            assert!(train(workers) == alone, "{kind:?}, {workers} workers");
        }
    }
}

#[test]
fn gradients_of_the_oracle_models_are_those_of_plain_kernels() {
    let Some(folder) = oracle_folder() else { return };
    let pairs = oracle_pairs(&folder, 8);
    for name in MODELS {
        let model = OracleModel::open(&folder, name);
        compare(name, &model.architecture, &model.values, &pairs, Dropout::default());
    }
}
