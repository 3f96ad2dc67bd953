//! `miriam evaluate` end to end: sacreBLEU's output, byte for byte, and errors about
//! texts that do not match.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{
    lossy_text, miriam, project_root, run, run_to_error, run_with_input, shared_data,
};

fn evaluate(reference: &Path, arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["evaluate", "--reference"]).arg(reference).args(arguments);
    command
}

fn testdata(name: &str) -> PathBuf {
    project_root().join("base/metrics/testdata").join(name)
}

/// The output of `sacrebleu REFERENCE -m bleu chrf ter` and similar commands of release
/// 2.6.0.
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
    let table = compare(["tuned", "tuned"], &["--paired-bs", "--text"]);
    assert!(table.contains("bs:1000|seed:12345") && table.contains("(p = 0.0010)*\n"), "{table}");
}

#[test]
fn several_references_and_invalid_utf8() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let odd = folder.path().join("odd");
    std::fs::write(&odd, b"a caf\xe9 b c d\n\n").expect("writable");
    let mut command = evaluate(&odd, &["--text", "-b"]);
    command.arg("--reference").arg(&odd);
    let output = run_with_input(&mut command, b"a caf\xe9 b c d\r\nx");
    // Five words of six, and everything longer: the fourth root of 5/6.
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
fn texts_of_different_lengths_are_refused() {
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
        &["-i", "other"],
    ] {
        let mut command = evaluate(&reference, wrong);
        let output = command.arg("-i").arg(&output).stdin(Stdio::null()).output();
        assert_eq!(output.expect("it starts").status.code(), Some(2), "{wrong:?}");
    }
    let message = run_to_error(
        evaluate(&reference, &["--metric=chrf", "--chrf-char-order=0", "-i"]).arg(&output),
    );
    assert!(message.contains("chrF"), "{message}");
}
