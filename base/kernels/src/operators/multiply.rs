//! The product of two matrices, element by element: `a * b`, as in gated feed-forward layers.

use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, common_shape, matrix_gradients,
    same_shape,
};
use crate::elementwise::{add_product, multiply};
use crate::{Cpu, MatMut, MatRef, Real};

/// `a * b`, element by element; the matrices are a and b, `[rows, width]`.
#[derive(Clone, Copy, Debug)]
pub struct Multiply;

impl Operator for Multiply {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(DeviceKernel::new("multiply", [2, 2]))
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let [a, b] = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let elements = a.row(row).iter().zip(b.row(row));
            out.row_mut(row).iter_mut().zip(elements).for_each(|(out, (&a, &b))| *out = a * b);
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, out: MatMut<'_, f32>) {
        let [a, b] = same_shape(&inputs, [out.rows(), out.columns()]);
        multiply(cpu, a, b, out);
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let [a, b] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_a, d_b] = matrix_gradients(into.matrices);
        for row in 0..d_out.rows() {
            for (column, &d) in d_out.row(row).iter().enumerate() {
                d_a.row_mut(row)[column] += d * b.row(row)[column];
                d_b.row_mut(row)[column] += d * a.row(row)[column];
            }
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
        let [a, b] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_a, d_b] = matrix_gradients(into.matrices);
        add_product(cpu, d_out, b, d_a.reborrow());
        add_product(cpu, d_out, a, d_b.reborrow());
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, same};
    use super::*;

    #[test]
    fn multiply_passes_the_operator_check() {
        check(&Multiply, &same(2), 1);
    }
}
