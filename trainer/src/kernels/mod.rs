//! Arithmetic of a tape, forwards and backwards, except for the operators of `base/kernels`.
//! [`Kernels::implementation`] chooses the implementation of these operators.
//!
//! [`Kernels`] has a plain implementation of each operation as a default method. It is written for
//! clarity and generic over the type of numbers; in f64 it is the oracle of training ([`Plain`]).
//! [`Fast`] replaces the methods that matter for speed by vector kernels. Shapes are written
//! `[rows, columns]`. Results overwrite their destination; gradients are added to it unless said
//! otherwise.
//!
//! The formulas are those of `docs/spec/training.md` B.3.

mod fast;
mod integers;
mod optimizer;

use std::marker::PhantomData;

use miriam_kernels::activation::{self, Activation};
use miriam_kernels::attention::{self, AttentionMask};
use miriam_kernels::cross_entropy;
use miriam_kernels::gemm::plain as gemm;
use miriam_kernels::operators::{Implementation, OperatorReal};
use miriam_kernels::{MatMut, MatRef, plain};

pub use fast::{Fast, PackedPair};
pub use integers::IntegerPrecision;
pub use miriam_kernels::activation::plain::saves_result;
pub use miriam_kernels::attention::plain::{AttentionGradients, RecurrentAttention};
pub use miriam_kernels::cross_entropy::plain::{LossRows, RowLoss};
pub use miriam_kernels::gemm::plain::WeightPart;
pub use optimizer::{BiasCorrections, OptimizerKind, Shard, Smoothing, Step};

use crate::Real;

/// Weights of a matrix product: matrices with the same inputs, their outputs side by side.
pub struct Weights<'a, K: Kernels> {
    /// The matrices.
    pub parts: &'a [WeightPart<'a, K::Real>],
    /// The same matrices in the kernels' layout.
    pub packed: &'a K::Packed,
}

/// The types of numbers in products of rows with weights, and in the gradients of these products.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProductPrecision {
    /// f32 throughout.
    #[default]
    F32,
    /// Products of bf16 with sums of f32, forwards and backwards; weights, gradients and
    /// everything else are f32.
    Bf16,
    /// Results in integers as in decoding, gradients in f32.
    Integers(IntegerPrecision),
}

/// The arithmetic of a tape, used by one thread.
pub trait Kernels: Clone + Send + 'static {
    /// The type of numbers.
    type Real: OperatorReal;
    /// Weights in the layout of products, packed once per update.
    type Packed: Default + Send + Sync + 'static;

    /// Packs weights for products.
    fn pack(&self, parts: &[WeightPart<'_, Self::Real>], packed: &mut Self::Packed);

    /// Computes `out = activation(rows * weights + bias + residual)`, `[rows, inputs]` to
    /// `[rows, outputs]`.
    fn gemm(
        &mut self,
        rows: MatRef<'_, Self::Real>,
        weights: &Weights<'_, Self>,
        bias: Option<&[Self::Real]>,
        residual: Option<MatRef<'_, Self::Real>>,
        activation: Activation,
        mut out: MatMut<'_, Self::Real>,
    ) where
        Self: Sized,
    {
        gemm::gemm(rows, weights.parts, bias, residual, out.reborrow());
        self.activate(activation, out);
    }

    /// Computes `into += gradient * weights^T`, `[rows, outputs]` to `[rows, inputs]`; without
    /// `accumulate`, `into` is overwritten.
    fn gemm_gradient(
        &mut self,
        gradient: MatRef<'_, Self::Real>,
        weights: &Weights<'_, Self>,
        accumulate: bool,
        mut into: MatMut<'_, Self::Real>,
    ) where
        Self: Sized,
    {
        if !accumulate {
            (0..into.rows()).for_each(|row| into.row_mut(row).fill(Self::Real::ZERO));
        }
        gemm::gemm_gradient(gradient, weights.parts, into);
    }

    /// Computes `into += a^T * b`, `[rows, inputs]` and `[rows, outputs]` to `[inputs, outputs]`.
    fn weight_gradient(
        &mut self,
        a: MatRef<'_, Self::Real>,
        b: MatRef<'_, Self::Real>,
        into: MatMut<'_, Self::Real>,
    ) {
        gemm::weight_gradient(a, b, into);
    }

    /// Adds the sums of columns to `into`.
    fn column_sums(&mut self, rows: MatRef<'_, Self::Real>, into: &mut [Self::Real]) {
        gemm::column_sums(rows, into);
    }

    /// Computes `into += rows`.
    fn add(&mut self, rows: MatRef<'_, Self::Real>, into: MatMut<'_, Self::Real>) {
        gemm::add(rows, into);
    }

    /// Computes `into += factor * rows`.
    fn add_scaled(
        &mut self,
        factor: Self::Real,
        rows: MatRef<'_, Self::Real>,
        mut into: MatMut<'_, Self::Real>,
    ) {
        (0..rows.rows())
            .for_each(|row| plain::add_scaled(factor, rows.row(row), into.row_mut(row)));
    }

    /// Applies an activation in place.
    fn activate(&mut self, activation: Activation, rows: MatMut<'_, Self::Real>) {
        activation::plain::activate(activation, rows);
    }

    /// Multiplies `gradient` with the derivative of an activation. `saved` is the result of
    /// the activation if [`saves_result`] says so, else its argument.
    fn activation_gradient(
        &mut self,
        activation: Activation,
        saved: MatRef<'_, Self::Real>,
        gradient: MatMut<'_, Self::Real>,
    ) {
        activation::plain::activation_gradient(activation, saved, gradient);
    }

    /// Computes multi-head attention of consecutive queries to the positions of one sentence: see
    /// [`plain::attend`](attention::plain::attend).
    #[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
    fn attend(
        &mut self,
        heads: usize,
        visible: AttentionMask,
        queries: MatRef<'_, Self::Real>,
        keys: MatRef<'_, Self::Real>,
        values: MatRef<'_, Self::Real>,
        mask: Option<&[Self::Real]>,
        probabilities: &mut [Self::Real],
        out: MatMut<'_, Self::Real>,
    ) {
        let (weights, plain) = (probabilities, attention::plain::attend);
        plain(heads, visible, queries, keys, values, mask, weights, out);
    }

    /// Computes the gradients of [`attend`](Kernels::attend). `extra` is added to the gradient of
    /// the probabilities of the first head, `[queries, positions]`.
    #[expect(clippy::too_many_arguments, reason = "the terms of one equation")]
    fn attend_gradient(
        &mut self,
        heads: usize,
        queries: MatRef<'_, Self::Real>,
        keys: MatRef<'_, Self::Real>,
        values: MatRef<'_, Self::Real>,
        mask: Option<&[Self::Real]>,
        probabilities: &[Self::Real],
        extra: Option<&[Self::Real]>,
        gradient: MatRef<'_, Self::Real>,
        into: AttentionGradients<'_, Self::Real>,
    ) {
        attention::plain::attend_gradient(
            heads,
            queries,
            keys,
            values,
            mask,
            probabilities,
            extra,
            gradient,
            into,
        );
    }

    /// Computes the attention of recurrent decoders: see [`RecurrentAttention`].
    fn attend_annotations(
        &mut self,
        attention: RecurrentAttention<'_, Self::Real>,
        probabilities: &mut [Self::Real],
        out: MatMut<'_, Self::Real>,
    ) {
        attention::plain::attend_recurrent(attention, probabilities, out);
    }

    /// Computes the gradients of [`attend_annotations`](Kernels::attend_annotations). Adds them to
    /// `into`, and to `vector`, the gradient of the vector of additive scores.
    fn attend_annotations_gradient(
        &mut self,
        attention: RecurrentAttention<'_, Self::Real>,
        probabilities: &[Self::Real],
        extra: Option<&[Self::Real]>,
        gradient: MatRef<'_, Self::Real>,
        into: AttentionGradients<'_, Self::Real>,
        vector: &mut [Self::Real],
    ) {
        attention::plain::attend_recurrent_gradient(
            attention,
            probabilities,
            extra,
            gradient,
            into,
            vector,
        );
    }

    /// Returns the implementation of operators.
    fn implementation(&self) -> Implementation {
        Implementation::Plain
    }

    /// Takes an optimiser's step on a part of the flat vector. The result does not depend on how
    /// the vector is divided.
    fn take_step(&self, step: &Step, shard: Shard<'_, Self::Real>) {
        step.apply(shard);
    }

    /// Returns the sum of the squares of numbers, in f64.
    fn sum_of_squares(&self, numbers: &[Self::Real]) -> f64 {
        numbers.iter().map(|x| x.as_f64() * x.as_f64()).sum()
    }

    /// Appends the losses of rows of `logits`, `[rows, tokens]`, and overwrites the logits with
    /// their gradient.
    fn cross_entropy(
        &mut self,
        rows: LossRows<'_>,
        logits: MatMut<'_, Self::Real>,
        losses: &mut Vec<RowLoss>,
    ) {
        cross_entropy::plain::cross_entropy(rows, logits, losses);
    }
}

/// The plain kernels: the default methods of [`Kernels`], without packed weights.
#[derive(Debug, Default)]
pub struct Plain<R>(PhantomData<R>);

impl<R> Clone for Plain<R> {
    fn clone(&self) -> Self {
        Plain(PhantomData)
    }
}

impl<R: OperatorReal> Kernels for Plain<R> {
    type Real = R;
    type Packed = ();

    fn pack(&self, _: &[WeightPart<'_, R>], (): &mut ()) {}
}
