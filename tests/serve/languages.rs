//! Languages of multilingual models: what a client of any protocol gets for a pair is what `miriam
//! nmt translate --from --to` prints, and a model does not open with languages that it does not
//! support.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::client::Server;
use super::output;
use super::same_bytes::{Connection, Pair, Protocol};
use crate::common::{lossy_text, miriam, project_root, run};
use crate::nmt_packages::write_pieces_package;

/// A multilingual model of the test data, and languages that it knows.
struct Multilingual {
    folder: &'static str,
    from: [&'static str; 2],
    to: [&'static str; 2],
    /// Whether the model is also given the language of the source.
    is_told_source: bool,
}

const MODELS: [Multilingual; 5] = [
    Multilingual { folder: "hf-nllb", from: ["en", "de"], to: ["es", "zh"], is_told_source: true },
    Multilingual {
        folder: "hf-m2m100",
        from: ["en", "fr"],
        to: ["de", "zh"],
        is_told_source: true,
    },
    Multilingual {
        folder: "hf-mbart50",
        from: ["en", "ro"],
        to: ["de", "ar"],
        is_told_source: true,
    },
    Multilingual {
        folder: "hf-madlad",
        from: ["fr", "de"],
        to: ["en", "es"],
        is_told_source: false,
    },
    // A package of OPUS-MT with tags for two languages.
    Multilingual { folder: "opus", from: ["en", "de"], to: ["fr", "es"], is_told_source: false },
];

/// Returns texts in the letters of the test models.
fn texts() -> Vec<String> {
    let texts = ["add ade ace cbaea", "ceeb ebcc eabe cdbc", "cbd eea", "dbead aaa bddb d", "b a"];
    texts.map(str::to_owned).to_vec()
}

/// Writes a package of OPUS-MT whose vocabulary has the tags `>>fra<<` and `>>spa<<`.
fn write_opus_package(folder: &Path) -> PathBuf {
    let package = folder.join("opus");
    std::fs::create_dir(&package).unwrap();
    write_pieces_package(&package);
    let vocabulary = package.join("opus.spm32k-spm32k.vocab.yml");
    let text = std::fs::read_to_string(&vocabulary).unwrap();
    let tagged = text.replace("\">>xyz<<\"", "\">>fra<<\"").replace("\"x20\"", "\">>spa<<\"");
    assert!(tagged.contains("fra") && tagged.contains("spa"), "{text}");
    std::fs::write(&vocabulary, tagged).unwrap();
    package
}

impl Multilingual {
    /// Returns the paths of the model and of a file in Miriam's format that is made from it. A
    /// model that is not test data is written to `folder`.
    fn open(&self, folder: &Path) -> [PathBuf; 2] {
        let model = match self.folder {
            "opus" => write_opus_package(folder),
            name => project_root().join("nmt/testdata").join(name),
        };
        let ours = folder.join(format!("{}.miriam", self.folder));
        run(miriam().args(["nmt", "convert", "--quiet"]).arg(&model).arg("-o").arg(&ours));
        [model, ours]
    }

    /// Returns the options of the command line for a pair.
    fn options<'a>(&self, [from, to]: Pair<'a>) -> Vec<&'a str> {
        if self.is_told_source { vec!["--from", from, "--to", to] } else { vec!["--to", to] }
    }

    fn pairs(&self) -> [Pair<'static>; 4] {
        let ([one, other], [first, second]) = (self.from, self.to);
        [[one, first], [other, second], [one, second], [other, first]]
    }

    /// Returns the table of the model in a configuration.
    fn table(&self, name: &str, path: &Path) -> String {
        let Multilingual { from, to, .. } = self;
        format!("[[model]]\nname = {name:?}\npath = {path:?}\nfrom = {from:?}\nto = {to:?}\n")
    }
}

/// Returns what the command line prints for the texts with a model.
fn printed(model: &Path, options: &[&str]) -> Vec<String> {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "-m"]).arg(model);
    output(command.args(options), &texts())
}

/// Runs `serve --check` on a configuration; returns whether it succeeds, and both outputs.
fn check(text: &str) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, text).unwrap();
    let mut command = miriam();
    let checked = command.args(["serve", "--check", "--config"]).arg(config).output().unwrap();
    let output = lossy_text(&checked.stdout) + &lossy_text(&checked.stderr);
    (checked.status.success(), output)
}

#[test]
fn every_protocol_translates_the_pair_that_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    for model in MODELS {
        for path in model.open(folder.path()) {
            let config = folder.path().join("serve.toml");
            std::fs::write(&config, model.table("m", &path)).unwrap();
            let server = Server::start(&["--config", config.to_str().unwrap()]);
            let mut distinct = std::collections::BTreeSet::new();
            for pair in model.pairs() {
                let expected = printed(&path, &model.options(pair));
                for protocol in Protocol::ALL {
                    let mut connection = Connection::open(&server, protocol, pair);
                    for (text, expected) in texts().iter().zip(&expected) {
                        let found = connection.translate(protocol, pair, text);
                        let what = format!("{} {protocol:?} {pair:?}: {text}", path.display());
                        assert_eq!(found, expected.trim_end(), "{what}");
                    }
                }
                // Translations of a small model may be the same; their scores are not.
                let body = json!({"text": texts()[0], "from": pair[0], "to": pair[1]});
                let found = server.post_json("/v1/translate", &body).json();
                distinct.insert(found["results"][0]["translations"][0]["score"].to_string());
            }
            // The languages make a difference, so that a wrong one is found.
            let count = if model.is_told_source { 4 } else { 2 };
            assert_eq!(distinct.len(), count, "{}: {distinct:?}", path.display());
        }
    }
}

#[test]
fn pairs_that_are_asked_for_at_once_do_not_mix() {
    let folder = tempfile::tempdir().unwrap();
    let model = &MODELS[0];
    let [path, _] = model.open(folder.path());
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, model.table("m", &path)).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let pairs = model.pairs();
    let expected = pairs.map(|pair| printed(&path, &model.options(pair)));
    std::thread::scope(|scope| {
        for (client, (pair, expected)) in pairs.iter().zip(&expected).cycle().take(16).enumerate() {
            let server = &server;
            let protocol = [Protocol::V1, Protocol::Libre, Protocol::XmlRpc][client % 3];
            scope.spawn(move || {
                let mut connection = Connection::open(server, protocol, *pair);
                for (text, expected) in texts().iter().zip(expected).cycle().take(40) {
                    let found = connection.translate(protocol, *pair, text);
                    assert_eq!(found, expected.trim_end(), "{protocol:?} {pair:?}: {text}");
                }
            });
        }
    });
}

/// Models that spell a language differently form one route, and each is given its own spelling.
#[test]
fn a_route_goes_through_models_with_other_spellings() {
    let folder = tempfile::tempdir().unwrap();
    let path = project_root().join("nmt/testdata/hf-nllb");
    let text = format!(
        "pivot = \"en\"\n[[model]]\nname = \"one\"\npath = {path:?}\nfrom = [\"de\", \"es\"]\n\
         to = [\"en\"]\n[[model]]\nname = \"two\"\npath = {path:?}\n\
         from = [\"eng_Latn\", \"ace_Arab\"]\nto = [\"zho_Hans\", \"spa_Latn\"]\n"
    );
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let model = path.to_str().unwrap();
    for (from, to, options) in [
        ("deu", "zh", &["--from", "de", "--then", model, "--via", "en", "--to", "zh"][..]),
        ("en", "es", &["--from", "en", "--to", "es"]),
    ] {
        let expected = printed(&path, options);
        for (text, expected) in texts().iter().zip(&expected) {
            let body = json!({"text": text, "from": from, "to": to});
            let found = server.post_json("/v1/translate", &body);
            assert_eq!(found.status, 200, "{from} {to}: {}", found.text());
            let found = found.json()["results"][0]["translations"][0]["text"].clone();
            assert_eq!(found, expected.trim_end(), "{from} {to}: {text}");
        }
    }
}

/// A language without a region is the region of a model that has the pair, and not always that of
/// the first model.
#[test]
fn regions_are_chosen_for_each_pair() {
    let ini = project_root().join("examples/toy/moses.ini");
    let models = ["a,en,pt-PT", "b,fr,pt-BR", "c,pt-PT,it", "d,pt-BR,sv", "e,fr,de", "f,fr,de-AT"];
    let mut options = vec!["--pivot".to_owned(), "pt".to_owned()];
    for model in models {
        let [name, from, to] = <[&str; 3]>::try_from(model.split(',').collect::<Vec<_>>()).unwrap();
        options.push("--model".into());
        options.push(format!("{name}={},from={from},to={to}", ini.display()));
    }
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let server = Server::start(&options);
    for (from, to, expected) in [
        ("en", "pt", "a@"),
        ("fr", "pt", "b@"),
        ("fra", "PT_br", "b@"),
        ("pt", "it", "c@"),
        ("pt", "sv", "d@"),
        ("fr", "de", "e@"),
        ("fr", "de-AT", "f@"),
        ("fr", "sv", "b@"),
    ] {
        let body = json!({"text": "the house", "from": from, "to": to});
        let found = server.post_json("/v1/translate", &body).json();
        let model = found["model"].as_str().unwrap_or_else(|| panic!("{from} {to}: {found}"));
        assert!(model.starts_with(expected), "{from} {to}: {model}");
    }
    // The message has the codes of the request.
    let body = json!({"q": "x", "source": "sv", "target": "pt"});
    assert_eq!(
        server.post_json("/translate", &body).json()["error"],
        "Portuguese (pt) is not available as a target language from Swedish (sv)"
    );
}

#[test]
fn a_pivot_translates_each_step_between_its_own_languages() {
    let folder = tempfile::tempdir().unwrap();
    let path = project_root().join("nmt/testdata/hf-nllb");
    let text = format!(
        "pivot = \"en\"\n[[model]]\nname = \"one\"\npath = {path:?}\nfrom = [\"de\", \"es\"]\n\
         to = [\"en\"]\n[[model]]\nname = \"two\"\npath = {path:?}\nfrom = [\"en\"]\n\
         to = [\"zh\", \"es\"]\n"
    );
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    for [from, to] in [["de", "es"], ["de", "zh"], ["es", "zh"]] {
        let model = path.to_str().unwrap();
        let options = ["--from", from, "--then", model, "--via", "en", "--to", to];
        let expected = printed(&path, &options);
        for protocol in Protocol::ALL {
            let mut connection = Connection::open(&server, protocol, [from, to]);
            for (text, expected) in texts().iter().zip(&expected) {
                let found = connection.translate(protocol, [from, to], text);
                assert_eq!(found, expected.trim_end(), "{protocol:?} {from} {to}: {text}");
            }
        }
    }
    let body = json!({"text": "cbd eea", "from": "de", "to": "zh"});
    let told = server.post_json("/v1/translate", &body).json()["languages"].clone();
    let expected = json!([
        {"model": "one", "from": "deu_Latn", "to": "eng_Latn"},
        {"model": "two", "from": "eng_Latn", "to": "zho_Hans"},
    ]);
    assert_eq!(told, expected);
}

#[test]
fn scores_are_those_of_the_pair() {
    let folder = tempfile::tempdir().unwrap();
    let path = project_root().join("nmt/testdata/hf-nllb");
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, MODELS[0].table("m", &path)).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let [source, target] = ["source", "target"].map(|name| folder.path().join(name));
    std::fs::write(&source, "cbd eea\nade\n").unwrap();
    std::fs::write(&target, "bee\ncda bee\n").unwrap();
    let mut seen = Vec::new();
    for [from, to] in MODELS[0].pairs() {
        let mut command = miriam();
        command.args(["nmt", "score", "--quiet", "--no-tuner-file", "-m"]).arg(&path);
        command.args(["--from", from, "--to", to, "--source"]).arg(&source);
        command.arg("--target").arg(&target);
        let printed = lossy_text(&run(&mut command));
        let body = json!({
            "source": ["cbd eea", "ade"], "target": ["bee", "cda bee"], "from": from, "to": to,
        });
        let found = server.post_json("/v1/score", &body).json();
        for (line, printed) in printed.lines().enumerate() {
            let score = found["results"][line]["log_probability"].as_f64().unwrap();
            let printed: f64 = printed.parse().unwrap();
            assert!((score - printed).abs() < 1e-4, "{from} {to}: {score} {printed}");
        }
        seen.push(printed);
    }
    seen.dedup();
    assert!(seen.len() >= 3, "{seen:?}");
}

#[test]
fn a_language_that_a_request_leaves_open_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let nllb = project_root().join("nmt/testdata/hf-nllb");
    let madlad = project_root().join("nmt/testdata/hf-madlad");
    let text = format!(
        "{}{}[[model]]\nname = \"tags\"\npath = {madlad:?}\n",
        MODELS[0].table("nllb", &nllb),
        MODELS[3].table("madlad", &madlad)
    );
    let config = folder.path().join("serve.toml");
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let ask = |body: serde_json::Value| server.post_json("/v1/translate", &body);
    for (body, part) in [
        (json!({"text": "cbd"}), "name the source language, one of: en de"),
        (json!({"text": "cbd", "from": "en"}), "name the target language, one of: es zh"),
        (json!({"text": "cbd", "model": "nllb", "to": "es"}), "name the source language"),
        (json!({"text": "cbd", "model": "madlad"}), "name the target language, one of: en es"),
        (json!({"text": ["<2es> a", "cbd"], "model": "tags"}), "begin each text with the tag"),
    ] {
        let found = ask(body.clone());
        assert_eq!(found.status, 400, "{body}: {}", found.text());
        assert!(found.text().contains(part), "{body}: {}", found.text());
    }
    // A text may begin with its own tag.
    for model in ["tags", "madlad"] {
        let found = ask(json!({"text": "<2es> cbd eea", "model": model})).json();
        let expected = printed(&madlad, &["--to", "es"]);
        let expected = expected[2].trim_end();
        assert_eq!(found["results"][0]["translations"][0]["text"], expected, "{model}");
    }
}

#[test]
fn a_model_that_cannot_be_told_its_languages_does_not_open() {
    let data = |name: &str| project_root().join("nmt/testdata").join(name);
    let toy = project_root().join("examples/toy-neural/decoder.yml");
    let table = |path: &Path, more: &str| {
        check(&format!("[[model]]\nname = \"m\"\npath = {path:?}\n{more}\n"))
    };
    let folder = tempfile::tempdir().unwrap();
    let opus = write_opus_package(folder.path());
    for (path, more, part) in [
        (&data("hf-nllb"), "", "the model is multilingual; give from and to"),
        (&data("hf-nllb"), "from = [\"en\"]", "give to"),
        (&data("hf-nllb"), "from = [\"en\"]\nto = [\"es\", \"xx\"]", "to: \"xx\""),
        (&data("hf-nllb"), "from = [\"xx\"]\nto = [\"es\"]", "from: \"xx\""),
        (&data("hf-m2m100"), "to = [\"es\"]", "give from"),
        (&data("hf-mbart50"), "", "give from and to"),
        (&data("hf-madlad"), "to = [\"de\"]", "to: \"de\""),
        (&opus, "to = [\"fr\", \"de\"]", "to: \"de\""),
        (&opus, "to = [\"fr\", \"es\"]\nprefix-token = \">>fra<<\"", "prefix-token"),
        (&opus, "prefix-token = \">>deu<<\"", "prefix-token >>deu<<: the vocabulary lacks it"),
        (&toy, "from = [\"en\"]\nto = [\"es\", \"fr\"]", "to has 2 languages"),
    ] {
        let (opens, message) = table(path, more);
        assert!(!opens, "{}: {more}", path.display());
        assert!(message.contains(part), "{}: {more}: {message}", path.display());
    }
    for (path, more, part) in [
        (
            &data("hf-nllb"),
            "from = [\"en\", \"de\"]\nto = [\"es\"]",
            "languages: en=eng_Latn de=deu_Latn to es=spa_Latn",
        ),
        (&data("hf-madlad"), "from = [\"de\"]\nto = [\"en\"]", "languages: de to en=en"),
        (&opus, "", "named by a tag at the beginning of each text, of: fra spa"),
        (&opus, "to = [\"fr\"]\nprefix-token = \">>fra<<\"", "ok"),
        (
            &toy,
            "from = [\"en\", \"de\"]\nto = [\"es\"]",
            "languages: en de to es, which the model does not name",
        ),
    ] {
        let (opens, message) = table(path, more);
        assert!(opens && message.contains(part), "{}: {more}: {message}", path.display());
    }
}
