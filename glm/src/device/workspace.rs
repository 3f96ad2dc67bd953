//! A stream with the memory that a batch on its way needs.

use miriam_gpu::{Buffer, Device, PinnedBuffer, Pod, Stream};

use super::sections::ModelParameters;
use super::{DeviceModel, ScoreBuffers, SentenceSum};
use crate::error::Result;

/// Threads of a block of every kernel.
pub(super) const THREADS_PER_BLOCK: u32 = 128;

/// Numbers that lie on both sides.
pub(super) struct MirroredBuffer<T: Pod> {
    pub device: Option<Buffer<T>>,
    pub host: Option<PinnedBuffer<T>>,
}

impl<T: Pod> MirroredBuffer<T> {
    const EMPTY: Self = MirroredBuffer { device: None, host: None };

    /// Makes room for `len` numbers on both sides.
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

    /// Asks for a copy of what `parts` hold, one behind the other, to the device.
    fn upload(&mut self, stream: &Stream, parts: &[&[T]]) -> Result<()> {
        let len = parts.iter().map(|part| part.len()).sum();
        self.reserve(stream, len)?;
        if let (Some(device), Some(host)) = (&mut self.device, &mut self.host) {
            let mut rest = &mut host.get_mut()?[..len];
            for part in parts {
                let (start, behind) = rest.split_at_mut(part.len());
                start.copy_from_slice(part);
                rest = behind;
            }
            stream.upload(host, len, device, 0)?;
        }
        Ok(())
    }

    /// Asks for a copy of the first `len` numbers to the host.
    fn download(&mut self, stream: &Stream, len: usize) -> Result<()> {
        if let (Some(device), Some(host)) = (&self.device, &mut self.host) {
            stream.download(device, len, host)?;
        }
        Ok(())
    }

    /// The first numbers on the host, when they are there.
    fn get(&self) -> Result<&[T]> {
        Ok(match &self.host {
            Some(host) => host.get()?,
            None => &[],
        })
    }
}

/// What the kernel of explicit queries may leave beside scores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StateOutput {
    Wanted,
    Unwanted,
}

/// A stream and its buffers. One batch at a time.
pub(super) struct StreamWorkspace {
    pub stream: Stream,
    /// Tokens or queries; ends of sentences; words behind contexts.
    pub input: MirroredBuffer<u32>,
    pub ends: MirroredBuffer<u32>,
    pub log10: MirroredBuffer<f32>,
    pub matched: MirroredBuffer<u8>,
    /// Of the state behind each query: its length and its backoffs as bits.
    pub state_lengths: MirroredBuffer<u8>,
    pub backoffs: MirroredBuffer<u32>,
    /// log10 as bits, and unknown words, of each sentence.
    pub sums: MirroredBuffer<u32>,
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

    /// Asks for the scores of `count` tokens that are in `input` on the device.
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

    /// Asks for the scores of `count` queries that are in `input` on the device.
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

    /// Tokens: the first `skip` of them are context only.
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

    /// Queries of as many words as the order.
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

    /// The states behind the queries of [`Lane::ngrams`]: kept words and backoffs.
    pub fn states(&self) -> Result<(&[u8], &[u32])> {
        Ok((self.state_lengths.get()?, self.backoffs.get()?))
    }

    /// Waits for `count` answers and hands out those behind the first `skip`.
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
        // Only waiting on the stream tells that a kernel failed.
        Ok(self.stream.synchronize()?)
    }

    /// Sums of the sentences of `tokens`, which end at `ends`.
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

    /// `words` (`None`: the first `count`) behind each of `contexts`.
    pub fn score_next(
        &mut self,
        model: &DeviceModel,
        contexts: &[u32],
        rows: usize,
        words: Option<&Buffer<u32>>,
        count: usize,
        answers: ScoreBuffers<'_>,
    ) -> Result<()> {
        let all = rows * count;
        self.input.upload(&self.stream, &[contexts])?;
        self.reserve_scores(all, answers.matched.is_some())?;
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
        self.download_scores(all, 0, answers)
    }

    /// Takes what is to stay to the device without a copy on the host.
    pub fn upload_input(&mut self, input: &[u32]) -> Result<()> {
        self.input.reserve_on_device(&self.stream, input.len())?;
        if let Some(device) = &mut self.input.device {
            self.stream.upload_blocking(device, 0, input)?;
        }
        Ok(())
    }
}

/// Blocks for so many threads.
pub(super) fn num_blocks(threads: u64) -> u32 {
    u32::try_from(threads.div_ceil(u64::from(THREADS_PER_BLOCK)).max(1)).expect("chunks are small")
}

impl DeviceModel {
    /// How many consecutive items of `count` a group of `tiles` tiles answers, and how
    /// many groups that makes.
    fn partition_runs(&self, count: usize, tiles: u64) -> (u32, u64) {
        // Tiles that a multiprocessor holds at a time, twice, so that those that end
        // early find work. Longer runs repeat fewer walks.
        let groups = u64::from(self.properties().multiprocessors) * 2 * 1280
            / (self.tile.lanes() as u64 * tiles);
        let usual = (count as u64 / groups.max(1)).clamp(4, 64) as u32;
        let run = self.options.run_length.unwrap_or(usual).max(1);
        (run, (count as u64).div_ceil(u64::from(run)))
    }
}

/// Kernels' view of a model is a plain record.
const _: () = assert!(size_of::<ModelParameters>() == 272);
