//! The operations of decoding token by token, which training does not need.

use super::{Backend, ColumnSlice, OutputOps, RecurrentOps};
use crate::Result;

/// The operations of a decoding step, in addition to those of [`Backend`].
///
/// The rows of a step are hypotheses. The parent of a row is the row of the previous step that it
/// continues. The first row of a sentence has none.
pub trait DecodingOps: Backend {
    /// The KV cache of one layer: keys and values of all positions of the hypotheses of the last
    /// step. Each backend chooses how to store them: by row and history, or copied from parent to
    /// child.
    type KvCache;

    /// Returns an empty cache.
    fn new_kv_cache(&mut self) -> Result<Self::KvCache>;

    /// Computes a step of self-attention with queries, keys and values `[rows, width]`. Row i
    /// inherits the positions of `parents[i]`, a row of the previous step, and appends its own key
    /// and value. It attends to all of these positions with `heads` heads. Rows of the previous
    /// step without children are dropped. With `relative`, scores or values depend on the distance
    /// of positions; the query of a row is at the last position.
    fn attend_kv_cache(
        &mut self,
        cache: &mut Self::KvCache,
        heads: usize,
        qkv: [ColumnSlice<'_, Self::Tensor>; 3],
        parents: &[Option<u32>],
        relative: Option<&Self::RelativePositions>,
    ) -> Result<Self::Tensor>;

    /// Returns, for each row of the step, its parent's row of `state`; zeros if it has no parent.
    fn gather_state(
        &mut self,
        state: &Self::Tensor,
        parents: &[Option<u32>],
    ) -> Result<Self::Tensor>;

    /// Replaces the rows at `indices` by the rows of `from`, in order.
    fn replace_rows(
        &mut self,
        rows: Self::Tensor,
        indices: &[u32],
        from: ColumnSlice<'_, Self::Tensor>,
    ) -> Result<Self::Tensor>;

    /// Works as [`attend`](Backend::attend) with all positions visible; appends the attention
    /// weights of `head` to `weights`, a list for each query, unless
    /// [`collect_attention_weights`](DecodingOps::collect_attention_weights) does so later.
    fn attend_with_weights(
        &mut self,
        queries: ColumnSlice<'_, Self::Tensor>,
        groups: &[(usize, &Self::PackedKv)],
        head: usize,
        weights: &mut Vec<Vec<f32>>,
    ) -> Result<Self::Tensor>;

    /// Appends the requested attention weights that are still on the device. It is called after the
    /// layers, so that no layer waits for the weights.
    fn collect_attention_weights(&mut self, _weights: &mut Vec<Vec<f32>>) -> Result<()> {
        Ok(())
    }
}

/// A backend that can decode with every architecture.
pub trait DecodingBackend: DecodingOps + RecurrentOps + OutputOps {}

impl<B: DecodingOps + RecurrentOps + OutputOps> DecodingBackend for B {}

/// The CPU or an accelerator, which makes a backend for each thread.
pub trait Device: Send + Sync + 'static {
    /// The backend of a thread.
    type Backend: DecodingBackend + 'static;

    /// Returns a backend for one thread.
    ///
    /// # Errors
    /// If the device cannot provide one.
    fn new_backend(&self) -> Result<Self::Backend>;
}
