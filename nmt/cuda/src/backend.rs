//! The operations that all layers need.

use std::sync::Arc;

use miriam_gpu::Buffer;
use miriam_nmt_models::Result;
use miriam_nmt_network::layer::{
    AttentionMask, Backend, ColumnSlice, Epilogue, InPlaceOperator, Operator,
};

use crate::queries::{Keys, QueryRecords, SourceKv};
use crate::{
    CudaBackend, DeviceTensor, EmbeddingTable, PositionalEncoding, RelativeTerms, Weights,
};

impl Backend for CudaBackend {
    type Tensor = DeviceTensor;
    type Weights = Arc<Weights>;
    type Vector = Arc<Buffer<f32>>;
    type EmbeddingTable = Arc<EmbeddingTable>;
    type PositionalEncoding = PositionalEncoding;
    type PackedKv = SourceKv;
    type RelativePositions = RelativeTerms;

    fn shape(&self, tensor: &DeviceTensor) -> [usize; 2] {
        [tensor.rows(), tensor.width()]
    }

    fn zeros(&mut self, rows: usize, width: usize) -> Result<DeviceTensor> {
        let nothing = self.empty(1, width)?;
        self.gather_rows(&nothing, vec![crate::rows::NONE; rows])
    }

    fn index_select(&mut self, from: &DeviceTensor, indices: &[u32]) -> Result<DeviceTensor> {
        let limit = from.rows() as u32;
        assert!(indices.iter().all(|&index| index < limit), "a row that is there");
        self.gather_rows(from, indices.to_vec())
    }

    fn embed(
        &mut self,
        table: &Arc<EmbeddingTable>,
        tokens: &[Option<u32>],
        scale: f32,
        positional_encoding: Option<(&PositionalEncoding, &[u32])>,
    ) -> Result<DeviceTensor> {
        self.embed_tokens(table, tokens, scale, positional_encoding)
    }

    fn affine(
        &mut self,
        input: &DeviceTensor,
        weights: &Arc<Weights>,
        epilogue: Epilogue<'_, DeviceTensor>,
    ) -> Result<DeviceTensor> {
        self.product(input, 0..input.rows(), weights, epilogue)
    }

    fn apply(
        &mut self,
        operator: impl Operator,
        matrices: &[ColumnSlice<'_, DeviceTensor>],
        vectors: &[&Arc<Buffer<f32>>],
    ) -> Result<DeviceTensor> {
        self.run_operator(&operator, matrices, vectors)
    }

    fn apply_in_place(
        &mut self,
        operator: &impl InPlaceOperator,
        matrix: DeviceTensor,
        vectors: &[Arc<Buffer<f32>>],
    ) -> Result<DeviceTensor> {
        let vectors: Vec<&Arc<Buffer<f32>>> = vectors.iter().collect();
        let whole = self.whole(&matrix);
        self.run_operator(operator, &[whole], &vectors)
    }

    fn pack_kv(
        &mut self,
        heads: usize,
        keys: ColumnSlice<'_, DeviceTensor>,
        values: ColumnSlice<'_, DeviceTensor>,
        lengths: &[usize],
    ) -> Result<Vec<SourceKv>> {
        self.keys_values_of_sentences(heads, keys, values, lengths)
    }

    fn attend(
        &mut self,
        queries: ColumnSlice<'_, DeviceTensor>,
        groups: &[(usize, &SourceKv)],
        mask: AttentionMask,
    ) -> Result<DeviceTensor> {
        self.attend_sources(queries, groups, mask, None)
    }

    fn attend_relative(
        &mut self,
        heads: usize,
        [queries, keys, values]: [ColumnSlice<'_, DeviceTensor>; 3],
        lengths: &[usize],
        mask: AttentionMask,
        relative: &RelativeTerms,
    ) -> Result<DeviceTensor> {
        let values_width = values.columns.len();
        let sentences = self.keys_values_of_sentences(heads, keys, values, lengths)?;
        let records = QueryRecords::for_sentences(lengths, mask);
        let Some(sentence) = sentences.first() else {
            return self.empty(0, values_width);
        };
        let (keys, score) =
            (Keys::in_sentence(sentence), sentence.layout.scaled_score(Some(relative)));
        Ok(self.launch_attention(queries, keys, &records, score, None)?.0)
    }
}
