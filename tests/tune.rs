//! `miriam tune` end to end: the ini gets better weights, the same for any number of threads;
//! the old file stays if a run fails.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_to_usage_error,
    run_with_input, shared_data,
};

fn path_str(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

/// Writes the toy system to `folder`, with the weight `language_model` for the language model.
fn write_toy_system(folder: &Path, language_model: &str) -> PathBuf {
    for name in ["phrase-table", "reordering-table", "lm.arpa"] {
        std::fs::copy(project_root().join("examples/toy").join(name), folder.join(name))
            .expect("copied");
    }
    let ini = lossy_text(&read_decompressed(&project_root().join("examples/toy/moses.ini")));
    let ini = ini.replace("LM0= 0.5", &format!("LM0= {language_model} # the model of words"));
    // The working directory does not have these files.
    let ini = ini.replace("path=", &format!("path={}/", path_str(folder)));
    std::fs::write(folder.join("moses.ini"), ini).expect("writable");
    folder.join("moses.ini")
}

fn tune(ini: &Path, output: &Path) -> Command {
    let mut command = miriam();
    command.args(["tune", "-f", path_str(ini), "-o", path_str(output)]);
    for (option, name) in [("--source", "corpus.en"), ("--reference", "corpus.es")] {
        command.arg(option).arg(project_root().join("examples/toy").join(name));
    }
    command
}

/// Returns the BLEU of the iterations in the log.
fn bleu_per_iteration(log: &str) -> Vec<f64> {
    let after = |line: &str| line.split("BLEU ").nth(1)?.split(' ').next()?.parse().ok();
    log.lines()
        .filter(|line| line.contains("iteration") && line.contains("BLEU"))
        .filter_map(after)
        .collect()
}

/// Tuning uses the search options that the ini sets.
#[test]
fn the_ini_says_how_to_search() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ini = write_toy_system(folder.path(), "0.5");
    let text = lossy_text(&read_decompressed(&ini));
    let output = folder.path().join("tuned.ini");
    let search = |sections: &str, options: &[&str]| {
        std::fs::write(&ini, format!("{text}\n{sections}")).expect("writable");
        let mut command = tune(&ini, &output);
        command.args(["--iterations", "1"]).args(options);
        let log = lossy_text(&run_with_input(&mut command, b"").stderr);
        log.lines().find_map(|line| line.split_once("search: ")).expect("it is logged").1.to_owned()
    };
    let limits = "[stack]\n7\n[cube-pruning-pop-limit]\n5\n";
    assert!(search("", &[]).starts_with("cube pruning, pop limit 400, stack 400;"));
    assert!(search(limits, &[]).starts_with("cube pruning, pop limit 5, stack 7;"));
    assert!(search("[search-algorithm]\n0\n", &[]).starts_with("stack decoding, stack 400;"));
    let options = ["--decoder-options", "-distortion-limit 6 -s 9"];
    assert!(search(limits, &options).starts_with("cube pruning, pop limit 5, stack 9;"));
}

#[test]
fn weights_get_better_and_the_rest_of_the_ini_stays() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // A language model with a negative weight gives bad translations.
    let ini = write_toy_system(folder.path(), "-0.5");
    let (output, log) = (folder.path().join("tuned.ini"), folder.path().join("log"));
    for method in ["mira", "mert", "pro"] {
        let mut command = tune(&ini, &output);
        command.args(["--method", method, "--iterations", "4", "--nbest-size", "30"]);
        run(command.args(["--log", path_str(&log)]));
        let scores = bleu_per_iteration(&lossy_text(&read_decompressed(&log)));
        let best = scores.iter().copied().fold(0.0, f64::max);
        assert!(best > scores[0] + 5.0, "{method}: {scores:?}");
        let (old, new) =
            (lossy_text(&read_decompressed(&ini)), lossy_text(&read_decompressed(&output)));
        assert_eq!(old.lines().count(), new.lines().count());
        let mut magnitudes = 0.0;
        for (old, new) in old.lines().zip(new.lines()) {
            let name = old.split('=').next().unwrap_or_default();
            let tuned = [
                "WordPenalty0",
                "PhrasePenalty0",
                "TranslationModel0",
                "LexicalReordering0",
                "Distortion0",
                "LM0",
            ];
            if !tuned.contains(&name) {
                assert_eq!(old, new);
                continue;
            }
            let weights = new.split('=').nth(1).unwrap().split('#').next().unwrap();
            let weights = weights.split_whitespace().map(|w| w.parse::<f64>().unwrap().abs());
            magnitudes += weights.sum::<f64>();
        }
        assert!((magnitudes - 1.0).abs() < 1e-5, "{magnitudes}");
        assert!(new.contains("# the model of words"));
        // The new ini gives the reported BLEU.
        let translated = folder.path().join("translated");
        let options = ["-search-algorithm", "1", "-cube-pruning-pop-limit", "400", "-s", "400"];
        let source = project_root().join("examples/toy/corpus.en");
        let mut command = miriam();
        command.args(["translate", "-f", path_str(&output), "-i", path_str(&source)]).args(options);
        std::fs::write(&translated, run(&mut command)).expect("writable");
        let mut command = miriam();
        command.args(["evaluate", "--tokenize", "none", "--force", "-b", "-w", "2"]);
        command.arg("--reference").arg(project_root().join("examples/toy/corpus.es"));
        let measured: f64 =
            lossy_text(&run(command.arg("-i").arg(&translated))).trim().parse().unwrap();
        assert!((measured - best).abs() < 0.011, "{method}: {measured}, but {best} was promised");
    }
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ini = write_toy_system(folder.path(), "0.1");
    for method in ["mira", "mert", "pro"] {
        let tuned = |threads: &str, seed: &str| {
            let output = folder.path().join(format!("{method}.{threads}.{seed}.ini"));
            let mut command = tune(&ini, &output);
            command.args(["--method", method, "--iterations", "3", "--nbest-size", "20"]);
            let log = run_log(command.args(["--threads", threads, "--seed", seed]));
            (read_decompressed(&output), log)
        };
        let one = tuned("1", "7");
        assert!(tuned("3", "7") == one, "{method}");
        assert!(tuned("2", "8").1 != one.1, "{method}");
    }
}

/// Returns the standard error of a run, which must succeed.
fn run_log(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{}", lossy_text(&output.stderr));
    lossy_text(&output.stderr)
}

#[test]
fn a_failed_run_leaves_the_old_ini() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ini = write_toy_system(folder.path(), "0.5");
    let output = folder.path().join("tuned.ini");
    std::fs::write(&output, "precious").expect("writable");
    let short = folder.path().join("short");
    std::fs::write(&short, "uno\n").expect("writable");
    let message = run_to_error(tune(&ini, &output).args(["--reference", path_str(&short)]));
    assert!(message.contains("short has 1"), "{message}");
    // A run that is killed leaves the old file too.
    let mut child = tune(&ini, &output).arg("--quiet").spawn().expect("it starts");
    std::thread::sleep(std::time::Duration::from_millis(150));
    let _ = child.kill();
    let _ = child.wait();
    assert_eq!(read_decompressed(&output), b"precious");
    // The input ini may be the output.
    run(tune(&ini, &ini).args(["--iterations", "2"]));
    run(&mut tune(&ini, &output));
}

/// An ini in another folder opens from anywhere, and names the same files.
#[test]
fn a_tuned_ini_in_another_folder_opens() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ini = write_toy_system(folder.path(), "0.5");
    let relative = lossy_text(&read_decompressed(&ini))
        .replace(&format!("path={}/", path_str(folder.path())), "path=${INI}/");
    std::fs::write(&ini, relative.replacen("path=${INI}/", "path=", 1)).expect("writable");
    let other = folder.path().join("elsewhere");
    std::fs::create_dir(&other).expect("created");
    let source = project_root().join("examples/toy/corpus.en");
    // The ini is named relative to the working directory.
    let mut command = tune(Path::new("moses.ini"), &other.join("tuned.ini"));
    let log = run_log(command.current_dir(folder.path()).args(["--iterations", "1"]));
    assert!(log.contains("nothing is tuned"), "{log}");
    let tuned = |ini: &str, at: &Path| {
        let mut command = miriam();
        command.current_dir(at).args(["translate", "-f", ini, "-i", path_str(&source)]);
        run(&mut command)
    };
    let from_elsewhere = tuned("tuned.ini", &other);
    assert!(from_elsewhere == tuned("../elsewhere/tuned.ini", &other));
    assert!(from_elsewhere == tuned("moses.ini", folder.path()), "one iteration keeps weights");
    let text = lossy_text(&read_decompressed(&other.join("tuned.ini")));
    assert!(!text.contains("${INI}"), "{text}");
}

/// A text in the other language is translated, with one warning about it.
#[test]
fn a_text_of_unknown_words_is_warned_of() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ini = write_toy_system(folder.path(), "0.5");
    let text = project_root().join("examples/toy/corpus.es");
    let warnings = |command: &mut Command| {
        let log = run_log(command);
        log.lines().filter(|line| line.contains("words are unknown to the system")).count()
    };
    let translate = |text: &Path| {
        let mut command = miriam();
        command.args(["translate", "-f", path_str(&ini), "-i", path_str(text)]);
        command
    };
    assert_eq!(warnings(&mut translate(&text)), 1);
    assert_eq!(warnings(translate(&text).args(["-split", "--source-language", "es"])), 1);
    assert_eq!(warnings(&mut translate(&project_root().join("examples/toy/corpus.en"))), 0);
    let mut swapped = miriam();
    swapped.args(["tune", "-f", path_str(&ini), "--iterations", "2", "-o"]);
    swapped.arg(folder.path().join("tuned.ini")).arg("--source").arg(&text);
    swapped.arg("--reference").arg(project_root().join("examples/toy/corpus.en"));
    assert_eq!(warnings(&mut swapped), 1);
}

#[test]
fn lines_without_a_translation_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let ini = write_toy_system(folder.path(), "0.5");
    let [source, reference, output] = ["s", "r", "o.ini"].map(|name| folder.path().join(name));
    std::fs::write(&source, "the house\n<x>the house\nthe house\n").unwrap();
    std::fs::write(&reference, "la casa\nla casa\nla casa\n").unwrap();
    let command = || {
        let mut command = miriam();
        command.args(["tune", "-f"]).arg(&ini).arg("--source").arg(&source);
        command.args(["--iterations", "1", "--reference"]).arg(&reference).arg("-o").arg(&output);
        command
    };
    let log = run_log(command().args(["--", "-xml-input", "exclusive"]));
    assert!(log.contains("s, line 2: markup"), "{log}");
    assert!(log.contains("1 of 3 lines have no translation, or are translated in parts"), "{log}");
    let error = run_to_error(command().args(["--", "-inputtype", "7"]));
    assert!(error.contains("no line has a translation"), "{error}");
    for (option, expected) in [
        ("-split", "-split is an option of `miriam translate`, not of the search"),
        ("-i", "-i: `miriam tune` does not take this option"),
        ("--n-best-list=x", "--n-best-list=x: `miriam tune` does not take this option"),
        ("-server", "-server: `miriam tune` does not take this option"),
    ] {
        let error = run_to_usage_error(command().args(["--", option, "x"]));
        assert!(error.contains(expected), "{option}: {error}");
    }
}

/// A development text without lines is an error of the file, not of usage.
#[test]
fn empty_development_texts_are_rejected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ini = write_toy_system(folder.path(), "0.5");
    let empty = folder.path().join("empty");
    std::fs::write(&empty, "").expect("writable");
    let mut command = miriam();
    command.args(["tune", "-f", path_str(&ini), "-o", path_str(&folder.path().join("tuned"))]);
    command.args(["--source", path_str(&empty), "--reference", path_str(&empty)]);
    let message = run_to_error(&mut command);
    assert!(message.contains("empty: there is nothing to tune on"), "{message}");
}

/// The name of a configuration may have any bytes.
#[test]
fn a_configuration_whose_name_is_not_utf8_is_opened() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = folder.path().join("text");
    std::fs::write(&text, "a\n").expect("writable");
    let mut command = miriam();
    command.arg("tune").arg("-f").arg(OsStr::from_bytes(b"folder\xff/moses.ini"));
    command.args(["-o", "tuned", "--source", path_str(&text), "--reference", path_str(&text)]);
    let message = run_to_error(command.current_dir(folder.path()));
    assert!(message.contains("/moses.ini") && message.contains("No such file"), "{message}");
}

/// References without words cannot rank translations.
#[test]
fn references_of_empty_lines_are_rejected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ini = write_toy_system(folder.path(), "0.5");
    let text = |name: &str, lines: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, lines).expect("writable");
        path
    };
    let source = text("source", "the house\nthe red house\nthe house\n");
    let tune = |source: &Path, reference: &Path| {
        let mut command = miriam();
        command.args(["tune", "-f", path_str(&ini), "--iterations", "1", "-o"]);
        command.arg(folder.path().join("tuned")).arg("--source").arg(source);
        command.arg("--reference").arg(reference);
        command
    };
    let empty = text("empty", "\n \n\t\n");
    let message = run_to_error(&mut tune(&source, &empty));
    assert!(message.contains("empty: all its lines are empty"), "{message}");
    let message = run_to_error(&mut tune(&empty, &source));
    assert!(message.contains("empty: all its lines are empty"), "{message}");
    let log = run_log(&mut tune(&source, &text("most", "la casa\n\n\n")));
    assert!(log.contains("most: 2 of 3 lines are empty"), "{log}");
}

#[test]
fn untunable_systems_are_rejected() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let ini = write_toy_system(folder.path(), "0.5");
    let output = folder.path().join("tuned.ini");
    let content = lossy_text(&read_decompressed(&ini));
    std::fs::write(&ini, content.clone() + "\n[weight-overwrite]\nLM0= 0.7\n").expect("writable");
    let message = run_to_error(&mut tune(&ini, &output));
    assert!(message.contains("[weight-overwrite]"), "{message}");
    std::fs::write(&ini, content).expect("writable");
    let message = run_to_error(tune(&ini, &output).args(["--reference", "/no/such"]));
    assert!(message.contains("/no/such"), "{message}");
    assert!(!output.exists());
}

/// The tuned weights are better than the initial weights of the recorded Moses pipeline, on a part
/// of the real text.
#[test]
fn real_text_gets_better() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (ini, output) = (data.join("text.ini"), folder.path().join("tuned.ini"));
    let part = |name: &str| {
        let lines = lossy_text(&read_decompressed(&data.join("corpus").join(name)));
        let part: String = lines.lines().take(200).map(|line| format!("{line}\n")).collect();
        let path = folder.path().join(name.trim_end_matches(".gz"));
        std::fs::write(&path, part).expect("writable");
        path
    };
    let (source, reference) = (part("dev.de.gz"), part("dev.en.gz"));
    let mut command = miriam();
    command.current_dir(&data).args(["tune", "-f", path_str(&ini), "-o", path_str(&output)]);
    command.args(["--source", path_str(&source), "--reference", path_str(&reference)]);
    let log = run_log(command.args(["--iterations", "3", "--nbest-size", "50"]));
    let scores = bleu_per_iteration(&log);
    assert!(scores[2] > scores[0] + 0.5, "{scores:?}");
}
