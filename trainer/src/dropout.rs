//! Dropout (`training.md` B.5).
//!
//! Whether an element is dropped is a function of the seed, the epoch, the sentence's number
//! in the corpus, the site in the model, the position in the sentence and the column. So
//! masks depend neither on the other sentences of a batch, nor on the number of workers, nor
//! on where training was resumed. Marian shares masks among the sentences of a batch; the
//! expectation is the same.

use miriam_nmt::layer::DropoutSite;

use crate::philox::philox;

/// The rates of dropout and the key of its masks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dropout {
    /// Of embeddings, and of the inputs and outputs of sublayers (`transformer-dropout`).
    pub transformer: f32,
    /// Of hidden layers of feed-forward sublayers (`transformer-dropout-ffn`).
    pub feed_forward: f32,
    /// Of attention weights (`transformer-dropout-attention`).
    pub attention: f32,
    /// Of whole tokens of the source (`dropout-src`).
    pub source_words: f32,
    /// Of whole tokens of the target (`dropout-trg`).
    pub target_words: f32,
    /// The sites of `transformer` that the model has.
    pub sites: TransformerSites,
    /// Seed and epoch.
    pub key: [u32; 2],
}

/// Where transformers drop: the letter `d` in Marian's strings of processing steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TransformerSites {
    /// In `transformer-postprocess-emb`.
    pub embedding: bool,
    /// In `transformer-preprocess`.
    pub input: bool,
    /// In `transformer-postprocess`.
    pub output: bool,
    /// In `transformer-postprocess-top`.
    pub top: bool,
}

/// Marian's defaults.
impl Default for TransformerSites {
    fn default() -> Self {
        TransformerSites { embedding: true, input: false, output: true, top: false }
    }
}

impl Dropout {
    /// The rate at a site.
    pub fn rate(&self, site: DropoutSite) -> f32 {
        let at = |has: bool| if has { self.transformer } else { 0.0 };
        match site {
            DropoutSite::Embedding => at(self.sites.embedding),
            DropoutSite::SublayerInput => at(self.sites.input),
            DropoutSite::SublayerOutput => at(self.sites.output),
            DropoutSite::StackOutput => at(self.sites.top),
            DropoutSite::FeedForward => self.feed_forward,
        }
    }
}

/// Fills a row with 0 where elements are dropped and with the reciprocal of the rate at which
/// they are kept elsewhere. A row is that of a site, a sentence and a position.
pub(crate) fn fill_mask(
    key: [u32; 2],
    [site, sentence, position]: [u32; 3],
    rate: f32,
    mask: &mut [f32],
) {
    let keep = 1.0 - rate;
    let kept = 1.0 / keep;
    // Draws below are kept.
    let limit = (f64::from(keep) * 2f64.powi(32)) as u64;
    for (block, mask) in (0..).zip(mask.chunks_mut(4)) {
        let draws = philox([block, position, site, sentence], key);
        for (mask, draw) in mask.iter_mut().zip(draws) {
            *mask = if u64::from(draw) < limit { kept } else { 0.0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_keep_the_expectation() {
        let mut mask = vec![0.0; 100_000];
        fill_mask([1, 2], [3, 4, 5], 0.3, &mut mask);
        let kept = mask.iter().filter(|&&x| x > 0.0).count() as f64 / mask.len() as f64;
        assert!((kept - 0.7).abs() < 0.005, "{kept}");
        assert!(mask.iter().all(|&x| x == 0.0 || x == 1.0 / 0.7));
    }

    #[test]
    fn masks_differ_between_rows_and_not_between_calls() {
        let row = |place: [u32; 3], columns: usize| {
            let mut mask = vec![0.0; columns];
            fill_mask([7, 1], place, 0.5, &mut mask);
            mask
        };
        assert_eq!(row([1, 2, 3], 33), row([1, 2, 3], 64)[..33]);
        for other in [[0, 2, 3], [1, 0, 3], [1, 2, 0]] {
            assert_ne!(row([1, 2, 3], 64), row(other, 64));
        }
    }
}
