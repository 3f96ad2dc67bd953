//! What recurrent layers ask of a backend beside the operations all layers need.
//!
//! A recurrent step is a product of the state, a product of the input, and a pass over
//! both. The products are [`Backend::affine`]; the passes are here, with the attention of
//! recurrent decoders and with the table of products that frequent words have.

use std::ops::Range;

use super::{AffineNames, Backend, ColumnSlice, LayerNorm, ParameterLoader};
use crate::Result;

pub use miriam_kernels::cell::GruVariant;

/// How sigmoid and tanh are computed in cells and in attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ActivationImpl {
    /// From the exponential, with no vector instructions beyond those of the target: what
    /// the others are measured against.
    Scalar,
    /// From the exponential, by vector instructions.
    #[default]
    Vector,
    /// From tables of 4,096 entries (Devlin 2017, section 4.4): sigmoid within 6e-4, tanh
    /// within 2e-3.
    Table,
}

/// How well a key fits a query.
pub enum AttentionScore<V> {
    /// `v . tanh(key + query)` (Bahdanau et al. 2015).
    Additive(V),
    /// `key . query`, not scaled (Devlin 2017, section 4, where both are tanh already).
    DotProduct,
}

/// Norms of successive parts of rows.
pub type ColumnNorms<B> = Vec<(Range<usize>, LayerNorm<<B as Backend>::Vector>)>;

/// The operations of recurrent layers.
pub trait RecurrentOps: Backend {
    /// What attention keeps of a sentence: a key and a value for each of its words.
    type Annotations;
    /// Products of the vectors of words with weights, of which the frequent ones are
    /// computed once (Devlin 2017, section 4.2).
    type ProjectedEmbeddingCache;

    /// Rows one after the other; all of one width.
    fn concat_rows(&mut self, parts: &[&Self::Tensor]) -> Self::Tensor;

    /// Rows side by side; as many in each.
    fn concat_columns(&mut self, parts: &[&Self::Tensor]) -> Self::Tensor;

    /// Some columns by themselves.
    fn copy_columns(&mut self, part: ColumnSlice<'_, Self::Tensor>) -> Self::Tensor;

    /// The mean row of each sentence; `lengths` rows each, none of them 0.
    fn mean_pool(&mut self, rows: &Self::Tensor, lengths: &[usize]) -> Self::Tensor;

    /// Norms of parts of the columns, each by itself.
    fn norm_columns(
        &mut self,
        rows: Self::Tensor,
        norms: &[(Range<usize>, LayerNorm<Self::Vector>)],
    ) -> Self::Tensor;

    /// The products of words; no word has a vector of zeros.
    fn embed_projected(
        &mut self,
        cache: &Self::ProjectedEmbeddingCache,
        words: &[Option<u32>],
    ) -> Self::Tensor;

    /// A step of a gated recurrent unit: products of the input (none in transitions) and of
    /// the state with three gates r, z and candidate, to the next state.
    fn gru_cell(
        &mut self,
        how: (ActivationImpl, GruVariant),
        input: Option<ColumnSlice<'_, Self::Tensor>>,
        recurrent: &Self::Tensor,
        bias: Option<&Self::Vector>,
        state: &Self::Tensor,
    ) -> Self::Tensor;

    /// A step of a long short-term memory, gates in the order f, i, g, o: the next output
    /// and cell.
    fn lstm_cell(
        &mut self,
        activation_impl: ActivationImpl,
        input: Option<ColumnSlice<'_, Self::Tensor>>,
        recurrent: &Self::Tensor,
        bias: &Self::Vector,
        cell: Self::Tensor,
    ) -> [Self::Tensor; 2];

    /// What stands for the state in an mLSTM:
    /// `(input + input_bias) * (recurrent + recurrent_bias)`.
    fn multiplicative_state(
        &mut self,
        input: ColumnSlice<'_, Self::Tensor>,
        input_bias: &Self::Vector,
        recurrent: &Self::Tensor,
        recurrent_bias: &Self::Vector,
    ) -> Self::Tensor;

    /// Keys and values of sentences that lie one after the other, `lengths` rows each.
    fn annotate(
        &mut self,
        attention_score: &AttentionScore<Self::Vector>,
        keys: &Self::Tensor,
        values: &Self::Tensor,
        lengths: &[usize],
    ) -> Vec<Self::Annotations>;

    /// The sums of values, weighted by the softmax of how keys fit the query, as they were
    /// annotated for. Queries lie in
    /// groups one after the other: so many rows that look at one sentence. `weights`,
    /// where wanted, gets a list for each query.
    fn attend_annotations(
        &mut self,
        activation_impl: ActivationImpl,
        attention_score: &AttentionScore<Self::Vector>,
        queries: &Self::Tensor,
        groups: &[(usize, &Self::Annotations)],
        weights: Option<&mut Vec<Vec<f32>>>,
    ) -> Self::Tensor;
}

/// Where recurrent layers get what only they have.
pub trait RecurrentParameterLoader<B: RecurrentOps + ?Sized>: ParameterLoader<B> {
    /// The products of the table `table` with weights. Those of the words below `kept` are
    /// kept once they are computed; vocabularies begin with the frequent ones.
    fn projected_embedding_cache(
        &mut self,
        table: &str,
        affine: AffineNames<'_>,
        kept: usize,
    ) -> Result<B::ProjectedEmbeddingCache>;
}
