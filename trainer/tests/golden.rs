//! Tests that losses, gradients and updates equal PyTorch's. `scripts/make_training_golden.py`
//! computed `golden/*.json` and documents their content.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use miriam_kernels::Cpu;
use miriam_trainer::dropout::Dropout;
use miriam_trainer::kernels::{Fast, Kernels, Plain};
use miriam_trainer::tape::{LossOptions, PackedParameters, Tape};
use miriam_trainer::training::{BaseRate, Progress, Schedule, ScheduleState, TrainingLength};
use miriam_trainer::update::{BiasCorrections, OptimizerKind, Shard, Step};
use miriam_trainer::{Parameter, Real, TrainableModel};
use serde::Deserialize;

use crate::oracle::{MODELS, OracleModel, oracle_folder, oracle_pairs};

/// The number of updates that any f64 implementation repeats. Later, rounding errors may be as
/// large as those of a mistake.
const REPEATABLE: usize = 50;

/// A file of the folder `golden`.
#[derive(Deserialize)]
struct Golden {
    /// The number of pairs of losses and gradients.
    pairs: usize,
    /// The loss without smoothing.
    loss: f64,
    /// The loss with smoothing.
    smoothed_loss: f64,
    /// The errors of PyTorch in f32.
    float32: Float32Errors,
    /// The gradient of the smoothed loss.
    gradient: BTreeMap<String, TensorGradient>,
    curve: Curve,
}

#[derive(Deserialize)]
struct Float32Errors {
    loss: f64,
    gradient: f64,
    element: f64,
    /// The largest error of a loss among the repeatable updates.
    early_curve: f64,
    /// The largest error of any loss.
    curve: f64,
}

#[derive(Deserialize)]
struct TensorGradient {
    norm: f64,
    sum: f64,
    elements: Vec<(usize, f64)>,
}

#[derive(Deserialize)]
struct Curve {
    /// The indices of its pairs.
    pairs: Vec<usize>,
    /// The factor of the initial matrices.
    matrix_scale: f32,
    /// The losses before each update and after the last.
    losses: Vec<f64>,
}

impl Golden {
    fn read(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let path = folder.join(format!("{name}.json"));
        let text = std::fs::read_to_string(&path);
        let text = text.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        serde_json::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }
}

/// A training run of a model with some kernels.
struct Training<K: Kernels> {
    model: TrainableModel<K>,
    kernels: K,
    tape: Tape<K>,
    values: Vec<K::Real>,
}

impl<K: Kernels> Training<K> {
    fn new(oracle: &OracleModel, kernels: K) -> Self {
        let model = TrainableModel::new(oracle.architecture.clone());
        let model = model.unwrap_or_else(|e| panic!("{e}"));
        let tape = model.tape(kernels.clone());
        let values = oracle.values.iter().map(|&x| K::Real::of(x.into())).collect();
        Training { model, kernels, tape, values }
    }

    /// Returns the loss, whose gradient is then on the tape.
    fn loss(&mut self, [sources, targets]: &[Vec<&[u32]>; 2], label_smoothing: f32) -> f64 {
        let packed_parameters =
            PackedParameters::new(self.model.registry(), &self.kernels, self.values.clone());
        let numbers: Vec<u32> = (0..sources.len() as u32).collect();
        self.tape.begin(&Arc::new(packed_parameters), Dropout::default(), &numbers);
        let options = LossOptions { label_smoothing, row_weights: None };
        let loss = self.model.loss(&mut self.tape, sources, targets, options);
        let loss = loss.unwrap_or_else(|e| panic!("{e}")).sum;
        self.tape.backward();
        loss
    }

    fn gradient(&self) -> Vec<f64> {
        self.tape.parameter_gradient().iter().map(|g| g.as_f64()).collect()
    }

    /// Returns the smoothed loss before each of `updates` updates and after the last.
    fn curve(&mut self, pairs: &[Vec<&[u32]>; 2], updates: usize) -> Vec<f64> {
        let schedule = Schedule {
            rate: BaseRate::Constant(1e-3),
            warmup: TrainingLength::from_updates(20),
            inverse_sqrt: Some((
                TrainingLength::from_updates(20),
                TrainingLength::from_updates(20),
            )),
            ..Schedule::default()
        };
        let state = ScheduleState::default();
        let kind = OptimizerKind::default();
        let mut first = vec![K::Real::ZERO; self.values.len()];
        let mut second = first.clone();
        let mut bias_corrections = BiasCorrections::default();
        let mut losses = Vec::with_capacity(updates + 1);
        for update in 0..updates as u64 {
            losses.push(self.loss(pairs, 0.1));
            bias_corrections = bias_corrections.advanced(0.9, 0.999);
            let progress = Progress { updates: update, labels: 0, epoch: 1 };
            let step = Step {
                kind,
                rate: schedule.rate_at(&state, &progress),
                // Clipped to 1.
                gradient_scale: norm(&self.gradient()).max(1.0).recip(),
                bias_corrections,
                smoothing: None,
            };
            step.apply(Shard {
                values: &mut self.values,
                gradient: self.tape.parameter_gradient(),
                first: &mut first,
                second: &mut second,
                average: &mut [],
            });
        }
        losses.push(self.loss(pairs, 0.1));
        losses
    }
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn assert_near(what: &str, found: f64, expected: f64, allowed: f64) {
    let error = (found - expected).abs();
    assert!(error <= allowed, "{what}: {found} for {expected}, off by {error:.2e} > {allowed:.2e}");
}

/// The allowed errors of gradients, relative to the root mean square of a tensor's gradient.
struct Tolerance {
    /// The error of a whole tensor.
    tensor: f64,
    /// The error of an element.
    element: f64,
    /// The minimum size of a tensor's gradient, as a share of the usual size; smaller ones count as
    /// this large. Some gradients are 0 except for rounding, such as that of a bias of keys, which
    /// adds the same to all scores.
    least: f64,
}

/// Compares the gradient of each tensor with the file.
fn compare_gradients(name: &str, gradient: &[f64], oracle: &OracleModel, tolerance: &Tolerance) {
    let golden = Golden::read(name).gradient;
    let layout = &oracle.layout;
    let count: usize = layout.iter().map(Parameter::len).sum();
    let usual = norm(gradient) / (count as f64).sqrt();
    for tensor in golden.keys() {
        assert!(layout.get(tensor).is_some(), "{name}: {tensor} is not a parameter");
    }
    for parameter in layout.iter() {
        let found = &gradient[parameter.range()];
        let what = |of: &str| format!("{name}, {of} of the gradient of {}", parameter.name);
        let Some(expected) = golden.get(&parameter.name) else {
            assert!(found.iter().all(|&g| g == 0.0), "{name}: {} is not used", parameter.name);
            continue;
        };
        let root = (parameter.len() as f64).sqrt();
        let mean = (expected.norm / root).max(tolerance.least * usual);
        let allowed = tolerance.tensor * mean;
        assert_near(&what("norm"), norm(found), expected.norm, allowed * root);
        assert_near(&what("sum"), found.iter().sum(), expected.sum, allowed * root * root);
        let allowed = tolerance.element * mean;
        for &(place, expected) in &expected.elements {
            assert_near(&what(&format!("element {place}")), found[place], expected, allowed);
        }
    }
}

fn borrowed(pairs: &[Vec<Vec<u32>>; 2]) -> [Vec<&[u32]>; 2] {
    pairs.each_ref().map(|side| side.iter().map(Vec::as_slice).collect())
}

/// Calls `check` for each model, with its pairs.
fn for_each_model(check: impl Fn(&str, &Golden, OracleModel, &[Vec<&[u32]>; 2])) {
    let Some(folder) = oracle_folder() else { return };
    for name in MODELS {
        let golden = Golden::read(name);
        let pairs = oracle_pairs(&folder, golden.pairs);
        check(name, &golden, OracleModel::open(&folder, name), &borrowed(&pairs));
    }
}

/// Calls `check` for each model at the start of the curve, with the curve's pairs.
fn for_each_curve(check: impl Fn(&str, &Golden, OracleModel, &[Vec<&[u32]>; 2])) {
    for_each_model(|name, golden, mut oracle, pairs| {
        let matrices: Vec<Parameter> =
            oracle.layout.iter().filter(|parameter| parameter.shape[0] > 1).cloned().collect();
        for matrix in matrices {
            let values = &mut oracle.values[matrix.range()];
            values.iter_mut().for_each(|x| *x *= golden.curve.matrix_scale);
        }
        let chosen = golden.curve.pairs.iter();
        let pairs = pairs.each_ref().map(|side| chosen.clone().map(|&i| side[i]).collect());
        check(name, golden, oracle, &pairs);
    });
}

#[test]
fn the_reference_gives_the_losses_and_gradients_of_pytorch() {
    for_each_model(|name, golden, oracle, pairs| {
        let mut training = Training::new(&oracle, Plain::<f64>::default());
        let loss = training.loss(pairs, 0.0);
        assert_near(&format!("{name}, loss"), loss, golden.loss, 1e-10 * golden.loss);
        let (loss, expected) = (training.loss(pairs, 0.1), golden.smoothed_loss);
        assert_near(&format!("{name}, smoothed loss"), loss, expected, 1e-10 * expected);
        let tolerance = Tolerance { tensor: 1e-9, element: 1e-9, least: 1e-3 };
        compare_gradients(name, &training.gradient(), &oracle, &tolerance);
    });
}

#[test]
fn training_kernels_give_the_losses_and_gradients_of_pytorch() {
    for_each_model(|name, golden, oracle, pairs| {
        for cpu in Cpu::all() {
            let mut training = Training::new(&oracle, Fast::new(cpu));
            let allowed = (8.0 * golden.float32.loss).max(1e-6) * golden.loss;
            let loss = training.loss(pairs, 0.0);
            let name_of_cpu = format!("{name}, {}", cpu.name());
            assert_near(&name_of_cpu, loss, golden.loss, allowed);
            assert_near(&name_of_cpu, training.loss(pairs, 0.1), golden.smoothed_loss, allowed);
            let tolerance = Tolerance {
                tensor: (8.0 * golden.float32.gradient).max(1e-4),
                element: (8.0 * golden.float32.element).max(1e-4),
                least: 0.1,
            };
            compare_gradients(name, &training.gradient(), &oracle, &tolerance);
        }
    });
}

#[test]
fn updates_of_the_reference_are_those_of_pytorch() {
    for_each_curve(|name, golden, oracle, pairs| {
        let mut training = Training::new(&oracle, Plain::<f64>::default());
        let losses = training.curve(pairs, REPEATABLE);
        for (update, (loss, expected)) in losses.iter().zip(&golden.curve.losses).enumerate() {
            assert_near(&format!("{name}, loss {update}"), *loss, *expected, 1e-8 * expected);
        }
    });
}

#[test]
fn updates_by_training_kernels_are_those_of_pytorch() {
    for_each_curve(|name, golden, oracle, pairs| {
        let mut training = Training::new(&oracle, Fast::new(Cpu::detect()));
        let expected = &golden.curve.losses;
        let losses = training.curve(pairs, expected.len() - 1);
        for (update, (loss, expected)) in losses.iter().zip(expected).enumerate() {
            let errors = &golden.float32;
            let allowed = if update <= REPEATABLE {
                (8.0 * errors.early_curve).max(1e-5)
            } else {
                (8.0 * errors.curve).max(1e-3)
            };
            assert_near(&format!("{name}, loss {update}"), *loss, *expected, allowed * expected);
        }
    });
}
