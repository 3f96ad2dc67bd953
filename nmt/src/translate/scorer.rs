//! Scores of given translations: the log-probabilities of their tokens, computed in the fastest way
//! that the models support.

use super::models::LoadedModels;
use crate::Result;
use miriam_nmt_network::network::{ForcedScores, SequenceScorer, Session, Target, score_targets};

/// A scorer of translations for one thread.
pub enum Scorer {
    /// A single model, all tokens of a translation at once.
    FullSequence(Box<dyn SequenceScorer>),
    /// Token by token, as in decoding.
    Stepwise(Box<dyn Session>),
}

impl Scorer {
    /// Returns the fastest scorer for `models`; alignments need `by_steps`.
    ///
    /// # Errors
    /// If a device cannot provide a backend, or the models cannot form an ensemble.
    pub fn new(models: &LoadedModels, by_steps: bool) -> Result<Self> {
        let network = if by_steps { None } else { models.single_network() };
        Ok(match network {
            Some(network) => Scorer::FullSequence(network.scorer()?),
            None => Scorer::Stepwise(models.session()?),
        })
    }

    /// Scores translations together. The models generate the tokens `prefix` before a text;
    /// `translations` and scores have only the tokens of the text and `</s>`. Both are in the order
    /// of the text, even if the models generate from right to left.
    ///
    /// # Errors
    /// If a token of a source is not in its vocabulary, and the errors of the device.
    /// [`FullSequence`](Self::FullSequence) also fails if a token of a translation is not in its
    /// vocabulary.
    ///
    /// # Panics
    /// If [`Stepwise`](Self::Stepwise) gets a translation with a token that is not in its
    /// vocabulary.
    pub fn score(
        &mut self,
        models: &LoadedModels,
        prefix: &[u32],
        sources: &[&[u32]],
        translations: &[Target],
        alignments: bool,
    ) -> Result<Vec<ForcedScores>> {
        let generated = translations.iter().map(|given| models.as_generated(prefix, given.tokens));
        let generated: Vec<Vec<u32>> = generated.collect();
        let given = translations.iter().zip(&generated);
        let given: Vec<Target> =
            given.map(|(one, tokens)| Target { source_index: one.source_index, tokens }).collect();
        let mut scores = match self {
            Scorer::FullSequence(scorer) => {
                let sources: Vec<_> = given.iter().map(|one| sources[one.source_index]).collect();
                let targets: Vec<_> = given.iter().map(|one| one.tokens).collect();
                let scores = scorer.score(&sources, &targets)?.into_iter();
                scores
                    .map(|token_scores| ForcedScores { token_scores, alignment: Vec::new() })
                    .collect()
            }
            Scorer::Stepwise(session) => {
                score_targets(session.as_mut(), sources, None, &given, alignments)?
            }
        };
        scores.iter_mut().for_each(|scores| models.restore_order(prefix.len(), scores));
        Ok(scores)
    }
}

impl LoadedModels {
    /// Returns the tokens that the models generate for a text, whose `tokens` end with `</s>`:
    /// `prefix` and `tokens`, reversed before `</s>` if the models generate from right to left.
    fn as_generated(&self, prefix: &[u32], tokens: &[u32]) -> Vec<u32> {
        let mut tokens = [prefix, tokens].concat();
        if self.is_right_to_left() {
            let before_end = tokens.len().saturating_sub(1);
            tokens[..before_end].reverse();
        }
        tokens
    }

    /// Drops the scores of the first `prefix_len` generated tokens, and puts the others into the
    /// order of the text.
    fn restore_order(&self, prefix_len: usize, scores: &mut ForcedScores) {
        let ForcedScores { token_scores, alignment } = scores;
        token_scores.drain(..prefix_len.min(token_scores.len()));
        alignment.drain(..prefix_len.min(alignment.len()));
        if self.is_right_to_left() {
            let before_end = token_scores.len().saturating_sub(1);
            token_scores[..before_end].reverse();
            let aligned = before_end.min(alignment.len());
            alignment[..aligned].reverse();
            alignment.iter_mut().for_each(|row| reverse_before_end(row));
        }
        if self.tokenizers()[0].boundary_tokens.bos_id.is_some() {
            // Alignments have weights only for the tokens of the line, not for BOS.
            alignment.iter_mut().for_each(|row| drop(row.drain(..1.min(row.len()))));
        }
    }
}

/// Reverses the weights of the tokens of a source that was read from right to left; the weight of
/// EOS stays last.
pub(super) fn reverse_before_end(weights: &mut [f32]) {
    let words = weights.len().saturating_sub(1);
    weights[..words].reverse();
}

/// Describes a score that is not finite.
pub(crate) fn describe_score(score: f32) -> String {
    format!(
        "its score is {score}, so numbers of the model overflow or are damaged; check the model \
         with miriam verify, or try --precision f32"
    )
}
