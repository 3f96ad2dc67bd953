//! Norms of separate ranges of columns, for the gates of recurrent cells.

use std::ops::Range;

use super::Normalize;
use crate::elementwise::add_in_place;
use crate::gemm::plain::add;
use crate::operators::{
    DeviceColumns, DeviceKernel, DeviceOperator, InPlaceOperator, InputGradients, Inputs, Operator,
    common_shape, matrix_gradients, same_shape,
};
use crate::{Cpu, MatMut, MatRef, Real};

/// The norm of a range of columns.
#[derive(Clone, Debug)]
pub struct ColumnNorm {
    /// The columns.
    pub columns: Range<usize>,
    /// The norm of each row's numbers in these columns.
    pub norm: Normalize,
    /// Whether the norm has a bias.
    pub has_bias: bool,
}

/// Norms of ranges of columns of a matrix `[rows, width]`; columns without a norm are copied. The
/// vectors are, norm by norm, the scale and the bias, if any, with one number for each column of
/// the norm.
#[derive(Clone, Debug)]
pub struct NormalizeColumns {
    /// The norms, by ascending columns that do not overlap.
    pub norms: Vec<ColumnNorm>,
}

impl NormalizeColumns {
    /// Returns each norm with the indices of its vectors.
    fn with_vectors(&self) -> impl Iterator<Item = (&ColumnNorm, Range<usize>)> {
        let mut first = 0;
        self.norms.iter().map(move |norm| {
            let vectors = first..first + 1 + usize::from(norm.has_bias);
            first = vectors.end;
            (norm, vectors)
        })
    }

    /// Returns the ranges of the `width` columns that have no norm.
    fn gaps(&self, width: usize) -> impl Iterator<Item = Range<usize>> {
        let starts = self.norms.iter().map(|norm| norm.columns.start).chain([width]);
        let mut end = 0;
        let ends = self.norms.iter().map(|norm| norm.columns.end);
        starts.zip(ends.chain([width])).map(move |(start, next_end)| {
            let gap = end..start;
            assert!(gap.start <= gap.end, "columns of norms must ascend and be within the matrix");
            end = next_end;
            gap
        })
    }

    /// Copies the columns without a norm, and calls `run` for the others.
    fn compute<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        mut out: MatMut<'_, R>,
        run: impl Fn(Normalize, Inputs<'_, R>, MatMut<'_, R>),
    ) {
        let width = out.columns();
        let [x] = same_shape(&inputs, [out.rows(), width]);
        for gap in self.gaps(width) {
            for row in 0..out.rows() {
                out.row_mut(row)[gap.clone()].copy_from_slice(&x.row(row)[gap.clone()]);
            }
        }
        for (norm, vectors) in self.with_vectors() {
            let matrices = [x.column_range(norm.columns.clone())];
            let inputs = Inputs { matrices: &matrices, vectors: &inputs.vectors[vectors] };
            run(norm.norm, inputs, out.reborrow().column_range(norm.columns.clone()));
        }
    }

    /// Calls `add` for the gradients of the columns without a norm, and `run` for the others.
    fn add_gradients<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
        run: impl Fn(Normalize, Inputs<'_, R>, MatRef<'_, R>, InputGradients<'_, '_, '_, R>),
        add: impl Fn(MatRef<'_, R>, MatMut<'_, R>),
    ) {
        let [x] = same_shape(&inputs, [d_out.rows(), d_out.columns()]);
        let [d_x] = matrix_gradients(into.matrices);
        for gap in self.gaps(d_out.columns()) {
            add(d_out.column_range(gap.clone()), d_x.reborrow().column_range(gap));
        }
        for (norm, vectors) in self.with_vectors() {
            let columns = norm.columns.clone();
            let matrices = [x.column_range(columns.clone())];
            let inputs = Inputs { matrices: &matrices, vectors: &inputs.vectors[vectors.clone()] };
            let mut gradients = [d_x.reborrow().column_range(columns.clone())];
            let into =
                InputGradients { matrices: &mut gradients, vectors: &mut into.vectors[vectors] };
            run(norm.norm, inputs, d_out.column_range(columns), into);
        }
    }
}

impl Operator for NormalizeColumns {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, width: usize) -> DeviceOperator<'_> {
        let copies = self.gaps(width).map(|columns| DeviceColumns {
            columns,
            kernel: DeviceKernel::COPY,
            by_rows: false,
            vectors: 0..0,
        });
        let norms = self.with_vectors().map(|(norm, vectors)| DeviceColumns {
            columns: norm.columns.clone(),
            kernel: norm.norm.device_kernel(),
            by_rows: true,
            vectors,
        });
        DeviceOperator::ColumnRanges(copies.chain(norms).collect())
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, out: MatMut<'_, R>) {
        self.compute(inputs, out, |norm, inputs, out| norm.forward(inputs, out));
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, out: MatMut<'_, f32>) {
        self.compute(inputs, out, |norm, inputs, out| {
            Operator::forward_f32(&norm, cpu, inputs, out);
        });
    }

    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        // The gradient of a norm does not read its result.
        self.add_gradients(
            inputs,
            d_out,
            into,
            |norm, inputs, d_out, into| norm.gradient(inputs, out, d_out, into),
            add,
        );
    }

    fn gradient_f32(
        &self,
        cpu: Cpu,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    ) {
        // The gradient of a norm does not read its result.
        self.add_gradients(
            inputs,
            d_out,
            into,
            |norm, inputs, d_out, into| norm.gradient_f32(cpu, inputs, out, d_out, into),
            |rows, into| add_in_place(cpu, rows, into),
        );
    }
}

impl InPlaceOperator for NormalizeColumns {
    fn forward_in_place_f32(&self, cpu: Cpu, mut matrix: MatMut<'_, f32>, vectors: &[&[f32]]) {
        for (norm, indices) in self.with_vectors() {
            let columns = matrix.reborrow().column_range(norm.columns.clone());
            norm.norm.forward_in_place_f32(cpu, columns, &vectors[indices]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::NormKind;
    use crate::operators::tests::{Shapes, check, check_in_place, same};

    /// Columns at both ends and between the norms have no norm.
    #[test]
    fn normalize_columns_passes_the_operator_check() {
        for kind in [NormKind::Layer, NormKind::Rms] {
            let norm = Normalize { kind, epsilon: 1e-2 };
            let part = |columns, has_bias| ColumnNorm { columns, norm, has_bias };
            let norms = vec![part(2..19, true), part(20..34, false)];
            let shapes = Shapes { vectors: vec![17, 17, 14], ..same(1) };
            let norms = NormalizeColumns { norms };
            check(&norms, &shapes, 21);
            check_in_place(&norms, &shapes, 23);
        }
    }
}
