//! A tape as the backend of all layers.

use std::ops::Range;

use miriam_nmt::Result;
use miriam_nmt::layer::{
    Activation, AttentionMask, Backend, ColumnSlice, DropoutSite, Epilogue, LayerNorm,
    SequenceLayout, Side,
};

use super::node::{Columns, Group, KeysValues, NormSpec, Op, PositionTable, Positions, Tensor};
use super::weights::{AffineId, MatrixPlace, VectorId};
use super::{RowKey, Tape};
use crate::kernels::{Kernels, saves_result};

impl From<&LayerNorm<VectorId>> for NormSpec {
    fn from(norm: &LayerNorm<VectorId>) -> Self {
        NormSpec { scale: norm.scale, bias: norm.bias, epsilon: norm.epsilon }
    }
}

/// The length of each sequence.
fn lengths_of(rows: usize, sequences: SequenceLayout<'_>) -> Vec<usize> {
    match sequences {
        SequenceLayout::SingleStep => vec![1; rows],
        SequenceLayout::Lengths(lengths) => lengths.to_vec(),
    }
}

/// Consecutive rows of `keys` and `values` for each sentence.
pub(super) fn split_sentences(
    heads: usize,
    keys: &Columns,
    values: &Columns,
    lengths: &[usize],
) -> Vec<KeysValues> {
    let mut next = 0;
    let mut of_sentence = |(sentence, &length): (usize, &usize)| {
        let rows: Range<usize> = next..next + length;
        next = rows.end;
        KeysValues { sentence, heads, keys: keys.clone(), values: values.clone(), rows }
    };
    lengths.iter().enumerate().map(&mut of_sentence).collect()
}

/// The number of pairs of a query and a position.
pub(super) fn num_pairs(groups: &[Group]) -> usize {
    groups.iter().map(|(queries, group)| queries * group.rows.len()).sum()
}

impl<K: Kernels> Tape<K> {
    fn record_attention(
        &mut self,
        queries: ColumnSlice<'_, Tensor>,
        groups: &[(usize, &KeysValues)],
        mask: AttentionMask,
        is_aligned: bool,
    ) -> Tensor {
        let is_causal = match mask {
            AttentionMask::All => false,
            AttentionMask::Causal => true,
            AttentionMask::Prefix(_) => panic!("sentences are not padded in training"),
        };
        let groups: Vec<Group> =
            groups.iter().map(|&(rows, group)| (rows, group.clone())).collect();
        let heads = groups.first().map_or(1, |(_, group)| group.heads);
        let queries = Columns::from(queries);
        let (rows, width) = (queries.tensor.rows(), queries.width());
        // Weights, and the masks of dropout behind them.
        let mut saved = heads * num_pairs(&groups);
        let mut dropout_site = None;
        if self.dropout.attention > 0.0 {
            saved *= 2;
            dropout_site = Some((self.side, self.next_dropout_site()));
        }
        let positions = if is_aligned { self.attending_positions(&groups) } else { None };
        let op = Op::Attend { queries, groups, is_causal, positions, dropout_site };
        self.record(op, rows, width, saved)
    }

    /// The position in its target of the first query of each group, if the alignment is
    /// guided.
    pub(super) fn attending_positions(&mut self, groups: &[Group]) -> Option<Vec<u32>> {
        self.guided_alignment.as_ref()?;
        let next = &mut self.attending_position;
        let position = |(queries, group): &Group| {
            next.resize(next.len().max(group.sentence + 1), 0);
            next[group.sentence] += *queries as u32;
            next[group.sentence] - *queries as u32
        };
        Some(groups.iter().map(position).collect())
    }

    fn next_dropout_site(&mut self) -> u32 {
        self.num_dropout_sites += 1;
        self.num_dropout_sites - 1
    }
}

impl<K: Kernels> Backend for Tape<K> {
    type Tensor = Tensor;
    type Weights = AffineId;
    type Vector = VectorId;
    type EmbeddingTable = MatrixPlace;
    type PositionalEncoding = PositionTable;
    type PackedKv = KeysValues;

    fn shape(&self, tensor: &Tensor) -> [usize; 2] {
        [tensor.rows(), tensor.width()]
    }

    fn zeros(&mut self, rows: usize, width: usize) -> Result<Tensor> {
        Ok(self.record(Op::Zeros, rows, width, 0))
    }

    fn index_select(&mut self, from: &Tensor, indices: &[u32]) -> Result<Tensor> {
        let op = Op::IndexSelect { from: *from, indices: indices.to_vec() };
        Ok(self.record(op, indices.len(), from.width(), 0))
    }

    fn embed(
        &mut self,
        table: &MatrixPlace,
        tokens: &[Option<u32>],
        scale: f32,
        positional_encoding: Option<(&PositionTable, &[u32])>,
    ) -> Result<Tensor> {
        let positions = positional_encoding
            .map(|(table, positions)| Positions { table: *table, positions: positions.to_vec() });
        let op = Op::Embed { table: *table, tokens: tokens.to_vec(), scale, positions };
        Ok(self.record(op, tokens.len(), table.columns, 0))
    }

    fn affine(
        &mut self,
        input: &Tensor,
        weights: &AffineId,
        epilogue: Epilogue<'_, Tensor>,
    ) -> Result<Tensor> {
        let Epilogue { residual, activation } = epilogue;
        let (rows, outputs) = (input.rows(), self.registry.affine(*weights).outputs);
        let saved = if saves_result(activation) { 0 } else { rows * outputs };
        let residual = residual.copied();
        let op = Op::Affine { input: *input, weights: *weights, residual, activation };
        Ok(self.record(op, rows, outputs, saved))
    }

    fn add(&mut self, rows: Tensor, other: &Tensor) -> Result<Tensor> {
        Ok(self.record(Op::Add { a: rows, b: *other }, rows.rows(), rows.width(), 0))
    }

    fn layer_norm(&mut self, rows: &Tensor, norm: &LayerNorm<VectorId>) -> Result<Tensor> {
        let op = Op::LayerNorm { rows: *rows, residual: None, norm: norm.into() };
        Ok(self.record(op, rows.rows(), rows.width(), 2 * rows.rows()))
    }

    fn add_layer_norm(
        &mut self,
        rows: Tensor,
        residual: &Tensor,
        norm: &LayerNorm<VectorId>,
    ) -> Result<Tensor> {
        let op = Op::LayerNorm { rows, residual: Some(*residual), norm: norm.into() };
        Ok(self.record(op, rows.rows(), rows.width(), 2 * rows.rows()))
    }

    fn activate(&mut self, rows: Tensor, activation: Activation) -> Result<Tensor> {
        Ok(self.record(Op::Activate { rows, activation }, rows.rows(), rows.width(), 0))
    }

    /// Results never change, so there is nothing to copy.
    fn copy(&mut self, rows: &Tensor) -> Result<Tensor> {
        Ok(*rows)
    }

    fn linear_recurrence(
        &mut self,
        gate: ColumnSlice<'_, Tensor>,
        input: ColumnSlice<'_, Tensor>,
        initial: Tensor,
        sequences: SequenceLayout<'_>,
    ) -> Result<Tensor> {
        let (gate, input) = (Columns::from(gate), Columns::from(input));
        let (rows, width) = (gate.tensor.rows(), gate.width());
        let lengths = lengths_of(rows, sequences);
        Ok(self.record(Op::LinearRecurrence { gate, input, initial, lengths }, rows, width, 0))
    }

    fn running_mean(
        &mut self,
        input: &Tensor,
        initial: Tensor,
        counts: &[u32],
        sequences: SequenceLayout<'_>,
    ) -> Result<Tensor> {
        let lengths = lengths_of(input.rows(), sequences);
        let op = Op::RunningMean { input: *input, initial, counts: counts.to_vec(), lengths };
        Ok(self.record(op, input.rows(), input.width(), 0))
    }

    fn average_attention_gate(
        &mut self,
        input_gate: &Tensor,
        input: &Tensor,
        gate: &Tensor,
        rows: Tensor,
    ) -> Result<Tensor> {
        let op =
            Op::AverageAttentionGate { input_gate: *input_gate, input: *input, gate: *gate, rows };
        Ok(self.record(op, rows.rows(), rows.width(), 0))
    }

    fn highway(
        &mut self,
        gate: ColumnSlice<'_, Tensor>,
        input: &Tensor,
        rows: Tensor,
    ) -> Result<Tensor> {
        let op = Op::Highway { gate: gate.into(), input: *input, rows };
        Ok(self.record(op, rows.rows(), rows.width(), 0))
    }

    fn pack_kv(
        &mut self,
        heads: usize,
        keys: ColumnSlice<'_, Tensor>,
        values: ColumnSlice<'_, Tensor>,
        lengths: &[usize],
    ) -> Result<Vec<KeysValues>> {
        Ok(split_sentences(heads, &keys.into(), &values.into(), lengths))
    }

    fn attend(
        &mut self,
        queries: ColumnSlice<'_, Tensor>,
        groups: &[(usize, &KeysValues)],
        mask: AttentionMask,
    ) -> Result<Tensor> {
        Ok(self.record_attention(queries, groups, mask, false))
    }

    fn attend_aligned(
        &mut self,
        queries: ColumnSlice<'_, Tensor>,
        groups: &[(usize, &KeysValues)],
    ) -> Result<Tensor> {
        Ok(self.record_attention(queries, groups, AttentionMask::All, true))
    }

    fn begin_rows(&mut self, side: Side, lengths: &[usize]) {
        let sentence = |index: usize| self.sentences.get(index).copied().unwrap_or_default();
        let of_sentence = |(index, &length): (usize, &usize)| {
            let sentence = sentence(index);
            (0..length as u32).map(move |position| RowKey { sentence, position })
        };
        let keys = lengths.iter().enumerate().flat_map(of_sentence).collect();
        self.row_keys[side as usize] = keys;
        self.side = side;
    }

    fn drop_out(&mut self, rows: Tensor, site: DropoutSite) -> Result<Tensor> {
        let rate = self.dropout.rate(site);
        if rate == 0.0 {
            return Ok(rows);
        }
        let op = Op::DropOut { rows, side: self.side, site: self.next_dropout_site(), rate };
        Ok(self.record(op, rows.rows(), rows.width(), 0))
    }

    fn drops_out(&self, site: DropoutSite) -> bool {
        self.dropout.rate(site) > 0.0
    }
}
