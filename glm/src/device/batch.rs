//! Batches of queries for a GPU, and buffers for their scores: plain slices, which tests and
//! benchmarks can use without a GPU.

/// The token that pads queries with fewer words than the order of the model.
pub const PAD: u32 = crate::format::NO_WORD;

/// The bit that marks the first token of a sentence: tokens before it are not context.
pub const SENTENCE_START: u32 = 1 << 31;

/// The sum of a sentence's scores.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SentenceSum {
    /// log10 of the sentence's probability: the sum in f32, in the order of the words.
    pub log10: f32,
    /// The number of words that are `<unk>`.
    pub unknown: u32,
}

/// The buffers for the scores of a batch, in the memory of the host.
#[derive(Debug)]
pub struct ScoreBuffers<'a> {
    /// log10 of the probability of each token or query.
    pub log10: &'a mut [f32],
    /// The length of the n-gram that was matched for each token or query, if wanted.
    pub matched: Option<&'a mut [u8]>,
}
