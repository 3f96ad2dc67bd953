//! `miriam lm perplexity` as data engineers use it: percentiles, shares of a text, folders of
//! outputs, fields that are not there, and signals.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{
    lossy_text, miriam, project_root, report_skip, run, run_to_error, run_to_usage_error,
    run_with_input,
};

fn toy_model() -> PathBuf {
    project_root().join("tests/data/toy.arpa")
}

/// Returns the command `miriam lm perplexity` with the toy model and `arguments`, in `folder`.
fn perplexity(folder: &Path, arguments: &str) -> Command {
    let mut command = miriam();
    command.current_dir(folder).args(["lm", "perplexity", "--quiet"]).arg(toy_model());
    command.args(arguments.split_whitespace());
    command
}

fn output(folder: &Path, arguments: &str) -> String {
    lossy_text(&run(&mut perplexity(folder, arguments)))
}

/// Creates a folder with these files.
fn folder_with(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Reads a file, decompressed as this program's commands read it.
fn read(path: &Path) -> String {
    let mut text = String::new();
    miriam_textio::Input::open(path).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// Lines by their perplexities: `a b` 10^0.5, `b a` is higher, unknown words higher still.
const LINES: &str = "zz zz\na b\nb a\na b\nzz\na b\nzz a\na b\n\nb\n";

#[test]
fn each_line_has_its_perplexity() {
    let folder = folder_with(&[("text", "a b\n\n")]);
    // A log10 probability of -1.5, first over three tokens, then over one.
    assert_eq!(
        output(folder.path(), "--per-line -i text"),
        "-1.5\t3\t0\t3.1622776601683795\n-1.5\t1\t0\t31.622776601683793\n"
    );
}

#[test]
fn percentiles_are_a_table_of_cutoffs() {
    let folder = folder_with(&[("text", LINES)]);
    let at = folder.path();
    let scores = output(at, "--per-line -i text");
    let column = |line: &str| line.rsplit_once('\t').unwrap().1.parse::<f64>().unwrap();
    let mut sorted: Vec<f64> = scores.lines().map(column).collect();
    sorted.sort_by(f64::total_cmp);
    let table = output(at, "--percentiles 0,50,100 -i text");
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split(',').collect()).collect();
    assert_eq!(rows[0], ["", "all"]);
    let numbers: Vec<f64> = rows[1..].iter().map(|row| row[1].parse().unwrap()).collect();
    assert_eq!(numbers, [sorted[0], (sorted[4] + sorted[5]) / 2.0, sorted[9]]);
    assert_eq!((rows[1][0], rows[2][0], rows[3][0]), ("0", "50", "100"));
    // Percentiles by language; the table that is written can be read again.
    let documents: String = LINES
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let language = ["en", "de"][number % 2];
            serde_json::json!({"language": language, "text": line}).to_string() + "\n"
        })
        .collect();
    fs::write(at.join("web.jsonl"), documents).unwrap();
    let table = output(at, "--json-field text --percentiles -i web.jsonl");
    assert!(table.starts_with(",de,en\n0,") && table.lines().count() == 22, "{table}");
    assert!(table.contains("\n30,") && table.contains("\n60,"), "{table}");
    output(at, "--json-field text --percentiles=30,60 -i web.jsonl -o cutoffs.csv");
    let bucketed = output(at, "--json-field text --cutoffs cutoffs.csv -i web.jsonl");
    let count = |bucket: &str| bucketed.matches(&format!("\"bucket\":\"{bucket}\"")).count();
    assert!(count("head") > 0 && count("tail") > 0, "{bucketed}");
    // Only the empty document has the bucket `all`.
    assert_eq!(count("all"), 1, "{bucketed}");
    // For a text without languages, the table has one column for all documents.
    let web = "{\"text\":\"a b\"}\n{\"text\":\"zz\"}\n{\"text\":\"b\"}\n";
    fs::write(at.join("plain.jsonl"), web).unwrap();
    output(at, "--json-field text --percentiles 30,60 -i plain.jsonl -o all.csv");
    let bucketed = output(at, "--json-field text --cutoffs all.csv -i plain.jsonl");
    assert!(bucketed.lines().next().unwrap().ends_with("\"bucket\":\"head\"}"), "{bucketed}");
    assert!(!bucketed.contains("\"all\""), "{bucketed}");
    let error = run_to_error(&mut perplexity(at, "--no-markers --percentiles -i /dev/null"));
    assert!(error.contains("no line of the text has a perplexity"), "{error}");
    let error = run_to_usage_error(&mut perplexity(at, "--percentiles 30,x -i text"));
    assert!(error.contains("0 to 100") && error.contains("commas"), "{error}");
    for wrong in ["--per-line", "--max-perplexity 5", "--keep-percent 5"] {
        run_to_usage_error(&mut perplexity(at, &format!("--percentiles -i text {wrong}")));
    }
}

/// Returns the `count` lines with the lowest perplexities, in the order of the text.
fn best_lines(folder: &Path, text: &str, count: usize) -> String {
    let scores = output(folder, "--per-line -i text");
    let values: Vec<f64> =
        scores.lines().map(|line| line.rsplit_once('\t').unwrap().1.parse().unwrap()).collect();
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    order.truncate(count);
    order.sort_unstable();
    let lines: Vec<&str> = text.lines().collect();
    order.into_iter().map(|line| lines[line].to_owned() + "\n").collect()
}

#[test]
fn the_best_share_is_kept_exactly() {
    let folder = folder_with(&[("text", LINES)]);
    let at = folder.path();
    // Four lines are equal, and three of them are kept.
    assert_eq!(best_lines(at, LINES, 3), "a b\na b\na b\n");
    for (percent, count) in [("0", 0), ("25", 3), ("30", 3), ("50", 5), ("70", 7), ("100", 10)] {
        let expected = best_lines(at, LINES, count);
        let keep = format!("--keep-percent {percent}");
        assert_eq!(output(at, &format!("{keep} -i text")), expected, "{percent}");
        for threads in [1, 3] {
            let mut piped = perplexity(at, &format!("{keep} --threads {threads}"));
            let found = run_with_input(&mut piped, LINES.as_bytes());
            assert_eq!(lossy_text(&found.stdout), expected, "{percent}");
            let log = lossy_text(&found.stderr);
            assert!(log.contains(&format!("kept {count} of 10 lines")), "{log}");
        }
        let others = output(at, &format!("{keep} --invert -i text"));
        assert_eq!(others.lines().count(), 10 - count);
    }
    // Standard input may have two compressed parts, and `-i` may name a pipe.
    let mut input = zstd::encode_all(LINES.as_bytes(), 1).unwrap();
    input.extend_from_slice(&zstd::encode_all(&b"zz\nzz\n"[..], 1).unwrap());
    let found = run_with_input(&mut perplexity(at, "--keep-percent 25"), &input);
    assert_eq!(lossy_text(&found.stdout), best_lines(at, LINES, 3));
    let script = format!(
        "exec '{}' lm perplexity --quiet '{}' --keep-percent 30 -i <(cat text)",
        env!("CARGO_BIN_EXE_miriam"),
        toy_model().display()
    );
    let piped = run(Command::new("bash").current_dir(at).args(["-c", &script]));
    assert_eq!(lossy_text(&piped), best_lines(at, LINES, 3));
    // With `--per-line`, the documents that are kept get their scores.
    let documents: String =
        LINES.lines().map(|l| serde_json::json!({"text": l}).to_string() + "\n").collect();
    fs::write(at.join("web.jsonl"), documents).unwrap();
    let kept = output(at, "--json-field text --per-line --keep-percent 30 -i web.jsonl");
    assert_eq!(kept.matches("\"text\":\"a b\",\"lm_log10\":-1.5").count(), 3, "{kept}");
    assert_eq!(kept.lines().count(), 3);
    for wrong in ["101", "-1", "NaN", "x"] {
        run_to_usage_error(&mut perplexity(at, &format!("--keep-percent={wrong} -i text")));
    }
}

#[test]
fn a_minimum_leaves_boilerplate_out() {
    let folder = folder_with(&[("text", LINES)]);
    let at = folder.path();
    let likely = output(at, "--min-perplexity 3.2 -i text");
    assert_eq!(likely, LINES.replace("a b\n", ""));
    assert_eq!(output(at, "--min-perplexity 3.2 --invert -i text"), "a b\n".repeat(4));
    let both = output(at, "--min-perplexity 3.2 --max-perplexity 1e9 -i text");
    assert_eq!(both, likely);
    assert_eq!(output(at, "--min-perplexity 3.2 --max-perplexity 3.5 -i text"), "");
    // The percentage counts all lines, not only lines above the minimum.
    assert_eq!(output(at, "--min-perplexity 3.2 --keep-percent 40 -i text"), "");
    assert_eq!(output(at, "--min-perplexity 3.2 --keep-percent 50 -i text").lines().count(), 1);
}

#[test]
fn many_files_follow_one_option() {
    let folder = folder_with(&[("1", "a b\n"), ("2", "b a\n"), ("3", "zz\n")]);
    let at = folder.path();
    fs::write(at.join("whole"), "a b\nb a\nzz\n").unwrap();
    let whole = output(at, "--per-line -i whole");
    for inputs in ["-i 1 2 3", "-i 1 2 -i 3", "-i 1 -i 2 -i 3", "-i 1 2 3 --per-line"] {
        let per_line = if inputs.contains("per-line") { "" } else { "--per-line" };
        assert_eq!(output(at, &format!("{per_line} {inputs}")), whole, "{inputs}");
    }
    // The model may come last, as after a single input file.
    let mut last = miriam();
    last.current_dir(at).args(["lm", "perplexity", "--quiet", "--per-line", "-i"]);
    assert_eq!(lossy_text(&run(last.args(["1", "2", "3"]).arg(toy_model()))), whole);
    let mut none = miriam();
    let error = run_to_usage_error(none.current_dir(at).args(["lm", "perplexity", "-i", "1"]));
    assert!(error.contains("the model is missing"), "{error}");
}

#[test]
fn a_folder_gets_an_output_for_each_input() {
    let names = ["a.txt", "b.gz", "c.zst", "d.bz2", "e.xz"];
    let texts: Vec<(&str, &str)> = names.iter().map(|name| (*name, LINES)).collect();
    let folder = folder_with(&texts);
    let at = folder.path();
    let all = names.join(" ");
    output(at, &format!("--max-perplexity 3.2 -i {all} -o kept/"));
    for name in names {
        let kept = at.join("kept").join(name);
        assert_eq!(read(&kept), "a b\n".repeat(4), "{name}");
        let is_plain = fs::read(&kept).unwrap().starts_with(b"a b");
        assert_eq!(is_plain, name == "a.txt", "{name}");
    }
    // Outputs that exist are complete and stay; the others are written.
    fs::remove_file(at.join("kept/c.zst")).unwrap();
    fs::write(at.join("kept/c.zst.partial"), "cut").unwrap();
    fs::write(at.join("kept/a.txt"), "complete\n").unwrap();
    let again = perplexity(at, &format!("--max-perplexity 3.2 -i {all} -o kept")).output().unwrap();
    let log = lossy_text(&again.stderr);
    assert!(again.status.success() && log.contains("skipped 4 of 5 inputs"), "{log}");
    assert_eq!(read(&at.join("kept/a.txt")), "complete\n");
    assert_eq!(read(&at.join("kept/c.zst")), "a b\n".repeat(4));
    assert_eq!(fs::read_dir(at.join("kept")).unwrap().count(), 5);
    // `--keep-percent` applies to each input separately.
    fs::write(at.join("a.txt"), "a b\nzz\n").unwrap();
    output(at, "--keep-percent 50 -i a.txt b.gz -o halves/");
    assert_eq!(read(&at.join("halves/a.txt")), "a b\n");
    assert_eq!(read(&at.join("halves/b.gz")).lines().count(), 5);
    // Inputs are rejected if two have the same output, if one has no name, or if one would be
    // overwritten. An output folder that is a file is rejected too.
    fs::create_dir(at.join("other")).unwrap();
    fs::copy(at.join("a.txt"), at.join("other/a.txt")).unwrap();
    for (arguments, message) in [
        ("-i a.txt other/a.txt -o new/", "would have the same output"),
        ("-i - -o new/", "standard input: it has no name"),
        ("-i a.txt -o ./", "it is also the output"),
        ("-i a.txt -o a.txt/", "a.txt/: cannot create it"),
    ] {
        let error = run_to_error(&mut perplexity(at, &format!("--max-perplexity 5 {arguments}")));
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_field_that_no_document_has_is_an_error() {
    let web = "{\"id\": 1, \"text\": \"a b\"}\n{\"id\": 2, \"text\": \"b\"}\n";
    let folder = folder_with(&[("web.jsonl", web), ("words", "a b\nb a\n"), ("none", "")]);
    let at = folder.path();
    for more in ["", "--per-line", "--max-perplexity 9", "--keep-percent 9", "--percentiles"] {
        let arguments = format!("--json-field txt --skip-invalid -i web.jsonl -o out {more}");
        let error = run_to_error(&mut perplexity(at, &arguments));
        assert!(
            error.contains("web.jsonl, line 1: no field \"txt\"; did you mean \"text\"?"),
            "{error}"
        );
        assert!(!at.join("out").exists(), "{more}");
    }
    let error = run_to_error(&mut perplexity(at, "--json-field content -i web.jsonl"));
    assert!(error.contains("no field \"content\"; there are \"id\", \"text\""), "{error}");
    let error = run_to_error(&mut perplexity(at, "--json-field t --skip-invalid -i words"));
    assert!(error.contains("words, line 1: expected value"), "{error}");
    assert_eq!(output(at, "--json-field t --skip-invalid --per-line -i none"), "");
    // A language field that is given, but that no document has, is an error too.
    fs::write(at.join("cutoffs.csv"), ",en\n30,5\n60,9\n").unwrap();
    for more in ["--cutoffs cutoffs.csv", "--percentiles"] {
        let arguments = format!("--json-field text --lang-field lang -i web.jsonl {more}");
        let error = run_to_error(&mut perplexity(at, &arguments));
        assert!(error.contains("no document has a language in the field \"lang\""), "{error}");
    }
    run_to_usage_error(&mut perplexity(at, "--json-field text --lang-field x -i web.jsonl"));
}

/// The first bytes of files that data engineers have, which are not text.
#[test]
fn tables_are_recognized() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (name, start, message) in [
        ("a.parquet", &b"PAR1\x15\x04\x15\x20\x15\x24\0"[..], "a Parquet file, not text; write it"),
        ("a.arrow", b"ARROW1\0\0\x10\0\0\0", "an Arrow file"),
        ("a.avro", b"Obj\x01\x04\x16avro", "an Avro file"),
        ("a.lz4", b"\x04\x22\x4d\x18\x64\x40", "compressed by lz4"),
    ] {
        fs::write(at.join(name), start).unwrap();
        let error = run_to_error(&mut perplexity(at, &format!("--json-field text -i {name}")));
        assert!(error.contains(name) && error.contains(message), "{error}");
    }
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_there() {
        assert!(started.elapsed().as_secs() < 60, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether this process ignores a signal.
fn ignores_signal(number: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    u64::from_str_radix(mask.trim(), 16).unwrap() >> (number - 1) & 1 == 1
}

/// For every signal and every compression, an output has its final name only when it is complete.
#[test]
fn a_stopped_run_leaves_nothing_under_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let fifo = at.join("pipe");
    run(Command::new("mkfifo").arg(&fifo));
    for name in ["out", "out.gz", "out.zst", "out.bz2", "out.xz", "folder/"] {
        let target = if name == "folder/" { at.join("folder/pipe") } else { at.join(name) };
        let partial = PathBuf::from(format!("{}.partial", target.display()));
        for (signal, number) in [("TERM", 15), ("INT", 2), ("HUP", 1)] {
            // Children inherit ignored signals, for example from nohup.
            if ignores_signal(number) {
                report_skip(&format!("SIG{signal} is ignored here"));
                continue;
            }
            let mut command = perplexity(at, &format!("--per-line -i pipe -o {name}"));
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // The command opens the pipe for reading once its output exists.
            let mut pipe = fs::OpenOptions::new().write(true).open(&fifo).unwrap();
            pipe.write_all(&LINES.repeat(20_000).into_bytes()).unwrap();
            wait_for(name, || partial.exists());
            run(Command::new("kill").args(["-s", signal]).arg(child.id().to_string()));
            assert_eq!(child.wait().unwrap().signal(), Some(number), "{name}");
            assert!(partial.exists() && !target.exists(), "{name} {signal}");
        }
        let mut child = perplexity(at, &format!("--per-line -i pipe -o {name}")).spawn().unwrap();
        fs::write(&fifo, LINES).unwrap();
        assert!(child.wait().unwrap().success(), "{name}");
        assert_eq!(read(&target).lines().count(), 10, "{name}");
        assert!(!partial.exists(), "{name}");
    }
}
