//! Norms of rows by plain arithmetic: the reference of the kernels.

use super::NormKind;
use crate::{MatMut, MatRef, Real};

/// A norm with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Norm<'a, R> {
    /// Layer norm or RMS norm.
    pub kind: NormKind,
    /// A factor for each column.
    pub scale: &'a [R],
    /// An addend for each column.
    pub bias: Option<&'a [R]>,
    /// Added to the variance.
    pub epsilon: R,
}

/// Where the gradients of a layer norm are added.
pub struct NormGradients<'a, R> {
    /// Of its input, `[rows, columns]`.
    pub rows: MatMut<'a, R>,
    /// Of its scale.
    pub scale: &'a mut [R],
    /// Of its bias.
    pub bias: Option<&'a mut [R]>,
}

/// The element of the sum of `rows` and `residual`.
fn element<R: Real>(
    rows: MatRef<'_, R>,
    residual: Option<MatRef<'_, R>>,
    row: usize,
    column: usize,
) -> R {
    let residual = residual.map_or(R::ZERO, |residual| residual.row(row)[column]);
    rows.row(row)[column] + residual
}

/// `out = norm(rows + residual)`; gives the mean, which is zero for an RMS norm, and the reciprocal of
/// the deviation of each row to `save`.
pub fn normalize<R: Real>(
    norm: Norm<'_, R>,
    rows: MatRef<'_, R>,
    residual: Option<MatRef<'_, R>>,
    mut save: impl FnMut(usize, [R; 2]),
    mut out: MatMut<'_, R>,
) {
    let columns = rows.columns();
    let count = R::of(columns as f64);
    for row in 0..rows.rows() {
        let x = |column| element(rows, residual, row, column);
        let mean = match norm.kind {
            NormKind::Layer => (0..columns).map(x).sum::<R>() / count,
            NormKind::Rms => R::ZERO,
        };
        let squares = (0..columns).map(|column| (x(column) - mean) * (x(column) - mean));
        let reciprocal = R::ONE / (squares.sum::<R>() / count + norm.epsilon).sqrt();
        save(row, [mean, reciprocal]);
        for (column, out) in out.row(row).iter_mut().enumerate() {
            let bias = norm.bias.map_or(R::ZERO, |bias| bias[column]);
            *out = norm.scale[column] * (x(column) - mean) * reciprocal + bias;
        }
    }
}

/// The gradient of a layer norm of `rows + residual`; `statistics` are those of
/// [`normalize`], two a row.
pub fn layer_norm_gradient<R: Real>(
    scale: &[R],
    rows: MatRef<'_, R>,
    residual: Option<MatRef<'_, R>>,
    statistics: &[R],
    gradient: MatRef<'_, R>,
    mut into: NormGradients<'_, R>,
) {
    let columns = rows.columns();
    let count = R::of(columns as f64);
    for row in 0..rows.rows() {
        let [mean, reciprocal] = [statistics[2 * row], statistics[2 * row + 1]];
        let dy = gradient.row(row);
        let normed = |column| (element(rows, residual, row, column) - mean) * reciprocal;
        let q = |column: usize| dy[column] * scale[column];
        let mean_q = (0..columns).map(q).sum::<R>() / count;
        let mean_product = (0..columns).map(|c| q(c) * normed(c)).sum::<R>() / count;
        let of_rows = into.rows.row(row);
        for column in 0..columns {
            let xh = normed(column);
            of_rows[column] += reciprocal * (q(column) - mean_q - xh * mean_product);
            into.scale[column] += dy[column] * xh;
            if let Some(bias) = &mut into.bias {
                bias[column] += dy[column];
            }
        }
    }
}
