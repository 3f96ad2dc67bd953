//! GEMM with packed weights; the tuner chooses the fastest tiling for each shape.

use std::ops::Range;

use miriam_kernels::autotuner::OperationShape;
use miriam_kernels::gemm::{Epilogue, Tiling, gemm_f32, gemm_i8, gemm_i16};
use miriam_kernels::quantize::{ClipRange, QuantizedI8, QuantizedI16, quantize_i8, quantize_i16};
use miriam_kernels::topk::TOPK_BLOCK;
use miriam_kernels::{MatMut, MatRef};

use super::{Engine, Weights};
use miriam_nmt_models::packed::PackedView;

impl Engine {
    /// Multiplies `[rows, inputs]` with weights, to `[rows, outputs]`.
    pub(super) fn matmul(
        &mut self,
        input: MatRef<f32>,
        weights: &Weights,
        epilogue: Epilogue,
        out: MatMut<f32>,
    ) {
        self.quantize_input(input, weights);
        self.gemm_columns(input, weights, 0..weights.columns(), epilogue, out);
    }

    /// Quantises the rows of `input` for products with `weights`; nothing to do for f32 weights.
    pub(super) fn quantize_input(&mut self, input: MatRef<f32>, weights: &Weights) {
        let (rows, depth) = (input.rows(), input.columns());
        match weights.matrix.view() {
            PackedView::F32(_) => {}
            PackedView::I16(packed) => {
                self.prepared_i16.invalidate();
                self.quantized_i16.grow(rows * depth);
                self.scales.resize(rows, 0.0);
                let quantized = MatMut::new(&mut self.quantized_i16, rows, depth);
                quantize_i16(self.cpu, input, &packed, quantized, &mut self.scales);
            }
            PackedView::I8(_) => {
                self.prepared_i8.invalidate();
                self.quantized_i8.grow(rows * depth);
                self.scales.resize(rows, 0.0);
                let quantized = MatMut::new(&mut self.quantized_i8, rows, depth);
                let clip = weights.input_clip.map_or(ClipRange::PerRow, ClipRange::Fixed);
                quantize_i8(self.cpu, input, clip, quantized, &mut self.scales);
            }
        }
    }

    /// Multiplies `input` with a range of the columns of `weights`. `quantize_input` must have been
    /// called with the same `input` and `weights`, and with no others since then. The range starts
    /// at a multiple of sixteen, and ends at another multiple or at the last column.
    pub(super) fn gemm_columns(
        &mut self,
        input: MatRef<f32>,
        weights: &Weights,
        columns: Range<usize>,
        epilogue: Epilogue,
        out: MatMut<f32>,
    ) {
        let (cpu, rows, depth) = (self.cpu, input.rows(), input.columns());
        let tilings = Tiling::alternatives(cpu);
        let shape = |operation| {
            // Shortlists have many lengths; rounded up, they share measurements.
            let columns = columns.len().next_multiple_of(TOPK_BLOCK);
            OperationShape { operation, rows, depth, columns }
        };
        let tuner = &self.tuner;
        match weights.matrix.view() {
            PackedView::F32(packed) => tuner.run(shape("f32"), tilings.len(), |choice| {
                let packed = packed.column_range(columns);
                gemm_f32(cpu, tilings[choice], input, packed, epilogue, out);
            }),
            PackedView::I16(packed) => tuner.run(shape("i16"), tilings.len(), |choice| {
                let packed = packed.column_range(columns);
                let prepared = &mut self.prepared_i16;
                if prepared.tiling() != Some(tilings[choice]) {
                    let values = MatRef::new(&self.quantized_i16, rows, depth);
                    let quantized =
                        QuantizedI16 { values, scales: &self.scales, headroom: packed.headroom() };
                    prepared.prepare(cpu, tilings[choice], quantized);
                }
                gemm_i16(prepared, packed, epilogue, out);
            }),
            PackedView::I8(packed) => {
                let tilings = Tiling::alternatives_i8(cpu, rows);
                tuner.run(shape("i8"), tilings.len(), |choice| {
                    let packed = packed.column_range(columns);
                    let prepared = &mut self.prepared_i8;
                    if prepared.tiling() != Some(tilings[choice]) {
                        let values = MatRef::new(&self.quantized_i8, rows, depth);
                        let quantized = QuantizedI8 { values, scales: &self.scales };
                        prepared.prepare(cpu, tilings[choice], quantized);
                    }
                    gemm_i8(prepared, packed, epilogue, out);
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use miriam_kernels::Cpu;
    use miriam_kernels::pack::{UnpackedWeights, WeightsI8};

    use super::super::weights::WeightMatrix;
    use super::*;

    /// With a fixed scale, an input is clipped and rounded to a multiple of `clip / 127`.
    #[test]
    fn fixed_scales_clip_inputs() {
        let (depth, columns, clip) = (64, 16, 2.0f32);
        // The largest number of each column is 127, so that quantising changes nothing.
        let integer = |column: usize, row: usize| ((column * 7 + row * 11) % 253) as f32 - 126.0;
        let mut numbers: Vec<f32> = Vec::new();
        for column in 0..columns {
            numbers.push(127.0);
            numbers.extend((1..depth).map(|row| integer(column, row)));
        }
        let source = UnpackedWeights::outputs_by_inputs(MatRef::new(&numbers, columns, depth));
        let matrix = WeightMatrix::I8(WeightsI8::quantize(source).unwrap());
        let weights = Weights { matrix, bias: None, input_clip: Some(clip) };
        let inputs: Vec<f32> = (0..depth).map(|row| row as f32 * 0.1 - 3.0).collect();
        let mut engine = Engine::new(Cpu::detect());
        let mut found = vec![0.0; columns];
        let into = MatMut::new(&mut found, 1, columns);
        engine.matmul(MatRef::new(&inputs, 1, depth), &weights, Epilogue::default(), into);
        for (column, found) in found.iter().enumerate() {
            let steps = inputs.iter().map(|x| (x / clip * 127.0).round_ties_even());
            let steps = steps.map(|steps| steps.clamp(-127.0, 127.0));
            let weights = &numbers[column * depth..][..depth];
            let sum: f32 = steps.zip(weights).map(|(step, weight)| step * weight).sum();
            let expected = sum * clip / 127.0;
            assert!((found - expected).abs() <= 1e-5 * expected.abs(), "{found} {expected}");
        }
    }
}
