//! ARPA files that KenLM rejects, or reads by a rule of its own: n-grams listed twice, positive
//! log probabilities, missing sentence markers; and files that are something else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{lossy_text, miriam, run, run_to_error, run_with_input};

const TWICE: &str = "\\data\\\nngram 1=5\nngram 2=3\n\n\\1-grams:\n-1\t<unk>\t0\n-9\t<s>\t-0.5\n\
    -1\t</s>\n-0.5\ta\t-0.25\n-0.75\tb\n\n\\2-grams:\n-0.25\t<s> a\n-0.125\ta b\n-0.5\ta b\n\n\
    \\end\\\n";
const POSITIVE: &str = "\\data\\\nngram 1=5\nngram 2=2\n\n\\1-grams:\n-1\t<unk>\t0\n-9\t<s>\t-0.5\n\
    -1\t</s>\n0.5\ta\t-0.25\n-0.75\tb\n\n\\2-grams:\n0.25\t<s> a\n-0.125\ta b\n\n\\end\\\n";
const BARE: &str = "\\data\\\nngram 1=3\nngram 2=2\n\n\\1-grams:\n-1\t<unk>\t-0.125\n\
    -0.5\ta\t-0.25\n-0.75\tb\n\n\\2-grams:\n-0.125\ta b\n-0.25\t<unk> a\n\n\\end\\\n";

/// A defect, the option for it, the message that names the option, the text that is scored, and the
/// totals of its lines, computed by hand.
struct Defect {
    arpa: &'static str,
    option: [&'static str; 2],
    message: &'static str,
    text: &'static str,
    scores: &'static str,
}

/// KenLM 4cb443e's `query` prints the same totals: for the first defect without an option, for the
/// others after `build_binary -i` and `build_binary -s`.
const DEFECTS: [Defect; 3] = [
    Defect {
        arpa: TWICE,
        option: ["--duplicates", "keep-first"],
        message: "line 15: this 2-gram is on line 14 already; remove one of the two, or pass \
                  --duplicates keep-first",
        text: "a b\n",
        // The n-grams <s> a and a b, and </s> without context.
        scores: "Total: -1.375 OOV: 0\n",
    },
    Defect {
        arpa: POSITIVE,
        option: ["--positive", "zero"],
        message: "line 9: 1-gram: log probability 0.5 is positive, which is a defect of IRSTLM; \
                  --positive zero",
        text: "a b\n",
        // Zeros for <s> a, then a b and </s>.
        scores: "Total: -1.125 OOV: 0\n",
    },
    Defect {
        arpa: BARE,
        option: ["--missing-markers", "unknown"],
        message: "\"<s>\" is not among the unigrams above; a model needs both sentence markers, or \
                  --missing-markers unknown",
        text: "a b\nx\n",
        // <unk> a, a b, <unk>; then <unk> after <unk> twice. Only x counts as unknown.
        scores: "Total: -1.375 OOV: 0\nTotal: -2.25 OOV: 1\n",
    },
];

fn sentence_scores(command: &mut Command, text: &str) -> String {
    lossy_text(&run_with_input(command, text.as_bytes()).stdout)
}

fn write(folder: &Path, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn every_command_names_the_option_and_takes_it() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for defect in DEFECTS {
        let Defect { option, message, text, scores, .. } = defect;
        let arpa = write(folder, "lm.arpa", defect.arpa);
        let out = folder.join("out");
        let commands: [(&str, &[&str]); 8] = [
            ("query", &["-v", "sentence"]),
            ("perplexity", &[]),
            ("next", &[]),
            ("dump", &["-o", "out"]),
            ("build", &["-o", "out"]),
            ("build", &["-o", "out", "--type", "trie"]),
            ("build", &["-o", "out", "--type", "glm"]),
            ("build", &["-o", "out", "--type", "kenlm-trie"]),
        ];
        for (command, arguments) in commands {
            let mut plain = miriam();
            plain.args(["lm", command]).args(arguments).arg(&arpa).current_dir(folder);
            plain.stdin(std::process::Stdio::null());
            let error = run_to_error(&mut plain);
            assert!(error.contains("lm.arpa, line ") && error.contains(message), "{error}");
            let mut with_option = miriam();
            with_option.args(["lm", command]).args(arguments).arg(&arpa).args(option);
            let printed = sentence_scores(with_option.current_dir(folder), text);
            match command {
                "query" => assert_eq!(printed, scores, "{option:?}"),
                "perplexity" => {
                    let oovs = scores.lines().map(|line| line.ends_with('1') as u64).sum::<u64>();
                    assert!(printed.contains(&format!("OOVs:\t{oovs}\n")), "{printed}");
                }
                "next" => assert!(!printed.is_empty()),
                _ => {
                    let mut query = miriam();
                    query.args(["lm", "query", "-v", "sentence"]).arg(&out);
                    if command == "dump" {
                        // The dump still lacks the markers.
                        query.args(["--missing-markers", "unknown"]);
                    } else {
                        let mut verify = miriam();
                        verify.arg("verify").arg(&out);
                        if !arguments.contains(&"kenlm-trie") {
                            run(&mut verify);
                        }
                    }
                    assert_eq!(
                        sentence_scores(&mut query, text),
                        scores,
                        "{option:?} {arguments:?}"
                    );
                }
            }
        }
    }
    let mut wrong = miriam();
    wrong.args(["lm", "query", "--positive", "maybe", "lm.arpa"]).current_dir(folder);
    assert!(lossy_text(&wrong.output().unwrap().stderr).contains("give reject or zero"));
}

/// Under the names of KenLM's programs, defects are treated as in KenLM: the first of two equal
/// n-grams counts, with a warning, and `build_binary` has options for the other defects.
#[test]
fn kenlms_program_names_treat_defects_as_kenlm() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let names = folder.join("names");
    run(miriam().arg("install-aliases").arg(&names));
    for (defect, option) in DEFECTS.iter().zip(["", "-i", "-s"]) {
        write(folder, "lm.arpa", defect.arpa);
        for kind in ["probing", "trie"] {
            let mut build = Command::new(names.join("build_binary"));
            build.args((!option.is_empty()).then_some(option)).args([kind, "lm.arpa", "lm.bin"]);
            let built = build.current_dir(folder).output().unwrap();
            let log = lossy_text(&built.stderr);
            assert!(built.status.success() && log.contains("WARN lm.arpa"), "{option}: {log}");
            let mut query = Command::new(names.join("query"));
            query.args(["-v", "sentence", "lm.bin"]).current_dir(folder);
            assert_eq!(sentence_scores(&mut query, defect.text), defect.scores, "{option} {kind}");
        }
    }
    write(folder, "lm.arpa", TWICE);
    let mut query = Command::new(names.join("query"));
    query.args(["-v", "sentence", "lm.arpa"]).current_dir(folder);
    assert_eq!(sentence_scores(&mut query, "a b\n"), DEFECTS[0].scores);
    // Of <unk>, the last entry is used: -2 and the backoff of <s>, then </s> without context.
    let unknown = TWICE.replace("1=5", "1=6").replace("-0.75\tb", "-2\t<unk>\n-0.75\tb");
    write(folder, "lm.arpa", unknown);
    assert_eq!(sentence_scores(&mut query, "x\n"), "Total: -3.5 OOV: 1\n");
    // The value of -u is the one that the warning names.
    let unlisted = BARE.replace("1=3", "1=2").replace("2=2", "2=1").replace("-0.25\t<unk> a\n", "");
    write(folder, "lm.arpa", unlisted.replace("-1\t<unk>\t-0.125\n", ""));
    let mut build = Command::new(names.join("build_binary"));
    let built =
        build.args(["-su", "-5", "lm.arpa", "lm.bin"]).current_dir(folder).output().unwrap();
    let log = lossy_text(&built.stderr);
    assert!(log.contains("its log10 probability becomes -5") && !log.contains("-100"), "{log}");
}

/// Feature lines of other toolkits open files that KenLM rejects; KENLM lines have keys for the
/// defects.
#[test]
fn feature_lines_have_keys_for_defects() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "phrase-table", "x ||| a ||| 1 1 1 1\ny ||| b ||| 1 1 1 1\n");
    let ini = |line: &str| {
        format!(
            "[input-factors]\n0\n[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nWordPenalty\nDistortion\n\
             PhraseDictionaryMemory name=TranslationModel0 num-features=4 path=phrase-table \
             input-factor=0 output-factor=0\n{line} name=LM0 factor=0 order=2 path=lm.arpa\n\
             [weight]\nWordPenalty0= 0\nDistortion0= 0\nTranslationModel0= 0 0 0 0\nLM0= 1\n"
        )
    };
    let translate = |arpa: &str, line: &str| {
        write(folder, "lm.arpa", arpa);
        write(folder, "moses.ini", ini(line));
        let mut command = miriam();
        command.args(["translate", "-f", "moses.ini"]).current_dir(folder);
        command.stdin(fs::File::open(write(folder, "in", "x y\n")).unwrap());
        command
    };
    for (arpa, line) in [
        (TWICE, "KENLM"),
        (POSITIVE, "KENLM positive=zero"),
        (BARE, "KENLM missing-markers=unknown"),
        (POSITIVE, "IRSTLM"),
        (BARE, "SRILM"),
    ] {
        assert_eq!(lossy_text(&run(&mut translate(arpa, line))).trim(), "a b", "{line}");
    }
    for (arpa, line, message) in [
        (POSITIVE, "KENLM", "moses.ini: positive=zero"),
        (BARE, "KENLM", "missing-markers=unknown"),
        (BARE, "KENLM missing-markers=any", "missing-markers=any: give reject or unknown"),
    ] {
        let error = run_to_error(&mut translate(arpa, line));
        assert!(error.contains(message), "{line}: {error}");
    }
    let mut overwritten = translate(BARE, "KENLM");
    overwritten.args(["-feature-overwrite", "LM0 missing-markers=unknown"]);
    assert_eq!(lossy_text(&run(&mut overwritten)).trim(), "a b");
}

#[test]
fn errors_about_files_of_other_programs_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut archive = b"PK\x03\x04\x14\0\0\0\0\0".to_vec();
    archive.resize(26, 0);
    archive.extend_from_slice(&[7, 0, 0, 0]);
    archive.extend_from_slice(b"lm.arpa\\data\\\nngram 1=3\n");
    let cases: [(&[u8], &str); 5] = [
        (&archive, "this is a zip archive; unpack it"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
            "this is a Git LFS pointer in place of the file; fetch the file with git lfs pull",
        ),
        (b"Qblmt 3 1 1 1\n\0\x01", "quantised IRSTLM binary file; write ARPA with its compile-lm"),
        (b"SRILM_BINARY_NGRAM_002\n\0", "this is an SRILM binary file; write ARPA with its ngram"),
        (b"\xd6\xfd\xb2\x7e\x06\0\0\0vector", "this is an OpenFst transducer"),
    ];
    for (bytes, message) in cases {
        let file = write(folder, "lm", bytes);
        for command in ["query", "perplexity", "dump", "next"] {
            let mut command_line = miriam();
            command_line.args(["lm", command]).arg(&file).stdin(std::process::Stdio::null());
            let error = run_to_error(&mut command_line);
            assert!(error.contains(message), "{command}: {error}");
        }
    }
    // An archive with a package of OPUS-MT or with arrays is a neural model.
    for name in ["decoder.yml", "Wemb.npy"] {
        let mut package = archive.clone();
        package.extend_from_slice(b"PK\x01\x02");
        package.extend_from_slice(name.as_bytes());
        let file = write(folder, "lm", package);
        let error = run_to_error(miriam().args(["lm", "query"]).arg(&file));
        assert!(error.contains("a neural model; translate with miriam nmt translate"), "{error}");
    }
    // A Git LFS pointer is not a model for any command.
    let pointer = write(folder, "model", cases[1].0);
    for arguments in [&["translate", "-f"][..], &["nmt", "translate", "-m"], &["verify"]] {
        let error =
            run_to_error(miriam().args(arguments).arg(&pointer).stdin(std::process::Stdio::null()));
        assert!(error.contains("git lfs pull"), "{arguments:?}: {error}");
    }
}
