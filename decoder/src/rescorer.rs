//! Scoring of the n-best list of a sentence by the models of `[rescore]`: the list in its new
//! order, whose first entry is the translation.

use miriam_combine::lists::{CandidateList, FeatureScorer, ListError, score_lists};

use crate::decoded_sentence::{DecodedSentence, RescoredEntry};
use crate::hypothesis::HypothesisId;
use crate::line_errors::{LineError, LineErrorKind};
use crate::n_best::{NBest, NBestLimits};
use crate::rescoring::Rescoring;
use crate::system::System;
use crate::{Error, Result};

/// Scores the lists of sentences one at a time, in buffers that it reuses. Without models it
/// changes nothing.
pub(crate) struct Rescorer<'s> {
    system: &'s System,
    /// A scorer of each model, made for the first list.
    scorers: Vec<Box<dyn FeatureScorer + 's>>,
    n_best: NBest,
    /// The list of the last sentence, and its best translation in target order.
    entries: Vec<RescoredEntry>,
    best_path: Vec<HypothesisId>,
    /// The sum of the scores of the sentences of a line.
    line_total: Option<f32>,
    line_errors: Vec<LineError>,
}

impl<'s> Rescorer<'s> {
    /// Creates a rescorer of what `system` translates.
    pub(crate) fn new(system: &'s System) -> Self {
        Rescorer {
            system,
            scorers: Vec::new(),
            n_best: NBest::default(),
            entries: Vec::new(),
            best_path: Vec::new(),
            line_total: None,
            line_errors: Vec::new(),
        }
    }

    /// Begins a line.
    pub(crate) fn start_line(&mut self) {
        self.entries.clear();
        self.line_total = Some(0.0);
        self.line_errors.clear();
    }

    /// Returns the score of the line after its sentences, which the search gave the score `found`.
    pub(crate) fn line_score(&self, found: Option<f32>) -> Option<f32> {
        if self.system.rescoring.is_some() { found.and(self.line_total) } else { found }
    }

    /// Takes the errors of the line.
    pub(crate) fn take_line_errors(&mut self) -> Vec<LineError> {
        std::mem::take(&mut self.line_errors)
    }

    /// Returns the sentence with the list that [`rescore`](Self::rescore) gave it last.
    pub(crate) fn rescored<'a>(&'a self, decoded: DecodedSentence<'a>) -> DecodedSentence<'a> {
        let Some(best) = self.entries.first() else { return decoded };
        DecodedSentence {
            best_path: &self.best_path,
            score: Some(best.total),
            rescored: Some(&self.entries),
            ..decoded
        }
    }

    /// Scores the list of a sentence, of at least `wanted` entries, and returns the sentence with
    /// its list in the new order. Where a text has no score, as one that is too long, the order
    /// stays, and the line has an error.
    ///
    /// # Errors
    ///
    /// Fails if a table is damaged or a model fails.
    pub(crate) fn rescore<'a>(
        &'a mut self,
        decoded: DecodedSentence<'a>,
        wanted: usize,
    ) -> Result<DecodedSentence<'a>> {
        let Some(rescoring) = &self.system.rescoring else { return Ok(decoded) };
        self.entries.clear();
        if decoded.sentence.len() > 0 && decoded.score.is_some() {
            self.score_list(rescoring, decoded, wanted.max(rescoring.list_size))?;
        }
        let rescored = self.entries.first().map(|best| {
            self.best_path.clear();
            self.best_path.extend(best.hypotheses.iter().rev());
            best.total
        });
        self.line_total =
            self.line_total.zip(rescored.or(decoded.score)).map(|(sum, score)| sum + score);
        Ok(self.rescored(decoded))
    }

    fn score_list(
        &mut self,
        rescoring: &'s Rescoring,
        decoded: DecodedSentence<'_>,
        size: usize,
    ) -> Result<()> {
        let limits = NBestLimits {
            max_entries: size,
            max_candidates: self.system.settings.output.n_best_factor.max(1).saturating_mul(size),
            distinct: true,
        };
        let (entries, mut texts) = (&mut self.entries, Vec::new());
        self.n_best.for_each_entry(decoded, limits, |entry| {
            let mut text = Vec::new();
            for &id in entry.hypotheses.iter().rev() {
                let hypothesis = decoded.hypothesis(id);
                decoded.surface_forms().for_each_word_lossy(
                    hypothesis.option,
                    hypothesis.span,
                    |word| push_word(&mut text, word),
                );
            }
            texts.push(text);
            entries.push(RescoredEntry {
                hypotheses: entry.hypotheses.to_vec(),
                values: entry.values.to_vec(),
                total: entry.total,
            });
            Ok(())
        })?;
        let mut source = Vec::new();
        for &id in decoded.sentence.ids() {
            let word = decoded.sentence.word(id, &decoded.system.models);
            // Models know the first factor alone.
            let surface = match &decoded.system.models.factor_scheme {
                Some(_) => word.split(|&byte| byte == b'|').next().unwrap_or_default(),
                None => word,
            };
            push_word(&mut source, surface);
        }
        if self.scorers.is_empty() {
            for (number, model) in rescoring.models.iter().enumerate() {
                let scorer = model.scorer().map_err(|reason| rescoring.failure(number, reason))?;
                self.scorers.push(scorer);
            }
        }
        let translations: Vec<&[u8]> = texts.iter().map(|text| &text[..]).collect();
        let list = CandidateList { source: &source, translations: &translations };
        match score_lists(&mut self.scorers, &[list]) {
            Ok(mut scores) => {
                for (entry, scores) in self.entries.iter_mut().zip(scores.swap_remove(0)) {
                    entry.values.extend(scores.into_iter().map(|score| score as f32));
                    entry.total = rescoring.total(&entry.values, entry.total);
                }
                self.entries.sort_by(|a, b| b.total.total_cmp(&a.total));
            }
            Err((number, ListError::Model { reason })) => {
                return Err(rescoring.failure(number, reason));
            }
            Err((number, ListError::Text { translation, reason, .. })) => {
                let what = match translation {
                    Some(_) => "a translation",
                    None => "the sentence",
                };
                let name = rescoring.feature_name(number);
                let reason = format!("not rescored: no score {name} of {what}: {reason}");
                self.line_errors.push(LineError::new(LineErrorKind::NotRescored, reason));
                let width = self.system.num_components();
                self.entries.iter_mut().for_each(|entry| entry.values.resize(width, 0.0));
            }
        }
        Ok(())
    }
}

impl Rescoring {
    fn feature_name(&self, number: usize) -> &str {
        &self.components[self.components.len() - self.models.len() + number].name
    }

    fn failure(&self, number: usize, reason: String) -> Error {
        Error::feature(self.feature_name(number), reason)
    }
}

/// Appends a word after a space.
fn push_word(text: &mut Vec<u8>, word: &[u8]) {
    if !text.is_empty() {
        text.push(b' ');
    }
    text.extend_from_slice(word);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Configuration, DetailOptions, NeuralModelSpec, RescoringModel, RescoringModelKind,
        Translator,
    };
    use miriam_combine::lists::FeatureModel;
    use std::path::Path;

    /// A model that wants short translations, and knows no sentence with the word `old`.
    struct Shortness;

    impl FeatureModel for Shortness {
        fn scorer(&self) -> Result<Box<dyn FeatureScorer + '_>, String> {
            Ok(Box::new(Shortness))
        }
    }

    impl FeatureScorer for Shortness {
        fn score(&mut self, lists: &[CandidateList<'_>]) -> Result<Vec<Vec<f64>>, ListError> {
            let [list] = lists else { panic!("one sentence") };
            if list.source.windows(3).any(|word| word == b"old") {
                let reason = "it has old words".to_owned();
                return Err(ListError::Text { list: 0, translation: None, reason });
            }
            Ok(vec![list.translations.iter().map(|text| -(text.len() as f64)).collect()])
        }
    }

    fn load(weight: f32) -> System {
        load_with(weight, false)
    }

    /// With weights of lists that are not those of the search, if `own` is set.
    fn load_with(weight: f32, own: bool) -> System {
        let ini = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy/moses.ini");
        let mut configuration = Configuration::from_ini(&ini).unwrap();
        configuration.rescoring.push(RescoringModel {
            name: "Short".into(),
            path: "short".into(),
            kind: RescoringModelKind::Neural(NeuralModelSpec::default()),
            weight,
        });
        configuration.settings.rescore_list_size = 30;
        if own {
            let negative = |weights: &Vec<f32>| weights.iter().map(|weight| -weight).collect();
            let weights = configuration.features.iter().map(|feature| &feature.weights);
            configuration.list_weights = Some(weights.map(negative).collect());
        }
        let refused = System::load(&configuration, &miriam_textio::NoProgress);
        let error = refused.err().unwrap().to_string();
        assert!(error.contains("[rescore]: Short (short): nothing here opens models"), "{error}");
        let open = |_: &RescoringModel, _: &Configuration| {
            Ok(Box::new(Shortness) as Box<dyn FeatureModel>)
        };
        System::load_with(&configuration, &open, &miriam_textio::NoProgress).unwrap()
    }

    fn text(phrases: &[crate::TranslatedPhrase]) -> Vec<u8> {
        let words: Vec<&[u8]> =
            phrases.iter().flat_map(|phrase| &phrase.words).map(|word| &word[..]).collect();
        words.join(&b' ')
    }

    #[test]
    fn the_best_of_the_scored_list_is_the_translation() {
        // Against the model: long translations win.
        let system = load(-0.75);
        let weights = system.weights();
        assert_eq!(weights.last(), Some(&-0.75));
        assert_eq!(system.features().last().unwrap().name, "Short");
        let mut translator = Translator::new(&system);
        let wanted = DetailOptions { n_best: 30, distinct: true, ..DetailOptions::default() };
        let line = b"the red house is big and the small dog reads the green book .";
        let found = translator.translate_in_detail(line, wanted).unwrap();
        assert!(found.n_best.len() > 10);
        for entry in &found.n_best {
            let sum: f32 =
                entry.values.iter().zip(&weights).map(|(value, weight)| value * weight).sum();
            assert!((sum - entry.score).abs() < 1e-3, "{sum} {}", entry.score);
            assert_eq!(entry.values.last(), Some(&-(text(&entry.phrases).len() as f32)));
        }
        assert!(found.n_best.is_sorted_by(|a, b| a.score >= b.score));
        let best = found.best.unwrap();
        assert_eq!((best.score, &best.phrases), (found.n_best[0].score, &found.n_best[0].phrases));
        assert_eq!(translator.translate(line).unwrap(), Some(best.clone()));
        let mut printed = Vec::new();
        translator.translate_line(line, &mut printed).unwrap();
        assert_eq!(printed.trim_ascii_end(), text(&best.phrases));
        assert!(translator.take_line_errors().is_empty());
        // Without weight the search decides.
        let neutral = load(0.0);
        let plain = Translator::new(&neutral).translate_in_detail(line, wanted).unwrap();
        let by_search = plain.n_best.iter().map(|entry| text(&entry.phrases));
        assert!(by_search.eq({
            let ini = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy/moses.ini");
            let configuration = Configuration::from_ini(&ini).unwrap();
            let system = System::load(&configuration, &miriam_textio::NoProgress).unwrap();
            let found = Translator::new(&system).translate_in_detail(line, wanted).unwrap();
            found.n_best.iter().map(|entry| text(&entry.phrases)).collect::<Vec<_>>()
        }));
        assert_ne!(text(&plain.best.unwrap().phrases), text(&best.phrases));
    }

    #[test]
    fn lists_are_sorted_by_weights_of_their_own() {
        let wanted = DetailOptions { n_best: 30, distinct: true, ..DetailOptions::default() };
        let texts = |system: &System, line: &[u8]| -> Vec<Vec<u8>> {
            let found = Translator::new(system).translate_in_detail(line, wanted).unwrap();
            let weights = system.weights();
            for entry in &found.n_best {
                let values = entry.values.iter().zip(&weights);
                let sum: f32 = values.map(|(value, weight)| value * weight).sum();
                let is_scored = !line.starts_with(b"the old");
                assert!(!is_scored || (sum - entry.score).abs() < 1e-3, "{sum} {}", entry.score);
            }
            found.n_best.iter().map(|entry| text(&entry.phrases)).collect()
        };
        // The search finds the same translations, which the opposite weights turn round.
        let line = b"the red house is big .";
        let [plain, mut own] = [false, true].map(|own| texts(&load_with(0.0, own), line));
        assert!(plain.len() > 10 && own != plain);
        own.reverse();
        assert_eq!(own, plain);
        let line = b"the old house";
        assert_eq!(texts(&load_with(0.5, true), line), texts(&load_with(0.5, false), line));
    }

    #[test]
    fn sentences_without_scores_stay_as_the_search_left_them() {
        let system = load(0.75);
        let mut translator = Translator::new(&system);
        let line = b"the old house";
        let found = translator.translate(line).unwrap().unwrap();
        let errors = translator.take_line_errors();
        assert_eq!(errors[0].kind, LineErrorKind::NotRescored);
        assert!(errors[0].reason.contains("no score Short of the sentence: it has old words"));
        let neutral = load(0.0);
        let by_search = Translator::new(&neutral).translate(line).unwrap().unwrap();
        assert_eq!(text(&found.phrases), text(&by_search.phrases));
        // Nothing to translate, and a line in parts.
        assert_eq!(text(&translator.translate(b"").unwrap().unwrap().phrases), b"");
        let long = b"the house . ".repeat(crate::MAX_SENTENCE_WORDS / 2);
        let wanted = DetailOptions { n_best: 3, distinct: true, ..DetailOptions::default() };
        let found = translator.translate_in_detail(&long, wanted).unwrap();
        let entry = &found.n_best[0];
        assert_eq!(found.n_best.len(), 1);
        let sum: f32 =
            entry.values.iter().zip(system.weights()).map(|(value, weight)| value * weight).sum();
        assert!((sum - entry.score).abs() < sum.abs() * 1e-4, "{sum} {}", entry.score);
    }
}
