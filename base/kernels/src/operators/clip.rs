//! Clipping of numbers to two limits, for inputs of matrix products that will be rounded to
//! integers.

use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, common_shape, matrix_gradients,
    same_shape,
};
use crate::{Cpu, MatMut, MatRef, Real};

/// For each element of a matrix, `[rows, width]`, the nearest number from `-limit` to `limit`. NaN
/// stays. An element that was cut off gets no gradient.
#[derive(Clone, Copy, Debug)]
pub struct Clip {
    /// The largest magnitude.
    pub limit: f32,
}

impl Operator for Clip {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Elements(DeviceKernel {
            number: self.limit,
            ..DeviceKernel::new("clip", [1, 1])
        })
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let [x] = same_shape(&inputs, [out.rows(), out.columns()]);
        let limit = R::of(self.limit.into());
        for row in 0..out.rows() {
            let elements = out.row_mut(row).iter_mut().zip(x.row(row));
            elements.for_each(|(out, &x)| *out = x.clipped(limit));
        }
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
        let limit = R::of(self.limit.into());
        for row in 0..d_out.rows() {
            let elements = d_x.row_mut(row).iter_mut().zip(d_out.row(row)).zip(x.row(row));
            let inside = elements.filter(|(_, x)| x.clipped(limit) == **x);
            inside.for_each(|((d_x, &d), _)| *d_x += d);
        }
    }

    /// Runs the plain loop: the gradient of the matrix product that follows costs hundreds of times
    /// as much.
    fn gradient_f32(
        &self,
        _: Cpu,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        self.gradient(inputs, out, d_out, into);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{check, same};
    use super::*;

    #[test]
    fn clip_passes_the_operator_check() {
        check(&Clip { limit: 0.7 }, &same(1), 14);
    }

    /// A number that equals the limit is kept, and so is NaN.
    #[test]
    fn numbers_are_cut_off_at_the_limit() {
        let x = [0.5, -2.0, 1.0, f32::NAN];
        let inputs = Inputs { matrices: &[MatRef::new(&x, 1, 4)], vectors: &[] };
        let mut out = [0.0; 4];
        Clip { limit: 1.0 }.forward(inputs, MatMut::new(&mut out, 1, 4));
        assert_eq!(out[..3], [0.5, -1.0, 1.0]);
        assert!(out[3].is_nan());
    }
}
