//! An n-gram model of the target language as a feature of lists.

use std::sync::Arc;

use miriam_combine::lists::{CandidateList, FeatureModel, FeatureScorer, ListError};
use miriam_lmcpu::LanguageModel;
use miriam_lmcpu::line_scoring::{SentenceMarkers, score_sentence};

/// The natural logarithm of the probability of translations, `</s>` included.
pub struct NgramFeature(pub Arc<dyn LanguageModel>);

struct NgramScorer<'m>(&'m dyn LanguageModel);

impl FeatureModel for NgramFeature {
    fn scorer(&self) -> Result<Box<dyn FeatureScorer + '_>, String> {
        Ok(Box::new(NgramScorer(&*self.0)))
    }
}

impl FeatureScorer for NgramScorer<'_> {
    fn score(&mut self, lists: &[CandidateList<'_>]) -> Result<Vec<Vec<f64>>, ListError> {
        let score = |text: &&[u8]| {
            let log10 = score_sentence(self.0, text, SentenceMarkers::BOTH);
            f64::from(log10) * std::f64::consts::LN_10
        };
        Ok(lists.iter().map(|list| list.translations.iter().map(score).collect()).collect())
    }
}
