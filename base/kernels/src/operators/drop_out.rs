//! Dropout of elements: `m * x` element by element, with a random mask `m`.
//!
//! The mask of a row is a function of a key and of the row's sentence and position. So it need not
//! be stored: the gradient computes it again.

use std::sync::Arc;

use super::{
    DeviceOperator, InputGradients, Inputs, Operator, common_shape, matrix_gradients, same_shape,
};
use crate::elementwise::{add_product, multiply};
use crate::random::{RowKey, fill_dropout_mask};
use crate::{Cpu, MatMut, MatRef, Real};

/// Dropout of a matrix `[rows, width]`: an element becomes 0 with the probability `rate`, and is
/// divided by `1 - rate` otherwise.
#[derive(Clone, Debug)]
pub struct DropOut {
    /// The key of all masks, made of the seed and the epoch.
    pub key: [u32; 2],
    /// The number of this dropout in the network.
    pub site: u32,
    /// The sentence and the position of each row of the matrix.
    pub rows: Arc<[RowKey]>,
    /// The probability that an element is dropped, in [0, 1).
    pub rate: f32,
}

impl DropOut {
    fn fill_mask(&self, cpu: Cpu, row: usize, mask: &mut [f32]) {
        let place = self.rows[row].mask_row(self.site);
        fill_dropout_mask(cpu, self.key, place, 1.0 - self.rate, mask);
    }

    /// Calls `body` with the number of each row and its mask.
    fn with_masks(&self, cpu: Cpu, [rows, width]: [usize; 2], mut body: impl FnMut(usize, &[f32])) {
        let mut mask = vec![0.0; width];
        for row in 0..rows {
            self.fill_mask(cpu, row, &mut mask);
            body(row, &mask);
        }
    }
}

impl Operator for DropOut {
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2] {
        common_shape(matrices)
    }

    fn device(&self, _width: usize) -> DeviceOperator<'_> {
        DeviceOperator::Unsupported
    }

    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, mut out: MatMut<'_, R>) {
        let shape = [out.rows(), out.columns()];
        let [x] = same_shape(&inputs, shape);
        self.with_masks(Cpu::plain(), shape, |row, mask| {
            let elements = out.row_mut(row).iter_mut().zip(x.row(row)).zip(mask);
            elements.for_each(|((out, &x), &m)| *out = x * R::of(m.into()));
        });
    }

    fn forward_f32(&self, cpu: Cpu, inputs: Inputs<'_, f32>, mut out: MatMut<'_, f32>) {
        let shape = [out.rows(), out.columns()];
        let [x] = same_shape(&inputs, shape);
        self.with_masks(cpu, shape, |row, mask| {
            let mask = MatRef::new(mask, 1, mask.len());
            let rows = row..row + 1;
            multiply(cpu, x.row_range(rows.clone()), mask, out.reborrow().row_range(rows));
        });
    }

    fn gradient<R: Real>(
        &self,
        _inputs: Inputs<'_, R>,
        _out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    ) {
        let [d_x] = matrix_gradients(into.matrices);
        self.with_masks(Cpu::plain(), [d_out.rows(), d_out.columns()], |row, mask| {
            let elements = d_x.row_mut(row).iter_mut().zip(d_out.row(row)).zip(mask);
            elements.for_each(|((d_x, &d), &m)| *d_x += d * R::of(m.into()));
        });
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
        self.with_masks(cpu, [d_out.rows(), d_out.columns()], |row, mask| {
            let mask = MatRef::new(mask, 1, mask.len());
            let rows = row..row + 1;
            add_product(cpu, d_out.row_range(rows.clone()), mask, d_x.reborrow().row_range(rows));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ROWS, check, same};
    use super::*;

    #[test]
    fn drop_out_passes_the_operator_check() {
        let rows = (0..ROWS as u32).map(|row| RowKey { sentence: row / 3, position: row % 3 });
        let operator = DropOut { key: [5, 6], site: 2, rows: rows.collect(), rate: 0.4 };
        check(&operator, &same(1), 15);
    }

    #[test]
    fn the_share_that_is_dropped_is_the_rate() {
        let x = vec![1.0f32; 400];
        let rows = Arc::from([RowKey { sentence: 3, position: 1 }]);
        let operator = DropOut { key: [5, 6], site: 2, rows, rate: 0.25 };
        let mut out = vec![f32::NAN; 400];
        let inputs = Inputs { matrices: &[MatRef::new(&x, 1, 400)], vectors: &[] };
        operator.forward(inputs, MatMut::new(&mut out, 1, 400));
        let dropped = out.iter().filter(|&&x| x == 0.0).count();
        // 100 are expected, with a standard deviation of 8.7.
        assert!((65..135).contains(&dropped), "{dropped} of 400 dropped at 0.25");
        assert!(out.iter().all(|&x| x == 0.0 || x == 1.0 / 0.75));
    }
}
