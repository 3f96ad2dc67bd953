//! Layer norm and RMS norm of rows, and of sums of two rows.
//!
//! A row has a few kilobytes and stays in the first-level cache, so three passes compute the mean,
//! the variance and the result. The variance is computed around the mean, which is more accurate
//! than a single pass. The gradient repeats the first two passes, which costs less than storing
//! their results.

mod columns;
mod row;

use super::{
    DeviceKernel, DeviceOperator, InPlaceOperator, InputGradients, Inputs, Operator, assert_shape,
    common_shape,
};
use crate::elementwise::add_in_place;
use crate::isa::dispatch;
use crate::{Cpu, MatMut, MatRef, Real};
use row::{
    RowGradients, add_row_gradient, add_row_gradient_plain, norm_row_plain, norm_rows,
    norm_rows_in_place,
};

pub use columns::{ColumnNorm, NormalizeColumns};

/// The kind of a norm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NormKind {
    /// Layer norm: `(x - mean) / sqrt(var + epsilon)`, with the variance of the population.
    Layer,
    /// RMS norm: `x / sqrt(mean(x^2) + epsilon)`.
    Rms,
}

/// The norm of each row of a matrix, or of the sum of two. The matrices, `[rows, width]`, are one
/// or two summands; the vectors, a number for each column, are the scale and, if any, the bias:
/// `norm(a + b) * scale + bias`.
///
/// Let x be the sum, r the reciprocal of the root, `xh = (x - mean) r`, d the gradient of the
/// result and `q = d * scale`. The gradient of both summands is `r (q - mean(q) - xh mean(q xh))`;
/// for RMS norms `mean` and `mean(q)` are left out. The gradient of the scale is the sum of `d xh`
/// over rows, and the gradient of the bias is the sum of d.
#[derive(Clone, Copy, Debug)]
pub struct Normalize {
    /// Layer norm or RMS norm.
    pub kind: NormKind,
    /// Added under the root: 1e-6 in Marian's transformers, 1e-9 in its recurrent networks, 1e-5 in
    /// Nematus and CTranslate2, where RMS norms have 1e-6.
    pub epsilon: f32,
}

/// A norm with its vectors, `[columns]` each.
#[derive(Clone, Copy)]
struct Norm<'a, R> {
    kind: NormKind,
    epsilon: f32,
    scale: &'a [R],
    bias: Option<&'a [R]>,
}

impl Normalize {
    fn device_kernel(&self) -> DeviceKernel {
        DeviceKernel {
            code: u32::from(self.kind == NormKind::Rms),
            number: self.epsilon,
            vectors: [1, 2],
            ..DeviceKernel::new("normalize", [1, 2])
        }
    }

    fn with_vectors<'a, R>(&self, vectors: &[&'a [R]], width: usize) -> Norm<'a, R> {
        let (scale, bias) = match *vectors {
            [scale] => (scale, None),
            [scale, bias] => (scale, Some(bias)),
            _ => panic!("a norm has a scale and at most a bias"),
        };
        assert_eq!(scale.len(), width, "a scale for each column");
        assert!(bias.is_none_or(|bias| bias.len() == width), "a bias for each column");
        Norm { kind: self.kind, epsilon: self.epsilon, scale, bias }
    }
}

/// Returns the rows and the residual that is added to them.
fn summands<'a, R>(
    inputs: &Inputs<'a, R>,
    shape: [usize; 2],
) -> (MatRef<'a, R>, Option<MatRef<'a, R>>) {
    inputs.matrices.iter().for_each(|matrix| assert_shape(matrix, shape));
    match *inputs.matrices {
        [rows] => (rows, None),
        [rows, residual] => (rows, Some(residual)),
        _ => panic!("a norm of one matrix or the sum of two"),
    }
}

impl Normalize {
    /// Adds the gradients of all rows. `add_row` adds the gradients of one row, given the sum that
    /// is normalised and the gradient of the result; `add` adds a row to another one.
    fn add_gradients<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
        add_row: impl Fn(Norm<'_, R>, &[R], &[R], RowGradients<'_, R>),
        add: impl Fn(&[R], &mut [R]),
    ) {
        let width = d_out.columns();
        let norm = self.with_vectors(inputs.vectors, width);
        let (rows, residual) = summands(&inputs, [d_out.rows(), width]);
        let [d_scale, d_bias @ ..] = into.vectors else { panic!("a gradient for each vector") };
        let mut d_bias = d_bias.first_mut();
        let [mut sum, mut d_sum] = [(); 2].map(|()| vec![R::ZERO; width]);
        for row in 0..d_out.rows() {
            let (scale, bias) = (&mut **d_scale, d_bias.as_mut().map(|bias| &mut ***bias));
            match (&mut *into.matrices, residual) {
                ([d_rows], None) => {
                    let gradients = RowGradients { row: d_rows.row_mut(row), scale, bias };
                    add_row(norm, rows.row(row), d_out.row(row), gradients);
                }
                ([d_rows, d_residual], Some(residual)) => {
                    let summands = rows.row(row).iter().zip(residual.row(row));
                    sum.iter_mut().zip(summands).for_each(|(sum, (&a, &b))| *sum = a + b);
                    d_sum.fill(R::ZERO);
                    let gradients = RowGradients { row: &mut d_sum, scale, bias };
                    add_row(norm, &sum, d_out.row(row), gradients);
                    add(&d_sum, d_rows.row_mut(row));
                    add(&d_sum, d_residual.row_mut(row));
                }
                _ => panic!("a gradient for each matrix"),
            }
        }
    }
}

impl Operator for Normalize {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Rows(self.device_kernel())
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let norm = self.with_vectors(inputs.vectors, out.columns());
        let (rows, residual) = summands(&inputs, [out.rows(), out.columns()]);
        for row in 0..out.rows() {
            let residual = residual.map(|residual| residual.row(row));
            norm_row_plain(norm, rows.row(row), residual, out.row_mut(row));
        }
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, out: MatMut<'_, f32>) {
        let norm = self.with_vectors(inputs.vectors, out.columns());
        let (rows, residual) = summands(&inputs, [out.rows(), out.columns()]);
        dispatch!(cpu, norm_rows(norm, rows, residual, out));
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        self.add_gradients(inputs, d_out, into, add_row_gradient_plain, |row, into| {
            into.iter_mut().zip(row).for_each(|(into, &x)| *into += x);
        });
    }

    fn gradient_f32(
        &self,
        cpu: Cpu,
        inputs: Inputs<'_, f32>,
        _out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        self.add_gradients(
            inputs,
            d_out,
            into,
            |norm, x, d, into| dispatch!(cpu, add_row_gradient(norm, x, d, into)),
            |row, into| {
                let width = row.len();
                add_in_place(cpu, MatRef::new(row, 1, width), MatMut::new(into, 1, width));
            },
        );
    }
}

impl InPlaceOperator for Normalize {
    fn forward_in_place_f32(&self, cpu: Cpu, matrix: MatMut<'_, f32>, vectors: &[&[f32]]) {
        let norm = self.with_vectors(vectors, matrix.columns());
        dispatch!(cpu, norm_rows_in_place(norm, matrix));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::tests::{Shapes, WIDTH, check, check_in_place, same};

    #[test]
    fn normalize_passes_the_operator_check() {
        for kind in [NormKind::Layer, NormKind::Rms] {
            let norm = Normalize { kind, epsilon: 1e-2 };
            for num_summands in [1, 2] {
                for num_vectors in [1, 2] {
                    let vectors = vec![WIDTH; num_vectors];
                    let shapes = Shapes { vectors, ..same(num_summands) };
                    check(&norm, &shapes, 19);
                    if num_summands == 1 {
                        check_in_place(&norm, &shapes, 22);
                    }
                }
            }
            for [rows, width] in [[3, 1], [3, 16], [3, 33], [0, WIDTH]] {
                let shapes = Shapes { matrices: vec![[rows, width]], vectors: vec![width] };
                check(&norm, &shapes, 20);
            }
        }
    }
}
