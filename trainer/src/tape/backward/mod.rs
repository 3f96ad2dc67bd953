//! Back-propagation of gradients through the recorded operations.
//!
//! This file visits the nodes from the last to the first, and calls the gradient of each node's
//! operation. The other files have the gradients of one family of operations each.

mod attention;
mod dense;
mod operators;
mod rows;

use miriam_kernels::MatRef;

use super::gradient_sums::add_weight_gradient;
use super::node::{Gradients, Node, Op, Tensor, Values};
use super::weights::WeightRegistry;
use super::{GuidedAlignment, PackedParameters, Scratch, Tape};
use crate::Real;
use crate::kernels::Kernels;

/// An occurrence of weights in a product: the input, and the node of the result, whose gradient is
/// needed for that of the weights.
type Occurrence = (Tensor, usize);

/// The gradient of a node, with what is needed to pass it on to the operands of the node.
struct NodeGradient<'a, K: Kernels> {
    /// The index of the node among all nodes.
    index: usize,
    node: &'a Node,
    /// The results of all nodes.
    values: Values<'a, K::Real>,
    packed_parameters: &'a PackedParameters<K>,
    registry: &'a WeightRegistry,
    guide: Option<&'a GuidedAlignment>,
    kernels: &'a mut K,
    /// The gradient of the node, `[rows, width]`; zeros if nothing has been added yet.
    d_out: &'a mut [K::Real],
    /// The gradients of earlier nodes.
    input_gradients: Gradients<'a, K::Real>,
    /// The gradient of all parameters, a flat vector.
    parameters: &'a mut [K::Real],
    scratch: &'a mut Scratch<K::Real>,
}

impl<K: Kernels> Tape<K> {
    /// Adds the gradient of all recorded losses to the gradient of the parameters.
    pub fn backward(&mut self) {
        let nodes = std::mem::take(&mut self.nodes);
        let len = self.size.gradients.max(self.gradients.len());
        self.gradients.resize_for_overwrite(len, len);
        self.begun.clear();
        self.begun.resize(nodes.len(), false);
        let mut num_uses = vec![0; self.registry.affines.len()];
        for node in &nodes {
            if let Op::Affine { weights, .. } = node.op {
                num_uses[weights.0 as usize] += 1;
            }
        }
        let mut deferred: Vec<Vec<Occurrence>> = vec![Vec::new(); num_uses.len()];
        for index in (0..nodes.len()).rev() {
            // Losses, guided alignment included, have a gradient of their own. All other nodes have
            // one only if later nodes have added to it.
            let node = &nodes[index];
            let has_gradient = match node.op {
                Op::CrossEntropy { .. } => true,
                Op::Attend { ref positions, .. } | Op::AttendAnnotations { ref positions, .. } => {
                    self.begun[index] || positions.is_some()
                }
                _ => self.begun[index],
            };
            if has_gradient {
                self.backward_node(&nodes, index, &num_uses, &mut deferred);
            }
        }
        for (weights, occurrences) in deferred.iter().enumerate() {
            if !occurrences.is_empty() {
                self.join_occurrences(&nodes, weights, occurrences);
            }
        }
        self.nodes = nodes;
    }

    /// Adds the gradient of weights that occur several times: one product over the rows of all
    /// occurrences.
    fn join_occurrences(&mut self, nodes: &[Node], weights: usize, occurrences: &[Occurrence]) {
        let values = Values { nodes, values: &self.values };
        let spec = &self.registry.affines[weights];
        let rows = occurrences.iter().map(|(input, _)| input.rows()).sum();
        let [inputs, outputs] = &mut self.scratch.occurrences;
        inputs.clear();
        outputs.clear();
        for &(input, node) in occurrences {
            let input = values.of(input);
            (0..input.rows()).for_each(|row| inputs.extend_from_slice(input.row(row)));
            let node = &nodes[node];
            outputs.extend_from_slice(&self.gradients[node.gradient..node.gradient + node.len()]);
        }
        let inputs = MatRef::new(inputs, rows, spec.inputs);
        let outputs = MatRef::new(outputs, rows, spec.outputs);
        let into = &mut self.parameter_gradient;
        add_weight_gradient(&mut self.kernels, spec, inputs, outputs, into);
    }

    /// Passes the gradient of a node on to its operands and to the parameters. Weights that occur
    /// several times (`num_uses`) are left for later: their occurrence is added to `deferred`.
    fn backward_node(
        &mut self,
        nodes: &[Node],
        index: usize,
        num_uses: &[usize],
        deferred: &mut [Vec<Occurrence>],
    ) {
        let packed_parameters = self.packed_parameters();
        let node = &nodes[index];
        let is_begun = self.begun[index];
        let (before, rest) = self.gradients.split_at_mut(node.gradient);
        let d_out = &mut rest[..node.len()];
        if !is_begun {
            d_out.fill(K::Real::ZERO);
        }
        let begun = &mut self.begun[..index];
        let mut gradient = NodeGradient {
            index,
            node,
            values: Values { nodes, values: &self.values },
            packed_parameters: &packed_parameters,
            registry: &self.registry,
            guide: self.guided_alignment.as_ref(),
            kernels: &mut self.kernels,
            d_out,
            input_gradients: Gradients { nodes, gradients: before, begun },
            parameters: &mut self.parameter_gradient,
            scratch: &mut self.scratch,
        };
        match &node.op {
            Op::Zeros => {}
            Op::IndexSelect { from, indices } => gradient.index_select(*from, indices),
            Op::Embed { table, tokens, scale, mask, positions } => {
                gradient.embed(*table, tokens, *scale, mask.as_deref(), positions.as_ref());
            }
            Op::Affine { input, weights, residual, activation } => {
                gradient.affine(*input, *weights, *residual, *activation, num_uses, deferred);
            }
            Op::Apply { operator, matrices, vectors } => {
                gradient.apply(&**operator, matrices, vectors);
            }
            Op::Attend { queries, groups, positions, dropout_site, .. } => {
                gradient.attend(queries, groups, positions, dropout_site.is_some());
            }
            Op::AttendAnnotations { vector, queries, groups, positions } => {
                gradient.attend_annotations(*vector, *queries, groups, positions);
            }
            Op::CrossEntropy { hidden, .. } => {
                // The forward pass has saved the gradient of the loss with respect to `hidden`.
                let saved = gradient.values.saved(node);
                let rows = MatRef::new(saved, hidden.rows(), hidden.width());
                gradient.input_gradients.add(gradient.kernels, rows, *hidden);
            }
        }
    }
}
