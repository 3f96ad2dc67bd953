//! Dropout (`docs/spec/training.md` B.5).
//!
//! Whether an element is dropped is a function of the seed, the epoch, the sentence's number in the
//! corpus, the site in the model, the position in the sentence and the column. So masks do not
//! depend on the other sentences of a batch, on the number of workers, or on where training was
//! resumed. Marian shares masks among the sentences of a batch; the expectation is the same.
//!
//! There are three kinds of masks: for an element of a row at one site of the network; for a whole
//! token, wherever its vector is read; for a column of the input of recurrent weights, at all time
//! steps of a sentence.

use miriam_kernels::Cpu;
use miriam_kernels::random::{MaskRow, fill_dropout_mask};
use miriam_nmt::layer::DropoutSite;

/// The rates of dropout and the key of its masks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dropout {
    /// The rate of embeddings, and of the inputs and outputs of sublayers (`transformer-dropout`).
    pub transformer: f32,
    /// The rate of hidden layers of feed-forward sublayers (`transformer-dropout-ffn`).
    pub feed_forward: f32,
    /// The rate of attention weights (`transformer-dropout-attention`).
    pub attention: f32,
    /// The rate of inputs and states of recurrent cells, and of the keys and queries of their
    /// attention (`dropout-rnn`): the same columns at all time steps of a sentence.
    pub recurrent: f32,
    /// The rate of whole tokens of the source (`dropout-src`).
    pub source_words: f32,
    /// The rate of whole tokens of the target (`dropout-trg`).
    pub target_words: f32,
    /// The sites of the model to which `transformer` applies.
    pub sites: TransformerSites,
    /// The key of the masks: seed and epoch.
    pub key: [u32; 2],
}

/// The sites at which transformers apply dropout: the letter `d` in Marian's strings of processing
/// steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformerSites {
    /// Whether `transformer-postprocess-emb` has a `d`.
    pub embedding: bool,
    /// Whether `transformer-preprocess` has a `d`.
    pub input: bool,
    /// Whether `transformer-postprocess` has a `d`.
    pub output: bool,
    /// Whether `transformer-postprocess-top` has a `d`.
    pub top: bool,
}

/// Marian's defaults.
impl Default for TransformerSites {
    fn default() -> Self {
        TransformerSites { embedding: true, input: false, output: true, top: false }
    }
}

impl Dropout {
    /// Returns the rate at a site.
    pub fn rate(&self, site: DropoutSite) -> f32 {
        let has_dropout = match site {
            DropoutSite::Embedding => self.sites.embedding,
            DropoutSite::SublayerInput => self.sites.input,
            DropoutSite::SublayerOutput => self.sites.output,
            DropoutSite::StackOutput => self.sites.top,
            DropoutSite::FeedForward => return self.feed_forward,
        };
        if has_dropout { self.transformer } else { 0.0 }
    }
}

/// Fills a row of a mask: 0 where elements are dropped, elsewhere the reciprocal of the rate at
/// which they are kept.
pub(crate) fn fill_mask(key: [u32; 2], row: MaskRow, rate: f32, mask: &mut [f32]) {
    fill_dropout_mask(Cpu::detect(), key, row, 1.0 - rate, mask);
}
