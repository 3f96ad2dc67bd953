//! `miriam train` end to end: from text to a tuned model, killed and resumed, with
//! changed options, and over unusable data.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_with_input,
};

fn toy_file(name: &str) -> PathBuf {
    project_root().join("examples/toy").join(name)
}

/// Returns the command `miriam train` on the toy text, tuned on its dev text.
fn train(model: &Path, options: &[&str]) -> Command {
    let mut command = miriam();
    command
        .arg("train")
        .arg("--source")
        .arg(toy_file("train.en"))
        .arg("--target")
        .arg(toy_file("train.es"));
    command.arg("--dev-source").arg(toy_file("dev.en")).arg("--dev-target").arg(toy_file("dev.es"));
    command.args(["--lm-order", "3", "--iterations", "4", "-o"]).arg(model).args(options);
    command
}

/// Returns the stages that a run executed, by its messages.
fn stages_done(stderr: &[u8]) -> Vec<String> {
    let done = |line: &str| {
        let (number, rest) = line.trim_start().strip_prefix("INFO ")?.split_once(" of ")?;
        number.parse::<usize>().ok()?;
        Some(rest.split_once(": ")?.1.to_owned())
    };
    lossy_text(stderr).lines().filter_map(done).collect()
}

/// Returns the BLEU of the model on the toy test text.
fn test_bleu(model: &Path) -> f64 {
    let mut translate = miriam();
    translate.args(["translate", "-f"]).arg(model.join("moses.ini"));
    let translations = run(translate.arg("-i").arg(toy_file("test.en")));
    let mut evaluate = miriam();
    evaluate.arg("evaluate").arg("--reference").arg(toy_file("test.es"));
    evaluate.args(["--metric", "bleu", "--tokenize", "none", "--score-only"]);
    lossy_text(&run_with_input(&mut evaluate, &translations).stdout).trim().parse().unwrap()
}

#[test]
fn from_text_to_a_model_that_translates_unseen_text() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model");
    let first = run_with_input(&mut train(&model, &["--text"]), b"");
    let summary = lossy_text(&first.stdout);
    for line in ["10000 of 10000 pairs", "before tuning", "moses.ini"] {
        assert!(summary.contains(line), "{summary}");
    }
    assert_eq!(stages_done(&first.stderr).len(), 10);
    assert!(!model.join("train.work").exists());
    let bleu = test_bleu(&model);
    assert!(bleu > 80.0, "{bleu}");
    // The text tables are those from which the model was built.
    let phrases =
        read_decompressed(&model.join("text/phrase-table.gz")).split(|&b| b == b'\n').count() - 1;
    assert!(summary.contains(&format!("{phrases} pairs")), "{summary}");
    for name in ["reordering-table.gz", "lex.e2f", "lex.f2e", "lm.arpa.gz"] {
        assert!(model.join("text").join(name).exists(), "{name}");
    }

    // The same command again has nothing to do; a moved model translates the same.
    let again = run_with_input(&mut train(&model, &["--text"]), b"");
    assert_eq!(stages_done(&again.stderr), [""; 0]);
    let moved = folder.path().join("moved");
    fs::rename(&model, &moved).unwrap();
    assert_eq!(test_bleu(&moved), bleu);
    run(miriam().arg("verify").arg(moved.join("phrase-table.miriam")));
    run(miriam().arg("verify").arg(moved.join("lm.miriam")));
}

/// A run killed between stages may be resumed with a request for more files.
#[test]
fn text_tables_may_be_requested_later() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path();
    run_with_input(&mut train(model, &["--keep-work"]), b"");
    fs::remove_file(model.join("phrase-table.miriam")).unwrap();
    for _ in 0..2 {
        run_with_input(&mut train(model, &["--keep-work", "--text"]), b"");
        assert!(model.join("text/phrase-table.gz").exists());
        // Without --text the tables are set aside, because they would not belong to the model.
        let log = lossy_text(&run_with_input(&mut train(model, &["--keep-work"]), b"").stderr);
        assert!(log.contains("it is text.old now"), "{log}");
        assert!(model.join("text.old/phrase-table.gz").exists() && !model.join("text").exists());
    }
}

#[test]
fn swapped_development_texts_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let warns = |source: &str, target: &str| {
        let mut command = miriam();
        command.arg("train").arg("--source").arg(toy_file("train.en"));
        command.arg("--target").arg(toy_file("train.es"));
        command.arg("--dev-source").arg(toy_file(source));
        command.arg("--dev-target").arg(toy_file(target));
        command.args(["--method", "none", "--lm-order", "2", "-o"]).arg(folder.path());
        let log = lossy_text(&run_with_input(&mut command, b"").stderr);
        log.contains("are the two sides of the development text swapped?")
    };
    assert!(warns("dev.es", "dev.en"));
    assert!(!warns("dev.en", "dev.es"));
}

#[test]
fn unused_options_of_tuning_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    fs::write(&text, "a b\nc\n").unwrap();
    let warnings = |options: &[&str]| {
        let mut command = miriam();
        command.arg("train").arg("--source").arg(&text).arg("--target").arg(&text);
        command.args(["--lm-order", "2", "-o"]).arg(folder.path().join("model")).args(options);
        let log = lossy_text(&run_with_input(&mut command, b"").stderr);
        let lines = log.lines().filter(|line| line.contains("has no effect"));
        lines.map(|line| line.trim_start().to_owned()).collect::<Vec<_>>()
    };
    let all = ["--method", "mert", "--seed", "3", "--iterations", "2"];
    let reason = "has no effect: weights are tuned only with --dev-source and --dev-target";
    let expected = ["--method", "--seed", "--iterations"];
    assert_eq!(warnings(&all), expected.map(|option| format!("WARN {option} {reason}")));
    assert_eq!(warnings(&["--method", "none"]), [""; 0]);
    assert_eq!(warnings(&[]), [""; 0]);
    let dev = text.to_str().unwrap();
    let dev = ["--dev-source", dev, "--dev-target", dev];
    let reason = "has no effect: --method none keeps the initial weights";
    assert_eq!(
        warnings(&[&dev[..], &["--method", "none", "--seed", "3"]].concat()),
        [format!("WARN --seed {reason}")]
    );
}

#[test]
fn only_outdated_stages_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path();
    let stages =
        |options: &[&str]| stages_done(&run_with_input(&mut train(model, options), b"").stderr);
    assert_eq!(stages(&[]).len(), 10);
    let log = lossy_text(&run_with_input(&mut train(model, &["--seed", "3"]), b"").stderr);
    assert!(
        log.contains("--seed was 1, now it is 3; the files that depend on it are replaced"),
        "{log}"
    );
    assert!(!log.contains("--lm-order was"), "{log}");
    assert_eq!(stages(&["--seed", "2"]), ["checking the text for tuning", "tuning the weights"]);
    let changed = stages(&["--seed", "2", "--lm-type", "trie"]);
    assert!(changed.contains(&"estimating the language model".to_owned()), "{changed:?}");
    assert!(!changed.contains(&"aligning words".to_owned()), "{changed:?}");
    // A file of the wrong length is rebuilt, with all its inputs.
    fs::write(model.join("phrase-table.miriam"), "short").unwrap();
    let changed = stages(&["--seed", "2", "--lm-type", "trie"]);
    assert!(changed.contains(&"aligning words".to_owned()), "{changed:?}");
    assert!(!changed.contains(&"estimating the language model".to_owned()), "{changed:?}");
}

/// A run killed at any point is resumed by the same command and gives the model of an
/// uninterrupted run, also with other threads and memory.
#[test]
fn a_resumed_training_gives_the_same_model() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    run_with_input(&mut train(&at("whole"), &[]), b"");
    let mut killed = 0;
    for milliseconds in [30, 120, 250, 400, 700, 1100] {
        let mut child = train(&at("killed"), &["--threads", "1", "--memory", "64M"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        while start.elapsed() < Duration::from_millis(milliseconds) {
            std::thread::sleep(Duration::from_millis(5));
        }
        killed += usize::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(killed > 0, "no run lasted 30 ms");
    run_with_input(&mut train(&at("killed"), &["--threads", "3"]), b"");
    for file in ["moses.ini", "phrase-table.miriam", "lm.miriam"] {
        let [whole, killed] =
            ["whole", "killed"].map(|name| read_decompressed(&at(name).join(file)));
        assert!(whole == killed, "{file} differs");
    }
    let left: Vec<_> =
        fs::read_dir(at("killed")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn training_on_raw_text_gives_a_raw_text_system() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // Raw text: a capital letter first, full stops attached to words.
    for side in ["train.en", "train.es", "dev.en", "dev.es"] {
        let raw: String = lossy_text(&read_decompressed(&toy_file(side)))
            .lines()
            .map(|line| {
                let mut letters = line.replace(" .", ".").replace(" ?", "?").replace("¿ ", "¿");
                if let Some(first) = letters.get(..1) {
                    letters.replace_range(..1, &first.to_uppercase());
                }
                letters + "\n"
            })
            .collect();
        fs::write(at(side), raw).unwrap();
    }
    let mut command = miriam();
    command.arg("train").arg("--source").arg(at("train.en")).arg("--target").arg(at("train.es"));
    command.arg("--dev-source").arg(at("dev.en")).arg("--dev-target").arg(at("dev.es"));
    command.args(["--raw", "--source-language", "en", "--target-language", "es"]);
    fs::write(at("list"), "Zork\n").unwrap();
    command.arg("--nonbreaking-prefixes").arg(at("list"));
    command.args(["--lm-order", "3", "--iterations", "3", "-o"]).arg(at("model"));
    let summary = lossy_text(&run_with_input(&mut command, b"").stdout);
    assert!(summary.contains("translate with  miriam translate -f "), "{summary}");
    assert!(!summary.contains(" 0.0 s"), "{summary}");
    // The system prepares text by default; its copy of the list is enough.
    assert_eq!(fs::read(at("model/nonbreaking-prefixes.source")).unwrap(), b"Zork\n");
    fs::remove_file(at("list")).unwrap();
    let translate = |options: &[&str], text: &str| {
        let mut command = miriam();
        command.args(["translate", "-f"]).arg(at("model/moses.ini")).args(options);
        let output = run_with_input(&mut command, text.as_bytes());
        (lossy_text(&output.stdout), lossy_text(&output.stderr))
    };
    for options in [&[][..], &["-raw"]] {
        let (text, _) = translate(options, "This story is interesting.\n");
        assert_eq!(text, "Esta historia es interesante.\n", "{options:?}");
    }
    let (tokens, _) = translate(&["-no-raw"], "this story is interesting .\n");
    assert_eq!(tokens, "esta historia es interesante . \n");
    let list = at("n-best");
    translate(&["-n-best-list", list.to_str().unwrap(), "1"], "Zork. Story.\n");
    let list = lossy_text(&read_decompressed(&list));
    assert!(list.to_lowercase().contains("zork. historia ."), "{list}");
    // Tuning reads raw texts too, and reports the BLEU that training had with the same weights.
    let mut tune = miriam();
    tune.args(["tune", "--iterations", "1", "-f"]).arg(at("model/moses.untuned.ini"));
    tune.arg("--source").arg(at("dev.en")).arg("--reference").arg(at("dev.es"));
    fs::create_dir(at("elsewhere")).unwrap();
    let output = run_with_input(tune.arg("-o").arg(at("elsewhere/tuned.ini")), b"");
    let bleu = |text: &str, before: &str, after: &str| {
        let rest = text.split_once(before).unwrap_or_else(|| panic!("{text}")).1;
        rest.split_once(after).unwrap().0.trim().to_owned()
    };
    assert_eq!(
        bleu(&lossy_text(&output.stderr), "iteration 1: BLEU", "("),
        bleu(&summary, "dev BLEU", "before tuning")
    );
    // The files that prepare raw text were copied with the ini.
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(at("elsewhere/tuned.ini"));
    let output = run_with_input(&mut command, b"This story is interesting.\n");
    assert_eq!(lossy_text(&output.stdout), "Esta historia es interesante.\n");
    fs::write(at("elsewhere/preparation"), "tokenize fr\n").unwrap();
    let message = run_to_error(&mut tune);
    assert!(message.contains("preparation: it belongs to another system"), "{message}");
    // A system of tokens in the same folder does not prepare texts any more.
    let mut again = train(&at("model"), &[]);
    let log = lossy_text(&run_with_input(&mut again, b"").stderr);
    assert!(log.contains("--raw was en es, now it is none"), "{log}");
    assert!(log.contains("it is preparation.old now"), "{log}");
    let (tokens, _) = translate(&[], "this story is interesting .\n");
    assert_eq!(tokens, "esta historia es interesante . \n");
    // Another command is rejected too if it would write the ini of a system of tokens there.
    let mut build = miriam();
    build.args(["pt", "build", "--config"]).arg(toy_file("moses.ini"));
    let message = run_to_error(build.arg("-o").arg(at("elsewhere")));
    assert!(message.contains("preparation: it belongs to another system"), "{message}");
}

/// Text that is not tokenised is noticed where nothing tokenises it.
#[test]
fn untokenised_text_is_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let raw = "Das Haus, das klein ist.\nEin Buch, ein Haus!\n".repeat(20);
    let tokens = raw.replace(',', " ,").replace('.', " .").replace('!', " !");
    fs::write(at("raw"), &raw).unwrap();
    fs::write(at("tokens"), &tokens).unwrap();
    let train = |text: &str| {
        let mut command = miriam();
        command.arg("train").arg("--source").arg(at(text)).arg("--target").arg(at(text));
        command.args(["--lm-order", "2", "-o"]).arg(at("model"));
        lossy_text(&run_with_input(&mut command, b"").stderr)
    };
    let notice = "does not look tokenised";
    let warnings = train("raw");
    assert!(warnings.contains("44 % of the words end in attached punctuation"));
    assert!(warnings.contains(notice) && warnings.contains("--raw"), "{warnings}");
    assert!(!train("tokens").contains(notice));
    let translate = |text: &str, options: &[&str]| {
        let mut command = miriam();
        command.args(["translate", "-f"]).arg(at("model/moses.ini")).args(options);
        let output = run_with_input(&mut command, text.as_bytes());
        assert_eq!(lossy_text(&output.stdout).lines().count(), 40);
        lossy_text(&output.stderr)
    };
    assert!(translate(&raw, &[]).contains(notice));
    assert!(!translate(&raw, &["-no-raw"]).contains(notice));
    assert!(!translate(&raw, &["-tokenize", "de"]).contains(notice));
    assert!(!translate(&tokens, &[]).contains(notice));
}

/// Changed and unusual lines are reported with the name of their file.
#[test]
fn changed_and_unusual_lines_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let lines = "das haus ist klein\nein buch , ein haus !\n".repeat(20);
    fs::write(at("source"), format!("a | b\nx\u{1}y\tz\n{lines}")).unwrap();
    fs::write(at("target"), [&b"\xe4 b\nx y\r\n"[..], lines.as_bytes()].concat()).unwrap();
    let mut command = miriam();
    command.arg("train").arg("--source").arg(at("source")).arg("--target").arg(at("target"));
    command.args(["--lm-order", "2", "-o"]).arg(at("model"));
    let log = lossy_text(&run_with_input(&mut command, b"").stderr);
    for reported in [
        "source: lines with |, which is &#124; now: 1",
        "source: lines with control characters, which are spaces now: 1",
        "target: lines not UTF-8: 1",
    ] {
        assert!(log.contains(reported), "{reported}: {log}");
    }
    for absent in ["source: lines not UTF-8", "target: lines with"] {
        assert!(!log.contains(absent), "{absent}: {log}");
    }
}

/// A wrong dev text ends a run before its first stage.
#[test]
fn texts_are_checked_before_the_first_stage() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("two"), "a b\nc\n").unwrap();
    fs::write(at("one"), "A\n").unwrap();
    fs::write(at("blank"), "\n \n").unwrap();
    for (dev, lm, named) in [
        (["two", "one"], "two", "two has 2 lines"),
        (["two", "blank"], "two", "blank: the text is empty"),
        (["two", "two"], "blank", "blank: the text is empty"),
    ] {
        let mut command = miriam();
        command.arg("train").arg("--source").arg(at("two")).arg("--target").arg(at("two"));
        command.arg("--dev-source").arg(at(dev[0])).arg("--dev-target").arg(at(dev[1]));
        command.arg("--lm-text").arg(at(lm)).args(["--lm-order", "2", "-o"]).arg(at("model"));
        let message = run_to_error(&mut command);
        assert!(message.contains(named), "{message}");
        assert!(!at("model").exists());
    }
}

#[test]
fn unusable_training_data_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("two"), "a b\nc\n").unwrap();
    fs::write(at("one"), "A\n").unwrap();
    fs::write(at("empty"), "").unwrap();
    let complain = |source: &str, target: &str, options: &[&str]| {
        let mut command = miriam();
        command.arg("train").arg("--source").arg(at(source)).arg("--target").arg(at(target));
        run_to_error(command.arg("-o").arg(at("model")).args(options))
    };
    let message = complain("two", "one", &[]);
    assert!(message.contains("two has 2 lines") && message.contains("one has 1"), "{message}");
    let message = complain("empty", "empty", &[]);
    assert!(message.contains("the text is empty"), "{message}");
    let message = complain("two", "missing", &[]);
    assert!(message.contains("missing"), "{message}");
    for (options, named) in [
        (["--lm-order", "40"], "40"),
        (["--max-length", "99"], "99"),
        (["--max-words", "2000"], "1000"),
        (["--reordering", "wbe-msd-bidirectional-f"], "`fe`"),
        (["--reordering", "sideways"], "sideways"),
        (["--iterations", "0"], "at least one iteration"),
    ] {
        let message = complain("two", "two", &options);
        assert!(message.contains(named), "{message}");
    }
    // An ini from elsewhere is not replaced.
    fs::create_dir(at("theirs")).unwrap();
    fs::write(at("theirs/moses.ini"), "theirs").unwrap();
    let mut command = miriam();
    command.arg("train").arg("--source").arg(at("two")).arg("--target").arg(at("two"));
    let message = run_to_error(command.arg("-o").arg(at("theirs")));
    assert!(message.contains("theirs/moses.ini"), "{message}");
    assert_eq!(read_decompressed(&at("theirs/moses.ini")), b"theirs");
    // If the record `train.json` is unreadable, all stages run again, and nothing else changes.
    fs::create_dir_all(at("model")).unwrap();
    fs::write(at("model/train.json"), "{").unwrap();
    let mut command = miriam();
    command.arg("train").arg("--source").arg(at("two")).arg("--target").arg(at("two"));
    let output = run_with_input(command.args(["--lm-order", "2", "-o"]).arg(at("model")), b"");
    assert!(lossy_text(&output.stdout).contains("2 of 2 pairs"));
}
