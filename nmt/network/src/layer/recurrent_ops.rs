//! The operations that recurrent layers need in addition to those of all layers.
//!
//! A recurrent step is a product of the state, a product of the input, and an element-wise
//! operation on both. [`Backend::affine`] computes the products, and [`Backend::apply`] the
//! element-wise operation. [`RecurrentOps`] adds the attention of recurrent decoders and the cache
//! of projected embeddings.

use super::{AffineNames, Backend, Epilogue, ParameterLoader};
use crate::Result;

pub use miriam_kernels::operators::{ActivationImpl, GruVariant};
use miriam_kernels::operators::{ConcatColumns, ConcatRows, MeanPool};

/// The score of a key for a query in the attention of recurrent decoders.
pub enum AttentionScore<V> {
    /// `v . tanh(key + query)` (Bahdanau et al. 2015).
    Additive(V),
    /// `key . query`, not scaled (Devlin 2017, section 4, where both have passed tanh).
    DotProduct,
}

/// The operations of recurrent layers.
pub trait RecurrentOps: Backend {
    /// The encoder states of a sentence as attention sees them: a key and a value for each
    /// position.
    type Annotations;
    /// Products of token vectors with weights; the products of frequent tokens are computed only
    /// once (Devlin 2017, section 4.2).
    type ProjectedEmbeddingCache: Send + Sync;

    /// Concatenates tensors of the same width below each other.
    fn concat_rows(&mut self, parts: &[&Self::Tensor]) -> Result<Self::Tensor> {
        let parts: Vec<_> = parts.iter().map(|part| self.whole(*part)).collect();
        self.apply(ConcatRows, &parts, &[])
    }

    /// Concatenates tensors with the same number of rows side by side.
    fn concat_columns(&mut self, parts: &[&Self::Tensor]) -> Result<Self::Tensor> {
        let parts: Vec<_> = parts.iter().map(|part| self.whole(*part)).collect();
        self.apply(ConcatColumns, &parts, &[])
    }

    /// Returns the mean row of each sentence, `[sentences, width]`; sentences have `lengths` rows
    /// each, at least one.
    fn mean_pool(&mut self, rows: &Self::Tensor, lengths: &[usize]) -> Result<Self::Tensor> {
        self.apply(MeanPool { lengths: lengths.to_vec() }, &[self.whole(rows)], &[])
    }

    /// Returns the projected embeddings of tokens, `[tokens, outputs]`. The embedding of a missing
    /// token (`None`) is zero, so its row is the bias, or zero if there is none.
    fn embed_projected(
        &mut self,
        cache: &Self::ProjectedEmbeddingCache,
        tokens: &[Option<u32>],
    ) -> Result<Self::Tensor>;

    /// Computes [`affine`](Backend::affine) for inputs and states of recurrent cells and of their
    /// attention. Training drops columns of the input, the same columns at all times of a sentence
    /// ("variational dropout", Gal and Ghahramani 2016).
    fn affine_after_dropout(
        &mut self,
        input: &Self::Tensor,
        weights: &Self::Weights,
        epilogue: Epilogue<'_, Self::Tensor>,
    ) -> Result<Self::Tensor> {
        self.affine(input, weights, epilogue)
    }

    /// Computes [`embed_projected`](RecurrentOps::embed_projected) for the input of a cell:
    /// training drops columns of embeddings as
    /// [`affine_after_dropout`](RecurrentOps::affine_after_dropout) does.
    fn embed_projected_after_dropout(
        &mut self,
        cache: &Self::ProjectedEmbeddingCache,
        tokens: &[Option<u32>],
    ) -> Result<Self::Tensor> {
        self.embed_projected(cache, tokens)
    }

    /// Packs the keys and values of consecutive sentences, `lengths` rows each.
    fn annotate(
        &mut self,
        attention_score: &AttentionScore<Self::Vector>,
        keys: &Self::Tensor,
        values: &Self::Tensor,
        lengths: &[usize],
    ) -> Result<Vec<Self::Annotations>>;

    /// Returns the sums of values, weighted by the softmax of the scores of keys. `attention_score`
    /// must be as in [`annotate`](RecurrentOps::annotate). Each group has the number of its
    /// consecutive queries, and the sentence that they attend to. If `weights` is given, appends
    /// the attention weights to it, one list per query; decoding may do so later
    /// ([`collect_attention_weights`](super::DecodingOps::collect_attention_weights)).
    fn attend_annotations(
        &mut self,
        activation_impl: ActivationImpl,
        attention_score: &AttentionScore<Self::Vector>,
        queries: &Self::Tensor,
        groups: &[(usize, &Self::Annotations)],
        weights: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<Self::Tensor>;
}

/// Loader of the parameters that only recurrent layers have.
pub trait RecurrentParameterLoader<B: RecurrentOps + ?Sized>: ParameterLoader<B> {
    /// Loads a cache of the products of the embedding table `table` with weights. It keeps the
    /// products of the first `cached_tokens` tokens: vocabularies begin with the frequent tokens.
    ///
    /// # Errors
    /// If a parameter is missing or its shape or precision does not fit.
    fn projected_embedding_cache(
        &mut self,
        table: &str,
        affine: AffineNames<'_>,
        cached_tokens: usize,
    ) -> Result<B::ProjectedEmbeddingCache>;
}
