//! `miriam lm perplexity` as a filter of text, and `miriam lm query` over odd text, end
//! to end.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_with_input,
    shared_data,
};

/// Returns the command `miriam --quiet lm` with `arguments`.
fn lm(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["--quiet", "lm"]).args(arguments);
    command
}

/// Returns the output and the messages of `command` for `input`.
fn run_piped(command: &mut Command, input: &[u8]) -> (String, String) {
    let output = run_with_input(command, input);
    (lossy_text(&output.stdout), lossy_text(&output.stderr))
}

fn path_str(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

fn toy_model_path() -> String {
    path_str(&project_root().join("tests/data/toy.arpa")).to_owned()
}

/// Writes a file `name`, compressed as its extension says, to a new folder.
fn write_temp_file(name: &str, content: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join(name);
    let mut output = std::fs::File::create(&file).expect("writable");
    match name.rsplit('.').next() {
        Some("gz") => {
            let mut gzip = flate2::write::GzEncoder::new(output, Default::default());
            gzip.write_all(content).and_then(|()| gzip.finish()).expect("writable");
        }
        Some("zst") => output.write_all(&zstd::encode_all(content, 3).unwrap()).expect("writable"),
        _ => output.write_all(content).expect("writable"),
    }
    (folder, file)
}

/// Texts, each with the recorded outputs of KenLM's `query` and `query -n -v 1` for the toy model.
const UNUSUAL_TEXTS: [(&[u8], &str, &str); 6] = [
    (
        b"a b\n\nb zz",
        "a=3 2 -0.5\tb=4 3 -0.3\t</s>=2 2 -0.7\tTotal: -1.5 OOV: 0\n\
         </s>=2 1 -1.5\tTotal: -1.5 OOV: 0\n\
         b=4 1 -2\tzz=0 1 -1.1\tPerplexity including OOVs:\t3.1622776601683795\n\
         Perplexity excluding OOVs:\t2.073321554515786\nOOVs:\t0\nTokens:\t6\n",
        "Total: -2.1 OOV: 0\nTotal: 0 OOV: 0\nPerplexity including OOVs:\t3.3496542076892677\n\
         Perplexity excluding OOVs:\t1.7782792880091558\nOOVs:\t0\nTokens:\t4\n",
    ),
    (
        b"",
        "Perplexity including OOVs:\tNaN\nPerplexity excluding OOVs:\tNaN\nOOVs:\t0\nTokens:\t0\n",
        "Perplexity including OOVs:\tNaN\nPerplexity excluding OOVs:\tNaN\nOOVs:\t0\nTokens:\t0\n",
    ),
    (
        b"zz",
        "zz=0 1 -1.3\tPerplexity including OOVs:\t1\n\
         Perplexity excluding OOVs:\t0.05011872886555352\nOOVs:\t0\nTokens:\t1\n",
        "Perplexity including OOVs:\t1\nPerplexity excluding OOVs:\t0.1\nOOVs:\t0\nTokens:\t1\n",
    ),
    (
        b"a\tb \x0b b\x0ca\r\n\r\n \t \nb\r",
        "a=3 2 -0.5\tb=4 3 -0.3\tb=4 1 -1.8000001\ta=3 2 -0.9\t</s>=2 1 -1.8000001\t\
         Total: -5.3 OOV: 0\n\
         </s>=2 1 -1.5\tTotal: -1.5 OOV: 0\n</s>=2 1 -1.5\tTotal: -1.5 OOV: 0\n\
         b=4 1 -2\tPerplexity including OOVs:\t10.901845522339757\n\
         Perplexity excluding OOVs:\t10.901845522339757\nOOVs:\t0\nTokens:\t8\n",
        "Total: -4.8 OOV: 0\nTotal: 0 OOV: 0\nTotal: 0 OOV: 0\n\
         Perplexity including OOVs:\t9.120109194638907\n\
         Perplexity excluding OOVs:\t9.120109194638907\nOOVs:\t0\nTokens:\t5\n",
    ),
    (
        b"a zz\na b ",
        "a=3 2 -0.5\tzz=0 1 -1.25\t</s>=2 1 -1.2\tTotal: -2.95 OOV: 1\n\
         a=3 2 -0.5\tb=4 3 -0.3\tPerplexity including OOVs:\t3.890451535373863\n\
         Perplexity excluding OOVs:\t2.6607251328329284\nOOVs:\t1\nTokens:\t5\n",
        "Total: -2.7 OOV: 1\nPerplexity including OOVs:\t4.731512719489874\n\
         Perplexity excluding OOVs:\t3.1622776601683795\nOOVs:\t1\nTokens:\t4\n",
    ),
    (
        b"zz zz\nzz b\n  ",
        "zz=0 1 -1.3\tzz=0 1 -1\t</s>=2 1 -1.2\tTotal: -3.5 OOV: 2\n\
         zz=0 1 -1.3\tb=4 1 -1.7\t</s>=2 2 -0.7\tTotal: -3.7 OOV: 1\n\
         Perplexity including OOVs:\t15.84893221463553\n\
         Perplexity excluding OOVs:\t15.8489336647576\nOOVs:\t3\nTokens:\t6\n",
        "Total: -2 OOV: 2\nTotal: -2.7 OOV: 1\nPerplexity including OOVs:\t14.962356971645367\n\
         Perplexity excluding OOVs:\t50.11872886555352\nOOVs:\t3\nTokens:\t4\n",
    ),
];

#[test]
fn an_unterminated_line_is_treated_as_by_kenlm_on_request() {
    for (input, all, bare) in UNUSUAL_TEXTS {
        for threads in ["1", "3"] {
            let query = ["query", &toy_model_path(), "--kenlm-compat", "--threads", threads];
            let (printed, _) = run_piped(&mut lm(&query), input);
            assert_eq!(printed, all, "{:?}", lossy_text(input));
            let (flushed, _) = run_piped(lm(&query).arg("-b"), input);
            assert_eq!(flushed, all, "{:?}", lossy_text(input));
            let (printed, _) = run_piped(lm(&query).args(["-n", "-v", "1"]), input);
            assert_eq!(printed, bare, "{:?}", lossy_text(input));
        }
    }
    let (printed, _) = run_piped(&mut lm(&["query", &toy_model_path(), "-v", "1"]), b"a b\nb zz");
    assert!(printed.starts_with("Total: -1.5 OOV: 0\nTotal: -4.3 OOV: 1\n"), "{printed}");
    let (terminated, _) =
        run_piped(&mut lm(&["query", &toy_model_path(), "-v", "1"]), b"a b\nb zz\n");
    assert_eq!(printed, terminated);
    let compat = ["query", &toy_model_path(), "-v", "1", "--kenlm-compat"];
    assert_eq!(run_piped(&mut lm(&compat), b"a b\nb zz\n").0, terminated);
}

/// `perplexity` prints the summary that KenLM's `query` printed for the same text.
#[test]
fn summaries_equal_kenlms() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let model = folder.path().join("model");
    run(&mut lm(&["build", path_str(&data.join("lm/lm.5.en.arpa.gz")), "-o", path_str(&model)]));
    for (name, input) in [
        ("test", data.join("corpus/test.en.gz")),
        ("dev", data.join("corpus/dev.en.gz")),
        ("odd", data.join("lm/odd.en.gz")),
    ] {
        let query = read_decompressed(&data.join(format!("lm/{name}.probing.query.gz")));
        let query = lossy_text(&query);
        let at = query.find("Perplexity including").expect("a summary");
        let plain =
            lossy_text(&run(&mut lm(&["perplexity", path_str(&model), "-i", path_str(&input)])));
        assert_eq!(plain, query[at..], "{name}");
        // The same lines as JSON documents have the same summary.
        let lines = read_decompressed(&input);
        if std::str::from_utf8(&lines).is_err() {
            continue;
        }
        let document = |line: &str| serde_json::json!({"id": 1, "text": line}).to_string() + "\n";
        let json: String = lossy_text(&lines).lines().map(document).collect();
        let (_folder, json) = write_temp_file("documents.jsonl.zst", json.as_bytes());
        let arguments =
            ["perplexity", path_str(&model), "--json-field", "text", "-i", path_str(&json)];
        assert_eq!(lossy_text(&run(&mut lm(&arguments))), plain, "{name}");
    }
}

#[test]
fn lines_of_many_files_in_every_format_are_one_text() {
    let (_a, plain) = write_temp_file("a.txt", b"a b\nzz");
    let (_b, gzip) = write_temp_file("b.gz", b"b a\n");
    let (_c, zstd) = write_temp_file("c.zst", b"\na b a");
    let (model, files) = (toy_model_path(), [&plain, &gzip, &zstd].map(|file| path_str(file)));
    let inputs = ["-i", files[0], "-i", files[1], "-i", "-", "-i", files[2]];
    let perplexity = |more: &[&str]| {
        let arguments = [&["perplexity", &model][..], &inputs, more].concat();
        run_piped(&mut lm(&arguments), b"b\n")
    };
    let (printed, _) = perplexity(&["--per-line"]);
    let whole = b"a b\nzz\nb a\nb\n\na b a\n";
    let expected = run_piped(&mut lm(&["perplexity", &model, "--per-line"]), whole).0;
    assert_eq!(printed, expected);
    assert_eq!(printed.lines().count(), 6);
    let (printed, log) = perplexity(&["--max-perplexity", "10"]);
    assert_eq!(printed, "a b\na b a\n");
    assert!(log.contains("kept 2 of 6 lines"), "{log}");
    let (printed, log) = perplexity(&["--max-perplexity", "10", "--invert"]);
    assert_eq!(printed, "zz\nb a\nb\n\n");
    assert!(log.contains("kept 4 of 6 lines"), "{log}");
    for name in ["kept.gz", "kept.zst", "kept"] {
        let output = _a.path().join(name);
        perplexity(&["--max-perplexity", "10", "-o", path_str(&output)]);
        assert_eq!(lossy_text(&read_decompressed(&output)), "a b\na b a\n");
    }
}

#[test]
fn json_lines_are_scored_and_filtered() {
    let lines = concat!(
        "{\"text\":\"a b\"}\n",
        "{ \"id\": 7, \"text\": \"a b\\nb zz\", \"meta\": {\"text\": \"a\"} }\r\n",
        "{\"text\":\"\"}\n"
    );
    let model = toy_model_path();
    let json = |more: &[&str], input: &str| {
        let arguments = [&["perplexity", &model, "--json-field", "text"][..], more].concat();
        run_piped(&mut lm(&arguments), input.as_bytes())
    };
    // a b: -1.5, 3 tokens; b zz: -2 - 1.1 - 1.2 = -4.3 (f32), 3 tokens.
    let scored = json(&["--per-line"], lines).0;
    let scored: Vec<&str> = scored.lines().collect();
    assert_eq!(
        scored[0],
        "{\"text\":\"a b\",\"lm_log10\":-1.5,\"lm_tokens\":3,\"lm_oov\":0,\
         \"lm_perplexity\":3.1622776601683795}"
    );
    assert!(
        scored[1].starts_with(
            "{ \"id\": 7, \"text\": \"a b\\nb zz\", \"meta\": {\"text\": \"a\"} ,\"lm_log10\":-5.80000"
        ) && scored[1].contains(",\"lm_tokens\":6,\"lm_oov\":1,\"lm_perplexity\":9.26"),
        "{}",
        scored[1]
    );
    assert!(scored[2].contains("\"lm_log10\":-1.5,\"lm_tokens\":1,\"lm_oov\":0"), "{}", scored[2]);
    let flat = run_piped(&mut lm(&["perplexity", &model]), b"a b\na b\nb zz\n\n").0;
    assert_eq!(json(&[], lines).0, flat, "the summary");
    let nested = ["perplexity", &model, "--json-field", "meta.text", "--skip-invalid"];
    let (printed, log) = run_piped(&mut lm(&nested), lines.as_bytes());
    assert_eq!(printed, run_piped(&mut lm(&["perplexity", &model]), b"a\n").0);
    assert!(log.contains("left out 2 of 3 lines as invalid"), "{log}");

    let filter = ["--max-perplexity", "9"];
    let all: Vec<&str> = lines.split_inclusive('\n').collect();
    assert_eq!(json(&filter, lines).0, all[0]);
    assert_eq!(json(&["--max-perplexity", "9", "--invert"], lines).0, all[1..].concat());
    let (printed, _) = json(&["--max-perplexity", "9", "--per-line"], lines);
    assert_eq!(printed, format!("{}\n", scored[0]));
    let again = scored.join("\n") + "\n";
    let (_folder, again) = write_temp_file("again.jsonl", again.as_bytes());
    let arguments =
        ["perplexity", &model, "--json-field", "text", "-i", path_str(&again), "--per-line"];
    let error = run_to_error(&mut lm(&arguments));
    assert!(error.contains("again.jsonl, line 1: the key \"lm_log10\""), "{error}");
    let error = run_to_error(lm(&arguments).arg("--skip-invalid"));
    assert!(error.contains("again.jsonl, line 1: the key \"lm_log10\""), "{error}");
}

/// Documents as CCNet scores them: normalised, in pieces, as one line each, in buckets.
#[test]
fn documents_are_put_into_the_buckets_of_ccnet() {
    let model = toy_model_path();
    let pieces = project_root().join("examples/toy-neural/vocab.spm");
    let documents = [
        ("de", "  Ein Haus,\n1984!", "ein haus,0000!"),
        ("en", "Café “B”", "cafe \"b\""),
        ("en", "a b a b", "a b a b"),
        ("fr", "a b", "a b"),
        ("en", "", ""),
    ];
    // The reference: text that was normalised by hand and cut into pieces before, scored as plain
    // text.
    let vocabulary = miriam_textproc::SentencePiece::open(&pieces).unwrap();
    let mut encoding = miriam_textproc::sentencepiece::Encoding::new();
    let mut cut = Vec::new();
    for (_, _, normal) in documents {
        vocabulary.encode(normal.as_bytes(), &mut encoding);
        cut.extend(vocabulary.pieces(&encoding).collect::<Vec<_>>().join(&b' '));
        cut.push(b'\n');
    }
    let (scores, _) = run_piped(&mut lm(&["perplexity", &model, "--per-line"]), &cut);
    let perplexities: Vec<f64> = scores
        .lines()
        .map(|line| {
            let fields: Vec<f64> = line.split('\t').map(|field| field.parse().unwrap()).collect();
            10f64.powf(-fields[0] / fields[1])
        })
        .collect();
    // With these limits, the first German and the first English document are in different buckets.
    let (german, english) = (perplexities[0], perplexities[1]);
    let cutoffs = format!(
        ",de,en\n29,0,0\n30,{},{}\n60,{},{}\n",
        german + 1.0,
        english - 1.0,
        german + 2.0,
        english + 1.0
    );
    let (_folder, cutoffs) = write_temp_file("cutoff.csv", cutoffs.as_bytes());
    let text: String = documents
        .iter()
        .map(|(language, text, _)| {
            serde_json::json!({"language": language, "text": text}).to_string() + "\n"
        })
        .collect();
    let mut command = lm(&["perplexity", &model, "--json-field", "text", "--normalize", "ccnet"]);
    command.arg("--spm").arg(&pieces).arg("--cutoffs").arg(&cutoffs);
    let (bucketed, messages) = run_piped(&mut command, text.as_bytes());
    let found: Vec<serde_json::Value> =
        bucketed.lines().map(|line| serde_json::from_str(line).expect(&messages)).collect();
    assert_eq!(found.len(), documents.len(), "{messages}");
    for (place, (found, perplexity)) in found.iter().zip(&perplexities).enumerate() {
        let (language, text, _) = documents[place];
        assert_eq!((&found["language"], &found["text"]), (&language.into(), &text.into()));
        if text.is_empty() {
            assert!(found.get("perplexity").is_none() && found["bucket"] == "all", "{found}");
            continue;
        }
        let written = found["perplexity"].as_f64().unwrap();
        assert!((written - perplexity).abs() <= 0.0501, "{written} {perplexity}");
    }
    let buckets: Vec<&str> = found.iter().map(|found| found["bucket"].as_str().unwrap()).collect();
    assert_eq!((buckets[0], buckets[1], buckets[3]), ("head", "middle", "all"));
    // Without `--spm`, the lines of a document are normalised and scored one by one.
    let mut command = lm(&["perplexity", &model, "--json-field", "text", "--normalize", "ccnet"]);
    let (joined, _) = run_piped(command.arg("--per-line"), b"{\"text\": \"A b\\n\xc3\x84 B\"}\n");
    let (plain, _) = run_piped(
        &mut lm(&["perplexity", &model, "--json-field", "text", "--per-line"]),
        b"{\"text\": \"a b\\na b\"}\n",
    );
    let scores_of = |text: &str| text.split_once(",\"lm_log10\"").unwrap().1.to_owned();
    assert_eq!(scores_of(&joined), scores_of(&plain));
    // A file that is not a table of limits is rejected.
    let error =
        run_to_error(lm(&["perplexity", &model, "--json-field", "text", "--cutoffs"]).arg(&pieces));
    assert!(error.contains("vocab.spm"), "{error}");
}

#[test]
fn invalid_documents_are_named_or_left_out() {
    let model = toy_model_path();
    let good = "{\"t\":\"a b\"}\n";
    for (bad, reason) in [
        (&b"a b\n"[..], "expected value"),
        (b"[{\"t\":\"a\"}]\n", "expected an object"),
        (b"{\"t\":[\"a\"]}\n", "invalid type: sequence, expected a string"),
        (b"{\"s\":\"a\"}\n", "no field \"t\""),
        (b"{\"t\":\"a\"\n", "EOF while parsing an object"),
        (b"{\"t\":\"\xff\"}\n", "not UTF-8 from byte 7 on"),
        (b"{\"t\":\"\\ud80\"}\n", "invalid escape"),
        (b"{\"t\":\"a\"}{\"t\":\"b\"}\n", "trailing characters"),
    ] {
        let input = [good.as_bytes(), bad, good.as_bytes()].concat();
        let (_folder, input) = write_temp_file("web.jsonl", &input);
        let arguments = ["perplexity", &model, "--json-field", "t", "-i", path_str(&input)];
        let error = run_to_error(lm(&arguments).arg("--per-line"));
        assert!(error.contains("web.jsonl, line 2: ") && error.contains(reason), "{error}");
        let arguments = [&arguments[..], &["--skip-invalid", "--max-perplexity", "100"]].concat();
        let (printed, log) = run_piped(&mut lm(&arguments), b"");
        assert_eq!(printed, good.repeat(2));
        assert!(log.contains("kept 2 of 3 lines"), "{log}");
        assert!(log.contains("left out 1 of 3 lines as invalid"), "{log}");
    }
}

/// Odd values of other fields that Python can read or write, such as NaN, do not make a document
/// invalid.
#[test]
fn odd_values_of_other_fields_leave_a_document_valid() {
    let model = toy_model_path();
    let deep = format!("{}1{}", "[".repeat(2000), "]".repeat(2000));
    let lines: Vec<String> = [
        "NaN",
        "-Infinity",
        "[Infinity,-Infinity , NaN]",
        "1e999",
        "123456789012345678901234567890",
        "\"\\ud800\"",
        "\"\\u0000\"",
        "{\"t\":\"a\",\"t\":\"b\"}",
        &deep,
    ]
    .map(|value| format!("{{\"x\":{value},\"t\":\"a b\",\"x\":{value}}}\r\n"))
    .to_vec();
    let text = format!("\u{feff}{}\n \r\n", lines.concat());
    let arguments = ["perplexity", &model, "--json-field", "t", "--skip-invalid"];
    let mut command = lm(&arguments);
    let (kept, log) = run_piped(command.args(["--max-perplexity", "1e9"]), text.as_bytes());
    assert_eq!(kept, lines.concat(), "{log}");
    assert!(log.contains("left out 0 of "), "{log}");
}

#[test]
fn conflicting_options_are_wrong_usage() {
    let model = toy_model_path();
    for arguments in [
        &["--per-line", "--max-perplexity", "5"][..],
        &["--invert"],
        &["--skip-invalid"],
        &["--max-perplexity", "NaN"],
        &["--max-perplexity", "-1"],
    ] {
        let mut command = lm(&["perplexity", &model, "-i", "/dev/null"]);
        let output = command.args(arguments).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty());
    }
}

#[test]
fn a_closed_pipe_is_no_error_and_a_full_disk_is() {
    let model = toy_model_path();
    let (_folder, input) = write_temp_file("long.txt", &b"a b a b\n".repeat(500_000));
    let arguments = ["perplexity", &model, "--max-perplexity", "1e9", "-i", path_str(&input)];
    let mut child = lm(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    let mut start = [0; 8];
    child.stdout.take().expect("piped").read_exact(&mut start).expect("a line");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success() && output.stderr.is_empty(), "{}", lossy_text(&output.stderr));
    if Path::new("/dev/full").exists() {
        let error = run_to_error(lm(&arguments).args(["-o", "/dev/full"]));
        assert!(error.contains("/dev/full: cannot write"), "{error}");
    }
}
