//! Matrix products in integers as in decoding, for quantisation-aware training
//! (`docs/spec/training.md` C.3).
//!
//! Results equal those of `nmt`'s engine to the bit, because rows and weights are quantised and
//! summed in the same way. Gradients ignore the rounding (straight-through estimator) and use f32
//! weights, because the gradient of rounding is 0 wherever it is defined.

use miriam_kernels::gemm::{Epilogue, PreparedI8, PreparedI16, Tiling, gemm_i8, gemm_i16};
use miriam_kernels::pack::{UnpackedWeights, WeightsI8, WeightsI16};
use miriam_kernels::quantize::{ClipRange, QuantizedI8, quantize_i8, quantize_i16};
use miriam_kernels::{Cpu, MatMut, MatRef};

use super::WeightPart;

/// The integers that a model will be decoded with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerPrecision {
    /// Eight bits, with a scale per row of inputs and per column of weights.
    I8,
    /// Sixteen bits, as fine as 32-bit sums allow.
    I16,
}

/// Weights as the engine packs them.
#[derive(Default)]
pub(super) enum IntegerWeights {
    #[default]
    None,
    I8(WeightsI8),
    I16(WeightsI16),
}

/// Scratch memory of products.
#[derive(Clone, Default)]
pub(super) struct IntegerGemm {
    rows_i8: Vec<i8>,
    prepared_i8: PreparedI8,
    rows_i16: Vec<i16>,
    prepared_i16: PreparedI16,
    scales: Vec<f32>,
}

impl IntegerWeights {
    /// Packs matrices side by side, or one table.
    pub fn pack(precision: IntegerPrecision, parts: &[WeightPart<'_, f32>]) -> Self {
        let joined;
        let source = match parts {
            [one] if one.is_transposed => UnpackedWeights::outputs_by_inputs(one.values),
            [one] => UnpackedWeights::inputs_by_outputs(one.values),
            several => {
                joined = join_columns(several);
                let depth = several[0].values.rows();
                let columns = joined.len() / depth.max(1);
                UnpackedWeights::inputs_by_outputs(MatRef::new(&joined, depth, columns))
            }
        };
        let fits = "the inputs of every layer are few enough for 32-bit sums";
        match precision {
            IntegerPrecision::I8 => IntegerWeights::I8(WeightsI8::quantize(source).expect(fits)),
            IntegerPrecision::I16 => IntegerWeights::I16(WeightsI16::quantize(source).expect(fits)),
        }
    }
}

/// Joins matrices with the same inputs, their outputs side by side.
fn join_columns(parts: &[WeightPart<'_, f32>]) -> Vec<f32> {
    debug_assert!(parts.iter().all(|part| !part.is_transposed), "a table cannot be joined");
    let depth = parts[0].values.rows();
    let mut joined = Vec::new();
    for row in 0..depth {
        parts.iter().for_each(|part| joined.extend_from_slice(part.values.row(row)));
    }
    joined
}

impl IntegerGemm {
    /// Computes `out = epilogue(rows * weights)`, `[rows, inputs]` to `[rows, outputs]` with packed
    /// weights.
    pub fn run(
        &mut self,
        (cpu, tiling): (Cpu, Tiling),
        rows: MatRef<'_, f32>,
        weights: &IntegerWeights,
        epilogue: Epilogue<'_>,
        out: MatMut<'_, f32>,
    ) {
        let (count, depth) = (rows.rows(), rows.columns());
        self.scales.resize(count, 0.0);
        match weights {
            IntegerWeights::None => unreachable!("weights are packed for these products"),
            IntegerWeights::I8(weights) => {
                self.rows_i8.resize(count * depth, 0);
                let values = MatMut::new(&mut self.rows_i8, count, depth);
                quantize_i8(cpu, rows, ClipRange::PerRow, values, &mut self.scales);
                let values = MatRef::new(&self.rows_i8, count, depth);
                let quantized = QuantizedI8 { values, scales: &self.scales };
                self.prepared_i8.prepare(cpu, Tiling::default_i8(cpu, count), quantized);
                gemm_i8(&self.prepared_i8, weights.view(), epilogue, out);
            }
            IntegerWeights::I16(weights) => {
                let weights = weights.view();
                self.rows_i16.resize(count * depth, 0);
                let values = MatMut::new(&mut self.rows_i16, count, depth);
                let quantized = quantize_i16(cpu, rows, &weights, values, &mut self.scales);
                self.prepared_i16.prepare(cpu, tiling, quantized);
                gemm_i16(&self.prepared_i16, weights, epilogue, out);
            }
        }
    }
}
