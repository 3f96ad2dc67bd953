//! Forced scoring: how probable a model finds translations that are given.

use crate::Result;
use crate::network::{ForcedScores, SequenceScorer, Session, Target, score_targets};
use crate::translate::LoadedModels;

/// What a thread scores with.
pub enum Scorer {
    /// A single model, all words of a translation at once.
    FullSequence(Box<dyn SequenceScorer>),
    /// Word after word, as translations are found.
    Stepwise(Box<dyn Session>),
}

impl Scorer {
    /// The fastest that `models` allow; `by_steps` asks for steps, which tell alignments.
    pub fn new(models: &LoadedModels, by_steps: bool) -> Result<Self> {
        Ok(match models.single_network() {
            Some(network) if !by_steps => Scorer::FullSequence(network.scorer()?),
            _ => Scorer::Stepwise(models.session()?),
        })
    }

    /// Scores translations; see [`score_targets`].
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
