//! Output of this binary under the names `fast_align`, `atools` and `extract_lex`, compared with
//! the output that those programs wrote (`scripts/make_fast_align_golden.py`).

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{lossy_text, miriam, project_root, run, run_with_input};

/// A folder with links to this binary under the programs' names, and the folder with the outputs
/// that were recorded from fast_align's own programs.
struct Programs {
    folder: tempfile::TempDir,
    expected: PathBuf,
}

impl Programs {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        run(miriam().arg("install-aliases").arg(folder.path().join("names")));
        Programs { folder, expected: project_root().join("tests/data/fast_align") }
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(self.folder.path().join("names").join(name));
        command.current_dir(&self.expected);
        command
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.expected.join(name)).expect("golden files are there")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn fast_align_writes_what_fast_align_wrote() {
    let programs = Programs::new();
    let cases = programs.read("cases");
    assert_eq!(cases.lines().count(), 12);
    for case in cases.lines() {
        let (name, options) = case.split_once(' ').expect("a name and options");
        let mut command = programs.command("fast_align");
        command.args(["-i", "text"]);
        let mut written = None;
        for word in options.split(' ') {
            match word.strip_prefix("table.") {
                // A table to write goes to the test's folder; a table to read is a golden file.
                Some(_) if !options.contains("-f ") => {
                    written = Some(word);
                    command.arg(programs.path(word));
                }
                _ => {
                    command.arg(word);
                }
            }
        }
        let links = lossy_text(&run(&mut command));
        assert_eq!(links, programs.read(&format!("links.{name}")), "{name}");
        if let Some(table) = written {
            let found = std::fs::read_to_string(programs.path(table)).expect("it is written");
            assert_eq!(sorted(&found), sorted(&programs.read(table)), "{name}");
        }
    }
}

#[test]
fn messages_have_the_numbers_that_scripts_read() {
    let programs = Programs::new();
    let output = programs.command("fast_align").args(["-i", "text", "-dov"]).output().unwrap();
    let messages = lossy_text(&output.stderr);
    let number = |start: &str| -> f64 {
        let line = messages.lines().rfind(|line| line.contains(start)).expect(start);
        line.split(' ').next_back().unwrap().parse().expect(line)
    };
    // The mean ratio of lengths, computed here.
    let text = programs.read("text");
    let ratio = |line: &str| {
        let (source, target) = line.split_once(" ||| ").unwrap();
        target.split(' ').count() as f64 / source.split(' ').count() as f64
    };
    let expected = text.lines().map(ratio).sum::<f64>() / text.lines().count() as f64;
    assert!((number("expected target length") - expected).abs() < 1e-9);
    assert!((0.1..=14.0).contains(&number("final tension")), "{messages}");
}

#[test]
fn atools_prints_what_atools_printed() {
    let programs = Programs::new();
    let files = ["-i", "links.both-recommended", "-j", "links.reverse"];
    for (command, files) in [
        ("union", &files[..]),
        ("intersect", &files),
        ("grow-diag", &files),
        ("grow-diag-final", &files),
        ("grow-diag-final-and", &files),
        ("fmeasure", &files),
        ("convert", &files[..2]),
        ("invert", &files[..2]),
        ("display", &files[..2]),
    ] {
        let found = run(programs.command("atools").args(["-c", command]).args(files));
        assert_eq!(lossy_text(&found), programs.read(&format!("atools.{command}")), "{command}");
    }
    // Both inputs are standard input, where their lines alternate; text may precede the links.
    let (forward, reverse) =
        (programs.read("links.both-recommended"), programs.read("links.reverse"));
    let lines = forward.lines().zip(reverse.lines());
    let lines: String = lines.map(|(f, r)| format!("a ||| b ||| {f}\n{r}\n")).collect();
    let mut command = programs.command("atools");
    let found =
        run_with_input(command.args(["-c", "union", "-i", "-", "-j", "-"]), lines.as_bytes());
    assert_eq!(lossy_text(&found.stdout), programs.read("atools.union"));
}

#[test]
fn extract_lex_writes_what_extract_lex_wrote() {
    let programs = Programs::new();
    let text = programs.read("text");
    let side = |name: &str, pick: fn((&str, &str)) -> String| {
        let lines = text.lines().map(|line| line.split_once(" ||| ").unwrap());
        std::fs::write(programs.path(name), lines.map(pick).collect::<String>()).unwrap();
    };
    side("source", |(source, _)| format!("{source}\n"));
    side("target", |(_, target)| format!("{target}\n"));
    let lexica = ["lex.s2t", "lex.t2s"];
    let mut command = programs.command("extract_lex");
    command.args(["target", "source"].map(|name| programs.path(name))).arg("atools.intersect");
    run(command.args(lexica.map(|name| programs.path(name))));
    for name in lexica {
        let found = std::fs::read_to_string(programs.path(name)).unwrap();
        assert_eq!(sorted(&found), sorted(&programs.read(name)), "{name}");
    }
}

/// Scripts that align single sentences write a line and wait for the answer.
#[test]
fn lines_are_answered_one_by_one() {
    let programs = Programs::new();
    let text = programs.read("text");
    let expected = programs.read("links.forced");
    let mut forced = programs.command("fast_align");
    forced.args("-i - -d -T 3.5 -m 1.1 -f table.scores".split(' '));
    let mut atools = programs.command("atools");
    atools.args("-c invert -i -".split(' '));
    let links = programs.read("links.both-recommended");
    let inverted = programs.read("atools.invert");
    for (mut command, input, answers) in [(forced, text, expected), (atools, links, inverted)] {
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = child.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        for (line, answer) in input.lines().zip(answers.lines()).take(3) {
            writeln!(stdin, "{line}").unwrap();
            let mut found = String::new();
            stdout.read_line(&mut found).unwrap();
            assert_eq!(found.trim_end(), answer);
        }
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn wrong_usage_and_bad_files_are_named() {
    let programs = Programs::new();
    let bad = programs.path("bad");
    std::fs::write(&bad, "one two\n").unwrap();
    let bad = bad.to_str().unwrap();
    let refused: [(&str, &[&str], &str); 10] = [
        ("fast_align", &["-i", "text", "-c", "t"], "written with -p FILE"),
        ("fast_align", &["-i", "text", "-z"], "unexpected argument '-z'"),
        ("fast_align", &["-i", "missing"], "missing"),
        (
            "fast_align",
            &["-i", "text", "-v", "-a", "0"],
            "the Dirichlet prior must be a finite number",
        ),
        ("fast_align", &["-i", "text", "-I", "0"], "-I 1 or more"),
        ("fast_align", &["-i", bad, "-f", "table.scores"], "no words on one side"),
        ("fast_align", &["-i", "text", "-f", bad], "as fast_align -p writes them"),
        ("atools", &["-i", "text", "-c", "unions"], "'union'"),
        ("atools", &["-i", "text", "-c", "union"], "give the other with -j"),
        ("extract_lex", &["a", "b"], "Usage: extract_lex"),
    ];
    for (name, arguments, message) in refused {
        let output = programs.command(name).args(arguments).output().unwrap();
        let stderr = lossy_text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name} {arguments:?}: {stderr}");
        assert!(stderr.contains(message), "{name} {arguments:?}: {stderr}");
    }
    assert!(!Path::new(&programs.expected.join("t")).exists());
}

#[test]
fn links_outside_of_sentences_are_counted() {
    let programs = Programs::new();
    for (name, text) in [("t", "a b\nc\n"), ("s", "x\ny\n"), ("links", "0-0\n0-0 0-4\n")] {
        std::fs::write(programs.path(name), text).unwrap();
    }
    let names = ["t", "s", "links", "s2t", "t2s"].map(|name| programs.path(name));
    let output = programs.command("extract_lex").args(names).output().unwrap();
    let stderr = lossy_text(&output.stderr);
    assert!(output.status.success() && stderr.contains("1 links are outside"), "{stderr}");
    assert!(stderr.contains("line 2"), "{stderr}");
}
