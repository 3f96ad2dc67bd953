//! A model on a GPU.
//!
//! [`DeviceModel`] holds the n-grams in the memory of one GPU and asks its kernels
//! (`glm/kernels`). Batches of any size are cut into chunks that go through streams
//! of their own, so that copies hide behind work. Any thread may ask anything at any
//! time. Answers equal those of the CPU to the bit.
//!
//! Words are ids of the model; ids that are not below its number of words count as
//! `<unk>`.

use std::sync::Arc;

use miriam_gpu::Properties;
use miriam_layout::Container;
use miriam_lmcpu::LanguageModel;

use crate::{Error, Result};

/// Fills up queries that are shorter than the order.
pub const PAD: u32 = crate::format::NO_WORD;

/// In a token: it begins a sentence, and nothing left of it is context.
pub const SENTENCE_START: u32 = 1 << 31;

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

/// How the device is used. Nothing here changes a result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceOptions {
    /// Lanes of a search; `None`: the fewest that the order allows.
    pub tile: Option<Tile>,
    /// Consecutive tokens that one tile scores; `None`: by the size of the batch.
    pub run: Option<u32>,
    /// Tokens or queries of a chunk; `None`: 2 M.
    pub chunk: Option<usize>,
    /// Leave the second-level cache to itself.
    pub no_l2_window: bool,
}

/// What a sentence sums up to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SentenceSum {
    /// log10 p: an f32 sum in the order of words.
    pub log10: f32,
    /// Words that are `<unk>`.
    pub unknown: u32,
}

/// The answers to a batch, as they come to the host.
#[derive(Debug)]
pub struct Answers<'a> {
    /// log10 p of each token or query.
    pub log10: &'a mut [f32],
    /// The matched length of each, if wanted.
    pub matched: Option<&'a mut [u8]>,
}

/// A model on a GPU.
pub struct DeviceModel {
    properties: Properties,
}

/// A batch that lies in the device's memory, to be answered again and again: what
/// kernels take without copies.
pub struct Resident<'m> {
    model: &'m DeviceModel,
}

impl DeviceModel {
    /// Takes the model of `container`, of kind `ngram-glm`, to GPU `number`. `twin`
    /// is the same model on the CPU: it knows the words, and answers single
    /// questions.
    pub fn new(
        container: &Container,
        twin: Arc<dyn LanguageModel>,
        number: u32,
        options: DeviceOptions,
    ) -> Result<Self> {
        let _ = (container, twin, number, options);
        Err(miriam_gpu::Error::NoLibrary.into())
    }

    /// What the device is like.
    pub fn properties(&self) -> &Properties {
        &self.properties
    }

    /// Scores n-grams: each has as many ids as the model's order, newest word first,
    /// filled up with [`PAD`] where the context is shorter. A query of padding alone
    /// gives 0 and matched length 0.
    ///
    /// Panics when `answers` do not have room for as many.
    pub fn score_ngrams(&self, queries: &[u32], answers: Answers<'_>) -> Result<()> {
        let _ = (queries, answers);
        Err(miriam_gpu::Error::NoLibrary.into())
    }

    /// Scores each token of a stream, given those left of it in its sentence. The
    /// first of a sentence has [`SENTENCE_START`] set; with markers it is `<s>`, whose
    /// own score means nothing.
    ///
    /// Panics when `answers` do not have room for as many.
    pub fn score_tokens(&self, tokens: &[u32], answers: Answers<'_>) -> Result<()> {
        let _ = (tokens, answers);
        Err(miriam_gpu::Error::NoLibrary.into())
    }

    /// As [`DeviceModel::score_tokens`], but only the sums of sentences come back:
    /// `ends` says where each ends in `tokens`. With `markers` the first token of a
    /// sentence is not counted.
    pub fn sum_sentences(
        &self,
        tokens: &[u32],
        ends: &[usize],
        markers: bool,
        sums: &mut [SentenceSum],
    ) -> Result<()> {
        let _ = (tokens, ends, markers, sums);
        Err(miriam_gpu::Error::NoLibrary.into())
    }

    /// log10 p of each of `words` (`None`: all of the model) behind each context, row
    /// by row. A context has as many ids as the order less one, newest first, filled
    /// up with [`PAD`].
    pub fn score_next(
        &self,
        contexts: &[u32],
        words: Option<&[u32]>,
        answers: Answers<'_>,
    ) -> Result<()> {
        let _ = (contexts, words, answers);
        Err(miriam_gpu::Error::NoLibrary.into())
    }

    /// Takes `queries`, as [`DeviceModel::score_ngrams`] has them, to the device.
    pub fn resident_ngrams(&self, queries: &[u32]) -> Result<Resident<'_>> {
        let _ = queries;
        Err(miriam_gpu::Error::NoLibrary.into())
    }

    /// Takes `tokens`, as [`DeviceModel::score_tokens`] has them, to the device.
    pub fn resident_tokens(&self, tokens: &[u32]) -> Result<Resident<'_>> {
        let _ = tokens;
        Err(miriam_gpu::Error::NoLibrary.into())
    }
}

impl Resident<'_> {
    /// Answers the batch `times` times and says how many milliseconds each took
    /// between two events on its stream.
    pub fn time(&mut self, times: usize) -> Result<Vec<f32>> {
        let _ = (times, self.model);
        Err(miriam_gpu::Error::NoLibrary.into())
    }

    /// The answers of the last time.
    pub fn answers(&mut self, answers: Answers<'_>) -> Result<()> {
        let _ = answers;
        Err(miriam_gpu::Error::NoLibrary.into())
    }
}

/// Reads `loads` sectors of `sector` bytes (32, 64 or 128) at random places of a
/// buffer of `bytes` bytes, `times` times; the milliseconds that each took: what
/// searches can at best come to.
pub fn time_random_sectors(
    number: u32,
    bytes: u64,
    sector: u32,
    loads: u64,
    times: usize,
) -> Result<Vec<f32>> {
    let _ = (number, bytes, sector, loads, times);
    Err(Error::from(miriam_gpu::Error::NoLibrary))
}
