//! Every kind of neural model through every interface: lines given to the command line, requests of
//! a server, and texts of the pool behind the Python package give the same bytes. The command line
//! and the server also give the same scores.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use miriam_nmt::ModelBundle;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::translate::pool::{BatchLimits, TextFormat, TranslatorPool};
use miriam_nmt::translate::{TranslationOptions, Translator};
use miriam_textproc::SentenceSplitter;
use serde_json::{Value, json};

use super::client::Server;
use super::output;
use crate::common::{miriam, project_root};

/// A model of `nmt/testdata`, with its vocabulary if that is in another place, and the languages
/// that it is given.
struct TestModel {
    name: &'static str,
    vocabulary: Option<&'static str>,
    languages: Option<[&'static str; 2]>,
}

const fn model(name: &'static str) -> TestModel {
    TestModel { name, vocabulary: None, languages: None }
}

const fn multilingual(name: &'static str, languages: [&'static str; 2]) -> TestModel {
    TestModel { name, vocabulary: None, languages: Some(languages) }
}

const fn with_vocabulary(name: &'static str, vocabulary: &'static str) -> TestModel {
    TestModel { name, vocabulary: Some(vocabulary), languages: None }
}

const MODELS: [TestModel; 26] = [
    model("argos.argosmodel"),
    model("argos-bpe.argosmodel"),
    model("complete.miriam"),
    model("relative.miriam"),
    multilingual("opus-mt.zip", ["", "xyz"]),
    model("ct2-bart"),
    model("ct2-base"),
    model("ct2-base-v1"),
    model("ct2-relative"),
    model("ct2-t5"),
    multilingual("hf-m2m100", ["en", "de"]),
    multilingual("hf-madlad", ["", "en"]),
    multilingual("hf-mbart50", ["en", "de"]),
    multilingual("hf-nllb", ["en", "es"]),
    model("hf-t5"),
    model("tiny-ct2"),
    model("tiny-ct2-float16"),
    model("tiny-ct2-int16"),
    model("tiny-ct2-int8"),
    model("tiny-hf"),
    with_vocabulary("stacked-gru.npz", "tiny.vocab.yml"),
    with_vocabulary("stacked-none.npz", "tiny.vocab.yml"),
    with_vocabulary("stacked-tanh.npz", "tiny.vocab.yml"),
    with_vocabulary("tiny.npz", "tiny.vocab.yml"),
    with_vocabulary("tiny-deflated.npz", "tiny.vocab.yml"),
    with_vocabulary("tiny.miriam", "tiny.vocab.yml"),
];

fn testdata(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

/// Returns up to four of the sources for which the results of this model are recorded, and lines
/// that are the same for all models.
fn lines(name: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let expected = std::fs::read_to_string(testdata(name).join("expected.tsv"));
    for line in expected.unwrap_or_default().lines() {
        let source = line.split('\t').next().unwrap().trim_end_matches(" </s>").to_owned();
        if !lines.contains(&source) && lines.len() < 4 {
            lines.push(source);
        }
    }
    for line in ["", "the house is red.", "b c a d e", "w1 s3 none Ünknown 東京", " two  spaces "]
    {
        lines.push(line.to_owned());
    }
    lines
}

/// A text of sentences, and a page.
const RUNNING: &str = "ace add. Bcd c dd!\n\nAc c cdacb?  e 1234";
const PAGE: &str = "<p>ace <b>add</b>. Bcd &amp; c</p><ul><li>ac c</li></ul>";

impl TestModel {
    fn options(&self) -> Vec<String> {
        let mut options = vec!["-m".to_owned(), testdata(self.name).display().to_string()];
        if let Some(words) = self.vocabulary {
            options.extend(["--vocabs".to_owned(), testdata(words).display().to_string()]);
        }
        if let Some([from, to]) = self.languages {
            let all = [("--from", from), ("--to", to)];
            let given = all.into_iter().filter(|(_, code)| !code.is_empty());
            options.extend(given.flat_map(|(name, code)| [name.to_owned(), code.to_owned()]));
        }
        options.extend(["--quiet", "--no-tuner-file", "--cpu-threads", "1"].map(str::to_owned));
        options
    }

    /// Returns what `miriam nmt translate` prints.
    fn printed(&self, options: &[&str], lines: &[String]) -> Vec<String> {
        let mut command = miriam();
        output(command.args(["nmt", "translate"]).args(self.options()).args(options), lines)
    }

    /// Returns what `miriam nmt score` prints for pairs of lines.
    fn scored(&self, sources: &[String], targets: &[String]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, lines: &[String]| {
            let path = folder.path().join(name);
            std::fs::write(&path, lines.join("\n") + "\n").unwrap();
            path
        };
        let (source, target) = (file("source", sources), file("target", targets));
        let mut command = miriam();
        command.args(["nmt", "score", "--source"]).arg(source).arg("--target").arg(target);
        output(command.args(self.options()), &[])
    }

    /// Returns the table of the model in the configuration of a server.
    fn table(&self) -> String {
        let mut table =
            format!("[[model]]\nname = {:?}\npath = {:?}\n", self.name, testdata(self.name));
        if let Some(words) = self.vocabulary {
            table += &format!("vocabs = [{:?}]\n", testdata(words));
        }
        if let Some([from, to]) = self.languages {
            let from = if from.is_empty() { "fr" } else { from };
            table += &format!("from = [{from:?}]\nto = [{to:?}]\n");
        }
        table
    }

    /// Returns a pool as behind the Python package, and its translator for the languages.
    fn pool(&self) -> (TranslatorPool, Translator) {
        let words = self.vocabulary.map(testdata);
        let words = words.as_ref().map(|words| [words.as_path(); 2]);
        let bundle = ModelBundle::open(&testdata(self.name), words).unwrap();
        let options = TranslationOptions::for_bundle(&bundle, None);
        let tuner = Arc::new(Autotuner::new(Cpu::detect()));
        let translator = Arc::new(Translator::new(bundle, options, &tuner).unwrap());
        let own = match self.languages {
            None => (*translator).clone(),
            Some([from, to]) => {
                let from = Some(from).filter(|from| !from.is_empty());
                let tokens = translator.languages().unwrap().pair_tokens(from, Some(to)).unwrap();
                translator.for_languages(tokens).unwrap()
            }
        };
        (TranslatorPool::new(translator, 1, usize::MAX), own)
    }
}

/// Returns the translations of a pool.
fn pooled(
    pool: &(TranslatorPool, Translator),
    format: TextFormat,
    texts: &[String],
) -> Vec<String> {
    let (pool, translator) = pool;
    let splitter = SentenceSplitter::new("en");
    let batch = translator.cut_texts(texts.iter().map(String::as_bytes), format, &splitter);
    let task = translator.text_task(None, format, BatchLimits::from_ctranslate2(0, false));
    let pending = pool.translate(task, batch.requests(), None);
    let wait = Duration::from_secs(60);
    assert!(pending.wait_all(wait));
    let count = batch.requests().len();
    let found: Vec<_> = (0..count).map(|at| pending.wait(at, wait).unwrap().unwrap()).collect();
    let texts = translator.join_texts(&batch, &found).unwrap();
    texts.into_iter().map(|text| String::from_utf8_lossy(&text).into_owned()).collect()
}

/// Returns the texts of a response of `/v1/translate`.
fn served(server: &Server, body: &Value) -> Vec<String> {
    let found = server.post_json("/v1/translate", body);
    assert_eq!(found.status, 200, "{body}: {}", found.text());
    let results = found.json()["results"].as_array().unwrap().clone();
    let text = |result: &Value| {
        let whole = &result["text"];
        let text = if whole.is_null() { &result["translations"][0]["text"] } else { whole };
        text.as_str().unwrap().to_owned()
    };
    results.iter().map(text).collect()
}

#[test]
fn every_interface_gives_the_same_bytes_with_every_model() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    let tables: BTreeMap<&str, String> =
        MODELS.iter().map(|model| (model.name, model.table())).collect();
    std::fs::write(&config, tables.into_values().collect::<String>()).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let mut num_scores = 0;
    for model in &MODELS {
        let name = model.name;
        let texts = lines(name);
        let expected = model.printed(&[], &texts);
        let body = json!({"text": texts, "model": name, "raw": false});
        assert_eq!(served(&server, &body), expected, "{name}");
        // Empty lines are left out: some models add no `</s>`, so an empty line has no tokens and
        // cannot be scored.
        let is_empty = |text: &String| text.trim().is_empty();
        let pairs = texts.iter().cloned().zip(expected.iter().cloned());
        let (sources, targets): (Vec<String>, Vec<String>) =
            pairs.filter(|(source, target)| !is_empty(source) && !is_empty(target)).unzip();
        // A model that writes nothing for these texts leaves nothing to score.
        let scores = if sources.is_empty() { Vec::new() } else { model.scored(&sources, &targets) };
        num_scores += scores.len();
        let body = json!({"source": sources, "target": targets, "model": name});
        let found = server.post_json("/v1/score", &body);
        assert_eq!(found.status, 200, "{name}: {}", found.text());
        let results = found.json()["results"].as_array().unwrap().clone();
        let score = |result: &Value| {
            let score = result["log_probability"].as_f64()? as f32;
            Some(format!("{score:.6}"))
        };
        assert_eq!(results.iter().filter_map(score).collect::<Vec<_>>(), scores, "{name}");
        let pool = model.pool();
        assert_eq!(pooled(&pool, TextFormat::Sentence, &texts), expected, "{name}");
        for (option, field, format, text) in [
            ("--split", "split", TextFormat::Running, RUNNING),
            ("--html", "html", TextFormat::Html, PAGE),
        ] {
            let expected = model.printed(&[option], &[text.to_owned()]).join("\n");
            let kind = if field == "html" { "html" } else { "text" };
            let body = json!({"text": text, "model": name, "split": true, "format": kind});
            assert_eq!(served(&server, &body), [&expected[..]], "{name} {option}");
            let found = pooled(&pool, format, &[text.to_owned()]);
            assert_eq!(found, [&expected[..]], "{name} {option}");
        }
    }
    assert!(num_scores > 60, "{num_scores}");
}
