//! The kernels of training in f32, which call the vector kernels of `base/kernels`.
//!
//! Results equal those of decoding to the bit, so that validation sees the model that is trained.
//! Gradients of inputs are summed in another order, block by block ([`gemm_f32_blocked`]). Products
//! with weights can use integers or bf16 instead ([`ProductPrecision`]).

use miriam_kernels::activation::{self, Activation, GateImpl};
use miriam_kernels::attention::{self as attention_kernels, AttentionMask};
use miriam_kernels::cross_entropy::{
    LogitStatistics, VocabularyBlock, cross_entropy_gradient, update_logit_statistics,
};
use miriam_kernels::gemm::{
    Bf16Scratch, Epilogue, GemmScratch, Tiling, gemm_bf16, gemm_bf16_transposed, gemm_f32,
    gemm_f32_blocked, gemm_f32_transposed,
};
use miriam_kernels::operators::Implementation;
use miriam_kernels::optimizer::{self, AdamStep, MovingAverage};
use miriam_kernels::pack::{UnpackedWeights, WeightsBf16, WeightsF32};
use miriam_kernels::{Cpu, MatMut, MatRef, elementwise};

use super::integers::{IntegerGemm, IntegerWeights};
use super::{
    AttentionGradients, Kernels, LossRows, OptimizerKind, ProductPrecision, RecurrentAttention,
    RowLoss, Shard, Smoothing, Step, WeightPart, Weights,
};

/// Weights packed for products, and packed transposed for gradients.
#[derive(Default)]
pub struct PackedPair {
    forward: WeightsF32,
    backward: WeightsF32,
    /// Used instead of `forward` for products in integers.
    integers: IntegerWeights,
    /// Used instead of `forward` and `backward` for products in bf16.
    bf16: [WeightsBf16; 2],
}

/// Kernels in f32 on the vector instructions of the CPU.
#[derive(Clone)]
pub struct Fast {
    cpu: Cpu,
    tiling: Tiling,
    gemm: GemmScratch,
    sequence: attention_kernels::SequenceScratch,
    values: WeightsF32,
    scratch: Vec<f32>,
    statistics: Vec<LogitStatistics>,
    ones: Vec<f32>,
    precision: ProductPrecision,
    integers: IntegerGemm,
    bf16: Bf16Scratch,
}

impl Fast {
    /// Creates kernels for a CPU.
    pub fn new(cpu: Cpu) -> Self {
        Fast {
            cpu,
            tiling: Tiling::default_for(cpu),
            gemm: GemmScratch::default(),
            sequence: attention_kernels::SequenceScratch::default(),
            values: WeightsF32::default(),
            scratch: Vec::new(),
            statistics: Vec::new(),
            ones: Vec::new(),
            precision: ProductPrecision::F32,
            integers: IntegerGemm::default(),
            bf16: Bf16Scratch::default(),
        }
    }

    /// Returns the same kernels with products of this precision.
    pub fn with_products(self, precision: ProductPrecision) -> Self {
        Fast { precision, ..self }
    }
}

/// Kernels for this CPU.
impl Default for Fast {
    fn default() -> Self {
        Fast::new(Cpu::detect())
    }
}

fn unpacked<'a>(part: &WeightPart<'a, f32>) -> UnpackedWeights<'a, f32> {
    if part.is_transposed {
        UnpackedWeights::outputs_by_inputs(part.values)
    } else {
        UnpackedWeights::inputs_by_outputs(part.values)
    }
}

impl Kernels for Fast {
    type Real = f32;
    type Packed = PackedPair;

    fn pack(&self, parts: &[WeightPart<'_, f32>], packed: &mut PackedPair) {
        let unpacked: Vec<_> = parts.iter().map(unpacked).collect();
        match self.precision {
            ProductPrecision::F32 => packed.forward.fill(&unpacked),
            ProductPrecision::Integers(precision) => {
                packed.integers = IntegerWeights::pack(precision, parts);
            }
            ProductPrecision::Bf16 => {
                // `packed.forward` has the f32 weights only until they are rounded.
                let ([forward, backward], numbers) = (&mut packed.bf16, &mut packed.forward);
                numbers.fill(&unpacked);
                forward.round(self.cpu, numbers.view());
                numbers.fill_transposed(&unpacked);
                backward.round(self.cpu, numbers.view());
                return;
            }
        }
        packed.backward.fill_transposed(&unpacked);
    }

    fn gemm(
        &mut self,
        rows: MatRef<'_, f32>,
        weights: &Weights<'_, Self>,
        bias: Option<&[f32]>,
        residual: Option<MatRef<'_, f32>>,
        activation: Activation,
        out: MatMut<'_, f32>,
    ) {
        let epilogue = Epilogue { bias, residual, activation, ..Epilogue::default() };
        let (cpu, tiling, packed) = (self.cpu, self.tiling, weights.packed);
        match self.precision {
            ProductPrecision::F32 => {
                gemm_f32(cpu, tiling, rows, packed.forward.view(), epilogue, out);
            }
            ProductPrecision::Integers(_) => {
                self.integers.run((cpu, tiling), rows, &packed.integers, epilogue, out);
            }
            ProductPrecision::Bf16 => {
                let weights = packed.bf16[0].view();
                gemm_bf16(cpu, tiling, &mut self.bf16, rows, weights, epilogue, out);
            }
        }
    }

    fn gemm_gradient(
        &mut self,
        gradient: MatRef<'_, f32>,
        weights: &Weights<'_, Self>,
        accumulate: bool,
        into: MatMut<'_, f32>,
    ) {
        let epilogue = Epilogue { accumulate, ..Epilogue::default() };
        let (cpu, tiling, packed) = (self.cpu, self.tiling, weights.packed);
        if self.precision == ProductPrecision::Bf16 {
            let weights = packed.bf16[1].view();
            return gemm_bf16(cpu, tiling, &mut self.bf16, gradient, weights, epilogue, into);
        }
        gemm_f32_blocked(cpu, tiling, gradient, packed.backward.view(), epilogue, into);
    }

    fn weight_gradient(&mut self, a: MatRef<'_, f32>, b: MatRef<'_, f32>, into: MatMut<'_, f32>) {
        if self.precision == ProductPrecision::Bf16 {
            return gemm_bf16_transposed(self.cpu, &mut self.bf16, a, b, into);
        }
        gemm_f32_transposed(self.cpu, a, b, &mut self.gemm, into);
    }

    fn column_sums(&mut self, rows: MatRef<'_, f32>, into: &mut [f32]) {
        elementwise::add_column_sums(self.cpu, rows, into);
    }

    fn add(&mut self, rows: MatRef<'_, f32>, into: MatMut<'_, f32>) {
        elementwise::add_in_place(self.cpu, rows, into);
    }

    fn add_scaled(&mut self, factor: f32, rows: MatRef<'_, f32>, into: MatMut<'_, f32>) {
        elementwise::add_scaled(self.cpu, factor, rows, into);
    }

    fn activate(&mut self, activation: Activation, rows: MatMut<'_, f32>) {
        if activation != Activation::None {
            activation::activate(self.cpu, activation, rows);
        }
    }

    fn activation_gradient(
        &mut self,
        activation: Activation,
        saved: MatRef<'_, f32>,
        gradient: MatMut<'_, f32>,
    ) {
        activation::activation_gradient(self.cpu, activation, saved, gradient);
    }

    fn attend(
        &mut self,
        heads: usize,
        visible: AttentionMask,
        queries: MatRef<'_, f32>,
        keys: MatRef<'_, f32>,
        values: MatRef<'_, f32>,
        mask: Option<&[f32]>,
        probabilities: &mut [f32],
        out: MatMut<'_, f32>,
    ) {
        let inputs = sequence(heads, queries, keys, values, mask);
        let scratch = &mut self.sequence;
        attention_kernels::attend_sequence(self.cpu, &inputs, visible, probabilities, out, scratch);
    }

    fn attend_gradient(
        &mut self,
        heads: usize,
        queries: MatRef<'_, f32>,
        keys: MatRef<'_, f32>,
        values: MatRef<'_, f32>,
        mask: Option<&[f32]>,
        probabilities: &[f32],
        extra: Option<&[f32]>,
        gradient: MatRef<'_, f32>,
        into: AttentionGradients<'_, f32>,
    ) {
        let inputs = sequence(heads, queries, keys, values, mask);
        let extra = extra.map(|extra| MatRef::new(extra, queries.rows(), keys.rows()));
        let AttentionGradients { queries, keys, values } = into;
        attention_kernels::attend_sequence_gradient(
            self.cpu,
            &inputs,
            probabilities,
            gradient,
            extra,
            attention_kernels::SequenceGradients { queries, keys, values },
            &mut self.sequence,
        );
    }

    fn attend_annotations(
        &mut self,
        inputs: RecurrentAttention<'_, f32>,
        probabilities: &mut [f32],
        out: MatMut<'_, f32>,
    ) {
        let RecurrentAttention { vector, queries, keys, values } = inputs;
        let Some(vector) = vector else {
            return attention_kernels::plain::attend_recurrent(inputs, probabilities, out);
        };
        self.values.fill_rows(values, values.columns());
        let weights = MatMut::new(probabilities, queries.rows(), keys.rows());
        let (values, exact) = (self.values.view(), GateImpl::Exact);
        attention_kernels::attend_additive(
            self.cpu, exact, keys, values, vector, queries, weights, out,
        );
    }

    fn attend_annotations_gradient(
        &mut self,
        inputs: RecurrentAttention<'_, f32>,
        probabilities: &[f32],
        extra: Option<&[f32]>,
        gradient: MatRef<'_, f32>,
        into: AttentionGradients<'_, f32>,
        vector_gradient: &mut [f32],
    ) {
        let RecurrentAttention { vector, queries, keys, values } = inputs;
        let Some(v) = vector else {
            return attention_kernels::plain::attend_recurrent_gradient(
                inputs,
                probabilities,
                extra,
                gradient,
                into,
                vector_gradient,
            );
        };
        let matrix = |of| MatRef::new(of, queries.rows(), keys.rows());
        let weights = matrix(probabilities);
        let inputs = attention_kernels::AdditiveAttention { keys, values, v, queries, weights };
        let AttentionGradients { queries, keys, values } = into;
        attention_kernels::attend_additive_gradient(
            self.cpu,
            &inputs,
            gradient,
            extra.map(matrix),
            attention_kernels::AdditiveGradients { keys, values, v: vector_gradient, queries },
            &mut self.scratch,
        );
    }

    fn implementation(&self) -> Implementation {
        Implementation::Vector(self.cpu)
    }

    fn take_step(&self, step: &Step, shard: Shard<'_, f32>) {
        let Shard { values, gradient, first, second, average } = shard;
        let (rate, scale) = (step.rate as f32, step.gradient_scale as f32);
        let average = step
            .smoothing
            .map(|Smoothing { new_weight }| MovingAverage { average, weight: new_weight as f32 });
        match step.kind {
            OptimizerKind::Sgd => optimizer::sgd(self.cpu, rate, scale, gradient, values, average),
            OptimizerKind::Adagrad { epsilon } => {
                let epsilon = epsilon as f32;
                optimizer::adagrad(
                    self.cpu, rate, epsilon, scale, gradient, values, second, average,
                );
            }
            OptimizerKind::Adam { beta1, beta2, epsilon, weight_decay } => {
                let [correction1, correction2] = step.bias_corrections.0.map(|d| (1.0 / d) as f32);
                let step = AdamStep {
                    rate,
                    beta1: beta1 as f32,
                    beta2: beta2 as f32,
                    rest1: (1.0 - beta1) as f32,
                    rest2: (1.0 - beta2) as f32,
                    epsilon: epsilon as f32,
                    weight_decay: weight_decay as f32,
                    correction1,
                    correction2,
                    gradient_scale: scale,
                };
                optimizer::adam(self.cpu, step, gradient, values, [first, second], average);
            }
        }
    }

    fn sum_of_squares(&self, numbers: &[f32]) -> f64 {
        optimizer::sum_of_squares(self.cpu, numbers)
    }

    fn cross_entropy(
        &mut self,
        rows: LossRows<'_>,
        mut logits: MatMut<'_, f32>,
        losses: &mut Vec<RowLoss>,
    ) {
        let LossRows { labels, weights, smoothing } = rows;
        let (count, columns) = (logits.rows(), logits.columns());
        self.statistics.clear();
        self.statistics.resize(count, LogitStatistics::default());
        let statistics = &mut self.statistics;
        update_logit_statistics(self.cpu, logits.as_ref(), 0, labels, statistics);
        self.ones.resize(count.max(self.ones.len()), 1.0);
        let weights = weights.unwrap_or(&self.ones[..count]);
        losses.extend(statistics.iter().zip(weights).map(|(row, &weight)| RowLoss {
            loss: f64::from(weight) * row.cross_entropy(columns, smoothing),
            log_probability: f64::from(row.label) - row.log_sum_exp(),
        }));
        let block = VocabularyBlock { first: 0, columns, smoothing };
        let logits = logits.reborrow();
        cross_entropy_gradient(self.cpu, block, labels, weights, statistics, logits);
    }
}

fn sequence<'a>(
    heads: usize,
    queries: MatRef<'a, f32>,
    keys: MatRef<'a, f32>,
    values: MatRef<'a, f32>,
    dropout: Option<&'a [f32]>,
) -> attention_kernels::SequenceAttention<'a> {
    let scale = 1.0 / ((queries.columns() / heads) as f32).sqrt();
    attention_kernels::SequenceAttention { heads, scale, queries, keys, values, dropout }
}
