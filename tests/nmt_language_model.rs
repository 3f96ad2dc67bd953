//! Language models in the search of `miriam nmt translate`.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_to_usage_error};

/// `miriam nmt translate` of the toy model on the text that it is tested on.
fn translate(more: &[&str]) -> Command {
    let mut command = miriam();
    let root = project_root();
    command.args(["--quiet", "nmt", "translate", "--no-tuner-file"]);
    command.arg("-m").arg(root.join("examples/toy-neural"));
    command.arg("-i").arg(root.join("examples/toy/test.en"));
    command.args(more);
    command
}

/// Estimates a model over the words of the toy corpus; returns its ARPA text in `folder`.
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

/// The log-probability (base 10) of each line by `lm query`.
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

/// The text and the value of a feature of each line of a list.
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
    // The same list in pieces is the text of a model over pieces.
    let pieces = lossy_text(&run(&mut translate(&["--no-spm-decode"])));
    let text = folder.path().join("pieces.txt");
    std::fs::write(&text, &pieces).unwrap();
    let pieces = estimate(folder.path(), &text, "pieces");
    for (lm, more) in [(&words, &[][..]), (&pieces, &["--lm-pieces", "--no-spm-decode"])] {
        // Translations that are cut have no end, and of so few hypotheses none is.
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

#[test]
fn what_cannot_be_combined_is_refused() {
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
