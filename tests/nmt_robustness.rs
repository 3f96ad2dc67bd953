//! Long runs of `miriam nmt`: signals, closed pipes, and the tuner's file.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{
    lossy_text, miriam, project_root, run_to_usage_error, run_with_input, terminate,
};

fn tiny_model(name: &str) -> PathBuf {
    project_root().join("nmt/testdata").join(name)
}

fn translate(options: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["nmt", "translate", "--quiet", "-m"]).arg(tiny_model("tiny-ct2"));
    command.args(["--max-decoding-length", "30"]).args(options);
    command
}

/// Returns lines of different words and lengths; the last lines are the longest.
fn make_lines(count: usize) -> String {
    let word = |line: usize, place: usize| format!("w{}", 2 + (7 * line + 3 * place) % 20);
    let words = |line: usize| 1 + line % 11 + 10 * line / count;
    let line = |line| (0..words(line)).map(|place| word(line, place)).collect::<Vec<_>>().join(" ");
    (0..count).map(|number| line(number) + "\n").collect()
}

#[test]
fn a_signal_leaves_whole_lines_in_order_and_reports_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    // More lines than are translated during this test.
    let count = 20_000;
    let source = make_lines(count);
    fs::write(&input, &source).unwrap();
    let mut command = translate(&["-b", "4", "--threads", "2", "--log-level", "info"]);
    command.arg("-i").arg(&input).stdout(fs::File::create(&output).unwrap());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    while fs::metadata(&output).unwrap().len() == 0 {
        std::thread::sleep(Duration::from_millis(2));
        assert!(child.try_wait().unwrap().is_none(), "it ended before the signal");
    }
    terminate(child.id());
    let mut messages = String::new();
    child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(15), "{messages}");
    let found = fs::read_to_string(&output).unwrap();
    let written = found.lines().count();
    assert!(found.ends_with('\n') && written < count, "{written} lines");
    // Lines that were read ahead are not translated.
    let after = messages.split_once("signal").expect("a message about the signal").1;
    let numbers: Vec<usize> =
        after.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect();
    let [reported_written, lost] = numbers[..] else { panic!("{messages}") };
    assert!(reported_written == written && lost > 0 && written + lost <= count, "{messages}");
    let first: String = source.split_inclusive('\n').take(written).collect();
    assert!(
        run_with_input(&mut translate(&["-b", "4"]), first.as_bytes()).stdout == found.as_bytes()
    );
}

#[test]
fn a_signal_ends_a_run_that_waits_for_input() {
    let mut command = translate(&[]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    input.write_all(b"w4 w5\n").unwrap();
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    terminate(child.id());
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.signal(), Some(15));
    let messages = lossy_text(&ended.stderr);
    assert!(messages.contains("1 lines are translated and written, 0 were read"), "{messages}");
    drop(input);
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    fs::write(&input, make_lines(20_000)).unwrap();
    for more in [&[][..], &["--n-best", "2"]] {
        let mut command = translate(more);
        command.arg("-i").arg(&input).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'));
        // The pipe is closed, so the program must end.
        let ended = child.wait_with_output().unwrap();
        assert!(ended.status.success(), "{:?}", ended.status);
        assert_eq!(lossy_text(&ended.stderr), "");
    }
    let mut command = miriam();
    command.args(["nmt", "score", "--quiet", "-m"]).arg(tiny_model("tiny-ct2"));
    command.arg("--source").arg(&input).arg("--target").arg(&input);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success() && ended.stderr.is_empty(), "{}", lossy_text(&ended.stderr));
}

/// Returns the number of choices that were read from the file and of those that were made, as
/// `--verbose` prints them.
fn parse_tuner_counts(messages: &str) -> (usize, usize) {
    let number = |what: &str| {
        let after = messages.split_once(what).unwrap_or_else(|| panic!("{messages}")).1;
        let digits = after.trim_start().split(|c: char| !c.is_ascii_digit()).next();
        digits.unwrap().parse().unwrap_or(0)
    };
    (number("GEMM kernels chosen before:"), number("GEMM kernels chosen now:"))
}

#[test]
fn the_next_run_reads_the_tuner_cache() {
    let folder = tempfile::tempdir().unwrap();
    let (cache, named) = (folder.path().join("cache"), folder.path().join("named"));
    let input = make_lines(300);
    let translate = |change: &dyn Fn(&mut Command)| {
        let mut command = translate(&["--verbose", "--threads", "1"]);
        change(command.env("MIRIAM_CACHE", &cache));
        let output = run_with_input(&mut command, input.as_bytes());
        (parse_tuner_counts(&lossy_text(&output.stderr)), output)
    };
    let ((before, made), first) = translate(&|_| {});
    assert!(before == 0 && made > 0, "{}", lossy_text(&first.stderr));
    let ((before, _), second) = translate(&|_| {});
    assert_eq!(before, made);
    assert!(first.stdout == second.stdout);
    // A file named by the option replaces the cache.
    let named_file = |command: &mut Command| {
        command.arg("--tuner-file").arg(&named);
    };
    assert_eq!(translate(&named_file).0.0, 0);
    assert!(translate(&named_file).0.0 > 0 && named.is_file());
    let none = |command: &mut Command| {
        command.arg("--no-tuner-file");
    };
    assert_eq!(translate(&none).0.0, 0);
    // Other cache folders, one of which cannot be created.
    let desktop = |command: &mut Command| {
        command.env_remove("MIRIAM_CACHE").env("XDG_CACHE_HOME", folder.path().join("desktop"));
    };
    translate(&desktop);
    assert!(folder.path().join("desktop/miriam/products.json").is_file());
    let home = |command: &mut Command| {
        let home = folder.path().join("home");
        command.env_remove("MIRIAM_CACHE").env_remove("XDG_CACHE_HOME").env("HOME", home);
    };
    translate(&home);
    assert!(folder.path().join("home/.cache/miriam/products.json").is_file());
    let nowhere = |command: &mut Command| {
        command.env("MIRIAM_CACHE", "/dev/null/no");
    };
    let (_, output) = translate(&nowhere);
    assert!(output.stdout == first.stdout);
    assert!(!lossy_text(&output.stderr).contains("cannot"), "{}", lossy_text(&output.stderr));
}

#[test]
fn a_damaged_tuner_cache_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("products.json");
    let translate = || {
        let mut command = translate(&["--verbose"]);
        run_with_input(command.env("MIRIAM_CACHE", folder.path()), b"w4 w5\n")
    };
    let expected = translate().stdout;
    for damage in ["", "{", "[1, 2]", "{\"version\": 99, \"machines\": {}}"] {
        fs::write(&file, damage).unwrap();
        let output = translate();
        assert!(lossy_text(&output.stderr).contains("remove it"), "{}", lossy_text(&output.stderr));
        assert_eq!(output.stdout, expected);
        assert_eq!(fs::read_to_string(&file).unwrap(), damage, "it may be something else");
    }
    check_unwritable_tuner_file(Path::new("/nowhere/choices"), &expected);
}

/// Translations do not depend on the instructions, and a run says which are used.
#[test]
fn the_instructions_can_be_limited() {
    let input = make_lines(60);
    let mut outputs = Vec::new();
    for limit in ["avx2", "avx512", "avx512-vnni", "avx512-amx"] {
        let mut command = translate(&["--verbose", "--precision", "i8", "--no-tuner-file"]);
        let output = run_with_input(command.env("MIRIAM_MAX_ISA", limit), input.as_bytes());
        let messages = lossy_text(&output.stderr);
        let used = messages.split_once("instructions: ").expect("the instructions are named").1;
        let used = used.lines().next().unwrap();
        let name = used.split(' ').next().unwrap();
        let names = ["plain", "avx2", "avx512", "avx512-vnni", "avx512-amx"];
        let rank = |name: &str| names.iter().position(|&known| known == name).unwrap();
        assert!(rank(name) <= rank(limit), "{used}");
        let is_limited = used.ends_with("(the highest that MIRIAM_MAX_ISA allows)");
        assert_eq!(is_limited, name == limit && limit != "avx512-amx", "{used}");
        outputs.push(output.stdout);
    }
    assert!(outputs.iter().all(|output| *output == outputs[0]));
    let mut command = translate(&[]);
    let message = run_to_usage_error(command.env("MIRIAM_MAX_ISA", "avx9"));
    assert!(message.contains("MIRIAM_MAX_ISA is \"avx9\"") && message.contains("avx512-vnni"));
}

/// Checks that a tuner file that cannot be written gives a warning.
fn check_unwritable_tuner_file(file: &Path, expected: &[u8]) {
    let mut command = translate(&["--tuner-file", file.to_str().unwrap()]);
    let input = make_lines(300);
    let output = run_with_input(&mut command, format!("w4 w5\n{input}").as_bytes());
    assert!(lossy_text(&output.stderr).contains("/nowhere"), "{}", lossy_text(&output.stderr));
    assert!(output.stdout.starts_with(expected));
}
