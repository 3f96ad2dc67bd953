//! An activation of every element: ReLU, tanh, sigmoid, swish, the forms of GELU, and none, which
//! is a copy.

use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, common_shape, matrix_gradients,
    same_shape,
};
use crate::activation::plain::{apply, derivative, saves_result};
use crate::activation::{self, Activation};
use crate::elementwise::add_in_place;
use crate::{Cpu, MatMut, MatRef, Real};

/// An activation of every element of a matrix, `[rows, width]`.
#[derive(Clone, Copy, Debug)]
pub struct Activate(pub Activation);

impl Operator for Activate {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(DeviceKernel {
            code: self.0.code(),
            ..DeviceKernel::new("activate_elements", [1, 1])
        })
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let [x] = same_shape(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let elements = out.row_mut(row).iter_mut().zip(x.row(row));
            elements.for_each(|(out, &x)| *out = apply(self.0, x));
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let [x] = same_shape(&inputs, [out.rows(), out.columns()]);
        (0..out.rows()).for_each(|row| out.row_mut(row).copy_from_slice(x.row(row)));
        if self.0 != Activation::None {
            activation::activate(cpu, self.0, out);
        }
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let [x] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_x] = matrix_gradients(into.matrices);
        let saved = if saves_result(self.0) { out } else { x };
        for row in 0..d_out.rows() {
            let gradients = d_out.row(row).iter().zip(saved.row(row));
            let elements = d_x.row_mut(row).iter_mut().zip(gradients);
            elements.for_each(|(d_x, (&d, &saved))| *d_x += d * derivative(self.0, saved));
        }
    }

    fn gradient_f32(
        &self,
        cpu: Cpu,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        let [x] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_x] = matrix_gradients(into.matrices);
        if self.0 == Activation::None {
            return add_in_place(cpu, d_out, d_x.reborrow());
        }
        let saved = if saves_result(self.0) { out } else { x };
        // The kernel multiplies in place, so it gets a copy of `d_out`. The product is added to
        // `d_x`, which may already have terms of other operators.
        let mut slopes = vec![0.0; d_out.columns()];
        for row in 0..d_out.rows() {
            slopes.copy_from_slice(d_out.row(row));
            let saved = saved.row_range(row..row + 1);
            let row_slopes = MatMut::new(&mut slopes, 1, d_out.columns());
            activation::activation_gradient(cpu, self.0, saved, row_slopes);
            let slopes = MatRef::new(&slopes, 1, d_out.columns());
            let to = d_x.reborrow().row_range(row..row + 1);
            add_in_place(cpu, slopes, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, same};
    use super::*;

    /// Every activation, including the identity.
    #[test]
    fn activate_passes_the_operator_check() {
        use Activation::*;
        for activation in [None, Relu, Swish, Gelu, GeluSigmoid, GeluTanh, Tanh, Sigmoid] {
            check(&Activate(activation), &same(1), 12);
        }
    }
}
