//! [`DeviceModel`]: the n-grams in the memory of one GPU, and batches cut into chunks for
//! its streams.

use std::sync::{Arc, Mutex, Once, PoisonError};

use miriam_gpu::{Device, DeviceProperties};
use miriam_lmcpu::LanguageModel;
use miriam_storage::Container;

use super::batch::{SENTENCE_START, ScoreBuffers, SentenceSum};
use super::kernels::Kernels;
use super::sections::Sections;
use super::workspace::{StateOutput, StreamWorkspace};
use crate::GlmModel;
use crate::error::{Error, Result};

/// Streams of a batch: one copies in, one computes, one copies out, and one waits for
/// the processor to move its data.
const DEFAULT_STREAMS: usize = 4;

/// How many lanes search for one n-gram together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tile {
    /// Orders up to 5.
    Lanes4,
    /// Orders up to 9.
    Lanes8,
    /// Every order.
    Lanes16,
}

impl Tile {
    /// How many that is.
    pub fn lanes(self) -> usize {
        match self {
            Tile::Lanes4 => 4,
            Tile::Lanes8 => 8,
            Tile::Lanes16 => 16,
        }
    }

    /// The fewest for a model of this order: a lane for each word of context.
    pub fn for_order(order: usize) -> Self {
        match order {
            0..=5 => Tile::Lanes4,
            6..=9 => Tile::Lanes8,
            _ => Tile::Lanes16,
        }
    }
}

/// How the device is used. Nothing here changes a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Lanes of a search; `None`: the fewest that the order allows.
    pub tile: Option<Tile>,
    /// Consecutive tokens that one tile scores; `None`: by the size of the batch.
    pub run_length: Option<u32>,
    /// Tokens or queries of a chunk; `None`: 2 M.
    pub chunk_size: Option<usize>,
    /// Streams, each with a thread, among which the chunks of a batch are divided;
    /// `None`: 4.
    pub streams: Option<usize>,
    /// Leave the second-level cache to itself.
    pub disable_l2_window: bool,
}

impl<'a> ScoreBuffers<'a> {
    /// Cuts the buffers into chunks of `len` scores.
    fn split_into_chunks(self, len: usize) -> impl Iterator<Item = ScoreBuffers<'a>> {
        let count = self.log10.len().div_ceil(len);
        let mut matched = self.matched.map(|matched| matched.chunks_mut(len));
        let mut log10 = self.log10.chunks_mut(len);
        (0..count).filter_map(move |_| {
            Some(ScoreBuffers {
                log10: log10.next()?,
                matched: matched.as_mut().and_then(Iterator::next),
            })
        })
    }

    /// The first `len` scores.
    pub(super) fn truncate(self, len: usize) -> Self {
        ScoreBuffers {
            log10: &mut self.log10[..len],
            matched: self.matched.map(|matched| &mut matched[..len]),
        }
    }
}

/// A model on a GPU.
pub struct DeviceModel {
    device: Device,
    pub(super) kernels: Kernels,
    pub(super) sections: Sections,
    order: usize,
    pub(super) tile: Tile,
    pub(super) options: DeviceOptions,
    /// Streams with their buffers that nobody uses now.
    idle_workspaces: Mutex<Vec<StreamWorkspace>>,
    pub(super) cpu_model: Arc<dyn LanguageModel>,
    /// Whether a failure has been told.
    pub(super) failure_reported: Once,
}

/// What only makes things faster may be refused: other programs share the cache.
fn ignore_failure(outcome: miriam_gpu::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!("{error}; going on without");
    }
}

impl DeviceModel {
    /// Takes the model of `container`, of kind `ngram-glm`, to GPU `number`. `twin`
    /// is the same model on the CPU: it knows the words, and answers single
    /// questions.
    pub fn new(
        container: &Container,
        cpu_model: Arc<dyn LanguageModel>,
        number: u32,
        options: DeviceOptions,
    ) -> Result<Self> {
        let device = Device::open(number)?;
        let model = GlmModel::from_container(container)?;
        let order = model.order();
        let tile = options.tile.unwrap_or_else(|| Tile::for_order(order));
        let lanes = tile.lanes();
        if order > lanes + 1 {
            let reason = format!("{lanes} lanes are too few for n-grams of {order} words");
            return Err(Error::Unsupported { reason });
        }
        if model.num_words() > SENTENCE_START as usize {
            let reason = format!("{} words are more than tokens can name", model.num_words());
            return Err(Error::Unsupported { reason });
        }
        let kernels = Kernels::load(&device, &model, tile)?;
        let sections = Sections::upload(&model, &device.new_stream()?)?;
        let window = sections.hot_bytes.min(device.properties().max_persisting_l2_bytes);
        if window > 0 && !options.disable_l2_window {
            ignore_failure(device.reserve_persisting_l2(window));
        }
        let lanes = Mutex::new(Vec::new());
        let failure = Once::new();
        Ok(DeviceModel {
            device,
            kernels,
            sections,
            order,
            tile,
            options,
            idle_workspaces: lanes,
            cpu_model,
            failure_reported: failure,
        })
    }

    /// What the device is like.
    pub fn properties(&self) -> &DeviceProperties {
        self.device.properties()
    }

    /// Lanes of a search.
    pub fn tile(&self) -> Tile {
        self.tile
    }

    /// Whether the device has failed and the CPU answered in its place.
    pub fn has_failed(&self) -> bool {
        self.failure_reported.is_completed()
    }

    /// Bytes of the n-grams on the device.
    pub fn ngram_bytes(&self) -> u64 {
        self.sections.ngrams.bytes()
    }

    /// The length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Scores n-grams: each has as many ids as the model's order, newest word first,
    /// filled up with [`PAD`] where the context is shorter. A query of padding alone
    /// gives 0 and matched length 0.
    ///
    /// Panics when `answers` do not have room for as many.
    pub fn score_ngrams(&self, queries: &[u32], answers: ScoreBuffers<'_>) -> Result<()> {
        let order = self.order();
        assert!(queries.len().is_multiple_of(order), "queries of {order} words");
        let chunk = self.chunk_size();
        let work = queries.chunks(chunk * order);
        let answers = answers.truncate(queries.len() / order).split_into_chunks(chunk);
        self.run_on_workspaces(work.zip(answers), |workspace, (queries, answers)| {
            workspace.score_ngrams(self, queries, StateOutput::Unwanted, answers)
        })
    }

    /// Scores each token of a stream, given those left of it in its sentence. The
    /// first of a sentence has [`SENTENCE_START`] set; with markers it is `<s>`, whose
    /// own score means nothing.
    ///
    /// Panics when `answers` do not have room for as many.
    pub fn score_tokens(&self, tokens: &[u32], answers: ScoreBuffers<'_>) -> Result<()> {
        let chunk = self.chunk_size();
        // The state behind a token depends on as many words as a context has; of those
        // before a chunk the scores mean nothing.
        let context = self.order() - 1;
        let starts = (0..tokens.len()).step_by(chunk);
        let answers = answers.truncate(tokens.len()).split_into_chunks(chunk);
        self.run_on_workspaces(starts.zip(answers), |workspace, (start, answers)| {
            let skip = context.min(start);
            let end = start + answers.log10.len();
            workspace.score_tokens(self, &tokens[start - skip..end], skip, answers)
        })
    }

    /// As [`DeviceModel::score_tokens`], but only the sums of sentences come back:
    /// `ends` says where each ends in `tokens`. With `markers` the first token of a
    /// sentence is not counted.
    ///
    /// Panics when `ends` fall somewhere or lie outside of `tokens`, when a sentence has
    /// 2^32 tokens, and when there are not as many `sums`.
    pub fn sum_sentences(
        &self,
        tokens: &[u32],
        ends: &[usize],
        markers: bool,
        sums: &mut [SentenceSum],
    ) -> Result<()> {
        assert_eq!(ends.len(), sums.len(), "a sum for each sentence");
        assert!(ends.is_sorted(), "sentences end one after another");
        assert!(ends.last().is_none_or(|&end| end <= tokens.len()), "sentences are of tokens");
        let chunk = self.chunk_size();
        // Whole sentences, until there are enough tokens.
        let mut chunks = Vec::new();
        let (mut start, mut rest, mut sums) = (0, ends, sums);
        while !rest.is_empty() {
            let many = rest.partition_point(|&end| end - start <= chunk).max(1);
            let (these, behind) = rest.split_at(many);
            let (own, others) = sums.split_at_mut(many);
            chunks.push((start, these, own));
            (start, rest, sums) = (these[many - 1], behind, others);
        }
        self.run_on_workspaces(chunks.into_iter(), |workspace, (start, ends, sums)| {
            let end = *ends.last().expect("chunks have sentences");
            let length = |end: &usize| u32::try_from(end - start).expect("sentences are short");
            let relative: Vec<u32> = ends.iter().map(length).collect();
            workspace.sum_sentences(self, &tokens[start..end], &relative, markers, sums)
        })
    }

    /// log10 p of each of `words` (`None`: all of the model) behind each context, row
    /// by row. A context has as many ids as the order less one, newest first, filled
    /// up with [`PAD`]; of a model of single words there is one context, of no words.
    ///
    /// Panics when `answers` do not have room for as many.
    pub fn score_next(
        &self,
        contexts: &[u32],
        words: Option<&[u32]>,
        answers: ScoreBuffers<'_>,
    ) -> Result<()> {
        let length = self.order() - 1;
        let rows = contexts.len().checked_div(length).unwrap_or(1);
        let count = words.map_or(self.sections.parameters.words as usize, <[u32]>::len);
        assert_eq!(rows * length, contexts.len(), "contexts of {length} words");
        let answers = answers.truncate(rows * count);
        if answers.log10.is_empty() {
            return Ok(());
        }
        // The grid has no more rows than this.
        let rows_at_once = (self.chunk_size() / count).clamp(1, 1 << 15);
        self.with_workspace(|workspace| {
            let buffer = match words {
                None => None,
                Some(words) => {
                    let mut buffer = workspace.stream.alloc_zeros(words.len())?;
                    workspace.stream.upload_blocking(&mut buffer, 0, words)?;
                    Some(buffer)
                }
            };
            for (i, answers) in answers.split_into_chunks(rows_at_once * count).enumerate() {
                let rows = answers.log10.len() / count;
                let start = i * rows_at_once * length;
                let contexts = &contexts[start..start + rows * length];
                workspace.score_next(self, contexts, rows, buffer.as_ref(), count, answers)?;
            }
            Ok(())
        })
    }

    /// Tokens or queries of a chunk.
    pub(super) fn chunk_size(&self) -> usize {
        self.options.chunk_size.unwrap_or(2 << 20).clamp(1, 64 << 20)
    }

    /// Lends a lane to `work`.
    pub(super) fn with_workspace<T>(
        &self,
        work: impl FnOnce(&mut StreamWorkspace) -> Result<T>,
    ) -> Result<T> {
        let waiting = || self.idle_workspaces.lock().unwrap_or_else(PoisonError::into_inner);
        let workspace = waiting().pop();
        let mut workspace = match workspace {
            Some(workspace) => workspace,
            None => self.new_workspace()?,
        };
        // A lane whose work failed is not used again.
        let outcome = work(&mut workspace)?;
        waiting().push(workspace);
        Ok(outcome)
    }

    pub(super) fn new_workspace(&self) -> Result<StreamWorkspace> {
        let workspace = StreamWorkspace::new(&self.device)?;
        if !self.options.disable_l2_window && self.device.properties().max_persisting_l2_bytes > 0 {
            ignore_failure(
                workspace.stream.persist_in_l2(&self.sections.ngrams, self.sections.hot_bytes),
            );
        }
        Ok(workspace)
    }

    /// Does the pieces of `work`, several side by side, each on a lane of its own. The
    /// first failure ends it.
    fn run_on_workspaces<W: Send>(
        &self,
        work: impl Iterator<Item = W>,
        each: impl Fn(&mut StreamWorkspace, W) -> Result<()> + Sync,
    ) -> Result<()> {
        let work: Vec<W> = work.collect();
        let threads = self.options.streams.unwrap_or(DEFAULT_STREAMS).clamp(1, 64).min(work.len());
        let work = Mutex::new(work.into_iter());
        let do_all = || -> Result<()> {
            self.with_workspace(|workspace| {
                loop {
                    let next = work.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(piece) = next else { return Ok(()) };
                    if let Err(error) = each(workspace, piece) {
                        work.lock().unwrap_or_else(PoisonError::into_inner).by_ref().for_each(drop);
                        return Err(error);
                    }
                }
            })
        };
        match threads {
            0 => Ok(()),
            1 => do_all(),
            _ => std::thread::scope(|scope| {
                let others: Vec<_> = (1..threads).map(|_| scope.spawn(do_all)).collect();
                let mut outcome = do_all();
                for other in others {
                    let theirs =
                        other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                    outcome = outcome.and(theirs);
                }
                outcome
            }),
        }
    }
}
