//! Products with weights and their gradients.

use miriam_kernels::{MatMut, MatRef};

use super::{WeightPart, add_scaled, dot};
use crate::Real;

pub(super) fn gemm<R: Real>(
    rows: MatRef<'_, R>,
    parts: &[WeightPart<'_, R>],
    bias: Option<&[R]>,
    residual: Option<MatRef<'_, R>>,
    mut out: MatMut<'_, R>,
) {
    for index in 0..rows.rows() {
        let out = out.row(index);
        match bias {
            Some(bias) => out.copy_from_slice(bias),
            None => out.fill(R::ZERO),
        }
        let mut rest = &mut *out;
        for part in parts {
            let (of_part, others) = rest.split_at_mut(part.outputs());
            multiply_row(rows.row(index), part, of_part);
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

pub(super) fn gemm_gradient<R: Real>(
    gradient: MatRef<'_, R>,
    parts: &[WeightPart<'_, R>],
    mut into: MatMut<'_, R>,
) {
    for index in 0..gradient.rows() {
        let into = into.row(index);
        let mut rest = gradient.row(index);
        for part in parts {
            let (of_part, others) = rest.split_at(part.outputs());
            if part.is_transposed {
                for (output, &g) in of_part.iter().enumerate() {
                    add_scaled(g, part.values.row(output), into);
                }
            } else {
                for (input, sum) in into.iter_mut().enumerate() {
                    *sum += dot(of_part, part.values.row(input));
                }
            }
            rest = others;
        }
    }
}

pub(super) fn weight_gradient<R: Real>(
    a: MatRef<'_, R>,
    b: MatRef<'_, R>,
    mut into: MatMut<'_, R>,
) {
    for row in 0..a.rows() {
        for (input, &x) in a.row(row).iter().enumerate() {
            add_scaled(x, b.row(row), into.row(input));
        }
    }
}

pub(super) fn column_sums<R: Real>(rows: MatRef<'_, R>, into: &mut [R]) {
    (0..rows.rows()).for_each(|row| add_scaled(R::ONE, rows.row(row), into));
}

pub(super) fn add<R: Real>(rows: MatRef<'_, R>, mut into: MatMut<'_, R>) {
    (0..rows.rows()).for_each(|row| add_scaled(R::ONE, rows.row(row), into.row(row)));
}
