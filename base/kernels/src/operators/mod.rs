//! Operators of neural networks, one file each.
//!
//! An [`Operator`] takes matrices and vectors and gives one matrix. Its file has the formula, plain
//! loops for the forward pass and the gradient over any [`Real`], and the same in vector
//! instructions. The plain loops are the reference of decoding and of training. Callers do not see
//! the implementations: a backend applies operators, and a tape records them and calls their
//! gradients. A new operator needs a file here, with a test that calls the common check
//! (`tests.rs`), a name below, and a call in a layer.
//!
//! Gradients are added to existing ones, since a matrix may be used several times. Only the inputs
//! and the result are kept for computing gradients. Gates are computed again, which costs less than
//! writing and reading them.
//!
//! Products with packed weights, attention and the output layer have kernels of their own
//! ([`gemm`](crate::gemm), [`attention`](crate::attention), [`topk`](crate::topk)): they take
//! packed weights, caches or scratch memory.

mod activate;
mod add;
mod any_operator;
mod average_attention_gate;
mod clip;
mod columns;
mod concatenate;
mod device;
mod drop_out;
mod gru;
mod highway;
mod linear_recurrence;
mod lstm;
mod mean_pool;
mod multiplicative_state;
mod multiply;
mod normalize;
mod running_mean;
mod sequences;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use crate::activation::GateImpl;
use crate::activation::plain::sigmoid;
use crate::{Cpu, MatMut, MatRef, Real};

pub use activate::Activate;
pub use add::Add;
pub use any_operator::{AnyOperator, Implementation, OperatorReal};
pub use average_attention_gate::AverageAttentionGate;
pub use clip::Clip;
pub use concatenate::{ConcatColumns, ConcatRows};
pub use device::{DeviceColumns, DeviceKernel, DeviceOperator};
pub use drop_out::DropOut;
pub use gru::{Gru, GruVariant};
pub use highway::Highway;
pub use linear_recurrence::LinearRecurrence;
pub use lstm::{LstmCell, LstmOutput};
pub use mean_pool::MeanPool;
pub use multiplicative_state::MultiplicativeState;
pub use multiply::Multiply;
pub use normalize::{ColumnNorm, NormKind, Normalize, NormalizeColumns};
pub use running_mean::RunningMean;
pub use sequences::Sequences;

/// The inputs of an operator, whose documentation says which matrix is which.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a, R> {
    /// `[rows, width]` each.
    pub matrices: &'a [MatRef<'a, R>],
    /// A number for each column, or in cells for each column of each gate.
    pub vectors: &'a [&'a [R]],
}

/// A list without an allocation unless it is longer than `N`.
#[derive(Debug)]
struct ShortList<T, const N: usize> {
    few: [T; N],
    len: usize,
    /// All items, if there are more than `N`.
    many: Vec<T>,
}

impl<T: Copy, const N: usize> ShortList<T, N> {
    /// Creates a list of the items; `filler` fills unused places.
    fn new(filler: T, items: impl IntoIterator<Item = T>) -> Self {
        let mut list = ShortList { few: [filler; N], len: 0, many: Vec::new() };
        for item in items {
            match list.few.get_mut(list.len) {
                Some(place) => *place = item,
                None => {
                    if list.many.is_empty() {
                        list.many.extend(list.few);
                    }
                    list.many.push(item);
                }
            }
            list.len += 1;
        }
        list
    }

    fn items(&self) -> &[T] {
        if self.len <= N { &self.few[..self.len] } else { &self.many }
    }
}

/// Memory for the [`Inputs`] of an operator. It is allocated only for more than four matrices or
/// vectors.
#[derive(Debug)]
pub struct InputArrays<'a, R> {
    matrices: ShortList<MatRef<'a, R>, 4>,
    vectors: ShortList<&'a [R], 4>,
}

impl<'a, R: Copy> InputArrays<'a, R> {
    /// Creates inputs of matrices and vectors in the order of the operator.
    pub fn new(
        matrices: impl IntoIterator<Item = MatRef<'a, R>>,
        vectors: impl IntoIterator<Item = &'a [R]>,
    ) -> Self {
        InputArrays {
            matrices: ShortList::new(MatRef::new(&[], 0, 0), matrices),
            vectors: ShortList::new(&[], vectors),
        }
    }

    /// Returns all inputs.
    pub fn inputs(&self) -> Inputs<'_, R> {
        Inputs { matrices: self.matrices.items(), vectors: self.vectors.items() }
    }

    /// Returns `[rows, width]` of an operator's result.
    pub fn shape_of_result(&self, operator: &impl Operator) -> [usize; 2] {
        let shapes = self.matrices.items().iter().map(|matrix| [matrix.rows(), matrix.columns()]);
        operator.shape(ShortList::<_, 4>::new([0; 2], shapes).items())
    }
}

/// The places to which the gradients of [`Inputs`] are added, in the same order.
#[derive(Debug)]
pub struct InputGradients<'a, 'm, 'v, R> {
    /// `[rows, width]` each.
    pub matrices: &'a mut [MatMut<'m, R>],
    /// A number for each column, or in cells for each column of each gate.
    pub vectors: &'a mut [&'v mut [R]],
}

/// An operator: see the [module](self).
///
/// # Panics
/// All methods panic if shapes do not fit.
pub trait Operator: Debug + Send + Sync + 'static {
    /// Returns `[rows, width]` of the result from the shapes of the matrices.
    fn shape(&self, matrices: &[[usize; 2]]) -> [usize; 2];

    /// Returns the work of a device for a result of `width` columns.
    fn device(&self, width: usize) -> DeviceOperator<'_>;

    /// Writes the result.
    fn forward<R: Real>(&self, inputs: Inputs<'_, R>, out: MatMut<'_, R>);

    /// Computes [`forward`](Self::forward) with vector instructions. The default is the plain loop,
    /// for operators whose loop the compiler vectorises for the target's baseline instructions.
    fn forward_f32(&self, _: Cpu, inputs: Inputs<'_, f32>, out: MatMut<'_, f32>) {
        self.forward(inputs, out);
    }

    /// Adds the gradients of the inputs. `out` is the result, `d_out` its gradient.
    fn gradient<R: Real>(
        &self,
        inputs: Inputs<'_, R>,
        out: MatRef<'_, R>,
        d_out: MatRef<'_, R>,
        into: InputGradients<'_, '_, '_, R>,
    );

    /// Computes [`gradient`](Self::gradient) with vector instructions.
    fn gradient_f32(
        &self,
        cpu: Cpu,
        inputs: Inputs<'_, f32>,
        out: MatRef<'_, f32>,
        d_out: MatRef<'_, f32>,
        into: InputGradients<'_, '_, '_, f32>,
    );
}

/// An [`Operator`] of one matrix whose result has the shape of the matrix, so that it can replace
/// the matrix in place.
///
/// # Panics
/// If shapes do not fit.
pub trait InPlaceOperator: Operator + Clone {
    /// Replaces the matrix by the result, with vector instructions. The result has the same bits as
    /// from [`forward_f32`](Operator::forward_f32).
    fn forward_in_place_f32(&self, cpu: Cpu, matrix: MatMut<'_, f32>, vectors: &[&[f32]]);
}

/// The implementation of sigmoid and tanh in cells and in attention, in vector instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ActivationImpl {
    /// From the exponential, with no other vector instructions than the compilation target has:
    /// the baseline of measurements.
    Scalar,
    /// From the exponential, by vector instructions.
    #[default]
    Vector,
    /// From tables (Devlin 2017, section 4.4), here of 4,096 entries: sigmoid within 6e-4, tanh
    /// within 2e-3.
    Table,
}

impl ActivationImpl {
    /// Returns the instructions and the functions that kernels use.
    pub fn on(self, cpu: Cpu) -> (Cpu, GateImpl) {
        match self {
            ActivationImpl::Scalar => (Cpu::plain(), GateImpl::Exact),
            ActivationImpl::Vector => (cpu, GateImpl::Exact),
            ActivationImpl::Table => (cpu, GateImpl::Table),
        }
    }
}

/// Returns the number that all `numbers` are equal to, or 0 without numbers. Panics with the
/// message `what` if they differ.
fn common(mut numbers: impl Iterator<Item = usize>, what: &str) -> usize {
    let first = numbers.next().unwrap_or(0);
    assert!(numbers.all(|number| number == first), "{what}");
    first
}

/// Returns the shape that all matrices have.
fn common_shape(matrices: &[[usize; 2]]) -> [usize; 2] {
    let first = matrices[0];
    assert!(matrices.iter().all(|shape| *shape == first), "matrices of one shape");
    first
}

/// Returns the shape of the states of a cell, whose products have `gates` times as many columns.
fn gated_shape<'a>(
    state: [usize; 2],
    gates: usize,
    mut products: impl Iterator<Item = &'a [usize; 2]>,
) -> [usize; 2] {
    let [rows, width] = state;
    assert!(products.all(|shape| *shape == [rows, gates * width]), "a product for each gate");
    state
}

/// Panics unless there is an initial state for each sequence of the rows of `shape`.
fn assert_initial_states(initial: [usize; 2], sequences: &Sequences, [rows, width]: [usize; 2]) {
    assert_eq!(initial, [sequences.ranges(rows).count(), width], "a state for each sequence");
}

/// Panics unless a matrix has this shape.
fn assert_shape<R>(matrix: &MatRef<'_, R>, [rows, width]: [usize; 2]) {
    assert_eq!([matrix.rows(), matrix.columns()], [rows, width]);
}

/// Returns the `N` matrices of an operator, which must all have the shape of the result.
fn same_shape<'a, R, const N: usize>(
    inputs: &Inputs<'a, R>,
    [rows, width]: [usize; 2],
) -> [MatRef<'a, R>; N] {
    let matrices: [MatRef<'a, R>; N] =
        inputs.matrices.try_into().expect("as many matrices as the operator takes");
    matrices.iter().for_each(|matrix| assert_shape(matrix, [rows, width]));
    matrices
}

/// Returns the gradients of `N` matrices.
fn matrix_gradients<'a, 'b, R, const N: usize>(
    matrices: &'a mut [MatMut<'b, R>],
) -> &'a mut [MatMut<'b, R>; N] {
    matrices.try_into().expect("a gradient for each matrix")
}
