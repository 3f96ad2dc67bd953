//! Gradients of what takes the place of self-attention in decoders: recurrences and running
//! means over whole sequences, and the gates beside them.

use std::ops::Range;

use miriam_kernels::MatRef;

use super::super::gradient_sums::tensor;
use super::super::node::{Columns, Tensor};
use super::NodeGradient;
use crate::kernels::{
    AverageGateGradients, AverageGateInputs, HighwayGradients, HighwayInputs, Kernels,
};

/// The rows of sequences that follow each other.
fn sequence_rows(lengths: &[usize]) -> impl Iterator<Item = Range<usize>> {
    let mut first = 0;
    lengths.iter().map(move |&length| {
        let rows = first..first + length;
        first = rows.end;
        rows
    })
}

impl<K: Kernels> NodeGradient<'_, K> {
    pub(super) fn linear_recurrence(
        &mut self,
        gate: &Columns,
        input: &Columns,
        initial: Tensor,
        lengths: &[usize],
    ) {
        let (values, node) = (self.values, self.node);
        let own = MatRef::new(self.own, node.rows, node.width);
        let states = values.of(tensor(self.index, node));
        let (gates, inputs) = (values.columns(gate), values.columns(input));
        let starts = values.of(initial);
        let results = [gate, input, &Columns::all(initial)];
        let buffers = &mut self.scratch.buffers;
        self.into.with_each(self.kernels, buffers, results, |kernels, mut into| {
            for (sequence, rows) in sequence_rows(lengths).enumerate() {
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

    pub(super) fn running_mean(
        &mut self,
        input: Tensor,
        initial: Tensor,
        counts: &[u32],
        lengths: &[usize],
    ) {
        let own = MatRef::new(self.own, self.node.rows, self.node.width);
        let results = [&Columns::all(input), &Columns::all(initial)];
        let buffers = &mut self.scratch.buffers;
        self.into.with_each(self.kernels, buffers, results, |kernels, [mut input, mut initial]| {
            for (sequence, (rows, &seen)) in sequence_rows(lengths).zip(counts).enumerate() {
                kernels.running_means_gradient(
                    seen,
                    own.row_range(rows.clone()),
                    input.reborrow().row_range(rows),
                    initial.row(sequence),
                );
            }
        });
    }

    pub(super) fn average_attention_gate(
        &mut self,
        input_gate: Tensor,
        input: Tensor,
        gate: Tensor,
        rows: Tensor,
    ) {
        let own = MatRef::new(self.own, self.node.rows, self.node.width);
        let all = [input_gate, gate, input, rows];
        let [input_gate, forget_gate, input, rows] = all.map(|tensor| self.values.of(tensor));
        let inputs = AverageGateInputs { input_gate, forget_gate, input, rows };
        let all = all.map(Columns::all);
        let buffers = &mut self.scratch.buffers;
        self.into.with_each(self.kernels, buffers, all.each_ref(), |kernels, into| {
            let [input_gate, forget_gate, input, rows] = into;
            let into = AverageGateGradients { input_gate, forget_gate, input, rows };
            kernels.average_attention_gate_gradient(inputs, own, into);
        });
    }

    pub(super) fn highway(&mut self, gate: &Columns, input: Tensor, rows: Tensor) {
        let own = MatRef::new(self.own, self.node.rows, self.node.width);
        let all = [gate, &Columns::all(input), &Columns::all(rows)];
        let [gate, input, rows] = all.map(|columns| self.values.columns(columns));
        let inputs = HighwayInputs { gate, input, rows };
        let buffers = &mut self.scratch.buffers;
        self.into.with_each(self.kernels, buffers, all, |kernels, [gate, input, rows]| {
            kernels.highway_gradient(inputs, own, HighwayGradients { gate, input, rows });
        });
    }
}
