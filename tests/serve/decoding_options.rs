//! Options of decoding of a served model: an option of the configuration or of a request has the
//! effect of the same option of `miriam nmt translate`.

use std::path::PathBuf;

use serde_json::{Value, json};

use super::client::Server;
use super::{lines, output};
use crate::common::{lossy_text, miriam, project_root};
use crate::nmt_language_model::{neural_model, word_model};

/// Options as `nmt translate` takes them, and as a configuration of a server has them.
const OPTIONS: [(&[&str], &str); 22] = [
    (&["--beam-size", "2"], "beam-size = 2"),
    (&["--normalize", "0.6"], "normalize = 0.6"),
    (&["--word-penalty", "1.5"], "word-penalty = 1.5"),
    (&["--max-length-factor", "0.5"], "max-length-factor = 0.5"),
    (&["--max-decoding-length", "3"], "max-decoding-length = 3"),
    (&["--min-length", "9"], "min-length = 9"),
    (&["--coverage-penalty", "2"], "coverage-penalty = 2"),
    (&["--repetition-penalty", "3"], "repetition-penalty = 3"),
    (&["--no-repeat-ngram-size", "1"], "no-repeat-ngram-size = 1"),
    (&["--early-stop", "0.1"], "early-stop = 0.1"),
    (&["--allow-unk"], "allow-unk = true"),
    (&["--replace-unknowns"], "replace-unknowns = true"),
    (&["--patience", "3"], "patience = 3"),
    (&["--early-stopping", "false"], "early-stopping = false"),
    (&["--max-length", "3"], "max-length = 3"),
    (&["--max-length", "3", "--max-length-crop"], "max-length = 3\nmax-length-crop = true"),
    (&["--sampling-topk", "5"], "sampling-topk = 5"),
    (&["--sampling-topp", "0.9"], "sampling-topp = 0.9"),
    (&["--sampling-epsilon", "0.001"], "sampling-epsilon = 0.001"),
    (&["--sampling-temperature", "4"], "sampling-temperature = 4"),
    (&["--output-sampling", "topk", "9", "3"], "output-sampling = [\"topk\", 9, 3]"),
    (&["--sampling-temperature", "4", "--seed", "2"], "sampling-temperature = 4\nseed = 2"),
];

fn toy() -> PathBuf {
    project_root().join("examples/toy-neural")
}

/// Returns lines of the toy, and lines with words that it does not know.
fn texts() -> Vec<String> {
    let mut texts = lines(6);
    texts.push("the zebra is big .".into());
    texts.push("the house the house the house the house .".into());
    texts
}

fn printed(options: &[&str]) -> Vec<String> {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "-m"]).arg(toy());
    let lines = output(command.args(options), &texts());
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

fn translated(server: &Server, options: Value, model: &str) -> Vec<String> {
    let body = json!({"text": texts(), "model": model, "raw": false, "options": options});
    let found = server.post_json("/v1/translate", &body);
    assert_eq!(found.status, 200, "{}", found.text());
    let results = found.json()["results"].as_array().unwrap().clone();
    let text =
        |result: &Value| result["translations"][0]["text"].as_str().unwrap().trim_end().into();
    results.iter().map(text).collect()
}

/// Returns lines of the configuration as the options of a request.
fn request_options(lines: &str) -> Value {
    let option = |line: &str| {
        let (key, value) = line.split_once(" = ").unwrap();
        (key.replace('-', "_"), serde_json::from_str::<Value>(value).unwrap())
    };
    lines.lines().map(option).collect::<serde_json::Map<String, Value>>().into()
}

#[test]
fn options_of_a_model_and_of_a_request_are_those_of_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("serve.toml");
    let path = toy();
    let model = |name: &str, line: &str| {
        format!(
            "[[model]]\nname = {name:?}\npath = {path:?}\nfrom = [\"en\"]\nto = [\"es\"]\n{line}\n"
        )
    };
    let tables = OPTIONS.iter().enumerate().map(|(at, (_, line))| model(&format!("m{at}"), line));
    let tables: String = tables.collect();
    std::fs::write(&config, model("plain", "") + &tables).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let plain = printed(&[]);
    assert_eq!(translated(&server, json!({}), "plain"), plain);
    let mut changed = 0;
    for (at, (options, line)) in OPTIONS.iter().enumerate() {
        let expected = printed(options);
        assert_eq!(translated(&server, json!({}), &format!("m{at}")), expected, "{line}");
        // The maximum length of a sentence is not an option of requests.
        if !line.starts_with("max-length =") {
            assert_eq!(translated(&server, request_options(line), "plain"), expected, "{line}");
        }
        changed += usize::from(expected != plain);
    }
    // Most options make a difference even for these few lines.
    assert!(changed >= 13, "{changed}");
    // An option of a request overrides that of the model.
    let found = translated(&server, json!({"min_length": 0}), "m5");
    assert_eq!(found, plain);
    // A model that samples uses its own seed or that of a request; a request can also turn sampling
    // off.
    let at = |wanted: &str| OPTIONS.iter().position(|(_, line)| *line == wanted).unwrap();
    let model = format!("m{}", at("sampling-temperature = 4\nseed = 2"));
    let other = printed(&["--sampling-temperature", "4", "--seed", "3"]);
    assert_eq!(translated(&server, json!({"seed": 3}), &model), other);
    assert_eq!(translated(&server, json!({"output_sampling": false}), &model), plain);
    let topk = printed(&["--sampling-topk", "5", "--seed", "2", "--sampling-temperature", "4"]);
    assert_eq!(translated(&server, json!({"sampling_topk": 5}), &model), topk);
    assert_ne!(topk, other);
}

/// The samples of a sentence do not depend on other requests.
#[test]
fn samples_do_not_depend_on_other_requests() {
    let server = Server::start(&["--model", &super::toy_neural()]);
    let options = ["--sampling-temperature", "4", "--seed", "5"];
    let expected = printed(&options);
    let wanted = json!({"sampling_temperature": 4, "seed": 5});
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..3 {
                    assert_eq!(translated(&server, wanted.clone(), "neural"), expected);
                }
            });
        }
    });
    // Several samples of a sentence are not bounded by a beam.
    let body = json!({"text": "the house", "n_best": 30, "raw": false, "options": wanted});
    let found = server.post_json("/v1/translate", &body);
    assert_eq!(found.status, 200, "{}", found.text());
    let samples = found.json()["results"][0]["translations"].as_array().unwrap().len();
    assert_eq!(samples, 30);
}

#[test]
fn requests_with_other_options_do_not_share_batches() {
    let server = Server::start(&["--model", &super::toy_neural()]);
    let wanted = [json!({}), json!({"max_decoding_length": 3}), json!({"no_repeat_ngram_size": 1})];
    let expected = [
        printed(&[]),
        printed(&["--max-decoding-length", "3"]),
        printed(&["--no-repeat-ngram-size", "1"]),
    ];
    std::thread::scope(|scope| {
        for (options, expected) in wanted.iter().zip(&expected).cycle().take(12) {
            let server = &server;
            scope.spawn(move || {
                for _ in 0..3 {
                    assert_eq!(&translated(server, options.clone(), "neural"), expected);
                }
            });
        }
    });
}

#[test]
fn options_that_are_unknown_or_out_of_range_are_named() {
    let server = Server::start(&["--model", &super::toy_neural(), "--model", &super::toy()]);
    for (model, options, part) in [
        ("neural", json!({"ngrams": 2}), "unknown field `ngrams`"),
        ("neural", json!({"no-repeat-ngram-size": 2}), "unknown field `no-repeat-ngram-size`"),
        ("neural", json!({"max_length": 2}), "unknown field `max_length`"),
        ("neural", json!({"beam_size": 0}), "beam-size"),
        ("neural", json!({"repetition_penalty": -1}), "repetition-penalty"),
        ("neural", json!({"min_length": "many"}), "min-length"),
        ("neural", json!({"patience": [[], 1, 2]}), "patience"),
        ("neural", json!({"sampling_topp": 2}), "sampling-topp"),
        ("neural", json!({"output_sampling": "top 3"}), "expected full [T], topk [K [T]]"),
        ("neural", json!({"output_sampling": true, "sampling_topk": 3}), "give one of them"),
        ("neural", json!({"lm_weight": 0.5}), "there is none"),
        ("toy", json!({"min_length": 2}), "neural"),
    ] {
        let body = json!({"text": "the house", "model": model, "options": options});
        let found = server.post_json("/v1/translate", &body);
        assert_eq!(found.status, 400, "{options}: {}", found.text());
        assert!(found.text().contains(part), "{options}: {}", found.text());
    }
    let check = |model: &str| {
        let output = miriam().args(["serve", "--check", "--model", model]).output().unwrap();
        (output.status.success(), lossy_text(&output.stderr))
    };
    let neural = super::toy_neural();
    for (options, part) in [
        ("ngrams=2", "ngrams is not known here"),
        ("beam-size=0", "beam-size: expected"),
        ("repetition-penalty=x", "repetition-penalty: expected"),
        ("search=moses", "give marian or ctranslate2"),
        ("shortlist=/nowhere/lex", "/nowhere/lex"),
        ("lm=/nowhere/lm.arpa", "/nowhere/lm.arpa"),
        ("lm-weight=0.5", "lm-weight has no effect without lm"),
        ("lm-pieces=true", "lm-pieces has no effect without lm"),
        ("lm-pieces=1", "lm-pieces=1: give true or false"),
    ] {
        let (opens, message) = check(&format!("{neural},{options}"));
        assert!(!opens && message.contains(part), "{options}: {message}");
    }
    let (opens, message) = check(&format!("{},min-length=3", super::toy()));
    assert!(!opens && message.contains("min-length has no effect on a model of the kind phrase"));
    assert!(check(&format!("{neural},no-repeat-ngram-size=2,allow-unk=true")).0);
}

/// A shortlist in a configuration has the effect of `--shortlist`; its path is relative to the
/// configuration.
#[test]
fn a_shortlist_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary = miriam_nmt::Vocabulary::open(&toy().join("vocab.spm")).unwrap();
    let pieces = vocabulary.iter().map(lossy_text);
    let list: String = pieces.map(|piece| format!("{piece} {piece} 0.5\n")).collect();
    std::fs::write(folder.path().join("lex.s2t"), list).unwrap();
    let config = folder.path().join("serve.toml");
    let text =
        format!("[[model]]\nname = \"m\"\npath = {:?}\nshortlist = [\"lex.s2t\", 4, 10]\n", toy());
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let file = folder.path().join("lex.s2t");
    let expected = printed(&["--shortlist", file.to_str().unwrap(), "4", "10"]);
    assert_eq!(translated(&server, json!({}), "m"), expected);
    assert_ne!(expected, printed(&[]));
}

/// A language model in the configuration has the effect of `--lm`; its path is relative to the
/// configuration. Requests may set another weight.
#[test]
fn a_language_model_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let lm = word_model(folder.path());
    let lm = lm.to_str().unwrap();
    let config = folder.path().join("serve.toml");
    let text = format!(
        "[[model]]\nname = \"m\"\npath = {:?}\nlm = \"words.arpa\"\nlm-weight = 3\n",
        toy()
    );
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let expected = printed(&["--lm", lm, "--lm-weight", "3"]);
    assert_eq!(translated(&server, json!({}), "m"), expected);
    assert_ne!(expected, printed(&[]));
    let lighter = printed(&["--lm", lm, "--lm-weight", "0.5"]);
    assert_eq!(translated(&server, json!({"lm_weight": 0.5}), "m"), lighter);
    assert_eq!(translated(&server, json!({"lm_weight": 0}), "m"), printed(&[]));
    let body = json!({"text": "the house", "options": {"sampling_topk": 5}});
    let found = server.post_json("/v1/translate", &body);
    assert_eq!(found.status, 400, "{}", found.text());
    assert!(found.text().contains("not in sampling"), "{}", found.text());
}

/// A neural language model takes part in the search as on the command line. If a file of its folder
/// is written again, the next reload opens the model again.
#[test]
fn a_neural_language_model_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let lm = neural_model(folder.path(), "lm-transformer", &toy().join("vocab.spm"), &[]);
    let config = folder.path().join("serve.toml");
    let text = format!("[[model]]\nname = \"m\"\npath = {:?}\nlm = {lm:?}\nlm-weight = 2\n", toy());
    std::fs::write(&config, text).unwrap();
    let server = Server::start(&["--config", config.to_str().unwrap()]);
    let expected = printed(&["--lm", lm.to_str().unwrap(), "--lm-weight", "2"]);
    assert_eq!(translated(&server, json!({}), "m"), expected);
    assert_ne!(expected, printed(&[]));
    let settings = lm.join("decoder.yml");
    let text = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, text + "\n# again\n").unwrap();
    server.signal("HUP");
    server.wait_for("the model to be opened again", |server| {
        server.get("/v1/models").json()["models"][0]["generation"] == 2
    });
    assert_eq!(translated(&server, json!({}), "m"), expected);
}

/// A reload opens a model again if any file that its configuration names is a new one.
#[test]
fn each_new_file_of_a_model_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(toy()).unwrap() {
        let file = entry.unwrap().path();
        std::fs::copy(&file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    let decoder = folder.path().join("decoder.yml");
    let server = Server::start(&["--model", &format!("m={}", decoder.display())]);
    for (name, generation) in ["decoder.yml", "model.npz", "vocab.spm"].iter().zip(2..) {
        let (file, copy) = (folder.path().join(name), folder.path().join("copy"));
        std::fs::copy(&file, &copy).unwrap();
        std::fs::rename(&copy, &file).unwrap();
        server.signal("HUP");
        server.wait_for(&format!("{name} to be opened again"), |server| {
            server.get("/v1/models").json()["models"][0]["generation"] == generation
        });
    }
}
