//! The text tools as subcommands, compared with the recorded output of Moses' scripts on
//! real lines, and raw text through `translate`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{
    lossy_text, miriam, output_with_input, project_root, read_decompressed, run, run_to_error,
    run_with_input, shared_data,
};

const LANGUAGES: [&str; 4] = ["cs", "de", "en", "fr"];

/// Runs `options` over the recorded file `input` and compares with the recorded file
/// `expected`, on one thread and on three.
fn check_tool(folder: &Path, options: &[&str], input: &str, expected: &str) {
    let expected_lines = read_decompressed(&folder.join(expected));
    for threads in ["1", "3"] {
        let input = folder.join(input);
        let found = run(miriam().args(options).arg("-i").arg(&input).args(["--threads", threads]));
        let lines = |bytes: &[u8]| bytes.split(|&b| b == b'\n').map(lossy_text).collect::<Vec<_>>();
        let (found, wanted) = (lines(&found), lines(&expected_lines));
        assert_eq!(found.len(), wanted.len(), "{expected}");
        for (i, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
            assert_eq!(found, wanted, "{expected}, line {}", i + 1);
        }
    }
}

#[test]
fn recorded_lines_come_out_as_from_moses() {
    let Some(folder) = shared_data("tokenizer-cases") else { return };
    let scratch = tempfile::tempdir().unwrap();
    for language in LANGUAGES {
        let file = |what: &str| format!("{language}.{what}.gz");
        let (raw, tokens) = (file("raw"), file("tok"));
        let tokenize = ["tokenize", "-l", language];
        check_tool(&folder, &["normalize", "-l", language], &raw, &file("normalized"));
        check_tool(&folder, &tokenize, &raw, &tokens);
        check_tool(&folder, &[&tokenize[..], &["-a"]].concat(), &raw, &file("tok-aggressive"));
        check_tool(
            &folder,
            &[&tokenize[..], &["-no-escape"]].concat(),
            &raw,
            &file("tok-noescape"),
        );
        check_tool(&folder, &["detokenize", "-l", language], &tokens, &file("detok"));
        let model = scratch.path().join(language);
        fs::write(&model, read_decompressed(&folder.join(file("truecase-model")))).unwrap();
        let truecase = ["truecase", "--model", model.to_str().unwrap()];
        check_tool(&folder, &truecase, &tokens, &file("truecased"));
        check_tool(&folder, &["truecase", "--undo"], &file("truecased"), &file("detruecased"));
    }
}

/// Returns a model's words, each with its forms and counts, sorted. Moses writes words, and forms
/// of equal frequency, in random order.
fn sorted_casings(model: &[u8]) -> Vec<Vec<(String, String)>> {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split(' ').collect();
        let mut forms: Vec<_> = fields
            .chunks(2)
            .map(|form| {
                let count = form[1].split('/').next().unwrap().trim_end_matches(')');
                (form[0].to_owned(), count.to_owned())
            })
            .collect();
        let total = fields[1].split('/').nth(1).unwrap().trim_end_matches(')');
        let count = |form: &(String, String)| form.1[1..].parse::<u32>().unwrap();
        assert!(forms.iter().all(|form| count(form) <= count(&forms[0])), "{line}");
        forms.push(("in all".to_owned(), total.to_owned()));
        forms.sort();
        forms
    };
    let mut lines: Vec<_> = std::str::from_utf8(model).unwrap().lines().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn truecase_models_count_what_moses_counts() {
    let Some(folder) = shared_data("tokenizer-cases") else { return };
    for language in LANGUAGES {
        let tokens = folder.join(format!("{language}.tok.gz"));
        let model = |threads: &str| {
            run(miriam().args(["truecase", "--train", "--threads", threads, "-i"]).arg(&tokens))
        };
        let found = model("1");
        let recorded = read_decompressed(&folder.join(format!("{language}.truecase-model.gz")));
        assert_eq!(sorted_casings(&found), sorted_casings(&recorded), "{language}");
        assert_eq!(model("3"), found, "{language}");
    }
}

#[test]
fn prepare_equals_three_tools() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let raw = "“Das Haus” ist groß.\nEin Haus, das Anna’s war.\n\nIch sehe ein Haus.\n";
    fs::write(at("raw"), raw.repeat(20_000)).unwrap();
    let options = ["prepare", "-l", "de", "--train-truecase"];
    run(miriam().args(options).arg(at("model")).arg("-i").arg(at("raw")).arg("-o").arg(at("out")));
    let normal = run(miriam().args(["normalize", "-l", "de", "-i"]).arg(at("raw")));
    let tokens = run_with_input(miriam().args(["tokenize", "-l", "de"]), &normal).stdout;
    fs::write(at("tokens"), &tokens).unwrap();
    let model = run(miriam().args(["truecase", "--train", "-i"]).arg(at("tokens")));
    assert_eq!(read_decompressed(&at("model")), model);
    let truecase = |from: &str| {
        run(miriam().args(["truecase", "--model"]).arg(at("model")).arg("-i").arg(at(from)))
    };
    let prepared = read_decompressed(&at("out"));
    assert_eq!(prepared, truecase("tokens"));
    let first: Vec<_> = lossy_text(&prepared).lines().take(3).map(str::to_owned).collect();
    // The output of Moses' three scripts for these lines, one after another.
    assert_eq!(
        first,
        ["&quot; das Haus &quot; ist groß .", "ein Haus , das Anna &apos; s war .", ""]
    );
    let again = run(miriam()
        .args(["prepare", "-l", "de", "--truecase"])
        .arg(at("model"))
        .arg("-i")
        .arg(at("raw")));
    assert_eq!(again, prepared);
    let mut piped = miriam();
    piped.args(options).arg(at("of a pipe")).args(["-i", "/dev/stdin", "-o"]).arg(at("none"));
    let message = lossy_text(&output_with_input(&mut piped, b"ein Haus\n").stderr);
    assert!(message.contains("give a file, not a pipe"), "{message}");
    assert!(!at("none").exists() && !at("of a pipe").exists());
}

#[test]
fn any_bytes_of_a_line_give_one_line() {
    let input = b"a\xffb\xc3 \xed\xa0\x80.\r\n\n \t \nlast";
    let tokens = run_with_input(miriam().args(["tokenize", "-q", "-b"]), input).stdout;
    assert_eq!(tokens, b"a \xff b \xc3 \xed \xa0 \x80 .\n\n \t \nlast\n");
    for options in [&["detokenize"][..], &["normalize", "fr"], &["truecase", "--undo"]] {
        let out = run_with_input(miriam().args(options), input).stdout;
        assert_eq!(out.iter().filter(|&&b| b == b'\n').count(), 4, "{options:?}");
    }
}

#[test]
fn users_prefix_and_pattern_files_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let line = "Xyz. Mr. Fig. 5 in http://a.b/c?d. End";
    fs::write(at("prefixes"), "# mine\nXyz\nFig #NUMERIC_ONLY#\n").unwrap();
    fs::write(at("patterns"), "http://\\S+\n").unwrap();
    let command = |options: &[&str]| {
        let mut command = miriam();
        command.current_dir(folder.path()).arg("tokenize").args(options);
        lossy_text(&run_with_input(&mut command, line.as_bytes()).stdout)
    };
    assert_eq!(command(&[]), "Xyz . Mr. Fig . 5 in http : / / a.b / c ? d . End\n");
    assert_eq!(
        command(&["--nonbreaking-prefixes", "prefixes", "-protected", "patterns"]),
        "Xyz. Mr . Fig. 5 in http://a.b/c?d. End\n"
    );
    let mut prepare = miriam();
    prepare.current_dir(folder.path()).args(["prepare", "--nonbreaking-prefixes", "prefixes"]);
    let prepared = run_with_input(prepare.args(["-l", "en"]), b"Xyz. Mr. Fig. 5").stdout;
    assert_eq!(lossy_text(&prepared), "Xyz. Mr . Fig. 5\n");
    // Words that the toy system does not know stay.
    let mut translate = miriam();
    translate.current_dir(folder.path()).args(["translate", "-tokenize", "en"]);
    translate.args(["-nonbreaking-prefixes", "prefixes", "-dl", "0", "-f"]);
    let translated =
        run_with_input(translate.arg(project_root().join("examples/toy")), b"Xyz. Mr. Fig. 5");
    assert_eq!(lossy_text(&translated.stdout).trim_end(), "Xyz. Mr . Fig. 5");
}

#[test]
fn errors_name_the_file_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("model"), "the (5/5)\nnothing\n").unwrap();
    fs::write(at("patterns"), "a\n[\n").unwrap();
    fs::write(at("empty"), "").unwrap();
    let message = run_to_error(miriam().args(["truecase", "--model"]).arg(at("model")));
    assert!(message.contains("model, line 2: expected a word with its casings"), "{message}");
    let message = run_to_error(miriam().args(["tokenize", "--protected"]).arg(at("patterns")));
    assert!(message.contains("patterns, line 2: \"[\" is not a regular expression"), "{message}");
    let message =
        run_to_error(miriam().args(["tokenize", "--nonbreaking-prefixes"]).arg(at("empty")));
    assert!(message.contains("empty: the list is empty"), "{message}");
    let message = run_to_error(miriam().args(["truecase", "--model"]).arg(at("absent")));
    assert!(message.contains("absent: cannot open"), "{message}");
    for options in [&["tokenize", "-penn"][..], &["truecase"], &["truecase", "--train", "--undo"]] {
        let output = miriam().args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}");
    }
    let warned = run_with_input(miriam().args(["tokenize", "-l", "xx"]), b"a");
    assert!(lossy_text(&warned.stderr).contains("no list of abbreviations for \"xx\""));
}

/// Copies the toy system, and writes a `preparation` file for raw text next to its ini.
fn toy_for_raw_text(folder: &Path) -> PathBuf {
    for file in ["moses.ini", "phrase-table", "reordering-table", "lm.arpa"] {
        fs::copy(project_root().join("examples/toy").join(file), folder.join(file)).unwrap();
    }
    fs::write(folder.join("truecase.en"), "the (3/4) The (1)\ni (2/2)\n").unwrap();
    let settings = "normalize en\ntokenize en\ntruecase truecase.en\ndetokenize es\nrecase yes\n";
    fs::write(folder.join("preparation"), settings).unwrap();
    folder.join("moses.ini")
}

const RAW: &str = "The red house is big.\nI have “a black cat” and a white dog!\n\nthe big house";

#[test]
fn translate_reads_and_writes_raw_text() {
    let folder = tempfile::tempdir().unwrap();
    let ini = toy_for_raw_text(folder.path());
    let expected =
        "La casa roja es grande.\nTengo \"un gato negro\" y un perro blanco!\n\nLa casa grande\n";
    let translate = |options: &[&str]| {
        let mut command = miriam();
        command.current_dir(folder.path()).arg("translate").arg("-f").arg(&ini).args(options);
        lossy_text(&run_with_input(&mut command, RAW.as_bytes()).stdout)
    };
    assert_eq!(translate(&["-raw", "-threads", "1"]), expected);
    assert_eq!(translate(&["-raw", "--threads", "3"]), expected);
    assert_eq!(translate(&[]), expected);
    let tokens = translate(&["-no-raw", "-tokenize", "en", "-truecase", "truecase.en"]);
    assert!(tokens.starts_with("la casa roja es grande . \n"), "{tokens}");
    let steps = [
        "-normalize",
        "en",
        "--tokenize=en",
        "-truecase",
        "truecase.en",
        "-detokenize",
        "es",
        "-recase",
    ];
    assert_eq!(translate(&steps), expected);
    // Lists have tokens, and options override the file.
    let found = translate(&["-raw", "-detokenize", "en", "-n-best-list", "list", "1"]);
    assert_eq!(found.lines().next(), expected.lines().next());
    let list = lossy_text(&read_decompressed(&folder.path().join("list")));
    assert!(list.starts_with("0 ||| la casa roja es grande . ||| "), "{list}");
}

#[test]
fn options_that_would_garble_raw_text_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let ini = toy_for_raw_text(folder.path());
    for options in [
        &["-raw", "-print-id", "true"][..],
        &["-recase", "-print-alignment-info", "true"],
        &["-tokenize", "en", "-xml-input", "exclusive"],
        &["-tokenize"],
    ] {
        let output = miriam().arg("translate").arg("-f").arg(&ini).args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{options:?}: {}", lossy_text(&output.stderr));
    }
    fs::remove_file(folder.path().join("preparation")).unwrap();
    let message = run_to_error(miriam().arg("translate").arg("-f").arg(&ini).arg("-raw"));
    assert!(
        message.contains("preparation: cannot read") && message.contains("-tokenize"),
        "{message}"
    );
}

#[test]
fn the_toy_corpus_is_complete() {
    let lines = |part: &str, language: &str| -> Vec<String> {
        let path = project_root().join("examples/toy").join(format!("{part}.{language}"));
        lossy_text(&read_decompressed(&path)).lines().map(str::to_owned).collect()
    };
    let mut seen = std::collections::HashSet::new();
    for (part, size) in [("train", 10_000), ("dev", 100), ("test", 50)] {
        let (english, spanish) = (lines(part, "en"), lines(part, "es"));
        assert_eq!((english.len(), spanish.len()), (size, size));
        let english = english.iter().map(|line| (line, "en"));
        let spanish = spanish.iter().map(|line| (line, "es"));
        for (line, language) in english.chain(spanish) {
            assert!(seen.insert((line.clone(), language)), "{line} occurs twice");
            assert!(!line.is_empty() && line.to_lowercase() == *line && line.trim() == line);
            assert!(!line.contains("  "));
        }
    }
}

#[test]
fn running_text_becomes_a_sentence_a_line() {
    let text = "Dr. No came at 5 p.m. on Monday. Why?\n\n  “Because.”  Fig. 3 shows it.";
    let split = |options: &[&str]| {
        run_with_input(miriam().arg("split").args(options), text.as_bytes()).stdout
    };
    assert_eq!(
        lossy_text(&split(&["-l", "en"])),
        "Dr. No came at 5 p.m. on Monday.\nWhy?\n\n“Because.”\nFig. 3 shows it.\n"
    );
    let scratch = tempfile::tempdir().unwrap();
    let own = scratch.path().join("prefixes");
    fs::write(&own, "Monday\n").unwrap();
    let own = split(&["--nonbreaking-prefixes", own.to_str().unwrap()]);
    assert_eq!(
        lossy_text(&own),
        "Dr.\nNo came at 5 p.m. on Monday. Why?\n\n“Because.”\nFig. 3 shows it.\n"
    );
}
