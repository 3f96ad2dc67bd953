//! Passes gradients back through the recorded operations.

use miriam_kernels::{MatMut, MatRef};

use super::Tape;
use super::forward::{embedding_scales, norm_of, sigmoid};
use super::gradient_sums::{
    AttentionSums, NormSums, add_bias_gradient, add_norm_sums, add_row, add_vector_gradient,
    add_weight_gradient, alignment_gradient, table_row, tensor,
};
use super::node::{Columns, Gradients, Node, Op, PositionTable, Tensor, Values};
use crate::Real;
use crate::dropout::fill_mask;
use crate::kernels::{
    AdditiveAttention, GruGradients, GruInputs, Kernels, LstmGradients, LstmInputs, NormGradients,
    saves_result,
};

/// An occurrence of weights: the input of a product, and its node, whose gradient is that of
/// the product.
type Occurrence = (Tensor, usize);

impl<K: Kernels> Tape<K> {
    /// Adds the gradient of all losses so far to that of the parameters.
    pub fn backward(&mut self) {
        let nodes = std::mem::take(&mut self.nodes);
        let missing = self.size.gradients.saturating_sub(self.gradients.len());
        self.gradients.extend(std::iter::repeat_n(K::Real::ZERO, missing));
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
        let [inputs, outputs, ..] = &mut self.scratch.attention;
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
        let snapshot = self.snapshot();
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
        match &node.op {
            Op::Zeros | Op::LstmCell => {}
            Op::IndexSelect { from, indices } => {
                let (own, mut from) = (view(own), into.of(*from));
                for (row, &index) in indices.iter().enumerate() {
                    add_row(own.row(row), from.row(index as usize));
                }
            }
            Op::Embed { table, tokens, scale, mask, positions } => {
                let own = view(own);
                let scales = embedding_scales::<K::Real>(*scale, mask.as_deref());
                for (row, token) in tokens.iter().enumerate() {
                    if let Some(token) = token {
                        let scale = scales(row);
                        let vector = table_row(parameters, *table, *token);
                        let elements = vector.iter_mut().zip(own.row(row));
                        elements.for_each(|(into, &g)| *into += scale * g);
                    }
                    if let Some(positions) = positions
                        && let PositionTable::Learned(table) = positions.table
                    {
                        let position = positions.positions[row];
                        add_row(own.row(row), table_row(parameters, table, position));
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
                    kernels.add(own, into.of(*residual));
                }
                snapshot.with_weights(registry, *weights, |weights| {
                    kernels.product_gradient(own, weights, into.of(*input));
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
                kernels.add(view(own), into.of(*a));
                kernels.add(view(own), into.of(*b));
            }
            Op::LayerNorm { rows, residual, norm } => {
                let sums = NormSums::new(&mut scratch.columns, node.width);
                // Both summands get the same gradient: it is made once.
                let gradient = &mut scratch.rows;
                let into_rows = match residual {
                    Some(_) => {
                        gradient.clear();
                        gradient.resize(node.len(), K::Real::ZERO);
                        MatMut::new(gradient, node.rows, node.width)
                    }
                    None => into.of(*rows),
                };
                let residual_rows = residual.map(|residual| values.of(residual));
                kernels.layer_norm_gradient(
                    norm_of(&snapshot, norm).scale,
                    values.of(*rows),
                    residual_rows,
                    values.saved(node),
                    view(own),
                    NormGradients { rows: into_rows, scale: sums.scale, bias: Some(sums.bias) },
                );
                if let Some(residual) = residual {
                    kernels.add(view(gradient), into.of(*rows));
                    kernels.add(view(gradient), into.of(*residual));
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
                        norm_of(&snapshot, norm).scale,
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
                kernels.add(view(own), into.of(*rows));
            }
            Op::DropOut { rows, keys, site, rate } => {
                scratch.mask.resize(node.width, 0.0);
                let (own, mut rows) = (view(own), into.of(*rows));
                for (row, key) in keys.iter().enumerate() {
                    let place = key.mask_row(*site);
                    fill_mask(self.dropout.key, place, *rate, &mut scratch.mask);
                    kernels.add_product(own.row(row), &scratch.mask, rows.row(row));
                }
            }
            Op::LinearRecurrence { gate, input, initial, lengths } => {
                let states = values.of(tensor(index, node));
                let own = view(own);
                let buffers = &mut scratch.attention;
                let mut first = 0;
                for (sequence, &length) in lengths.iter().enumerate() {
                    let rows = first..first + length;
                    first = rows.end;
                    let [gates, inputs, start, _] = &mut *buffers;
                    for buffer in [&mut *gates, &mut *inputs] {
                        buffer.clear();
                        buffer.resize(length * node.width, K::Real::ZERO);
                    }
                    start.clear();
                    start.resize(node.width, K::Real::ZERO);
                    kernels.linear_recurrence_gradient(
                        values.columns(gate).row_range(rows.clone()),
                        values.columns(input).row_range(rows.clone()),
                        values.of(*initial).row(sequence),
                        states.row_range(rows.clone()),
                        own.row_range(rows.clone()),
                        MatMut::new(gates, length, node.width),
                        MatMut::new(inputs, length, node.width),
                        start,
                    );
                    for (buffer, columns) in [(&*gates, gate), (&*inputs, input)] {
                        let (_, later) = into.columns(columns).split_rows(rows.start);
                        let (part, _) = later.split_rows(length);
                        kernels.add(MatRef::new(buffer, length, node.width), part);
                    }
                    add_row(start, into.of(*initial).row(sequence));
                }
            }
            Op::RunningMean { input, initial, counts, lengths } => {
                let (own, mut first) = (view(own), 0);
                for (sequence, (&length, &seen)) in lengths.iter().zip(counts).enumerate() {
                    let mut behind = vec![K::Real::ZERO; node.width];
                    for row in (first..first + length).rev() {
                        let count = f64::from(seen) + (row - first) as f64;
                        let (old, new) = (count / (count + 1.0), 1.0 / (count + 1.0));
                        let [old, new] = [old, new].map(K::Real::of);
                        let mut input = into.of(*input);
                        let elements = input.row(row).iter_mut().zip(&mut behind);
                        for ((into, behind), &g) in elements.zip(own.row(row)) {
                            let total = g + *behind;
                            *into += new * total;
                            *behind = old * total;
                        }
                    }
                    add_row(&behind, into.of(*initial).row(sequence));
                    first += length;
                }
            }
            Op::AverageAttentionGate { input_gate, input, gate, rows } => {
                let all = [*input_gate, *input, *gate, *rows].map(|tensor| values.of(tensor));
                let (own, one) = (view(own), K::Real::ONE);
                for row in 0..node.rows {
                    let [i, x, g, y] = all.map(|rows| rows.row(row));
                    for (column, &d) in own.row(row).iter().enumerate() {
                        let (a, b) = (sigmoid(i[column]), sigmoid(g[column]));
                        into.of(*input_gate).row(row)[column] += d * x[column] * a * (one - a);
                        into.of(*input).row(row)[column] += d * a;
                        into.of(*gate).row(row)[column] += d * y[column] * b * (one - b);
                        into.of(*rows).row(row)[column] += d * b;
                    }
                }
            }
            Op::Highway { gate, input, rows } => {
                let all = [values.columns(gate), values.of(*input), values.of(*rows)];
                let (own, one) = (view(own), K::Real::ONE);
                for row in 0..node.rows {
                    let [u, x, y] = all.map(|rows| rows.row(row));
                    for (column, &d) in own.row(row).iter().enumerate() {
                        let g = sigmoid(u[column]);
                        let of_gate = d * (y[column] - x[column]) * g * (one - g);
                        into.columns(gate).row(row)[column] += of_gate;
                        into.of(*input).row(row)[column] += d * (one - g);
                        into.of(*rows).row(row)[column] += d * g;
                    }
                }
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
                let mut sums = AttentionSums::new(&mut scratch.attention, queries, any);
                let (mut first, mut pairs_before) = (0, 0);
                for (number, group) in groups.iter().enumerate() {
                    let (rows, sentence) = group;
                    let pairs = heads * rows * sentence.rows.len();
                    let range = pairs_before..pairs_before + pairs;
                    let extra = alignment_gradient(guide, group, positions, number, || {
                        &weights[range.start..]
                    });
                    kernels.attend_gradient(
                        heads,
                        queries_all.row_range(first..first + rows),
                        values.columns(&sentence.keys).row_range(sentence.rows.clone()),
                        values.columns(&sentence.values).row_range(sentence.rows.clone()),
                        dropout_site.map(|_| &masks[range.clone()]),
                        &weights[range.clone()],
                        extra.as_deref(),
                        own.row_range(first..first + rows),
                        sums.of_group(first..first + rows, sentence.rows.clone()),
                    );
                    (first, pairs_before) = (first + rows, range.end);
                }
                sums.add_to(kernels, &mut into, queries, any);
            }
            Op::ConcatRows { parts } => {
                let (own, mut first) = (view(own), 0);
                for part in parts {
                    let rows = first..first + part.rows();
                    first = rows.end;
                    kernels.add(own.row_range(rows), into.of(*part));
                }
            }
            Op::ConcatColumns { parts } => {
                let (own, mut first) = (view(own), 0);
                for part in parts {
                    let columns = first..first + part.width();
                    first = columns.end;
                    kernels.add(own.column_range(columns), into.of(*part));
                }
            }
            Op::CopyColumns { part } => kernels.add(view(own), into.columns(part)),
            Op::MeanPool { rows, lengths } => {
                let (own, mut first) = (view(own), 0);
                for (sentence, &length) in lengths.iter().enumerate() {
                    let factor = K::Real::of(1.0 / length as f64);
                    for row in first..first + length {
                        let mut rows = into.of(*rows);
                        let elements = rows.row(row).iter_mut().zip(own.row(sentence));
                        elements.for_each(|(into, &g)| *into += factor * g);
                    }
                    first += length;
                }
            }
            Op::Gru { variant, input, recurrent, bias, state } => {
                let inputs = GruInputs {
                    variant: *variant,
                    input: input.as_ref().map(|input| values.columns(input)),
                    recurrent: values.of(*recurrent),
                    bias: bias.map(|bias| snapshot.vector(bias)),
                    state: values.of(*state),
                };
                // The input may be columns of what others write to, so all come apart first.
                let [of_input, of_recurrent, of_state, _] = &mut scratch.attention;
                let (gates, states) = (3 * node.len(), node.len());
                let zero = K::Real::ZERO;
                for (buffer, len) in
                    [(&mut *of_input, gates), (&mut *of_recurrent, gates), (&mut *of_state, states)]
                {
                    buffer.clear();
                    buffer.resize(len, zero);
                }
                scratch.columns.clear();
                scratch.columns.resize(3 * node.width, zero);
                let (rows, width) = shape;
                let gradients = GruGradients {
                    input: input.as_ref().map(|_| MatMut::new(of_input, rows, 3 * width)),
                    recurrent: MatMut::new(of_recurrent, rows, 3 * width),
                    bias: bias.map(|_| &mut scratch.columns[..]),
                    state: MatMut::new(of_state, rows, width),
                };
                kernels.gru_gradient(inputs, view(own), gradients);
                if let Some(input) = input {
                    kernels.add(MatRef::new(of_input, rows, 3 * width), into.columns(input));
                }
                kernels.add(MatRef::new(of_recurrent, rows, 3 * width), into.of(*recurrent));
                kernels.add(MatRef::new(of_state, rows, width), into.of(*state));
                if let Some(bias) = bias {
                    add_vector_gradient(registry, *bias, &scratch.columns, parameters);
                }
            }
            Op::Lstm { input, recurrent, bias, cell } => {
                let inputs = LstmInputs {
                    input: input.as_ref().map(|input| values.columns(input)),
                    recurrent: values.of(*recurrent),
                    bias: snapshot.vector(*bias),
                    cell: values.of(*cell),
                };
                let [of_input, of_recurrent, of_cell, _] = &mut scratch.attention;
                let (rows, width) = shape;
                let zero = K::Real::ZERO;
                for (buffer, len) in [
                    (&mut *of_input, 4 * node.len()),
                    (&mut *of_recurrent, 4 * node.len()),
                    (&mut *of_cell, node.len()),
                ] {
                    buffer.clear();
                    buffer.resize(len, zero);
                }
                scratch.columns.clear();
                scratch.columns.resize(4 * width, zero);
                // The node behind this one has the gradient of the cell.
                let cell_gradient = later
                    .get(1)
                    .copied()
                    .unwrap_or(false)
                    .then(|| MatRef::new(&rest[..node.len()], rows, width));
                kernels.lstm_gradient(
                    inputs,
                    MatRef::new(values.saved(node), rows, width),
                    is_begun.then(|| view(own)),
                    cell_gradient,
                    LstmGradients {
                        input: input.as_ref().map(|_| MatMut::new(of_input, rows, 4 * width)),
                        recurrent: MatMut::new(of_recurrent, rows, 4 * width),
                        bias: &mut scratch.columns,
                        cell: MatMut::new(of_cell, rows, width),
                    },
                );
                if let Some(input) = input {
                    kernels.add(MatRef::new(of_input, rows, 4 * width), into.columns(input));
                }
                kernels.add(MatRef::new(of_recurrent, rows, 4 * width), into.of(*recurrent));
                kernels.add(MatRef::new(of_cell, rows, width), into.of(*cell));
                add_vector_gradient(registry, *bias, &scratch.columns, parameters);
            }
            Op::MultiplicativeState { input, input_bias, recurrent, recurrent_bias } => {
                let biases = [*input_bias, *recurrent_bias].map(|bias| snapshot.vector(bias));
                let (x, s) = (values.columns(input), values.of(*recurrent));
                let own = view(own);
                let columns = &mut scratch.columns;
                columns.clear();
                columns.resize(2 * node.width, K::Real::ZERO);
                for row in 0..node.rows {
                    for (column, &d) in own.row(row).iter().enumerate() {
                        let of_input = d * (s.row(row)[column] + biases[1][column]);
                        let of_recurrent = d * (x.row(row)[column] + biases[0][column]);
                        columns[column] += of_input;
                        columns[node.width + column] += of_recurrent;
                        into.columns(input).row(row)[column] += of_input;
                        into.of(*recurrent).row(row)[column] += of_recurrent;
                    }
                }
                let (of_input, of_recurrent) = columns.split_at(node.width);
                add_vector_gradient(registry, *input_bias, of_input, parameters);
                add_vector_gradient(registry, *recurrent_bias, of_recurrent, parameters);
            }
            Op::AttendAnnotations { vector, queries, groups, positions } => {
                let guide = self.guided_alignment.as_ref();
                let Some((_, any)) = groups.first() else { return };
                let (own, weights) = (view(own), values.saved(node));
                let queries_all = values.of(*queries);
                let query_columns = Columns::all(*queries);
                let mut sums = AttentionSums::new(&mut scratch.attention, &query_columns, any);
                scratch.columns.clear();
                scratch.columns.resize(queries.width(), K::Real::ZERO);
                let (mut first, mut pairs_before) = (0, 0);
                for (number, group) in groups.iter().enumerate() {
                    let (rows, sentence) = group;
                    let range = pairs_before..pairs_before + rows * sentence.rows.len();
                    let extra = alignment_gradient(guide, group, positions, number, || {
                        &weights[range.start..]
                    });
                    let attention = AdditiveAttention {
                        vector: vector.map(|vector| snapshot.vector(vector)),
                        queries: queries_all.row_range(first..first + rows),
                        keys: values.columns(&sentence.keys).row_range(sentence.rows.clone()),
                        values: values.columns(&sentence.values).row_range(sentence.rows.clone()),
                    };
                    kernels.attend_annotations_gradient(
                        attention,
                        &weights[range.clone()],
                        extra.as_deref(),
                        own.row_range(first..first + rows),
                        sums.of_group(first..first + rows, sentence.rows.clone()),
                        &mut scratch.columns,
                    );
                    (first, pairs_before) = (first + rows, range.end);
                }
                sums.add_to(kernels, &mut into, &query_columns, any);
                if let Some(vector) = vector {
                    add_vector_gradient(registry, *vector, &scratch.columns, parameters);
                }
            }
            Op::CrossEntropy { hidden } => {
                let gradient = MatRef::new(values.saved(node), hidden.rows(), hidden.width());
                kernels.add(gradient, into.of(*hidden));
            }
        }
    }
}
