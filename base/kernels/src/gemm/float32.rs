//! GEMM in f32.
//!
//! A sum is computed in runs of sixteen products, and the sums of the runs are added up, because
//! rounding errors grow with the partial sum. A single run over the whole depth would have about
//! one and a half times the error. Runs have no measurable cost.

use super::tile::{Arithmetic, Gemm, RowBlocks};
use super::{Epilogue, Tiling};
use crate::isa::{Isa, dispatch};
use crate::pack::{Line, PackedF32};
use crate::{Cpu, MatMut, MatRef};

/// The number of products of a run.
const SUMMATION_RUN: usize = 16;

/// Sums of f32, each computed in runs of `RUN` products.
#[derive(Clone, Copy)]
pub(super) struct F32Arithmetic<const RUN: usize>;

impl<const RUN: usize> Arithmetic for F32Arithmetic<RUN> {
    type Cell = f32;
    type Accumulators<I: Isa> = I::F;
    const FLUSH_STEPS: usize = RUN;
    const INLINE_EPILOGUE: bool = false;

    #[inline(always)]
    fn initial_sums<I: Isa>(&self, isa: I, _: usize, _: usize) -> I::F {
        isa.splat(0.0)
    }
    #[inline(always)]
    fn zero_sums<I: Isa>(isa: I) -> I::F {
        isa.splat(0.0)
    }
    #[inline(always)]
    fn accumulate<I: Isa>(isa: I, sums: I::F, cell: &f32, line: &Line) -> I::F {
        isa.mul_add(isa.splat(*cell), isa.load_line(line), sums)
    }
    #[inline(always)]
    fn to_f32<I: Isa>(_: I, sums: I::F) -> I::F {
        sums
    }
    #[inline(always)]
    fn column_scales<I: Isa>(&self, isa: I, _: usize) -> I::F {
        isa.splat(1.0)
    }
    #[inline(always)]
    fn dequantize<I: Isa>(&self, _: I, sums: I::F, _: usize, _: I::F) -> I::F {
        sums
    }
}

/// Computes `out = activation(rows * weights + bias + residual)` with the shapes `[rows, columns] =
/// [rows, depth] x [depth, columns]`. Every sum goes along the depth in runs of sixteen, with fused
/// multiply-add (AVX2, AVX-512) or without (plain).
///
/// # Panics
/// If shapes do not fit.
pub fn gemm_f32(
    cpu: Cpu,
    tiling: Tiling,
    rows: MatRef<f32>,
    weights: PackedF32,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    assert_eq!(rows.columns(), weights.depth(), "rows as long as the weights are deep");
    dispatch!(cpu, multiply_runs(tiling, rows, weights, epilogue, out))
}

/// The largest part of the depth that [`gemm_f32_blocked`] processes at once. Four panels of this
/// depth have 128 KiB, which stay in the second-level cache. Six rows of this depth have 12 KiB,
/// which stay in the first-level cache.
const DEPTH_BLOCK: usize = 512;

/// Computes the same as [`gemm_f32`] in another order of sums, for gradients: the depth is divided
/// into blocks of about equal size, and the products of a whole block are added up in one run. So
/// the kernel need not keep the totals of earlier runs in registers, and deep weights are read from
/// cache (in gradients of an output layer, weights are as deep as the vocabulary). Rounding errors
/// are about one and a half times as large.
///
/// # Panics
/// If shapes do not fit.
pub fn gemm_f32_blocked(
    cpu: Cpu,
    tiling: Tiling,
    rows: MatRef<f32>,
    weights: PackedF32,
    epilogue: Epilogue,
    mut out: MatMut<f32>,
) {
    let depth = weights.depth();
    assert_eq!(rows.columns(), depth, "rows as long as the weights are deep");
    let count = depth.div_ceil(DEPTH_BLOCK).max(1);
    for block in 0..count - 1 {
        let part = depth * block / count..depth * (block + 1) / count;
        let accumulate = block > 0 || epilogue.accumulate;
        let epilogue = Epilogue { accumulate, ..Epilogue::default() };
        let (rows, weights) = (rows.column_range(part.clone()), weights.depth_range(part));
        dispatch!(cpu, multiply_block(tiling, rows, weights, epilogue, out.reborrow()));
    }
    let part = depth * (count - 1) / count..depth;
    let epilogue = Epilogue { accumulate: count > 1 || epilogue.accumulate, ..epilogue };
    let (rows, weights) = (rows.column_range(part.clone()), weights.depth_range(part));
    dispatch!(cpu, multiply_block(tiling, rows, weights, epilogue, out));
}

#[inline(always)]
fn multiply_block<I: Isa>(
    isa: I,
    tiling: Tiling,
    rows: MatRef<f32>,
    weights: PackedF32,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    multiply::<I, DEPTH_BLOCK>(isa, tiling, rows, weights, epilogue, out);
}

#[inline(always)]
fn multiply_runs<I: Isa>(
    isa: I,
    tiling: Tiling,
    rows: MatRef<f32>,
    weights: PackedF32,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    multiply::<I, SUMMATION_RUN>(isa, tiling, rows, weights, epilogue, out);
}

#[inline(always)]
fn multiply<I: Isa, const RUN: usize>(
    isa: I,
    tiling: Tiling,
    rows: MatRef<f32>,
    weights: PackedF32,
    epilogue: Epilogue,
    out: MatMut<f32>,
) {
    let blocks = RowBlocks::new::<I>(rows.rows(), tiling);
    let panels = weights.panels;
    let call =
        Gemm { arithmetic: F32Arithmetic::<RUN>, cells: rows, blocks, panels, epilogue, out };
    call.multiply(isa, tiling);
}
