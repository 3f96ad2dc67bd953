//! Nodes of a tape: operations with their operands, and the places of their results.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::activation::Activation;
use miriam_kernels::operators::AnyOperator;
use miriam_kernels::{MatMut, MatRef};
use miriam_nmt::layer::{AttentionMask, ColumnSlice, Side};

use super::weights::{AffineId, MatrixPlace, VectorId};
use crate::Real;
use crate::kernels::Kernels;

/// The result of an operation on a tape, `[rows, width]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    pub(super) node: u32,
    pub(super) rows: u32,
    pub(super) width: u32,
}

impl Tensor {
    pub(super) fn rows(self) -> usize {
        self.rows as usize
    }

    pub(super) fn width(self) -> usize {
        self.width as usize
    }
}

/// Consecutive columns of a result.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub tensor: Tensor,
    pub range: Range<usize>,
}

impl Columns {
    /// Returns all columns of a result.
    pub fn all(tensor: Tensor) -> Self {
        Columns { tensor, range: 0..tensor.width() }
    }

    pub fn width(&self) -> usize {
        self.range.len()
    }
}

impl From<ColumnSlice<'_, Tensor>> for Columns {
    fn from(slice: ColumnSlice<'_, Tensor>) -> Self {
        Columns { tensor: *slice.tensor, range: slice.columns }
    }
}

/// Keys and values of a sentence: consecutive rows of two results.
#[derive(Clone, Debug)]
pub struct KeysValues {
    /// The index of the sentence in the micro-batch.
    pub(super) sentence: usize,
    pub(super) heads: usize,
    pub(super) keys: Columns,
    pub(super) values: Columns,
    pub(super) rows: Range<usize>,
}

/// Positional encodings that are added to embeddings.
#[derive(Clone, Debug)]
pub(super) struct Positions {
    pub table: PositionTable,
    pub positions: Vec<u32>,
}

/// A positional encoding.
#[derive(Clone, Copy, Debug)]
pub enum PositionTable {
    /// For position `p`, column `i < half` is `sin(p * 10000^(-i / steps))`, column `half + i` its
    /// cosine.
    Sinusoidal {
        /// Half the width.
        half: usize,
        /// The number of steps in which frequencies fall to 1/10,000.
        steps: usize,
    },
    /// A table with one row per position.
    Learned(MatrixPlace),
}

/// The number of consecutive queries of a group, and the sentence that they attend to.
pub(super) type Group = (usize, KeysValues);

/// An operation with its operands.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Zeros,
    IndexSelect {
        from: Tensor,
        indices: Vec<u32>,
    },
    Embed {
        table: MatrixPlace,
        tokens: Vec<Option<u32>>,
        scale: f32,
        /// The mask of word dropout, one factor per token.
        mask: Option<Vec<f32>>,
        positions: Option<Positions>,
    },
    Affine {
        input: Tensor,
        weights: AffineId,
        residual: Option<Tensor>,
        activation: Activation,
    },
    Apply {
        operator: Arc<dyn AnyOperator>,
        matrices: Vec<Columns>,
        vectors: Vec<VectorId>,
    },
    Attend {
        queries: Columns,
        groups: Vec<Group>,
        visible: AttentionMask,
        /// The target position of each group's first query, if the first head's weights are the
        /// alignment and the alignment is guided.
        positions: Option<Vec<u32>>,
        /// The side of the queries and the number of the site, if weights are dropped.
        dropout_site: Option<(Side, u32)>,
    },
    /// The attention of a recurrent decoder to annotations, the encoder's states at each position.
    AttendAnnotations {
        /// The vector of additive scores; `None` for dot products.
        vector: Option<VectorId>,
        queries: Tensor,
        groups: Vec<Group>,
        /// The target position of each group's first query, if the alignment is guided.
        positions: Option<Vec<u32>>,
    },
    /// The losses of rows, `[rows, 1]`. The saved numbers of the node become the gradient of
    /// `hidden`.
    CrossEntropy {
        hidden: Tensor,
        weights: AffineId,
    },
}

/// A recorded operation. Its result and the saved numbers for its gradient, one after the other,
/// are ranges of the tape's values.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub op: Op,
    pub rows: usize,
    pub width: usize,
    /// The start of the result.
    pub value: usize,
    /// The number of saved numbers, which follow the result.
    pub saved: usize,
    /// The start of the gradient.
    pub gradient: usize,
}

impl Node {
    pub fn len(&self) -> usize {
        self.rows * self.width
    }
}

/// The results that a node may read: the results of earlier nodes.
#[derive(Clone, Copy)]
pub(super) struct Values<'a, R> {
    pub nodes: &'a [Node],
    pub values: &'a [R],
}

impl<'a, R> Values<'a, R> {
    pub fn of(&self, tensor: Tensor) -> MatRef<'a, R> {
        let node = &self.nodes[tensor.node as usize];
        MatRef::new(&self.values[node.value..node.value + node.len()], node.rows, node.width)
    }

    pub fn columns(&self, columns: &Columns) -> MatRef<'a, R> {
        self.of(columns.tensor).column_range(columns.range.clone())
    }

    /// Returns the saved numbers of a node.
    pub fn saved(&self, node: &Node) -> &'a [R] {
        let start = node.value + node.len();
        &self.values[start..start + node.saved]
    }
}

/// The gradients of the results of earlier nodes.
pub(super) struct Gradients<'a, R> {
    pub nodes: &'a [Node],
    pub gradients: &'a mut [R],
    /// Whether each node's gradient has been written to.
    pub begun: &'a mut [bool],
}

impl<R: Real> Gradients<'_, R> {
    /// Returns the gradient of a result, so that the caller can add to it.
    pub fn of(&mut self, tensor: Tensor) -> MatMut<'_, R> {
        let (mut gradient, is_begun) = self.begin(tensor);
        if !is_begun {
            (0..gradient.rows()).for_each(|row| gradient.row_mut(row).fill(R::ZERO));
        }
        gradient
    }

    /// Returns the gradient of a result and whether it has been written to; if not, its content is
    /// arbitrary and must be overwritten.
    pub fn begin(&mut self, tensor: Tensor) -> (MatMut<'_, R>, bool) {
        let index = tensor.node as usize;
        let node = &self.nodes[index];
        let gradient = &mut self.gradients[node.gradient..node.gradient + node.len()];
        let is_begun = std::mem::replace(&mut self.begun[index], true);
        (MatMut::new(gradient, node.rows, node.width), is_begun)
    }

    /// Adds `rows` to the gradient of a result.
    pub fn add<K: Kernels<Real = R>>(
        &mut self,
        kernels: &mut K,
        rows: MatRef<'_, R>,
        tensor: Tensor,
    ) {
        match self.begin(tensor) {
            (into, true) => kernels.add(rows, into),
            (into, false) => copy_rows(rows, into),
        }
    }

    /// Returns the place of the gradient of a result.
    fn range(&self, tensor: Tensor) -> Range<usize> {
        let node = &self.nodes[tensor.node as usize];
        node.gradient..node.gradient + node.len()
    }

    pub fn columns(&mut self, columns: &Columns) -> MatMut<'_, R> {
        self.of(columns.tensor).column_range(columns.range.clone())
    }

    /// Calls `body` with the gradients of several results, to which `body` adds. If two of
    /// `results` are columns of one tensor, `body` gets `buffers` instead of the gradients, and the
    /// buffers are added to the gradients afterwards.
    pub fn with_all<K: Kernels<Real = R>>(
        &mut self,
        kernels: &mut K,
        buffers: &mut Vec<Vec<R>>,
        results: &[Columns],
        body: impl FnOnce(&mut K, &mut [MatMut<'_, R>]),
    ) {
        let mut places: Vec<(usize, Range<usize>)> = Vec::with_capacity(results.len());
        for (index, Columns { tensor, .. }) in results.iter().enumerate() {
            // Zeroes a gradient that has not been written to.
            self.of(*tensor);
            places.push((index, self.range(*tensor)));
        }
        places.sort_by_key(|(_, place)| place.start);
        if places.windows(2).all(|pair| pair[0].1.end <= pair[1].1.start) {
            let mut parts: Vec<(usize, MatMut<'_, R>)> = Vec::with_capacity(results.len());
            let (mut rest, mut at) = (&mut *self.gradients, 0);
            for (index, place) in places {
                let (part, others) = rest[place.start - at..].split_at_mut(place.len());
                (rest, at) = (others, place.end);
                let Columns { tensor, range } = &results[index];
                let part = MatMut::new(part, tensor.rows(), tensor.width());
                parts.push((index, part.column_range(range.clone())));
            }
            parts.sort_by_key(|(index, _)| *index);
            let mut parts: Vec<MatMut<'_, R>> = parts.into_iter().map(|(_, part)| part).collect();
            return body(kernels, &mut parts);
        }
        buffers.resize_with(buffers.len().max(results.len()), Vec::new);
        let sums = buffers.iter_mut().zip(results).map(|(buffer, result)| {
            buffer.clear();
            buffer.resize(result.tensor.rows() * result.width(), R::ZERO);
            MatMut::new(buffer, result.tensor.rows(), result.width())
        });
        body(kernels, &mut sums.collect::<Vec<_>>());
        for (buffer, result) in buffers.iter().zip(results) {
            let sum = MatRef::new(buffer, result.tensor.rows(), result.width());
            kernels.add(sum, self.columns(result));
        }
    }
}

pub(super) fn copy_rows<R: Real>(from: MatRef<'_, R>, mut to: MatMut<'_, R>) {
    (0..from.rows()).for_each(|row| to.row_mut(row).copy_from_slice(from.row(row)));
}
