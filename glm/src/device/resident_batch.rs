//! Batches that stay on the device, to time kernels without copies.

use miriam_gpu::{Device, Stream};

use super::kernels::load_common_kernel;
use super::workspace::{StateOutput, StreamWorkspace, THREADS_PER_BLOCK, num_blocks};
use super::{DeviceModel, ScoreBuffers};
use crate::error::{Error, Result};

/// The kind of a batch.
#[derive(Clone, Copy)]
enum BatchKind {
    Ngrams,
    Tokens,
}

/// A batch in the device's memory, to be scored repeatedly.
pub struct ResidentBatch<'m> {
    model: &'m DeviceModel,
    workspace: StreamWorkspace,
    kind: BatchKind,
    count: usize,
}

impl DeviceModel {
    /// Uploads `queries`, `[n, order]` as for [`DeviceModel::score_ngrams`].
    ///
    /// # Errors
    ///
    /// If there are 2^31 queries or more, or the device fails.
    pub fn resident_ngrams(&self, queries: &[u32]) -> Result<ResidentBatch<'_>> {
        self.upload_resident(queries, BatchKind::Ngrams, queries.len() / self.order())
    }

    /// Uploads `tokens`, as for [`DeviceModel::score_tokens`].
    ///
    /// # Errors
    ///
    /// If there are 2^31 tokens or more, or the device fails.
    pub fn resident_tokens(&self, tokens: &[u32]) -> Result<ResidentBatch<'_>> {
        self.upload_resident(tokens, BatchKind::Tokens, tokens.len())
    }

    fn upload_resident(
        &self,
        input: &[u32],
        kind: BatchKind,
        count: usize,
    ) -> Result<ResidentBatch<'_>> {
        if count >= 1 << 31 {
            let reason = format!("{count} are too many for one batch; split it below 2^31");
            return Err(Error::Unsupported { reason });
        }
        let mut workspace = self.new_workspace()?;
        workspace.upload_input(input)?;
        Ok(ResidentBatch { model: self, workspace, kind, count })
    }
}

impl ResidentBatch<'_> {
    /// Scores the batch `times` times, without matched lengths. Returns the milliseconds of each
    /// repetition, measured between two events on its stream.
    ///
    /// # Errors
    ///
    /// If the device fails.
    pub fn time_kernel(&mut self, times: usize) -> Result<Vec<f32>> {
        if self.count == 0 {
            return Ok(vec![0.0; times]);
        }
        // Allocates the outputs, so that there are only kernels between the events.
        self.launch(false)?;
        self.workspace.stream.synchronize()?;
        time_launches(&self.workspace.stream.clone(), times, || self.launch(false))
    }

    /// Scores the batch and downloads the scores.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// # Panics
    ///
    /// When `answers` are shorter than the batch.
    pub fn read_scores(&mut self, answers: ScoreBuffers<'_>) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        self.launch(answers.matched.is_some())?;
        self.workspace.download_scores(self.count, 0, answers.truncate(self.count))
    }

    fn launch(&mut self, with_matched: bool) -> Result<()> {
        let (model, count) = (self.model, self.count);
        match self.kind {
            BatchKind::Tokens => self.workspace.launch_tokens(model, count, with_matched),
            BatchKind::Ngrams => {
                self.workspace.launch_ngrams(model, count, with_matched, StateOutput::Unwanted)
            }
        }
    }
}

/// Returns the milliseconds of each of `times` launches.
fn time_launches(
    stream: &Stream,
    times: usize,
    mut launch: impl FnMut() -> Result<()>,
) -> Result<Vec<f32>> {
    let mut events = vec![stream.record_event()?];
    for _ in 0..times {
        launch()?;
        events.push(stream.record_event()?);
    }
    stream.synchronize()?;
    events.windows(2).map(|pair| Ok(pair[1].elapsed_ms_since(&pair[0])?)).collect()
}

/// Reads `loads` sectors of `sector` bytes at random positions of a buffer of `bytes` bytes on GPU
/// `number`, and repeats this `times` times. Returns the milliseconds of each repetition. No search
/// that reads as many sectors can be faster. `loads` is rounded up to a multiple of 128.
///
/// # Errors
///
/// If the GPU cannot be used, `sector` is not 32, 64 or 128, or `bytes` is less than a sector.
pub fn time_random_reads(
    number: u32,
    bytes: u64,
    sector: u32,
    loads: u64,
    times: usize,
) -> Result<Vec<f32>> {
    /// The number of times that each reader loads eight sectors.
    const ROUNDS: u32 = 16;
    let device = Device::open(number)?;
    if !matches!(sector, 32 | 64 | 128) || bytes < u64::from(sector) {
        let reason = "expected sectors of 32, 64 or 128 bytes and a buffer of at least one".into();
        return Err(Error::Unsupported { reason });
    }
    let kernel = load_common_kernel(&device, &format!("read_sectors_{sector}"))?;
    let stream = device.new_stream()?;
    let memory = stream.alloc_zeros::<u8>(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    let mut sink = stream.alloc_zeros::<u32>(1)?;
    let sectors = bytes / u64::from(sector);
    let readers = loads.div_ceil(8 * u64::from(ROUNDS));
    // A reader has one thread for each unit of 16 bytes of a sector (`common.cu`).
    let grid = (num_blocks(readers * u64::from(sector / 16)), 1);
    let mut seed = 0u64;
    let mut launch = || {
        seed += 1;
        let call = stream.launch(&kernel).read(&memory).value(&sectors).value(&readers);
        Ok(call.value(&ROUNDS).value(&seed).write(&mut sink).run(grid, THREADS_PER_BLOCK)?)
    };
    launch()?;
    time_launches(&stream, times, launch)
}
