//! The trait of the operations that layers are built from.

use std::ops::Range;

use crate::{Error, Result};
use miriam_nmt_models::architecture::PositionalEncodingKind;

pub use miriam_kernels::activation::Activation;
pub use miriam_kernels::attention::AttentionMask;
use miriam_kernels::operators::{Activate, Add, Normalize};
pub use miriam_kernels::operators::{InPlaceOperator, NormKind, Operator};

use super::RelativePositions;

/// Matrices and the operations of layers on them.
///
/// A [`Tensor`](Backend::Tensor) is a matrix `[rows, width]`; a row is a position of a
/// sentence or a hypothesis. The backend chooses the precision and the memory of its numbers.
/// Lists of `f32` occur only where results leave the backend.
///
/// # Errors
/// Every operation can fail if a device runs out of memory or one of its kernels fails. Backends on
/// the CPU never fail, except that a backend for training lacks
/// [`attend_relative`](Backend::attend_relative).
///
/// # Panics
/// Operations panic if shapes do not fit.
pub trait Backend {
    /// A matrix `[rows, width]`.
    type Tensor;
    /// One or several weight matrices with the same input, their outputs side by side, and
    /// their biases. Parameters of all kinds are shared by threads.
    type Weights: Send + Sync;
    /// A number for each column.
    type Vector: Send + Sync;
    /// A vector for each token of a vocabulary.
    type EmbeddingTable: Send + Sync;
    /// A vector for each position.
    type PositionalEncoding: Send + Sync;
    /// Keys and values of one sentence.
    type PackedKv;
    /// The relative-position terms of self-attention.
    type RelativePositions: Send + Sync;

    /// Returns `[rows, width]` of a tensor.
    fn shape(&self, tensor: &Self::Tensor) -> [usize; 2];

    /// Returns the largest number of rows of whole sentences that should pass through the layers
    /// together. It is small where results should stay in a cache; a device has no limit.
    fn max_group_rows(&self) -> usize {
        usize::MAX
    }

    /// Returns zeros, `[rows, width]`.
    fn zeros(&mut self, rows: usize, width: usize) -> Result<Self::Tensor>;

    /// Returns the rows `indices` of `from`, in that order; an index may occur several times.
    fn index_select(&mut self, from: &Self::Tensor, indices: &[u32]) -> Result<Self::Tensor>;

    /// Returns the vectors of tokens times `scale`, plus the encodings of their positions:
    /// `[tokens, width]`. The vector of a missing token (`None`) is zero.
    fn embed(
        &mut self,
        table: &Self::EmbeddingTable,
        tokens: &[Option<u32>],
        scale: f32,
        positional_encoding: Option<(&Self::PositionalEncoding, &[u32])>,
    ) -> Result<Self::Tensor>;

    /// Computes `activation(input * weights + bias + residual)`: `[rows, inputs]` to
    /// `[rows, outputs]`.
    fn affine(
        &mut self,
        input: &Self::Tensor,
        weights: &Self::Weights,
        epilogue: Epilogue<'_, Self::Tensor>,
    ) -> Result<Self::Tensor>;

    /// Returns the result of an operator; its documentation says which matrices and vectors it
    /// takes.
    fn apply(
        &mut self,
        operator: impl Operator,
        matrices: &[ColumnSlice<'_, Self::Tensor>],
        vectors: &[&Self::Vector],
    ) -> Result<Self::Tensor>;

    /// Returns the result of an operator of one matrix; it may overwrite the matrix.
    fn apply_in_place(
        &mut self,
        operator: &impl InPlaceOperator,
        matrix: Self::Tensor,
        vectors: &[Self::Vector],
    ) -> Result<Self::Tensor> {
        let vectors: Vec<&Self::Vector> = vectors.iter().collect();
        self.apply(operator.clone(), &[self.whole(&matrix)], &vectors)
    }

    /// Applies an activation to every element.
    fn activate(&mut self, rows: &Self::Tensor, activation: Activation) -> Result<Self::Tensor> {
        self.apply(Activate(activation), &[self.whole(rows)], &[])
    }

    /// Returns `rows + other`.
    fn add(&mut self, rows: &Self::Tensor, other: &Self::Tensor) -> Result<Self::Tensor> {
        self.apply(Add, &[self.whole(rows), self.whole(other)], &[])
    }

    /// Applies the norm to each row of a matrix, or of the sum of two matrices.
    fn normalize(
        &mut self,
        norm: &LayerNorm<Self::Vector>,
        summands: &[ColumnSlice<'_, Self::Tensor>],
    ) -> Result<Self::Tensor> {
        match &norm.bias {
            Some(bias) => self.apply(norm.operator(), summands, &[&norm.scale, bias]),
            None => self.apply(norm.operator(), summands, &[&norm.scale]),
        }
    }

    /// Applies the norm to each row.
    fn layer_norm(
        &mut self,
        rows: &Self::Tensor,
        norm: &LayerNorm<Self::Vector>,
    ) -> Result<Self::Tensor> {
        self.normalize(norm, &[self.whole(rows)])
    }

    /// Applies the norm to each row of `rows + residual`.
    fn add_layer_norm(
        &mut self,
        rows: &Self::Tensor,
        residual: &Self::Tensor,
        norm: &LayerNorm<Self::Vector>,
    ) -> Result<Self::Tensor> {
        self.normalize(norm, &[self.whole(rows), self.whole(residual)])
    }

    /// Returns a copy of some columns.
    fn copy(&mut self, part: ColumnSlice<'_, Self::Tensor>) -> Result<Self::Tensor> {
        self.apply(Activate(Activation::None), &[part], &[])
    }

    /// Returns all columns of a tensor.
    fn whole<'a>(&self, tensor: &'a Self::Tensor) -> ColumnSlice<'a, Self::Tensor> {
        ColumnSlice { tensor, columns: 0..self.shape(tensor)[1] }
    }

    /// Packs the keys and values of consecutive sentences, `lengths` rows each.
    fn pack_kv(
        &mut self,
        heads: usize,
        keys: ColumnSlice<'_, Self::Tensor>,
        values: ColumnSlice<'_, Self::Tensor>,
        lengths: &[usize],
    ) -> Result<Vec<Self::PackedKv>>;

    /// Computes multi-head attention; scores are divided by the square root of a head's width. Each
    /// group has the number of its consecutive queries, and the sentence that they attend to.
    fn attend(
        &mut self,
        queries: ColumnSlice<'_, Self::Tensor>,
        groups: &[(usize, &Self::PackedKv)],
        mask: AttentionMask,
    ) -> Result<Self::Tensor>;

    /// Computes self-attention of whole sentences, `lengths` rows each. The scores or the values of
    /// attention depend on the distance of positions. `qkv` are queries, keys and values, `[rows,
    /// width]` each. Only backends for decoding implement this method.
    fn attend_relative(
        &mut self,
        _heads: usize,
        _qkv: [ColumnSlice<'_, Self::Tensor>; 3],
        _lengths: &[usize],
        _mask: AttentionMask,
        _relative: &Self::RelativePositions,
    ) -> Result<Self::Tensor> {
        Err(not_computed("relative positions"))
    }

    /// Works as [`attend`](Backend::attend) with all positions visible, in the layer whose first
    /// head gives the alignment. Backends that train with guided alignment record the attention
    /// weights of this head.
    fn attend_aligned(
        &mut self,
        queries: ColumnSlice<'_, Self::Tensor>,
        groups: &[(usize, &Self::PackedKv)],
    ) -> Result<Self::Tensor> {
        self.attend(queries, groups, AttentionMask::All)
    }

    /// Announces that the rows of the next operations are the positions of sentences, `lengths`
    /// rows each, one sentence after the other. Training draws dropout by sentence and position;
    /// other backends ignore the call.
    fn begin_rows(&mut self, _side: Side, _lengths: &[usize]) {}

    /// Announces the sentence and position of each row, where rows are in another order, such as
    /// the rows of a step. An operation on n rows uses the first n announced positions.
    fn begin_row_positions(&mut self, _side: Side, _rows: &[RowPosition]) {}

    /// Applies dropout at a site in training; otherwise returns `rows` unchanged.
    fn drop_out(&mut self, rows: Self::Tensor, _site: DropoutSite) -> Result<Self::Tensor> {
        Ok(rows)
    }

    /// Whether [`drop_out`](Backend::drop_out) changes rows at a site. Where it does not, layers
    /// may fuse the operations before and after it.
    fn drops_out(&self, _site: DropoutSite) -> bool {
        false
    }
}

/// Returns the error of a backend that lacks an operation which only some models need.
fn not_computed(what: &str) -> Error {
    Error::Device { reason: format!("it does not support {what}") }
}

/// The sentence of a row within its batch, and the position of the row in that sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RowPosition {
    /// The index of the sentence.
    pub sentence: u32,
    /// The position, from 0.
    pub position: u32,
}

/// The side of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Side {
    /// The encoder, with the tokens of the source.
    Source,
    /// The decoder, with the tokens of the target.
    Target,
}

/// The places of a transformer where training drops elements of rows, named after Marian's
/// options.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DropoutSite {
    /// Embeddings with their positional encodings (`transformer-postprocess-emb`).
    Embedding,
    /// The input of a sublayer (`transformer-preprocess`).
    SublayerInput,
    /// The output of a sublayer, before the residual is added (`transformer-postprocess`).
    SublayerOutput,
    /// The output of a stack (`transformer-postprocess-top`).
    StackOutput,
    /// The hidden layers of feed-forward sublayers and of average attention
    /// (`transformer-dropout-ffn`).
    FeedForward,
}

/// Some columns of a tensor, such as one of several GEMM outputs that were computed at once.
pub struct ColumnSlice<'a, T> {
    /// The tensor.
    pub tensor: &'a T,
    /// The columns.
    pub columns: Range<usize>,
}

impl<T> Clone for ColumnSlice<'_, T> {
    fn clone(&self) -> Self {
        ColumnSlice { tensor: self.tensor, columns: self.columns.clone() }
    }
}

impl<'a, T> ColumnSlice<'a, T> {
    /// Returns part `index` of parts of `width` columns each.
    pub fn nth(tensor: &'a T, index: usize, width: usize) -> Self {
        ColumnSlice { tensor, columns: index * width..(index + 1) * width }
    }
}

/// The epilogue of a GEMM: a residual that is added, then an activation.
pub struct Epilogue<'a, T> {
    /// Rows to add.
    pub residual: Option<&'a T>,
    /// The activation.
    pub activation: Activation,
}

impl<T> Default for Epilogue<'_, T> {
    fn default() -> Self {
        Epilogue { residual: None, activation: Activation::default() }
    }
}

impl<T> From<Activation> for Epilogue<'_, T> {
    fn from(activation: Activation) -> Self {
        Epilogue { residual: None, activation }
    }
}

/// A layer norm, `scale * (x - mean) / sqrt(variance + epsilon) + bias`, or an RMS norm, which is
/// the same with 0 as the mean.
pub struct LayerNorm<V> {
    /// The kind of the norm: a layer norm subtracts the mean, an RMS norm does not.
    pub kind: NormKind,
    /// A factor for each column.
    pub scale: V,
    /// An addend for each column.
    pub bias: Option<V>,
    /// Added to the variance.
    pub epsilon: f32,
}

impl<V> LayerNorm<V> {
    /// Returns the operator that computes the norm.
    pub(super) fn operator(&self) -> Normalize {
        Normalize { kind: self.kind, epsilon: self.epsilon }
    }
}

/// Marian's names of the matrices of a product and of their biases. The outputs of several matrices
/// are side by side.
pub struct AffineNames<'a> {
    /// Names of matrices, `[inputs, outputs]` each.
    pub matrices: &'a [&'a str],
    /// Names of biases: one for each matrix, or none at all. An empty name means no bias.
    pub biases: &'a [&'a str],
}

/// Loads the parameters of layers by Marian's names.
///
/// # Errors
/// All methods fail if a parameter is missing or its shape or precision does not fit.
pub trait ParameterLoader<B: Backend + ?Sized> {
    /// Loads the weights of a matrix product.
    fn weights(&mut self, affine: AffineNames<'_>) -> Result<B::Weights>;

    /// Loads the weights of an output layer: the parameter `table`, `[tokens, inputs]` (tied
    /// embeddings or `..._Wt`), and a bias.
    fn output_weights(&mut self, table: &str, bias: Option<&str>) -> Result<B::Weights>;

    /// Loads a vector of one number per column.
    fn vector(&mut self, name: &str) -> Result<B::Vector>;

    /// Loads the numbers of a parameter in row-major order, for computations without the backend.
    fn values(&mut self, name: &str) -> Result<Vec<f32>>;

    /// Loads several vectors and concatenates them.
    fn concat_vectors(&mut self, names: &[&str]) -> Result<B::Vector>;

    /// Loads the vectors of tokens.
    fn embedding_table(&mut self, name: &str) -> Result<B::EmbeddingTable>;

    /// Converts the relative-position terms of self-attention to the type of the backend.
    fn relative_positions(&mut self, host: RelativePositions) -> Result<B::RelativePositions>;

    /// Loads the encodings of positions; `name` is their table if they are learned. Returns `None`
    /// if the model has no absolute positions.
    fn positional_encoding(
        &mut self,
        kind: PositionalEncodingKind,
        width: usize,
        name: &str,
    ) -> Result<Option<B::PositionalEncoding>>;
}
