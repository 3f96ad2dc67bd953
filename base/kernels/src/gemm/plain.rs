//! Products with weights and their gradients by plain arithmetic.

use crate::plain::{add_scaled, dot};
use crate::{MatMut, MatRef, Real};

/// A matrix of weights.
#[derive(Clone, Copy, Debug)]
pub struct WeightPart<'a, R> {
    /// `[inputs, outputs]`, or `[outputs, inputs]` if it is a table.
    pub values: MatRef<'a, R>,
    /// Whether it is a table, with a row for each output.
    pub is_transposed: bool,
}

impl<R> WeightPart<'_, R> {
    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        if self.is_transposed { self.values.rows() } else { self.values.columns() }
    }
}

/// Computes `out = rows * weights + bias + residual`, `[rows, inputs]` to `[rows, outputs]`; the
/// outputs of `parts` are side by side.
pub fn gemm<R: Real>(
    rows: MatRef<'_, R>,
    parts: &[WeightPart<'_, R>],
    bias: Option<&[R]>,
    residual: Option<MatRef<'_, R>>,
    mut out: MatMut<'_, R>,
) {
    for index in 0..rows.rows() {
        let out = out.row_mut(index);
        match bias {
            Some(bias) => out.copy_from_slice(bias),
            None => out.fill(R::ZERO),
        }
        let mut rest = &mut *out;
        for part in parts {
            let (part_outputs, others) = rest.split_at_mut(part.outputs());
            multiply_row(rows.row(index), part, part_outputs);
            rest = others;
        }
        if let Some(residual) = residual {
            add_scaled(R::ONE, residual.row(index), out);
        }
    }
}

fn multiply_row<R: Real>(row: &[R], part: &WeightPart<'_, R>, out: &mut [R]) {
    if part.is_transposed {
        for (output, sum) in out.iter_mut().enumerate() {
            *sum += dot(row, part.values.row(output));
        }
    } else {
        for (input, &x) in row.iter().enumerate() {
            add_scaled(x, part.values.row(input), out);
        }
    }
}

/// Computes `into += gradient * weights^T`, `[rows, outputs]` to `[rows, inputs]`.
pub fn gemm_gradient<R: Real>(
    gradient: MatRef<'_, R>,
    parts: &[WeightPart<'_, R>],
    mut into: MatMut<'_, R>,
) {
    for index in 0..gradient.rows() {
        let into = into.row_mut(index);
        let mut rest = gradient.row(index);
        for part in parts {
            let (part_outputs, others) = rest.split_at(part.outputs());
            if part.is_transposed {
                for (output, &g) in part_outputs.iter().enumerate() {
                    add_scaled(g, part.values.row(output), into);
                }
            } else {
                for (input, sum) in into.iter_mut().enumerate() {
                    *sum += dot(part_outputs, part.values.row(input));
                }
            }
            rest = others;
        }
    }
}

/// Computes `into += a^T * b`, `[rows, inputs]` and `[rows, outputs]` to `[inputs, outputs]`.
pub fn weight_gradient<R: Real>(a: MatRef<'_, R>, b: MatRef<'_, R>, mut into: MatMut<'_, R>) {
    for row in 0..a.rows() {
        for (input, &x) in a.row(row).iter().enumerate() {
            add_scaled(x, b.row(row), into.row_mut(input));
        }
    }
}

/// Adds the sum of each column of `rows` to `into`.
pub fn column_sums<R: Real>(rows: MatRef<'_, R>, into: &mut [R]) {
    (0..rows.rows()).for_each(|row| add_scaled(R::ONE, rows.row(row), into));
}

/// Computes `into += rows`.
pub fn add<R: Real>(rows: MatRef<'_, R>, mut into: MatMut<'_, R>) {
    (0..rows.rows()).for_each(|row| add_scaled(R::ONE, rows.row(row), into.row_mut(row)));
}
