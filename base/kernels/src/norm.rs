//! Layer norm and RMS norm of rows, fused with the addition of the residual before.
//!
//! A row has a few kilobytes and stays in the first-level cache, so the mean, the variance
//! (around the mean, which is exact where one pass is not) and the result are three
//! passes.

mod gradient;
pub mod plain;

pub use gradient::{layer_norm_forward, layer_norm_gradient};

use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef};

/// The kind of a norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NormKind {
    /// Layer norm: `(x - mean) / sqrt(var + epsilon)`, with the variance of the population.
    Layer,
    /// RMS norm: `x / sqrt(mean(x^2) + epsilon)`.
    Rms,
}

/// A norm with its parameters.
#[derive(Clone, Copy, Debug)]
pub struct Norm<'a> {
    /// Layer norm or RMS norm.
    pub kind: NormKind,
    /// A factor for each column, `[columns]`.
    pub scale: &'a [f32],
    /// Added to each column, `[columns]`.
    pub bias: Option<&'a [f32]>,
    /// Added under the root: 1e-6 in Marian's transformers, 1e-9 in its recurrent
    /// networks, 1e-5 in Nematus' and CTranslate2's.
    pub epsilon: f32,
}

/// `rows = norm(rows + residual)`, the post-norm of a layer. `rows` and `residual` are
/// `[rows, columns]`.
///
/// # Panics
/// If shapes differ.
pub fn normalize_in_place(
    cpu: Cpu,
    norm: Norm,
    mut rows: MatMut<f32>,
    residual: Option<MatRef<f32>>,
) {
    check_shapes(&norm, &rows, residual);
    for index in 0..rows.rows() {
        let row = rows.row(index);
        let residual = residual.map(|residual| residual.row(index));
        let _ = dispatch!(cpu, normalize_row(norm, row, residual));
    }
}

fn check_shapes(norm: &Norm, rows: &MatMut<f32>, residual: Option<MatRef<f32>>) {
    let shape = (rows.rows(), rows.columns());
    assert_eq!(norm.scale.len(), shape.1, "a scale for each column");
    assert!(norm.bias.is_none_or(|bias| bias.len() == shape.1), "a bias for each column");
    assert!(residual.is_none_or(|residual| (residual.rows(), residual.columns()) == shape));
}

/// Adds the residual to the row and normalises it; returns what was subtracted and the factor.
#[inline(always)]
fn normalize_row<I: Isa>(
    isa: I,
    norm: Norm,
    row: &mut [f32],
    residual: Option<&[f32]>,
) -> [f32; 2] {
    let columns = row.len() as f32;
    let mut sums = isa.splat(0.0);
    if let Some(residual) = residual {
        for part in lane_chunks(row.len()) {
            let x = isa.load_partial(&row[part.clone()], 0.0);
            let sum = isa.add(x, isa.load_partial(&residual[part.clone()], 0.0));
            isa.store_partial(sum, &mut row[part]);
            sums = isa.add(sums, sum);
        }
    } else if norm.kind == NormKind::Layer {
        for part in lane_chunks(row.len()) {
            sums = isa.add(sums, isa.load_partial(&row[part], 0.0));
        }
    }
    let mean = match norm.kind {
        NormKind::Layer => isa.reduce_sum(sums) / columns,
        NormKind::Rms => 0.0,
    };
    let means = isa.splat(mean);
    let mut squares = isa.splat(0.0);
    for part in lane_chunks(row.len()) {
        let deviation = isa.sub(isa.load_partial(&row[part], mean), means);
        squares = isa.mul_add(deviation, deviation, squares);
    }
    let factor = 1.0 / (isa.reduce_sum(squares) / columns + norm.epsilon).sqrt();
    let moments = (means, isa.splat(factor));
    for part in lane_chunks(row.len()) {
        let y = normalize_columns(isa, &norm, moments, &row[part.clone()], part.start);
        isa.store_partial(y, &mut row[part]);
    }
    [mean, factor]
}

/// The normalised elements `x`, at most sixteen, from column `from` on.
#[inline(always)]
fn normalize_columns<I: Isa>(
    isa: I,
    norm: &Norm,
    (mean, factor): (I::F, I::F),
    x: &[f32],
    from: usize,
) -> I::F {
    let columns = from..from + x.len();
    let normalized = isa.mul(isa.sub(isa.load_partial(x, 0.0), mean), factor);
    let scale = isa.load_partial(&norm.scale[columns.clone()], 0.0);
    match norm.bias {
        Some(bias) => isa.mul_add(normalized, scale, isa.load_partial(&bias[columns], 0.0)),
        None => isa.mul(normalized, scale),
    }
}

#[cfg(test)]
mod tests;
