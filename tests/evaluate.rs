//! `miriam evaluate` end to end: sacreBLEU's output, byte for byte, and errors about
//! texts that do not match.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{
    lossy_text, miriam, project_root, report_skip, run, run_to_error, run_to_usage_error,
    run_with_input, shared_data,
};

fn evaluate(reference: &Path, arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["evaluate", "--reference"]).arg(reference).args(arguments);
    command
}

fn testdata(name: &str) -> PathBuf {
    project_root().join("base/metrics/testdata").join(name)
}

/// The expected outputs are those of `sacrebleu REFERENCE -m bleu chrf ter` and similar commands of
/// release 2.6.0.
#[test]
fn output_equals_sacrebleus() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let reference = data.join("corpus/test.en.gz");
    let output = data.join("oracle/test.tuned.1best.gz");
    let evaluate = |arguments: &[&str]| {
        let mut command = evaluate(&reference, arguments);
        lossy_text(&run(command.arg("-i").arg(&output)))
    };
    let json = r#"{
 "name": "BLEU",
 "score": 40.5,
 "signature": "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0",
 "verbose_score": "73.8/49.3/33.6/23.3 (BP = 0.985 ratio = 0.985 hyp_len = 12827 ref_len = 13026)",
 "nrefs": "1",
 "case": "mixed",
 "eff": "no",
 "tok": "13a",
 "smooth": "exp",
 "version": "2.6.0"
}
"#;
    assert_eq!(evaluate(&[]), json);
    let lines = "        BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0 = \
        40.4528 73.8/49.3/33.6/23.3 (BP = 0.985 ratio = 0.985 hyp_len = 12827 ref_len = 13026)\n      \
        chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0 = 61.3356\n\
        TER|nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0 = 37.1144\n";
    assert_eq!(evaluate(&["--metric", "ter,bleu,chrf", "-w", "4", "--text"]), lines);
    let numbers = evaluate(&["-b", "--tokenize", "none", "--confidence", "-w", "2", "--text"]);
    assert_eq!(numbers, "40.53 (μ = 40.50 ± 1.58)\n");
    let sentences = evaluate(&["--sentence-level"]);
    let first = "BLEU|nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|version:2.6.0 = 13.4 \
                 66.7/25.0/7.1/4.2 (BP = 0.895 ratio = 0.900 hyp_len = 9 ref_len = 10)";
    assert_eq!(sentences.lines().next(), Some(first));
    assert_eq!(sentences.lines().count(), 1000);
}

#[test]
fn systems_are_compared_with_the_first() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let compare = |names: [&str; 2], arguments: &[&str]| {
        let mut command = evaluate(&data.join("corpus/test.en.gz"), arguments);
        for name in names {
            command.arg("-i").arg(data.join(format!("oracle/test.{name}.1best.gz")));
        }
        lossy_text(&run(&mut command))
    };
    // As `sacrebleu -i default tuned --paired-bs` and `--paired-ar` of release 2.6.0.
    for (test, p_value) in
        [("--paired-bs", 0.06693306693306693), ("--paired-ar", 0.07489251074892511)]
    {
        let json = compare(["default", "tuned"], &[test, "--tokenize", "none"]);
        let found: serde_json::Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(found[1]["BLEU"]["p_value"], p_value, "{test}: {json}");
        assert!(found[0]["BLEU"]["p_value"].is_null());
    }
    // No resample differs: sacreBLEU too gives this p-value.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [tuned, copy] = [data.join("oracle/test.tuned.1best.gz"), folder.path().join("copy.gz")];
    std::fs::copy(&tuned, &copy).expect("writable");
    let reference = data.join("corpus/test.en.gz");
    let mut command = evaluate(&reference, &["--paired-bs", "--text", "-i"]);
    let table = lossy_text(&run(command.args([&tuned, &copy])));
    assert!(table.contains("bs:1000|seed:12345") && table.contains("(p = 0.0010)*\n"), "{table}");
    // As in sacreBLEU, the baseline may be among the files of a glob; another system may not.
    let mut command = evaluate(&reference, &["--paired-bs", "--text", "-i"]);
    assert_eq!(lossy_text(&run(command.args([&tuned, &tuned, &copy, &tuned]))), table);
    for (systems, message) in [
        (&[&tuned, &tuned][..], "a paired test needs two systems"),
        (&[&tuned, &copy, &copy], "given twice"),
    ] {
        let mut command = evaluate(&reference, &["--paired-bs", "-i"]);
        let error = run_to_usage_error(command.args(systems));
        assert!(error.contains(message), "{error}");
    }
    let mut command = evaluate(&reference, &["-i"]);
    assert!(run_to_usage_error(command.args([&tuned, &tuned])).contains("given twice"));
}

/// Scores as sacreBLEU 2.6.0 prints them for the same files.
#[test]
fn several_systems_are_scored_side_by_side() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("writable");
    };
    write("ref", "the cat sat on the mat\nhello world again here\n");
    write("a", "the cat sat on a mat\nhello world again\n");
    write("b_2", "a cat sat on the mat\nhello again here\n");
    let compare = |arguments: &[&str]| {
        let mut command = miriam();
        command.current_dir(folder.path()).args(["evaluate", "ref", "-i", "a", "b_2"]);
        lossy_text(&run(command.args(["-m", "bleu", "chrf"]).args(arguments)))
    };
    let json = "[\n    {\n        \"system\": \"a\",\n        \"BLEU\": \"53.4\",\n        \
                \"chrF2\": \"73.1\"\n    },\n    {\n        \"system\": \"b_2\",\n        \
                \"BLEU\": \"63.5\",\n        \"chrF2\": \"68.2\"\n    }\n]\n";
    assert_eq!(compare(&[]), json);
    let text = compare(&["-f", "text"]);
    assert!(text.starts_with("BLEU|nrefs:1|case:mixed|eff:no|tok:13a"), "{text}");
    assert!(text.contains("  a = 53.4\n  b_2 = 63.5\nchrF2|"), "{text}");
    assert_eq!(compare(&["-f", "text", "-b"]), "53.4\n63.5\n73.1\n68.2\n");
    let latex = compare(&["-f", "latex", "-w", "2"]);
    assert!(latex.contains("\n   System &  BLEU  &  chrF2  \\\\\n\\midrule"), "{latex}");
    assert!(latex.contains("      b\\_2 & 63.52  &  68.17  \\\\\n\\bottomrule"), "{latex}");
    let tested = compare(&["-f", "latex", "--paired-bs"]);
    assert!(
        tested.contains("\n Baseline: a &       53.4 (39.9 ± 26.9)        &        73.1"),
        "{tested}"
    );
    assert!(tested.contains(" &        BLEU (μ ± 95\\% CI)        & "), "{tested}");
    // As in sacreBLEU, paired tests keep the order of the metrics.
    let order = |test: &[&str]| -> Vec<String> {
        let mut command = miriam();
        command.current_dir(folder.path()).args(["evaluate", "ref", "-i", "a", "b_2"]);
        command.args(["-m", "ter", "bleu", "ter", "chrf", "-f", "text"]).args(test);
        let text = lossy_text(&run(&mut command));
        text.lines().filter_map(|line| line.split_once('|')).map(|(name, _)| name.into()).collect()
    };
    assert_eq!(order(&["--paired-ar"]), ["TER", "BLEU", "chrF2"]);
    assert_eq!(order(&[]), ["BLEU", "chrF2", "TER"]);
    // The mean of resampled scores, to the last digit.
    let tested = compare(&["-f", "json", "--paired-bs"]);
    assert!(tested.contains("\"mean\": 39.932112365682606"), "{tested}");
}

#[test]
fn several_references_and_invalid_utf8() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let odd = folder.path().join("odd");
    std::fs::write(&odd, b"a caf\xe9 b c d\n\n").expect("writable");
    let mut command = evaluate(&odd, &["--text", "-b"]);
    command.arg("--reference").arg(&odd);
    let output = run_with_input(&mut command, b"a caf\xe9 b c d\r\nx");
    // Five words of six match, and all longer n-grams: BLEU is the fourth root of 5/6.
    assert_eq!(lossy_text(&output.stdout), "95.5\n");
    let warnings = lossy_text(&output.stderr);
    assert!(warnings.contains("odd, line 1") && warnings.contains("UTF-8"), "{warnings}");
    assert!(warnings.contains("standard input, line 1"), "{warnings}");
}

#[test]
fn a_tokenized_text_gets_a_warning() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("text");
    std::fs::write(&path, "one .\n".repeat(100)).expect("writable");
    let warns = |arguments: &[&str]| {
        let output = evaluate(&path, arguments).arg("-i").arg(&path).output().expect("it starts");
        lossy_text(&output.stderr).contains("tokenised")
    };
    assert!(warns(&[]));
    assert!(!warns(&["--force"]));
    assert!(!warns(&["--metric", "chrf"]));
}

#[test]
fn options_of_other_metrics_get_a_warning() {
    let reference = testdata("odd.ref1");
    let log = |arguments: &[&str]| {
        let mut command = evaluate(&reference, arguments);
        lossy_text(&command.arg("-i").arg(testdata("odd.out")).output().unwrap().stderr)
    };
    let warnings = log(&["--metric", "chrf", "-lc", "--ter-no-punct", "-tok", "none"]);
    let bleu = "without effect here: --tokenize --lowercase (for --metric bleu)";
    assert!(warnings.contains(bleu), "{warnings}");
    let ter = "without effect here: --ter-no-punct (for --metric ter)";
    assert!(warnings.contains(ter), "{warnings}");
    assert!(!log(&["--metric", "bleu,chrf", "-lc", "-tok", "none"]).contains("without effect"));
}

#[test]
fn texts_of_different_lengths_are_rejected() {
    let (reference, output) = (testdata("odd.ref1"), testdata("odd.out"));
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (short, empty) = (folder.path().join("short"), folder.path().join("empty"));
    std::fs::write(&short, "one\ntwo\n").expect("writable");
    std::fs::write(&empty, "").expect("writable");
    let message = run_to_error(evaluate(&reference, &["-i"]).arg(&short));
    assert!(
        message.contains("2 translations") && message.contains("reference 1 has 71"),
        "{message}"
    );
    let message = run_to_error(evaluate(&empty, &["-i"]).arg(&empty));
    assert!(message.contains("no translation"), "{message}");
    let message = run_to_error(evaluate(Path::new("/no/such"), &["-i"]).arg(&output));
    assert!(message.contains("/no/such"), "{message}");
    for wrong in [
        &["--metric", "meteor"][..],
        &["--tokenize", "moses"],
        &["--paired-bs"],
        &["--sentence-level", "--confidence"],
        &["--sentence-level", "--metric", "bleu,ter"],
        &["--confidence", "--confidence-n", "0"],
        &["-i", "other", "--confidence"],
        &["-i", "other", "--sentence-level"],
    ] {
        let mut command = evaluate(&reference, wrong);
        let output = command.arg("-i").arg(&output).stdin(Stdio::null()).output();
        assert_eq!(output.expect("it starts").status.code(), Some(2), "{wrong:?}");
    }
    let message = run_to_error(
        evaluate(&reference, &["--metric=chrf", "--chrf-char-order=0", "-i"]).arg(&output),
    );
    assert!(message.contains("chrF"), "{message}");

    // A file gets what standard output would get.
    let scores = folder.path().join("scores");
    let printed = run(evaluate(&reference, &["-i"]).arg(&output));
    let mut written = evaluate(&reference, &["-i"]);
    assert_eq!(run(written.arg(&output).arg("-o").arg(&scores)), b"");
    assert_eq!(std::fs::read(&scores).unwrap(), printed);
}

/// sacreBLEU's own command lines, with what release 2.6.0 printed for them.
#[test]
fn sacrebleus_command_lines_are_taken() {
    let (first, second) = (testdata("odd.ref1"), testdata("odd.ref2"));
    let sacrebleu = |arguments: &str| {
        let mut command = miriam();
        command.arg("evaluate").args([&first, &second]).arg("-i").arg(testdata("odd.out"));
        lossy_text(&run(command.args(arguments.split(' '))))
    };
    let model = project_root().join("examples/toy-neural/vocab.spm");
    let model = model.display();
    assert_eq!(
        sacrebleu(&format!("-tok flores101 -w 6 -f text --tokenize-model {model}")),
        "BLEU|nrefs:2|case:mixed|eff:no|tok:flores101|smooth:exp|version:2.6.0 = 66.369451 \
         81.9/77.2/71.8/66.5 (BP = 0.895 ratio = 0.900 hyp_len = 3504 ref_len = 3892)\n"
    );
    assert_eq!(
        sacrebleu(&format!("-tok flores200 -lc -w 6 -f text --tokenize-model {model}")),
        "BLEU|nrefs:2|case:lc|eff:no|tok:flores200|smooth:exp|version:2.6.0 = 66.778212 \
         82.1/77.0/71.8/66.7 (BP = 0.900 ratio = 0.905 hyp_len = 3539 ref_len = 3911)\n"
    );
    let several = sacrebleu("-m bleu chrf ter -s none -f text -sh -w 2 -nc -q");
    assert_eq!(several.lines().count(), 3, "{several}");
    assert!(several.contains("#:2|c:mixed|e:no|tok:13a|s:none|v:2.6.0"), "{several}");
    let sentences = sacrebleu("-sl -b");
    assert_eq!(sentences.lines().count(), 71);
    let chinese = sacrebleu("-l de-zh -f text");
    assert!(chinese.contains("|tok:zh|"), "{chinese}");
    // References in the columns of one file.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let columns = folder.path().join("columns");
    std::fs::write(&columns, "a b c d\te b c d\nx y z w\tx y z v\n").expect("writable");
    let mut command = miriam();
    command.arg("evaluate").arg(&columns).args(["-nr", "2", "-w", "4", "-b"]);
    let output = run_with_input(&mut command, b"a b c e\nx y z w\n");
    assert_eq!(lossy_text(&output.stdout), "74.7674\n");
    let mut command = miriam();
    command.arg("evaluate").arg(&columns).args(["-nr", "3", "-i"]).arg(&columns);
    let error = run_to_error(&mut command);
    assert!(error.contains("columns, line 1: 2 references for --num-refs 3"), "{error}");
    // The last reference keeps further tabs; the mean length of the references shows it.
    std::fs::write(&columns, "a b c d\te b c d\tf g\nx y z w\tx y z v\n").expect("writable");
    let mut command = miriam();
    command.arg("evaluate").arg(&columns).args("-nr 2 -m ter -w 4 -b".split(' '));
    let output = run_with_input(&mut command, b"a b c d f\nx y z w\n");
    assert_eq!(lossy_text(&output.stdout), "11.1111\n");
    let warning = lossy_text(&output.stderr);
    assert!(warning.contains("columns, line 1: tabs after reference 2"), "{warning}");
}

/// sacreBLEU 2.6.0 gave the mean.
#[test]
fn sacrebleus_environment_variables_have_an_effect() {
    let reference = testdata("odd.ref1");
    let evaluate = |(variable, value): (&str, &str), arguments: &[&str]| {
        let mut command = evaluate(&reference, arguments);
        command.env(variable, value).arg("-i").arg(testdata("odd.out"));
        command
    };
    let interval = ["-ci", "-f", "text", "-w", "4"];
    let drawn = lossy_text(&run(&mut evaluate(("SACREBLEU_SEED", "7"), &interval)));
    assert!(drawn.contains("|seed:7|") && drawn.contains("(μ = 48.9685 ± 19.6092)"), "{drawn}");
    let with_option = [&interval[..], &["--seed", "8"]].concat();
    let drawn = lossy_text(&run(&mut evaluate(("SACREBLEU_SEED", "7"), &with_option)));
    assert!(drawn.contains("|seed:8|"), "{drawn}");
    let error = run_to_error(&mut evaluate(("SACREBLEU_SEED", "none"), &interval));
    assert!(error.contains("SACREBLEU_SEED=none is not a number"), "{error}");
    run(&mut evaluate(("SACREBLEU_SEED", "none"), &[]));

    for format in ["Text", "latex"] {
        let text = run(&mut evaluate(("SACREBLEU_FORMAT", format), &["-f", "json"]));
        assert!(lossy_text(&text).starts_with("BLEU|nrefs:1|"), "{format}");
    }
    let output =
        evaluate(("SACREBLEU_FORMAT", "xml"), &["-f", "json"]).output().expect("it starts");
    assert!(lossy_text(&output.stdout).starts_with('{'));
    assert!(lossy_text(&output.stderr).contains("SACREBLEU_FORMAT=xml has no effect"));
}

/// The models that sacreBLEU has downloaded are found, and what is missing is named.
#[test]
fn tokenizers_that_are_not_there_are_rejected_by_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let reference = testdata("odd.ref1");
    let evaluate = |arguments: &[&str]| {
        let mut command = evaluate(&reference, arguments);
        command.env("SACREBLEU", folder.path()).arg("-i").arg(testdata("odd.out"));
        command
    };
    let error = run_to_error(&mut evaluate(&["-tok", "flores200"]));
    assert!(
        error.contains("flores200 needs its SentencePiece model")
            && error.contains("models/flores200sacrebleuspm")
            && error.contains("--tokenize-model"),
        "{error}"
    );
    let models = folder.path().join("models");
    std::fs::create_dir(&models).expect("writable");
    let model = project_root().join("examples/toy-neural/vocab.spm");
    std::fs::copy(model, models.join("flores200sacrebleuspm")).expect("writable");
    let found = lossy_text(&run(&mut evaluate(&["-tok", "flores200", "--text"])));
    assert!(found.contains("tok:flores200"), "{found}");
    for arguments in [&["-tok", "ja-mecab"][..], &["-tok", "ko-mecab"], &["-l", "en-ja"]] {
        let error = run_to_error(&mut evaluate(arguments));
        assert!(error.contains("MeCab and its dictionary are not built in"), "{error}");
    }
    for (arguments, message) in [
        (&["-t", "wmt14"][..], "-t is not available: test sets are not built in"),
        (&["-j", "two"], "-j needs a number of processes"),
        (&["--tokenize-model", "x"], "--tokenize-model: the tokeniser 13a has no model"),
        (&["-e", "latin1"], "utf-8"),
    ] {
        let output = evaluate(arguments).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let error = lossy_text(&output.stderr);
        assert!(error.contains(message), "{error}");
    }
}

/// On a terminal the scores are a table by default; here an option requests it.
#[test]
fn a_table_shows_scores_and_signatures() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = folder.path().join("text");
    std::fs::write(&text, "one two three four\n").expect("writable");
    let mut command = evaluate(&text, &["-m", "bleu,chrf", "-f", "table"]);
    assert_eq!(
        lossy_text(&run(command.arg("-i").arg(&text))),
        "metric  score\n\
         BLEU    100.0  100.0/100.0/100.0/100.0 (BP = 1.000 ratio = 1.000 hyp_len = 4 ref_len = 4)\n\
         chrF2   100.0\n\n\
         BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.6.0\n\
         chrF2|nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0\n"
    );
    // util-linux's script gives the program a terminal.
    if Command::new("script").arg("--version").output().is_err() {
        report_skip("there is no script(1)");
        return;
    }
    let line = format!(
        "'{}' evaluate '{text}' -i '{text}'",
        env!("CARGO_BIN_EXE_miriam"),
        text = text.display()
    );
    let shown = run(Command::new("script").args(["-qec", &line, "/dev/null"]).stdin(Stdio::null()));
    assert!(lossy_text(&shown).starts_with("metric  score"), "{}", lossy_text(&shown));
}
