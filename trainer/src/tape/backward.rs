//! Passes gradients back through the recorded operations.

use miriam_kernels::{MatMut, MatRef};

use super::Tape;
use super::forward::{embedding_scales, norm_of};
use super::gradient_sums::{
    NormSums, add_bias_gradient, add_norm_sums, add_vector_gradient, add_weight_gradient,
    alignment_gradient, gradients_of_group, table_row, tensor,
};
use super::node::{Columns, Gradients, Node, Op, PositionTable, Tensor, Values};
use crate::Real;
use crate::dropout::fill_mask;
use crate::kernels::{
    AdditiveAttention, AverageGateGradients, AverageGateInputs, GruGradients, GruInputs,
    HighwayGradients, HighwayInputs, Kernels, LstmGradients, LstmInputs, MultiplicativeGradients,
    MultiplicativeInputs, NormGradients, saves_result,
};

/// An occurrence of weights: the input of a product, and its node, whose gradient is that of
/// the product.
type Occurrence = (Tensor, usize);

/// A gradient to be added to.
type Rows<'a, K> = MatMut<'a, <K as Kernels>::Real>;

impl<K: Kernels> Tape<K> {
    /// Adds the gradient of all losses so far to that of the parameters.
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
            // Losses begin gradients; an LSTM's output may be unused where its cell is not.
            let node = &nodes[index];
            let is_begun = match node.op {
                Op::CrossEntropy { .. } => true,
                Op::Lstm { .. } => self.begun[index] || self.begun[index + 1],
                Op::Attend { ref positions, .. } | Op::AttendAnnotations { ref positions, .. } => {
                    self.begun[index] || positions.is_some()
                }
                _ => self.begun[index],
            };
            if is_begun {
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

    /// The gradient of weights that occur several times, in one product.
    fn join_occurrences(&mut self, nodes: &[Node], weights: usize, occurrences: &[Occurrence]) {
        let values = Values { nodes, values: &self.values };
        let spec = &self.registry.affines[weights];
        let rows = occurrences.iter().map(|(input, _)| input.rows()).sum();
        let [inputs, outputs, ..] = &mut self.scratch.buffers;
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

    fn backward_node(
        &mut self,
        nodes: &[Node],
        index: usize,
        num_uses: &[usize],
        deferred: &mut [Vec<Occurrence>],
    ) {
        let packed_parameters = self.packed_parameters();
        let registry = &*self.registry;
        let node = &nodes[index];
        let values = Values { nodes, values: &self.values };
        let is_begun = self.begun[index];
        let (before, rest) = self.gradients.split_at_mut(node.gradient);
        let (own, rest) = rest.split_at_mut(node.len());
        if !is_begun {
            own.fill(K::Real::ZERO);
        }
        let shape = (node.rows, node.width);
        let view = |own| MatRef::new(own, shape.0, shape.1);
        let (begun, later) = self.begun.split_at_mut(index);
        let mut into = Gradients { nodes, gradients: before, begun };
        let kernels = &mut self.kernels;
        let parameters = &mut self.parameter_gradient;
        let scratch = &mut self.scratch;
        let buffers = &mut scratch.buffers;
        match &node.op {
            Op::Zeros | Op::LstmCell => {}
            Op::IndexSelect { from, indices } => {
                let (own, mut from) = (view(own), into.of(*from));
                for (row, &index) in indices.iter().enumerate() {
                    let index = index as usize;
                    let into = from.reborrow().row_range(index..index + 1);
                    kernels.add(own.row_range(row..row + 1), into);
                }
            }
            Op::Embed { table, tokens, scale, mask, positions } => {
                let own = view(own);
                let scales = embedding_scales::<K::Real>(*scale, mask.as_deref());
                for (row, token) in tokens.iter().enumerate() {
                    let own = own.row_range(row..row + 1);
                    if let Some(token) = token {
                        let vector = table_row(parameters, *table, *token);
                        kernels.add_scaled(scales(row), own, vector);
                    }
                    if let Some(positions) = positions
                        && let PositionTable::Learned(table) = positions.table
                    {
                        let position = positions.positions[row];
                        kernels.add(own, table_row(parameters, table, position));
                    }
                }
            }
            Op::Affine { input, weights, residual, activation } => {
                let saved = if saves_result(*activation) {
                    values.of(tensor(index, node))
                } else {
                    MatRef::new(values.saved(node), node.rows, node.width)
                };
                let out = MatMut::new(own, node.rows, node.width);
                kernels.activation_gradient(*activation, saved, out);
                let own = view(own);
                if let Some(residual) = residual {
                    into.add(kernels, own, *residual);
                }
                packed_parameters.with_weights(registry, *weights, |weights| {
                    let (into, is_begun) = into.begin(*input);
                    kernels.gemm_gradient(own, weights, is_begun, into);
                });
                let spec = registry.affine(*weights);
                if let Some(bias) = spec.bias {
                    let sums = &mut scratch.columns;
                    add_bias_gradient(kernels, registry, bias, own, sums, parameters);
                }
                if num_uses[weights.0 as usize] == 1 {
                    add_weight_gradient(kernels, spec, values.of(*input), own, parameters);
                } else {
                    deferred[weights.0 as usize].push((*input, index));
                }
            }
            Op::Add { a, b } => {
                into.add(kernels, view(own), *a);
                into.add(kernels, view(own), *b);
            }
            Op::LayerNorm { rows, residual, norm } => {
                let sums = NormSums::new(&mut scratch.columns, node.width);
                // Both summands get the same gradient: it is made once, apart from what is there.
                let gradient = &mut scratch.rows;
                let is_apart = residual.is_some_and(|other| other == *rows || into.is_begun(*rows));
                let into_rows = match is_apart {
                    true => {
                        gradient.clear();
                        gradient.resize(node.len(), K::Real::ZERO);
                        MatMut::new(gradient, node.rows, node.width)
                    }
                    false => into.of(*rows),
                };
                let residual_rows = residual.map(|residual| values.of(residual));
                kernels.layer_norm_gradient(
                    norm_of(&packed_parameters, norm).scale,
                    values.of(*rows),
                    residual_rows,
                    values.saved(node),
                    view(own),
                    NormGradients { rows: into_rows, scale: sums.scale, bias: Some(sums.bias) },
                );
                match residual {
                    Some(residual) if is_apart => {
                        into.add(kernels, view(gradient), *rows);
                        into.add(kernels, view(gradient), *residual);
                    }
                    Some(residual) => into.add_other(kernels, *rows, *residual),
                    None => {}
                }
                add_norm_sums(registry, norm.scale, norm.bias, &scratch.columns, parameters);
            }
            Op::NormColumns { rows, norms } => {
                // Columns without a norm are copies.
                let mut is_normed = vec![false; node.width];
                for (part, (columns, norm)) in norms.iter().enumerate() {
                    is_normed[columns.clone()].fill(true);
                    let sums = NormSums::new(&mut scratch.columns, columns.len());
                    kernels.layer_norm_gradient(
                        norm_of(&packed_parameters, norm).scale,
                        values.of(*rows).column_range(columns.clone()),
                        None,
                        &values.saved(node)[2 * part * node.rows..2 * (part + 1) * node.rows],
                        view(own).column_range(columns.clone()),
                        NormGradients {
                            rows: into.of(*rows).column_range(columns.clone()),
                            scale: sums.scale,
                            bias: Some(sums.bias),
                        },
                    );
                    add_norm_sums(registry, norm.scale, norm.bias, &scratch.columns, parameters);
                }
                let (own, mut rows) = (view(own), into.of(*rows));
                for row in 0..node.rows {
                    let elements = rows.row(row).iter_mut().zip(own.row(row)).zip(&is_normed);
                    let copied = elements.filter(|(_, is_normed)| !**is_normed);
                    copied.for_each(|((into, &g), _)| *into += g);
                }
            }
            Op::Activate { rows, activation } => {
                let saved = if saves_result(*activation) { tensor(index, node) } else { *rows };
                let out = MatMut::new(own, node.rows, node.width);
                kernels.activation_gradient(*activation, values.of(saved), out);
                into.add(kernels, view(own), *rows);
            }
            Op::DropOut { rows, keys, site, rate } => {
                scratch.mask.resize(node.width, 0.0);
                let (own, (mut rows, is_begun)) = (view(own), into.begin(*rows));
                for (row, key) in keys.iter().enumerate() {
                    let place = key.mask_row(*site);
                    fill_mask(self.dropout.key, place, *rate, &mut scratch.mask);
                    let (own, mask, into) = (own.row(row), &scratch.mask, rows.row(row));
                    match is_begun {
                        true => kernels.add_product(own, mask, into),
                        false => kernels.multiply(own, mask, into),
                    }
                }
            }
            Op::LinearRecurrence { gate, input, initial, lengths } => {
                let (states, own) = (values.of(tensor(index, node)), view(own));
                let (gates, inputs) = (values.columns(gate), values.columns(input));
                let starts = values.of(*initial);
                let results = [gate, input, &Columns::all(*initial)];
                into.with_each(kernels, buffers, results, |kernels, mut into| {
                    let mut first = 0;
                    for (sequence, &length) in lengths.iter().enumerate() {
                        let rows = first..first + length;
                        first = rows.end;
                        let [of_gate, of_input, of_initial] = &mut into;
                        kernels.linear_recurrence_gradient(
                            gates.row_range(rows.clone()),
                            inputs.row_range(rows.clone()),
                            starts.row(sequence),
                            states.row_range(rows.clone()),
                            own.row_range(rows.clone()),
                            of_gate.reborrow().row_range(rows.clone()),
                            of_input.reborrow().row_range(rows),
                            of_initial.row(sequence),
                        );
                    }
                });
            }
            Op::RunningMean { input, initial, counts, lengths } => {
                let own = view(own);
                let results = [&Columns::all(*input), &Columns::all(*initial)];
                into.with_each(kernels, buffers, results, |kernels, [mut input, mut initial]| {
                    let mut first = 0;
                    for (sequence, (&length, &seen)) in lengths.iter().zip(counts).enumerate() {
                        let rows = first..first + length;
                        first = rows.end;
                        kernels.running_means_gradient(
                            seen,
                            own.row_range(rows.clone()),
                            input.reborrow().row_range(rows),
                            initial.row(sequence),
                        );
                    }
                });
            }
            Op::AverageAttentionGate { input_gate, input, gate, rows } => {
                let all = [*input_gate, *gate, *input, *rows];
                let [input_gate, forget_gate, input, rows] = all.map(|tensor| values.of(tensor));
                let inputs = AverageGateInputs { input_gate, forget_gate, input, rows };
                let all = all.map(Columns::all);
                into.with_each(kernels, buffers, all.each_ref(), |kernels, into| {
                    let [input_gate, forget_gate, input, rows] = into;
                    let into = AverageGateGradients { input_gate, forget_gate, input, rows };
                    kernels.average_attention_gate_gradient(inputs, view(own), into);
                });
            }
            Op::Highway { gate, input, rows } => {
                let all = [gate, &Columns::all(*input), &Columns::all(*rows)];
                let [gate, input, rows] = all.map(|columns| values.columns(columns));
                let inputs = HighwayInputs { gate, input, rows };
                into.with_each(kernels, buffers, all, |kernels, [gate, input, rows]| {
                    let into = HighwayGradients { gate, input, rows };
                    kernels.highway_gradient(inputs, view(own), into);
                });
            }
            Op::Attend { queries, groups, positions, dropout_site, .. } => {
                let heads = groups.first().map_or(1, |(_, group)| group.heads);
                let (weights, masks) = values.saved(node).split_at(match dropout_site {
                    Some(_) => node.saved / 2,
                    None => node.saved,
                });
                let guide = self.guided_alignment.as_ref();
                let own = view(own);
                let queries_all = values.columns(queries);
                let Some((_, any)) = groups.first() else { return };
                let results = [queries, &any.keys, &any.values];
                into.with_each(kernels, buffers, results, |kernels, mut into| {
                    let (mut first, mut pairs_before) = (0, 0);
                    for (number, group) in groups.iter().enumerate() {
                        let (rows, sentence) = group;
                        let pairs = heads * rows * sentence.rows.len();
                        let range = pairs_before..pairs_before + pairs;
                        let extra = alignment_gradient(guide, group, positions, number, || {
                            &weights[range.start..]
                        });
                        let rows = first..first + rows;
                        kernels.attend_gradient(
                            heads,
                            queries_all.row_range(rows.clone()),
                            values.columns(&sentence.keys).row_range(sentence.rows.clone()),
                            values.columns(&sentence.values).row_range(sentence.rows.clone()),
                            dropout_site.map(|_| &masks[range.clone()]),
                            &weights[range.clone()],
                            extra.as_deref(),
                            own.row_range(rows.clone()),
                            gradients_of_group(&mut into, rows.clone(), sentence),
                        );
                        (first, pairs_before) = (rows.end, range.end);
                    }
                });
            }
            Op::ConcatRows { parts } => {
                let (own, mut first) = (view(own), 0);
                for part in parts {
                    let rows = first..first + part.rows();
                    first = rows.end;
                    into.add(kernels, own.row_range(rows), *part);
                }
            }
            Op::ConcatColumns { parts } => {
                let (own, mut first) = (view(own), 0);
                for part in parts {
                    let columns = first..first + part.width();
                    first = columns.end;
                    into.add(kernels, own.column_range(columns), *part);
                }
            }
            Op::CopyColumns { part } => kernels.add(view(own), into.columns(part)),
            Op::MeanPool { rows, lengths } => {
                let (own, mut rest) = (view(own), into.of(*rows));
                for (sentence, &length) in lengths.iter().enumerate() {
                    let factor = K::Real::of(1.0 / length as f64);
                    let own = own.row_range(sentence..sentence + 1);
                    let (mut rows, others) = rest.split_rows(length);
                    rest = others;
                    for row in 0..length {
                        let into = rows.reborrow().row_range(row..row + 1);
                        kernels.add_scaled(factor, own, into);
                    }
                }
            }
            Op::Gru { variant, input, recurrent, bias, state } => {
                let inputs = GruInputs {
                    variant: *variant,
                    input: input.as_ref().map(|input| values.columns(input)),
                    recurrent: values.of(*recurrent),
                    bias: bias.map(|bias| packed_parameters.vector(bias)),
                    state: values.of(*state),
                };
                let (own, columns) = (view(own), &mut scratch.columns);
                columns.clear();
                columns.resize(3 * node.width, K::Real::ZERO);
                let mut gradient = |kernels: &mut K,
                                    input: Option<Rows<'_, K>>,
                                    recurrent: Rows<'_, K>,
                                    state: Rows<'_, K>| {
                    let bias = bias.map(|_| &mut columns[..]);
                    let into = GruGradients { input, recurrent, bias, state };
                    kernels.gru_gradient(inputs, own, into);
                };
                let [recurrent, state] = [*recurrent, *state].map(Columns::all);
                match input {
                    Some(input) => {
                        let results = [input, &recurrent, &state];
                        into.with_each(kernels, buffers, results, |kernels, [x, s, h]| {
                            gradient(kernels, Some(x), s, h);
                        });
                    }
                    None => {
                        let results = [&recurrent, &state];
                        into.with_each(kernels, buffers, results, |kernels, [s, h]| {
                            gradient(kernels, None, s, h);
                        });
                    }
                }
                if let Some(bias) = bias {
                    add_vector_gradient(registry, *bias, columns, parameters);
                }
            }
            Op::Lstm { input, recurrent, bias, cell } => {
                let inputs = LstmInputs {
                    input: input.as_ref().map(|input| values.columns(input)),
                    recurrent: values.of(*recurrent),
                    bias: packed_parameters.vector(*bias),
                    cell: values.of(*cell),
                };
                let (rows, width) = shape;
                let columns = &mut scratch.columns;
                columns.clear();
                columns.resize(4 * width, K::Real::ZERO);
                // The node after this one has the gradient of the cell.
                let cell_gradient = later
                    .get(1)
                    .copied()
                    .unwrap_or(false)
                    .then(|| MatRef::new(&rest[..node.len()], rows, width));
                let next = MatRef::new(values.saved(node), rows, width);
                let output_gradient = is_begun.then(|| view(own));
                let mut gradient = |kernels: &mut K,
                                    input: Option<Rows<'_, K>>,
                                    recurrent: Rows<'_, K>,
                                    cell: Rows<'_, K>| {
                    let into = LstmGradients { input, recurrent, bias: &mut columns[..], cell };
                    kernels.lstm_gradient(inputs, next, output_gradient, cell_gradient, into);
                };
                let [recurrent, cell] = [*recurrent, *cell].map(Columns::all);
                match input {
                    Some(input) => {
                        let results = [input, &recurrent, &cell];
                        into.with_each(kernels, buffers, results, |kernels, [x, s, c]| {
                            gradient(kernels, Some(x), s, c);
                        });
                    }
                    None => {
                        let results = [&recurrent, &cell];
                        into.with_each(kernels, buffers, results, |kernels, [s, c]| {
                            gradient(kernels, None, s, c);
                        });
                    }
                }
                add_vector_gradient(registry, *bias, columns, parameters);
            }
            Op::MultiplicativeState { input, input_bias, recurrent, recurrent_bias } => {
                let inputs = MultiplicativeInputs {
                    input: values.columns(input),
                    input_bias: packed_parameters.vector(*input_bias),
                    recurrent: values.of(*recurrent),
                    recurrent_bias: packed_parameters.vector(*recurrent_bias),
                };
                let columns = &mut scratch.columns;
                columns.clear();
                columns.resize(2 * node.width, K::Real::ZERO);
                let (input_sums, recurrent_sums) = columns.split_at_mut(node.width);
                let results = [input, &Columns::all(*recurrent)];
                into.with_each(kernels, buffers, results, |kernels, [input, recurrent]| {
                    let into = MultiplicativeGradients {
                        input,
                        input_bias: &mut *input_sums,
                        recurrent,
                        recurrent_bias: &mut *recurrent_sums,
                    };
                    kernels.multiplicative_state_gradient(inputs, view(own), into);
                });
                add_vector_gradient(registry, *input_bias, input_sums, parameters);
                add_vector_gradient(registry, *recurrent_bias, recurrent_sums, parameters);
            }
            Op::AttendAnnotations { vector, queries, groups, positions } => {
                let guide = self.guided_alignment.as_ref();
                let Some((_, any)) = groups.first() else { return };
                let (own, weights) = (view(own), values.saved(node));
                let queries_all = values.of(*queries);
                let columns = &mut scratch.columns;
                columns.clear();
                columns.resize(queries.width(), K::Real::ZERO);
                let results = [&Columns::all(*queries), &any.keys, &any.values];
                into.with_each(kernels, buffers, results, |kernels, mut into| {
                    let (mut first, mut pairs_before) = (0, 0);
                    for (number, group) in groups.iter().enumerate() {
                        let (rows, sentence) = group;
                        let range = pairs_before..pairs_before + rows * sentence.rows.len();
                        let extra = alignment_gradient(guide, group, positions, number, || {
                            &weights[range.start..]
                        });
                        let (rows, positions) = (first..first + rows, sentence.rows.clone());
                        let attention = AdditiveAttention {
                            vector: vector.map(|vector| packed_parameters.vector(vector)),
                            queries: queries_all.row_range(rows.clone()),
                            keys: values.columns(&sentence.keys).row_range(positions.clone()),
                            values: values.columns(&sentence.values).row_range(positions),
                        };
                        kernels.attend_annotations_gradient(
                            attention,
                            &weights[range.clone()],
                            extra.as_deref(),
                            own.row_range(rows.clone()),
                            gradients_of_group(&mut into, rows.clone(), sentence),
                            columns,
                        );
                        (first, pairs_before) = (rows.end, range.end);
                    }
                });
                if let Some(vector) = vector {
                    add_vector_gradient(registry, *vector, columns, parameters);
                }
            }
            Op::CrossEntropy { hidden } => {
                let gradient = MatRef::new(values.saved(node), hidden.rows(), hidden.width());
                into.add(kernels, gradient, *hidden);
            }
        }
    }
}
