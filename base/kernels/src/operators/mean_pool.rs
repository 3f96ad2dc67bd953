//! The mean row of each sequence, from which recurrent decoders start.

use std::borrow::Cow;

use super::{
    DeviceKernel, DeviceOperator, InputGradients, Inputs, Operator, Sequences, matrix_gradients,
};
use crate::elementwise::add_scaled;
use crate::{Cpu, MatMut, MatRef, Real};

/// The mean row of each sequence: `[rows, width]` to `[sequences, width]`.
#[derive(Clone, Debug)]
pub struct MeanPool {
    /// The number of rows of each sequence, at least one. The sequences follow each other in the
    /// rows.
    pub lengths: Vec<usize>,
}

impl MeanPool {
    /// Returns each sequence with its rows.
    fn ranges(&self) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
        let mut first = 0;
        self.lengths.iter().enumerate().map(move |(sequence, length)| {
            let rows = first..first + length;
            first = rows.end;
            (sequence, rows)
        })
    }
}

impl Operator for MeanPool {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        let [[rows, width]] = matrices.try_into().expect("one matrix");
        assert_eq!(self.lengths.iter().sum::<usize>(), rows, "every row is in a sequence");
        [self.lengths.len(), width]
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Sequences {
            kernel: DeviceKernel::new("mean_pool", [1, 1]),
            sequences: Cow::Owned(Sequences::Lengths(self.lengths.clone())),
            counts: &[],
        }
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let [x] = inputs.matrices.try_into().expect("one matrix");
        let x: MatRef<'_, R> = x;
        for (sequence, rows) in self.ranges() {
            let count = R::of(rows.len() as f64);
            let mean = out.row_mut(sequence);
            mean.fill(R::ZERO);
            for row in rows {
                mean.iter_mut().zip(x.row(row)).for_each(|(sum, &x)| *sum += x);
            }
            mean.iter_mut().for_each(|sum| *sum /= count);
        }
    }

    fn gradient<R: Real>(
        &self,
        _inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let [d_x] = matrix_gradients(into.matrices);
        for (sequence, rows) in self.ranges() {
            let count = R::of(rows.len() as f64);
            for row in rows {
                let elements = d_x.row_mut(row).iter_mut().zip(d_out.row(sequence));
                elements.for_each(|(d_x, &d)| *d_x += d / count);
            }
        }
    }

    fn gradient_f32(
        &self,
        cpu: Cpu,
        _inputs: Inputs<'_, f32>,
        _out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        let [d_x] = matrix_gradients(into.matrices);
        for (sequence, rows) in self.ranges() {
            let share = (1.0 / rows.len() as f64) as f32;
            for row in rows {
                let d_mean = d_out.row_range(sequence..sequence + 1);
                add_scaled(cpu, share, d_mean, d_x.reborrow().row_range(row..row + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Shapes, WIDTH, check};
    use super::*;

    #[test]
    fn mean_pool_passes_the_operator_check() {
        let shapes = Shapes { matrices: vec![[6, WIDTH]], vectors: Vec::new() };
        check(&MeanPool { lengths: vec![3, 1, 2] }, &shapes, 16);
    }
}
