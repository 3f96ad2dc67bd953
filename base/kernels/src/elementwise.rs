//! Sums and products of whole matrices: for dropout masks, for gradients of biases, and for
//! gradients of nodes that are used several times.
//!
//! All functions are limited by memory bandwidth and make one pass. Sums over rows go from the
//! first row to the last.

use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatMut, MatRef};

/// Computes `into += rows`, both `[rows, columns]`.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn add_in_place(cpu: Cpu, rows: MatRef<f32>, mut into: MatMut<f32>) {
    check_shape(rows, &into);
    for index in 0..rows.rows() {
        dispatch!(cpu, add_row(rows.row(index), into.row_mut(index)));
    }
}

/// Computes `into += factor * rows`, both `[rows, columns]`.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn add_scaled(cpu: Cpu, factor: f32, rows: MatRef<f32>, mut into: MatMut<f32>) {
    check_shape(rows, &into);
    for index in 0..rows.rows() {
        dispatch!(cpu, add_scaled_row(factor, rows.row(index), into.row_mut(index)));
    }
}

/// Computes `out = a * b`, element by element, for rows and their mask. All are `[rows, columns]`.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn multiply(cpu: Cpu, a: MatRef<f32>, b: MatRef<f32>, mut out: MatMut<f32>) {
    check_shape(a, &out);
    check_shape(b, &out);
    for index in 0..a.rows() {
        dispatch!(cpu, multiply_row(a.row(index), b.row(index), out.row_mut(index)));
    }
}

/// Computes `into += a * b`, element by element, for gradients of masked rows. All are `[rows,
/// columns]`.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn add_product(cpu: Cpu, a: MatRef<f32>, b: MatRef<f32>, mut into: MatMut<f32>) {
    check_shape(a, &into);
    check_shape(b, &into);
    for index in 0..a.rows() {
        dispatch!(cpu, add_product_row(a.row(index), b.row(index), into.row_mut(index)));
    }
}

/// Adds the sum of each column of `rows`, `[rows, columns]`, to `into`, `[columns]`: the
/// gradient of a bias.
///
/// # Panics
/// If the shapes do not fit each other.
pub fn add_column_sums(cpu: Cpu, rows: MatRef<f32>, into: &mut [f32]) {
    assert_eq!(rows.columns(), into.len());
    dispatch!(cpu, add_columns(rows, into));
}

fn check_shape(rows: MatRef<f32>, out: &MatMut<f32>) {
    assert_eq!((rows.rows(), rows.columns()), (out.rows(), out.columns()));
}

#[inline(always)]
fn add_row<I: Isa>(isa: I, row: &[f32], into: &mut [f32]) {
    for part in lane_chunks(into.len()) {
        let (row, into) = (&row[part.clone()], &mut into[part]);
        isa.store_partial(isa.add(isa.load_partial(into, 0.0), isa.load_partial(row, 0.0)), into);
    }
}

#[inline(always)]
fn add_scaled_row<I: Isa>(isa: I, factor: f32, row: &[f32], into: &mut [f32]) {
    let factor = isa.splat(factor);
    for part in lane_chunks(into.len()) {
        let (row, into) = (&row[part.clone()], &mut into[part]);
        let sum = isa.mul_add(factor, isa.load_partial(row, 0.0), isa.load_partial(into, 0.0));
        isa.store_partial(sum, into);
    }
}

#[inline(always)]
fn multiply_row<I: Isa>(isa: I, a: &[f32], b: &[f32], out: &mut [f32]) {
    for part in lane_chunks(out.len()) {
        let (a, b) = (&a[part.clone()], &b[part.clone()]);
        let product = isa.mul(isa.load_partial(a, 0.0), isa.load_partial(b, 0.0));
        isa.store_partial(product, &mut out[part]);
    }
}

#[inline(always)]
fn add_product_row<I: Isa>(isa: I, a: &[f32], b: &[f32], into: &mut [f32]) {
    for part in lane_chunks(into.len()) {
        let (a, b) = (&a[part.clone()], &b[part.clone()]);
        let into = &mut into[part];
        let (a, b) = (isa.load_partial(a, 0.0), isa.load_partial(b, 0.0));
        isa.store_partial(isa.mul_add(a, b, isa.load_partial(into, 0.0)), into);
    }
}

#[inline(always)]
fn add_columns<I: Isa>(isa: I, rows: MatRef<f32>, into: &mut [f32]) {
    for index in 0..rows.rows() {
        add_row(isa, rows.row(index), into);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestRng, assert_close};

    #[test]
    fn sums_and_products_match_their_formulas() {
        let mut numbers = TestRng::new(43);
        for (rows, columns) in [(0, 5), (1, 1), (3, 37), (5, 16), (9, 130)] {
            let stride = columns + 3;
            let a = numbers.floats(rows * stride, 1.0);
            let b = numbers.floats(rows * columns, 1.0);
            let before = numbers.floats(rows * stride, 1.0);
            let a = MatRef::new(&a, rows, stride).column_range(2..2 + columns);
            let b = MatRef::new(&b, rows, columns);
            // Only the columns of the range change.
            let expected = |element: &dyn Fn(f64, f64, f64) -> f64| -> Vec<f64> {
                let mut all: Vec<f64> = before.iter().map(|&x| f64::from(x)).collect();
                for row in 0..rows {
                    for c in 0..columns {
                        let at = row * stride + 1 + c;
                        let (a, b) = (f64::from(a.row(row)[c]), f64::from(b.row(row)[c]));
                        all[at] = element(a, b, all[at]);
                    }
                }
                all
            };
            for cpu in Cpu::all() {
                let check =
                    |run: &dyn Fn(MatMut<f32>), name, element: &dyn Fn(f64, f64, f64) -> f64| {
                        let mut found = before.clone();
                        run(MatMut::new(&mut found, rows, stride).column_range(1..1 + columns));
                        assert_close(&found, &expected(element), 3e-7, name);
                    };
                check(&|out| add_in_place(cpu, a, out), "add", &|a, _, old| old + a);
                check(&|out| add_scaled(cpu, 0.7, a, out), "scaled", &|a, _, old| {
                    old + f64::from(0.7f32) * a
                });
                check(&|out| multiply(cpu, a, b, out), "multiply", &|a, b, _| a * b);
                check(&|out| add_product(cpu, a, b, out), "product", &|a, b, old| old + a * b);

                let old = numbers_of(columns);
                let mut sums = old.clone();
                add_column_sums(cpu, a, &mut sums);
                let expected: Vec<f64> = (0..columns)
                    .map(|c| {
                        let rows = (0..rows).map(|row| f64::from(a.row(row)[c]));
                        f64::from(old[c]) + rows.sum::<f64>()
                    })
                    .collect();
                assert_close(&sums, &expected, 3e-6, "columns");
            }
        }
    }

    fn numbers_of(count: usize) -> Vec<f32> {
        TestRng::new(44).floats(count, 1.0)
    }
}
