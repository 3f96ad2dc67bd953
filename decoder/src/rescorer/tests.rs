//! Lists that are scored again, and translations of models in them.

use super::*;
use crate::{
    Configuration, DetailOptions, NeuralModelSpec, RescoringModel, RescoringModelKind, Translator,
};
use miriam_combine::lists::FeatureModel;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// A model that prefers short translations and cannot score sentences with the word `old`.
struct Shortness;

impl FeatureModel for Shortness {
    fn scorer(&self) -> Result<Box<dyn FeatureScorer + '_>, String> {
        Ok(Box::new(Shortness))
    }

    fn translator(&self) -> Result<Option<Box<dyn CandidateTranslator + '_>>, String> {
        Ok(Some(Box::new(Shortness)))
    }
}

/// Translates with two short texts, one that cannot be scored, and some that a list cannot contain.
impl CandidateTranslator for Shortness {
    fn translate(&mut self, source: &[u8]) -> Result<Vec<Vec<u8>>, ListError> {
        if source.starts_with(b"a ") {
            let reason = "it is too long".to_owned();
            return Err(ListError::Text { list: 0, translation: None, reason });
        }
        let texts = ["la  casa", "", "casa ||| la", "unscorable", "la casa", "zzz"];
        Ok(texts.iter().map(|text| text.as_bytes().to_vec()).collect())
    }
}

impl FeatureScorer for Shortness {
    fn score(&mut self, lists: &[CandidateList<'_>]) -> Result<Vec<Vec<f64>>, ListError> {
        let [list] = lists else { panic!("one sentence") };
        if list.source.windows(3).any(|word| word == b"old") {
            let reason = "it has old words".to_owned();
            return Err(ListError::Text { list: 0, translation: None, reason });
        }
        if let Some(at) = list.translations.iter().position(|text| *text == b"unscorable") {
            let reason = "it is".to_owned();
            return Err(ListError::Text { list: 0, translation: Some(at), reason });
        }
        Ok(vec![list.translations.iter().map(|text| -(text.len() as f64)).collect()])
    }

    fn score_each(
        &mut self,
        list: CandidateList<'_>,
    ) -> Result<Vec<Result<f64, String>>, ListError> {
        let score = |text: &&[u8]| {
            let list = CandidateList { translations: &[*text], ..list };
            match self.score(&[list]) {
                Ok(scores) => Ok(Ok(scores[0][0])),
                Err(ListError::Text { translation: Some(_), reason, .. }) => Ok(Err(reason)),
                Err(error) => Err(error),
            }
        };
        list.translations.iter().map(score).collect()
    }
}

fn load(weight: f32) -> System {
    load_with(weight, false)
}

/// If `own`, lists have weights of their own: the negated weights of the search.
fn load_with(weight: f32, own: bool) -> System {
    load_adding(weight, own, 0)
}

/// Returns the configuration of the toy system with a rescoring model, which adds translations
/// unless `candidates` is 0.
fn configuration_adding(weight: f32, own: bool, candidates: usize) -> Configuration {
    let ini = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy/moses.ini");
    let mut configuration = Configuration::from_ini(&ini).unwrap();
    configuration.rescoring.push(RescoringModel {
        name: "Short".into(),
        path: "short".into(),
        kind: RescoringModelKind::Neural(NeuralModelSpec {
            candidates,
            ..NeuralModelSpec::default()
        }),
        weight,
        candidate_weight: 0.25,
    });
    configuration.settings.rescore_list_size = 30;
    if own {
        let negative = |weights: &Vec<f32>| weights.iter().map(|weight| -weight).collect();
        let weights = configuration.features.iter().map(|feature| &feature.weights);
        configuration.list_weights = Some(weights.map(negative).collect());
    }
    configuration
}

fn load_adding(weight: f32, own: bool, candidates: usize) -> System {
    let configuration = configuration_adding(weight, own, candidates);
    let refused = System::load(&configuration, &miriam_textio::NoProgress);
    let error = refused.err().unwrap().to_string();
    assert!(error.contains("[rescore]: Short (short): System::load opens no models"), "{error}");
    load_configuration(&configuration)
}

fn load_configuration(configuration: &Configuration) -> System {
    let open =
        |_: &RescoringModel, _: &Configuration| Ok(Box::new(Shortness) as Box<dyn FeatureModel>);
    System::load_with(configuration, &open, &miriam_textio::NoProgress).unwrap()
}

fn text(phrases: &[crate::TranslatedPhrase]) -> Vec<u8> {
    let words: Vec<&[u8]> =
        phrases.iter().flat_map(|phrase| &phrase.words).map(|word| &word[..]).collect();
    words.join(&b' ')
}

#[test]
fn the_best_of_the_scored_list_is_the_translation() {
    // The weight of the model is negative, so that long translations win.
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
    // With a weight of 0, the order is that of the search.
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
    // The search finds the same translations, which the negated weights put into reverse order.
    let line = b"the red house is big .";
    let [plain, mut own] = [false, true].map(|own| texts(&load_with(0.0, own), line));
    assert!(plain.len() > 10 && own != plain);
    own.reverse();
    assert_eq!(own, plain);
    let line = b"the old house";
    assert_eq!(texts(&load_with(0.5, true), line), texts(&load_with(0.5, false), line));
}

/// Added translations have the values of the search's best translation, except for the number of
/// words and the language model.
#[test]
fn translations_of_models_enter_the_list() {
    for own in [false, true] {
        let system = load_adding(0.75, own, 2);
        let weights = system.weights();
        let names: Vec<&str> = system.features().iter().map(|f| &f.name[..]).collect();
        assert_eq!(names[names.len() - 2..], ["Short", "ShortCandidate"]);
        let at = |name: &str| {
            let features = system.features().iter();
            features.clone().find(|feature| feature.name == name).unwrap().range.start
        };
        let (words, lm, mark) = (at("WordPenalty0"), at("LM0"), at("ShortCandidate"));
        let mut translator = Translator::new(&system);
        let wanted = DetailOptions { n_best: 99, distinct: true, ..DetailOptions::default() };
        let line = b"the red house is big .";
        let found = translator.translate_in_detail(line, wanted).unwrap();
        let by_search = {
            let plain = load(0.0);
            Translator::new(&plain).translate_in_detail(line, wanted).unwrap().n_best[0].clone()
        };
        let mut added = Vec::new();
        for entry in &found.n_best {
            let sum: f32 = entry.values.iter().zip(&weights).map(|(v, w)| v * w).sum();
            assert!((sum - entry.score).abs() < 1e-3, "{sum} {}", entry.score);
            if entry.values[mark] == 0.0 {
                continue;
            }
            let [phrase] = &entry.phrases[..] else { panic!("{entry:?}") };
            assert_eq!((phrase.source.start, phrase.source.end), (0, 6));
            let text = text(&entry.phrases);
            assert_eq!(entry.values[words], -(phrase.words.len() as f32));
            let model = &*system.models.language_models[0].model;
            let log10 = miriam_lmcpu::line_scoring::score_sentence(
                model,
                &text,
                miriam_lmcpu::line_scoring::SentenceMarkers::BOTH,
            );
            assert!((entry.values[lm] - log10 * std::f32::consts::LN_10).abs() < 1e-3);
            assert_eq!(entry.values[mark - 1], -(text.len() as f32));
            for (component, value) in by_search.values[..mark - 1].iter().enumerate() {
                let is_known = component == words || component == lm;
                assert!(is_known || entry.values[component] == *value, "{component}");
            }
            added.push(text);
        }
        added.sort();
        assert_eq!(added, [&b"la casa"[..], b"zzz"]);
        assert!(found.n_best.is_sorted_by(|a, b| a.score >= b.score));
        // Added translations win, because they are short: `la casa`, whose words the language model
        // knows, before `zzz`. All forms of output agree.
        let best = found.best.unwrap();
        if !own {
            assert_eq!(text(&best.phrases), b"la casa");
        }
        assert_eq!(best.phrases, found.n_best[0].phrases);
        assert_eq!(translator.translate(line).unwrap(), Some(best.clone()));
        let mut printed = Vec::new();
        translator.translate_line(line, &mut printed).unwrap();
        assert_eq!(printed.trim_ascii_end(), text(&best.phrases));
        assert!(translator.take_line_errors().is_empty());
        // What the model cannot translate stays as the search left it.
        let line = b"a red house is big .";
        let found = translator.translate_in_detail(line, wanted).unwrap();
        let errors = translator.take_line_errors();
        assert!(errors[0].reason.contains("it is too long"), "{errors:?}");
        assert!(found.n_best.iter().all(|entry| entry.values[mark] == 0.0));
    }
}

/// A model whose translator cannot be created at the first attempt.
struct LateTranslator(AtomicBool);

impl FeatureModel for LateTranslator {
    fn scorer(&self) -> Result<Box<dyn FeatureScorer + '_>, String> {
        Shortness.scorer()
    }

    fn translator(&self) -> Result<Option<Box<dyn CandidateTranslator + '_>>, String> {
        if self.0.swap(true, Ordering::Relaxed) {
            return Shortness.translator();
        }
        Err("no memory".into())
    }
}

#[test]
fn a_model_that_failed_to_start_is_asked_again() {
    let configuration = configuration_adding(-0.75, false, 6);
    let open = |_: &RescoringModel, _: &Configuration| {
        Ok(Box::new(LateTranslator(AtomicBool::new(false))) as Box<dyn FeatureModel>)
    };
    let system = System::load_with(&configuration, &open, &miriam_textio::NoProgress).unwrap();
    let mut translator = Translator::new(&system);
    let line = b"the red house is big .";
    let error = translator.translate(line).unwrap_err().to_string();
    assert!(error.contains("no memory"), "{error}");
    let expected = Translator::new(&load_adding(-0.75, false, 6)).translate(line).unwrap();
    assert_eq!(translator.translate(line).unwrap(), expected);
    assert!(translator.take_line_errors().is_empty());
}

#[test]
fn systems_that_cannot_take_translations_of_models_say_so() {
    let ini = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy/moses.ini");
    let options = ["-f", ini.to_str().unwrap(), "-xml-input", "exclusive"];
    let mut configuration = Configuration::from_command_line(&options.map(str::to_owned)).unwrap();
    configuration.rescoring.push(RescoringModel {
        name: "Short".into(),
        path: "short".into(),
        kind: RescoringModelKind::Neural(NeuralModelSpec {
            candidates: 1,
            ..NeuralModelSpec::default()
        }),
        weight: 1.0,
        candidate_weight: 0.0,
    });
    let open =
        |_: &RescoringModel, _: &Configuration| Ok(Box::new(Shortness) as Box<dyn FeatureModel>);
    let refused = System::load_with(&configuration, &open, &miriam_textio::NoProgress);
    let error = refused.err().unwrap().to_string();
    assert!(error.contains("[rescore]") && error.contains("markup"), "{error}");
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
    // A line without words, and a line that is translated in parts.
    assert_eq!(text(&translator.translate(b"").unwrap().unwrap().phrases), b"");
    let long = b"the house . ".repeat(crate::MAX_SENTENCE_WORDS / 3 + 1);
    let wanted = DetailOptions { n_best: 3, distinct: true, ..DetailOptions::default() };
    let mut narrow = configuration_adding(0.75, false, 0);
    (narrow.settings.pop_limit, narrow.settings.stack_size) = (20, 20);
    let narrow = load_configuration(&narrow);
    let found = Translator::new(&narrow).translate_in_detail(&long, wanted).unwrap();
    let entry = &found.n_best[0];
    assert_eq!(found.n_best.len(), 1);
    let sum: f32 =
        entry.values.iter().zip(narrow.weights()).map(|(value, weight)| value * weight).sum();
    assert!((sum - entry.score).abs() < sum.abs() * 1e-4, "{sum} {}", entry.score);
}
