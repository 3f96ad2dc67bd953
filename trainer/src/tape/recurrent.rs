//! A tape as the backend of recurrent layers.

use std::ops::Range;

use miriam_nmt::Result;
use miriam_nmt::layer::{
    ActivationImpl, AttentionScore, Backend, ColumnSlice, Epilogue, GruVariant, LayerNorm,
    RecurrentOps,
};

use super::backend::{num_pairs, split_sentences};
use super::node::{Columns, Group, KeysValues, Op, Tensor};
use super::weights::VectorId;
use super::{ProjectedEmbeddings, Tape};
use crate::kernels::Kernels;

impl<K: Kernels> RecurrentOps for Tape<K> {
    type Annotations = KeysValues;
    type ProjectedEmbeddingCache = ProjectedEmbeddings;

    fn concat_rows(&mut self, parts: &[&Tensor]) -> Result<Tensor> {
        let parts: Vec<Tensor> = parts.iter().map(|&&part| part).collect();
        let rows = parts.iter().map(|part| part.rows()).sum();
        let width = parts.first().map_or(0, |part| part.width());
        Ok(self.record(Op::ConcatRows { parts }, rows, width, 0))
    }

    fn concat_columns(&mut self, parts: &[&Tensor]) -> Result<Tensor> {
        let parts: Vec<Tensor> = parts.iter().map(|&&part| part).collect();
        let rows = parts.first().map_or(0, |part| part.rows());
        let width = parts.iter().map(|part| part.width()).sum();
        Ok(self.record(Op::ConcatColumns { parts }, rows, width, 0))
    }

    fn copy_columns(&mut self, part: ColumnSlice<'_, Tensor>) -> Result<Tensor> {
        let part = Columns::from(part);
        let (rows, width) = (part.tensor.rows(), part.width());
        Ok(self.record(Op::CopyColumns { part }, rows, width, 0))
    }

    fn mean_pool(&mut self, rows: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let op = Op::MeanPool { rows: *rows, lengths: lengths.to_vec() };
        Ok(self.record(op, lengths.len(), rows.width(), 0))
    }

    fn norm_columns(
        &mut self,
        rows: Tensor,
        norms: &[(Range<usize>, LayerNorm<VectorId>)],
    ) -> Result<Tensor> {
        if norms.is_empty() {
            return Ok(rows);
        }
        let norms: Vec<_> =
            norms.iter().map(|(columns, norm)| (columns.clone(), norm.into())).collect();
        let saved = 2 * norms.len() * rows.rows();
        Ok(self.record(Op::NormColumns { rows, norms }, rows.rows(), rows.width(), saved))
    }

    fn embed_projected(
        &mut self,
        cache: &ProjectedEmbeddings,
        tokens: &[Option<u32>],
    ) -> Result<Tensor> {
        let vectors = self.embed(&cache.table, tokens, 1.0, None)?;
        self.affine(&vectors, &cache.weights, Epilogue::default())
    }

    fn gru_cell(
        &mut self,
        (_, variant): (ActivationImpl, GruVariant),
        input: Option<ColumnSlice<'_, Tensor>>,
        recurrent: &Tensor,
        bias: Option<&VectorId>,
        state: &Tensor,
    ) -> Result<Tensor> {
        let op = Op::Gru {
            variant,
            input: input.map(Columns::from),
            recurrent: *recurrent,
            bias: bias.copied(),
            state: *state,
        };
        Ok(self.record(op, state.rows(), state.width(), 0))
    }

    fn lstm_cell(
        &mut self,
        _: ActivationImpl,
        input: Option<ColumnSlice<'_, Tensor>>,
        recurrent: &Tensor,
        bias: &VectorId,
        cell: Tensor,
    ) -> Result<[Tensor; 2]> {
        let (rows, width) = (cell.rows(), cell.width());
        let op =
            Op::Lstm { input: input.map(Columns::from), recurrent: *recurrent, bias: *bias, cell };
        // The cell is saved until the next node takes it.
        let output = self.record(op, rows, width, rows * width);
        Ok([output, self.record(Op::LstmCell, rows, width, 0)])
    }

    fn multiplicative_state(
        &mut self,
        input: ColumnSlice<'_, Tensor>,
        input_bias: &VectorId,
        recurrent: &Tensor,
        recurrent_bias: &VectorId,
    ) -> Result<Tensor> {
        let op = Op::MultiplicativeState {
            input: input.into(),
            input_bias: *input_bias,
            recurrent: *recurrent,
            recurrent_bias: *recurrent_bias,
        };
        Ok(self.record(op, recurrent.rows(), recurrent.width(), 0))
    }

    fn annotate(
        &mut self,
        _: &AttentionScore<VectorId>,
        keys: &Tensor,
        values: &Tensor,
        lengths: &[usize],
    ) -> Result<Vec<KeysValues>> {
        Ok(split_sentences(1, &Columns::all(*keys), &Columns::all(*values), lengths))
    }

    /// Gives no weights out: no layer looks at them in training.
    fn attend_annotations(
        &mut self,
        _: ActivationImpl,
        attention_score: &AttentionScore<VectorId>,
        queries: &Tensor,
        groups: &[(usize, &KeysValues)],
        _weights: Option<&mut Vec<Vec<f32>>>,
    ) -> Result<Tensor> {
        let vector = match attention_score {
            AttentionScore::Additive(vector) => Some(*vector),
            AttentionScore::DotProduct => None,
        };
        let groups: Vec<Group> =
            groups.iter().map(|&(rows, group)| (rows, group.clone())).collect();
        let width = groups.first().map_or(0, |(_, group)| group.values.width());
        let saved = num_pairs(&groups);
        let positions = self.attending_positions(&groups);
        let op = Op::AttendAnnotations { vector, queries: *queries, groups, positions };
        Ok(self.record(op, queries.rows(), width, saved))
    }
}
