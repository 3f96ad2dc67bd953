//! Gradients of selected rows.

use miriam_kernels::MatRef;

use super::super::node::Tensor;
use super::NodeGradient;
use crate::kernels::Kernels;

impl<K: Kernels> NodeGradient<'_, K> {
    /// Adds the gradients of selected rows to the gradients of the rows that they were selected
    /// from.
    pub(super) fn index_select(&mut self, from: Tensor, indices: &[u32]) {
        let d_out = MatRef::new(self.d_out, self.node.rows, self.node.width);
        let mut from = self.input_gradients.of(from);
        for (row, &index) in indices.iter().enumerate() {
            let index = index as usize;
            let into = from.reborrow().row_range(index..index + 1);
            self.kernels.add(d_out.row_range(row..row + 1), into);
        }
    }
}
