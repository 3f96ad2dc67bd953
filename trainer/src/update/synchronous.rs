//! Synchronous updates (`docs/spec/training.md` A.3).
//!
//! An update is a list of micro-batches, small batches whose sentences are computed together. Each
//! worker, a thread with its own tape, takes consecutive micro-batches and sums their gradients.
//! The sums are joined in one tree over the micro-batches in their order. All workers take the
//! optimiser's step, each on a part of the flat vector. The result does not depend on the number of
//! workers, to the bit.

use std::sync::Arc;

use miriam_nmt::Result;

use super::quantizer::QuantizationOptions;
use super::tree::{MicroBatchTree, worker_share};
use super::weight_limit::limit_weights;
use crate::Real;
use crate::data::{ParallelCorpus, weigh_links};
use crate::dropout::Dropout;
use crate::kernels::{BiasCorrections, Kernels, OptimizerKind, Shard, Smoothing, Step};
use crate::tape::{GuidedAlignment, LossOptions, PackedParameters, Tape};
use crate::trainable_model::TrainableModel;
use crate::update::FlexibleRate;

/// Sentence pairs that are computed together.
#[derive(Clone, Debug, Default)]
pub struct MicroBatch<'a> {
    /// The sentences' numbers in the corpus.
    pub numbers: Vec<u32>,
    /// The sources.
    pub sources: Vec<&'a [u32]>,
    /// The targets.
    pub targets: Vec<&'a [u32]>,
    /// The weight of each target token, if losses are weighted.
    pub token_weights: Option<Vec<f32>>,
    /// The links for guided alignment.
    pub guided_alignment: Option<GuidedAlignment>,
}

impl<'a> MicroBatch<'a> {
    /// Appends a pair of a corpus with its annotations. `alignment_weight` is the weight of guided
    /// alignment.
    pub fn push_pair(&mut self, corpus: &'a ParallelCorpus, index: usize, alignment_weight: f64) {
        let target = corpus.target(index);
        self.numbers.push(corpus.line(index));
        self.sources.push(corpus.source(index));
        self.targets.push(target);
        if let Some(weights) = corpus.weights(index) {
            let all = self.token_weights.get_or_insert_default();
            match weights {
                [weight] => all.resize(all.len() + target.len(), *weight),
                weights => all.extend_from_slice(weights),
            }
        }
        if let Some(links) = corpus.links(index) {
            let guide = self.guided_alignment.get_or_insert_default();
            guide.weight = alignment_weight;
            guide.links.push(weigh_links(links));
        }
    }

    /// Creates a micro-batch of pairs of a corpus, by their indices.
    pub fn from_pairs(corpus: &'a ParallelCorpus, pairs: &[u32], alignment_weight: f64) -> Self {
        let mut micro_batch = MicroBatch::default();
        for &index in pairs {
            micro_batch.push_pair(corpus, index as usize, alignment_weight);
        }
        micro_batch
    }

    /// Returns the number of tokens of source and target.
    pub fn num_tokens(&self) -> [usize; 2] {
        [&self.sources, &self.targets].map(|side| side.iter().map(|tokens| tokens.len()).sum())
    }

    /// Returns the counts with which the memory of the micro-batch grows: tokens of both sides, and
    /// pairs of tokens that attend to each other.
    fn extent(&self) -> [usize; 5] {
        let lengths = self.sources.iter().zip(&self.targets).map(|(s, t)| [s.len(), t.len()]);
        lengths.fold([0; 5], |sums, [s, t]| {
            let pair_moments = [s, t, s * s, s * t, t * t];
            std::array::from_fn(|i| sums[i] + pair_moments[i])
        })
    }

    /// Returns the divisor of a displayed loss: the number of target tokens, plus the number of
    /// links times the weight of guided alignment.
    fn loss_count(&self) -> f64 {
        fn links(guide: &GuidedAlignment) -> f64 {
            guide.weight * guide.links.iter().map(Vec::len).sum::<usize>() as f64
        }
        self.num_tokens()[1] as f64 + self.guided_alignment.as_ref().map_or(0.0, links)
    }
}

/// The gradient whose norm is limited (`clip-norm-per`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClipScope {
    /// The gradient itself, usually a sum over the words of an update, as in Marian.
    #[default]
    Sum,
    /// The gradient divided by the words of the update.
    Words,
}

/// A limit on the gradient norm per word; a larger norm is scaled down to the average
/// (`dynamic-gradient-scaling`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormLimit {
    /// The limit.
    pub limit: f64,
    /// The average.
    pub average: f64,
}

/// The options by which an update is computed from gradients.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UpdateOptions {
    /// The optimiser.
    pub optimizer: OptimizerKind,
    /// The smoothing of labels.
    pub label_smoothing: f32,
    /// The norm to which a gradient of a larger norm is scaled down; 0 for no limit (`clip-norm`).
    pub clip_norm: f64,
    /// The gradient whose norm is limited.
    pub clip_scope: ClipScope,
    /// Whether the gradient is divided by the number of target tokens before it is clipped
    /// (`normalize-gradient`).
    pub normalizes_gradient: bool,
    /// Whether an update with a gradient that is not finite is skipped
    /// (`check-gradient-nan`).
    pub skips_nan: bool,
    /// The weight of new parameters in the moving average; 0 for no average
    /// (`exponential-smoothing`).
    pub smoothing: f64,
    /// The number of target tokens that the learning rate is meant for; 0 for any
    /// (`mini-batch-words-ref`).
    pub reference_words: usize,
}

/// Report on an update.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UpdateReport {
    /// The sum of the minimised losses, including guided alignment.
    pub loss: f64,
    /// The divisor of the displayed loss: the number of target tokens, plus the number of links
    /// times the weight of guided alignment.
    pub loss_count: f64,
    /// The cross-entropy of the target, in nats, without label smoothing.
    pub cross_entropy: f64,
    /// The number of sentences.
    pub sentences: usize,
    /// The number of tokens of the target.
    pub target_tokens: usize,
    /// The norm of the gradient after normalisation and dynamic scaling, before clipping.
    pub gradient_norm: f64,
    /// Whether the step was skipped because the gradient is not finite.
    pub is_skipped: bool,
}

impl UpdateReport {
    /// Adds the report of another part of the same update.
    pub fn add(&mut self, part: &UpdateReport) {
        self.loss += part.loss;
        self.loss_count += part.loss_count;
        self.cross_entropy += part.cross_entropy;
        self.sentences += part.sentences;
        self.target_tokens += part.target_tokens;
    }

    /// Returns the gradient norm per word; `is_normalized` says whether gradients are already
    /// divided by words.
    pub fn norm_per_word(&self, is_normalized: bool) -> f64 {
        if is_normalized {
            self.gradient_norm
        } else {
            self.gradient_norm / self.target_tokens.max(1) as f64
        }
    }
}

/// The state of an optimiser as flat vectors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OptimizerState<R> {
    /// Adam's mean of gradients.
    pub first: Vec<R>,
    /// Adam's mean of squared gradients, Adagrad's sum of them.
    pub second: Vec<R>,
    /// Adam's bias corrections.
    pub bias_corrections: BiasCorrections,
    /// The moving average of parameters; empty if not used.
    pub average: Vec<R>,
    /// The number of updates in the average.
    pub average_updates: u64,
    /// The rounding errors of quantisation; empty if not used.
    pub residual: Vec<R>,
}

impl<R: Real> OptimizerState<R> {
    /// Returns the state before the first update of `values`.
    pub fn new(options: &UpdateOptions, values: &[R]) -> Self {
        let zeros = |needed: bool| vec![R::ZERO; if needed { values.len() } else { 0 }];
        OptimizerState {
            first: zeros(matches!(options.optimizer, OptimizerKind::Adam { .. })),
            second: zeros(!matches!(options.optimizer, OptimizerKind::Sgd)),
            bias_corrections: BiasCorrections::default(),
            average: if options.smoothing > 0.0 { values.to_vec() } else { Vec::new() },
            average_updates: 0,
            residual: Vec::new(),
        }
    }

    /// Counts a step of an optimiser of the kind `kind` and returns it. `words` are the target
    /// tokens of the step. With more than the reference number of them, the rate and the weight of
    /// new parameters in the average grow in proportion.
    pub(crate) fn next_step(
        &mut self,
        options: &UpdateOptions,
        kind: OptimizerKind,
        rate: f64,
        gradient_scale: f64,
        words: u64,
    ) -> Step {
        if let OptimizerKind::Adam { beta1, beta2, .. } = kind {
            self.bias_corrections = self.bias_corrections.advanced(beta1, beta2);
        }
        let reference = options.reference_words as u64;
        let [words, reference] =
            if (1..words).contains(&reference) { [words, reference] } else { [1, 1] };
        let smoothing = (!self.average.is_empty())
            .then(|| Smoothing::new(options.smoothing, self.average_updates, words, reference));
        self.average_updates += 1;
        Step {
            kind,
            rate: rate * (words as f64 / reference as f64),
            gradient_scale,
            bias_corrections: self.bias_corrections,
            smoothing,
        }
    }

    /// Resets the optimiser but keeps the average.
    pub fn reset(&mut self) {
        self.first.fill(R::ZERO);
        self.second.fill(R::ZERO);
        self.bias_corrections = BiasCorrections::default();
    }
}

/// A worker's tape and its sums of gradients.
pub(crate) struct MicroBatchWorker<K: Kernels> {
    tape: Tape<K>,
    pub(crate) tree: MicroBatchTree<K::Real>,
    /// The maximum extents of its micro-batches so far.
    extent: [usize; 5],
}

/// Trainer that computes updates of a model with several workers.
pub struct SynchronousTrainer<K: Kernels> {
    model: TrainableModel<K>,
    kernels: K,
    options: UpdateOptions,
    packed_parameters: Arc<PackedParameters<K>>,
    state: OptimizerState<K::Real>,
    norm_limit: Option<NormLimit>,
    /// The flexible rate, with the number of batches per update.
    flexible_rate: Option<(FlexibleRate, usize)>,
    quantization: Option<QuantizationOptions>,
    weight_limit: Option<f32>,
    workers: Vec<MicroBatchWorker<K>>,
}

/// The number of elements per block in sums of squares. It is fixed, so that sums do not depend on
/// the number of workers.
const NORM_BLOCK: usize = 1 << 14;

impl<K: Kernels> SynchronousTrainer<K> {
    /// Creates a trainer of `model` that starts from `values` and `state`.
    ///
    /// # Panics
    /// If there are no workers, the number of values differs from the layout's, or a vector of
    /// `state` is neither empty nor of this length.
    pub fn new(
        model: TrainableModel<K>,
        kernels: K,
        options: UpdateOptions,
        values: Vec<K::Real>,
        state: OptimizerState<K::Real>,
        num_workers: usize,
    ) -> Self {
        assert!(num_workers > 0, "at least one worker");
        let len = model.layout().len();
        for vector in [&state.first, &state.second, &state.average, &state.residual] {
            assert!(vector.is_empty() || vector.len() == len, "vectors of one layout");
        }
        let workers = (0..num_workers).map(|_| MicroBatchWorker::new(&model, &kernels)).collect();
        let packed_parameters = Arc::new(PackedParameters::new(model.registry(), &kernels, values));
        let norm_limit = None;
        SynchronousTrainer {
            model,
            kernels,
            options,
            packed_parameters,
            state,
            norm_limit,
            flexible_rate: None,
            quantization: None,
            weight_limit: None,
            workers,
        }
    }

    /// Returns the model.
    pub fn model(&self) -> &TrainableModel<K> {
        &self.model
    }

    /// Returns the trained parameters as a flat vector.
    pub fn values(&self) -> &[K::Real] {
        self.packed_parameters.values()
    }

    /// Returns the optimiser's state.
    pub fn state(&self) -> &OptimizerState<K::Real> {
        &self.state
    }

    /// Sets the optimiser of further updates; its kind must not change.
    pub fn set_optimizer(&mut self, optimizer: OptimizerKind) {
        self.options.optimizer = optimizer;
    }

    /// Sets the factor of the learning rate that depends on the words of an update, for further
    /// updates of `batches` batches each.
    pub fn set_flexible_rate(&mut self, rate: Option<FlexibleRate>, batches: usize) {
        self.flexible_rate = rate.map(|rate| (rate, batches));
    }

    /// Resets the optimiser.
    pub fn reset_optimizer(&mut self) {
        self.state.reset();
    }

    /// Sets the limit on the gradient norm per word in further updates.
    pub fn set_norm_limit(&mut self, limit: Option<NormLimit>) {
        self.norm_limit = limit;
    }

    /// Sets the quantisation of parameters after further updates.
    pub fn set_quantization(&mut self, quantization: Option<QuantizationOptions>) {
        self.quantization = quantization;
    }

    /// Sets the maximum magnitude of weights from the next update on.
    pub fn set_weight_limit(&mut self, limit: Option<f32>) {
        self.weight_limit = limit;
    }

    /// Replaces the parameters by their moving average, if there is one.
    pub fn replace_with_smoothed(&mut self) {
        if self.state.average.is_empty() {
            return;
        }
        let packed_parameters = Arc::get_mut(&mut self.packed_parameters)
            .expect("tapes drop it after their micro-batches");
        packed_parameters.values_mut().copy_from_slice(&self.state.average);
        packed_parameters.refresh_parallel(
            self.model.registry(),
            &self.kernels,
            self.workers.len(),
        );
    }

    /// Takes one step with the gradients of `micro_batches` and the learning rate `rate`.
    ///
    /// # Errors
    /// If the model fails.
    pub fn update(
        &mut self,
        micro_batches: &[MicroBatch<'_>],
        dropout: Dropout,
        rate: f64,
    ) -> Result<UpdateReport> {
        let mut report = self.compute_gradients(micro_batches, dropout)?;
        let mut trees: Vec<&mut MicroBatchTree<K::Real>> =
            self.workers.iter_mut().map(|worker| &mut worker.tree).collect();
        let Some(gradient) = MicroBatchTree::join(&mut trees) else { return Ok(report) };
        let norm = gradient_norm(&self.kernels, &gradient, self.workers.len());
        let scale = scale_gradient(&self.options, self.norm_limit, norm, &mut report);
        if let Some(scale) = scale {
            let words = report.target_tokens as u64;
            let flexible =
                self.flexible_rate.map_or(1.0, |(rate, batches)| rate.factor(words, batches));
            let kind = self.options.optimizer;
            let step = self.state.next_step(&self.options, kind, rate * flexible, scale, words);
            self.step(&gradient, step);
        }
        self.workers[0].tree.recycle(gradient);
        Ok(report)
    }

    fn compute_gradients(
        &mut self,
        micro_batches: &[MicroBatch<'_>],
        dropout: Dropout,
    ) -> Result<UpdateReport> {
        let (model, packed_parameters, options) =
            (&self.model, &self.packed_parameters, &self.options);
        let num_workers = self.workers.len();
        let run = |index: usize, worker: &mut MicroBatchWorker<K>| -> Result<Vec<UpdateReport>> {
            worker_share(index, num_workers, micro_batches.len())
                .map(|number| {
                    let micro_batch = &micro_batches[number];
                    worker.compute(model, packed_parameters, options, number, micro_batch, dropout)
                })
                .collect()
        };
        let reports: Vec<Result<Vec<UpdateReport>>> = std::thread::scope(|scope| {
            let (first, others) = self.workers.split_first_mut().expect("at least one worker");
            let others: Vec<_> = (1..)
                .zip(others)
                .map(|(index, worker)| scope.spawn(move || run(index, worker)))
                .collect();
            let mut reports = vec![run(0, first)];
            reports.extend(others.into_iter().map(|worker| match worker.join() {
                Ok(report) => report,
                Err(panic) => std::panic::resume_unwind(panic),
            }));
            reports
        });
        let mut total = UpdateReport::default();
        // Sums are in the order of micro-batches, regardless of the workers.
        for report in reports {
            report?.iter().for_each(|report| total.add(report));
        }
        Ok(total)
    }

    /// Takes a step on all parts of the flat vector, one per worker, and packs the new weights.
    fn step(&mut self, gradient: &[K::Real], step: Step) {
        let state = &mut self.state;
        let packed_parameters = Arc::get_mut(&mut self.packed_parameters)
            .expect("tapes drop it after their micro-batches");
        let len = gradient.len();
        let part = len.div_ceil(self.workers.len()).next_multiple_of(crate::ALIGNMENT).max(1);
        std::thread::scope(|scope| {
            let mut values = packed_parameters.values_mut().chunks_mut(part);
            let mut first = state.first.chunks_mut(part);
            let mut second = state.second.chunks_mut(part);
            let mut average = state.average.chunks_mut(part);
            for gradient in gradient.chunks(part) {
                let shard = Shard {
                    values: values.next().unwrap_or_default(),
                    gradient,
                    first: first.next().unwrap_or_default(),
                    second: second.next().unwrap_or_default(),
                    average: average.next().unwrap_or_default(),
                };
                let kernels = self.kernels.clone();
                scope.spawn(move || kernels.take_step(&step, shard));
            }
        });
        if let Some(limit) = self.weight_limit {
            limit_weights(self.model.layout(), packed_parameters.values_mut(), limit);
        }
        if let Some(quantization) = &self.quantization {
            let values = packed_parameters.values_mut();
            quantization.quantize(self.model.layout(), values, &mut self.state.residual);
        }
        packed_parameters.refresh_parallel(
            self.model.registry(),
            &self.kernels,
            self.workers.len(),
        );
    }
}

impl<K: Kernels> MicroBatchWorker<K> {
    pub(crate) fn new(model: &TrainableModel<K>, kernels: &K) -> Self {
        let tree = MicroBatchTree::new(model.layout().len());
        MicroBatchWorker { tape: model.tape(kernels.clone()), tree, extent: [0; 5] }
    }

    /// Computes a micro-batch and adds its gradient to the worker's sums.
    pub(crate) fn compute(
        &mut self,
        model: &TrainableModel<K>,
        packed_parameters: &Arc<PackedParameters<K>>,
        options: &UpdateOptions,
        number: usize,
        micro_batch: &MicroBatch<'_>,
        dropout: Dropout,
    ) -> Result<UpdateReport> {
        let tape = &mut self.tape;
        let [_, target_tokens] = micro_batch.num_tokens();
        let extent = micro_batch.extent();
        let largest = std::array::from_fn(|i| extent[i].max(self.extent[i]));
        if largest != self.extent {
            self.extent = largest;
            let (sources, targets) = (&micro_batch.sources, &micro_batch.targets);
            let size = tape.measure(dropout, |tape| {
                model.loss(tape, sources, targets, LossOptions::default()).map(|_| ())
            })?;
            tape.reserve(size);
        }
        tape.begin(packed_parameters, dropout, &micro_batch.numbers);
        if let Some(guide) = &micro_batch.guided_alignment {
            tape.guide_alignment(guide.clone());
        }
        let loss_options = LossOptions {
            label_smoothing: options.label_smoothing,
            row_weights: micro_batch.token_weights.as_deref(),
        };
        let loss = model.loss(tape, &micro_batch.sources, &micro_batch.targets, loss_options)?;
        let alignment_loss = tape.alignment_loss();
        tape.backward();
        let mut gradient = self.tree.buffer();
        tape.swap_parameter_gradient(&mut gradient);
        tape.end();
        self.tree.push(number, gradient);
        Ok(UpdateReport {
            loss: loss.sum + alignment_loss,
            loss_count: micro_batch.loss_count(),
            cross_entropy: loss.cross_entropy,
            sentences: micro_batch.sources.len(),
            target_tokens,
            ..UpdateReport::default()
        })
    }
}

/// Returns the factor that normalises, scales down and clips a gradient, which is a sum over words
/// and has the norm `norm`. Returns `None` if the step is skipped. Stores the norm in `report`.
pub(crate) fn scale_gradient(
    options: &UpdateOptions,
    norm_limit: Option<NormLimit>,
    norm: f64,
    report: &mut UpdateReport,
) -> Option<f64> {
    let per_word = 1.0 / (report.target_tokens as f64).max(1.0);
    let mut normalizer = if options.normalizes_gradient { per_word } else { 1.0 };
    if let Some(NormLimit { limit, average }) = norm_limit
        && norm * per_word > limit
    {
        normalizer *= average / (norm * per_word);
    }
    report.gradient_norm = norm * normalizer;
    if !report.gradient_norm.is_finite() && options.skips_nan {
        report.is_skipped = true;
        return None;
    }
    let clipped = match options.clip_scope {
        ClipScope::Sum => report.gradient_norm,
        ClipScope::Words => report.norm_per_word(options.normalizes_gradient),
    };
    let exceeds = options.clip_norm > 0.0 && clipped > options.clip_norm;
    Some(normalizer * if exceeds { options.clip_norm / clipped } else { 1.0 })
}

/// Returns the norm of a vector, summed in blocks of a fixed size.
pub(crate) fn gradient_norm<K: Kernels>(
    kernels: &K,
    gradient: &[K::Real],
    num_threads: usize,
) -> f64 {
    let blocks: Vec<&[K::Real]> = gradient.chunks(NORM_BLOCK).collect();
    let mut sums = vec![0.0; blocks.len()];
    let part = blocks.len().div_ceil(num_threads).max(1);
    std::thread::scope(|scope| {
        for (sums, blocks) in sums.chunks_mut(part).zip(blocks.chunks(part)) {
            let kernels = kernels.clone();
            scope.spawn(move || {
                for (sum, block) in sums.iter_mut().zip(blocks) {
                    *sum = kernels.sum_of_squares(block);
                }
            });
        }
    });
    sums.iter().sum::<f64>().sqrt()
}
