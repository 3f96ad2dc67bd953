//! `scripts/cluster` over twelve shards: each recipe makes the output of one command over the whole
//! text, even if one worker or all of them are killed in the middle. No line is lost or doubled.
//!
//! Ray, Spark and datatrove are large: their tests run when `MIRIAM_CLUSTER_TESTS` is 1, with the
//! Python of `MIRIAM_CLUSTER_PYTHON` (python3). Otherwise they report that they are skipped.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{lossy_text, miriam, project_root, report_skip, run};

const SHARDS: usize = 12;
const LINES: usize = 25;
/// The longest time that a run may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// A corpus in shards, a manifest, a command, and the output of that command for the whole text.
struct Corpus {
    folder: tempfile::TempDir,
    command: Vec<String>,
    expected: Vec<u8>,
}

impl Corpus {
    /// Creates a corpus whose lines are scored.
    fn scored() -> Self {
        let model = Self::model().display().to_string();
        Self::new("es", &["lm", "perplexity", "--per-line", &*model])
    }

    /// Creates a corpus whose lines are translated.
    fn translated() -> Self {
        let system = project_root().join("examples/toy/moses.ini").display().to_string();
        Self::new("en", &["translate", "-f", &*system])
    }

    /// Creates a corpus of the toy text in `language`; `command` has the words of the command
    /// before `-i`.
    fn new(language: &str, command: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let text = project_root().join(format!("examples/toy/train.{language}"));
        let text = std::fs::read_to_string(text).unwrap();
        let lines: Vec<&str> = text.lines().take(SHARDS * LINES).collect();
        let mut manifest = String::new();
        for (index, lines) in lines.chunks(LINES).enumerate() {
            let shard = folder.path().join(format!("shard-{index:02}"));
            std::fs::write(&shard, lines.join("\n") + "\n").unwrap();
            manifest += &format!("{}\n", shard.display());
        }
        std::fs::write(folder.path().join("manifest"), manifest).unwrap();
        let whole = folder.path().join("whole");
        std::fs::write(&whole, lines.join("\n") + "\n").unwrap();
        let expected = run(miriam().arg("--quiet").args(command).arg("-i").arg(whole));
        assert_eq!(expected.iter().filter(|&&b| b == b'\n').count(), SHARDS * LINES);
        // The command is slow, so that it can be killed in the middle. If the test has made the
        // folder `lose-a-worker`, the command kills the worker that started it.
        let slow = format!(
            "#!/bin/sh\n\
             if [ \"$1\" = --version ]; then exec {program} --version; fi\n\
             sleep 0.1\n\
             case \"$*\" in *shard-05*)\n\
             rmdir {folder}/lose-a-worker 2> /dev/null && kill -KILL $PPID && exit 1;; esac\n\
             exec {program} --threads 1 --quiet \"$@\"\n",
            program = env!("CARGO_BIN_EXE_miriam"),
            folder = folder.path().display()
        );
        let program = folder.path().join("slow-miriam");
        std::fs::write(&program, slow).unwrap();
        run(Command::new("chmod").arg("+x").arg(&program));
        let mut words = vec![program.display().to_string()];
        let more = command.iter().copied().chain(["-i", "{in}", "-o", "{out}"]);
        words.extend(more.map(str::to_owned));
        Corpus { folder, command: words, expected }
    }

    fn model() -> PathBuf {
        project_root().join("examples/toy/lm.arpa")
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs `command`, which loses a worker in the middle and continues.
    fn lose_one_worker(&self, command: &mut Command) {
        let mark = self.path("lose-a-worker");
        std::fs::create_dir(&mark).unwrap();
        run(command.stderr(Stdio::null()));
        assert!(!mark.exists(), "no worker was lost");
    }

    fn outputs(&self) -> usize {
        let Ok(files) = std::fs::read_dir(self.path("out")) else { return 0 };
        files
            .filter(|file| file.as_ref().unwrap().file_name().to_string_lossy().ends_with(".done"))
            .count()
    }

    /// Starts `command` in a process group of its own and kills it, with all its children, when
    /// a third of the shards is done.
    fn kill_in_the_middle(&self, command: &mut Command) {
        let messages = self.path("messages");
        let stderr = std::fs::File::create(&messages).unwrap();
        let mut child =
            command.process_group(0).stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
        let start = Instant::now();
        while self.outputs() < SHARDS / 3 {
            assert!(start.elapsed() < PATIENCE, "no progress");
            if let Some(status) = child.try_wait().unwrap() {
                let messages = lossy_text(&std::fs::read(&messages).unwrap());
                panic!("it ended before it was killed: {status}\n{messages}");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        kill_group(&mut child);
        let done = self.outputs();
        assert!((SHARDS / 3..SHARDS).contains(&done), "{done}");
    }

    /// Checks that all shards are there, that together they are the expected text, and that no
    /// partial file remains.
    fn check(&self) {
        let joined = run(shards()
            .args(["join", "--manifest"])
            .arg(self.path("manifest"))
            .arg("--output")
            .arg(self.path("out")));
        assert!(joined == self.expected, "{}", lossy_text(&joined));
        let left = std::fs::read_dir(self.path("out")).unwrap();
        let left: Vec<_> = left.map(|file| file.unwrap().file_name()).collect();
        assert!(!left.iter().any(|name| name.to_string_lossy().ends_with(".partial")), "{left:?}");
    }
}

fn kill_group(child: &mut Child) {
    let group = format!("-{}", child.id());
    run(Command::new("kill").args(["-KILL", "--", &group]));
    child.wait().unwrap();
}

fn recipe(name: &str) -> PathBuf {
    project_root().join("scripts/cluster").join(name)
}

fn shards() -> Command {
    Command::new(recipe("miriam_shards.py"))
}

/// Whether there is a Python to run the tools.
fn have_python() -> bool {
    let there = Command::new("python3").arg("--version").output().is_ok();
    if !there {
        report_skip("python3 is absent");
    }
    there
}

#[test]
fn jobs_on_a_machine_survive_a_kill() {
    if !have_python() {
        return;
    }
    let command = |corpus: &Corpus| {
        let mut command = Command::new(recipe("parallel.sh"));
        command.arg(corpus.path("manifest")).arg(corpus.path("out"));
        command.arg("--model").arg(Corpus::model()).arg("--").args(&corpus.command);
        command
    };
    // After the loss of one job, the next call makes the missing shards.
    let corpus = Corpus::translated();
    std::fs::create_dir(corpus.path("lose-a-worker")).unwrap();
    assert!(!command(&corpus).output().unwrap().status.success());
    assert!(!corpus.path("lose-a-worker").exists());
    run(&mut command(&corpus));
    corpus.check();
    let corpus = Corpus::scored();
    corpus.kill_in_the_middle(&mut command(&corpus));
    let sums = lossy_text(&run(&mut command(&corpus)));
    let sums: serde_json::Value = serde_json::from_str(sums.trim()).expect("the last line is JSON");
    let lines = (SHARDS * LINES) as u64;
    assert_eq!((sums["lines_in"].as_u64(), sums["lines_out"].as_u64()), (Some(lines), Some(lines)));
    corpus.check();
}

#[test]
fn tasks_of_a_slurm_array_may_run_twice_and_be_stopped() {
    if !have_python() {
        return;
    }
    let corpus = Corpus::scored();
    let task = |index: usize| {
        let mut command = Command::new("bash");
        command.arg(recipe("slurm_array.sh")).args(&corpus.command);
        command.env("MANIFEST", corpus.path("manifest")).env("OUTPUT", corpus.path("out"));
        command.env("SLURM_ARRAY_TASK_ID", index.to_string());
        command
    };
    // Slurm ends a task at its time limit with SIGTERM; the task leaves no file.
    let mut stopped = task(0).spawn().unwrap();
    let start = Instant::now();
    let made = || std::fs::read_dir(corpus.path("out")).map_or(0, Iterator::count);
    while made() == 0 {
        assert!(start.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(2));
    }
    run(Command::new("kill").args(["-TERM", &stopped.id().to_string()]));
    assert_eq!(stopped.wait().unwrap().code(), Some(143));
    assert_eq!(made(), 0);
    // Slurm runs a copy of the script, which finds the tool by TOOLS; options of the tool are
    // before --.
    let copy = corpus.path("slurm_script");
    std::fs::copy(recipe("slurm_array.sh"), &copy).unwrap();
    let copied = |tools: &Path| {
        let mut command = Command::new("bash");
        command.arg(&copy).args(["--drops-lines", "--", "head", "-n", "1", "{in}"]);
        command.env("MANIFEST", corpus.path("manifest")).env("OUTPUT", corpus.path("heads"));
        command.env("SLURM_ARRAY_TASK_ID", "0").env("TOOLS", tools).output().unwrap()
    };
    let message = lossy_text(&copied(&corpus.path("nowhere")).stderr);
    assert!(message.contains("set TOOLS to the folder scripts/cluster"), "{message}");
    assert!(copied(recipe("").as_path()).status.success());
    // One task runs twice at the same time, as it may after a partition of the network.
    let mut twice: Vec<Child> = (0..2).map(|_| task(0).spawn().unwrap()).collect();
    assert!(twice.iter_mut().all(|child| child.wait().unwrap().success()));
    // When a node is lost, its tasks are killed and queued again.
    let mut lost = task(1).process_group(0).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(60));
    kill_group(&mut lost);
    for first in (0..SHARDS).step_by(4) {
        let running: Vec<Child> =
            (first..first + 4).map(|index| task(index).spawn().unwrap()).collect();
        for child in running {
            assert!(child.wait_with_output().unwrap().status.success());
        }
    }
    corpus.check();
}

#[test]
fn what_does_not_fit_together_is_an_error() {
    if !have_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("a"), "1\n2\n3\n").unwrap();
    let run_command = |words: &[&str], options: &[&str]| {
        let mut command = shards();
        command
            .arg("run")
            .arg(path("a"))
            .arg("--output")
            .arg(path("out"))
            .args(options)
            .arg("--")
            .args(words);
        let output = command.output().unwrap();
        (output.status.success(), lossy_text(&output.stderr))
    };
    let (success, message) = run_command(&["head", "-n", "1", "{in}"], &[]);
    assert!(!success && message.contains("3 lines in, 1 out"), "{message}");
    let (success, message) = run_command(&["cat", "{in}", "{in}"], &[]);
    assert!(!success && message.contains("6 out; is it compressed?"), "{message}");
    let (success, message) = run_command(&["cat", "other"], &[]);
    assert!(!success && message.contains("write {in} where its input goes"), "{message}");
    let (success, message) = run_command(&["false", "{in}"], &[]);
    assert!(!success && message.contains("status 1"), "{message}");
    assert_eq!(std::fs::read_dir(path("out")).unwrap().count(), 0);
    assert!(run_command(&["head", "-n", "1", "{in}"], &["--drops-lines"]).0);
    assert_eq!(std::fs::read_to_string(path("out/a")).unwrap(), "1\n");
    let (success, message) = run_command(&["cat", "{in}"], &[]);
    assert!(!success && message.contains("made by another command"), "{message}");
    // A model that the command names is recorded with a shard: if it changes, the shard is
    // rejected.
    std::fs::write(path("model"), "1\n").unwrap();
    let model = path("model");
    let filter = ["grep", "-f", model.to_str().unwrap(), "{in}"];
    std::fs::remove_dir_all(path("out")).unwrap();
    assert!(run_command(&filter, &["--drops-lines"]).0);
    assert!(run_command(&filter, &["--drops-lines"]).0);
    std::fs::write(&model, "2\n").unwrap();
    let (success, message) = run_command(&filter, &["--drops-lines"]);
    assert!(!success && message.contains("another command, version, model"), "{message}");
    // The files that the command reads are recorded too: the shard, and other files with its name.
    std::fs::remove_dir_all(path("out")).unwrap();
    std::fs::create_dir(path("beside")).unwrap();
    std::fs::write(path("beside/a"), "1\n").unwrap();
    let beside = path("beside/{name}");
    let filter = ["grep", "-f", beside.to_str().unwrap(), "{in}"];
    for changed in [path("a"), path("beside/a")] {
        assert!(run_command(&filter, &["--drops-lines"]).0);
        let text = std::fs::read_to_string(&changed).unwrap();
        std::fs::write(&changed, &text).unwrap();
        assert!(run_command(&filter, &["--drops-lines"]).0, "only its time is new");
        std::fs::write(&changed, text.replace('1', "4")).unwrap();
        let (success, message) = run_command(&filter, &["--drops-lines"]);
        assert!(!success && message.contains("model or input"), "{message}");
        std::fs::write(&changed, text).unwrap();
    }
    // A further file that the command writes is not an input, even if it exists before.
    std::fs::remove_dir_all(path("out")).unwrap();
    let log = path("log-{name}");
    let logged = ["sh", "-c", "cat \"$0\"; date +%s%N >> \"$1\"", "{in}", log.to_str().unwrap()];
    for _ in 0..2 {
        assert!(run_command(&logged, &[]).0);
        assert!(run_command(&logged, &[]).0, "it is skipped");
        std::fs::remove_dir_all(path("out")).unwrap();
    }
    assert!(run_command(&filter, &["--drops-lines"]).0);
    let verify = || {
        let mut command = shards();
        let output =
            command.arg("verify").arg(path("a")).arg("--output").arg(path("out")).output().unwrap();
        (output.status.success(), lossy_text(&output.stderr))
    };
    assert!(verify().0);
    std::fs::write(path("out/a"), "2\n").unwrap();
    let (success, message) = verify();
    assert!(!success && message.contains("a: changed after it was made"), "{message}");
    std::fs::write(path("manifest"), "x/one\ny/one\n").unwrap();
    let mut command = shards();
    let output = command
        .args(["verify", "--output", "o", "--manifest"])
        .arg(path("manifest"))
        .output()
        .unwrap();
    assert!(lossy_text(&output.stderr).contains("one appears twice"));
    std::fs::write(path("manifest"), "").unwrap();
    let mut command = Command::new(recipe("parallel.sh"));
    let output = command
        .arg(path("manifest"))
        .arg(path("out"))
        .args(["--", "cat", "{in}"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(lossy_text(&output.stderr).contains("manifest: it names no shards"));
}

#[test]
fn a_model_is_copied_once_a_node() {
    if !have_python() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("cache");
    let localize = || {
        let mut command = shards();
        command.arg("localize").arg(Corpus::model()).arg("--cache").arg(&cache);
        command.stdout(Stdio::piped()).spawn().unwrap()
    };
    let workers: Vec<Child> = (0..4).map(|_| localize()).collect();
    let copies: Vec<String> = workers
        .into_iter()
        .map(|worker| lossy_text(&worker.wait_with_output().unwrap().stdout))
        .collect();
    assert!(copies.iter().all(|copy| *copy == copies[0]), "{copies:?}");
    assert!(std::fs::read(copies[0].trim()).unwrap() == std::fs::read(Corpus::model()).unwrap());
    let visible = |name: &std::ffi::OsStr| !name.to_string_lossy().starts_with('.');
    let files = std::fs::read_dir(&cache).unwrap().map(|file| file.unwrap().file_name());
    assert_eq!(files.filter(|name| visible(name)).count(), 1);
}

/// Phrase pairs are counted by 40 jobs, which are killed in the middle and started again. The
/// tables equal the tables that one command writes.
#[test]
fn phrases_of_shards_are_those_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let toy = |name: &str| project_root().join("examples/toy").join(name);
    let extract = |output: &str| {
        let mut command = miriam();
        command.args(["--quiet", "extract", "--source"]).arg(toy("corpus.en"));
        command.arg("--target").arg(toy("corpus.es"));
        command.arg("--alignment").arg(toy("corpus.align")).arg("-o").arg(path(output));
        command
    };
    run(&mut extract("whole"));
    let script = format!(
        "seq {SHARDS} | xargs -P 2 -I SHARD {} --threads 1 --quiet extract --source {} --target {} \
         --alignment {} -o {} --shard SHARD/{SHARDS}",
        env!("CARGO_BIN_EXE_miriam"),
        toy("corpus.en").display(),
        toy("corpus.es").display(),
        toy("corpus.align").display(),
        path("model").display()
    );
    let jobs = || {
        let mut command = Command::new("sh");
        command.args(["-c", &*script]);
        command
    };
    let done = || {
        let files = std::fs::read_dir(path("model/shards")).into_iter().flatten();
        let names = files.map(|file| file.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().ends_with(".done")).count()
    };
    let mut killed = jobs().process_group(0).spawn().unwrap();
    let start = Instant::now();
    while done() < SHARDS / 3 {
        assert!(start.elapsed() < PATIENCE, "no progress");
        std::thread::sleep(Duration::from_millis(2));
    }
    kill_group(&mut killed);
    assert!(done() < SHARDS, "all was done before the kill");
    let merge = extract("model").arg("--merge-shards").output().unwrap();
    assert!(lossy_text(&merge.stderr).contains("shards are missing"), "{merge:?}");
    run(&mut jobs());
    run(extract("model").arg("--merge-shards"));
    for name in ["phrase-table.gz", "reordering-table.gz", "lex.e2f", "lex.f2e"] {
        let [merged, whole] =
            ["model", "whole"].map(|output| std::fs::read(path(output).join(name)));
        assert!(merged.unwrap() == whole.unwrap(), "{name}");
    }
}

/// Returns the Python that has `module`, if the tests of engines are requested.
fn engine_python(module: &str) -> Option<PathBuf> {
    if std::env::var_os("MIRIAM_CLUSTER_TESTS").is_none_or(|value| value != "1") {
        report_skip(&format!("{module}: MIRIAM_CLUSTER_TESTS is not 1"));
        return None;
    }
    let python = std::env::var_os("MIRIAM_CLUSTER_PYTHON").map_or("python3".into(), PathBuf::from);
    let found = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    report_skip(&format!("{} has no module {module}", python.display()));
    None
}

/// Returns the command of a recipe for `corpus`.
fn engine(python: &Path, name: &str, options: &[&str], corpus: &Corpus) -> Command {
    let mut command = Command::new(python);
    command.arg(recipe(name)).args(options).arg(corpus.path("manifest")).arg(corpus.path("out"));
    command.arg("--").args(&corpus.command).env("PYSPARK_PYTHON", python);
    // By default, Spark on one machine gives up when a task fails once.
    command.env("PYSPARK_SUBMIT_ARGS", "--master local[2,4] pyspark-shell");
    command
}

/// Runs a recipe twice: the first run is killed in the middle.
fn survives_a_kill(python: &Path, name: &str, options: &[&str]) {
    let corpus = Corpus::scored();
    corpus.kill_in_the_middle(&mut engine(python, name, options, &corpus));
    run(engine(python, name, options, &corpus).stderr(Stdio::null()));
    corpus.check();
}

/// Runs a recipe once: the engine runs the shard of a lost worker again.
fn survives_the_loss_of_a_worker(python: &Path, name: &str, options: &[&str]) {
    let corpus = Corpus::translated();
    corpus.lose_one_worker(&mut engine(python, name, options, &corpus));
    corpus.check();
}

#[test]
fn tasks_of_ray_survive_a_kill() {
    let Some(python) = engine_python("ray") else { return };
    survives_a_kill(&python, "ray_shards.py", &["--cpus", "1"]);
    survives_the_loss_of_a_worker(&python, "ray_shards.py", &[]);
}

#[test]
fn tasks_of_spark_survive_a_kill() {
    let Some(python) = engine_python("pyspark") else { return };
    survives_a_kill(&python, "spark_shards.py", &[]);
    survives_the_loss_of_a_worker(&python, "spark_shards.py", &[]);
}

#[test]
fn tasks_of_datatrove_survive_a_kill() {
    let Some(python) = engine_python("datatrove") else { return };
    survives_a_kill(&python, "datatrove_shards.py", &["--workers", "2"]);
    // A shard whose record was removed is made again.
    let corpus = Corpus::scored();
    for _ in 0..2 {
        run(engine(&python, "datatrove_shards.py", &[], &corpus).stderr(Stdio::null()));
        corpus.check();
        std::fs::remove_file(corpus.path("out/shard-01.done")).unwrap();
    }
}
