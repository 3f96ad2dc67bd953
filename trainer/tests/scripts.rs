//! Tests of validation by programs of the user, and of the handling of validation's values.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt;

use crate::workplace::{SOURCE, TARGET, Workplace};

/// Writes a program to the folder.
fn program(place: &Workplace, name: &str, text: &str) -> String {
    let path = place.write(name, &format!("#!/bin/sh\n{text}\n"));
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn valid_lines(log: &[String]) -> Vec<&str> {
    log.iter().filter_map(|line| line.strip_prefix("[valid] ")).collect()
}

#[test]
fn programs_score_translations_and_models() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let model = place.text("scored.npz.dev.npz");
    // Given translations, the program prints its first argument, a dot and their number of lines.
    // Without translations, it prints 5 if the model and its decoder configuration exist.
    let script = program(
        &place,
        "score",
        &format!(
            "if [ $# = 2 ]; then echo $1.$(wc -l < $2)\n\
             elif test -s {model} && test -s {model}.decoder.yml; then echo 5; fi"
        ),
    );
    let log = place.text("valid.log");
    let output = place.text("translated.{E}.{U}.{B}.{T}");
    let options: [(&str, &[&str]); 9] = [
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["translation", "valid-script", "bleu-detok", "bleu"]),
        ("valid-script-path", &[&script]),
        ("valid-script-args", &["3"]),
        ("valid-freq", &["2u"]),
        ("valid-log", &[&log]),
        ("valid-translation-output", &[&output]),
        ("keep-best", &["true"]),
        ("beam-size", &["2"]),
    ];
    let run = place.run("scored", &options, false).unwrap();
    let lines = valid_lines(&run.log);
    assert_eq!(lines.len(), 8, "{lines:?}");
    assert!(lines[0].ends_with("Up. 2 : translation : 3.800000 : new best"), "{lines:?}");
    assert!(lines[1].ends_with("valid-script : 5.000000 : new best"), "{lines:?}");
    assert!(lines[4].contains("Up. 4 : translation : 3.800000 : stalled 1 times"), "{lines:?}");
    assert_eq!(lines[2].split("bleu-detok").nth(1), lines[3].split("bleu").nth(1));
    let written = std::fs::read_to_string(log).unwrap();
    assert_eq!(written.lines().count(), 8);
    assert!(written.lines().all(|line| line[21..].starts_with(" [valid] Ep. ")), "{written}");
    assert!(place.path("scored.npz.best-translation.npz").is_file());
    let names = std::fs::read_dir(&place.folder).unwrap();
    let names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().any(|name| name.starts_with("translated.1.2.2.")), "{names:?}");
}

#[test]
fn a_program_alone_validates() {
    let place = Workplace::new();
    let script = program(&place, "score", "echo 7");
    let options: [(&str, &[&str]); 3] = [
        ("valid-script-path", &[&script]),
        ("valid-metrics", &["valid-script"]),
        ("valid-freq", &["2u"]),
    ];
    let run = place.run("alone", &options, false).unwrap();
    assert_eq!(valid_lines(&run.log).len(), 2);
    let metrics = ("valid-metrics", &["valid-script", "bleu"][..]);
    let error = place.train("wrong", &[options[0], metrics]).unwrap_err();
    assert!(error.contains("--valid-sets is needed"), "{error}");
    let error = place.train("wrong", &[options[0]]).unwrap_err();
    assert!(error.contains("--valid-script-path: no metric uses it"), "{error}");
    let error = place.train("wrong", &[options[1]]).unwrap_err();
    assert!(error.contains("valid-script needs --valid-script-path"), "{error}");
    let missing = ("valid-script-path", &["./no-such-program"][..]);
    let error = place.train("wrong", &[missing, options[1]]).unwrap_err();
    assert!(error.contains("no-such-program: program not found"), "{error}");
    assert!(!place.path("wrong.npz").exists(), "the program is looked for before training");
    let failing = program(&place, "fail", "exit 4");
    let failing = ("valid-script-path", &[&failing[..]][..]);
    let error = place.train("failing", &[failing, options[1], options[2]]).unwrap_err();
    assert!(error.contains("has failed") && error.contains('4'), "{error}");
}

#[test]
fn translations_are_written_without_a_program() {
    let place = Workplace::new();
    let [source, target] = ["source", "target"].map(|name| place.text(name));
    let options: [(&str, &[&str]); 4] = [
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["translation"]),
        ("valid-freq", &["2u"]),
        ("early-stopping", &["1"]),
    ];
    let run = place.run("written", &options, false).unwrap();
    let lines = valid_lines(&run.log);
    assert!(lines.len() == 2 && lines[0].contains("translation : in "), "{lines:?}");
    let text = std::fs::read_to_string(place.path("valid.translation")).unwrap();
    assert_eq!(text.lines().count(), SOURCE.lines().count());
    for metric in ["accuracy", "bert-lm-accuracy", "embedding"] {
        let error = place.train("wrong", &[("valid-metrics", &[metric])]).unwrap_err();
        assert!(error.contains(&format!("--valid-metrics: {metric}: ")), "{error}");
    }
}

#[test]
fn each_metric_has_its_own_epsilon() {
    let place = Workplace::new();
    // The set has the pairs of the training text. The pair without a source is left out, because
    // validation would count it.
    let lines = SOURCE.lines().zip(TARGET.lines()).filter(|(source, _)| !source.is_empty());
    let (sources, targets): (Vec<&str>, Vec<&str>) = lines.unzip();
    let [source, target] = [("valid-source", sources), ("valid-target", targets)]
        .map(|(name, lines)| place.write(name, &(lines.join("\n") + "\n")));
    let options: [(&str, &[&str]); 4] = [
        ("valid-sets", &[&source, &target]),
        ("valid-metrics", &["ce-sum", "cross-entropy", "perplexity", "ce-mean-words"]),
        ("early-stopping-epsilon", &["0", "1000", "1000", "1000"]),
        ("valid-freq", &["1u"]),
    ];
    let options = [options[0], options[1], options[2], options[3], ("train-ce-sample", &["100"])];
    let run = place.run("epsilons", &options, false).unwrap();
    let last = |start: &str, name: &str| {
        let is_named = |line: &&String| line.starts_with(start) && line.contains(name);
        let line = run.log.iter().rfind(is_named).unwrap();
        line.split(" : ").nth(3).unwrap().parse::<f64>().unwrap()
    };
    let (sample, valid) = (last("[train]", " ce-mean-words "), last("[valid]", " ce-mean-words "));
    assert!((sample - valid).abs() < 1e-5, "{sample} {valid}");
    let second = |name: &str| {
        let named_lines = valid_lines(&run.log).into_iter();
        let mut named_lines = named_lines.filter(|line| line.contains(&format!(" {name} :")));
        named_lines.nth(1).unwrap().to_owned()
    };
    assert!(second("ce-sum").ends_with("new best"), "{}", second("ce-sum"));
    for stalling in ["cross-entropy", "perplexity"] {
        assert!(second(stalling).contains("stalled 1 times"), "{}", second(stalling));
    }
}
