//! Tests of training with matrix products in integers or bf16. In integers the forward pass gives
//! the losses of the inference engine, and the gradient is computed as if nothing were rounded; in
//! bf16 losses and gradients are near those of f32.

use std::sync::Arc;

use miriam_nmt::architecture::Architecture;
use miriam_nmt::layer::recurrent::Speedups;
use miriam_nmt::network::Network;
use miriam_nmt::packed::Precision;
use miriam_trainer::dropout::Dropout;
use miriam_trainer::kernels::{Fast, IntegerPrecision, ProductPrecision};
use miriam_trainer::tape::{LossOptions, PackedParameters};
use miriam_trainer::training::build_model;
use miriam_trainer::{ParameterLayout, TrainableModel, initial_values};

use crate::architectures::{all, random_sentences, random_values};

/// Returns the loss of pairs and the gradient of all parameters.
fn loss_and_gradient(
    model: &TrainableModel<Fast>,
    values: &[f32],
    precision: ProductPrecision,
    [sources, targets]: [&[&[u32]]; 2],
) -> (f64, Vec<f32>) {
    let kernels = Fast::default().with_products(precision);
    let mut tape = model.tape(kernels.clone());
    let packed = PackedParameters::new(model.registry(), &kernels, values.to_vec());
    let numbers: Vec<u32> = (0..sources.len() as u32).collect();
    tape.begin(&Arc::new(packed), Dropout::default(), &numbers);
    let loss = model.loss(&mut tape, sources, targets, LossOptions::default()).unwrap();
    tape.backward();
    (loss.sum, tape.parameter_gradient().to_vec())
}

fn distance(a: &[f32], b: &[f32]) -> f64 {
    let square = |x: f64| x * x;
    let norm: f64 = b.iter().map(|&b| square(b.into())).sum();
    let difference: f64 = a.iter().zip(b).map(|(&a, &b)| square(f64::from(a) - f64::from(b))).sum();
    (difference / norm).sqrt()
}

/// In integers the loss equals the engine's loss in the same integers; the loss in f32 visibly
/// differs from that in eight bits for some architectures. The gradient with 16 bits is near that
/// in f32, and nearer than the gradient with eight bits, which is near in transformers only.
#[test]
fn results_are_those_of_decoding_in_integers() {
    let mut far = 0;
    for (name, architecture) in all() {
        let layout = ParameterLayout::new(&architecture);
        let values = initial_values(&architecture, 5, false);
        let trainable = TrainableModel::<Fast>::new(architecture.clone()).unwrap();
        let model = build_model(trainable.architecture(), &layout, &values).unwrap();
        let sources = random_sentences(&[3, 9, 14], 1);
        let targets = random_sentences(&[5, 2, 11], 2);
        let [sources, targets] = [&sources, &targets]
            .map(|side| side.iter().map(Vec::as_slice).collect::<Vec<&[u32]>>());
        let pairs = [&sources[..], &targets[..]];
        let (plain, gradient) =
            loss_and_gradient(&trainable, &values, ProductPrecision::F32, pairs);
        let mut distances = Vec::new();
        for (integers, precision) in
            [(IntegerPrecision::I16, Precision::I16), (IntegerPrecision::I8, Precision::I8)]
        {
            // Fast paths of recurrent models round sums at other places.
            let path = "model".as_ref();
            let network = Network::load_with(&model, path, precision, &Speedups::NONE).unwrap();
            let scores = network.scorer().unwrap().score(&sources, &targets).unwrap();
            let expected: f64 = scores.iter().flatten().map(|&score| -f64::from(score)).sum();
            let products = ProductPrecision::Integers(integers);
            let (loss, rounded) = loss_and_gradient(&trainable, &values, products, pairs);
            let error = (loss / expected - 1.0).abs();
            assert!(error < 1e-6, "{name} {integers:?}: {loss}, the engine has {expected}");
            if integers == IntegerPrecision::I8 {
                far += usize::from((plain / expected - 1.0).abs() > 1e-5);
            }
            distances.push(distance(&rounded, &gradient));
        }
        let [of_i16, of_i8] = distances[..] else { unreachable!("two precisions") };
        // In recurrent models with initial values, eight bits are mostly noise.
        let is_near = of_i8 < 0.3 || !matches!(architecture, Architecture::Transformer(_));
        assert!(of_i16 < 0.02 && of_i16 < of_i8 && is_near, "{name}: {distances:?}");
    }
    assert!(far >= 5, "the losses of only {far} architectures show the rounding to eight bits");
}

/// Runs on every CPU: one without instructions for bf16 computes the same products by other
/// instructions, more slowly.
#[test]
fn products_of_bf16_are_near_those_of_f32() {
    for (name, architecture) in all() {
        let values = random_values(&ParameterLayout::new(&architecture), 1);
        let trainable = TrainableModel::<Fast>::new(architecture).unwrap();
        let sources = random_sentences(&[3, 9, 14], 1);
        let targets = random_sentences(&[5, 2, 11], 2);
        let [sources, targets] = [&sources, &targets]
            .map(|side| side.iter().map(Vec::as_slice).collect::<Vec<&[u32]>>());
        let pairs = [&sources[..], &targets[..]];
        let [(expected, gradient), (loss, rounded)] =
            [ProductPrecision::F32, ProductPrecision::Bf16]
                .map(|precision| loss_and_gradient(&trainable, &values, precision, pairs));
        let (error, distance) = ((loss / expected - 1.0).abs(), distance(&rounded, &gradient));
        assert!(error < 1e-3 && loss != expected, "{name}: {loss}, in f32 {expected}");
        // Norms in recurrences enlarge the rounding step by step.
        let most = if name.starts_with("deep gru") { 0.15 } else { 0.02 };
        assert!(distance < most && distance > 1e-4, "{name}: gradients differ by {distance}");
    }
}
