//! GEMM with packed weights, the fastest tiling of each chosen by the tuner.

use std::ops::Range;

use miriam_kernels::autotuner::OperationShape;
use miriam_kernels::gemm::{Epilogue, Tiling, gemm_f32, gemm_i8, gemm_i16};
use miriam_kernels::quantize::{ClipRange, QuantizedI8, QuantizedI16, quantize_i8, quantize_i16};
use miriam_kernels::topk::TOPK_BLOCK;
use miriam_kernels::{MatMut, MatRef};

use super::{Engine, Weights};
use crate::packed::PackedView;

impl Engine {
    /// `[rows, inputs]` times weights, `[rows, outputs]`.
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

    /// Quantises rows as products with these weights need them.
    pub(super) fn quantize_input(&mut self, input: MatRef<f32>, weights: &Weights) {
        let (rows, depth) = (input.rows(), input.columns());
        match weights.matrix.view() {
            PackedView::F32(_) => {}
            PackedView::I16(packed) => {
                self.prepared_i16.invalidate();
                self.quantized_i16.resize(rows * depth, 0);
                self.scales.resize(rows, 0.0);
                let quantized = MatMut::new(&mut self.quantized_i16, rows, depth);
                quantize_i16(self.cpu, input, &packed, quantized, &mut self.scales);
            }
            PackedView::I8(_) => {
                self.prepared_i8.invalidate();
                self.quantized_i8.resize(rows * depth, 0);
                self.scales.resize(rows, 0.0);
                let quantized = MatMut::new(&mut self.quantized_i8, rows, depth);
                quantize_i8(self.cpu, input, ClipRange::PerRow, quantized, &mut self.scales);
            }
        }
    }

    /// The product of the rows that were quantised last with some columns of weights, from a
    /// multiple of sixteen to another or to the end.
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
            // Lists of candidates have lengths of all kinds, which share what was measured.
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
            PackedView::I8(packed) => tuner.run(shape("i8"), tilings.len(), |choice| {
                let packed = packed.column_range(columns);
                let prepared = &mut self.prepared_i8;
                if prepared.tiling() != Some(tilings[choice]) {
                    let values = MatRef::new(&self.quantized_i8, rows, depth);
                    let quantized = QuantizedI8 { values, scales: &self.scales };
                    prepared.prepare(cpu, tilings[choice], quantized);
                }
                gemm_i8(prepared, packed, epilogue, out);
            }),
        }
    }
}
