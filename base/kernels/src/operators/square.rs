//! The square of every element: `x^2`.

use super::{InputGradients, Inputs, Operator, common_shape, matrix_gradients, same_shape};
use crate::elementwise::{add_product, multiply};
use crate::{Cpu, MatMut, MatRef, Real};

/// The square of every element of a matrix, `[rows, width]`.
#[derive(Clone, Copy, Debug)]
pub struct Square;

impl Operator for Square {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let [x] = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            out.row(row).iter_mut().zip(x.row(row)).for_each(|(out, &x)| *out = x * x);
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, out: MatMut<'_, f32>) {
        let [x] = same_shape(&inputs, [out.rows(), out.columns()]);
        multiply(cpu, x, x, out);
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let [x] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_x] = matrix_gradients(into.matrices);
        for row in 0..d_out.rows() {
            let elements = d_x.row(row).iter_mut().zip(d_out.row(row)).zip(x.row(row));
            elements.for_each(|((d_x, &d), &x)| *d_x += d * (x + x));
        }
    }

    fn gradient_f32(
        &self,
        cpu: Cpu,
        inputs: Inputs<'_, f32>,
        _out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        let [x] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_x] = matrix_gradients(into.matrices);
        add_product(cpu, d_out, x, d_x.reborrow());
        add_product(cpu, d_out, x, d_x.reborrow());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, same};
    use super::*;

    #[test]
    fn squares_have_their_gradients() {
        check(&Square, &same(1), 23);
    }
}
