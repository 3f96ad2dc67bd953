//! Concatenation of matrices by rows or by columns.

use super::{DeviceOperator, InputGradients, Inputs, Operator, common};
use crate::elementwise::add_in_place;
use crate::gemm::plain::add;
use crate::{Cpu, MatMut, MatRef, Real};

/// Any number of matrices of the same width, `[rows, width]` each, below each other:
/// `[sum of rows, width]`.
#[derive(Clone, Copy, Debug)]
pub struct ConcatRows;

/// Any number of matrices with the same number of rows, `[rows, width]` each, side by side:
/// `[rows, sum of widths]`.
#[derive(Clone, Copy, Debug)]
pub struct ConcatColumns;

impl ConcatRows {
    fn for_each_gradient<R>(
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
        add: impl Fn(MatRef<'_, R>, MatMut<'_, R>),
    ) {
        let mut first = 0;
        for into in into.matrices {
            let rows = first..first + into.rows();
            first = rows.end;
            add(d_out.row_range(rows), into.reborrow());
        }
    }
}

impl Operator for ConcatRows {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        let width = common(matrices.iter().map(|[_, width]| *width), "matrices of one width");
        [matrices.iter().map(|[rows, _]| rows).sum(), width]
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::ConcatRows
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let mut first = 0;
        for part in inputs.matrices {
            (0..part.rows())
                .for_each(|row| out.row_mut(first + row).copy_from_slice(part.row(row)));
            first += part.rows();
        }
    }

    fn gradient<R: Real>(
        &self,
        _inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        Self::for_each_gradient(d_out, into, add);
    }

    fn gradient_f32(
        &self,
        cpu: Cpu,
        _inputs: Inputs<'_, f32>,
        _out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        Self::for_each_gradient(d_out, into, |rows, into| add_in_place(cpu, rows, into));
    }
}

impl ConcatColumns {
    fn for_each_gradient<R>(
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
        add: impl Fn(MatRef<'_, R>, MatMut<'_, R>),
    ) {
        let mut first = 0;
        for into in into.matrices {
            let columns = first..first + into.columns();
            first = columns.end;
            add(d_out.column_range(columns), into.reborrow());
        }
    }
}

impl Operator for ConcatColumns {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        let rows =
            common(matrices.iter().map(|[rows, _]| *rows), "matrices with equal numbers of rows");
        [rows, matrices.iter().map(|[_, width]| width).sum()]
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::ConcatColumns
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        for row in 0..out.rows() {
            let mut rest = out.row_mut(row);
            for part in inputs.matrices {
                let (columns, others) = rest.split_at_mut(part.columns());
                columns.copy_from_slice(part.row(row));
                rest = others;
            }
        }
    }

    fn gradient<R: Real>(
        &self,
        _inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        Self::for_each_gradient(d_out, into, add);
    }

    fn gradient_f32(
        &self,
        cpu: Cpu,
        _inputs: Inputs<'_, f32>,
        _out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        Self::for_each_gradient(d_out, into, |rows, into| add_in_place(cpu, rows, into));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ROWS, Shapes, WIDTH, check};
    use super::*;

    /// Without matrices, with a few, and with more than a short list holds inline.
    #[test]
    fn concatenate_passes_the_operator_check() {
        for count in [0, 1, 2, 6] {
            let matrices = (0..count).map(|part| [part % 3, WIDTH]).collect();
            check(&ConcatRows, &Shapes { matrices, vectors: Vec::new() }, 17);
            let matrices = (0..count).map(|part| [ROWS, 5 * part]).collect();
            check(&ConcatColumns, &Shapes { matrices, vectors: Vec::new() }, 18);
        }
    }

    #[test]
    fn matrices_are_joined_in_their_order() {
        let [a, b] = [[1.0, 2.0, 5.0, 6.0], [3.0, 4.0, 7.0, 8.0]];
        let matrices = [MatRef::new(&a, 2, 2), MatRef::new(&b, 2, 2)];
        let inputs = Inputs { matrices: &matrices, vectors: &[] };
        let mut out = [0.0; 8];
        ConcatColumns.forward(inputs, MatMut::new(&mut out, 2, 4));
        assert_eq!(out, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
        ConcatRows.forward(inputs, MatMut::new(&mut out, 4, 2));
        assert_eq!(out, [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
    }
}
