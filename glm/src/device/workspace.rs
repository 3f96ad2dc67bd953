//! A stream and the buffers of the batch that goes through it.

use miriam_gpu::{Buffer, Device, PinnedBuffer, Pod, Stream};

use super::sections::ModelParameters;
use super::{DeviceModel, ScoreBuffers, SentenceSum};
use crate::error::Result;

/// Threads of a block of every kernel.
pub(super) const THREADS_PER_BLOCK: u32 = 128;

/// A buffer on the device and its mirror in pinned memory of the host.
pub(super) struct MirroredBuffer<T: Pod> {
    pub device: Option<Buffer<T>>,
    pub host: Option<PinnedBuffer<T>>,
}

impl<T: Pod> MirroredBuffer<T> {
    const EMPTY: Self = MirroredBuffer { device: None, host: None };

    /// Grows both sides to at least `len` numbers. The contents of a side that grows are lost.
    fn reserve(&mut self, stream: &Stream, len: usize) -> Result<()> {
        self.reserve_on_device(stream, len)?;
        if self.host.as_ref().is_none_or(|host| host.len() < len) {
            self.host = None;
            self.host = Some(stream.alloc_pinned(len.next_power_of_two())?);
        }
        Ok(())
    }

    fn reserve_on_device(&mut self, stream: &Stream, len: usize) -> Result<()> {
        if self.device.as_ref().is_none_or(|device| device.len() < len) {
            self.device = None;
            self.device = Some(stream.alloc_zeros(len.next_power_of_two())?);
        }
        Ok(())
    }

    /// Queues the upload of `parts`, end to end.
    fn upload(&mut self, stream: &Stream, parts: &[&[T]]) -> Result<()> {
        let len = parts.iter().map(|part| part.len()).sum();
        self.reserve(stream, len)?;
        if let (Some(device), Some(host)) = (&mut self.device, &mut self.host) {
            let mut rest = &mut host.get_mut()?[..len];
            for part in parts {
                let (start, others) = rest.split_at_mut(part.len());
                start.copy_from_slice(part);
                rest = others;
            }
            stream.upload(host, len, device, 0)?;
        }
        Ok(())
    }

    /// Queues the download of the first `len` numbers.
    fn download(&mut self, stream: &Stream, len: usize) -> Result<()> {
        if let (Some(device), Some(host)) = (&self.device, &mut self.host) {
            stream.download(device, len, host)?;
        }
        Ok(())
    }

    /// Returns the numbers on the host, after waiting for the copies.
    fn get(&self) -> Result<&[T]> {
        Ok(match &self.host {
            Some(host) => host.get()?,
            None => &[],
        })
    }
}

/// Whether the kernel of explicit queries writes the next states too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StateOutput {
    Wanted,
    Unwanted,
}

/// A stream and its buffers, for one batch at a time.
pub(super) struct StreamWorkspace {
    pub stream: Stream,
    /// Tokens, queries, or contexts.
    pub input: MirroredBuffer<u32>,
    /// Ends of sentences.
    pub ends: MirroredBuffer<u32>,
    pub log10: MirroredBuffer<f32>,
    pub matched: MirroredBuffer<u8>,
    /// The length of the state after each query, and the bits of its backoffs.
    pub state_lengths: MirroredBuffer<u8>,
    pub backoffs: MirroredBuffer<u32>,
    /// `[sentences, 2]`: the bits of log10 p, and the number of unknown words.
    pub sums: MirroredBuffer<u32>,
}

/// Kernels address the sections of the model directly, so none may run after the workspace is
/// dropped: the model may be dropped next.
impl Drop for StreamWorkspace {
    fn drop(&mut self) {
        // When this fails the device is lost and runs nothing more.
        let _ = self.stream.synchronize();
    }
}

impl StreamWorkspace {
    pub fn new(device: &Device) -> Result<Self> {
        Ok(StreamWorkspace {
            stream: device.new_stream()?,
            input: MirroredBuffer::EMPTY,
            ends: MirroredBuffer::EMPTY,
            log10: MirroredBuffer::EMPTY,
            matched: MirroredBuffer::EMPTY,
            state_lengths: MirroredBuffer::EMPTY,
            backoffs: MirroredBuffer::EMPTY,
            sums: MirroredBuffer::EMPTY,
        })
    }

    /// Launches the scoring of the `count` tokens in `input`.
    pub fn launch_tokens(
        &mut self,
        model: &DeviceModel,
        count: usize,
        with_matched: bool,
    ) -> Result<()> {
        self.reserve_scores(count, with_matched)?;
        let (run, tiles) = model.partition_runs(count, 1);
        let count = count as u32;
        self.stream
            .launch(&model.kernels.tokens)
            .value(&model.sections.parameters)
            .read_optional(self.input.device.as_ref())
            .value(&count)
            .value(&run)
            .write_optional(self.log10.device.as_mut())
            .write_optional(self.matched.device.as_mut().filter(|_| with_matched))
            .run((num_blocks(tiles * model.tile.lanes() as u64), 1), THREADS_PER_BLOCK)?;
        Ok(())
    }

    /// Launches the scoring of the `count` queries in `input`.
    pub fn launch_ngrams(
        &mut self,
        model: &DeviceModel,
        count: usize,
        with_matched: bool,
        states: StateOutput,
    ) -> Result<()> {
        self.reserve_scores(count, with_matched)?;
        let with_states = states == StateOutput::Wanted;
        if with_states {
            self.state_lengths.reserve(&self.stream, count)?;
            self.backoffs.reserve(&self.stream, count * (model.order() - 1))?;
        }
        let (run, pairs) = model.partition_runs(count, 2);
        let count = count as u32;
        self.stream
            .launch(&model.kernels.ngrams)
            .value(&model.sections.parameters)
            .read_optional(self.input.device.as_ref())
            .value(&count)
            .value(&run)
            .write_optional(self.log10.device.as_mut())
            .write_optional(self.matched.device.as_mut().filter(|_| with_matched))
            .write_optional(self.state_lengths.device.as_mut().filter(|_| with_states))
            .write_optional(self.backoffs.device.as_mut().filter(|_| with_states))
            .run((num_blocks(pairs * 2 * model.tile.lanes() as u64), 1), THREADS_PER_BLOCK)?;
        Ok(())
    }

    fn reserve_scores(&mut self, count: usize, with_matched: bool) -> Result<()> {
        self.log10.reserve(&self.stream, count)?;
        if with_matched {
            self.matched.reserve(&self.stream, count)?;
        }
        Ok(())
    }

    /// Scores tokens; the first `skip` of them are context only.
    pub fn score_tokens(
        &mut self,
        model: &DeviceModel,
        tokens: &[u32],
        skip: usize,
        answers: ScoreBuffers<'_>,
    ) -> Result<()> {
        self.input.upload(&self.stream, &[tokens])?;
        self.launch_tokens(model, tokens.len(), answers.matched.is_some())?;
        self.download_scores(tokens.len(), skip, answers)
    }

    /// Scores `queries`, `[n, order]`.
    pub fn score_ngrams(
        &mut self,
        model: &DeviceModel,
        queries: &[u32],
        states: StateOutput,
        answers: ScoreBuffers<'_>,
    ) -> Result<()> {
        let count = queries.len() / model.order();
        self.input.upload(&self.stream, &[queries])?;
        self.launch_ngrams(model, count, answers.matched.is_some(), states)?;
        if states == StateOutput::Wanted {
            self.state_lengths.download(&self.stream, count)?;
            self.backoffs.download(&self.stream, count * (model.order() - 1))?;
        }
        self.download_scores(count, 0, answers)
    }

    /// Returns the states after the queries of [`StreamWorkspace::score_ngrams`]: lengths `[n]` and
    /// backoffs `[n, order - 1]`.
    pub fn states(&self) -> Result<(&[u8], &[u32])> {
        Ok((self.state_lengths.get()?, self.backoffs.get()?))
    }

    /// Downloads `count` scores and copies those after the first `skip` to `answers`.
    pub fn download_scores(
        &mut self,
        count: usize,
        skip: usize,
        answers: ScoreBuffers<'_>,
    ) -> Result<()> {
        self.log10.download(&self.stream, count)?;
        if answers.matched.is_some() {
            self.matched.download(&self.stream, count)?;
        }
        answers.log10.copy_from_slice(&self.log10.get()?[skip..count]);
        if let Some(matched) = answers.matched {
            matched.copy_from_slice(&self.matched.get()?[skip..count]);
        }
        // Only waiting for the stream reports that a kernel failed.
        Ok(self.stream.synchronize()?)
    }

    /// Sums the scores of the sentences of `tokens`, which end at `ends`.
    pub fn sum_sentences(
        &mut self,
        model: &DeviceModel,
        tokens: &[u32],
        ends: &[u32],
        markers: bool,
        sums: &mut [SentenceSum],
    ) -> Result<()> {
        self.input.upload(&self.stream, &[tokens])?;
        self.ends.upload(&self.stream, &[ends])?;
        self.sums.reserve(&self.stream, 2 * ends.len())?;
        self.launch_tokens(model, tokens.len(), false)?;
        let (sentences, skip) = (ends.len() as u64, u32::from(markers));
        self.stream
            .launch(&model.kernels.sums)
            .read_optional(self.input.device.as_ref())
            .read_optional(self.log10.device.as_ref())
            .read_optional(self.ends.device.as_ref())
            .value(&sentences)
            .value(&skip)
            .value(&model.sections.parameters.words)
            .write_optional(self.sums.device.as_mut())
            .run((num_blocks(sentences), 1), THREADS_PER_BLOCK)?;
        self.sums.download(&self.stream, 2 * ends.len())?;
        for (sum, pair) in sums.iter_mut().zip(self.sums.get()?.chunks_exact(2)) {
            *sum = SentenceSum { log10: f32::from_bits(pair[0]), unknown: pair[1] };
        }
        Ok(self.stream.synchronize()?)
    }

    /// Scores `words` (`None`: the first `count` ids) after each of `contexts`,
    /// `[rows, order - 1]`, into `answers`, `[rows, count]`.
    pub fn score_next(
        &mut self,
        model: &DeviceModel,
        contexts: &[u32],
        rows: usize,
        words: Option<&Buffer<u32>>,
        count: usize,
        answers: ScoreBuffers<'_>,
    ) -> Result<()> {
        let total = rows * count;
        self.input.upload(&self.stream, &[contexts])?;
        self.reserve_scores(total, answers.matched.is_some())?;
        let (run, tiles) = model.partition_runs(count, 1);
        let words_of_row = count as u32;
        self.stream
            .launch(&model.kernels.next)
            .value(&model.sections.parameters)
            .read_optional(words)
            .read_optional(self.input.device.as_ref())
            .value(&words_of_row)
            .value(&run)
            .write_optional(self.log10.device.as_mut())
            .write_optional(self.matched.device.as_mut().filter(|_| answers.matched.is_some()))
            .run((num_blocks(tiles * model.tile.lanes() as u64), rows as u32), THREADS_PER_BLOCK)?;
        self.download_scores(total, 0, answers)
    }

    /// Uploads `input` without a mirror on the host.
    pub fn upload_input(&mut self, input: &[u32]) -> Result<()> {
        self.input.reserve_on_device(&self.stream, input.len())?;
        if let Some(device) = &mut self.input.device {
            self.stream.upload_blocking(device, 0, input)?;
        }
        Ok(())
    }
}

/// Returns the number of blocks that together have at least `threads` threads.
pub(super) fn num_blocks(threads: u64) -> u32 {
    u32::try_from(threads.div_ceil(u64::from(THREADS_PER_BLOCK)).max(1)).expect("chunks are small")
}

impl DeviceModel {
    /// Returns how many consecutive items of `count` a group of `tiles` tiles scores, and the
    /// number of groups.
    fn partition_runs(&self, count: usize, tiles: u64) -> (u32, u64) {
        // Twice as many tiles as all multiprocessors hold at a time (1,280 threads each), so that
        // there is work when some tiles end early. Longer runs repeat fewer walks.
        let groups = u64::from(self.properties().multiprocessors) * 2 * 1280
            / (self.tile.lanes() as u64 * tiles);
        let default_run = (count as u64 / groups.max(1)).clamp(4, 64) as u32;
        let run = self.options.run_length.unwrap_or(default_run).max(1);
        (run, (count as u64).div_ceil(u64::from(run)))
    }
}

/// The size of `Model` in `glm/kernels/model.cuh`.
const _: () = assert!(size_of::<ModelParameters>() == 272);
