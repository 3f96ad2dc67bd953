//! Errors in long runs: sentences that take too long or fail, signals, closed pipes, full
//! disks, and memory that must not grow.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, report_skip, run, run_to_error,
    run_with_input,
};

fn toy_ini() -> PathBuf {
    project_root().join("examples/toy/moses.ini")
}

fn translate(options: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(toy_ini()).args(options);
    command
}

/// Returns the records of an errors file: line, kind, reason.
fn error_records(path: &Path) -> Vec<(u64, String, String)> {
    let record = |line: &str| {
        let record: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| record[key].as_str().unwrap().to_owned();
        (record["line"].as_u64().unwrap(), text("kind"), text("reason"))
    };
    lossy_text(&read_decompressed(path)).lines().map(record).collect()
}

/// Returns a sentence whose full search takes far longer than a millisecond.
fn long_sentence() -> String {
    vec!["the red house is big ."; 40].join(" ")
}

const WIDE_SEARCH: [&str; 6] = ["-s", "2000", "-cbp", "20000", "-timeout-ms", "1"];

#[test]
fn a_sentence_over_its_time_limit_gets_a_worse_translation_and_a_record() {
    let folder = tempfile::tempdir().unwrap();
    let errors = folder.path().join("errors");
    let input = format!("\n{}\n\n", long_sentence());
    for search in ["0", "1"] {
        let options = ["-search-algorithm", search, "-errors", errors.to_str().unwrap()];
        let output = run_with_input(
            &mut translate(&[&WIDE_SEARCH[..], &options].concat()),
            input.as_bytes(),
        );
        let lines: Vec<String> = lossy_text(&output.stdout).lines().map(str::to_owned).collect();
        assert_eq!((lines.len(), &lines[0][..], &lines[2][..]), (3, "", ""));
        let words: Vec<&str> = lines[1].split(' ').collect();
        assert!(words.len() > 150 && words.contains(&"casa"), "{}", lines[1]);
        let records = error_records(&errors);
        assert_eq!(records.len(), 1, "{records:?}");
        let (line, kind, reason) = &records[0];
        assert_eq!((*line, &kind[..]), (2, "time-limit"));
        assert!(reason.contains("1 ms"), "{reason}");
        assert!(!lossy_text(&output.stderr).contains("1 ms"), "recorded, not logged");
    }
}

#[test]
fn enough_time_changes_nothing() {
    let input = read_decompressed(&project_root().join("examples/toy/input.txt"));
    let plain = run_with_input(&mut translate(&[]), &input);
    for limit in [["-timeout-ms", "600000"], ["-time-out", "600"], ["-segment-time-out", "600"]] {
        for search in ["0", "1"] {
            let search = ["-search-algorithm", search];
            let plain = run_with_input(&mut translate(&search), &input).stdout;
            assert!(
                plain == run_with_input(&mut translate(&[limit, search].concat()), &input).stdout
            );
        }
    }
    assert!(!plain.stdout.is_empty());
}

#[test]
fn without_a_file_a_few_failures_are_reported_and_the_rest_counted() {
    // With a pop limit of 0 there is no translation.
    let input = "the house .\n".repeat(9);
    let options = ["-search-algorithm", "1", "-cbp", "0", "-threads", "2"];
    let output = run_with_input(&mut translate(&options), input.as_bytes());
    assert_eq!(lossy_text(&output.stdout), "\n".repeat(9));
    let list = ["-n-best-list", "-", "2", "-labeled-n-best-list", "false"];
    let list = run_with_input(&mut translate(&[&options[..], &list].concat()), input.as_bytes());
    let list = lossy_text(&list.stdout);
    let numbers: Vec<&str> =
        list.lines().filter_map(|line| line.split(" ||| ||| ").next()).collect();
    assert_eq!(numbers, ["0", "1", "2", "3", "4", "5", "6", "7", "8"], "{list}");
    let warnings = lossy_text(&output.stderr);
    assert_eq!(warnings.matches("no translation").count(), 5, "{warnings}");
    assert!(warnings.contains("line 5:") && !warnings.contains("line 6:"), "{warnings}");
    assert!(warnings.contains("4 more"), "{warnings}");
    let folder = tempfile::tempdir().unwrap();
    let errors = folder.path().join("errors.gz");
    let recorded = ["-errors", errors.to_str().unwrap()];
    let output =
        run_with_input(&mut translate(&[&options[..], &recorded].concat()), input.as_bytes());
    assert_eq!(lossy_text(&output.stdout), "\n".repeat(9));
    let lines: Vec<u64> = error_records(&errors).into_iter().map(|(line, ..)| line).collect();
    assert_eq!(lines, (1..=9).collect::<Vec<u64>>());
}

/// A running translation with an open input.
struct RunningTranslation {
    child: Child,
    input: ChildStdin,
    output: Option<BufReader<ChildStdout>>,
}

impl RunningTranslation {
    fn spawn(command: &mut Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let output = Some(BufReader::new(child.stdout.take().unwrap()));
        RunningTranslation { child, input, output }
    }

    fn write_input(&mut self, text: &str) {
        self.input.write_all(text.as_bytes()).unwrap();
    }

    fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.output.as_mut().unwrap().read_line(&mut line).unwrap();
        line
    }

    /// Writes `line` again and again until the process ends, a minute at most.
    fn write_until_end(&mut self, line: &str) {
        let started = Instant::now();
        while self.child.try_wait().unwrap().is_none() && started.elapsed().as_secs() < 60 {
            // This fails if the process has just ended.
            let _ = self.input.write_all(line.as_bytes());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn send_signal(&self, name: &str) {
        run(Command::new("kill").args(["-s", name]).arg(self.child.id().to_string()));
    }

    /// Waits for the process, which must end although its input is open.
    fn wait(mut self) -> (ExitStatus, String) {
        let started = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            if started.elapsed() > Duration::from_secs(60) {
                self.child.kill().unwrap();
                panic!("it still runs");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        let mut messages = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut messages).unwrap();
        (status, messages)
    }
}

#[test]
fn signals_end_a_run_that_waits_for_input() {
    for (name, number) in [("TERM", 15), ("INT", 2)] {
        for threads in ["1", "2"] {
            let mut running = RunningTranslation::spawn(&mut translate(&["-threads", threads]));
            running.write_input("the house .\nthe red house is big .\n");
            assert_eq!(running.read_line(), "la casa . \n");
            assert_eq!(running.read_line(), "la casa roja es grande . \n");
            running.send_signal(name);
            let (status, messages) = running.wait();
            assert_eq!(status.signal(), Some(number), "{messages}");
            assert!(messages.contains("signal"), "{messages}");
        }
    }
}

#[test]
fn a_signal_leaves_whole_lines_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let lines: Vec<String> = (0..400_000).map(|i| format!("word{i} the house .")).collect();
    fs::write(at("input"), lines.join("\n")).unwrap();
    let mut command = translate(&["-threads", "2"]);
    command.arg("-i").arg(at("input")).arg("-o").arg(at("output.gz"));
    let running = RunningTranslation::spawn(&mut command);
    // Waits until some lines are translated.
    while fs::metadata(at("output.gz.partial")).map_or(0, |file| file.len()) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.send_signal("TERM");
    let (status, messages) = running.wait();
    assert_eq!(status.signal(), Some(15), "{messages}");
    assert!(messages.contains("output.gz.partial") && !at("output.gz").exists(), "{messages}");
    // The extension tells how to decompress the file.
    fs::rename(at("output.gz.partial"), at("part.gz")).unwrap();
    let output = lossy_text(&read_decompressed(&at("part.gz")));
    let written = output.lines().count();
    assert!((1..400_000).contains(&written) && output.ends_with(" \n"), "{written}");
    for (i, line) in output.lines().enumerate() {
        assert_eq!(line, format!("word{i} la casa . "));
    }
}

#[test]
fn a_failed_write_ends_a_run_that_waits_for_input() {
    if !Path::new("/dev/full").exists() {
        report_skip("there is no /dev/full");
        return;
    }
    for stream in ["-o", "-errors"] {
        for threads in ["1", "2"] {
            let options = [stream, "/dev/full", "-threads", threads];
            let none = ["-search-algorithm", "1", "-cbp", "0"];
            let mut running = RunningTranslation::spawn(&mut translate(&[options, none].concat()));
            running.write_input("the house .\n");
            let (status, messages) = running.wait();
            assert_eq!(status.code(), Some(1), "{messages}");
            assert!(messages.contains("/dev/full") && messages.contains("space"), "{messages}");
        }
    }
}

#[test]
fn a_closed_pipe_ends_a_run_that_waits_for_input() {
    for threads in ["1", "2"] {
        let mut running = RunningTranslation::spawn(&mut translate(&["-threads", threads]));
        running.write_input("the house .\n");
        assert_eq!(running.read_line(), "la casa . \n");
        running.output = None;
        // A child that another test has just forked holds the pipe open until it runs its
        // program; until then, writing to the pipe succeeds.
        running.write_until_end("the house .\n");
        let (status, messages) = running.wait();
        assert_eq!(status.code(), Some(0), "{messages}");
        assert_eq!(messages, "");
    }
}

#[test]
fn a_run_continues_when_nobody_reads_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let links = folder.path().join("links");
    let toy = project_root().join("examples/toy");
    let mut align = miriam();
    align.args(["align", "--source"]).arg(toy.join("corpus.en")).arg("--target");
    align.arg(toy.join("corpus.es")).arg("-o").arg(&links).stderr(Stdio::piped());
    let mut child = align.spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(fs::metadata(&links).unwrap().len() > 0);
}

/// Returns the peak memory of a process, in KiB.
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

#[test]
fn memory_does_not_grow_with_the_text() {
    let mut running =
        RunningTranslation::spawn(&mut translate(&["-threads", "2", "-search-algorithm", "1"]));
    if peak_memory(running.child.id()).is_none() {
        report_skip("this system does not tell how much memory a process has had");
        running.child.kill().unwrap();
        return;
    }
    // The first word of each line is new, so memory kept for words would show: 200 bytes a line.
    let mut line = 0;
    let mut translate = |lines: u32| {
        for _ in 0..lines / 50 {
            let mut text = String::new();
            for _ in 0..50 {
                line += 1;
                text += &format!("unseen{line:0200} the house\n");
            }
            running.write_input(&text);
            (0..50).for_each(|_| assert!(running.read_line().ends_with("la casa \n")));
        }
        peak_memory(running.child.id()).unwrap()
    };
    let before = translate(5_000);
    let after = translate(60_000);
    assert!(after < before + 4_000, "from {before} to {after} KiB");
    drop(running.input);
    assert!(running.child.wait().unwrap().success());
}

#[test]
fn threads_that_cannot_be_started_are_an_error_with_a_remedy() {
    let toy = project_root().join("examples/toy");
    let (lm, text) = (toy.join("lm.arpa"), toy.join("test.es"));
    let commands: [&[&str]; 2] = [
        &["lm", "perplexity", lm.to_str().unwrap(), "-i", text.to_str().unwrap()],
        &[
            "lm",
            "estimate",
            "-o",
            "2",
            "-S",
            "64M",
            "--text",
            text.to_str().unwrap(),
            "--arpa",
            "/dev/null",
        ],
    ];
    for words in commands {
        // Room for some stacks of 256 MiB (`RUST_MIN_STACK`), but not for 4096.
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\""]);
        limited.env("MALLOC_ARENA_MAX", "1");
        // Stacks are large, so that memory is lacking for a stack and not for the few other pages
        // of a started thread.
        limited.env("RUST_MIN_STACK", "268435456");
        limited.arg(miriam().get_program()).args(words).args(["--threads", "4096"]);
        let message = run_to_error(&mut limited);
        assert!(message.contains("starts no more threads"), "{words:?}: {message}");
        assert!(message.contains("--threads") && !message.contains("panicked"), "{message}");
    }
}
