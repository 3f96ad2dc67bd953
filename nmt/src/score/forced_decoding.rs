//! Forced decoding: the log-probabilities of given translations.

use crate::Result;
use crate::network::{ForcedScores, SequenceScorer, Session, Target, score_targets};
use crate::translate::LoadedModels;

/// The scorer of a thread.
pub enum Scorer {
    /// A single model, all tokens of a translation at once.
    FullSequence(Box<dyn SequenceScorer>),
    /// Token by token, as in decoding.
    Stepwise(Box<dyn Session>),
}

impl Scorer {
    /// The fastest scorer for `models`; alignments need `by_steps`.
    ///
    /// # Errors
    /// If the models cannot form an ensemble.
    pub fn new(models: &LoadedModels, by_steps: bool) -> Result<Self> {
        Ok(match models.single_network() {
            Some(network) if !by_steps => Scorer::FullSequence(network.scorer()?),
            _ => Scorer::Stepwise(models.session()?),
        })
    }

    /// Scores translations together; see [`score_targets`].
    ///
    /// # Errors
    /// If a source is too long for the model.
    pub fn score(
        &mut self,
        sources: &[&[u32]],
        translations: &[Target],
        alignments: bool,
    ) -> Result<Vec<ForcedScores>> {
        let scorer = match self {
            Scorer::FullSequence(scorer) => scorer,
            Scorer::Stepwise(session) => {
                return score_targets(session.as_mut(), sources, None, translations, alignments);
            }
        };
        let sources: Vec<_> =
            translations.iter().map(|given| sources[given.source_index]).collect();
        let targets: Vec<_> = translations.iter().map(|given| given.tokens).collect();
        let scores = scorer.score(&sources, &targets)?.into_iter();
        Ok(scores
            .map(|words| ForcedScores { token_scores: words, alignment: Vec::new() })
            .collect())
    }
}
