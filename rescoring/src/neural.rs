//! A neural model or ensemble as a feature of lists, and as a translator that adds to the lists.

use miriam_combine::lists::{
    CandidateList, CandidateTranslator, FeatureModel, FeatureScorer, ListError,
};
use miriam_nmt::score::{ListError as NeuralError, ListModel, ListScorer, TextList};
use miriam_nmt::translate::{
    FinishedSentence, SentenceSource, SentenceText, TranslationSession, Translator,
};

/// The log-probability of pairs by a neural model of either direction: the numbers of `miriam nmt
/// score`.
pub struct NeuralFeature {
    /// The model.
    pub model: ListModel,
    /// The same model as a translator, whose translations are added to lists; `None` to add none.
    pub translator: Option<Translator>,
}

struct NeuralScorer<'m>(ListScorer<'m>);

impl FeatureModel for NeuralFeature {
    fn scorer(&self) -> Result<Box<dyn FeatureScorer + '_>, String> {
        let scorer = self.model.scorer().map_err(|error| error.to_string())?;
        Ok(Box::new(NeuralScorer(scorer)))
    }

    fn translator(&self) -> Result<Option<Box<dyn CandidateTranslator + '_>>, String> {
        let Some(translator) = &self.translator else { return Ok(None) };
        let session = translator.session().map_err(|error| error.to_string())?;
        Ok(Some(Box::new(NeuralTranslator { translator, session })))
    }
}

impl FeatureScorer for NeuralScorer<'_> {
    fn score(&mut self, lists: &[CandidateList<'_>]) -> Result<Vec<Vec<f64>>, ListError> {
        let lists: Vec<TextList<'_>> = lists
            .iter()
            .map(|list| TextList { source: list.source, translations: list.translations })
            .collect();
        let scores = self.0.score(&lists).map_err(convert_error)?;
        Ok(scores.into_iter().map(|list| list.into_iter().map(f64::from).collect()).collect())
    }

    fn score_each(
        &mut self,
        list: CandidateList<'_>,
    ) -> Result<Vec<Result<f64, String>>, ListError> {
        let CandidateList { source, translations } = list;
        let scores = self.0.score_each(TextList { source, translations });
        let scores = scores.map_err(convert_error)?.into_iter();
        Ok(scores.map(|score| score.map(f64::from)).collect())
    }
}

fn convert_error(error: NeuralError) -> ListError {
    match error {
        NeuralError::Text { list, translation, reason } => {
            ListError::Text { list, translation, reason }
        }
        NeuralError::Model(error) => ListError::Model { reason: error.to_string() },
    }
}

/// A translator with the session of one thread.
struct NeuralTranslator<'m> {
    translator: &'m Translator,
    session: TranslationSession,
}

impl CandidateTranslator for NeuralTranslator<'_> {
    fn translate(&mut self, source: &[u8]) -> Result<Vec<Vec<u8>>, ListError> {
        let mut sentence = OneSentence { text: Some(source.to_vec()), outcome: Ok(Vec::new()) };
        let done = self.translator.translate_sentences(&mut self.session, &mut sentence);
        done.map_err(|error| ListError::Model { reason: error.to_string() })?;
        sentence.outcome.map_err(|reason| ListError::Text { list: 0, translation: None, reason })
    }
}

/// A source of one sentence, which also receives the translations.
struct OneSentence {
    text: Option<Vec<u8>>,
    outcome: Result<Vec<Vec<u8>>, String>,
}

impl SentenceSource for OneSentence {
    fn next_sentences(&mut self, _: usize) -> Option<Vec<(u64, SentenceText)>> {
        let text = self.text.take()?;
        Some(vec![(0, SentenceText { text, ..SentenceText::default() })])
    }

    fn is_wanted(&mut self, _: u64) -> bool {
        true
    }

    fn finish(&mut self, _: u64, sentence: FinishedSentence<'_>) {
        self.outcome = match sentence.error() {
            Some(reason) => Err(reason.to_owned()),
            None => Ok(sentence.translations().into_iter().map(|found| found.text).collect()),
        };
    }
}
