//! Tests of gradients against differences of losses.

use std::sync::Arc;

use miriam_nmt::architecture::Architecture;
use miriam_trainer::TrainableModel;
use miriam_trainer::dropout::{Dropout, TransformerSites};
use miriam_trainer::kernels::Plain;
use miriam_trainer::random::RandomStream;
use miriam_trainer::tape::{GuidedAlignment, LossOptions, PackedParameters, Tape, TapeSize};

use crate::architectures::{all, random_sentences, random_values};

const SOURCE_LENGTHS: [usize; 4] = [3, 1, 7, 4];
const TARGET_LENGTHS: [usize; 4] = [4, 6, 1, 3];

/// A loss as a function of the parameters.
struct LossFunction {
    model: TrainableModel<Plain<f64>>,
    tape: Tape<Plain<f64>>,
    dropout: Dropout,
    guide: Option<GuidedAlignment>,
    sources: Vec<Vec<u32>>,
    targets: Vec<Vec<u32>>,
}

impl LossFunction {
    fn new(architecture: Architecture, dropout: Dropout, guide: Option<GuidedAlignment>) -> Self {
        let model = TrainableModel::new(architecture).unwrap_or_else(|e| panic!("{e}"));
        let tape = model.tape(Plain::default());
        let sources = random_sentences(&SOURCE_LENGTHS, 5);
        let targets = random_sentences(&TARGET_LENGTHS, 6);
        LossFunction { model, tape, dropout, guide, sources, targets }
    }

    fn loss(&mut self, values: &[f64]) -> f64 {
        let packed_parameters =
            PackedParameters::new(self.model.registry(), &Plain::default(), values.to_vec());
        self.tape.begin(&Arc::new(packed_parameters), self.dropout, &[10, 11, 12, 13]);
        if let Some(guide) = &self.guide {
            self.tape.guide_alignment(guide.clone());
        }
        let sources: Vec<&[u32]> = self.sources.iter().map(Vec::as_slice).collect();
        let targets: Vec<&[u32]> = self.targets.iter().map(Vec::as_slice).collect();
        let weights: Vec<f32> = (0..14).map(|row| 0.5 + row as f32 / 8.0).collect();
        let options = LossOptions { label_smoothing: 0.1, row_weights: Some(&weights) };
        let loss = self.model.loss(&mut self.tape, &sources, &targets, options).unwrap();
        loss.sum + self.tape.alignment_loss()
    }

    /// Compares the gradient of each parameter with central differences at `draws` of its
    /// elements.
    fn check(&mut self, name: &str, draws: usize) {
        self.check_within(1e-5, name, draws);
    }

    /// Like [`check`](Self::check), with this tolerance of the relative difference.
    fn check_within(&mut self, tolerance: f64, name: &str, draws: usize) {
        let values: Vec<f64> = random_values(self.model.layout(), 1);
        let loss = self.loss(&values);
        self.tape.backward();
        let gradient = self.tape.parameter_gradient().to_vec();
        let mut random = RandomStream::new([9, 9], [0; 3]);
        let layout = self.model.layout().clone();
        for parameter in layout.iter() {
            let range = parameter.range();
            let squares: f64 = gradient[range.clone()].iter().map(|g| g * g).sum();
            let rms = (squares / range.len() as f64).sqrt();
            for draw in 0..draws.min(range.len()) {
                let at = if range.len() <= draws {
                    range.start + draw
                } else {
                    range.start + random.next_below(range.len() as u64) as usize
                };
                let step = 1e-5 * values[at].abs().max(1.0);
                let mut moved = values.clone();
                moved[at] = values[at] + step;
                let above = self.loss(&moved);
                moved[at] = values[at] - step;
                let numeric = (above - self.loss(&moved)) / (2.0 * step);
                let analytic = gradient[at];
                let scale = (analytic.abs() + numeric.abs()).max(1e-3 * rms);
                // Rounding of losses limits the precision of a difference.
                let rounding = 16.0 * f64::EPSILON * loss.abs() / step;
                assert!(
                    (analytic - numeric).abs() <= tolerance * scale + rounding,
                    "{name}: {} [{}]: {analytic} by the tape, {numeric} by differences",
                    parameter.name,
                    at - range.start,
                );
            }
        }
    }
}

#[test]
fn gradients_are_limits_of_differences() {
    for (name, architecture) in all() {
        LossFunction::new(architecture, Dropout::default(), None).check(name, 12);
    }
}

/// Checks up to 200 elements of each tensor; most tensors have fewer.
#[test]
#[ignore = "minutes: two losses for each of some thousand parameters of nineteen models"]
fn gradients_are_limits_of_differences_in_200_coordinates_a_tensor() {
    for (name, architecture) in all() {
        LossFunction::new(architecture, Dropout::default(), None).check(name, 200);
    }
}

#[test]
fn gradients_pass_through_dropout() {
    let sites = TransformerSites { embedding: true, input: true, output: true, top: true };
    let dropout = Dropout {
        transformer: 0.3,
        feed_forward: 0.2,
        attention: 0.25,
        sites,
        source_words: 0.2,
        target_words: 0.2,
        key: [3, 4],
        ..Dropout::default()
    };
    for (name, architecture) in all().into_iter().take(5) {
        let mut function = LossFunction::new(architecture, dropout, None);
        let values: Vec<f64> = random_values(function.model.layout(), 1);
        let dropped = function.loss(&values);
        assert_eq!(dropped, function.loss(&values), "masks must be the same");
        function.check(name, 6);
        function.dropout = Dropout::default();
        assert_ne!(dropped, function.loss(&values), "dropout changes the loss");
    }
}

#[test]
fn no_gradient_passes_where_inputs_of_products_are_clipped() {
    for (name, architecture) in all() {
        let mut function = LossFunction::new(architecture.clone(), Dropout::default(), None);
        let values: Vec<f64> = random_values(function.model.layout(), 1);
        let plain = function.loss(&values);
        // A limit far above all inputs changes nothing.
        for (limit, is_clipped) in [(1e6, false), (0.3, true)] {
            let model = TrainableModel::new(architecture.clone()).unwrap();
            function.model = model.with_product_clip(Some(limit));
            function.tape = function.model.tape(Plain::default());
            assert_eq!(function.loss(&values) != plain, is_clipped, "{name}, {limit}");
        }
        // A difference may step across the limit.
        function.check_within(1e-3, name, 6);
    }
}

#[test]
fn attention_is_guided() {
    let links = vec![
        vec![(0, 0, 1.0), (2, 1, 0.5), (2, 2, 0.5)],
        vec![(5, 0, 1.0)],
        vec![(0, 6, 1.0)],
        vec![(1, 0, 1.0), (0, 2, 1.0)],
    ];
    let with_source = all().into_iter().filter(|(_, architecture)| architecture.has_source());
    for (name, architecture) in with_source {
        let guide = GuidedAlignment { weight: 0.7, links: links.clone() };
        let mut function = LossFunction::new(architecture, Dropout::default(), Some(guide));
        function.check(name, 4);
        let values: Vec<f64> = random_values(function.model.layout(), 1);
        let guided = function.loss(&values);
        function.guide = None;
        assert!(guided > function.loss(&values) + 1.0, "{name}: links cost something");
    }
}

/// Dropout of recurrent models.
fn recurrent_dropout() -> Dropout {
    Dropout {
        recurrent: 0.3,
        source_words: 0.2,
        target_words: 0.25,
        key: [3, 4],
        ..Dropout::default()
    }
}

/// Returns the architectures that are not transformers.
fn recurrent() -> impl Iterator<Item = (&'static str, Architecture)> {
    all().into_iter().filter(|(_, it)| !matches!(it, Architecture::Transformer(_)))
}

#[test]
fn gradients_pass_through_recurrent_dropout() {
    for (name, architecture) in recurrent() {
        let mut function = LossFunction::new(architecture, recurrent_dropout(), None);
        let values: Vec<f64> = random_values(function.model.layout(), 1);
        let dropped = function.loss(&values);
        function.check(name, 6);
        function.dropout.recurrent = 0.0;
        let words = function.loss(&values);
        function.dropout = Dropout::default();
        assert!(
            dropped != words && words != function.loss(&values),
            "{name}: both kinds of dropout have effects"
        );
    }
}

#[test]
fn masks_do_not_depend_on_other_sentences() {
    let words = Dropout { transformer: 0.3, attention: 0.2, ..recurrent_dropout() };
    for (name, architecture) in all() {
        let mut function = LossFunction::new(architecture, words, None);
        let values: Vec<f64> = random_values(function.model.layout(), 1);
        let packed_parameters =
            Arc::new(PackedParameters::new(function.model.registry(), &Plain::default(), values));
        let LossFunction { model, tape, sources, targets, .. } = &mut function;
        let mut loss = |sentences: &[usize]| {
            let numbers: Vec<u32> = sentences.iter().map(|&index| 10 + index as u32).collect();
            tape.begin(&packed_parameters, words, &numbers);
            let of = |side: &'_ [Vec<u32>]| -> Vec<Vec<u32>> {
                sentences.iter().map(|&index| side[index].clone()).collect()
            };
            let (sources, targets) = (of(sources), of(targets));
            let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
            let targets: Vec<&[u32]> = targets.iter().map(Vec::as_slice).collect();
            model.loss(tape, &sources, &targets, LossOptions::default()).unwrap().sum
        };
        let together = loss(&[0, 1, 2, 3]);
        let apart: f64 = [&[2, 0][..], &[3], &[1]].into_iter().map(&mut loss).sum();
        assert!((together - apart).abs() < 1e-9 * together, "{name}: {together} {apart}");
    }
}

/// The measured size is exactly the size of a recorded micro-batch: the tape reserves it in
/// advance, and any result beyond it would double the memory.
#[test]
fn memory_is_known_before_anything_is_computed() {
    let dropout = Dropout { transformer: 0.3, attention: 0.25, key: [3, 4], ..Dropout::default() };
    for (name, architecture) in all() {
        for dropout in [Dropout::default(), dropout, recurrent_dropout()] {
            let mut function = LossFunction::new(architecture.clone(), dropout, None);
            let values: Vec<f64> = random_values(function.model.layout(), 1);
            function.loss(&values);
            let used = function.tape.size();
            let LossFunction { model, tape, sources, targets, .. } = &mut function;
            let sources: Vec<&[u32]> = sources.iter().map(Vec::as_slice).collect();
            let targets: Vec<&[u32]> = targets.iter().map(Vec::as_slice).collect();
            let options = LossOptions::default();
            let measured = tape
                .measure(dropout, |tape| model.loss(tape, &sources, &targets, options).map(|_| ()))
                .unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(measured, used, "{name}");
            let expected = [measured.values, measured.gradients];
            let mut fresh = LossFunction::new(architecture.clone(), dropout, None);
            fresh.tape.reserve(measured);
            fresh.loss(&values);
            fresh.tape.backward();
            assert_eq!(fresh.tape.allocated(), expected, "{name}");
            // Without the reservation, the results of the last operations do not fit.
            let mut short = LossFunction::new(architecture.clone(), dropout, None);
            short.tape.reserve(TapeSize { values: measured.values - 1, ..measured });
            short.loss(&values);
            assert!(short.tape.allocated()[0] > measured.values, "{name}");
        }
    }
}
