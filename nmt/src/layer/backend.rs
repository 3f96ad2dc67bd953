//! What layers are written against.

use std::ops::Range;

use crate::Result;
use crate::architecture::PositionalEncodingKind;

pub use miriam_kernels::activation::Activation;
pub use miriam_kernels::attention::AttentionMask;

/// Matrices of f32 and what layers do with them. A row is a position or a hypothesis.
///
/// Operations take shapes that fit; others are mistakes of the program and panic.
pub trait Backend {
    /// Rows of numbers.
    type Tensor;
    /// The weights of one or several products with the same input, results side by side, and
    /// their biases.
    type Weights;
    /// A number for each column.
    type Vector;
    /// A vector for each word.
    type EmbeddingTable;
    /// The marks of positions.
    type PositionalEncoding;
    /// Keys and values of one sentence.
    type PackedKv;

    /// Rows and width.
    fn shape(&self, rows: &Self::Tensor) -> [usize; 2];

    /// Zeros.
    fn zeros(&mut self, rows: usize, width: usize) -> Self::Tensor;

    /// The rows `which` of `from`, in that order; one may come several times.
    fn index_select(&mut self, from: &Self::Tensor, which: &[u32]) -> Self::Tensor;

    /// `scale` times the vectors of words, zeros where there is none, plus the marks of
    /// `positions`.
    fn embed(
        &mut self,
        table: &Self::EmbeddingTable,
        words: &[Option<u32>],
        scale: f32,
        positional_encoding: Option<(&Self::PositionalEncoding, &[u32])>,
    ) -> Self::Tensor;

    /// `activation(input * weights + bias + residual)`.
    fn affine(
        &mut self,
        input: &Self::Tensor,
        weights: &Self::Weights,
        epilogue: Epilogue<'_, Self::Tensor>,
    ) -> Self::Tensor;

    /// `rows + other`.
    fn add(&mut self, rows: Self::Tensor, other: &Self::Tensor) -> Self::Tensor;

    /// The norm of `rows`, which stay as they are.
    fn layer_norm(&mut self, rows: &Self::Tensor, norm: &LayerNorm<Self::Vector>) -> Self::Tensor;

    /// The norm of `rows + residual`.
    fn add_layer_norm(
        &mut self,
        rows: Self::Tensor,
        residual: &Self::Tensor,
        norm: &LayerNorm<Self::Vector>,
    ) -> Self::Tensor;

    /// Applies a function to every number.
    fn activate(&mut self, rows: Self::Tensor, activation: Activation) -> Self::Tensor;

    /// The same rows once more.
    fn copy(&mut self, rows: &Self::Tensor) -> Self::Tensor;

    /// The linear recurrence `c = g c' + (1 - g) x` along sequences, with `g` the sigmoid of
    /// `gate` and c' that of the row before; `before` has a row for each sequence, what it
    /// begins with. Gives c of every row.
    fn linear_recurrence(
        &mut self,
        gate: ColumnSlice<'_, Self::Tensor>,
        input: ColumnSlice<'_, Self::Tensor>,
        before: Self::Tensor,
        sequences: SequenceLayout<'_>,
    ) -> Self::Tensor;

    /// The mean of the rows of a sequence so far, for every row. `before` has for each
    /// sequence a mean, and `seen` of how many rows that is.
    fn running_mean(
        &mut self,
        input: &Self::Tensor,
        before: Self::Tensor,
        seen: &[u32],
        sequences: SequenceLayout<'_>,
    ) -> Self::Tensor;

    /// `sigmoid(input_gate) * input + sigmoid(gate) * rows`.
    fn average_attention_gate(
        &mut self,
        input_gate: &Self::Tensor,
        input: &Self::Tensor,
        gate: &Self::Tensor,
        rows: Self::Tensor,
    ) -> Self::Tensor;

    /// `g * rows + (1 - g) * input` with `g` the sigmoid of `gate`.
    fn highway(
        &mut self,
        gate: ColumnSlice<'_, Self::Tensor>,
        input: &Self::Tensor,
        rows: Self::Tensor,
    ) -> Self::Tensor;

    /// Keys and values of sentences that lie one after the other, `lengths` rows each.
    fn pack_kv(
        &mut self,
        heads: usize,
        keys: ColumnSlice<'_, Self::Tensor>,
        values: ColumnSlice<'_, Self::Tensor>,
        lengths: &[usize],
    ) -> Vec<Self::PackedKv>;

    /// Attends by heads, scores divided by the root of a head's width. Queries lie in
    /// groups one after the other: so many rows that all look at one memory.
    fn attend(
        &mut self,
        queries: ColumnSlice<'_, Self::Tensor>,
        groups: &[(usize, &Self::PackedKv)],
        visible: AttentionMask,
    ) -> Self::Tensor;
}

/// What only decoding word by word does: a backend for training need not have it.
pub trait DecodingOps: Backend {
    /// Keys and values of all positions that hypotheses went through, a row each.
    type KvCache;

    /// Nothing passed yet.
    fn new_kv_cache(&mut self) -> Self::KvCache;

    /// Adds keys and values, whose rows go on counting in the past.
    fn append_kv(
        &mut self,
        cache: &mut Self::KvCache,
        keys: ColumnSlice<'_, Self::Tensor>,
        values: ColumnSlice<'_, Self::Tensor>,
    );

    /// Keeps the rows `which` of the past, which ascend, and forgets the others.
    fn compact(&mut self, cache: &mut Self::KvCache, which: &[u32]);

    /// What rows go on with: the row of `state` that each continues, zeros where there is
    /// none.
    fn gather_state(&mut self, state: &Self::Tensor, parents: &[Option<u32>]) -> Self::Tensor;

    /// Attends by heads: query i sees the rows `paths[i]` of the past, oldest first.
    fn attend_kv_cache(
        &mut self,
        heads: usize,
        queries: ColumnSlice<'_, Self::Tensor>,
        cache: &Self::KvCache,
        paths: &[&[u32]],
    ) -> Self::Tensor;

    /// As [`attend`](Backend::attend) to the whole of each memory, with the weights of
    /// `head`: one list for each query.
    fn attend_with_weights(
        &mut self,
        queries: ColumnSlice<'_, Self::Tensor>,
        groups: &[(usize, &Self::PackedKv)],
        head: usize,
        weights: &mut Vec<Vec<f32>>,
    ) -> Self::Tensor;
}

/// Which rows follow each other in time.
#[derive(Clone, Copy, Debug)]
pub enum SequenceLayout<'a> {
    /// None: each row is a sequence of its own, a step of decoding.
    SingleStep,
    /// Sequences of these lengths, one after the other.
    Lengths(&'a [usize]),
}

/// Some columns of rows: one of several products that were made at once.
pub struct ColumnSlice<'a, R> {
    /// The rows.
    pub tensor: &'a R,
    /// Which columns.
    pub columns: Range<usize>,
}

impl<'a, R> ColumnSlice<'a, R> {
    /// Part `index` of so many columns each.
    pub fn nth(tensor: &'a R, index: usize, width: usize) -> Self {
        ColumnSlice { tensor, columns: index * width..(index + 1) * width }
    }
}

/// What follows a product: an addend, then a function.
pub struct Epilogue<'a, R> {
    /// Rows to add.
    pub residual: Option<&'a R>,
    /// The function.
    pub activation: Activation,
}

impl<R> Default for Epilogue<'_, R> {
    fn default() -> Self {
        Epilogue { residual: None, activation: Activation::default() }
    }
}

impl<R> From<Activation> for Epilogue<'_, R> {
    fn from(activation: Activation) -> Self {
        Epilogue { residual: None, activation }
    }
}

/// A layer norm: `scale * (x - mean) / sqrt(variance + epsilon) + bias`.
pub struct LayerNorm<V> {
    /// A factor for each column.
    pub scale: V,
    /// An addend for each column.
    pub bias: Option<V>,
    /// Added to the variance.
    pub epsilon: f32,
}

/// The matrices of a product and their biases, by Marian's names. Several stand side by
/// side in the result.
pub struct AffineNames<'a> {
    /// Names of matrices, inputs by outputs each.
    pub matrices: &'a [&'a str],
    /// Names of biases: as many as matrices, or none at all. An empty name is no bias.
    pub biases: &'a [&'a str],
}

/// Where layers get their parameters from, each asked for by Marian's name.
pub trait ParameterLoader<B: Backend + ?Sized> {
    /// Weights of a product.
    fn weights(&mut self, affine: AffineNames<'_>) -> Result<B::Weights>;

    /// The weights of an output layer: the table of that name (tied or `..._Wt`), words by
    /// inputs, and a bias.
    fn output_weights(&mut self, table: &str, bias: Option<&str>) -> Result<B::Weights>;

    /// One number a column.
    fn vector(&mut self, name: &str) -> Result<B::Vector>;

    /// Several lists side by side.
    fn concat_vectors(&mut self, names: &[&str]) -> Result<B::Vector>;

    /// Vectors of words.
    fn embedding_table(&mut self, name: &str) -> Result<B::EmbeddingTable>;

    /// Marks of positions, `name` if they are a table.
    fn positional_encoding(
        &mut self,
        positions: PositionalEncodingKind,
        width: usize,
        name: &str,
    ) -> Result<Option<B::PositionalEncoding>>;
}
