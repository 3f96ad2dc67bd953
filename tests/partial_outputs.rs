//! Outputs appear under their names only when they are complete. After a kill, a signal or a write
//! to a full disk, the earlier file is unchanged, and a rerun leaves no other file behind.

use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::common::{
    lossy_text, miriam, output_with_input, project_root, report_skip, run, run_to_error,
    run_with_input,
};

fn toy(name: &str) -> PathBuf {
    project_root().join("examples").join(name)
}

/// A command that reads standard input line by line, and its output option.
struct Filter {
    arguments: Vec<String>,
    output_option: &'static str,
    line: &'static str,
}

impl Filter {
    fn new(output_option: &'static str, line: &'static str, arguments: &str) -> Self {
        let place = |word: &str| match word.split_once('@') {
            Some(("", file)) => toy(file).display().to_string(),
            _ => word.to_owned(),
        };
        let arguments = arguments.split(' ').map(place).collect();
        Filter { arguments, output_option, line }
    }

    fn command(&self, output: &Path) -> Command {
        let mut command = miriam();
        command.args(&self.arguments).arg(self.output_option).arg(output);
        command
    }
}

/// Returns commands that write while they read, and builds the table that one of them queries.
fn filters(folder: &TempDir) -> Vec<Filter> {
    let table = folder.path().join("table.miriam");
    let mut build = miriam();
    build.args(["--quiet", "pt", "build", "--phrase-table"]).arg(toy("toy/phrase-table"));
    run(build.arg("-o").arg(&table));
    let query = format!("pt query {}", table.display());
    let line = "the house .\n";
    vec![
        Filter::new("-o", line, "translate -f @toy/moses.ini"),
        Filter::new("-output-unknowns", line, "translate -f @toy/moses.ini"),
        Filter::new("-o", line, "nmt translate --quiet -m @toy-neural"),
        Filter::new("-o", "a house\ta house\n", "nmt score --quiet -m @toy-neural --tsv -"),
        Filter::new("-o", line, "lm query --flush @toy/lm.arpa"),
        Filter::new("-o", line, "lm perplexity --quiet --per-line @toy/lm.arpa"),
        Filter::new("-o", line, "lm next --quiet @toy/lm.arpa"),
        Filter::new("-o", line, &query),
    ]
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| lossy_text(entry.unwrap().file_name().as_encoded_bytes())).collect();
    names.sort();
    names
}

fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_there() {
        assert!(started.elapsed().as_secs() < 60, "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn a_killed_run_leaves_the_earlier_output() {
    let folder = tempfile::tempdir().unwrap();
    for filter in filters(&folder) {
        let place = tempfile::tempdir().unwrap();
        let (output, partial) = (place.path().join("out"), place.path().join("out.partial"));
        let name = filter.arguments.join(" ");
        for signal in ["KILL", "TERM"] {
            fs::write(&output, "before").unwrap();
            let mut command = filter.command(&output);
            command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            let mut child = command.spawn().unwrap();
            let mut input = child.stdin.take().unwrap();
            input.write_all(filter.line.as_bytes()).unwrap();
            wait_for(&name, || partial.exists());
            // The process needs time to install its signal handlers.
            std::thread::sleep(Duration::from_millis(20));
            run(Command::new("kill").args(["-s", signal]).arg(child.id().to_string()));
            let status = child.wait().unwrap();
            assert!(status.signal().is_some(), "{name}: {status}");
            assert_eq!(fs::read(&output).unwrap(), b"before", "{name}");
        }
        let whole = run_with_input(&mut filter.command(&output), filter.line.as_bytes());
        assert!(whole.status.success(), "{name}: {}", lossy_text(&whole.stderr));
        assert_eq!(names(place.path()), ["out"], "{name}");
        let text = fs::read_to_string(&output).unwrap();
        assert!(text.ends_with('\n') && !text.contains("before"), "{name}: {text}");
        // Standard output is written directly, without a temporary file.
        let piped = filter.command(Path::new("/dev/stdout"));
        let piped = run_with_input(&mut { piped }, filter.line.as_bytes());
        assert!(lossy_text(&piped.stdout).contains(&text), "{name}");
    }
}

#[test]
fn a_full_device_is_an_error() {
    if !Path::new("/dev/full").exists() {
        report_skip("there is no /dev/full");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for filter in filters(&folder) {
        let output =
            output_with_input(&mut filter.command(Path::new("/dev/full")), filter.line.as_bytes());
        let message = lossy_text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{message}");
        assert!(message.contains("/dev/full: cannot write: No space"), "{message}");
    }
}

#[test]
fn a_second_run_does_not_write_what_another_one_writes() {
    let folder = tempfile::tempdir().unwrap();
    let (output, partial) = (folder.path().join("out"), folder.path().join("out.partial"));
    let filter = Filter::new("-o", "the house .\n", "translate -f @toy/moses.ini");
    let mut first = filter.command(&output).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = first.stdin.take().unwrap();
    input.write_all(filter.line.as_bytes()).unwrap();
    wait_for("the first run", || partial.exists());
    let second = output_with_input(&mut filter.command(&output), filter.line.as_bytes());
    let message = lossy_text(&second.stderr);
    assert_eq!(second.status.code(), Some(1), "{message}");
    assert!(message.contains("another process is writing out.partial"), "{message}");
    drop(input);
    assert!(first.wait().unwrap().success());
    assert_eq!(fs::read_to_string(&output).unwrap(), "la casa . \n");
}

/// One file cannot be two outputs, even under different names.
#[test]
fn two_outputs_of_one_name_are_told_apart_from_two_runs() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text");
    let link = folder.path().join("link");
    std::os::unix::fs::symlink("text", &link).unwrap();
    let arguments = "nmt translate --quiet -m @toy-neural --errors";
    let filter = Filter::new("-o", "the house .\n", arguments);
    let mut command = miriam();
    command.args(&filter.arguments).arg(&link).arg("-o").arg(&text).stdin(Stdio::null());
    let error = run_to_error(&mut command);
    assert!(error.contains("two outputs of this command have this name"), "{error}");
    assert!(!text.exists());
}

/// Outputs appear when they are complete, so two of them in one file would replace each other.
#[test]
fn one_file_for_two_outputs_or_an_input_is_rejected_before_work() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let toy = toy("toy");
    let toy = toy.display();
    for (name, text) in [("a", "the house\n"), ("b", "la casa\n")] {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(folder.join("pt.text"), "a ||| b ||| 0.5\n").unwrap();
    run(miriam()
        .args(["pt", "build", "--phrase-table", "pt.text", "-o", "pt"])
        .current_dir(folder));
    for arguments in [
        "align --source a --target b -o out --save-model ./out".to_owned(),
        "align --source a --target b -o out --lexical-table out".into(),
        "align --source a --target b -o out --save-model m --lexical-table m".into(),
        "pt dump pt -o out --reordering out".into(),
        "prepare -l en -i a --train-truecase out -o out".into(),
        "nmt translate -m absent -i a -o out --errors ./out".into(),
        format!("tune -f {toy}/moses.ini --source a --reference b -o out --log out"),
        "align --source a --target b -o out --save-model a".into(),
        "align --source a --target b -o out --lexical-table ./b".into(),
        "prepare -l en -i a --train-truecase ./a -o out".into(),
        format!("tune -f {toy}/moses.ini --source a --reference b -o out --log b"),
    ] {
        let mut command = miriam();
        command.args(arguments.split(' ')).current_dir(folder).stdin(Stdio::null());
        let output = command.output().unwrap();
        let message = lossy_text(&output.stderr);
        let is_named = message.contains("would write the same file")
            || message.contains("it is also the output");
        assert!(!output.status.success() && is_named, "{arguments}: {message}");
        assert!(!folder.join("out").exists(), "{arguments}");
    }
    assert_eq!(fs::read(folder.join("a")).unwrap(), b"the house\n");
}

/// A limit on file sizes simulates a full disk.
#[test]
fn a_full_disk_leaves_the_earlier_output() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    fs::write(folder.path().join("text"), "the house .\n".repeat(2000)).unwrap();
    let mut build = miriam();
    build.args(["--quiet", "pt", "build", "--phrase-table"]).arg(toy("toy/phrase-table"));
    run(build.arg("-o").arg(place("table.miriam")));
    let (table, text) = (place("table.miriam"), place("text"));
    let (lm, ini) = (toy("toy/lm.arpa"), toy("toy/moses.ini"));
    let (lm, ini) = (lm.display(), ini.display());
    fs::create_dir(folder.path().join("out")).unwrap();
    let output = folder.path().join("out/text");
    for (arguments, left) in [
        (format!("pt dump {table} -o"), &[][..]),
        (format!("lm dump {lm} -o"), &[]),
        (format!("translate -quiet -f {ini} -i {text} -o"), &["text.partial"]),
        (format!("lm perplexity {lm} --input {text} --per-line -o"), &["text.partial"]),
    ] {
        fs::write(&output, "before").unwrap();
        let script = format!(
            "trap '' XFSZ; ulimit -f 1; exec '{}' {arguments} '{}'",
            env!("CARGO_BIN_EXE_miriam"),
            output.display()
        );
        let error = run_to_error(Command::new("bash").args(["-c", &script]));
        assert!(error.contains("out/text: cannot write: File too large"), "{error}");
        assert_eq!(fs::read(&output).unwrap(), b"before", "{arguments}");
        assert_eq!(names(&folder.path().join("out")), [&["text"], left].concat(), "{arguments}");
        let _ = fs::remove_file(folder.path().join("out/text.partial"));
    }
}

/// A run removes the hidden files that killed runs left, but not files that another process is
/// writing.
#[test]
fn stale_files_of_killed_runs_are_removed() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("model");
    fs::create_dir(&output).unwrap();
    let data = project_root().join("extract/testdata");
    let stale = [".lex.e2f.aB1cD2.partial", ".phrase-table.aB1cD2.partial", ".x.aB1cD2.partial"];
    for name in stale {
        fs::write(output.join(name), "half").unwrap();
    }
    let live = fs::File::create(output.join(".live.aB1cD2.partial")).unwrap();
    live.lock().unwrap();
    let mut extract = miriam();
    extract.args(["--quiet", "extract", "--max-length", "3", "--source"]).arg(data.join("source"));
    extract.arg("--target").arg(data.join("target")).arg("--alignment").arg(data.join("links"));
    run(extract.arg("-o").arg(&output));
    let found = names(&output);
    assert!(found.contains(&".live.aB1cD2.partial".into()), "{found:?}");
    let hidden = found.iter().filter(|name| name.ends_with(".partial")).count();
    assert_eq!(hidden, 1, "{found:?}");
    assert!(found.contains(&"lex.e2f".into()) && !found.contains(&"extract.lock".into()));
    // A command without a folder of its own removes the hidden files of its output.
    let table = folder.path().join("table.miriam");
    for name in [".table.miriam.aB1cD2.partial", ".other.miriam.aB1cD2.partial"] {
        fs::write(folder.path().join(name), "half").unwrap();
    }
    let mut build = miriam();
    build.args(["--quiet", "pt", "build", "--phrase-table"]).arg(toy("toy/phrase-table"));
    run(build.arg("-o").arg(&table));
    assert_eq!(names(folder.path()), [".other.miriam.aB1cD2.partial", "model", "table.miriam"]);
}

#[test]
fn an_open_file_is_appended_to() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    fs::write(&log, "before\n").unwrap();
    for append in [true, false] {
        let mut file = fs::File::options().append(append).write(true).open(&log).unwrap();
        if !append {
            file.set_len(0).unwrap();
            file.write_all(b"before\n").unwrap();
        }
        let mut command = miriam();
        command.args(["tokenize", "-o", "/dev/stderr"]).stdin(Stdio::piped());
        let mut child = command.stderr(file.try_clone().unwrap()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(b"after it.\n").unwrap();
        assert!(child.wait().unwrap().success());
        file.write_all(b"the end\n").unwrap();
        let text = fs::read_to_string(&log).unwrap();
        assert!(text.starts_with("before\n") && text.ends_with("the end\n"), "{append}: {text}");
        assert!(text.contains("after it .\n"), "{append}: {text}");
        fs::write(&log, "before\n").unwrap();
    }
}

/// Copies the files of an example folder.
fn copy_example(name: &str, to: &Path) -> PathBuf {
    let to = to.join(name);
    fs::create_dir(&to).unwrap();
    for entry in fs::read_dir(project_root().join("examples").join(name)).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    to
}

#[test]
fn files_of_models_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = |path: PathBuf| path.into_os_string().into_string().unwrap();
    let neural = copy_example("toy-neural", folder.path());
    let toy = copy_example("toy", folder.path());
    let in_neural = |name: &str| path(neural.join(name));
    let in_toy = |name: &str| path(toy.join(name));
    let (source, target) = (in_toy("dev.en"), in_toy("dev.es"));
    let (model, config) = (path(neural.clone()), in_neural("decoder.yml"));
    let ini = in_toy("moses.ini");
    let translate = ["nmt", "translate", "-i", &source];
    let cases: [(Vec<&str>, Vec<String>); 5] = [
        (
            [&translate[..], &["-m", &model, "-o"]].concat(),
            vec![in_neural("model.npz"), in_neural("vocab.spm"), config.clone()],
        ),
        (
            [&translate[..], &["-m", &model, "-o", "/dev/null", "--errors"]].concat(),
            vec![config.clone()],
        ),
        ([&translate[..], &["-c", &config, "-o"]].concat(), vec![config.clone()]),
        (
            vec!["nmt", "score", "-m", &model, "--source", &source, "--target", &target, "-o"],
            vec![config.clone()],
        ),
        (
            vec!["tune", "-f", &ini, "--source", &source, "--reference", &target, "-o"],
            vec![in_toy("lm.arpa"), in_toy("phrase-table")],
        ),
    ];
    for (arguments, outputs) in cases {
        for output in outputs {
            let before = fs::read(&output).unwrap();
            let error = run_to_error(miriam().args(&arguments).arg(&output));
            let is_named = error.contains("it is also the output")
                || error.contains("it lies in the folder of the model");
            assert!(is_named && error.contains(&output), "{arguments:?} {output}: {error}");
            assert!(fs::read(&output).unwrap() == before, "{arguments:?} {output}");
        }
    }
    // Other files may lie in the folder.
    for output in ["translations", "test.es.gz"].map(in_neural) {
        for _ in 0..2 {
            run(miriam().args(translate).args(["-m", &model, "-o", &output]));
        }
    }
    let trained = folder.path().join("trained");
    fs::create_dir(&trained).unwrap();
    let (text, trained) = (path(trained.join("lm.miriam")), path(trained));
    fs::copy(&source, &text).unwrap();
    let training = ["train", "--source", &text, "--target", &target, "-o", &trained];
    let error = run_to_error(miriam().args(training));
    assert!(error.contains("lm.miriam: "), "{error}");
    assert_eq!(fs::read(&text).unwrap(), fs::read(&source).unwrap());
}
