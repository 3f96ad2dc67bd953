//! `miriam demo` end to end.

use std::process::Command;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, report_skip, run, run_to_error,
};

/// Returns the scores and texts of the lines with `label`.
fn columns<'a>(output: &'a str, label: &str) -> Vec<(&'a str, &'a str)> {
    let label = format!("{label:12}  ");
    let rows = output.lines().filter_map(|line| {
        let (score, text) = line.strip_prefix(&label)?.split_at_checked(8)?;
        Some((score.trim(), text.strip_prefix("  ")?))
    });
    rows.collect()
}

/// Returns the texts of lines without scores.
fn texts<'a>(output: &'a str, label: &str) -> Vec<&'a str> {
    let without_score = columns(output, label).into_iter().filter(|(score, _)| score.is_empty());
    without_score.map(|(_, text)| text).collect()
}

#[test]
fn the_demo_goes_from_text_to_translations_of_two_systems() {
    // Files with the models' names in the working directory must not matter.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("lm.miriam"), "decoy").unwrap();
    std::fs::write(elsewhere.path().join("phrase-table.miriam"), "decoy").unwrap();
    std::fs::write(elsewhere.path().join("model.npz"), "decoy").unwrap();
    let demo = |threads: &str| {
        let mut command = miriam();
        lossy_text(&run(command.args(["demo", "--threads", threads]).current_dir(elsewhere.path())))
    };
    let output = demo("2");
    let expect = |file: &str| {
        lossy_text(&read_decompressed(&project_root().join("examples/toy").join(file)))
    };
    let (sources, expected) = (expect("test.en"), expect("test.es"));
    let first = |text: &'_ str| text.lines().take(12).map(str::to_owned).collect::<Vec<_>>();
    let references = texts(&output, "reference");
    assert_eq!(texts(&output, "source"), first(&sources));
    assert_eq!(references, first(&expected));
    for (name, least_right, least_bleu) in [("phrase-based", 7, 85.0), ("neural", 10, 95.0)] {
        let rows = columns(&output, name);
        let (total, shown) = rows.split_last().expect("both systems translate");
        assert_eq!(shown.len(), 12, "{output}");
        // Scores of both systems are natural logarithms of numbers below 1.
        assert!(shown.iter().all(|(score, _)| score.parse::<f64>().unwrap() < 0.0), "{output}");
        let right = shown.iter().zip(&references).filter(|((_, text), other)| text == *other);
        assert!(right.count() >= least_right, "{output}");
        let bleu: f64 = total.0.parse().unwrap();
        assert!(bleu > least_bleu, "{name}: {bleu}");
    }
    let links = texts(&output, "alignment").into_iter().filter(|line| line.starts_with("0-0 "));
    assert!(links.count() >= 10, "{output}");
    // The output is the same except for times, for any number of threads.
    let stable = |output: &str| -> Vec<String> {
        let varies = |line: &str| {
            line.contains(" s in all") || line.contains(" s  ") || line.starts_with("model ")
        };
        output.lines().filter(|line| !varies(line)).map(str::to_owned).collect()
    };
    assert_eq!(stable(&output), stable(&demo("1")));
}

/// Where no space is left, the message names the folder and the remedy.
#[test]
fn a_full_temporary_folder_is_named() {
    // A limit on the size of files stands for a full disk.
    let limited = |command: &str| {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("trap '' XFSZ; ulimit -f 20; {command}")]);
        shell
    };
    if !limited("true").status().is_ok_and(|status| status.success()) {
        return report_skip("the shell cannot limit the size of files");
    }
    let folder = tempfile::tempdir().unwrap();
    let demo = concat!("exec '", env!("CARGO_BIN_EXE_miriam"), "' demo");
    let error = run_to_error(limited(demo).env("TMPDIR", folder.path()));
    assert!(error.contains("train.en: "), "{error}");
    assert!(error.contains(folder.path().to_str().unwrap()), "{error}");
    assert!(error.contains("set TMPDIR to another folder"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
