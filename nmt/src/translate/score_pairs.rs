//! Scores of given translations, pair by pair. The numbers are those of `miriam nmt score`, except
//! for ensembles of Marian's pre-norm transformers: here they normalise keys as in the search.

use super::Translator;
use super::scorer::{Scorer, describe_score};
use super::text_to_score::LengthLimit;
use super::tokenizer::TokenizerScratch;
use crate::Result;
use miriam_nmt_network::network::Target;

/// The score of a given translation.
#[derive(Clone, Debug, PartialEq)]
pub struct PairScore {
    /// The natural logarithm of its probability.
    pub log_probability: f32,
    /// The natural log-probability of every token, the last one `</s>`.
    pub token_scores: Vec<f32>,
    /// Its tokens, without `</s>`.
    pub tokens: Vec<Vec<u8>>,
}

impl Translator {
    /// Returns a scorer for one thread, for [`score_pairs`](Self::score_pairs).
    ///
    /// # Errors
    /// If a device cannot provide memory.
    pub fn scorer(&self) -> Result<Scorer> {
        Scorer::new(&self.models, false)
    }

    /// Returns the score of each pair of a source and its translation, or the reason why it has
    /// none. All pairs are computed together, so there should be few.
    ///
    /// # Errors
    /// Those of the device.
    pub fn score_pairs(
        &self,
        scorer: &mut Scorer,
        pairs: &[(&[u8], &[u8])],
    ) -> Result<Vec<Result<PairScore, String>>> {
        let mut scratch = TokenizerScratch::default();
        let limit = LengthLimit::error_above(self.options.input.max_length);
        let mut encode = |side: usize, text: &[u8]| {
            let tokenizer = &self.models.tokenizers()[side];
            let (pieces, ids) = tokenizer.encode_to_score(text, limit, &mut scratch)?;
            Ok::<_, String>((ids, pieces.iter().map(<[u8]>::to_vec).collect::<Vec<_>>()))
        };
        let encoded = pairs.iter().map(|(source, target)| {
            let (source, _) = encode(0, source)?;
            let (target, tokens) = encode(1, target)?;
            Ok((source, target, tokens))
        });
        let encoded: Vec<Result<_, String>> = encoded.collect();
        let sound: Vec<_> = encoded.iter().flatten().collect();
        let sources: Vec<&[u32]> = sound.iter().map(|(source, ..)| &source[..]).collect();
        let given = sound.iter().enumerate();
        let given: Vec<Target> =
            given.map(|(at, (_, ids, _))| Target { source_index: at, tokens: ids }).collect();
        let mut scores = if given.is_empty() {
            Vec::new()
        } else {
            scorer.score(&self.models, self.models.target_prefix(), &sources, &given, false)?
        }
        .into_iter();
        let scored = encoded.into_iter().map(|pair| {
            let (_, _, tokens) = pair?;
            let found = scores.next().ok_or("no score was computed")?;
            let log_probability = found.sum();
            if !log_probability.is_finite() {
                return Err(describe_score(log_probability));
            }
            Ok(PairScore { log_probability, token_scores: found.token_scores, tokens })
        });
        Ok(scored.collect())
    }
}
