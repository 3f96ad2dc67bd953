//! [`DeviceModel`]: the n-grams in the memory of one GPU, and batches cut into chunks for
//! its streams.

use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use miriam_gpu::{Device, DeviceProperties};
use miriam_lmcpu::LanguageModel;
use miriam_storage::Container;

use super::batch::{SENTENCE_START, ScoreBuffers, SentenceSum};
use super::kernels::{Kernels, has_special_kernels};
use super::sections::{Sections, check_order};
use super::tile::Tile;
use super::workspace::{StateOutput, StreamWorkspace};
use crate::GlmModel;
use crate::error::{Error, Result};

/// Streams of a batch: one uploads, one computes, one downloads, and one waits for the
/// CPU to move its data.
const DEFAULT_STREAMS: usize = 4;

/// The way in which the device is used. Scores do not depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Lanes of a search; `None`: [`Tile::for_order`].
    pub tile: Option<Tile>,
    /// Consecutive tokens that one tile scores; `None`: by the size of the batch.
    pub run_length: Option<u32>,
    /// Tokens or queries of a chunk; `None`: 2 M.
    pub chunk_size: Option<usize>,
    /// Streams, each with a thread, among which the chunks of a batch are divided;
    /// `None`: 4.
    pub streams: Option<usize>,
    /// Whether not to request that words and bigrams persist in the L2 cache.
    pub disable_l2_window: bool,
    /// Whether to use the kernels for any order, even if there are special kernels for the model's
    /// order.
    pub generic_kernels: bool,
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

    /// Returns the first `len` scores.
    pub(super) fn truncate(self, len: usize) -> Self {
        ScoreBuffers {
            log10: &mut self.log10[..len],
            matched: self.matched.map(|matched| &mut matched[..len]),
        }
    }
}

/// A model on a GPU.
///
/// # Examples
///
/// Scores the words of a sentence, each after the words to its left:
///
/// ```
/// use std::sync::Arc;
///
/// use miriam_glm::device::{DeviceModel, DeviceOptions, SENTENCE_START, ScoreBuffers};
/// use miriam_glm::{GlmModel, GlmOptions, build_glm};
/// # use miriam_lmcpu::{ArpaOptions, LanguageModel};
/// # use miriam_storage::{Container, LoadMethod};
/// # use miriam_textio::NoProgress;
/// # let folder = tempfile::tempdir()?;
/// # let [arpa, file] = ["lm.arpa", "lm.glm"].map(|name| folder.path().join(name));
/// # let text = "\\data\\\nngram 1=4\nngram 2=2\n\n\
/// #     \\1-grams:\n-1\t<unk>\n-99\t<s>\t-0.5\n-1.25\t</s>\n-1.5\ta\t-0.25\n\n\
/// #     \\2-grams:\n-0.5\t<s> a\n-0.75\ta </s>\n\n\\end\\\n";
/// # std::fs::write(&arpa, text)?;
/// let options = GlmOptions::default();
/// build_glm(&arpa, &file, &options, ArpaOptions::default(), &NoProgress)?;
/// let container = Container::open_any(&file, LoadMethod::Lazy)?;
/// let cpu_model = Arc::new(GlmModel::from_container(&container)?);
/// let ids = ["<s>", "a", "</s>"].map(|word| cpu_model.word_id(word.as_bytes()).0);
/// match DeviceModel::new(&container, cpu_model, 0, DeviceOptions::default()) {
///     Ok(model) => {
///         let mut log10 = [0.0; 3];
///         let answers = ScoreBuffers { log10: &mut log10, matched: None };
///         model.score_tokens(&[ids[0] | SENTENCE_START, ids[1], ids[2]], answers)?;
///         assert_eq!(log10[1..], [-0.5, -0.75]);
///     }
///     Err(reason) => println!("{reason}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DeviceModel {
    device: Device,
    pub(super) kernels: Kernels,
    pub(super) sections: Sections,
    order: usize,
    pub(super) tile: Tile,
    pub(super) options: DeviceOptions,
    /// Streams that are not in use, with their buffers.
    idle_workspaces: Mutex<Vec<StreamWorkspace>>,
    pub(super) cpu_model: Arc<dyn LanguageModel>,
    /// Set when a failure has been reported.
    pub(super) failure_reported: Once,
}

/// Logs the failure of the L2 window, which is optional: other programs share the L2 cache.
fn ignore_failure(outcome: miriam_gpu::Result<()>) {
    if let Err(error) = outcome {
        tracing::debug!("{error}; continuing without the L2 window");
    }
}

impl DeviceModel {
    /// Uploads the model of `container`, of kind `ngram-glm`, to GPU `number`. `cpu_model`
    /// is the same model on the CPU: it has the vocabulary and scores single words.
    ///
    /// # Errors
    ///
    /// If the GPU cannot be used or has not enough memory, if the container is not a valid model,
    /// if the order is above 16 or too high for the tile, or if the vocabulary has more than 2^31
    /// words.
    pub fn new(
        container: &Container,
        cpu_model: Arc<dyn LanguageModel>,
        number: u32,
        options: DeviceOptions,
    ) -> Result<Self> {
        let device = Device::open(number)?;
        let model = GlmModel::from_container(container)?;
        let order = model.order();
        check_order(order)?;
        let tile = options.tile.unwrap_or_else(|| Tile::for_order(order));
        let lanes = tile.lanes();
        if order > lanes + 1 {
            let reason = format!(
                "{lanes} lanes are too few for n-grams of {order} words; use {} or more",
                Tile::for_order(order).lanes()
            );
            return Err(Error::Unsupported { reason });
        }
        if model.num_words() > SENTENCE_START as usize {
            let reason = format!(
                "the vocabulary has {} words, but at most 2^31 are supported on a GPU; use the CPU \
                 (--device cpu)",
                model.num_words()
            );
            return Err(Error::Unsupported { reason });
        }
        let kernels = Kernels::load(&device, &model, tile, options.generic_kernels)?;
        let sections = Sections::upload(&model, &device.new_stream()?)?;
        let window = sections.hot_bytes.min(device.properties().max_persisting_l2_bytes);
        if window > 0 && !options.disable_l2_window {
            ignore_failure(device.reserve_persisting_l2(window));
        }
        Ok(DeviceModel {
            device,
            kernels,
            sections,
            order,
            tile,
            options,
            idle_workspaces: Mutex::new(Vec::new()),
            cpu_model,
            failure_reported: Once::new(),
        })
    }

    /// Whether there are special kernels for the order and the tile of this model.
    /// [`DeviceOptions::generic_kernels`] ignores them.
    pub fn has_special_kernels(&self) -> bool {
        has_special_kernels(self.order, self.tile)
    }

    /// Returns the properties of the device.
    pub fn properties(&self) -> &DeviceProperties {
        self.device.properties()
    }

    /// Returns the lanes of a search.
    pub fn tile(&self) -> Tile {
        self.tile
    }

    /// Whether the device has failed and the CPU scored in its place.
    pub fn has_failed(&self) -> bool {
        self.failure_reported.is_completed()
    }

    /// Returns the length of the longest n-grams.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Scores n-grams: `queries` is `[n, order]` word ids, newest word first, padded with
    /// [`PAD`](super::PAD) where the context is shorter; `answers` is `[n]`. A query of padding
    /// alone gives 0 and matched length 0.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// # Panics
    ///
    /// When `answers` are shorter than `n`, or `queries` are not a multiple of the order.
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

    /// Scores each token of a stream after the tokens to its left in its sentence. `tokens` and
    /// `answers` are `[n]`. The first token of a sentence has [`SENTENCE_START`] set. If sentences
    /// have markers, it is `<s>`, whose own score means nothing.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// # Panics
    ///
    /// When `answers` are shorter than `n`.
    pub fn score_tokens(&self, tokens: &[u32], answers: ScoreBuffers<'_>) -> Result<()> {
        let chunk = self.chunk_size();
        // A chunk is scored with a full context of tokens before it, whose scores are
        // skipped.
        let context = self.order() - 1;
        let starts = (0..tokens.len()).step_by(chunk);
        let answers = answers.truncate(tokens.len()).split_into_chunks(chunk);
        self.run_on_workspaces(starts.zip(answers), |workspace, (start, answers)| {
            let skip = context.min(start);
            let end = start + answers.log10.len();
            workspace.score_tokens(self, &tokens[start - skip..end], skip, answers)
        })
    }

    /// Works like [`DeviceModel::score_tokens`], but returns only the sum of each sentence: `ends`
    /// are the offsets in `tokens` at which sentences end, and `sums` is as long as `ends`. With
    /// `markers`, the first token of a sentence, `<s>`, is not counted.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// # Panics
    ///
    /// When `ends` are not ascending or lie outside of `tokens`, when a sentence has 2^32 tokens
    /// or more, and when `sums` and `ends` differ in length.
    pub fn sum_sentences(
        &self,
        tokens: &[u32],
        ends: &[usize],
        markers: bool,
        sums: &mut [SentenceSum],
    ) -> Result<()> {
        assert_eq!(ends.len(), sums.len(), "a sum for each sentence");
        assert!(ends.is_sorted(), "sentences end one after another");
        assert!(
            ends.last().is_none_or(|&end| end <= tokens.len()),
            "sentences end within the tokens"
        );
        let chunk = self.chunk_size();
        // Whole sentences, until there are enough tokens.
        let mut chunks = Vec::new();
        let (mut start, mut rest, mut sums) = (0, ends, sums);
        while !rest.is_empty() {
            let count = rest.partition_point(|&end| end - start <= chunk).max(1);
            let (chunk_ends, other_ends) = rest.split_at(count);
            let (chunk_sums, other_sums) = sums.split_at_mut(count);
            chunks.push((start, chunk_ends, chunk_sums));
            (start, rest, sums) = (chunk_ends[count - 1], other_ends, other_sums);
        }
        self.run_on_workspaces(chunks.into_iter(), |workspace, (start, ends, sums)| {
            let end = *ends.last().expect("chunks have sentences");
            let relative: Vec<u32> = ends
                .iter()
                .map(|end| u32::try_from(end - start).expect("sentences are short"))
                .collect();
            workspace.sum_sentences(self, &tokens[start..end], &relative, markers, sums)
        })
    }

    /// Scores each of `words` (`None`: the whole vocabulary) after each context: `contexts`
    /// is `[rows, order - 1]` word ids, newest first, padded with [`PAD`](super::PAD); `answers` is
    /// `[rows, words]`. A unigram model has one context, of no words.
    ///
    /// # Errors
    ///
    /// If the device fails.
    ///
    /// # Panics
    ///
    /// When `answers` are too short, or `contexts` are not rows of `order - 1` ids.
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
        // A grid has at most 2^16 - 1 rows.
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

    /// Returns the number of tokens or queries of a chunk.
    pub(super) fn chunk_size(&self) -> usize {
        self.options.chunk_size.unwrap_or(2 << 20).clamp(1, 64 << 20)
    }

    /// Lends an idle workspace, or a new one, to `work`.
    pub(super) fn with_workspace<T>(
        &self,
        work: impl FnOnce(&mut StreamWorkspace) -> Result<T>,
    ) -> Result<T> {
        let workspace = self.lock_idle_workspaces().pop();
        let mut workspace = match workspace {
            Some(workspace) => workspace,
            None => self.new_workspace()?,
        };
        // A workspace whose work failed is not used again.
        let outcome = work(&mut workspace)?;
        self.lock_idle_workspaces().push(workspace);
        Ok(outcome)
    }

    fn lock_idle_workspaces(&self) -> MutexGuard<'_, Vec<StreamWorkspace>> {
        self.idle_workspaces.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Processes the items of `work`, several concurrently, each thread with its own workspace. The
    /// first failure ends the work.
    fn run_on_workspaces<W: Send>(
        &self,
        work: impl Iterator<Item = W>,
        each: impl Fn(&mut StreamWorkspace, W) -> Result<()> + Sync,
    ) -> Result<()> {
        let work: Vec<W> = work.collect();
        let threads = self.options.streams.unwrap_or(DEFAULT_STREAMS).clamp(1, 64).min(work.len());
        let work = Mutex::new(work.into_iter());
        let work_until_done = || -> Result<()> {
            self.with_workspace(|workspace| {
                loop {
                    let next = work.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some(item) = next else { return Ok(()) };
                    if let Err(error) = each(workspace, item) {
                        work.lock().unwrap_or_else(PoisonError::into_inner).by_ref().for_each(drop);
                        return Err(error);
                    }
                }
            })
        };
        match threads {
            0 => Ok(()),
            1 => work_until_done(),
            _ => std::thread::scope(|scope| {
                let others: Vec<_> = (1..threads).map(|_| scope.spawn(work_until_done)).collect();
                let mut outcome = work_until_done();
                for other in others {
                    let other_outcome =
                        other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                    outcome = outcome.and(other_outcome);
                }
                outcome
            }),
        }
    }
}
