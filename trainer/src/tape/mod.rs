//! Reverse-mode differentiation of the models that `nmt` decodes.
//!
//! A [`Tape`] is a backend of `nmt`'s layers, so a model trains with the code that it decodes with.
//! When a layer calls an operation, the tape computes it and records a node. Nodes are in the order
//! of their creation; in the reverse order, every gradient is complete before it is passed on. The
//! arithmetic of operations and of their gradients is in [`Kernels`].
//!
//! All results of a micro-batch (the sentences that are computed together) are in one vector of
//! numbers that only grows at its end. A node reads only numbers before the ones it writes, so
//! the vector is split once into a part to read and a part to write. Gradients are in a second
//! vector in the same order. The sizes of both depend only on the lengths of sentences, and
//! [`Tape::measure`] finds them by running the layers without computing. Both vectors use huge
//! pages where the system has them, which makes training 1.08 times as fast, because logits and
//! gradients of tables are read across their rows.
//!
//! The gradients of weights that occur several times, as in every step of a recurrent model,
//! are computed at the end, in one product for all their occurrences. The output layer and
//! the loss are one operation that computes a block of rows at a time and keeps no logits.

mod backend;
mod backward;
mod cross_entropy;
mod forward;
mod gradient_sums;
mod input_maxima;
mod load;
mod node;
mod recurrent;
mod sinusoids;
mod weights;

use std::sync::Arc;

use miriam_kernels::random::RowKey;
use miriam_nmt::layer::Side;
use miriam_storage::ZeroedVec;

pub(crate) use cross_entropy::logits_block_rows;
pub use cross_entropy::{Loss, LossOptions};
pub use load::TapeLoader;
pub use node::{KeysValues, PositionTable, Tensor};
pub use weights::{AffineId, MatrixPlace, PackedParameters, VectorId, WeightRegistry};

use crate::Real;
use crate::dropout::Dropout;
use crate::kernels::Kernels;
use node::{Node, Op};
use sinusoids::Sinusoids;

/// A table of token vectors and the weights that multiply them.
#[derive(Clone, Copy, Debug)]
pub struct ProjectedEmbeddings {
    pub(crate) table: MatrixPlace,
    pub(crate) weights: AffineId,
}

/// The counts of numbers that a tape needs for some sentences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TapeSize {
    /// The number of elements of results, and of numbers that are saved for their gradients.
    pub values: usize,
    /// The number of elements of gradients.
    pub gradients: usize,
    /// The number of elements of the buffers for computing the gradients of weights. Logits are
    /// not included.
    pub buffers: usize,
}

/// The maximum number of rows that `base/kernels` copies at a time for a gradient of weights.
const WEIGHT_GRADIENT_ROWS: usize = 512;

/// Links of a given alignment towards which attention is trained (`docs/spec/training.md` A.1).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GuidedAlignment {
    /// The weight of this loss relative to the loss of tokens.
    pub weight: f64,
    /// The links of each sentence: target position, source position, weight.
    pub links: Vec<Vec<(u32, u32, f32)>>,
}

/// A record of operations on numbers of [`Kernels::Real`] that computes gradients; see the
/// [module](self).
pub struct Tape<K: Kernels> {
    kernels: K,
    registry: Arc<WeightRegistry>,
    packed_parameters: Option<Arc<PackedParameters<K>>>,
    nodes: Vec<Node>,
    values: ZeroedVec<K::Real>,
    size: TapeSize,
    gradients: ZeroedVec<K::Real>,
    begun: Vec<bool>,
    /// The gradient of all parameters, a flat vector.
    parameter_gradient: ZeroedVec<K::Real>,
    /// Whether operations are only counted.
    is_measuring: bool,
    dropout: Dropout,
    /// The magnitude at which inputs of matrix products are clipped, if they are.
    product_clip: Option<f32>,
    num_dropout_sites: u32,
    /// The sentences' numbers in the corpus.
    sentences: Vec<u32>,
    row_keys: [Arc<[RowKey]>; 2],
    /// The side whose rows are computed.
    side: Side,
    guided_alignment: Option<GuidedAlignment>,
    alignment_loss: f64,
    /// For each sentence, the target position of its next query of guided attention.
    attending_position: Vec<u32>,
    scratch: Scratch<K::Real>,
}

/// Reused buffers.
#[derive(Default)]
struct Scratch<R: Real> {
    /// A block of logits.
    logits: ZeroedVec<R>,
    /// Gradients of vectors, before they are added to the gradient of the parameters.
    vector_gradients: Vec<R>,
    /// Gradients of columns of one result, before they are added to the gradient of the result.
    buffers: Vec<Vec<R>>,
    /// Inputs of weights that occur several times, and gradients of their outputs.
    occurrences: [Vec<R>; 2],
    mask: Vec<f32>,
    sinusoids: Sinusoids<R>,
}

impl<K: Kernels> Tape<K> {
    /// Creates a tape for layers with these parameters.
    pub fn new(kernels: K, registry: Arc<WeightRegistry>) -> Self {
        let parameter_gradient = ZeroedVec::new(registry.layout().len());
        Tape {
            kernels,
            registry,
            packed_parameters: None,
            nodes: Vec::new(),
            values: ZeroedVec::default(),
            size: TapeSize::default(),
            gradients: ZeroedVec::default(),
            begun: Vec::new(),
            parameter_gradient,
            is_measuring: false,
            dropout: Dropout::default(),
            product_clip: None,
            num_dropout_sites: 0,
            sentences: Vec::new(),
            row_keys: [Arc::default(), Arc::default()],
            side: Side::Source,
            guided_alignment: None,
            alignment_loss: 0.0,
            attending_position: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// Returns the same tape, which clips the inputs of matrix products with weights at the
    /// magnitude `product_clip`, if given.
    pub fn with_product_clip(self, product_clip: Option<f32>) -> Self {
        Tape { product_clip, ..self }
    }

    /// Begins a micro-batch: clears the record, sets the gradient of parameters to zero and uses
    /// `packed_parameters`. `sentences` are the sentences' numbers in the corpus, on which dropout
    /// depends.
    pub fn begin(
        &mut self,
        packed_parameters: &Arc<PackedParameters<K>>,
        dropout: Dropout,
        sentences: &[u32],
    ) {
        self.clear();
        self.is_measuring = false;
        self.packed_parameters = Some(Arc::clone(packed_parameters));
        self.dropout = dropout;
        self.sentences.clear();
        self.sentences.extend_from_slice(sentences);
        self.parameter_gradient.fill(K::Real::ZERO);
    }

    /// Ends a micro-batch: releases the packed parameters.
    pub fn end(&mut self) {
        self.packed_parameters = None;
    }

    /// Returns the counts of numbers that the recorded operations need.
    pub fn size(&self) -> TapeSize {
        TapeSize { buffers: self.num_buffered(), ..self.size }
    }

    /// Returns how many numbers of results and of gradients the allocated memory holds.
    pub fn allocated(&self) -> [usize; 2] {
        [self.values.len(), self.gradients.len()]
    }

    /// Returns the number of elements of the buffers: joined inputs and gradients of weights that
    /// occur several times, and the rows that a product copies.
    fn num_buffered(&self) -> usize {
        let mut uses = vec![(0, 0); self.registry.affines.len()];
        for node in &self.nodes {
            if let Op::Affine { weights, .. } = node.op {
                let (count, rows) = &mut uses[weights.0 as usize];
                (*count, *rows) = (*count + 1, *rows + node.rows);
            }
        }
        let (mut inputs, mut outputs, mut copied) = (0, 0, 0);
        for (&(count, rows), spec) in uses.iter().zip(&self.registry.affines) {
            copied = copied.max(rows.min(WEIGHT_GRADIENT_ROWS) * (spec.inputs + spec.outputs));
            if count > 1 {
                inputs = inputs.max(rows * spec.inputs);
                outputs = outputs.max(rows * spec.outputs);
            }
        }
        inputs + outputs + copied
    }

    /// Counts the numbers that the operations of `record` need. `record` must not read results.
    ///
    /// # Errors
    /// If `record` fails.
    pub fn measure<E>(
        &mut self,
        dropout: Dropout,
        record: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<TapeSize, E> {
        self.clear();
        (self.is_measuring, self.dropout) = (true, dropout);
        let result = record(self);
        let size = self.size();
        self.clear();
        self.is_measuring = false;
        result.map(|()| size)
    }

    /// Reserves memory for a micro-batch before it is recorded. A vector that grows during use is
    /// copied and needs twice the memory for a moment. An eighth more is reserved, so that a
    /// slightly larger micro-batch needs no new memory; untouched pages cost nothing.
    pub fn reserve(&mut self, size: TapeSize) {
        let len = size.values.max(self.values.len());
        self.values.resize_for_overwrite(len, len + len / 8);
        let len = size.gradients.max(self.gradients.len());
        self.gradients.resize_for_overwrite(len, len + len / 8);
    }

    fn clear(&mut self) {
        self.nodes.clear();
        self.size = TapeSize::default();
        self.num_dropout_sites = 0;
        self.row_keys = [Arc::default(), Arc::default()];
        self.attending_position.clear();
        self.guided_alignment = None;
        self.alignment_loss = 0.0;
    }

    /// Adds the loss of guided alignment for the attention that is recorded from now on.
    pub fn guide_alignment(&mut self, guided_alignment: GuidedAlignment) {
        self.guided_alignment = Some(guided_alignment);
    }

    /// Returns the weighted loss of guided alignment so far.
    pub fn alignment_loss(&self) -> f64 {
        self.alignment_loss
    }

    /// Returns the gradient of all parameters after [`backward`](Tape::backward) as a flat vector.
    pub fn parameter_gradient(&self) -> &[K::Real] {
        &self.parameter_gradient
    }

    /// Swaps the gradient of all parameters with another vector of the same length.
    ///
    /// # Panics
    /// If their lengths differ.
    pub fn swap_parameter_gradient(&mut self, other: &mut ZeroedVec<K::Real>) {
        assert_eq!(other.len(), self.parameter_gradient.len(), "a flat vector of this layout");
        std::mem::swap(&mut self.parameter_gradient, other);
    }

    /// Reads the numbers of a result, row after row.
    pub fn read(&self, tensor: Tensor) -> &[K::Real] {
        let node = &self.nodes[tensor.node as usize];
        &self.values[node.value..node.value + node.len()]
    }

    /// Grows the vector of results to hold all results so far. Its length doubles, so that it is
    /// rarely copied; untouched pages cost nothing.
    fn grow_values(&mut self) {
        let (len, needed) = (self.values.len(), self.size.values);
        if len < needed {
            self.values.resize(needed.max(2 * len));
        }
    }

    fn packed_parameters(&self) -> Arc<PackedParameters<K>> {
        Arc::clone(self.packed_parameters.as_ref().expect("a micro-batch has begun"))
    }

    /// Records an operation with a result `[rows, width]` and `saved` numbers for its
    /// gradient, and computes it.
    fn record(&mut self, op: Op, rows: usize, width: usize, saved: usize) -> Tensor {
        let index = self.nodes.len();
        let node =
            Node { op, rows, width, value: self.size.values, saved, gradient: self.size.gradients };
        self.size.values += node.len() + saved;
        self.size.gradients += node.len();
        self.nodes.push(node);
        if !self.is_measuring {
            self.grow_values();
            self.forward(index);
        }
        Tensor { node: index as u32, rows: rows as u32, width: width as u32 }
    }
}
