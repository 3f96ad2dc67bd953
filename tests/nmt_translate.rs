//! `miriam nmt translate` and `nmt score`: text to text, with the output of Marian.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_with_input,
    shared_data,
};

/// Tolerance: Marian adds floats in another order.
const TOLERANCE: f64 = 5e-3;

fn tiny_model(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

/// Returns the command `miriam nmt translate` with the small model of the project.
fn translate_tiny() -> Command {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "-m"]).arg(tiny_model("tiny.npz"));
    command.arg("-v").args([tiny_model("tiny.vocab.yml"), tiny_model("tiny.vocab.yml")]);
    command.args(["-b", "3", "--max-length-factor", "2"]);
    command
}

/// Returns random sentences of up to 30 words; some are empty, and some have unknown words.
fn sentences(count: usize) -> String {
    let mut state = 1u32;
    let mut random = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let mut text = String::new();
    for _ in 0..count {
        let words: Vec<String> = (0..random(31)).map(|_| format!("w{}", 2 + random(24))).collect();
        text += &(words.join(" ") + "\n");
    }
    text
}

/// Returns the command with a model of the oracle, in the dialect of Marian's main line.
fn oracle_command(data: &Path, command: &str, model: &str) -> Command {
    let spm = data.join("vocab.spm");
    let mut all = miriam();
    all.args(["nmt", command, "--quiet", "--dialect", "marian", "-m"]);
    all.arg(data.join(format!("models/{model}.npz"))).arg("-v").args([&spm, &spm]);
    if command == "translate" {
        all.args(["--max-length-factor", "2"]);
    }
    all
}

/// Returns the first lines of a text.
fn first_lines(bytes: &[u8], lines: usize) -> String {
    lossy_text(bytes).lines().take(lines).map(|line| format!("{line}\n")).collect()
}

/// Parses an entry of an n-best list: number, translation, word scores, feature, total.
fn parse_n_best_line(line: &str) -> (u64, String, Vec<f64>, f64, f64) {
    let fields: Vec<&str> = line.split("|||").collect();
    let [number, translation, words, feature, total] = fields[..] else { panic!("{line}") };
    let numbers = |field: &str| -> Vec<f64> {
        field.split_whitespace().skip(1).map(|number| number.parse().unwrap()).collect()
    };
    let (words, feature) = (numbers(words), numbers(feature)[0]);
    let (number, total) = (number.trim().parse().unwrap(), total.trim().parse().unwrap());
    (number, translation.trim().to_owned(), words, feature, total)
}

/// `--report` gives the same words and tokens, and the same price, as this test computes. The
/// report does not change the translations.
#[test]
fn a_report_says_what_a_translation_took() {
    let text = sentences(40);
    let words = text.split_whitespace().count();
    let plain = run_with_input(&mut translate_tiny(), text.as_bytes());
    let mut command = translate_tiny();
    command.args(["--report", "--price", "3.6"]);
    let reported = run_with_input(&mut command, text.as_bytes());
    assert_eq!(lossy_text(&reported.stdout), lossy_text(&plain.stdout));
    let report = lossy_text(&reported.stderr);
    let value = |name: &str| -> f64 {
        let line = report.lines().find(|line| line.starts_with(name));
        let line = line.unwrap_or_else(|| panic!("{name}: {report}"));
        line[name.len()..].trim().parse().unwrap_or_else(|e| panic!("{line}: {e}"))
    };
    assert_eq!(value("lines "), 40.0);
    assert_eq!(value("source words"), words as f64);
    // The vocabulary has words, so tokens are words.
    assert_eq!(value("source tokens"), words as f64);
    assert!(value("model MiB") > 0.0);
    // At a price of 3.6 an hour, a second costs 0.001, so a million words cost 1,000 times the
    // seconds per word.
    let expected = value("seconds") / words as f64 * 1000.0;
    let (seconds, price) = (value("seconds"), value("price per 1M words"));
    assert!(seconds > 0.0 && (price / expected - 1.0).abs() < 0.05, "{report}");
    // With a second model, the words of the text are counted, not those of the intermediate
    // translation.
    let mut command = miriam();
    let model = tiny_model("tiny-ct2");
    command.args(["nmt", "translate", "--quiet", "--report", "-m"]).arg(&model);
    let pivot = run_with_input(command.arg("--then").arg(&model), text.as_bytes());
    assert!(lossy_text(&pivot.stderr).contains(&format!("source words           {words}\n")));
    for wrong in [&["--price", "1"][..], &["--report", "--price", "-1"]] {
        let output = translate_tiny().args(wrong).stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn marian_kernel_options_are_reported_and_change_nothing() {
    let input = sentences(5);
    let plain = run_with_input(&mut translate_tiny(), input.as_bytes());
    let mut command = translate_tiny();
    command.args(["-w", "-2000", "--quiet-translation", "--gemm-precision", "int8shiftAll"]);
    let given = run_with_input(&mut command, input.as_bytes());
    assert_eq!(lossy_text(&given.stdout), lossy_text(&plain.stdout));
    let message = lossy_text(&given.stderr);
    assert!(message.contains("--workspace --quiet-translation"), "{message}");
    assert!(message.contains("--gemm-precision; --precision sets"), "{message}");
}

#[test]
fn greedy_translations_are_those_of_marian() {
    let Some(data) = shared_data("nmt-oracle") else { return };
    // Line 20 is empty, line 41 has unknown characters.
    let input = first_lines(&read_decompressed(&data.join("input.txt")), 42);
    for model in ["tr-post", "tr-pre", "tr-ssru", "tr-aan", "rnn-gru", "nematus-ln"] {
        let expected = read_decompressed(&data.join(format!("out/{model}/marian.greedy.txt")));
        let output = run_with_input(
            oracle_command(&data, "translate", model).args(["-b", "1"]),
            input.as_bytes(),
        );
        assert_eq!(lossy_text(&output.stdout), first_lines(&expected, 42), "{model}");
    }
}

#[test]
fn lists_and_their_scores_are_those_of_marian() {
    let Some(data) = shared_data("nmt-oracle") else { return };
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    let lines = 12;
    let input = first_lines(&read_decompressed(&data.join("input.txt")), lines);
    let mut command = oracle_command(&data, "translate", "tr-post");
    command.args(["-b", "4", "--normalize", "0.6", "--n-best", "--word-scores", "--no-spm-decode"]);
    let found = run_with_input(&mut command, input.as_bytes()).stdout;
    let expected =
        lossy_text(&read_decompressed(&data.join("out/tr-post/marian.b4.n0.6.nbest.gz")));
    let expected =
        expected.lines().map(parse_n_best_line).take_while(|(number, ..)| *number < lines as u64);
    let expected: Vec<_> = expected.collect();
    let entries: Vec<_> = lossy_text(&found).lines().map(parse_n_best_line).collect();
    assert_eq!(entries.len(), expected.len());
    for (ours, theirs) in entries.iter().zip(&expected) {
        assert_eq!((ours.0, &ours.1, ours.2.len()), (theirs.0, &theirs.1, theirs.2.len()));
        let pairs =
            ours.2.iter().zip(&theirs.2).chain([(&ours.3, &theirs.3), (&ours.4, &theirs.4)]);
        for (a, b) in pairs {
            assert!((a - b).abs() < TOLERANCE, "{ours:?} {theirs:?}");
        }
    }
    // Scoring the same list gives the same scores, except for hypotheses truncated at the
    // length limit, which have no </s> to score.
    std::fs::write(&list, &found).unwrap();
    // The list is tokenised, so its source is too.
    let pieces = folder.path().join("pieces");
    std::fs::write(&pieces, first_lines(&read_decompressed(&data.join("input.pieces.txt")), lines))
        .unwrap();
    let mut command = oracle_command(&data, "score", "tr-post");
    command.args(["--no-spm-encode", "--n-best-feature", "Again"]);
    command.arg("--source").arg(&pieces).arg("--n-best").arg(&list);
    let scored = lossy_text(&run(&mut command));
    let mut whole = 0;
    for (line, ours) in scored.lines().zip(&entries) {
        let (before, after) = line.split_once(" Again= ").unwrap();
        assert!(before.contains("F0= "), "{line}");
        let (score, total) = after.split_once(" ||| ").unwrap();
        assert!(total.parse::<f64>().is_ok(), "{line}");
        if ours.2.len() == ours.1.split_whitespace().count() + 1 {
            assert!((score.parse::<f64>().unwrap() - ours.3).abs() < TOLERANCE, "{line}");
            whole += 1;
        }
    }
    assert_eq!(scored.lines().count(), entries.len());
    assert!(whole > lines, "{whole}");
}

#[test]
fn alignments_and_ensembles_are_those_of_marian() {
    let Some(data) = shared_data("nmt-oracle") else { return };
    let input = b"two guys mounting a box .\n\nein rehpaar im wald\n";
    let mut command = oracle_command(&data, "translate", "tr-post");
    let output = run_with_input(command.args(["-b", "1", "--alignment", "hard"]), input);
    let expected = "wird beard ||| 6-0 6-1 6-2\n ||| 0-0\n\
                    gentlem walk at männliche beachige ||| 1-5 5-2 5-6 6-3 7-0 7-1 7-4\n";
    assert_eq!(lossy_text(&output.stdout), expected);
    let mut command = oracle_command(&data, "translate", "tr-post");
    let output = run_with_input(command.args(["-b", "2", "--alignment", "0.2"]), input);
    let last = "doglässt ||| 6-2 7-0 7-1";
    assert_eq!(lossy_text(&output.stdout).lines().last(), Some(last));
    let mut command = miriam();
    let spm = data.join("vocab.spm");
    command.args([
        "nmt",
        "translate",
        "--quiet",
        "--max-length-factor",
        "2",
        "-b",
        "2",
        "--n-best",
    ]);
    command.arg("--normalize").arg("-m");
    command.arg(data.join("models/tr-post.npz")).arg(data.join("models/tr-ssru.npz"));
    command.arg("-v").args([&spm, &spm]);
    let output = lossy_text(&run_with_input(&mut command, input).stdout);
    let first: Vec<&str> = output.lines().next().unwrap().split(" ||| ").collect();
    assert_eq!(first[..2], ["0", "wird schutzhelm"]);
    let numbers: Vec<f64> =
        format!("{} {}", first[2], first[3]).split(' ').filter_map(|n| n.parse().ok()).collect();
    for (ours, theirs) in numbers.iter().zip([-8.33922, -15.6192, -7.98615]) {
        assert!((ours - theirs).abs() < TOLERANCE, "{first:?}");
    }
    assert_eq!(numbers.len(), 3);
}

#[test]
fn tokens_configurations_and_shortlists() {
    let Some(data) = shared_data("nmt-oracle") else { return };
    let folder = tempfile::tempdir().unwrap();
    // Input and output are tokens, with a vocabulary that is a map in YAML.
    let yml = data.join("vocab.yml");
    let pieces = first_lines(&read_decompressed(&data.join("input.pieces.txt")), 30);
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "-b", "1", "--max-length-factor", "2", "-m"]);
    command.arg(data.join("models/tr-post.npz")).arg("-v").args([&yml, &yml]);
    let expected = read_decompressed(&data.join("out/tr-post/marian.greedy.yml-vocab.pieces.txt"));
    assert_eq!(
        lossy_text(&run_with_input(&mut command, pieces.as_bytes()).stdout),
        first_lines(&expected, 30)
    );
    // A configuration file sets defaults, among them a shortlist; options of the command override
    // them.
    let config = folder.path().join("decoder.yml");
    let name = |file: &str| data.canonicalize().unwrap().join(file).display().to_string();
    let (model, spm, lex) = (name("models/tr-post.npz"), name("vocab.spm"), name("lex.s2t"));
    let options = format!(
        "models: [{model}]\nvocabs: [{spm}, {spm}]\nshortlist: [{lex}, 50, 10, 0]\n\
         beam-size: 1\nmax-length-factor: 2\n"
    );
    std::fs::write(&config, options).unwrap();
    let input = first_lines(&read_decompressed(&data.join("input.txt")), 30);
    let translate = |more: &[&str]| {
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet", "-c"]).arg(&config).args(more);
        lossy_text(&run_with_input(&mut command, input.as_bytes()).stdout)
    };
    let expected =
        first_lines(&read_decompressed(&data.join("out/tr-post-lex/marian.greedy.s2t.txt")), 30);
    assert_eq!(translate(&[]), expected);
    assert_eq!(translate(&["--no-shortlist", "-m", &model]), {
        first_lines(&read_decompressed(&data.join("out/tr-post/marian.greedy.txt")), 30)
    });
}

/// A shortlist of words does not fit a model of pieces: nearly all its entries are unknown.
#[test]
fn a_shortlist_of_words_for_a_model_of_pieces_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("lex.s2t");
    let warnings = |entries: &str| {
        std::fs::write(&list, entries).unwrap();
        let mut command = miriam();
        command.args(["nmt", "translate", "-m"]).arg(project_root().join("examples/toy-neural"));
        let output = run_with_input(command.arg("--shortlist").arg(&list), b"the house .\n");
        lossy_text(&output.stderr)
    };
    let words = "casas houses 0.5\nperros dogs 0.5\n. . 0.9\n";
    let found = warnings(words);
    assert!(found.contains("lex.s2t: 2 of 3 entries have words that are not in"), "{found}");
    let found = warnings("\u{2581}. \u{2581}. 0.9\n");
    assert!(!found.contains("entries"), "{found}");
}

/// Options under CTranslate2's names.
#[test]
fn options_have_ctranslate2s_names_too() {
    let translate = |options: [&str; 4]| {
        let mut command = translate_tiny();
        run_with_input(command.args(options), sentences(5).as_bytes()).stdout
    };
    let expected = translate(["--n-best", "2", "--mini-batch", "3"]);
    assert_eq!(translate(["--num-hypotheses", "2", "--max-batch-size", "3"]), expected);
    assert!(lossy_text(&expected).contains("||| "));
}

#[test]
fn batches_and_threads_change_nothing() {
    let input = sentences(150);
    let translate = |more: &[&str]| {
        let mut command = translate_tiny();
        command.args(["--n-best", "--word-scores", "--alignment", "soft"]).args(more);
        run_with_input(&mut command, input.as_bytes()).stdout
    };
    let expected = translate(&["--threads", "1", "--mini-batch", "1", "--maxi-batch-sort", "none"]);
    assert!(lossy_text(&expected).lines().count() > 300);
    for more in [
        &["--threads", "2"][..],
        &["--threads", "1", "--mini-batch", "7"],
        &["--threads", "3", "--mini-batch", "64", "--mini-batch-words", "40"],
        &["--cpu-threads", "2", "--maxi-batch", "1"],
    ] {
        assert_eq!(translate(more), expected, "{more:?}");
    }
    // A file, which is read ahead, gives the same output as a pipe, which is not.
    let folder = tempfile::tempdir().unwrap();
    let (file, output) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&file, &input).unwrap();
    let mut command = translate_tiny();
    command.args(["--n-best", "--word-scores", "--alignment", "soft", "-i"]).arg(&file);
    run(command.arg("-o").arg(&output));
    assert_eq!(std::fs::read(&output).unwrap(), expected);
}

#[test]
fn prefixes_and_constraints_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let source = file("source", "w4 w5\nw6\n\n");
    let prefix = file("prefix", "w9 w3\n\nw2\n");
    let tsv = file("tsv", "w4 w5\tw9 w3\nw6\n\t\n");
    let json = file(
        "json",
        "{\"source\": \"w4 w5\", \"prefix\": \"w9 w3\"}\n{\"source\": \"w6\"}\n{\"source\": \"\"}\n",
    );
    let mut command = translate_tiny();
    let by_files = run(command.arg("--force-decode").arg("-i").args([&source, &prefix]));
    let mut command = translate_tiny();
    assert_eq!(run(command.args(["--force-decode", "--tsv", "-i"]).arg(&tsv)), by_files);
    let mut command = translate_tiny();
    assert_eq!(run(command.args(["--input-form", "json", "-i"]).arg(&json)), by_files);
    let lines: Vec<String> = lossy_text(&by_files).lines().map(str::to_owned).collect();
    assert!(lines[0].starts_with("w9 w3"), "{lines:?}");
    assert_eq!((lines.len(), lines[2].as_str()), (3, ""));
    let constrained = file("constrained", "w4 w5 w7\t\tw20 w11 ||| w17\n");
    let line = lossy_text(&run(translate_tiny().args(["--tsv", "-i"]).arg(&constrained)));
    assert!(line.contains("w20 w11") && line.contains("w17"), "{line}");
    // There must be as many prefixes as sentences.
    let short = file("short", "w9\n");
    let mut command = translate_tiny();
    let error = run_to_error(command.arg("--force-decode").arg("-i").args([&source, &short]));
    assert!(error.contains("short, line 2"), "{error}");
}

#[test]
fn untranslatable_lines_are_empty_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let errors = folder.path().join("errors");
    let input = "{\"source\": \"w4\"}\nno object\n{\"source\": \"w4 w4 w4 w4\"}\n";
    let mut command = translate_tiny();
    command.args(["--input-form", "json", "--max-length", "3", "--errors"]).arg(&errors);
    let output = lossy_text(&run_with_input(&mut command, input.as_bytes()).stdout);
    let lines: Vec<&str> = output.lines().collect();
    assert!(!lines[0].is_empty());
    assert_eq!(lines[1..], ["", ""]);
    let records = std::fs::read_to_string(&errors).unwrap();
    let records: Vec<serde_json::Value> =
        records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (records.len(), &records[0]["line"], &records[1]["line"]),
        (2, &2.into(), &3.into())
    );
    assert!(records[1]["reason"].as_str().unwrap().contains("5 pieces"));
    // With `--max-length-crop`, the beginning of a long line is translated. The limit counts </s>,
    // as in Marian.
    let cut = run_with_input(
        translate_tiny().args(["--max-length", "2", "--max-length-crop"]),
        b"w4 w5\n",
    );
    assert!(
        lossy_text(&cut.stderr).contains("line 1: 3 pieces, at most 2"),
        "{}",
        lossy_text(&cut.stderr)
    );
    assert_eq!(cut.stdout, run_with_input(&mut translate_tiny(), b"w4\n").stdout);
}

#[test]
fn empty_and_very_long_texts() {
    assert_eq!(run_with_input(&mut translate_tiny(), b"").stdout, b"");
    assert_eq!(run_with_input(&mut translate_tiny(), b"\n \n").stdout, b"\n\n");
    let long = "w5 ".repeat(2000) + "\n";
    let mut command = translate_tiny();
    command.args(["--max-decoding-length", "20"]);
    let output = lossy_text(&run_with_input(&mut command, long.as_bytes()).stdout);
    assert!((1..=20).contains(&output.split_whitespace().count()), "{output}");
}

#[test]
fn lines_from_a_pipe_are_translated_at_once() {
    let mut command = translate_tiny();
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in ["w4 w5", "w6"] {
        writeln!(input, "{line}").unwrap();
        input.flush().unwrap();
        // The input stays open: without a translation this would wait for ever.
        assert!(output.next().is_some_and(|line| line.is_ok()));
    }
    drop(input);
    assert!(output.next().is_none());
    assert!(child.wait().unwrap().success());
}

#[test]
fn scores_of_translations_and_their_sums() {
    let folder = tempfile::tempdir().unwrap();
    let (source, target) = (folder.path().join("source"), folder.path().join("target"));
    let input = sentences(40);
    std::fs::write(&source, &input).unwrap();
    let best = run_with_input(&mut translate_tiny(), input.as_bytes()).stdout;
    std::fs::write(&target, &best).unwrap();
    let score = |more: &[&str]| {
        let mut command = miriam();
        command.args(["nmt", "score", "--quiet", "-m"]).arg(tiny_model("tiny.npz"));
        command.arg("-v").args([tiny_model("tiny.vocab.yml"), tiny_model("tiny.vocab.yml")]);
        command.arg("--source").arg(&source).arg("--target").arg(&target).args(more);
        lossy_text(&run(&mut command))
    };
    let lines = score(&["--word-scores"]);
    assert_eq!(lines.lines().count(), 40);
    let (mut sum, mut words) = (0.0, 0);
    for (line, translation) in lines.lines().zip(lossy_text(&best).lines()) {
        let (total, word_scores) = line.split_once(" ||| WordScores= ").unwrap();
        let word_scores: Vec<f64> = word_scores.split(' ').map(|n| n.parse().unwrap()).collect();
        let total: f64 = total.parse().unwrap();
        assert_eq!(word_scores.len(), translation.split_whitespace().count() + 1);
        assert!((word_scores.iter().sum::<f64>() - total).abs() < 1e-3, "{line}");
        sum += total;
        words += word_scores.len();
    }
    assert_eq!(score(&["--word-scores", "--threads", "1", "--mini-batch", "1"]), lines);
    let number = |kind: &str| -> f64 { score(&["--summary", kind]).trim().parse().unwrap() };
    assert!((number("cross-entropy") + sum / 40.0).abs() < 1e-3);
    assert!((number("ce-mean-words") + sum / words as f64).abs() < 1e-4);
    assert!((number("perplexity").ln() + sum / words as f64).abs() < 1e-4);
    // Texts with different numbers of lines do not match.
    std::fs::write(&target, "w3\n").unwrap();
    let mut command = miriam();
    command.args(["nmt", "score", "-m"]).arg(tiny_model("tiny-ct2"));
    let error = run_to_error(command.arg("--source").arg(&source).arg("--target").arg(&target));
    assert!(error.contains("source has 40 lines") && error.contains("target has 1"), "{error}");
}

#[test]
fn unscorable_input_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let score = |name: &str, path: &Path, more: &[&str]| {
        let mut command = miriam();
        command.args(["nmt", "score", "--quiet", "-m"]).arg(tiny_model("tiny.npz"));
        command.arg("-v").args([tiny_model("tiny.vocab.yml"), tiny_model("tiny.vocab.yml")]);
        command.arg(name).arg(path).args(more);
        command
    };
    let tsv = file("tsv", "w3\tw4\nw3\tw4 w5 w6\n");
    let error = run_to_error(&mut score("--tsv", &tsv, &["--max-length", "2"]));
    assert!(error.contains("tsv, line 2") && error.contains("4 pieces, at most 2"), "{error}");
    // Entries with the same number form a group. The third line begins the second group, and its
    // number 0 is wrong, because 1 was before it.
    let source = file("source", "w3\nw4\n");
    let line = |number: u32| format!("{number} ||| w5 ||| F0= -1 ||| -1\n");
    let list = file("list", &(line(1) + &line(1) + &line(0)));
    let list = list.to_str().unwrap();
    let error = run_to_error(&mut score("--source", &source, &["--n-best", list]));
    assert!(error.contains("list, line 3"), "{error}");
    // A list may have any number of entries with one number.
    let long = file("long", &line(1).repeat(1001));
    let long = long.to_str().unwrap();
    let scored = lossy_text(&run(&mut score("--source", &source, &["--n-best", long])));
    let lines: Vec<&str> = scored.lines().collect();
    assert!(lines.len() == 1001 && lines.iter().all(|line| *line == lines[0]));
}

#[test]
fn an_input_file_is_never_the_output() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    std::fs::write(&input, "w4 w5\n").unwrap();
    for option in ["--errors", "--output"] {
        let error = run_to_error(translate_tiny().arg("-i").arg(&input).arg(option).arg(&input));
        assert!(error.contains("input"), "{error}");
        assert_eq!(std::fs::read(&input).unwrap(), b"w4 w5\n", "{option}");
    }
}

#[test]
fn every_format_translates() {
    let folder = tempfile::tempdir().unwrap();
    let input = sentences(20);
    let translate = |model: &Path, more: &[&str]| {
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet", "-m"]).arg(model).args(more);
        command.args(["--max-decoding-length", "40"]);
        lossy_text(&run_with_input(&mut command, input.as_bytes()).stdout)
    };
    // The converted model gives the same translation.
    let converted = folder.path().join("tiny.miriam");
    run(miriam()
        .args(["nmt", "convert", "--quiet"])
        .arg(tiny_model("tiny-ct2"))
        .arg("-o")
        .arg(&converted));
    let whole = translate(&tiny_model("tiny-ct2"), &[]);
    assert_eq!(translate(&converted, &[]), whole);
    assert_eq!(translate(&tiny_model("tiny-ct2-float16"), &[]), whole);
    for name in ["tiny-ct2-int8", "tiny-ct2-int16", "tiny-hf"] {
        assert_eq!(translate(&tiny_model(name), &[]).lines().count(), 20, "{name}");
    }
    for (precision, in_ctranslate2) in [("i16", "int16"), ("i8", "int8")] {
        let lines = translate(&tiny_model("tiny-ct2"), &["--precision", precision]);
        assert_eq!(lines.lines().count(), 20, "{precision}");
        let same = translate(&tiny_model("tiny-ct2"), &["--compute-type", in_ctranslate2]);
        assert_eq!(lines, same, "{precision}");
        if precision == "i8" {
            for kind in ["auto", "int8_float32"] {
                let same = translate(&tiny_model("tiny-ct2"), &["--compute-type", kind]);
                assert_eq!(same, lines, "{kind}");
            }
        }
    }
    assert_eq!(translate(&tiny_model("tiny-ct2"), &["--compute-type", "default"]), whole);
}

#[test]
fn errors_name_the_file_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let translate = |arguments: &[&Path]| {
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet"]).args(arguments);
        run_to_error(&mut command)
    };
    let model = Path::new("-m");
    let error = translate(&[model, &tiny_model("tiny.npz")]);
    assert!(error.contains("tiny.npz") && error.contains("--vocabs"), "{error}");
    let cut = folder.path().join("cut.npz");
    let bytes = std::fs::read(tiny_model("tiny.npz")).unwrap();
    std::fs::write(&cut, &bytes[..bytes.len() - 200]).unwrap();
    assert!(translate(&[model, &cut]).contains("cut.npz"));
    let small = folder.path().join("small.txt");
    std::fs::write(&small, "</s>\n<unk>\nx\n").unwrap();
    let error = translate(&[model, &tiny_model("tiny.npz"), Path::new("-v"), &small, &small]);
    assert!(error.contains("small.txt") && error.contains("24 rows"), "{error}");
    let absent = folder.path().join("absent");
    assert!(
        translate(&[model, &tiny_model("tiny-ct2"), Path::new("-i"), &absent]).contains("absent")
    );
    // Wrong usage ends with status 2.
    for wrong in [
        &["--alignment", "most"][..],
        &["--n-best", "9", "-b", "2"],
        &["--n-best", "9", "-b", "4", "--patience", "2"],
        &["--n-best", "4", "-b", "4", "--patience", "0.5"],
        &["--min-length", "257"],
        &["--min-length", "9", "--max-decoding-length", "8"],
        &["--force-decode"],
        &["--precision", "i4"],
        &["-b", "0"],
        &["-b", "1000000"],
        &["--n-best", "0"],
        &["--normalize", "nan"],
        &["--max-length-factor", "inf"],
        &["--sampling-topp", "1.5"],
        &["--mini-batch", "0"],
        &["--max-decoding-length", "0"],
        &["--errors", "new", "-o", "./new"],
    ] {
        let mut command = miriam();
        command.args(["nmt", "translate", "-m"]).arg(tiny_model("tiny-ct2")).args(wrong);
        let output = command.stdin(Stdio::null()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{wrong:?}: {}", lossy_text(&output.stderr));
    }
}
