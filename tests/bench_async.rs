//! `miriam bench async` on a part of the toy corpus: tables and curves, equal in every run, and a
//! study that continues where it was stopped.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use crate::common::{
    is_at_line_start, lossy_text, miriam, project_root, run, run_on_terminal, run_to_error,
};

const MODEL: &str = "type: s2s\nenc-cell: gru\ndec-cell: gru\ndim-emb: 8\ndim-rnn: 8\n\
                     tied-embeddings-all: true\nmax-length: 100\nbeam-size: 1\n";

fn corpus() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, lines) in [("train", 120), ("dev", 20)] {
        for side in ["en", "es"] {
            let path = project_root().join(format!("examples/toy/{name}.{side}"));
            let text = fs::read_to_string(path).unwrap();
            let head: String = text.split_inclusive('\n').take(lines).collect();
            fs::write(folder.path().join(format!("{name}.{side}")), head).unwrap();
        }
    }
    fs::write(folder.path().join("model.yml"), MODEL).unwrap();
    folder
}

fn study(corpus: &TempDir, output: &str, arguments: &[&str]) -> Command {
    study_of_epochs("2", corpus, output, arguments)
}

fn study_of_epochs(epochs: &str, corpus: &TempDir, output: &str, arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.current_dir(corpus.path());
    command.args(["bench", "async", "--source", "train.es", "--target", "train.en"]);
    command.args(["--dev-source", "dev.es", "--dev-target", "dev.en", "-c", "model.yml"]);
    command.args(["--vocab-size", "150", "--epochs", epochs, "--batch-words", "128", "-o", output]);
    command.args(["--threads", "2"]).args(arguments);
    command
}

fn read(corpus: &TempDir, path: &str) -> String {
    fs::read_to_string(corpus.path().join(path)).unwrap()
}

fn rows(csv: &str) -> Vec<Vec<&str>> {
    csv.lines().skip(1).map(|line| line.split(',').collect()).collect()
}

#[test]
fn systems_are_compared_by_epoch_and_by_simulated_time() {
    let corpus = corpus();
    let systems = "sync,0,1,1-dropping,3,1-buffer";
    let asked = ["--systems", systems, "--seeds", "1,2"];
    let table = lossy_text(&run(&mut study(&corpus, "a", &asked)));
    assert_eq!(table.lines().count(), 2 + 6, "{table}");
    assert!(table.contains("| 1-dropping | large batches, gradient dropping |"), "{table}");

    let csv = read(&corpus, "a/study.csv");
    let trainings = rows(&csv);
    assert_eq!(trainings.len(), 12);
    let number = |row: &[&str], place: usize| row[place].parse::<f64>().unwrap();
    let of = |system: &str, place: usize| {
        let row = trainings.iter().find(|row| row[0] == system).expect(system);
        number(row, place)
    };
    for row in &trainings {
        let words = number(row, 2) / number(&trainings[0], 2);
        assert!(
            (words - 1.0).abs() < 0.06,
            "all train on the same number of words but for a few batches: {csv}"
        );
        assert!((number(row, 2) / number(row, 3) / number(row, 4) - 1.0).abs() < 1e-3, "{row:?}");
        assert!(number(row, 6) <= number(row, 7), "the best is not above the last: {row:?}");
    }
    // With four workers, a push misses about three pushes of the others; the first pushes miss
    // fewer.
    assert!((1.0..=3.1).contains(&of("1", 10)), "{csv}");
    assert_eq!(of("sync", 10), 0.0);
    // Transfers cost time, so larger batches, which are transferred less often, train more words a
    // second. Gradient dropping transfers less than half of the bytes.
    assert!(of("0", 4) < of("1", 4) && of("1", 4) < of("3", 4), "{csv}");
    assert!(of("sync", 4) < of("1", 4), "{csv}");
    assert!(of("1-dropping", 11) < of("1", 11) / 2.0, "{csv}");

    // A push of (1) covers one batch of about 128 words. A push of (3) covers several batches, and
    // the batches of (0) are smaller.
    assert!(of("1", 15) > 64.0 && of("1", 15) < 160.0 && of("1", 16) > 0.0, "{csv}");
    assert!(of("3", 15) > 1.7 * of("1", 15) && of("0", 15) < 0.5 * of("1", 15), "{csv}");
    assert!(trainings[0][16].is_empty(), "{csv}");

    let curves = read(&corpus, "a/curves.csv");
    let points = rows(&curves);
    assert!(points.iter().all(|point| (1.0..6.0).contains(&number(point, 6))), "{curves}");
    assert!(points.len() >= 12 * 4, "two validations an epoch: {curves}");
    for pair in points.windows(2).filter(|pair| pair[0][..2] == pair[1][..2]) {
        assert!(number(&pair[0], 2) < number(&pair[1], 2), "{pair:?}");
        assert!(number(&pair[0], 3) < number(&pair[1], 3), "{pair:?}");
    }
    for name in ["by-epoch", "by-time"] {
        let svg = read(&corpus, &format!("a/{name}.svg"));
        let document = roxmltree::Document::parse(&svg).unwrap();
        let lines = document.descendants().filter(|n| n.attribute("stroke-width") == Some("2"));
        assert_eq!(lines.count(), 18, "six curves in two panels, and their entries in the legend");
    }

    // The same again, in a folder in which one training run is missing.
    run(&mut study(&corpus, "b", &asked));
    fs::remove_dir_all(corpus.path().join("b/runs/3-2")).unwrap();
    run(&mut study(&corpus, "b", &asked));
    for name in ["study.csv", "curves.csv", "machine.toml"] {
        assert_eq!(read(&corpus, &format!("a/{name}")), read(&corpus, &format!("b/{name}")));
    }
}

/// An epoch of this study has few pushes, because a push covers several batches. The gradients that
/// are left at the end are therefore pushed before the last validation; otherwise words would be
/// missing. A study that is read again has the same results.
#[test]
fn delayed_updates_train_on_all_words() {
    let corpus = corpus();
    let systems = ["--systems", "sync,2,delay-4"];
    run(&mut study(&corpus, "delayed", &systems));
    let [csv, curves] =
        ["study.csv", "curves.csv"].map(|name| read(&corpus, &format!("delayed/{name}")));
    let trainings = rows(&csv);
    let words = |row: &[&str]| row[2].parse::<f64>().unwrap();
    for row in &trainings {
        let share = words(row) / words(&trainings[0]);
        assert!((1.0..1.06).contains(&share), "no batch of the epoch is missing: {csv}");
        let points = rows(&curves);
        let last = points.iter().rfind(|point| point[..2] == row[..2]).unwrap();
        assert!((last[2].parse::<f64>().unwrap() / 2.0 - 1.0).abs() < 0.06, "{curves}");
    }
    run(&mut study(&corpus, "delayed", &systems));
    assert_eq!(read(&corpus, "delayed/study.csv"), csv);
    assert_eq!(read(&corpus, "delayed/curves.csv"), curves);
}

#[test]
fn learning_rates_are_flexible_cyclic_and_random() {
    let corpus = corpus();
    let systems = "delay-4,delay-4-cyclic,1-flexible,5-flexible,1-cyclic,1-random";
    let table = lossy_text(&run(&mut study(&corpus, "rates", &["--systems", systems])));
    let losses: Vec<&str> =
        table.lines().skip(2).map(|row| row.split('|').nth(3).unwrap().trim()).collect();
    assert_eq!(losses.len(), 6, "{table}");
    for (place, loss) in losses.iter().enumerate() {
        assert!((1.0..6.0).contains(&loss.parse::<f64>().unwrap()), "{table}");
        assert!(!losses[..place].contains(loss), "each has a rate of its own: {table}");
    }
}

/// At a rate of 10 the model does not learn, so the first validation is the best one.
#[test]
fn training_runs_end_when_they_no_longer_improve() {
    let corpus = corpus();
    let mut command = study(&corpus, "stopped", &["--systems", "1", "--early-stopping", "2"]);
    let table = lossy_text(&run(command.args(["--rate", "10"])));
    assert!(table.starts_with("| system | | dev CE | at epoch | after hours |"), "{table}");
    let curves = read(&corpus, "stopped/curves.csv");
    let csv = read(&corpus, "stopped/study.csv");
    let row = &rows(&csv)[0];
    let (epochs, to_best): (f64, f64) = (row[12].parse().unwrap(), row[13].parse().unwrap());
    assert!(epochs < 2.0, "two epochs were the most: {csv}");
    let points = rows(&curves);
    assert_eq!(points.len(), 3, "the best and two more: {curves}");
    assert_eq!(points[0][3].parse::<f64>().unwrap(), to_best, "{csv} {curves}");
}

/// A training run takes hours, so the time left is told within it. Lines of the log are not written
/// on the line of a progress bar.
#[test]
fn the_time_left_is_told_within_a_training_run() {
    let corpus = corpus();
    let mut command = study(&corpus, "timed", &["--systems", "1"]);
    let log = lossy_text(&command.output().unwrap().stderr);
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(" left")).collect();
    assert!((8..50).contains(&lines.len()), "{log}");
    assert!(lines.iter().all(|line| line.contains("training: ") && line.contains(" %, about ")));
    let finished = log.find("(1), seed 1: ").expect("the end of the training run");
    assert!(log.rfind(" left").is_some_and(|place| place < finished), "{log}");
    let again = lossy_text(&command.output().unwrap().stderr);
    assert!(again.contains("(1), seed 1: ") && !again.contains(" left"), "{again}");

    let mut command = study(&corpus, "shown", &["--systems", "1"]);
    let Some(shown) = run_on_terminal(command.env("NO_COLOR", "1")) else { return };
    assert!(shown.contains("training   "), "a bar is drawn: {shown:?}");
    let (before, _) = shown.split_once(" INFO (1), seed 1: ").expect("the line of a training run");
    assert!(is_at_line_start(before), "{shown:?}");
}

#[test]
fn studies_that_do_not_fit_are_rejected() {
    let corpus = corpus();
    let error = |arguments: &[&str]| run_to_error(&mut study(&corpus, "a", arguments));
    fs::write(corpus.path().join("machine.toml"), "workers = 3\nseconds_per_wrd = 1\n").unwrap();
    let message = error(&["--machine", "machine.toml"]);
    assert!(message.contains("machine.toml: ") && message.contains("seconds_per_wrd"), "{message}");
    run(&mut study(&corpus, "a", &["--systems", "1"]));
    let message = error(&["--systems", "1", "--rate", "0.01"]);
    assert!(message.contains("--learn-rate was 0.001, now it is 0.01"), "{message}");
    let dev = read(&corpus, "dev.en");
    fs::write(corpus.path().join("dev.en"), dev.replacen("the", "a", 1)).unwrap();
    let message = error(&["--systems", "1,2"]);
    assert!(message.contains("another study: validation text has changed"), "{message}");
    fs::write(corpus.path().join("dev.en"), dev).unwrap();
    let mut absent = study(&corpus, "a", &[]);
    let message = run_to_error(absent.current_dir(Path::new("/")));
    assert!(message.contains("model.yml"), "{message}");
}

/// An earlier study with more epochs in the same folder does not change the results of a study.
#[test]
fn results_end_with_the_epochs_of_the_study() {
    let corpus = corpus();
    let systems = ["--systems", "sync,1"];
    let one = |output: &str| {
        run(&mut study_of_epochs("1", &corpus, output, &systems));
        ["study.csv", "curves.csv"].map(|name| read(&corpus, &format!("{output}/{name}")))
    };
    let expected = one("one");
    run(&mut study(&corpus, "two", &systems));
    assert_ne!(read(&corpus, "two/curves.csv"), expected[1]);
    assert_eq!(one("two"), expected);
}

/// Options that would make a system differ from its name, or leave a training run out, are
/// rejected.
#[test]
fn repeated_values_and_options_of_the_study_are_rejected() {
    let corpus = corpus();
    let refused = |arguments: &[&str], expected: &str| {
        let error = run_to_error(&mut study(&corpus, "refused", arguments));
        assert!(error.contains(expected), "{error}");
        assert!(!corpus.path().join("refused").exists());
    };
    refused(&["--systems", "1", "--seeds", "1,1"], "--seeds: 1 is given twice");
    refused(&["--systems", "1,2,1"], "--systems: 1 is given twice");
    fs::write(corpus.path().join("model.yml"), format!("{MODEL}lr-warmup: 100\n")).unwrap();
    refused(&["--systems", "1"], "--config: lr-warmup is set by the systems");
    fs::write(corpus.path().join("model.yml"), "task: transformer-base\n").unwrap();
    refused(&["--systems", "1"], "presets (task) set it too");
}
