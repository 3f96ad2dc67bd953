//! Tests of models: panics, deadlines, keys without effect, and files that change.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use miriam_nmt::engine::{Autotuner, Cpu};

use super::*;
use crate::config::Configuration;
use crate::engine::{Failure, Reply};
use crate::metrics::{ModelMetrics, Outcome};
use crate::refusal::RouteError;

fn open(path: &str) -> Model {
    open_counted(path).0
}

/// Opens a model, and returns it with its measurements.
fn open_counted(path: &str) -> (Model, Arc<ModelMetrics>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(path);
    let configuration =
        ModelConfiguration { name: "toy".into(), path, ..ModelConfiguration::default() };
    let opener = Opener {
        engine: Engine::new(1, 1 << 20),
        metrics: Arc::default(),
        tuner: Arc::new(Autotuner::new(Cpu::detect())),
    };
    let model = opener.open(&configuration, 1).unwrap_or_else(|error| panic!("{error}"));
    (model, opener.metrics.model("toy"))
}

fn submit(model: &Model, texts: &[&str], options: RequestOptions) -> Pending {
    let text = |text: &&str| Sentence { text: text.as_bytes().to_vec(), ..Sentence::default() };
    let deadline = Instant::now() + Duration::from_secs(60);
    model.submit(texts.iter().map(text).collect(), options, deadline).unwrap()
}

fn best(reply: Reply) -> Vec<Vec<u8>> {
    let best = |result: crate::engine::SentenceResult| result.translations[0].text.clone();
    reply.outcome.unwrap().into_iter().map(best).collect()
}

#[test]
fn a_panic_fails_only_the_request_of_its_sentence() {
    for path in ["toy/moses.ini", "toy-neural/decoder.yml"] {
        let model = open(path);
        let text = ["the red house is big .", "the small dog reads ."];
        let options = RequestOptions::default();
        let expected = best(submit(&model, &text, options).blocking_reply());
        assert!(expected.iter().all(|text| !text.is_empty()));
        // All sentences are in one batch of the neural model, because there is one worker.
        let before = submit(&model, &text, options);
        let bad = submit(&model, &["panic in a test", "the house"], options);
        let after = submit(&model, &text, options);
        assert_eq!(bad.blocking_reply().outcome.unwrap_err(), Failure::Panicked, "{path}");
        assert_eq!(best(before.blocking_reply()), expected, "{path}");
        assert_eq!(best(after.blocking_reply()), expected, "{path}");
    }
}

#[test]
fn a_deadline_narrows_phrase_search_and_ends_neural_search() {
    let past = Instant::now();
    let texts = || {
        let text = b"the red house is big .".to_vec();
        vec![Sentence { text, ..Sentence::default() }]
    };
    let reply = |path: &str| {
        open(path).submit(texts(), RequestOptions::default(), past).unwrap().blocking_reply()
    };
    let phrase = reply("toy/moses.ini").outcome.unwrap();
    assert!(!phrase[0].translations[0].text.is_empty());
    assert!(phrase[0].errors.len() <= 1);
    assert_eq!(reply("toy-neural/decoder.yml").outcome.unwrap_err(), Failure::Deadline);
}

#[test]
fn sentences_that_fail_are_counted() {
    let (model, metrics) = open_counted("toy-neural/decoder.yml");
    let text = || vec![Sentence { text: b"the house".to_vec(), ..Sentence::default() }];
    let given = RequestOptions { given: true, ..RequestOptions::default() };
    let late = model.submit(text(), given, Instant::now()).unwrap().blocking_reply();
    assert_eq!(
        (late.outcome.unwrap_err(), metrics.count(Outcome::Timeout)),
        (Failure::Deadline, 1)
    );
    let longer = RequestOptions { n_best: 1000, ..RequestOptions::default() };
    let refused = submit(&model, &["the house"], longer).blocking_reply().outcome.unwrap_err();
    assert!(matches!(refused, Failure::Refused(_)), "{refused:?}");
    assert_eq!(metrics.count(Outcome::Error), 1);
}

#[test]
fn lists_are_as_long_as_those_of_the_command_line() {
    let model = open("toy-neural/decoder.yml");
    let beam = model.beam_size.unwrap();
    assert_eq!([0, beam, 99].map(|n_best| model.limit_n_best(n_best)), [0, beam, beam]);
    let limit = |settings| model.search_with(&settings).unwrap().n_best_limit();
    let wide = DecodingSettings { beam_size: Some(9), ..DecodingSettings::default() };
    assert_eq!(limit(wide), Some(9));
    let mut samples = DecodingSettings::default();
    samples.set("sampling-temperature", "2").unwrap();
    assert_eq!(limit(samples), None);
    assert_eq!(open("toy/moses.ini").limit_n_best(99), 99);
}

#[test]
fn keys_that_have_no_effect_are_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/toy/moses.ini");
    let name = "toy".to_owned();
    let mut beam = ModelConfiguration { name, path, ..ModelConfiguration::default() };
    beam.decoding.beam_size = Some(3);
    let error = check_keys(&beam, ModelKind::Phrase).unwrap_err().to_string();
    assert_eq!(error, "model toy: beam-size has no effect on a model of the kind phrase");
}

/// A model of `[rescore]` may be a folder; writing a file in it again counts as a change.
#[test]
fn files_in_folders_of_rescoring_models_are_watched() {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let neural = folder.path().join("neural");
    std::fs::create_dir(&neural).unwrap();
    for entry in examples.join("toy-neural").read_dir().unwrap() {
        let entry = entry.unwrap();
        std::fs::copy(entry.path(), neural.join(entry.file_name())).unwrap();
    }
    let toy = examples.join("toy").canonicalize().unwrap();
    let text = std::fs::read_to_string(toy.join("moses.ini")).unwrap();
    let text = text.replace("path=", &format!("path={}/", toy.display()));
    let line = "[rescore]\nNeuralModel path=neural\n[weight]\nNeural0= 0.5\n";
    let ini = folder.path().join("moses.ini");
    std::fs::write(&ini, text.replace("[weight]\n", line)).unwrap();
    let model = open(ini.to_str().unwrap());
    assert!(model.is_current(&model.configuration));
    let settings = neural.join("decoder.yml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text + "\n# again\n").unwrap();
    assert!(!model.is_current(&model.configuration));
}

/// Positions in translations refer to the words of the source, not to its markup.
#[test]
fn sources_have_no_markup() {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let toy = examples.join("toy").canonicalize().unwrap();
    let text = std::fs::read_to_string(toy.join("moses.ini")).unwrap();
    let text = text.replace("path=", &format!("path={}/", toy.display()));
    let ini = folder.path().join("moses.ini");
    std::fs::write(&ini, text + "\n[xml-input]\nexclusive\n").unwrap();
    let model = open(ini.to_str().unwrap());
    let line = "a <x translation=\"perro grande\">dog</x> .";
    let reply = submit(&model, &[line], RequestOptions::default()).blocking_reply();
    let result = reply.outcome.unwrap().remove(0);
    // Moses2 writes a space after each phrase.
    assert_eq!(result.translations[0].text, b"un perro grande . ");
    assert_eq!(result.source, [&b"a"[..], b"dog", b"."]);
}

/// Another model could translate to another language.
#[test]
fn no_model_takes_the_place_of_one_that_is_not_open() {
    let configured = |name: &str, path: &str, to: &str, default: bool| ModelConfiguration {
        name: name.into(),
        path: path.into(),
        from: vec!["en".into()],
        to: vec![to.into()],
        default,
        ..ModelConfiguration::default()
    };
    let spanish = configured("spanish", "none.ini", "es", false);
    let mut model = open("toy/moses.ini");
    model.configuration = spanish.clone();
    let models = vec![Arc::new(model)];
    let german = |default| configured("german", "none.ini", "de", default);
    let registry = |configured: &[ModelConfiguration]| {
        let configuration =
            Configuration { models: configured.to_vec(), ..Configuration::default() };
        let loading = Vec::new();
        Registry { models: models.clone(), loading, ..Registry::loading(&configuration) }
    };
    for configured in [[german(false), spanish.clone()], [spanish.clone(), german(true)]] {
        let mut registry = registry(&configured);
        let name = |registry: &Registry, from: Option<&str>, to: Option<&str>| {
            registry.route(None, from, to).map(|route| route.models[0].name().to_owned())
        };
        let broken = Err(RouteError::Broken("german".into()));
        assert_eq!(name(&registry, None, None), broken);
        assert_eq!(name(&registry, Some("en"), None), broken);
        assert_eq!(name(&registry, None, Some("de")), broken);
        assert_eq!(name(&registry, None, Some("es")), Ok("spanish".into()));
        assert_eq!(name(&registry, Some("en"), Some("es")), Ok("spanish".into()));
        let names: Vec<_> = registry.translating_configurations().map(|one| &one.name).collect();
        assert_eq!(names.len(), 2, "numbers count all models");
        registry.loading = vec!["german".into()];
        assert_eq!(name(&registry, None, None), Err(RouteError::Loading));
    }
    let registry = registry(&[configured("lm", "none.arpa", "de", false), spanish]);
    assert!(registry.route(None, None, None).is_ok(), "language models are not chosen");
    let broken = Some(RouteError::Broken("lm".into()));
    assert_eq!(registry.language_model(None).err(), broken);
    assert_eq!(registry.language_model(Some("lm")).err(), broken);
}
