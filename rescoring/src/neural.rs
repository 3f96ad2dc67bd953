//! A neural model, or an ensemble, as a feature of lists.

use miriam_combine::lists::{CandidateList, FeatureModel, FeatureScorer, ListError};
use miriam_nmt::score::{ListError as NeuralError, ListModel, ListScorer, TextList};

/// The log-probability of pairs by a neural model of either direction: the numbers of `miriam nmt
/// score`.
pub struct NeuralFeature(pub ListModel);

struct NeuralScorer<'m>(ListScorer<'m>);

impl FeatureModel for NeuralFeature {
    fn scorer(&self) -> Result<Box<dyn FeatureScorer + '_>, String> {
        let scorer = self.0.scorer().map_err(|error| error.to_string())?;
        Ok(Box::new(NeuralScorer(scorer)))
    }
}

impl FeatureScorer for NeuralScorer<'_> {
    fn score(&mut self, lists: &[CandidateList<'_>]) -> Result<Vec<Vec<f64>>, ListError> {
        let lists: Vec<TextList<'_>> = lists
            .iter()
            .map(|list| TextList { source: list.source, translations: list.translations })
            .collect();
        let scores = self.0.score(&lists).map_err(|error| match error {
            NeuralError::Text { list, translation, reason } => {
                ListError::Text { list, translation, reason }
            }
            NeuralError::Model(error) => ListError::Model { reason: error.to_string() },
        })?;
        Ok(scores.into_iter().map(|list| list.into_iter().map(f64::from).collect()).collect())
    }
}
