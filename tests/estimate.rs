//! `miriam lm estimate` end to end: lmplz's files and command lines, results that do not
//! depend on memory or threads, errors that say what to do.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{
    lossy_text, miriam, read_decompressed, run, run_to_error, run_with_input, shared_data,
};

/// Returns the command `miriam lm estimate` with `arguments`.
fn estimate(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["--quiet", "lm", "estimate"]).args(arguments);
    command
}

fn path_str(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

#[test]
fn lmplz_command_lines_give_lmplz_files() {
    let Some(data) = shared_data("kenlm-cases") else { return };
    let (corpus, limit) = (data.join("text.en"), data.join("vocab.limit"));
    let cases: &[(&str, &[&str])] = &[
        ("o3", &["-o", "3"]),
        ("o5", &["-o", "5", "-S", "100M"]),
        ("o5", &["-o", "5", "-S", "20%"]),
        ("o3-prune", &["--order", "3", "--prune", "0", "0", "1", "--threads", "1"]),
        ("o3-nounigram", &["-o", "3", "--interpolate_unigrams", "0"]),
        ("o3-pad", &["-o", "3", "--vocab_pad", "20000", "--memory", "1"]),
        ("o3-limit", &["-o", "3", "--limit_vocab_file", path_str(&limit), "--threads", "3"]),
        ("o5.fma", &["-o", "5", "--fma", "-S", "1K", "--threads", "300"]),
    ];
    for (name, arguments) in cases {
        let mut command = estimate(arguments);
        command.args(["--discount_fallback", "--text", path_str(&corpus)]);
        let expected = read_decompressed(&data.join(format!("{name}.arpa.gz")));
        assert!(run(&mut command) == expected, "{name}");
    }
}

#[test]
fn files_and_pipes_plain_and_compressed_are_the_same() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (plain, arpa) = (folder.path().join("text"), folder.path().join("lm.arpa.zst"));
    std::fs::write(&plain, "a b c\nb c a\nc a b\n").expect("writable");
    let options = ["-o", "2", "--discount-fallback", "0.5", "1", "1.5"];
    let mut piped = estimate(&options);
    piped.stdin(Stdio::from(std::fs::File::open(&plain).expect("readable")));
    let expected = run(&mut piped);
    assert!(
        lossy_text(&expected).starts_with("\\data\\\nngram 1=6\nngram 2="),
        "{}",
        lossy_text(&expected)
    );
    let compressed = folder.path().join("text.zst");
    let bytes = zstd::encode_all(&b"a b c\nb c a\nc a b"[..], 1).expect("compresses");
    std::fs::write(&compressed, bytes).expect("writable");
    run(estimate(&options).args(["--text", path_str(&compressed), "--arpa", path_str(&arpa)]));
    assert_eq!(lossy_text(&read_decompressed(&arpa)), lossy_text(&expected));
    // A binary model can be built from the estimated one.
    let model = folder.path().join("lm.miriam");
    run(miriam().args(["--quiet", "lm", "build", path_str(&arpa), "-o", path_str(&model)]));
}

#[test]
fn errors_name_the_place_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let corpus = folder.path().join("text");
    let complain = |content: &str, arguments: &[&str]| {
        std::fs::write(&corpus, content).expect("writable");
        run_to_error(estimate(arguments).args(["--text", path_str(&corpus)]))
    };
    let tiny = complain("a b\n", &["-o", "2"]);
    assert!(tiny.contains("1-gram") && tiny.contains("--discount-fallback"), "{tiny}");
    let marker = complain("a b\nc <s>\n", &["-o", "2"]);
    assert!(marker.contains("line 2") && marker.contains("--skip-symbols"), "{marker}");
    let empty = complain("", &["-o", "2"]);
    assert!(empty.contains("empty"), "{empty}");
    // A missing folder is found before it is needed.
    let disk = complain("a b\n", &["-o", "2", "--discount-fallback", "-T", "/no/such/folder"]);
    assert!(disk.contains("/no/such/folder") && disk.contains("--temp"), "{disk}");
    let over = run_to_error(&mut estimate(&[
        "-o",
        "2",
        "-i",
        path_str(&corpus),
        "--arpa",
        path_str(&corpus),
    ]));
    assert!(over.contains("output"), "{over}");
}

#[test]
fn wrong_usage_ends_with_status_2() {
    let wrong: &[&[&str]] = &[
        &[],
        &["-o", "0"],
        &["-o", "25"],
        &["-o", "3", "--prune", "1", "0"],
        &["-o", "2", "--prune", "0", "1", "2"],
        &["-o", "2", "--vocab-pad", "9", "--interpolate-unigrams", "0"],
        &["-o", "2", "--discount-fallback", "2"],
        &["-o", "2", "--memory", "much"],
    ];
    for arguments in wrong {
        let output = estimate(arguments).stdin(Stdio::null()).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", lossy_text(&output.stderr));
    }
}

#[test]
fn a_failure_leaves_the_old_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (plain, arpa) = (folder.path().join("text"), folder.path().join("lm.arpa"));
    std::fs::write(&plain, "a b c\n").expect("writable");
    std::fs::write(&arpa, "precious").expect("writable");
    let message = run_to_error(&mut estimate(&[
        "-o",
        "3",
        "--text",
        path_str(&plain),
        "--arpa",
        path_str(&arpa),
    ]));
    assert!(message.contains("--discount-fallback"), "{message}");
    assert_eq!(read_decompressed(&arpa), b"precious");
}

/// `<UNK>`, Kaldi's usual unknown word, is a token of the text, so the ARPA file lists both `<UNK>`
/// and `<unk>`. Both are read as the unknown word, with the probability of the later entry. The
/// expected values are KenLM's.
#[test]
fn a_model_of_text_with_the_token_unk_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("text"), "a b c\na <UNK> c\nb c d\nd <UNK> a\n").unwrap();
    let mut estimate = miriam();
    estimate.args(["lm", "estimate", "-o", "2", "--discount-fallback", "--text"]);
    run(estimate.arg(path("text")).arg("--arpa").arg(path("lm.arpa")));
    for kind in ["probing", "trie", "glm", "kenlm-probing"] {
        let model = path(kind);
        let mut build = miriam();
        run(build.args(["lm", "build", "--type", kind]).arg(path("lm.arpa")).arg("-o").arg(&model));
        let query = run_with_input(
            miriam().args(["lm", "query", "-v", "word"]).arg(&model),
            b"a <UNK> c\n",
        );
        let line = lossy_text(&query.stdout);
        let scores: Vec<&str> = line
            .split('\t')
            .filter_map(|word| word.trim().rsplit_once(' ').map(|(_, score)| score))
            .collect();
        let expected = ["-0.48921937", "-0.6182669", "-0.48921937", "-0.36983672"];
        assert_eq!(scores[..4], expected, "{kind}: {line}");
        let sentence = run_with_input(
            miriam().args(["lm", "query", "-v", "sentence"]).arg(&model),
            b"a <UNK> c\n",
        );
        assert_eq!(lossy_text(&sentence.stdout).trim(), "Total: -1.9665424 OOV: 1", "{kind}");
    }
}
