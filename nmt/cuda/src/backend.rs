//! The backend of a thread, and the operations that all layers need.

use std::rc::Rc;
use std::sync::Arc;

use miriam_gpu::{Buffer, Kernel, Launch, PinnedBuffer, Stream};
use miriam_nmt_models::Result;
use miriam_nmt_network::layer::{
    AttentionMask, Backend, ColumnSlice, Epilogue, InPlaceOperator, Operator,
};

use crate::attention::{Keys, QueryRecords};
use crate::kernels::Kernels;
use crate::kv_cache::StepHistories;
use crate::lists::Lists;
use crate::memory::Pool;
use crate::{
    DeviceTensor, EmbeddingTable, PositionalEncoding, RelativeTerms, SourceKv, Weights,
    device_error,
};

/// A stream of a GPU with its memory. It belongs to one thread.
pub struct CudaBackend {
    stream: Stream,
    kernels: Arc<Kernels>,
    pool: Rc<Pool>,
    lists: Lists,
    /// Where results arrive.
    results: Option<PinnedBuffer<f32>>,
    pub(crate) histories: StepHistories,
}

impl CudaBackend {
    pub(crate) fn new(stream: Stream, kernels: Arc<Kernels>) -> Self {
        CudaBackend {
            stream,
            kernels,
            pool: Rc::default(),
            lists: Lists::default(),
            results: None,
            histories: StepHistories::default(),
        }
    }

    /// Returns a matrix with these numbers, `[rows, width]`.
    ///
    /// # Errors
    /// If the device has no room for it.
    ///
    /// # Panics
    /// If there are more or fewer numbers.
    pub fn tensor(&mut self, rows: usize, width: usize, values: &[f32]) -> Result<DeviceTensor> {
        assert_eq!(values.len(), rows * width, "a number for each place");
        let mut tensor = self.empty(rows, width)?;
        self.stream.upload_blocking(tensor.buffer_mut(), 0, values).map_err(device_error)?;
        Ok(tensor)
    }

    /// Waits for the numbers of a matrix and returns them, row by row.
    ///
    /// # Errors
    /// If the device fails.
    pub fn values(&mut self, tensor: &DeviceTensor) -> Result<&[f32]> {
        self.download(tensor, tensor.rows() * tensor.width())
    }

    pub(crate) fn stream(&self) -> &Stream {
        &self.stream
    }

    fn kernel(&self, name: &str) -> &Kernel {
        self.kernels.get(name)
    }

    /// Begins a launch of the kernel `name`.
    pub(crate) fn launch(&self, name: &str) -> Launch<'_> {
        self.stream.launch(self.kernel(name))
    }

    /// Returns a tensor of any numbers, for kernels that write all of them.
    pub(crate) fn empty(&self, rows: usize, width: usize) -> Result<DeviceTensor> {
        DeviceTensor::new(&self.stream, &self.pool, rows, width).map_err(device_error)
    }

    /// Returns a list on the device.
    pub(crate) fn upload_list(&mut self, numbers: &[u32]) -> Result<Rc<Buffer<u32>>> {
        self.lists.upload(&self.stream, numbers).map_err(device_error)
    }

    /// Waits for the first `count` numbers of a tensor and returns them.
    pub(crate) fn download(&mut self, tensor: &DeviceTensor, count: usize) -> Result<&[f32]> {
        if self.results.as_ref().is_none_or(|buffer| buffer.len() < count) {
            let len = count.next_power_of_two().max(1024);
            self.results = Some(self.stream.alloc_pinned(len).map_err(device_error)?);
        }
        let results = self.results.as_mut().expect("allocated above");
        self.stream.download(tensor.buffer(), count, results).map_err(device_error)?;
        Ok(&results.get().map_err(device_error)?[..count])
    }
}

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
        let sentences = self.keys_values_of_sentences(heads, keys, values, lengths)?;
        let records = QueryRecords::for_sentences(lengths, mask);
        let Some(sentence) = sentences.first() else { return self.empty(0, 0) };
        let longest = lengths.iter().max().copied().unwrap_or(0);
        self.attend_with_distances(
            queries,
            Keys::in_sentence(sentence),
            &records,
            longest,
            relative,
        )
    }
}
