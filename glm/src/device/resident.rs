//! Batches that stay on the device: what kernels take when nothing is copied.

use miriam_gpu::{Device, Stream};

use super::lane::{Lane, States, THREADS, blocks};
use super::modules::common;
use super::{Answers, DeviceModel};
use crate::error::{Error, Result};

/// What a batch consists of.
#[derive(Clone, Copy)]
enum Kind {
    Ngrams,
    Tokens,
}

/// A batch that lies in the device's memory, to be answered again and again.
pub struct Resident<'m> {
    model: &'m DeviceModel,
    lane: Lane,
    kind: Kind,
    count: usize,
}

impl DeviceModel {
    /// Takes `queries`, as [`DeviceModel::score_ngrams`] has them, to the device.
    pub fn resident_ngrams(&self, queries: &[u32]) -> Result<Resident<'_>> {
        self.resident(queries, Kind::Ngrams, queries.len() / self.order())
    }

    /// Takes `tokens`, as [`DeviceModel::score_tokens`] has them, to the device.
    pub fn resident_tokens(&self, tokens: &[u32]) -> Result<Resident<'_>> {
        self.resident(tokens, Kind::Tokens, tokens.len())
    }

    fn resident(&self, input: &[u32], kind: Kind, count: usize) -> Result<Resident<'_>> {
        if count >= 1 << 31 {
            let reason = format!("{count} are too many for one batch; cut it below 2^31");
            return Err(Error::Unsupported { reason });
        }
        let mut lane = self.new_lane()?;
        lane.keep(input)?;
        Ok(Resident { model: self, lane, kind, count })
    }
}

impl Resident<'_> {
    /// Answers the batch `times` times and says how many milliseconds each took
    /// between two events on its stream. Without matched lengths.
    pub fn time(&mut self, times: usize) -> Result<Vec<f32>> {
        if self.count == 0 {
            return Ok(vec![0.0; times]);
        }
        // Makes room, so that only kernels stand between the events.
        self.launch(false)?;
        self.lane.stream.wait()?;
        time_each(&self.lane.stream.clone(), times, || self.launch(false))
    }

    /// The answers of the batch.
    ///
    /// Panics when `answers` do not have room for as many.
    pub fn answers(&mut self, answers: Answers<'_>) -> Result<()> {
        if self.count == 0 {
            return Ok(());
        }
        self.launch(answers.matched.is_some())?;
        self.lane.collect(self.count, 0, answers.first(self.count))
    }

    fn launch(&mut self, with_matched: bool) -> Result<()> {
        let (model, count) = (self.model, self.count);
        match self.kind {
            Kind::Tokens => self.lane.launch_tokens(model, count, with_matched),
            Kind::Ngrams => self.lane.launch_ngrams(model, count, with_matched, States::Unwanted),
        }
    }
}

/// Milliseconds of each of `times` calls of what `launch` asks for.
fn time_each(
    stream: &Stream,
    times: usize,
    mut launch: impl FnMut() -> Result<()>,
) -> Result<Vec<f32>> {
    let mut marks = vec![stream.mark()?];
    for _ in 0..times {
        launch()?;
        marks.push(stream.mark()?);
    }
    stream.wait()?;
    marks.windows(2).map(|pair| Ok(pair[1].since(&pair[0])?)).collect()
}

/// Reads `loads` sectors of `sector` bytes (32, 64 or 128) at random places of a
/// buffer of `bytes` bytes, `times` times; the milliseconds that each took: what
/// searches can at best come to. `loads` is rounded up to a multiple of 128.
pub fn time_random_sectors(
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
    let kernel = common(&device, &format!("read_sectors_{sector}"))?;
    let stream = device.stream()?;
    let memory = stream.room::<u8>(usize::try_from(bytes).unwrap_or(usize::MAX))?;
    let mut sink = stream.room::<u32>(1)?;
    let sectors = bytes / u64::from(sector);
    let readers = loads.div_ceil(8 * u64::from(ROUNDS));
    let grid = (blocks(readers * u64::from(sector / 16)), 1);
    let mut seed = 0u64;
    let mut launch = || {
        seed += 1;
        let call = stream.launch(&kernel).read(&memory).value(&sectors).value(&readers);
        Ok(call.value(&ROUNDS).value(&seed).write(&mut sink).run(grid, THREADS)?)
    };
    launch()?;
    time_each(&stream, times, launch)
}
