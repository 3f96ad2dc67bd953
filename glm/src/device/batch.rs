//! Batches of queries for a GPU, and buffers for their scores: plain slices, which tests and
//! benchmarks can use without a GPU.

/// Pads queries that are shorter than the order.
pub const PAD: u32 = crate::format::NO_WORD;

/// The bit of a token that begins a sentence: nothing left of it is context.
pub const SENTENCE_START: u32 = 1 << 31;

/// The sum of a sentence's scores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SentenceSum {
    /// log10 p: an f32 sum in the order of the words.
    pub log10: f32,
    /// Words that are `<unk>`.
    pub unknown: u32,
}

/// The buffers for the scores of a batch, in the memory of the host.
#[derive(Debug)]
pub struct ScoreBuffers<'a> {
    /// log10 p of each token or query.
    pub log10: &'a mut [f32],
    /// The matched n-gram length of each, if wanted.
    pub matched: Option<&'a mut [u8]>,
}
