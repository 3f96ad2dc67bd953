//! `miriam lm` end to end: accepted files and output compared with KenLM's; odd, damaged
//! and missing files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_to_usage_error,
    run_with_input, shared_data,
};

/// Returns the command `miriam --quiet lm` with `arguments`.
fn lm(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["--quiet", "lm"]).args(arguments);
    command
}

/// Returns the output of `command` for `input`.
fn run_piped(command: &mut Command, input: &[u8]) -> Vec<u8> {
    run_with_input(command, input).stdout
}

fn path_str(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

/// Compares outputs and reports only the first difference.
fn assert_same(found: &[u8], expected: &[u8], what: &str) {
    if found == expected {
        return;
    }
    let lines = || found.split(|&b| b == b'\n').zip(expected.split(|&b| b == b'\n'));
    let at = lines().position(|(a, b)| a != b).unwrap_or_default();
    let (a, b) = lines().nth(at).unwrap_or_default();
    panic!("{what}: line {}:\n{}\nexpected:\n{}", at + 1, lossy_text(a), lossy_text(b));
}

const TOY: &str = "\\data\\\nngram 1=5\nngram 2=4\nngram 3=1\n\n\\1-grams:\n-1.0\t<unk>\n-99\t<s>\t-0.3\n-1.2\t</s>\n-1.5\ta\t-0.2\n-1.7\tb\t-0.1\n\n\\2-grams:\n-0.5\t<s> a\t-0.05\n-0.6\ta b\t0\n-0.7\tb </s>\n-0.9\tb a\t-0.4\n\n\\3-grams:\n-0.3\t<s> a b\n\n\\end\\\n";

/// Writes the toy model as ARPA and in Miriam's format; returns the folder and both paths.
fn build_toy_model() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (arpa, model) = (folder.path().join("toy.arpa"), folder.path().join("toy.miriam"));
    std::fs::write(&arpa, TOY).expect("writable");
    run(&mut lm(&["build", path_str(&arpa), "-o", path_str(&model)]));
    (folder, arpa, model)
}

#[test]
fn arpa_cases_are_accepted_and_scored_as_by_kenlm() {
    let Some(cases) = shared_data("arpa-cases") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let input = read_decompressed(&cases.join("input.txt"));
    let mut count = 0;
    for entry in std::fs::read_dir(&cases).expect("readable") {
        let arpa = entry.expect("readable").path();
        if arpa.extension().is_none_or(|e| e != "arpa") {
            continue;
        }
        count += 1;
        let name = arpa.file_stem().and_then(|s| s.to_str()).expect("text").to_owned();
        let decision = read_decompressed(&arpa.with_extension("decision"));
        // Deliberate differences: invisible characters and text before the model do not make a file
        // invalid.
        let is_like_base = matches!(&name[..], "bom" | "bospace" | "junk" | "spaces" | "spaces1g");
        let accepted = match &name[..] {
            "uni" => true,
            "dup" => false,
            _ => is_like_base || decision.starts_with(b"accept"),
        };
        let model = folder.path().join(&name);
        if !accepted {
            let complaints = [
                run_to_error(&mut lm(&["query", path_str(&arpa)])),
                run_to_error(&mut lm(&["build", path_str(&arpa), "-o", path_str(&model)])),
            ];
            for message in complaints {
                assert!(message.contains(&format!("{name}.arpa, line ")), "{message}");
            }
            assert!(!model.exists(), "{name}");
            continue;
        }
        run(&mut lm(&["build", path_str(&arpa), "-o", path_str(&model)]));
        run(miriam().args(["verify", path_str(&model)]));
        for file in [&arpa, &model] {
            let found = run_piped(&mut lm(&["query", path_str(file)]), &input);
            if name != "uni" {
                let model = if is_like_base { &cases.join("base") } else { &arpa };
                assert_same(&found, &read_decompressed(&model.with_extension("query")), &name);
            }
        }
    }
    assert!(count > 25, "{count} cases");
}

/// Checks that `query` prints the expected results, from the ARPA file and from Miriam's own file.
fn check_queries(arpa: &Path, texts: &[(PathBuf, PathBuf)]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = folder.path().join("model");
    run(&mut lm(&["build", path_str(arpa), "-o", path_str(&model)]));
    run(miriam().args(["verify", path_str(&model)]));
    for (input, expected) in texts {
        let expected = read_decompressed(expected);
        for file in [arpa, &model] {
            for threads in ["1", "3"] {
                let found = run(&mut lm(&[
                    "query",
                    path_str(file),
                    "-i",
                    path_str(input),
                    "--threads",
                    threads,
                ]));
                assert_same(&found, &expected, path_str(input));
            }
        }
        let found = run(&mut lm(&["perplexity", path_str(&model), "-i", path_str(input)]));
        let summary = expected.split(|&b| b == b'\n').rev().take(5).collect::<Vec<_>>();
        let found_lines = found.split(|&b| b == b'\n').rev().collect::<Vec<_>>();
        assert_eq!(found_lines, summary, "perplexity");
    }
}

#[test]
fn multi30k_equals_kenlm() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let lm = data.join("lm");
    let texts = [
        (data.join("corpus/test.en.gz"), lm.join("test.probing.query.gz")),
        (data.join("corpus/dev.en.gz"), lm.join("dev.probing.query.gz")),
        (lm.join("odd.en.gz"), lm.join("odd.probing.query.gz")),
    ];
    check_queries(&lm.join("lm.5.en.arpa.gz"), &texts);
}

#[test]
fn small_models_equal_kenlm_also_with_missing_suffixes() {
    let Some(data) = shared_data("kenlm-cases") else { return };
    for name in ["o5", "o3-suffixless"] {
        let expected = data.join(format!("{name}.probing.query.gz"));
        let texts = [(data.join("heldout.en"), expected)];
        check_queries(&data.join(format!("{name}.arpa.gz")), &texts);
    }
}

/// KenLM printed the expected lines for the toy model.
#[test]
fn verbosity_levels_and_sentence_markers() {
    let (_folder, arpa, model) = build_toy_model();
    let text = b"a zz b a\n\n";
    let words = "a=3 2 -0.5\tzz=0 1 -1.25\tb=4 1 -1.7\ta=3 2 -0.9\t</s>=2 1 -1.8000001\t";
    let total = "Total: -6.15 OOV: 1\n";
    let query = |arguments: &[&str]| {
        let mut all = vec!["query", path_str(&model)];
        all.extend(arguments);
        String::from_utf8(run_piped(&mut lm(&all), text)).expect("text")
    };
    let all = query(&[]);
    assert!(
        all.starts_with(&format!("{words}{total}</s>=2 1 -1.5\tTotal: -1.5 OOV: 0\nPerplexity"))
    );
    assert!(all.ends_with("\nOOVs:\t1\nTokens:\t6\n"));
    assert_eq!(query(&["-v", "word"]), format!("{words}</s>=2 1 -1.5\t"));
    assert_eq!(query(&["-v", "sentence"]), format!("{total}Total: -1.5 OOV: 0\n"));
    assert_eq!(query(&["-v", "word", "-v", "sentence", "-v", "summary"]), all);
    assert_eq!(query(&["-v", "2"]), all);
    assert_eq!(query(&["-v", "0"]), query(&["-v", "summary"]));
    assert_eq!(query(&["-b", "-v", "1"]), query(&["-v", "sentence", "-v", "summary"]));
    let bare = query(&["-n", "-v", "word", "-v", "sentence"]);
    assert!(bare.starts_with("a=3 1 -1.5\tzz=0 1 -1.2\tb=4 1 -1.7\ta=3 2 -0.9\tTotal: "), "{bare}");
    assert!(bare.ends_with("\nTotal: 0 OOV: 0\n"), "{bare}");
    for threads in ["1", "4"] {
        let found = run_piped(
            &mut lm(&["perplexity", path_str(&arpa), "--per-line", "--threads", threads]),
            text,
        );
        assert_eq!(
            crate::common::lossy_text(&found),
            "-6.15\t5\t1\t16.98243727045763\n-1.5\t1\t0\t31.622776601683793\n"
        );
    }
    let found = run_piped(&mut lm(&["perplexity", path_str(&model), "--device", "cpu"]), text);
    assert_eq!(crate::common::lossy_text(&found), query(&["-v", "summary"]));
}

/// KenLM's `query -n` prints -0 for a word of probability 1.
#[test]
fn a_probability_of_one_prints_minus_zero() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arpa = folder.path().join("one.arpa");
    std::fs::write(&arpa, TOY.replace("-99\t<s>", "0\t<s>")).expect("writable");
    let found = run_piped(&mut lm(&["query", path_str(&arpa), "-n", "-v", "word"]), b"<s>\n");
    assert_eq!(lossy_text(&found), "<s>=1 1 -0\t");
}

#[test]
fn odd_text_gives_one_result_a_line() {
    let (_folder, _, model) = build_toy_model();
    let mut input = b"a\0b \xe4\xf6 \tb\r\n".to_vec();
    input.extend(b"a ".repeat(300_000));
    input.extend(b"\n   \nb");
    let found =
        run_piped(&mut lm(&["query", path_str(&model), "-v", "sentence", "-v", "word"]), &input);
    let lines: Vec<&[u8]> = found.split(|&b| b == b'\n').collect();
    assert_eq!(lines.len(), 5);
    assert!(
        lines[0].starts_with(b"a\0b=0 1 -1.3\t\xe4\xf6=0 1 -1\tb=4 1 -1.7\t</s>=2 2 -0.7\tTotal: "),
        "{}",
        lossy_text(lines[0])
    );
    assert!(lines[1].ends_with(b" OOV: 0"));
    assert_eq!(lines[2], b"</s>=2 1 -1.5\tTotal: -1.5 OOV: 0");
    assert!(
        lines[3].starts_with(b"b=4 1 -2\t</s>=2 2 -0.7\tTotal: -2.7"),
        "an unterminated line is a line"
    );
    let nothing = run_piped(&mut lm(&["query", path_str(&model)]), b"");
    assert_eq!(
        lossy_text(&nothing),
        "Perplexity including OOVs:\tNaN\nPerplexity excluding OOVs:\tNaN\nOOVs:\t0\nTokens:\t0\n"
    );
}

#[test]
fn compressed_arpa_gives_the_same_file() {
    let (folder, _, model) = build_toy_model();
    let gz = folder.path().join("toy.arpa.gz");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    encoder.write_all(TOY.as_bytes()).expect("memory");
    std::fs::write(&gz, encoder.finish().expect("memory")).expect("writable");
    let zst = folder.path().join("toy.arpa.zst");
    std::fs::write(&zst, zstd::encode_all(TOY.as_bytes(), 3).expect("memory")).expect("writable");
    let crlf = folder.path().join("crlf.arpa");
    std::fs::write(&crlf, TOY.replace('\n', "\r\n")).expect("writable");
    for (threads, arpa) in [("1", &gz), ("3", &zst), ("2", &crlf)] {
        let other = folder.path().join("other.miriam");
        run(&mut lm(&["build", path_str(arpa), "-o", path_str(&other), "--threads", threads]));
        assert!(read_decompressed(&other) == read_decompressed(&model), "{}", arpa.display());
    }
    let other = folder.path().join("second.miriam");
    run(lm(&["build", path_str(&crlf)]).arg(&other));
    assert!(read_decompressed(&other) == read_decompressed(&model), "as build_binary");
    run(lm(&["build", path_str(&crlf)]).arg(&other));
    for name in ["toy.arpa.gz", "toy.arpa.bz2", "toy.arpa.xz"] {
        let second = folder.path().join(name);
        if !second.exists() {
            std::fs::write(&second, "another model").expect("writable");
        }
        let error = run_to_error(&mut lm(&["build", path_str(&crlf), path_str(&second)]));
        assert!(error.contains(&format!("{name}: this ARPA file would be overwritten")), "{error}");
    }
    let other = folder.path().join("piped.miriam");
    run_piped(&mut lm(&["build", "-", "-o", path_str(&other)]), TOY.as_bytes());
    assert!(read_decompressed(&other) == read_decompressed(&model), "standard input");
}

#[test]
fn tries_are_quantised_by_either_spelling() {
    let (folder, arpa, _) = build_toy_model();
    let trie = folder.path().join("trie.miriam");
    let build = |option: &[&str]| {
        let command = ["build", path_str(&arpa), "-o", path_str(&trie), "--type", "trie"];
        run(lm(&command).args(option));
        read_decompressed(&trie)
    };
    let expected = build(&["--quantize", "4"]);
    assert!(build(&["-q", "4"]) == expected);
    assert!(build(&[]) != expected);
}

#[test]
fn unsupported_requests_are_errors() {
    let (folder, arpa, model) = build_toy_model();
    let missing = folder.path().join("missing");
    assert!(run_to_error(&mut lm(&["query", path_str(&missing)])).contains("missing: cannot open"));
    assert!(run_to_error(&mut lm(&["query", path_str(folder.path())])).contains("directory"));
    let no_text = folder.path().join("no-text");
    for command in ["query", "perplexity"] {
        // The text is opened before the model is loaded.
        let message =
            run_to_error(&mut lm(&[command, path_str(&missing), "-i", path_str(&no_text)]));
        assert!(message.contains("no-text: cannot open"), "{message}");
    }
    let out = path_str(&missing);
    assert!(
        run_to_error(&mut lm(&["build", path_str(folder.path()), "-o", out])).contains("directory")
    );
    let kenlm = folder.path().join("kenlm.binary");
    std::fs::write(&kenlm, b"mmap lm http://kheafield.com/code format version 5\n\0\0\0")
        .expect("writable");
    assert!(
        run_to_error(&mut lm(&["query", path_str(&kenlm)]))
            .contains("the file ends after 54 bytes")
    );
    let wide = ["build", path_str(&arpa), "-o", out, "--node-width", "16"];
    assert!(run_to_usage_error(&mut lm(&wide)).contains("--type glm"));
    // A model is mapped while text is scored: it must not be written over.
    let before = std::fs::read(&model).expect("it is there");
    for command in ["query", "perplexity"] {
        let onto = run_to_error(&mut lm(&[
            command,
            path_str(&model),
            "-i",
            "/dev/null",
            "-o",
            path_str(&model),
        ]));
        assert!(onto.contains("toy"), "{onto}");
    }
    assert!(std::fs::read(&model).expect("it is there") == before);
    let cuda = ["perplexity", path_str(&model), "--device", "cuda:0"];
    let remedy = if cfg!(feature = "cuda") { "miriam lm build --type glm" } else { "`cuda`" };
    assert!(run_to_error(&mut lm(&cuda)).contains(remedy));
    let unwritable = folder.path().join("no/such/folder/x");
    assert!(
        run_to_error(&mut lm(&["build", path_str(&arpa), "-o", path_str(&unwritable)]))
            .contains("no/such/folder")
    );
    assert!(!missing.exists());
    let status = |command: &mut Command| command.output().expect("it starts").status.code();
    assert_eq!(status(&mut lm(&["build", path_str(&arpa)])), Some(2), "-o is missing");
    assert_eq!(status(&mut lm(&["query", path_str(&model), "-v", "loud"])), Some(2));
    assert_eq!(status(&mut lm(&["perplexity", path_str(&model), "--device", "tpu"])), Some(2));
}

#[test]
fn next_words_need_a_file_with_words() {
    let model = project_root().join("lmcpu/testdata/toy-wordless.kenlm");
    let error = run_to_error(&mut lm(&["next", path_str(&model)]));
    assert!(error.contains("toy-wordless.kenlm: the file does not hold its words"), "{error}");
    assert!(error.contains("without build_binary's option -v"), "{error}");
    // Given words are printed as they are given.
    let folder = tempfile::tempdir().unwrap();
    let words = folder.path().join("words");
    std::fs::write(&words, "b\n").unwrap();
    let mut given = lm(&["next", path_str(&model), "--words", path_str(&words)]);
    assert_eq!(lossy_text(&run_piped(&mut given, b"a\n")), "b\t-0.3\n");
}

#[test]
fn a_missing_unk_gets_one_warning() {
    let (folder, ..) = build_toy_model();
    let arpa = folder.path().join("nounk.arpa");
    let model = TOY.replace("-1.0\t<unk>\n", "").replace("ngram 1=5", "ngram 1=4");
    std::fs::write(&arpa, model).expect("writable");
    let output = lm(&["query", path_str(&arpa), "-i", "/dev/null"]).output().expect("it starts");
    let warnings = lossy_text(&output.stderr);
    assert_eq!(warnings.matches("no <unk> among the unigrams").count(), 1, "{warnings}");
}

#[test]
fn damaged_files_are_rejected_or_harmless() {
    let (folder, _, model) = build_toy_model();
    let whole = read_decompressed(&model);
    let copy = folder.path().join("copy");
    let attempt = |bytes: &[u8], what: String| {
        std::fs::write(&copy, bytes).expect("writable");
        let output =
            lm(&["query", path_str(&copy), "-i", "/dev/null"]).output().expect("it starts");
        assert!(
            matches!(output.status.code(), Some(0 | 1)),
            "{what}: {}",
            lossy_text(&output.stderr)
        );
        let verified = miriam().args(["verify", path_str(&copy)]).output().expect("it starts");
        assert_eq!(verified.status.code(), Some(1), "{what}");
    };
    for end in (0..whole.len()).step_by(whole.len() / 20) {
        attempt(&whole[..end], format!("cut at {end}"));
    }
    for place in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[place] ^= 0x55;
        attempt(&bytes, format!("changed at {place}"));
    }
}

#[test]
fn every_help_has_an_example() {
    for command in ["build", "query", "perplexity"] {
        let help = lossy_text(&run(&mut lm(&[command, "--help"])));
        assert!(
            help.contains(&format!("miriam lm {command} ")) && help.contains("Example"),
            "{help}"
        );
    }
}

#[test]
fn a_full_disk_while_building_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let arpa = crate::common::project_root().join("examples/toy/lm.arpa");
    let model = folder.path().join("lm.miriam");
    std::fs::write(&model, b"old").unwrap();
    // A limit on file sizes simulates a full disk.
    let script = format!(
        "trap '' XFSZ; ulimit -f 8; exec '{}' lm build '{}' -o '{}'",
        env!("CARGO_BIN_EXE_miriam"),
        arpa.display(),
        model.display()
    );
    let output = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("lm.miriam") && stderr.contains("too large"), "{stderr}");
    assert_eq!(std::fs::read(&model).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file remains");
}

/// Decompresses a file of real data into `folder`; returns its path.
fn unpack_model(folder: &Path, file: &Path) -> PathBuf {
    let unpacked = folder.join(file.file_stem().expect("has a name"));
    std::fs::write(&unpacked, read_decompressed(file)).expect("writable");
    unpacked
}

#[test]
fn kenlm_files_are_scored_as_by_kenlm() {
    let Some(cases) = shared_data("kenlm-cases") else { return };
    let Some(m30k) = shared_data("m30k-de-en") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut checks = Vec::new();
    for name in ["o5", "o3-suffixless"] {
        for kind in ["probing", "trie", "qtrie", "atrie", "qatrie"] {
            let file = unpack_model(folder.path(), &cases.join(format!("{name}.{kind}.zst")));
            let expected = cases.join(format!("{name}.{kind}.query.gz"));
            checks.push((file, cases.join("heldout.en"), expected));
        }
    }
    for kind in ["probing", "trie", "trie-q8"] {
        let file = unpack_model(folder.path(), &m30k.join(format!("lm/lm.5.en.{kind}.zst")));
        for (name, text) in [("test", "corpus/test.en.gz"), ("odd", "lm/odd.en.gz")] {
            let expected = m30k.join(format!("lm/{name}.{kind}.query.gz"));
            checks.push((file.clone(), m30k.join(text), expected));
        }
    }
    for (file, input, expected) in checks {
        let expected = read_decompressed(&expected);
        for threads in ["1", "3"] {
            let found = run(&mut lm(&[
                "query",
                path_str(&file),
                "-i",
                path_str(&input),
                "--threads",
                threads,
            ]));
            assert_same(&found, &expected, path_str(&file));
        }
        let found = run(&mut lm(&["perplexity", path_str(&file), "-i", path_str(&input)]));
        let summary = expected.split(|&b| b == b'\n').rev().take(5).collect::<Vec<_>>();
        assert_eq!(found.split(|&b| b == b'\n').rev().collect::<Vec<_>>(), summary, "perplexity");
    }
}

#[test]
fn dumps_and_kenlm_files_round_trip() {
    let Some(cases) = shared_data("kenlm-cases") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arpa = cases.join("o5.arpa.gz");
    let file = unpack_model(folder.path(), &cases.join("o5.probing.zst"));
    let out = folder.path().join("out");
    for threads in ["1", "3"] {
        let found = run(&mut lm(&["dump", path_str(&file), "--threads", threads]));
        assert_same(&found, &read_decompressed(&arpa), "dump of a KenLM file");
        run(&mut lm(&[
            "build",
            path_str(&arpa),
            "-o",
            path_str(&out),
            "--type",
            "kenlm-probing",
            "--threads",
            threads,
        ]));
        assert!(read_decompressed(&out) == read_decompressed(&file), "kenlm-probing");
        let arguments = ["build", path_str(&arpa), "-o", path_str(&out), "--threads", threads];
        let trie = ["--type", "kenlm-trie", "--quantize", "8", "--pointer-bits", "22"];
        run(&mut lm(&[&arguments[..], &trie].concat()));
        let expected = read_decompressed(&cases.join("o5.qatrie.zst"));
        assert!(read_decompressed(&out) == expected, "kenlm-trie");
    }
    assert_same(
        &run(&mut lm(&["dump", path_str(&arpa)])),
        &read_decompressed(&arpa),
        "dump of ARPA text",
    );
    run(&mut lm(&["build", path_str(&file), "-o", path_str(&out)]));
    let input = cases.join("heldout.en");
    let found = run(&mut lm(&["query", path_str(&out), "-i", path_str(&input)]));
    assert_same(
        &found,
        &read_decompressed(&cases.join("o5.probing.query.gz")),
        "our file of KenLM's",
    );
}

#[test]
fn kenlm_options_are_checked() {
    let (folder, arpa, model) = build_toy_model();
    let out = folder.path().join("out");
    let build = |more: &[&str]| {
        let mut all = vec!["build", path_str(&arpa), "-o", path_str(&out)];
        all.extend(more);
        lm(&all)
    };
    for (wrong, message) in [
        (&["--multiplier", "2"][..], "--multiplier is for --type kenlm-probing"),
        (&["--type", "trie", "--pointer-bits", "22"], "--pointer-bits is for --type kenlm-trie"),
        (&["--quantize", "8"], "--quantize is for --type trie and kenlm-trie"),
        (&["--hash-orders", "2"], "--hash-orders is for --type glm"),
        (&["--type", "trie", "--node-width", "8"], "--node-width is for --type glm"),
    ] {
        assert!(run_to_usage_error(&mut build(wrong)).contains(message), "{wrong:?}");
    }
    let multiple = ["filter", "multiple", "--model", path_str(&arpa), "--vocab", path_str(&arpa)];
    assert!(run_to_usage_error(&mut lm(&multiple)).contains("one file per sentence"));
    let kenlm = ["--type", "kenlm-probing", "--multiplier", "1"];
    assert!(run_to_error(&mut build(&kenlm)).contains("multiplier 1: must be above 1 and"));
    let kenlm = ["--type", "kenlm-probing", "--unknown", "1"];
    assert!(run_to_error(&mut build(&kenlm)).contains("not a log10 probability"));
    run(&mut build(&["--type", "kenlm-probing", "--multiplier", "3"]));
    let text = b"a zz b a\n\n";
    let expected = run_piped(&mut lm(&["query", path_str(&model)]), text);
    assert_same(&run_piped(&mut lm(&["query", path_str(&out)]), text), &expected, "wide tables");
}

/// The files of CMU's lmtool and QuickLM: text before the model, spaces in place of tabs. The
/// expected totals are sums of the model's values.
#[test]
fn quicklm_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let arpa = folder.path().join("quick.arpa");
    let text = "Language model created by QuickLM on a day\n\
        Copyright (c) of somebody\n\n\
        The model is in standard ARPA format\n\n\\data\\ \nngram 1=4\nngram 2=3\nngram 3=2\n\n\
        \\1-grams: \n-0.9031 </s> -0.3010\n-0.9031 <s> -0.2430\n-0.9031 LIGHT -0.2430\n\
        -0.9031 ON -0.2430 \n\n\\2-grams:\t\n-0.3010 <s> LIGHT 0\n-0.3010 LIGHT ON 0\n\
        -0.3010 ON </s> -0.3010\n\n\\3-grams:\n-0.3010 <s> LIGHT ON\n-0.3010 LIGHT ON </s>\n\n \\end\\\n";
    std::fs::write(&arpa, text).unwrap();
    let found =
        run_piped(&mut lm(&["query", path_str(&arpa), "-v", "sentence"]), b"LIGHT ON\nON LIGHT\n");
    let totals: Vec<f64> = lossy_text(&found)
        .lines()
        .map(|line| line.split(' ').nth(1).unwrap().parse().unwrap())
        .collect();
    assert_eq!(totals.len(), 2);
    for (total, expected) in totals.into_iter().zip([-0.903, -3.4383]) {
        assert!((total - expected).abs() < 1e-5, "{total}, not {expected}");
    }
}
