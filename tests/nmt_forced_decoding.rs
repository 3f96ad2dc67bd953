//! Forced prefixes and scored targets that are longer than a search may be.

use std::path::PathBuf;

use crate::common::{lossy_text, miriam, project_root, run};

const TARGET: &str = "w4 w5 w6 w7 w8 w9 w10 w11";

fn tiny(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

/// The limits of `--max-length-factor` count words of the source with `</s>`. A prefix is kept in
/// full; Marian cuts it at the limit. The limit of `--max-decoding-length` cuts it, as
/// CTranslate2's does.
#[test]
fn prefixes_may_be_longer_than_the_source_allows() {
    let folder = tempfile::tempdir().unwrap();
    let [source, prefix] = [("source", "w3\n"), ("prefix", TARGET)].map(|(name, content)| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{}\n", content.trim_end())).unwrap();
        path
    });
    let translate = |limits: &[&str]| {
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet", "-b", "2", "-m"]).arg(tiny("tiny.npz"));
        command.arg("-v").args([tiny("tiny.vocab.yml"), tiny("tiny.vocab.yml")]).args(limits);
        let output = run(command.arg("--force-decode").arg("-i").args([&source, &prefix]));
        lossy_text(&output).trim_end().to_owned()
    };
    for factor in ["1", "2", "3", "4"] {
        let found = translate(&["--max-length-factor", factor]);
        let rest = found.strip_prefix(TARGET).unwrap_or_else(|| panic!("{factor}: {found}"));
        assert!(rest.split(' ').filter(|word| !word.is_empty()).count() <= 1, "{factor}: {found}");
    }
    // Within the limit, the line is Marian's.
    let found = translate(&["--max-length-factor", "5"]);
    assert_eq!(found, format!("{TARGET} w14 w14"));
    let found = translate(&["--max-decoding-length", "3"]);
    assert_eq!(found, "w4 w5 w6");
}

/// Scores have no limit by the length of the source. The score is Marian's.
#[test]
fn targets_of_any_length_are_scored() {
    let folder = tempfile::tempdir().unwrap();
    let [source, target] = [("source", "w3"), ("target", TARGET)].map(|(name, content)| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{content}\n")).unwrap();
        path
    });
    let mut command = miriam();
    command.args(["nmt", "score", "--quiet", "-m"]).arg(tiny("tiny.npz"));
    command.arg("-v").args([tiny("tiny.vocab.yml"), tiny("tiny.vocab.yml")]);
    let output = run(command.arg("--source").arg(source).arg("--target").arg(target));
    let score: f64 = lossy_text(&output).trim().parse().unwrap();
    assert!((score - -32.427399).abs() < 5e-3, "{score}");
}
