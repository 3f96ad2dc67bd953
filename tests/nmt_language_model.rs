//! Language models in the search of `miriam nmt translate`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_to_usage_error};

/// Returns the command that translates the test text with the toy model.
fn translate(more: &[&str]) -> Command {
    let mut command = miriam();
    let root = project_root();
    command.args(["--quiet", "nmt", "translate", "--no-tuner-file"]);
    command.arg("-m").arg(root.join("examples/toy-neural"));
    command.arg("-i").arg(root.join("examples/toy/test.en"));
    command.args(more);
    command
}

/// Estimates a model over the words of the toy corpus; returns the path of its ARPA file in
/// `folder`.
pub fn word_model(folder: &Path) -> PathBuf {
    estimate(folder, &project_root().join("examples/toy/mono.es"), "words")
}

fn estimate(folder: &Path, text: &Path, name: &str) -> PathBuf {
    let path = folder.join(format!("{name}.arpa"));
    let mut command = miriam();
    command.args(["--quiet", "lm", "estimate", "-o", "3", "--discount-fallback"]);
    run(command.arg("--text").arg(text).arg("--arpa").arg(&path));
    path
}

fn path_str(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

/// Returns the log-probability (base 10) of each line by `lm query`.
fn query(lm: &Path, lines: &[String], folder: &Path) -> Vec<f64> {
    let text = folder.join("lines");
    std::fs::write(&text, lines.join("\n") + "\n").unwrap();
    let mut command = miriam();
    command.args(["--quiet", "lm", "query", path_str(lm), "-i", path_str(&text), "-v", "sentence"]);
    let output = lossy_text(&run(&mut command));
    let totals = output.lines().filter_map(|line| line.strip_prefix("Total: "));
    let totals = totals.map(|line| line.split(' ').next().unwrap().parse().unwrap());
    totals.take(lines.len()).collect()
}

/// Returns the text and the value of a feature of each line of a list.
fn features(list: &str, name: &str) -> Vec<(String, f64)> {
    let read = |line: &str| {
        let fields: Vec<&str> = line.split(" ||| ").collect();
        let (_, value) = fields[2].split_once(&format!("{name}= ")).unwrap();
        (fields[1].to_owned(), value.split(' ').next().unwrap().parse().unwrap())
    };
    list.lines().map(read).collect()
}

#[test]
fn lists_have_the_score_that_a_query_gives() {
    let folder = tempfile::tempdir().unwrap();
    let words = word_model(folder.path());
    // The translations in pieces are the training text of a model over pieces.
    let pieces = lossy_text(&run(&mut translate(&["--no-spm-decode"])));
    let text = folder.path().join("pieces.txt");
    std::fs::write(&text, &pieces).unwrap();
    let pieces = estimate(folder.path(), &text, "pieces");
    for (lm, more) in [(&words, &[][..]), (&pieces, &["--lm-pieces", "--no-spm-decode"])] {
        // Translations that are cut have no `</s>`; with so small a beam none is cut.
        let options = ["-b", "2", "--lm", path_str(lm), "--lm-weight", "0.3", "--normalize", "0"];
        let more = [&["--n-best"], more].concat();
        let list = lossy_text(&run(&mut translate(&[&options[..], &more].concat())));
        let found = features(&list, "LM0");
        assert!(found.len() >= 100, "{}", found.len());
        let texts: Vec<String> = found.iter().map(|(text, _)| text.clone()).collect();
        let expected = query(lm, &texts, folder.path());
        assert_eq!(expected.len(), found.len());
        for ((text, natural), log10) in found.iter().zip(expected) {
            let near = (natural - log10 * std::f64::consts::LN_10).abs();
            assert!(near < 2e-4 * natural.abs().max(1.0), "{text}: {natural}, {log10}");
        }
        let totals = list.lines().map(|line| line.rsplit(' ').next().unwrap());
        let totals: Vec<f64> = totals.map(|total| total.parse().unwrap()).collect();
        for ((total, (_, model)), (_, lm)) in totals.iter().zip(features(&list, "F0")).zip(found) {
            let sum = model + 0.3 * lm;
            assert!((total - sum).abs() < 1e-4 * sum.abs().max(1.0), "{total}, {model}, {lm}");
        }
    }
}

#[test]
fn the_weight_decides_how_much_a_model_counts() {
    let folder = tempfile::tempdir().unwrap();
    let lm = word_model(folder.path());
    let plain = lossy_text(&run(&mut translate(&[])));
    let with_weight = |weight: &str| {
        lossy_text(&run(&mut translate(&["--lm", path_str(&lm), "--lm-weight", weight])))
    };
    assert_eq!(with_weight("0"), plain);
    let by_lm = with_weight("3");
    let changed = by_lm.lines().zip(plain.lines()).filter(|(by_lm, plain)| by_lm != plain);
    assert!(changed.count() > 5);
    // The default weight, and any binary of the same model.
    let default = lossy_text(&run(&mut translate(&["--lm", path_str(&lm)])));
    assert_eq!(default, with_weight("0.1"));
    let binary = folder.path().join("words.miriam");
    run(miriam().args(["--quiet", "lm", "build", path_str(&lm), "-o", path_str(&binary)]));
    let options = ["--lm", path_str(&binary), "--lm-weight", "3", "--cpu-threads", "2"];
    assert_eq!(lossy_text(&run(&mut translate(&options))), by_lm);
}

/// Trains a small neural model of this type on the toy corpus, with the vocabulary of the toy
/// model; returns its folder in `folder`.
pub fn neural_model(folder: &Path, kind: &str, vocabulary: &Path, more: &[&str]) -> PathBuf {
    let path = folder.join(format!("{kind}{}", more.concat()));
    let toy = project_root().join("examples/toy");
    let mut command = miriam();
    command.args(["--quiet", "nmt", "train", "--type", kind, "--vocabs", path_str(vocabulary)]);
    command.arg("--target").arg(toy.join("train.es")).arg("-o").arg(&path);
    command.args("--dim-emb 16 --dim-rnn 16 --dec-depth 1 --transformer-dim-ffn 32".split(' '));
    command.args("--transformer-heads 2 --learn-rate 0.01 --after 30u --mini-batch 20".split(' '));
    run(command.args(more));
    path
}

/// Returns the command `miriam nmt score` with a model.
fn score(model: &Path, more: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["--quiet", "nmt", "score", "--no-tuner-file", "-m", path_str(model)]).args(more);
    command
}

/// Returns the command `miriam nmt rescore` with models.
fn rescore(models: &[&Path], more: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["--quiet", "nmt", "rescore", "--no-tuner-file", "-m"]).args(models).args(more);
    command
}

#[test]
fn neural_models_score_lists_as_they_score_text() {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary = project_root().join("examples/toy-neural/vocab.spm");
    for kind in ["lm-transformer", "lm"] {
        let lm = neural_model(folder.path(), kind, &vocabulary, &[]);
        let options = ["-b", "4", "--lm", path_str(&lm), "--lm-weight", "0.5", "--normalize", "0"];
        let more = ["--n-best", "--no-spm-decode"];
        let list = lossy_text(&run(&mut translate(&[&options[..], &more].concat())));
        let found = features(&list, "LM0");
        assert!(found.len() >= 150, "{}", found.len());
        let text = folder.path().join("text");
        let lines: Vec<&str> = found.iter().map(|(text, _)| &text[..]).collect();
        std::fs::write(&text, lines.join("\n") + "\n").unwrap();
        let scores = run(&mut score(&lm, &["--target", path_str(&text), "--no-spm-encode"]));
        let marians = run(&mut score(&lm, &["-t", path_str(&text), "--no-spm-encode"]));
        assert_eq!(scores, marians);
        let scores = lossy_text(&scores);
        assert_eq!(scores.lines().count(), found.len());
        for ((text, fused), alone) in found.iter().zip(scores.lines()) {
            let alone: f64 = alone.parse().unwrap();
            assert!((fused - alone).abs() < 1e-3 * alone.abs(), "{kind} {text}: {fused}, {alone}");
        }
        let totals =
            list.lines().map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap());
        for ((total, (_, model)), (_, lm)) in totals.zip(features(&list, "F0")).zip(&found) {
            let sum = model + 0.5 * lm;
            assert!((total - sum).abs() < 1e-4 * sum.abs().max(1.0), "{total}, {model}, {lm}");
        }
        // The same numbers as a feature of the list.
        let path = folder.path().join("list");
        std::fs::write(&path, &list).unwrap();
        let options = ["--n-best", path_str(&path), "--n-best-feature", "X", "--no-spm-encode"];
        let scored = lossy_text(&run(&mut score(&lm, &options)));
        let options = ["--n-best", path_str(&path), "--features", "X", "--no-spm-encode"];
        assert_eq!(lossy_text(&run(&mut rescore(&[&lm], &options))), scored);
        for ((text, fused), (_, added)) in found.iter().zip(features(&scored, "X")) {
            assert!((fused - added).abs() < 1e-3 * added.abs(), "{kind} {text}: {fused}, {added}");
        }
        let plain = run(&mut translate(&[]));
        assert_eq!(run(&mut translate(&["--lm", path_str(&lm), "--lm-weight", "0"])), plain);
        let threads = |count| {
            ["--lm", path_str(&lm), "--lm-weight", "2", "--cpu-threads", count, "--mini-batch", "7"]
        };
        let by_lm = run(&mut translate(&threads("1")));
        assert!(by_lm != plain);
        assert_eq!(run(&mut translate(&threads("3"))), by_lm);
        // A converted file gives the same result as the folder. The model may also join an ensemble
        // as in Marian, where it votes on all pieces, here with the weight 0.
        let converted = folder.path().join(format!("{kind}.miriam"));
        run(miriam().args([
            "--quiet",
            "nmt",
            "convert",
            path_str(&lm),
            "-o",
            path_str(&converted),
        ]));
        let options = ["--lm", path_str(&converted), "--lm-weight", "2"];
        assert_eq!(run(&mut translate(&options)), by_lm);
        let info = lossy_text(&run(miriam().args(["nmt", "info", path_str(&converted)])));
        assert!(info.contains("language model"), "{info}");
        let ensemble = run(&mut translate(&["-m", path_str(&lm), "--weights", "1", "0"]));
        assert_eq!(ensemble, plain);
    }
}

#[test]
fn neural_models_that_do_not_fit_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let vocabulary = project_root().join("examples/toy-neural/vocab.spm");
    let lm = neural_model(folder.path(), "lm-transformer", &vocabulary, &[]);
    let others = folder.path().join("others.spm");
    let other = neural_model(folder.path(), "lm-transformer", &others, &["--vocab-size", "300"]);
    let reversed = neural_model(folder.path(), "lm-transformer", &vocabulary, &["--right-left"]);
    let toy = project_root().join("examples/toy-neural");
    let text = project_root().join("examples/toy/test.es");
    for (model, expected) in [
        (&other, "pieces differs from the"),
        (&reversed, "from the other end"),
        (&toy, "it translates; a language model is needed"),
    ] {
        let message = run_to_error(&mut translate(&["--lm", path_str(model)]));
        assert!(message.contains(expected), "{message}");
    }
    let sampling = ["--lm", path_str(&lm), "--sampling-topk", "5"];
    let message = run_to_error(&mut translate(&sampling));
    assert!(message.contains("sampling") && message.contains("language model"), "{message}");
    let mut alone = miriam();
    let message = run_to_error(alone.args(["nmt", "translate", "-m", path_str(&lm)]));
    assert!(message.contains("language model, which does not translate"), "{message}");
    let list = folder.path().join("list");
    std::fs::write(&list, "0 ||| una casa . ||| F= 0 ||| 0\n").unwrap();
    let (text, list) = (path_str(&text), path_str(&list));
    for (model, options, expected) in [
        (&lm, &["--source", text, "--target", text][..], "without a source"),
        (&lm, &["--source", text, "--n-best", list], "reads no --source"),
        (&toy, &["--n-best", list], "give --source"),
        (&lm, &["--target", text, "--alignment"], "no source to align to"),
        (&toy, &["--target", text], "give --source"),
    ] {
        let message = run_to_error(&mut score(model, options));
        assert!(message.contains(expected), "{message}");
    }
    // A source is required if a model reads it, and rejected if none does.
    let source = ["--source", text, "--n-best", list];
    for (models, options, expected) in [
        (&[&*lm][..], &source[..], "reads no --source"),
        (&[&lm, &toy], &source[2..], "examples/toy-neural: the model: it translates"),
        (&[&lm, &toy], &source[2..], "give --source"),
    ] {
        let message = run_to_error(&mut rescore(models, options));
        assert!(message.contains(expected), "{message}");
    }
    let reverse = [&source[2..], &["--reverse", path_str(&toy)]].concat();
    let message = run_to_usage_error(&mut rescore(&[&lm], &reverse));
    assert!(message.contains("--source <FILE>"), "{message}");
    std::fs::write(folder.path().join("line"), "a house .\n").unwrap();
    let line = folder.path().join("line");
    let both = run(&mut rescore(&[&lm, &toy], &["--source", path_str(&line), "--n-best", list]));
    let both = lossy_text(&both);
    assert!(both.contains(" Neural0= ") && both.contains(" Neural1= "), "{both}");
    let mut training = miriam();
    training.args(["nmt", "train", "--type", "lm", "--source", text, "--target", text, "-o"]);
    let message = run_to_usage_error(training.arg(folder.path().join("two")));
    assert!(message.contains("a language model has one text"), "{message}");
}

#[test]
fn what_cannot_be_combined_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let message = run_to_usage_error(&mut translate(&["--lm-weight", "0.1"]));
    assert!(message.contains("--lm <FILE>"), "{message}");
    let message = run_to_usage_error(&mut translate(&["--lm-pieces"]));
    assert!(message.contains("--lm <FILE>"), "{message}");
    let message = run_to_error(&mut translate(&["--lm", "absent.arpa"]));
    assert!(message.contains("absent.arpa"), "{message}");
    let lm = word_model(folder.path());
    let sampling = ["--lm", path_str(&lm), "--sampling-topk", "5"];
    let message = run_to_error(&mut translate(&sampling));
    assert!(message.contains("sampling") && message.contains("language model"), "{message}");
}
