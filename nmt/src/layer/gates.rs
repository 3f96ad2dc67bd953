//! What recurrent layers ask of a backend beside the operations all layers need.
//!
//! A recurrent step is a product of the state, a product of the input, and a pass over
//! both. The products are [`Backend::affine`]; the passes are here, with the attention of
//! recurrent decoders and with the table of products that frequent words have.

use std::ops::Range;

use super::{Affine, Backend, Norm, Parameters, Part};
use crate::Result;

pub use miriam_kernels::cell::GruForm;

/// How sigmoid and tanh are computed in cells and in attention.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Squash {
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
pub enum Fit<V> {
    /// `v . tanh(key + query)` (Bahdanau et al. 2015).
    Additive(V),
    /// `key . query`, not scaled (Devlin 2017, section 4, where both are tanh already).
    Product,
}

/// Norms of successive parts of rows.
pub type Norms<B> = Vec<(Range<usize>, Norm<<B as Backend>::Vector>)>;

/// The operations of recurrent layers.
pub trait Gates: Backend {
    /// What attention keeps of a sentence: a key and a value for each of its words.
    type Annotations;
    /// Products of the vectors of words with weights, of which the frequent ones are
    /// computed once (Devlin 2017, section 4.2).
    type Lexicon;

    /// Rows one after the other; all of one width.
    fn stack(&mut self, parts: &[&Self::Rows]) -> Self::Rows;

    /// Rows side by side; as many in each.
    fn join(&mut self, parts: &[&Self::Rows]) -> Self::Rows;

    /// Some columns by themselves.
    fn columns(&mut self, part: Part<'_, Self::Rows>) -> Self::Rows;

    /// The mean row of each sentence; `lengths` rows each, none of them 0.
    fn means(&mut self, rows: &Self::Rows, lengths: &[usize]) -> Self::Rows;

    /// Norms of parts of the columns, each by itself.
    fn norm_parts(
        &mut self,
        rows: Self::Rows,
        norms: &[(Range<usize>, Norm<Self::Vector>)],
    ) -> Self::Rows;

    /// The products of words; no word has a vector of zeros.
    fn look_up(&mut self, lexicon: &Self::Lexicon, words: &[Option<u32>]) -> Self::Rows;

    /// A step of a gated recurrent unit: products of the input (none in transitions) and of
    /// the state with three gates r, z and candidate, to the next state.
    fn gru(
        &mut self,
        how: (Squash, GruForm),
        input: Option<Part<'_, Self::Rows>>,
        recurrent: &Self::Rows,
        bias: Option<&Self::Vector>,
        state: &Self::Rows,
    ) -> Self::Rows;

    /// A step of a long short-term memory, gates in the order f, i, g, o: the next output
    /// and cell.
    fn lstm(
        &mut self,
        squash: Squash,
        input: Option<Part<'_, Self::Rows>>,
        recurrent: &Self::Rows,
        bias: &Self::Vector,
        cell: Self::Rows,
    ) -> [Self::Rows; 2];

    /// What stands for the state in an mLSTM:
    /// `(input + input_bias) * (recurrent + recurrent_bias)`.
    fn multiplicative_state(
        &mut self,
        input: Part<'_, Self::Rows>,
        input_bias: &Self::Vector,
        recurrent: &Self::Rows,
        recurrent_bias: &Self::Vector,
    ) -> Self::Rows;

    /// Keys and values of sentences that lie one after the other, `lengths` rows each.
    fn annotate(
        &mut self,
        fit: &Fit<Self::Vector>,
        keys: &Self::Rows,
        values: &Self::Rows,
        lengths: &[usize],
    ) -> Vec<Self::Annotations>;

    /// The sums of values, weighted by the softmax of how keys fit the query, as they were
    /// annotated for. Queries lie in
    /// groups one after the other: so many rows that look at one sentence. `weights`,
    /// where wanted, gets a list for each query.
    fn attend_states(
        &mut self,
        squash: Squash,
        fit: &Fit<Self::Vector>,
        queries: &Self::Rows,
        groups: &[(usize, &Self::Annotations)],
        weights: Option<&mut Vec<Vec<f32>>>,
    ) -> Self::Rows;
}

/// Where recurrent layers get what only they have.
pub trait GateParameters<B: Gates + ?Sized>: Parameters<B> {
    /// The products of the table `table` with weights. Those of the words below `kept` are
    /// kept once they are computed; vocabularies begin with the frequent ones.
    fn lexicon(&mut self, table: &str, affine: Affine<'_>, kept: usize) -> Result<B::Lexicon>;
}
