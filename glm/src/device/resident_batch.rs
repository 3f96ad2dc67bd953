//! Batches that stay on the device: what kernels take when nothing is copied.

use miriam_gpu::{Device, Stream};

use super::kernels::load_common_kernel;
use super::workspace::{StateOutput, StreamWorkspace, THREADS_PER_BLOCK, num_blocks};
use super::{DeviceModel, ScoreBuffers};
use crate::error::{Error, Result};

/// What a batch consists of.
#[derive(Clone, Copy)]
enum BatchKind {
    Ngrams,
    Tokens,
}

/// A batch that lies in the device's memory, to be answered again and again.
pub struct ResidentBatch<'m> {
    model: &'m DeviceModel,
    workspace: StreamWorkspace,
    kind: BatchKind,
    count: usize,
}

impl DeviceModel {
    /// Takes `queries`, as [`DeviceModel::score_ngrams`] has them, to the device.
    pub fn resident_ngrams(&self, queries: &[u32]) -> Result<ResidentBatch<'_>> {
        self.upload_resident(queries, BatchKind::Ngrams, queries.len() / self.order())
    }

    /// Takes `tokens`, as [`DeviceModel::score_tokens`] has them, to the device.
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
            let reason = format!("{count} are too many for one batch; cut it below 2^31");
            return Err(Error::Unsupported { reason });
        }
        let mut workspace = self.new_workspace()?;
        workspace.upload_input(input)?;
        Ok(ResidentBatch { model: self, workspace, kind, count })
    }
}

impl ResidentBatch<'_> {
    /// Answers the batch `times` times and says how many milliseconds each took
    /// between two events on its stream. Without matched lengths.
    pub fn time_kernel(&mut self, times: usize) -> Result<Vec<f32>> {
        if self.count == 0 {
            return Ok(vec![0.0; times]);
        }
        // Makes room, so that only kernels stand between the events.
        self.launch(false)?;
        self.workspace.stream.synchronize()?;
        time_launches(&self.workspace.stream.clone(), times, || self.launch(false))
    }

    /// The answers of the batch.
    ///
    /// Panics when `answers` do not have room for as many.
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

/// Milliseconds of each of `times` calls of what `launch` asks for.
fn time_launches(
    stream: &Stream,
    times: usize,
    mut launch: impl FnMut() -> Result<()>,
) -> Result<Vec<f32>> {
    let mut marks = vec![stream.record_event()?];
    for _ in 0..times {
        launch()?;
        marks.push(stream.record_event()?);
    }
    stream.synchronize()?;
    marks.windows(2).map(|pair| Ok(pair[1].elapsed_ms_since(&pair[0])?)).collect()
}

/// Reads `loads` sectors of `sector` bytes (32, 64 or 128) at random places of a
/// buffer of `bytes` bytes, `times` times; the milliseconds that each took: what
/// searches can at best come to. `loads` is rounded up to a multiple of 128.
pub fn time_random_reads(
    number: u32,
    bytes: u64,
    sector: u32,
    loads: u64,
    times: usize,
) -> Result<Vec<f32>> {
    /// How often each reader asks for eight sectors at a time.
    const ROUNDS: u32 = 16;
    let device = Device::open(number)?;
    if !matches!(sector, 32 | 64 | 128) || bytes < u64::from(sector) {
        let reason = "sectors are of 32, 64 or 128 bytes, and a buffer has at least one".into();
        return Err(Error::Unsupported { reason });
    }
    let kernel = load_common_kernel(&device, &format!("read_sectors_{sector}"))?;
    let stream = device.new_stream()?;
    let memory = stream.alloc_zeros::<u8>(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    let mut sink = stream.alloc_zeros::<u32>(1)?;
    let sectors = bytes / u64::from(sector);
    let readers = loads.div_ceil(8 * u64::from(ROUNDS));
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
