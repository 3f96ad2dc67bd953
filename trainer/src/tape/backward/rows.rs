//! Gradients of selected rows.

use miriam_kernels::MatRef;

use super::super::node::Tensor;
use super::NodeGradient;
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
}
