//! Standard output and standard error that are full or closed: no command panics, and output that
//! could not be written is reported.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::{lossy_text, miriam, project_root, report_skip, run_to_error};

/// Returns commands that print help or a version, which are not results.
fn messages() -> Vec<Command> {
    let all: [&[&str]; 5] =
        [&["--help"], &["--version"], &["help"], &["lm", "--help"], &["translate", "--help"]];
    let command = |words: &[&str]| {
        let mut command = miriam();
        command.args(words).stdin(Stdio::null());
        command
    };
    all.into_iter().map(command).collect()
}

/// Returns commands of several kinds that write a result.
fn commands() -> Vec<Command> {
    let root = project_root();
    let toy = root.join("examples/toy");
    let lm = toy.join("lm.arpa");
    let served =
        format!("a={},from=en,to=es", root.join("examples/toy-neural/decoder.yml").display());
    let as_text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let all: Vec<Vec<String>> = vec![
        vec!["licenses".into()],
        vec!["completions".into(), "bash".into()],
        vec!["serve".into(), "--no-tuner-file".into(), "--check".into(), "--model".into(), served],
        vec![
            "translate".into(),
            "-f".into(),
            as_text(toy.join("moses.ini")),
            "-show-weights".into(),
        ],
        vec![
            "evaluate".into(),
            "--reference".into(),
            as_text(toy.join("test.es")),
            "-i".into(),
            as_text(toy.join("test.es")),
        ],
        vec!["tokenize".into(), "-i".into(), as_text(toy.join("test.en"))],
        vec![
            "lm".into(),
            "perplexity".into(),
            as_text(lm),
            "-i".into(),
            as_text(toy.join("test.es")),
        ],
        vec!["nmt".into(), "train".into(), "--dump-config".into(), "full".into()],
    ];
    let command = |arguments: Vec<String>| {
        let mut command = miriam();
        command.args(arguments).stdin(Stdio::null());
        command
    };
    all.into_iter().map(command).collect()
}

fn assert_no_panic(command: &Command, output: &Output) {
    let errors = lossy_text(&output.stderr);
    assert!(!errors.contains("panicked"), "{command:?}: {errors}");
    assert_eq!(output.status.signal(), None, "{command:?}: {errors}");
    assert_ne!(output.status.code(), Some(101), "{command:?}: {errors}");
}

#[test]
fn a_full_output_is_an_error_that_names_it() {
    if !Path::new("/dev/full").exists() {
        return report_skip("there is no /dev/full");
    }
    for mut command in commands() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        assert_no_panic(&command, &output);
        let errors = lossy_text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command:?}: {errors}");
        let last = errors.lines().last().unwrap_or_default();
        let named = last.starts_with("miriam: standard output: ");
        assert!(named && last.contains("No space left on device"), "{command:?}: {errors}");
    }
}

#[test]
fn help_on_a_full_output_is_not_an_error() {
    if !Path::new("/dev/full").exists() {
        return report_skip("there is no /dev/full");
    }
    for mut command in messages() {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command.stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert_eq!(lossy_text(&output.stderr), "", "{command:?}");
    }
}

/// The pipe is closed as by `| head -0`.
#[test]
fn a_closed_pipe_ends_quietly() {
    for mut command in commands().into_iter().chain(messages()) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stdout(writer).output().unwrap();
        assert_no_panic(&command, &output);
        assert_eq!(output.status.code(), Some(0), "{command:?}: {}", lossy_text(&output.stderr));
        assert!(!lossy_text(&output.stderr).contains("pipe"), "{command:?}");
    }
}

/// A command does not fail because nobody reads its messages or because there is no space for them.
#[test]
fn standard_error_may_be_closed_or_full() {
    for mut command in commands().into_iter().chain(messages()) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = command.stderr(writer).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{command:?}");
        assert!(!output.stdout.is_empty(), "{command:?}");
    }
    if !Path::new("/dev/full").exists() {
        return report_skip("there is no /dev/full");
    }
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    // For a usage error, another error and a log line, the status is the same as if the message
    // could be written.
    for (arguments, status) in [
        (&["--no-such-option"][..], 2),
        (&["lm", "query", "/does/not/exist"], 1),
        (&["serve", "--port", "0", "--model", "m=/does/not/exist"], 1),
    ] {
        let mut command = miriam();
        let output = command.args(arguments).stdin(Stdio::null()).stderr(full()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{arguments:?}");
    }
}

/// Results and messages go through `cli/src/console.rs` and [`miriam_textio::Output`]: the macros
/// of the standard library panic where nothing can be written.
#[test]
fn nothing_is_printed_by_macros_that_panic() {
    let root = project_root();
    let mut folders: Vec<PathBuf> =
        ["align", "bench", "cli", "combine", "decoder", "extract", "glm"]
            .iter()
            .chain(&["lmcpu", "nmt", "nmt/cuda", "nmt/models", "nmt/network", "pipeline"])
            .chain(&["probingpt", "python", "rescoring", "serve", "trainer"])
            .map(|name| root.join(name).join("src"))
            .collect();
    for base in std::fs::read_dir(root.join("base")).unwrap() {
        folders.push(base.unwrap().path().join("src"));
    }
    let mut files = 0;
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries {
            let path = entry.unwrap().path();
            let is_test = path.file_stem().is_some_and(|stem| {
                let stem = stem.to_string_lossy();
                stem == "tests" || stem == "test_support" || stem.ends_with("_tests")
            });
            if is_test {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            for (number, line) in text.lines().enumerate() {
                let code = line.trim_start();
                let macros = ["println!(", "print!(", "dbg!("];
                if !code.starts_with("//") && macros.iter().any(|name| code.contains(name)) {
                    found.push(format!("{}:{}: {code}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(files > 300, "{files} files were looked at");
    assert_eq!(found, Vec::<String>::new(), "use console::print or tracing");
}

/// A file that cannot be created is an error before the work, not after it.
#[test]
fn outputs_are_checked_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let toy = project_root().join("examples/toy");
    let commands: [&[&str]; 6] = [
        &["align", "--source", "train.en", "--target", "train.es", "-o", "LINKS", "--save-model"],
        &[
            "align",
            "--source",
            "train.en",
            "--target",
            "train.es",
            "-o",
            "LINKS",
            "--lexical-table",
        ],
        &["truecase", "--train", "-i", "train.en", "-o"],
        &["nmt", "vocab", "--text", "train.en", "--size", "200", "--kind", "bpe", "-o"],
        &["lm", "build", "lm.arpa", "-o"],
        &["evaluate", "--reference", "test.es", "-i", "test.es", "-o"],
    ];
    for words in commands {
        let links = folder.path().join("links");
        let missing = folder.path().join("missing/file");
        let mut command = miriam();
        command.current_dir(&toy).args(words.iter().map(|word| match *word {
            "LINKS" => links.as_os_str(),
            word => word.as_ref(),
        }));
        let error = run_to_error(command.arg(&missing));
        assert!(error.contains("missing/file: cannot create"), "{words:?}: {error}");
        assert!(!links.exists(), "{words:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}

/// Exceeding the shell's limit of file sizes is an error with the file's name, and leaves nothing
/// behind.
#[test]
fn files_beyond_the_size_limit_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let program = miriam().get_program().to_owned();
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 8 && exec \"$0\" lm dump \"$1\" -o x"]).arg(program);
    shell.arg(project_root().join("examples/toy/lm.arpa")).current_dir(folder.path());
    let error = run_to_error(&mut shell);
    assert!(error.contains("x: cannot write"), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
}
