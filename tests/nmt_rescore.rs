//! `miriam nmt rescore`: the features are the scores that `miriam nmt score` gives each translation
//! alone, and the same command resumes a run that was stopped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, UNIX_EPOCH};

use miriam_nmt::ModelBundle;
use miriam_nmt::architecture::Architecture;
use miriam_nmt::formats::marian::write_marian_model;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_to_usage_error,
};

/// The tolerance of scores. Scoring all positions at once adds floats in another order than scoring
/// step by step, and printed numbers have six digits.
const TOLERANCE: f64 = 1e-3;

fn toy() -> PathBuf {
    project_root().join("examples/toy-neural")
}

/// Writes the first `count` lines of the toy corpus, and their n-best lists by a search.
fn toy_lists(folder: &Path, count: usize, beam: &str) -> [PathBuf; 2] {
    let [source, list] = ["source", "list.gz"].map(|name| folder.join(name));
    let text = fs::read_to_string(project_root().join("examples/toy/train.en")).unwrap();
    fs::write(
        &source,
        text.lines().take(count).map(|line| format!("{line}\n")).collect::<String>(),
    )
    .unwrap();
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "--n-best", "-b", beam, "-m"]).arg(toy());
    run(command.arg("-i").arg(&source).arg("-o").arg(&list));
    [source, list]
}

fn rescore(source: &Path, list: &Path) -> Command {
    let mut command = miriam();
    command.args(["nmt", "rescore", "--source"]).arg(source).arg("--n-best").arg(list);
    command
}

/// Returns the scores of pairs, each scored alone.
fn scores_alone(model: &Path, pairs: &[(String, String)], folder: &Path) -> Vec<f64> {
    let tsv = folder.join("pairs.tsv");
    let lines: String = pairs.iter().map(|(a, b)| format!("{a}\t{b}\n")).collect();
    fs::write(&tsv, lines).unwrap();
    let mut command = miriam();
    command.args(["nmt", "score", "--quiet", "--mini-batch", "1", "-m"]).arg(model);
    command.arg("-v").args([toy().join("vocab.spm"), toy().join("vocab.spm")]);
    let scores = lossy_text(&run(command.arg("--tsv").arg(&tsv)));
    scores.lines().map(|score| score.parse().unwrap()).collect()
}

/// Writes a copy of the toy model that translates from right to left.
fn right_to_left_model(folder: &Path) -> PathBuf {
    let path = folder.join("right-left.npz");
    let bundle = ModelBundle::open(&toy().join("model.npz"), None).unwrap();
    let model = &bundle.models[0];
    let mut architecture = model.architecture().clone();
    let Architecture::Transformer(shape) = &mut architecture else { panic!("a transformer") };
    shape.embeddings.right_to_left = true;
    write_marian_model(&path, &architecture, |parameter| {
        model.parameter(&parameter.name).unwrap().values()
    })
    .unwrap();
    path
}

#[test]
fn features_are_the_scores_of_each_pair_alone() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let [source, list] = toy_lists(folder, 30, "12");
    let backwards = right_to_left_model(folder);
    let vocab = toy().join("vocab.spm");
    let outputs: Vec<String> = ["1", "3"]
        .map(|threads| {
            let scored = folder.join(format!("scored{threads}.zst"));
            let mut command = rescore(&source, &list);
            command.arg("-m").arg(toy().join("model.npz")).arg(&backwards);
            command.arg("--reverse").arg(toy().join("model.npz"));
            command.arg("-v").args([&vocab, &vocab]).args(["--threads", threads]);
            run(command.arg("-o").arg(&scored));
            lossy_text(&read_decompressed(&scored))
        })
        .into();
    assert_eq!(outputs[0], outputs[1], "threads change nothing");
    let sources = fs::read_to_string(&source).unwrap();
    let sources: Vec<&str> = sources.lines().collect();
    let before = lossy_text(&read_decompressed(&list));
    let mut pairs = Vec::new();
    let mut found = Vec::new();
    for (old, new) in before.lines().zip(outputs[0].lines()) {
        let fields: Vec<&str> = old.split(" ||| ").collect();
        pairs.push((sources[fields[0].parse::<usize>().unwrap()].to_owned(), fields[1].to_owned()));
        let (entry, total) = old.rsplit_once(" ||| ").unwrap();
        let added =
            new.strip_prefix(entry).unwrap().strip_suffix(&format!(" ||| {total}")).unwrap();
        let words: Vec<&str> = added.split(' ').collect();
        let &["", "Neural0=", first, "Neural1=", second, "Reverse0=", third] = &words[..] else {
            panic!("{new}")
        };
        found.push([first, second, third].map(|number| number.parse::<f64>().unwrap()));
    }
    assert_eq!(outputs[0].lines().count(), before.lines().count());
    assert!(pairs.len() > 200, "{}", pairs.len());
    let swapped: Vec<(String, String)> =
        pairs.iter().map(|(source, target)| (target.clone(), source.clone())).collect();
    let expected = [
        scores_alone(&toy().join("model.npz"), &pairs, folder),
        scores_alone(&backwards, &pairs, folder),
        scores_alone(&toy().join("model.npz"), &swapped, folder),
    ];
    for (feature, expected) in expected.iter().enumerate() {
        for (found, expected) in found.iter().zip(expected) {
            let difference = (found[feature] - expected).abs();
            assert!(difference < TOLERANCE * (1.0 + expected.abs()), "{found:?} {expected}");
        }
    }
    // The models of both directions give different scores.
    assert!(expected[0].iter().zip(&expected[1]).any(|(a, b)| (a - b).abs() > 1.0));
    // `nmt score` adds the first of these features only.
    let mut command = miriam();
    command.args(["nmt", "score", "--quiet", "--n-best-feature", "Neural0", "-m"]).arg(toy());
    let score = run(command.arg("--source").arg(&source).arg("--n-best").arg(&list));
    let shortened: Vec<String> = outputs[0]
        .lines()
        .map(|line| {
            let (start, rest) = line.split_once(" Neural1= ").unwrap();
            format!("{start} ||| {}", rest.rsplit_once(" ||| ").unwrap().1)
        })
        .collect();
    assert_eq!(lossy_text(&score).lines().collect::<Vec<_>>(), shortened);
}

#[test]
fn what_does_not_fit_is_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let [source, list] = ["source", "list"].map(|name| folder.join(name));
    fs::write(&source, "a house\na dog\n").unwrap();
    let entry = |number: u64, text: &str| format!("{number} ||| {text} ||| F0= -1 ||| -1\n");
    let long = "casa ".repeat(40);
    for (text, options, reason) in [
        (entry(0, "casa"), &[][..], "source, line 2: the list has no sentence 1"),
        (
            [0, 1, 2].map(|number| entry(number, "casa")).concat(),
            &[],
            "list, line 3, field 1: sentence 2 has no line in",
        ),
        (entry(0, "casa") + &entry(2, "casa"), &[], "list, line 2, field 1: expected sentence 1"),
        (entry(0, "casa") + &entry(1, &long), &["--max-length", "20"], "list, line 2, field 2"),
        (entry(0, "casa") + &entry(1, &long), &["--max-length", "1"], "source, line 1: "),
        (
            entry(0, "casa") + &entry(1, "casa"),
            &["--features", "F0"],
            "list, line 1, field 3: the entry already has a feature F0",
        ),
        (entry(0, "casa") + "1 casa\n", &[], "list, line 2, field 2: expected an entry"),
    ] {
        fs::write(&list, &text).unwrap();
        let error = run_to_error(rescore(&source, &list).arg("-m").arg(toy()).args(options));
        assert!(error.contains(reason), "{error}");
    }
    let names = ["--features", "A,B"];
    let error = run_to_usage_error(rescore(&source, &list).arg("-m").arg(toy()).args(names));
    assert!(error.contains("expected a name for each model, 1 in all, found 2"), "{error}");
    let error = run_to_usage_error(&mut rescore(&source, &list));
    assert!(error.contains("--models"), "{error}");
    let error = run_to_error(rescore(&source, &list).args(["--reverse", "absent.npz"]));
    assert!(error.contains("absent.npz"), "{error}");
}

/// A run that is killed leaves what it has written, and the same command resumes after it. With a
/// vocabulary that was changed since then, the run begins again.
#[test]
fn a_killed_run_is_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let [source, list] = toy_lists(folder, 400, "20");
    let vocabulary = folder.join("vocab.spm");
    fs::copy(toy().join("vocab.spm"), &vocabulary).unwrap();
    let command = |output: &Path| {
        let mut command = rescore(&source, &list);
        command.args(["--threads", "1", "-m"]).arg(toy()).arg("-o").arg(output);
        command.arg("-v").args([&vocabulary, &vocabulary]);
        command
    };
    let whole = folder.join("whole.gz");
    run(&mut command(&whole));
    let output = folder.join("scored.gz");
    let state = folder.join("scored.gz.partial.state");
    let mut child = command(&output).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while !state.exists() && child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(120));
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    if child.wait().unwrap().success() {
        // A machine that scores all in less than a second has nothing to stop.
        assert_eq!(fs::read(&output).unwrap(), fs::read(&whole).unwrap());
        return;
    }
    assert!(!output.exists() && state.exists());
    let other = folder.join("other.gz");
    for ending in [".partial", ".partial.state"] {
        let [from, to] = ["scored.gz", "other.gz"].map(|name| format!("{name}{ending}"));
        fs::copy(folder.join(from), folder.join(to)).unwrap();
    }
    let resume = |output: &Path| {
        let again = command(output).output().unwrap();
        let messages = lossy_text(&again.stderr);
        assert!(again.status.success(), "{messages}");
        assert_eq!(fs::read(output).unwrap(), fs::read(&whole).unwrap());
        messages.contains("continuing after")
    };
    assert!(resume(&output) && !state.exists());
    fs::File::options().append(true).open(&vocabulary).unwrap().set_modified(UNIX_EPOCH).unwrap();
    assert!(!resume(&other));
}
