//! What layers are written against.

use std::ops::Range;

use crate::Result;
use crate::architecture::Positions;

pub use miriam_kernels::attention::Visible;
pub use miriam_kernels::function::Activation;

/// Matrices of f32 and what layers do with them. A row is a position or a hypothesis.
///
/// Operations take shapes that fit; others are mistakes of the program and panic.
pub trait Backend {
    /// Rows of numbers.
    type Rows;
    /// The weights of one or several products with the same input, results side by side, and
    /// their biases.
    type Weights;
    /// A number for each column.
    type Vector;
    /// A vector for each word.
    type Table;
    /// The marks of positions.
    type Marks;
    /// Keys and values of one sentence.
    type Memory;

    /// Rows and width.
    fn shape(&self, rows: &Self::Rows) -> [usize; 2];

    /// Zeros.
    fn zeros(&mut self, rows: usize, width: usize) -> Self::Rows;

    /// The rows `which` of `from`, in that order; one may come several times.
    fn select(&mut self, from: &Self::Rows, which: &[u32]) -> Self::Rows;

    /// `scale` times the vectors of words, zeros where there is none, plus the marks of
    /// `positions`.
    fn embed(
        &mut self,
        table: &Self::Table,
        words: &[Option<u32>],
        scale: f32,
        marks: Option<(&Self::Marks, &[u32])>,
    ) -> Self::Rows;

    /// `activation(input * weights + bias + residual)`.
    fn affine(
        &mut self,
        input: &Self::Rows,
        weights: &Self::Weights,
        then: Then<'_, Self::Rows>,
    ) -> Self::Rows;

    /// `rows + other`.
    fn add(&mut self, rows: Self::Rows, other: &Self::Rows) -> Self::Rows;

    /// The norm of `rows`, which stay as they are.
    fn norm(&mut self, rows: &Self::Rows, norm: &Norm<Self::Vector>) -> Self::Rows;

    /// The norm of `rows + residual`.
    fn norm_sum(
        &mut self,
        rows: Self::Rows,
        residual: &Self::Rows,
        norm: &Norm<Self::Vector>,
    ) -> Self::Rows;

    /// Applies a function to every number.
    fn activate(&mut self, rows: Self::Rows, activation: Activation) -> Self::Rows;

    /// The same rows once more.
    fn copy(&mut self, rows: &Self::Rows) -> Self::Rows;

    /// The linear recurrence `c = g c' + (1 - g) x` along sequences, with `g` the sigmoid of
    /// `gate` and c' that of the row before; `before` has a row for each sequence, what it
    /// begins with. Gives c of every row.
    fn recur(
        &mut self,
        gate: Part<'_, Self::Rows>,
        input: Part<'_, Self::Rows>,
        before: Self::Rows,
        sequences: Sequences<'_>,
    ) -> Self::Rows;

    /// The mean of the rows of a sequence so far, for every row. `before` has for each
    /// sequence a mean, and `seen` of how many rows that is.
    fn running_mean(
        &mut self,
        input: &Self::Rows,
        before: Self::Rows,
        seen: &[u32],
        sequences: Sequences<'_>,
    ) -> Self::Rows;

    /// `sigmoid(input_gate) * input + sigmoid(gate) * rows`.
    fn weigh(
        &mut self,
        input_gate: &Self::Rows,
        input: &Self::Rows,
        gate: &Self::Rows,
        rows: Self::Rows,
    ) -> Self::Rows;

    /// `g * rows + (1 - g) * input` with `g` the sigmoid of `gate`.
    fn highway(
        &mut self,
        gate: Part<'_, Self::Rows>,
        input: &Self::Rows,
        rows: Self::Rows,
    ) -> Self::Rows;

    /// Keys and values of sentences that lie one after the other, `lengths` rows each.
    fn remember(
        &mut self,
        heads: usize,
        keys: Part<'_, Self::Rows>,
        values: Part<'_, Self::Rows>,
        lengths: &[usize],
    ) -> Vec<Self::Memory>;

    /// Attends by heads, scores divided by the root of a head's width. Queries lie in
    /// groups one after the other: so many rows that all look at one memory.
    fn attend(
        &mut self,
        queries: Part<'_, Self::Rows>,
        groups: &[(usize, &Self::Memory)],
        visible: Visible,
    ) -> Self::Rows;
}

/// What only decoding word by word does: a backend for training need not have it.
pub trait Decoding: Backend {
    /// Keys and values of all positions that hypotheses went through, a row each.
    type Past;

    /// Nothing passed yet.
    fn past(&mut self) -> Self::Past;

    /// Adds keys and values, whose rows go on counting in the past.
    fn pass(
        &mut self,
        past: &mut Self::Past,
        keys: Part<'_, Self::Rows>,
        values: Part<'_, Self::Rows>,
    );

    /// Keeps the rows `which` of the past, which ascend, and forgets the others.
    fn keep(&mut self, past: &mut Self::Past, which: &[u32]);

    /// What rows go on with: the row of `state` that each continues, zeros where there is
    /// none.
    fn carry(&mut self, state: &Self::Rows, parents: &[Option<u32>]) -> Self::Rows;

    /// Attends by heads: query i sees the rows `paths[i]` of the past, oldest first.
    fn attend_past(
        &mut self,
        heads: usize,
        queries: Part<'_, Self::Rows>,
        past: &Self::Past,
        paths: &[&[u32]],
    ) -> Self::Rows;

    /// As [`attend`](Backend::attend) to the whole of each memory, with the weights of
    /// `head`: one list for each query.
    fn attend_and_tell(
        &mut self,
        queries: Part<'_, Self::Rows>,
        groups: &[(usize, &Self::Memory)],
        head: usize,
        weights: &mut Vec<Vec<f32>>,
    ) -> Self::Rows;
}

/// Which rows follow each other in time.
#[derive(Clone, Copy, Debug)]
pub enum Sequences<'a> {
    /// None: each row is a sequence of its own, a step of decoding.
    Single,
    /// Sequences of these lengths, one after the other.
    Lengths(&'a [usize]),
}

/// Some columns of rows: one of several products that were made at once.
pub struct Part<'a, R> {
    /// The rows.
    pub rows: &'a R,
    /// Which columns.
    pub columns: Range<usize>,
}

impl<'a, R> Part<'a, R> {
    /// Part `index` of so many columns each.
    pub fn nth(rows: &'a R, index: usize, width: usize) -> Self {
        Part { rows, columns: index * width..(index + 1) * width }
    }
}

/// What follows a product: an addend, then a function.
pub struct Then<'a, R> {
    /// Rows to add.
    pub residual: Option<&'a R>,
    /// The function.
    pub activation: Activation,
}

impl<R> Default for Then<'_, R> {
    fn default() -> Self {
        Then { residual: None, activation: Activation::default() }
    }
}

impl<R> From<Activation> for Then<'_, R> {
    fn from(activation: Activation) -> Self {
        Then { residual: None, activation }
    }
}

/// A layer norm: `scale * (x - mean) / sqrt(variance + epsilon) + bias`.
pub struct Norm<V> {
    /// A factor for each column.
    pub scale: V,
    /// An addend for each column.
    pub bias: Option<V>,
    /// Added to the variance.
    pub epsilon: f32,
}

/// The matrices of a product and their biases, by Marian's names. Several stand side by
/// side in the result.
pub struct Affine<'a> {
    /// Names of matrices, inputs by outputs each.
    pub matrices: &'a [&'a str],
    /// Names of biases: as many as matrices, or none at all. An empty name is no bias.
    pub biases: &'a [&'a str],
}

/// Where layers get their parameters from, each asked for by Marian's name.
pub trait Parameters<B: Backend + ?Sized> {
    /// Weights of a product.
    fn weights(&mut self, affine: Affine<'_>) -> Result<B::Weights>;

    /// The weights of an output layer: the table of that name (tied or `..._Wt`), words by
    /// inputs, and a bias.
    fn output(&mut self, table: &str, bias: Option<&str>) -> Result<B::Weights>;

    /// One number a column.
    fn vector(&mut self, name: &str) -> Result<B::Vector>;

    /// Several lists side by side.
    fn vectors(&mut self, names: &[&str]) -> Result<B::Vector>;

    /// Vectors of words.
    fn table(&mut self, name: &str) -> Result<B::Table>;

    /// Marks of positions, `name` if they are a table.
    fn marks(&mut self, positions: Positions, width: usize, name: &str)
    -> Result<Option<B::Marks>>;
}
