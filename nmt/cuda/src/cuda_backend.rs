//! The backend of a thread: a stream of a GPU with its memory, the lists of numbers that were
//! uploaded, and its kernels.

use std::rc::Rc;
use std::sync::Arc;

use miriam_gpu::{Buffer, Kernel, Launch, PinnedBuffer, Pod, Stream};
use miriam_nmt_models::Result;

use crate::device_error;
use crate::histories::StepHistories;
use crate::kernels::Kernels;
use crate::lists::Lists;
use crate::memory::{DeviceTensor, Pool};
use crate::queries::AttentionWeights;
use crate::weights::{EmbeddingTable, Sinusoids};

/// A stream of a GPU with its memory and kernels. It belongs to one thread.
pub struct CudaBackend {
    stream: Stream,
    kernels: Arc<Kernels>,
    pool: Rc<Pool>,
    lists: Lists,
    /// Pinned memory that results are downloaded to.
    results: Option<PinnedBuffer<f32>>,
    pub(crate) histories: StepHistories,
    /// Attention weights that were requested and have not been downloaded.
    pub(crate) attention_weights: Vec<AttentionWeights>,
}

impl Drop for CudaBackend {
    /// Waits for the queued work, which reads weights that may be released next.
    fn drop(&mut self) {
        // After an error, the stream runs nothing more that could read them.
        let _ = self.stream.synchronize();
    }
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
            attention_weights: Vec::new(),
        }
    }

    /// Returns a matrix of these values, `[rows, width]`.
    ///
    /// # Errors
    /// If the device has too little free memory.
    ///
    /// # Panics
    /// If the number of values is not `rows * width`.
    pub fn tensor(&mut self, rows: usize, width: usize, values: &[f32]) -> Result<DeviceTensor> {
        assert_eq!(values.len(), rows * width, "a number for each element");
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

    fn kernel(&self, name: &str) -> &Kernel {
        self.kernels.get(name)
    }

    /// Begins a launch of the kernel `name`.
    pub(crate) fn launch(&self, name: &str) -> Launch<'_> {
        self.stream.launch(self.kernel(name))
    }

    /// Returns a tensor of arbitrary numbers, for kernels that overwrite all of them.
    pub(crate) fn empty(&self, rows: usize, width: usize) -> Result<DeviceTensor> {
        DeviceTensor::new(&self.stream, &self.pool, rows, width).map_err(device_error)
    }

    /// Returns a buffer of arbitrary numbers, which does not return to the pool.
    pub(crate) fn allocate<T: Pod>(&self, len: usize) -> Result<Buffer<T>> {
        self.pool.allocate(&self.stream, len).map_err(device_error)
    }

    /// Returns a table with the encodings of at least `positions` positions.
    pub(crate) fn sinusoids(
        &self,
        sinusoids: &Sinusoids,
        positions: usize,
    ) -> Result<Arc<EmbeddingTable>> {
        let table = self.pool.retry(|| sinusoids.table(&self.stream, positions));
        table.map_err(device_error)
    }

    /// Returns a buffer of the device that begins with `numbers`; it may be longer.
    pub(crate) fn upload_list(&mut self, numbers: &[u32]) -> Result<Rc<Buffer<u32>>> {
        self.lists.upload(&self.stream, &self.pool, numbers).map_err(device_error)
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
