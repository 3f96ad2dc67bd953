//! Command lines as Marian's users write them: every key of a configuration is also an option, with
//! the same meaning; and limits of length with prefixes, as CTranslate2 counts them.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;

use miriam_nmt::MARIAN_KEYS;

use crate::common::{lossy_text, miriam, project_root, run_to_usage_error, run_with_input};

const TEXT: &[u8] = b"w2 w3 w4\nw9 w5\n";

fn data(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

fn translate() -> Command {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "-m"]).arg(data("tiny.npz"));
    command.arg("-v").args([data("tiny.vocab.yml"), data("tiny.vocab.yml")]);
    command.args(["--max-length-factor", "2"]);
    command
}

fn translated(options: &[&str]) -> (String, String) {
    let output = run_with_input(translate().args(options), TEXT);
    (lossy_text(&output.stdout), lossy_text(&output.stderr))
}

/// Options of Marian's users that change nothing here, each named in a message.
#[test]
fn options_without_effect_are_named_and_change_nothing() {
    let (expected, silent) = translated(&[]);
    assert!(silent.is_empty() && expected.lines().count() == 2, "{silent}");
    for options in [
        &["--log", "train.log"][..],
        &["--stat-freq", "0"],
        &["--dim-vocabs", "24", "24"],
        &["--type", "transformer"],
        &["--model-mmap"],
        &["--num-devices", "1"],
        &["--cache-size", "20"],
        &["--max-length-break", "128"],
        &["-w", "-4000"],
        &["--devices", "0", "1"],
        &["--int8shiftAlphaAll"],
    ] {
        let (found, message) = translated(options);
        assert_eq!(found, expected, "{options:?}");
        let name = match options[0] {
            "-w" => "--workspace",
            name => name,
        };
        assert!(message.contains(&format!("without effect here: {name}")), "{message}");
    }
    for options in [
        &["--cpu-threads", "0"][..],
        &["--precision", "float32", "float32"],
        &["--ignore-model-config", "false"],
        &["--relative-paths"],
        &["--tsv", "--tsv-fields", "2"],
    ] {
        let (found, _) = translated(options);
        assert_eq!(found, expected, "{options:?}");
    }
}

/// Every key that a configuration may have is an option.
#[test]
fn every_key_of_a_configuration_is_an_option() {
    let mut unknown = String::new();
    let keys = MARIAN_KEYS.honoured.iter().chain(MARIAN_KEYS.without_effect);
    let keys = keys.chain(MARIAN_KEYS.refused.iter().map(|(name, _)| name));
    // These keys are not tried; the last ones belong to Marian's scorer and server.
    let others =
        ["version", "input", "output", "config", "train-sets", "summary", "n-best-feature", "port"];
    for key in keys.filter(|key| !others.contains(key)) {
        // The text is not read: an unknown option is found before a missing model.
        let mut command = miriam();
        command.args(["nmt", "translate", "-m", "/nowhere/model.npz"]).arg(format!("--{key}"));
        let message = lossy_text(&command.output().unwrap().stderr);
        if message.contains("unexpected argument") {
            writeln!(unknown, "{key}: {message}").unwrap();
        }
    }
    assert!(unknown.is_empty(), "{unknown}");
}

#[test]
fn refused_options_say_what_to_do() {
    for (options, part) in [
        (&["--ignore-model-config"][..], "--ignore-model-config: not supported; leave it out"),
        (&["--tsv-fields", "2"], "--tsv-fields: not supported; give --tsv"),
        (&["--output-approx-knn", "10"], "search is exact here"),
        (&["--precision", "float32", "int8"], "--precision float32 int8: expected one precision"),
        (&["--output-sampling", "top"], "--output-sampling top: expected full [T], topk [K [T]]"),
        (&["--output-sampling", "top", "3"], "--output-sampling top 3"),
        (&["--output-sampling", "topk", "many"], "--output-sampling topk many"),
        (&["--shortlist", "lex", "many"], "--shortlist: \"many\" is not a number"),
    ] {
        let message = run_to_usage_error(translate().args(options));
        assert!(message.contains(part), "{options:?}: {message}");
    }
}

#[test]
fn sampling_is_the_same_in_both_spellings() {
    let sampled = |options: &[&str]| translated(&[&["--seed", "5", "-b", "1"], options].concat()).0;
    for (marian, own) in [
        (&["--output-sampling"][..], &["--sampling-topk", "0"][..]),
        (&["--output-sampling", "full", "0.7"], &["--sampling-temperature", "0.7"]),
        (&["--output-sampling", "topk"], &["--sampling-topk", "10"]),
        (&["--output-sampling", "topk", "3"], &["--sampling-topk", "3"]),
        (
            &["--output-sampling", "topk", "3", "2"],
            &["--sampling-topk", "3", "--sampling-temperature", "2"],
        ),
        (&["--output-sampling", "topp", "0.5"], &["--sampling-topp", "0.5"]),
        (&["--output-sampling", "epsilon", "0.04"], &["--sampling-epsilon", "0.04"]),
    ] {
        assert_eq!(sampled(marian), sampled(own), "{marian:?}");
    }
    assert_ne!(sampled(&["--output-sampling", "topk", "10"]), translated(&["-b", "1"]).0);
}

/// In Marian, a flag after a binary shortlist says whether its checksum is checked.
#[test]
fn a_flag_after_a_shortlist_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("lex.s2t");
    let words: String = (2..24).map(|n| format!("w{n} w{n} 0.5\n")).collect();
    std::fs::write(&list, words).unwrap();
    let list = list.to_str().unwrap();
    let (expected, _) = translated(&["--shortlist", list]);
    assert_eq!(translated(&["--shortlist", list, "false"]).0, expected);
    assert_eq!(translated(&["--shortlist", list, "true"]).0, expected);
}

/// Beam size, maximum length, prefix, and what CTranslate2 4.8.5 gives for `w2 w3 w4` with them.
const PREFIXES: [(usize, usize, &str, &str); 20] = [
    (1, 1, "w5", "w5"),
    (1, 1, "w9 w9 w3", "w9"),
    (1, 2, "w5", "w5 w14"),
    (1, 2, "w9 w9 w3 w4 w7", "w9 w9"),
    (1, 3, "", "w14 w14 w14"),
    (1, 3, "w5", "w5 w14 w14"),
    (1, 3, "w9 w9 w3", "w9 w9 w3"),
    (1, 3, "w9 w9 w3 w4 w7", "w9 w9 w3"),
    (1, 5, "w9 w9 w3", "w9 w9 w3 w14 w14"),
    (1, 8, "w9 w9 w3 w4 w7", "w9 w9 w3 w4 w7 w14 w14 w14"),
    (4, 1, "w5", "w5"),
    (4, 2, "w5", "w5 w14"),
    (4, 2, "w9 w9 w3", "w9 w9"),
    (4, 3, "w9 w9 w3", "w9 w9 w3"),
    (4, 3, "w9 w9 w3 w4 w7", "w9 w9 w3"),
    (4, 5, "w5", "w5 w14 w16 w14 w14"),
    (4, 5, "w9 w9 w3 w4 w7", "w9 w9 w3 w4 w7"),
    (4, 8, "w5", "w5 w14 w16 w14 w14 w14 w14 w14"),
    (4, 8, "w9 w9 w3", "w9 w9 w3 w14 w14 w14 w14 w14"),
    (4, 8, "w9 w9 w3 w4 w7", "w9 w9 w3 w4 w7 w14 w14 w14"),
];

#[test]
fn a_prefix_is_part_of_the_maximum_length() {
    for (beam, most, prefix, expected) in PREFIXES {
        let mut command = miriam();
        command.args(["nmt", "translate", "--quiet", "--no-tuner-file", "--tsv", "-m"]);
        command.arg(data("tiny-ct2")).args(["-b", &beam.to_string()]);
        command.args(["--max-decoding-length", &most.to_string()]);
        let line = format!("w2 w3 w4\t{prefix}\n");
        let found = lossy_text(&run_with_input(&mut command, line.as_bytes()).stdout);
        assert_eq!(found.trim_end(), expected, "beam {beam}, {most} tokens, {prefix:?}");
    }
}
