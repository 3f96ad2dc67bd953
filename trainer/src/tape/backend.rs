//! Implementation of the backend of `nmt`'s layers for a tape.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::activation::Activation;
use miriam_kernels::operators::{Activate, Clip, DropOut};
use miriam_kernels::random::RowKey;
use miriam_nmt::Result;
use miriam_nmt::layer::{
    AttentionMask, Backend, ColumnSlice, DropoutSite, Epilogue, Operator, RelativePositions,
    RowPosition, Side,
};

use super::Tape;
use super::node::{Columns, Group, KeysValues, Op, PositionTable, Positions, Tensor};
use super::weights::{AffineId, MatrixPlace, VectorId};
use crate::dropout::fill_mask;
use crate::kernels::{Kernels, saves_result};

/// The first dropout site of weights. Weights have the same site wherever they occur. Sites that
/// count up from 0 belong to operations, in their order.
pub(super) const FIRST_WEIGHTS_SITE: u32 = 1 << 31;
/// The first dropout site of attention weights; the sites of rows are below it.
const FIRST_ATTENTION_SITE: u32 = 1 << 30;
/// The number of bits for the head in a site of attention weights.
const HEAD_BITS: u32 = 12;
const SOURCE_WORDS_SITE: u32 = u32::MAX;
const TARGET_WORDS_SITE: u32 = u32::MAX - 1;

/// Returns the dropout site of a head's weights in the attention number `site`. It differs from the
/// sites of rows, of recurrent weights and of other heads.
pub(super) fn attention_site(site: u32, head: usize) -> u32 {
    debug_assert!(site < 1 << (30 - HEAD_BITS) && head < 1 << HEAD_BITS);
    FIRST_ATTENTION_SITE | site << HEAD_BITS | head as u32
}

/// Splits `keys` and `values` into the consecutive rows of each sentence.
pub(super) fn split_sentences(
    heads: usize,
    keys: &Columns,
    values: &Columns,
    lengths: &[usize],
) -> Vec<KeysValues> {
    let mut next = 0;
    let sentences = lengths.iter().enumerate().map(|(sentence, length)| {
        let rows: Range<usize> = next..next + length;
        next = rows.end;
        KeysValues { sentence, heads, keys: keys.clone(), values: values.clone(), rows }
    });
    sentences.collect()
}

/// Returns the number of pairs of a query and a position in all groups.
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
        assert!(!matches!(mask, AttentionMask::Prefix(_)), "sentences are not padded in training");
        let groups: Vec<Group> =
            groups.iter().map(|&(rows, group)| (rows, group.clone())).collect();
        let heads = groups.first().map_or(1, |(_, group)| group.heads);
        let queries = Columns::from(queries);
        let (rows, width) = (queries.tensor.rows(), queries.width());
        // The saved numbers are the weights, then the masks of dropout.
        let mut saved = heads * num_pairs(&groups);
        let mut dropout_site = None;
        if self.dropout.attention > 0.0 {
            saved *= 2;
            dropout_site = Some((self.side, self.next_dropout_site()));
        }
        let positions = if is_aligned { self.attending_positions(&groups) } else { None };
        let op = Op::Attend { queries, groups, visible: mask, positions, dropout_site };
        self.record(op, rows, width, saved)
    }

    /// Returns the target position of each group's first query, if the alignment is guided.
    pub(super) fn attending_positions(&mut self, groups: &[Group]) -> Option<Vec<u32>> {
        self.guided_alignment.as_ref()?;
        let next = &mut self.attending_position;
        Some(
            groups
                .iter()
                .map(|(queries, group)| {
                    next.resize(next.len().max(group.sentence + 1), 0);
                    next[group.sentence] += *queries as u32;
                    next[group.sentence] - *queries as u32
                })
                .collect(),
        )
    }

    /// Returns the input of a product with weights, clipped if `clip-products` sets a limit
    /// (`docs/spec/training.md` C.3).
    pub(super) fn clip_products(&mut self, input: Tensor) -> Tensor {
        match self.product_clip {
            None => input,
            Some(limit) => {
                let matrices = vec![Columns::all(input)];
                let op =
                    Op::Apply { operator: Arc::new(Clip { limit }), matrices, vectors: vec![] };
                self.record(op, input.rows(), input.width(), 0)
            }
        }
    }

    /// Returns the word-dropout mask of the next rows: one factor per row, the same wherever its
    /// token is embedded.
    fn word_mask(&self, rows: usize) -> Option<Vec<f32>> {
        let (rate, site) = match self.side {
            Side::Source => (self.dropout.source_words, SOURCE_WORDS_SITE),
            Side::Target => (self.dropout.target_words, TARGET_WORDS_SITE),
        };
        if rate <= 0.0 {
            return None;
        }
        let factors = self.row_keys[self.side as usize][..rows].iter().map(|key| {
            let mut factor = [1.0];
            fill_mask(self.dropout.key, key.mask_row(site), rate, &mut factor);
            factor[0]
        });
        Some(factors.collect())
    }

    /// Applies dropout to columns of the input of weights, the same columns at all time steps of a
    /// sentence. Masks depend on the sentence and the weights.
    pub(super) fn drop_columns(&mut self, input: Tensor, weights: AffineId) -> Tensor {
        let rate = self.dropout.recurrent;
        if rate == 0.0 {
            return input;
        }
        let keys = &self.row_keys[self.side as usize][..input.rows()];
        let keys = keys.iter().map(|key| RowKey { position: 0, ..*key }).collect();
        self.drop_elements(input, keys, FIRST_WEIGHTS_SITE + weights.0, rate)
    }

    /// Applies dropout to the elements of `input`; `rows` are the keys of its rows.
    fn drop_elements(
        &mut self,
        input: Tensor,
        rows: Arc<[RowKey]>,
        site: u32,
        rate: f32,
    ) -> Tensor {
        assert!(rows.len() >= input.rows(), "one key per row");
        let operator = Arc::new(DropOut { key: self.dropout.key, site, rows, rate });
        let op = Op::Apply { operator, matrices: vec![Columns::all(input)], vectors: vec![] };
        self.record(op, input.rows(), input.width(), 0)
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
    type RelativePositions = RelativePositions;

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
        let num_tokens = tokens.len();
        let (tokens, mask) = (tokens.to_vec(), self.word_mask(num_tokens));
        let op = Op::Embed { table: *table, tokens, scale, mask, positions };
        Ok(self.record(op, num_tokens, table.columns, 0))
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
        let input = self.clip_products(*input);
        let op = Op::Affine { input, weights: *weights, residual, activation };
        Ok(self.record(op, rows, outputs, saved))
    }

    /// Results never change, so a whole tensor need not be copied.
    fn copy(&mut self, part: ColumnSlice<'_, Tensor>) -> Result<Tensor> {
        if part.columns.len() == part.tensor.width() {
            return Ok(*part.tensor);
        }
        self.apply(Activate(Activation::None), &[part], &[])
    }

    fn apply(
        &mut self,
        operator: impl Operator,
        matrices: &[ColumnSlice<'_, Tensor>],
        vectors: &[&VectorId],
    ) -> Result<Tensor> {
        let matrices: Vec<Columns> = matrices.iter().cloned().map(Columns::from).collect();
        let shapes: Vec<[usize; 2]> =
            matrices.iter().map(|matrix| [matrix.tensor.rows(), matrix.width()]).collect();
        let [rows, width] = operator.shape(&shapes);
        let vectors = vectors.iter().map(|&&vector| vector).collect();
        let op = Op::Apply { operator: Arc::new(operator), matrices, vectors };
        Ok(self.record(op, rows, width, 0))
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
        let rows: Vec<RowPosition> = (0..)
            .zip(lengths)
            .flat_map(|(sentence, &length)| {
                (0..length as u32).map(move |position| RowPosition { sentence, position })
            })
            .collect();
        self.begin_row_positions(side, &rows);
    }

    fn begin_row_positions(&mut self, side: Side, rows: &[RowPosition]) {
        self.row_keys[side as usize] = rows
            .iter()
            .map(|row| RowKey {
                sentence: self.sentences.get(row.sentence as usize).copied().unwrap_or_default(),
                position: row.position,
            })
            .collect();
        self.side = side;
    }

    fn drop_out(&mut self, rows: Tensor, site: DropoutSite) -> Result<Tensor> {
        let rate = self.dropout.rate(site);
        if rate == 0.0 {
            return Ok(rows);
        }
        let keys = Arc::clone(&self.row_keys[self.side as usize]);
        let site = self.next_dropout_site();
        Ok(self.drop_elements(rows, keys, site, rate))
    }

    fn drops_out(&self, site: DropoutSite) -> bool {
        self.dropout.rate(site) > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sites of rows, of attention and of recurrent weights do not overlap.
    #[test]
    fn sites_of_attention_are_apart() {
        let most = (1 << (30 - HEAD_BITS)) - 1;
        let sites = [attention_site(0, 0), attention_site(most, (1 << HEAD_BITS) - 1)];
        assert!(sites[0] > most && sites[1] < FIRST_WEIGHTS_SITE);
        assert!(
            attention_site(0, 300) < attention_site(1, 0),
            "heads do not reach the next attention's sites"
        );
    }
}
