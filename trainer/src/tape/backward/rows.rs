//! Gradients of operations that select, join, copy or average rows and columns.

use miriam_kernels::MatRef;

use super::super::node::Tensor;
use super::NodeGradient;
use crate::Real;
use crate::kernels::Kernels;

impl<K: Kernels> NodeGradient<'_, K> {
    pub(super) fn index_select(&mut self, from: Tensor, indices: &[u32]) {
        let own = MatRef::new(self.own, self.node.rows, self.node.width);
        let mut from = self.into.of(from);
        for (row, &index) in indices.iter().enumerate() {
            let index = index as usize;
            let into = from.reborrow().row_range(index..index + 1);
            self.kernels.add(own.row_range(row..row + 1), into);
        }
    }

    pub(super) fn concat_rows(&mut self, parts: &[Tensor]) {
        let own = MatRef::new(self.own, self.node.rows, self.node.width);
        let mut first = 0;
        for part in parts {
            let rows = first..first + part.rows();
            first = rows.end;
            self.into.add(self.kernels, own.row_range(rows), *part);
        }
    }

    pub(super) fn concat_columns(&mut self, parts: &[Tensor]) {
        let own = MatRef::new(self.own, self.node.rows, self.node.width);
        let mut first = 0;
        for part in parts {
            let columns = first..first + part.width();
            first = columns.end;
            self.into.add(self.kernels, own.column_range(columns), *part);
        }
    }

    pub(super) fn mean_pool(&mut self, rows: Tensor, lengths: &[usize]) {
        let own = MatRef::new(self.own, self.node.rows, self.node.width);
        let mut rest = self.into.of(rows);
        for (sentence, &length) in lengths.iter().enumerate() {
            let factor = K::Real::of(1.0 / length as f64);
            let own = own.row_range(sentence..sentence + 1);
            let (mut rows, others) = rest.split_rows(length);
            rest = others;
            for row in 0..length {
                let into = rows.reborrow().row_range(row..row + 1);
                self.kernels.add_scaled(factor, own, into);
            }
        }
    }
}
