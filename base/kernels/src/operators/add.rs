//! The sum of two matrices, `a + b`, as in residual connections.

use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, common_shape, matrix_gradients,
    same_shape,
};
use crate::elementwise::add_in_place;
use crate::gemm::plain::add;
use crate::{Cpu, MatMut, MatRef, Real};

/// `a + b`; the matrices are a and b, `[rows, width]`.
#[derive(Clone, Copy, Debug)]
pub struct Add;

impl Operator for Add {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(DeviceKernel::new("add", [2, 2]))
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let [a, b] = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let elements = a.row(row).iter().zip(b.row(row));
            out.row_mut(row).iter_mut().zip(elements).for_each(|(out, (&a, &b))| *out = a + b);
        }
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let [_, _] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let gradients: &mut [_; 2] = matrix_gradients(into.matrices);
        gradients.iter_mut().for_each(|gradient| add(d_out, gradient.reborrow()));
    }

    fn gradient_f32(
        &self,
        cpu: Cpu,
        inputs: Inputs<'_, f32>,
        _out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        let [_, _] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let gradients: &mut [_; 2] = matrix_gradients(into.matrices);
        gradients.iter_mut().for_each(|gradient| add_in_place(cpu, d_out, gradient.reborrow()));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, same};
    use super::*;

    #[test]
    fn add_passes_the_operator_check() {
        check(&Add, &same(2), 13);
    }
}
