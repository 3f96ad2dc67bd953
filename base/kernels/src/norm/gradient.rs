//! Layer norm in training: out of place with its moments, and its gradient.
//!
//! The forward pass keeps the mean and the factor of each row, two numbers; the normalised row
//! is computed again from the row where the gradient needs it, which is one multiplication more
//! and a matrix less in memory.

use super::{Norm, NormKind, normalize_row};
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef};

/// `out = norm(rows + residual)`, the same bits as [`normalize_in_place`](super::normalize_in_place).
/// `rows`, `residual` and `out` are `[rows, columns]`, `statistics`, `[rows, 2]`, becomes the
/// mean and `1 / sqrt(var + epsilon)` of each row, for [`layer_norm_gradient`].
///
/// # Panics
/// If shapes differ, or the norm is no layer norm.
pub fn layer_norm_forward(
    cpu: Cpu,
    norm: Norm,
    rows: MatRef<f32>,
    residual: Option<MatRef<f32>>,
    statistics: &mut [f32],
    mut out: MatMut<f32>,
) {
    assert_eq!(norm.kind, NormKind::Layer);
    assert_eq!((rows.rows(), rows.columns()), (out.rows(), out.columns()));
    assert_eq!(statistics.len(), 2 * rows.rows(), "a mean and a factor for each row");
    super::check_shapes(&norm, &out, residual);
    for index in 0..rows.rows() {
        let row = out.row(index);
        row.copy_from_slice(rows.row(index));
        let residual = residual.map(|residual| residual.row(index));
        let moments = dispatch!(cpu, normalize_row(norm, row, residual));
        statistics[2 * index..2 * index + 2].copy_from_slice(&moments);
    }
}

/// The gradient of a layer norm over `rows + residual`: adds to `dx`, `[rows, columns]`, the
/// gradient of the rows, which is that of the residual too; to `d_scale` and `d_bias`,
/// `[columns]`, those of the norm's parameters. `dy`, `[rows, columns]`, is the gradient of the
/// results, `scale` the norm's scale and `statistics` what [`layer_norm_forward`] left.
///
/// With `xh = (x - mean) r` and `q = dy * scale`: `dx += r (q - mean(q) - xh mean(q xh))`,
/// `d_scale += sum of dy xh`, `d_bias += sum of dy`.
///
/// # Panics
/// If shapes differ.
#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
pub fn layer_norm_gradient(
    cpu: Cpu,
    scale: &[f32],
    rows: MatRef<f32>,
    residual: Option<MatRef<f32>>,
    statistics: &[f32],
    dy: MatRef<f32>,
    mut dx: MatMut<f32>,
    d_scale: &mut [f32],
    mut d_bias: Option<&mut [f32]>,
) {
    let shape = (rows.rows(), rows.columns());
    assert_eq!((dy.rows(), dy.columns()), shape);
    assert_eq!((dx.rows(), dx.columns()), shape);
    assert!(residual.is_none_or(|residual| (residual.rows(), residual.columns()) == shape));
    assert_eq!((scale.len(), d_scale.len()), (shape.1, shape.1), "a scale for each column");
    assert!(d_bias.as_ref().is_none_or(|bias| bias.len() == shape.1), "a bias for each column");
    assert_eq!(statistics.len(), 2 * shape.0, "a mean and a factor for each row");
    for index in 0..shape.0 {
        let moments = [statistics[2 * index], statistics[2 * index + 1]];
        let x = (rows.row(index), residual.map(|residual| residual.row(index)));
        let (dy, dx) = (dy.row(index), dx.row(index));
        let d_bias = d_bias.as_deref_mut();
        dispatch!(cpu, gradient_row(scale, x, moments, dy, dx, d_scale, d_bias));
    }
}

#[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
#[inline(always)]
fn gradient_row<I: Isa>(
    isa: I,
    scale: &[f32],
    (row, residual): (&[f32], Option<&[f32]>),
    [mean, factor]: [f32; 2],
    dy: &[f32],
    dx: &mut [f32],
    d_scale: &mut [f32],
    mut d_bias: Option<&mut [f32]>,
) {
    let columns = dx.len();
    let (means, factors) = (isa.splat(mean), isa.splat(factor));
    let (mut q_sums, mut qx_sums) = (isa.splat(0.0), isa.splat(0.0));
    for part in lane_chunks(columns) {
        let dy = isa.load_partial(&dy[part.clone()], 0.0);
        let normalized =
            normalized_columns(isa, row, residual, (means, factors), part.start, part.end);
        let q = isa.mul(dy, isa.load_partial(&scale[part.clone()], 0.0));
        q_sums = isa.add(q_sums, q);
        qx_sums = isa.mul_add(q, normalized, qx_sums);
        let d_scale = &mut d_scale[part.clone()];
        let sum = isa.mul_add(dy, normalized, isa.load_partial(d_scale, 0.0));
        isa.store_partial(sum, d_scale);
        if let Some(d_bias) = &mut d_bias {
            let d_bias = &mut d_bias[part];
            isa.store_partial(isa.add(isa.load_partial(d_bias, 0.0), dy), d_bias);
        }
    }
    let q_mean = isa.splat(isa.reduce_sum(q_sums) / columns as f32);
    let qx_mean = isa.splat(isa.reduce_sum(qx_sums) / columns as f32);
    for part in lane_chunks(columns) {
        let dy = isa.load_partial(&dy[part.clone()], 0.0);
        let normalized =
            normalized_columns(isa, row, residual, (means, factors), part.start, part.end);
        let q = isa.mul(dy, isa.load_partial(&scale[part.clone()], 0.0));
        let centred = isa.sub(isa.sub(q, q_mean), isa.mul(normalized, qx_mean));
        let dx = &mut dx[part];
        isa.store_partial(isa.mul_add(factors, centred, isa.load_partial(dx, 0.0)), dx);
    }
}

/// The normalised elements of the columns `from..to`, at most sixteen.
#[inline(always)]
fn normalized_columns<I: Isa>(
    isa: I,
    row: &[f32],
    residual: Option<&[f32]>,
    (means, factors): (I::F, I::F),
    from: usize,
    to: usize,
) -> I::F {
    let mut x = isa.load_partial(&row[from..to], 0.0);
    if let Some(residual) = residual {
        x = isa.add(x, isa.load_partial(&residual[from..to], 0.0));
    }
    isa.mul(isa.sub(x, means), factors)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::norm::normalize_in_place;
    use crate::testing::{TestRng, assert_close};

    #[test]
    fn layer_norms_and_their_gradients_match_their_formulas() {
        let mut numbers = TestRng::new(42);
        for (rows, columns) in [(0, 5), (1, 1), (1, 16), (3, 37), (4, 256)] {
            for with_residual in [false, true] {
                // A column range of a wider matrix.
                let stride = columns + 5;
                let x = numbers.floats(rows * stride, 2.0);
                let x = MatRef::new(&x, rows, stride).column_range(3..3 + columns);
                let residual = numbers.floats(rows * columns, 2.0);
                let residual = with_residual.then(|| MatRef::new(&residual, rows, columns));
                let (scale, bias) = (numbers.floats(columns, 1.5), numbers.floats(columns, 1.0));
                let dy = numbers.floats(rows * columns, 1.0);
                let before = numbers.floats(rows * stride, 1.0);
                let parameters = numbers.floats(columns, 1.0);

                let n = columns as f64;
                let mut dx: Vec<f64> = before.iter().map(|&x| f64::from(x)).collect();
                let mut d_scale: Vec<f64> = parameters.iter().map(|&x| f64::from(x)).collect();
                let mut d_bias = d_scale.clone();
                for row in 0..rows {
                    let sums: Vec<f64> = (0..columns)
                        .map(|c| {
                            f64::from(x.row(row)[c])
                                + residual.map_or(0.0, |residual| f64::from(residual.row(row)[c]))
                        })
                        .collect();
                    let mean = sums.iter().sum::<f64>() / n;
                    let variance = sums.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
                    let r = 1.0 / (variance + 1e-2).sqrt();
                    let dy = |c: usize| f64::from(dy[row * columns + c]);
                    let q = |c: usize| dy(c) * f64::from(scale[c]);
                    let xh = |c: usize| (sums[c] - mean) * r;
                    let q_mean = (0..columns).map(q).sum::<f64>() / n;
                    let qx_mean = (0..columns).map(|c| q(c) * xh(c)).sum::<f64>() / n;
                    for c in 0..columns {
                        dx[row * stride + 3 + c] += r * (q(c) - q_mean - xh(c) * qx_mean);
                        d_scale[c] += dy(c) * xh(c);
                        d_bias[c] += dy(c);
                    }
                }
                for cpu in Cpu::all() {
                    let norm = Norm {
                        kind: NormKind::Layer,
                        scale: &scale,
                        bias: Some(&bias),
                        epsilon: 1e-2,
                    };
                    let mut statistics = vec![f32::NAN; 2 * rows];
                    let mut out = vec![f32::NAN; rows * columns];
                    let into = MatMut::new(&mut out, rows, columns);
                    layer_norm_forward(cpu, norm, x, residual, &mut statistics, into);
                    let mut in_place: Vec<f32> =
                        (0..rows).flat_map(|row| x.row(row).to_vec()).collect();
                    let into = MatMut::new(&mut in_place, rows, columns);
                    normalize_in_place(cpu, norm, into, residual);
                    assert_eq!(out, in_place);

                    let mut found = before.clone();
                    let (mut scales, mut biases) = (parameters.clone(), parameters.clone());
                    let into = MatMut::new(&mut found, rows, stride).column_range(3..3 + columns);
                    let dy = MatRef::new(&dy, rows, columns);
                    let (s, b) = (&mut scales, Some(&mut biases[..]));
                    layer_norm_gradient(cpu, &scale, x, residual, &statistics, dy, into, s, b);
                    assert_close(&found, &dx, 3e-5, "dx");
                    assert_close(&scales, &d_scale, 3e-5, "scale");
                    assert_close(&biases, &d_bias, 3e-5, "bias");
                }
            }
        }
    }
}
