//! The norm of one row and its gradient, plain and in vector instructions.

use super::{Norm, NormKind};
use crate::isa::{Isa, lane_chunks};
use crate::{MatMut, MatRef, Real};

/// The places to which the gradients of the norm of a row are added, `[columns]` each.
pub(super) struct RowGradients<'a, R> {
    pub row: &'a mut [R],
    pub scale: &'a mut [R],
    pub bias: Option<&'a mut [R]>,
}

/// Returns the mean to subtract from a row, and the factor of the difference.
fn plain_moments<R: Real>(norm: Norm<'_, R>, x: &[R]) -> [R; 2] {
    let count = R::of(x.len() as f64);
    let mean = match norm.kind {
        NormKind::Layer => x.iter().copied().sum::<R>() / count,
        NormKind::Rms => R::ZERO,
    };
    let squares: R = x.iter().map(|&x| (x - mean) * (x - mean)).sum();
    [mean, R::ONE / (squares / count + R::of(norm.epsilon.into())).sqrt()]
}

/// Computes `out = norm(row + residual)`.
pub(super) fn norm_row_plain<R: Real>(
    norm: Norm<'_, R>,
    row: &[R],
    residual: Option<&[R]>,
    out: &mut [R],
) {
    out.copy_from_slice(row);
    if let Some(residual) = residual {
        out.iter_mut().zip(residual).for_each(|(x, &y)| *x += y);
    }
    let [mean, factor] = plain_moments(norm, out);
    for (column, x) in out.iter_mut().enumerate() {
        let bias = norm.bias.map_or(R::ZERO, |bias| bias[column]);
        *x = norm.scale[column] * (*x - mean) * factor + bias;
    }
}

/// Adds the gradients of the inputs of the norm of `x`; `d` is the gradient of its result.
pub(super) fn add_row_gradient_plain<R: Real>(
    norm: Norm<'_, R>,
    x: &[R],
    d: &[R],
    mut into: RowGradients<'_, R>,
) {
    let count = R::of(x.len() as f64);
    let [mean, factor] = plain_moments(norm, x);
    let normed = |column: usize| (x[column] - mean) * factor;
    let q = |column: usize| d[column] * norm.scale[column];
    let q_mean = match norm.kind {
        NormKind::Layer => (0..x.len()).map(q).sum::<R>() / count,
        NormKind::Rms => R::ZERO,
    };
    let product_mean = (0..x.len()).map(|column| q(column) * normed(column)).sum::<R>() / count;
    for column in 0..x.len() {
        into.row[column] += factor * (q(column) - q_mean - normed(column) * product_mean);
        into.scale[column] += d[column] * normed(column);
        if let Some(bias) = &mut into.bias {
            bias[column] += d[column];
        }
    }
}

/// Returns the mean to subtract from a row, and the factor of the difference. Lane i of `sums`
/// is the sum of the elements in columns i, i + 16, i + 32 and so on.
#[inline(always)]
fn moments<I: Isa>(isa: I, norm: &Norm<'_, f32>, x: &[f32], sums: I::F) -> [f32; 2] {
    let columns = x.len() as f32;
    let mean = match norm.kind {
        NormKind::Layer => isa.reduce_sum(sums) / columns,
        NormKind::Rms => 0.0,
    };
    let means = isa.splat(mean);
    let mut squares = isa.splat(0.0);
    for part in lane_chunks(x.len()) {
        let deviation = isa.sub(isa.load_partial(&x[part], mean), means);
        squares = isa.mul_add(deviation, deviation, squares);
    }
    [mean, 1.0 / (isa.reduce_sum(squares) / columns + norm.epsilon).sqrt()]
}

/// Computes `out = norm(rows + residual)`, row by row.
#[inline(always)]
pub(super) fn norm_rows<I: Isa>(
    isa: I,
    norm: Norm<'_, f32>,
    rows: MatRef<'_, f32>,
    residual: Option<MatRef<'_, f32>>,
    mut out: MatMut<'_, f32>,
) {
    for row in 0..out.rows() {
        let residual = residual.as_ref().map(|residual| residual.row(row));
        norm_row(isa, &norm, rows.row(row), residual, out.row_mut(row));
    }
}

/// Computes `rows = norm(rows)`, with the bits of [`norm_rows`].
#[inline(always)]
pub(super) fn norm_rows_in_place<I: Isa>(isa: I, norm: Norm<'_, f32>, mut rows: MatMut<'_, f32>) {
    for row in 0..rows.rows() {
        let row = rows.row_mut(row);
        let mut sums = isa.splat(0.0);
        for part in lane_chunks(row.len()) {
            sums = isa.add(sums, isa.load_partial(&row[part], 0.0));
        }
        scale_row(isa, &norm, sums, row);
    }
}

/// Computes `out = norm(row + residual)`.
#[inline(always)]
fn norm_row<I: Isa>(
    isa: I,
    norm: &Norm<'_, f32>,
    row: &[f32],
    residual: Option<&[f32]>,
    out: &mut [f32],
) {
    let mut sums = isa.splat(0.0);
    for part in lane_chunks(row.len()) {
        let mut x = isa.load_partial(&row[part.clone()], 0.0);
        if let Some(residual) = residual {
            x = isa.add(x, isa.load_partial(&residual[part.clone()], 0.0));
        }
        isa.store_partial(x, &mut out[part]);
        sums = isa.add(sums, x);
    }
    scale_row(isa, norm, sums, out);
}

/// Computes `row = norm(row)`. Lane i of `sums` is the sum of the elements in columns i, i + 16,
/// i + 32 and so on.
#[inline(always)]
fn scale_row<I: Isa>(isa: I, norm: &Norm<'_, f32>, sums: I::F, row: &mut [f32]) {
    let [mean, factor] = moments(isa, norm, row, sums);
    let (means, factors) = (isa.splat(mean), isa.splat(factor));
    for part in lane_chunks(row.len()) {
        let normed = isa.mul(isa.sub(isa.load_partial(&row[part.clone()], 0.0), means), factors);
        let scale = isa.load_partial(&norm.scale[part.clone()], 0.0);
        let y = match norm.bias {
            Some(bias) => isa.mul_add(normed, scale, isa.load_partial(&bias[part.clone()], 0.0)),
            None => isa.mul(normed, scale),
        };
        isa.store_partial(y, &mut row[part]);
    }
}

/// Adds the gradients of the inputs of the norm of `x`; `d` is the gradient of its result.
#[inline(always)]
pub(super) fn add_row_gradient<I: Isa>(
    isa: I,
    norm: Norm<'_, f32>,
    x: &[f32],
    d: &[f32],
    mut into: RowGradients<'_, f32>,
) {
    let columns = x.len();
    let mut sums = isa.splat(0.0);
    for part in lane_chunks(columns) {
        sums = isa.add(sums, isa.load_partial(&x[part], 0.0));
    }
    let [mean, factor] = moments(isa, &norm, x, sums);
    let (means, factors) = (isa.splat(mean), isa.splat(factor));
    let (mut q_sums, mut product_sums) = (isa.splat(0.0), isa.splat(0.0));
    for part in lane_chunks(columns) {
        let d = isa.load_partial(&d[part.clone()], 0.0);
        let normed = isa.mul(isa.sub(isa.load_partial(&x[part.clone()], 0.0), means), factors);
        let q = isa.mul(d, isa.load_partial(&norm.scale[part.clone()], 0.0));
        q_sums = isa.add(q_sums, q);
        product_sums = isa.mul_add(q, normed, product_sums);
        let d_scale = &mut into.scale[part.clone()];
        isa.store_partial(isa.mul_add(d, normed, isa.load_partial(d_scale, 0.0)), d_scale);
        if let Some(d_bias) = &mut into.bias {
            let d_bias = &mut d_bias[part];
            isa.store_partial(isa.add(isa.load_partial(d_bias, 0.0), d), d_bias);
        }
    }
    let q_mean = match norm.kind {
        NormKind::Layer => isa.splat(isa.reduce_sum(q_sums) / columns as f32),
        NormKind::Rms => isa.splat(0.0),
    };
    let product_mean = isa.splat(isa.reduce_sum(product_sums) / columns as f32);
    for part in lane_chunks(columns) {
        let d = isa.load_partial(&d[part.clone()], 0.0);
        let normed = isa.mul(isa.sub(isa.load_partial(&x[part.clone()], 0.0), means), factors);
        let q = isa.mul(d, isa.load_partial(&norm.scale[part.clone()], 0.0));
        let centred = isa.sub(isa.sub(q, q_mean), isa.mul(normed, product_mean));
        let d_row = &mut into.row[part];
        isa.store_partial(isa.mul_add(factors, centred, isa.load_partial(d_row, 0.0)), d_row);
    }
}
