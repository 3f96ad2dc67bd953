//! `miriam bench scaling` end to end, on the toy systems and on other programs.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{
    lossy_text, miriam, output_with_input, project_root, report_skip, run, run_to_error,
    run_to_usage_error,
};

fn bench_scaling(folder: &Path) -> Command {
    let toy = project_root().join("examples/toy");
    let mut command = miriam();
    command.args(["bench", "scaling", "--config"]).arg(toy.join("moses.ini"));
    command.arg("-i").arg(toy.join("input.txt")).arg("-o").arg(folder);
    command
}

fn read_csv(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn two_threads_are_measured_against_one() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        report_skip("there is one CPU only");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/by the study");
    let output = lossy_text(&run(bench_scaling(&folder)
        .args(["--counts", "2", "--repeat", "2", "--seconds", "0.3", "--log-level", "warn", "--"])
        .args(["-search-algorithm", "1"])));
    assert!(output.contains("Verdict:"), "{output}");

    let table = read_csv(&folder, "scaling.csv");
    let column = |name: &str| table[0].iter().position(|n| n == name).expect(name);
    assert_eq!(table.len(), 3, "a heading, one thread, two threads");
    let number = |row: usize, name: &str| table[row][column(name)].parse::<f64>().unwrap();
    assert_eq!([number(1, "threads"), number(2, "threads")], [1.0, 2.0]);
    assert_eq!([number(1, "speed_up"), number(1, "efficiency")], [1.0, 1.0]);
    assert_eq!(table[2][column("cpus")].split(' ').count(), 2);
    let words = fs::read_to_string(project_root().join("examples/toy/input.txt")).unwrap();
    let words = words.split_whitespace().count() as f64;
    for row in [1, 2] {
        let (wall, user, system) = (
            number(row, "wall_seconds"),
            number(row, "user_seconds"),
            number(row, "system_seconds"),
        );
        let threads = number(row, "threads");
        assert!(user > 0.0 && user + system < 1.2 * threads * wall + 0.1, "{table:?}");
        assert_eq!(number(row, "words") % words, 0.0, "whole passes");
        let rate = number(row, "words") / wall;
        assert!((number(row, "words_per_second") / rate - 1.0).abs() < 0.01, "{table:?}");
        assert!((1e6..1e9).contains(&number(row, "peak_bytes")), "{table:?}");
    }
    assert_eq!(read_csv(&folder, "runs.csv").len(), 5);

    let svg = fs::read_to_string(folder.join("scaling.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let count = |tag: &str| document.descendants().filter(|n| n.has_tag_name(tag)).count();
    let namespaced = ("http://www.w3.org/2000/svg", "svg");
    assert!(document.root_element().has_tag_name(namespaced));
    let tags: Vec<&str> = document.descendants().map(|n| n.tag_name().name()).collect();
    let of = |tag: &str| tags.iter().filter(|&&t| t == tag).count();
    assert_eq!(of("circle"), 6, "three curves of two points");
    let measured = document.descendants().filter(|n| {
        n.attribute("stroke") == Some("#1F5FA8") && n.attribute("stroke-width") == Some("2")
    });
    assert_eq!(measured.count(), 4, "three curves and an entry of the legend");
    assert_eq!(count("script"), 0);
}

/// The toy system twice, with options of its own the second time, and another program.
#[test]
fn several_systems_are_measured_in_one_figure() {
    let folder = tempfile::tempdir().unwrap();
    let toy = project_root().join("examples/toy");
    let mut command = miriam();
    command.args(["bench", "scaling", "--counts", "1", "--repeat", "2", "--seconds", "0.2"]);
    command.arg("-i").arg(toy.join("input.txt")).arg("-o").arg(folder.path());
    command.arg("--config").arg(toy.join("moses.ini"));
    command.arg("--config").arg(format!("narrow={}", toy.display()));
    command.args(["--options", "narrow=-s '3'", "--system"]);
    command.arg("awk=awk '{ for (i = 0; i < 3000 * {threads}; i++) x += i; print {cpus} }'");
    command.args(["--", "-search-algorithm", "1"]);
    let all = command.output().unwrap();
    let [output, messages] = [all.stdout, all.stderr].map(|bytes| lossy_text(&bytes));
    assert!(all.status.success(), "{messages}");
    for verdict in ["Verdict on toy:", "Verdict on narrow:", "Verdict on awk:", "Highest speeds: "]
    {
        assert!(output.contains(verdict), "{verdict} {output}");
    }
    // The second round is in reverse.
    let order: Vec<&str> = messages
        .lines()
        .filter_map(|line| line.split_once(" with 1 thread, round ")?.0.split_once(" of 6: "))
        .map(|(_, name)| name)
        .collect();
    assert_eq!(order, ["toy", "narrow", "awk", "awk", "narrow", "toy"], "{messages}");
    assert_eq!(messages.matches("; about ").count(), 5, "times left: {messages}");

    let table = read_csv(folder.path(), "scaling.csv");
    let names: Vec<&str> = table[1..].iter().map(|row| &row[0][..]).collect();
    assert_eq!((table[0][0].as_str(), names), ("system", vec!["toy", "narrow", "awk"]));
    let column = |name: &str| table[0].iter().position(|n| n == name).expect(name);
    let rate = |row: usize| table[row][column("words_per_second")].parse::<f64>().unwrap();
    assert!(rate(1) > 0.0 && rate(2) > 0.0 && rate(3) > 0.0, "{table:?}");
    let peak = |row: usize| table[row][column("peak_bytes")].parse::<f64>().unwrap();
    assert!(peak(3) > 1e6, "memory of the program: {table:?}");
    assert_eq!(read_csv(folder.path(), "runs.csv").len(), 1 + 3 * 2);
    let svg = fs::read_to_string(folder.path().join("scaling.svg")).unwrap();
    for name in ["toy", "narrow", "awk"] {
        assert!(svg.contains(name), "{name} is in the legend");
    }
}

/// A neural model and a language model, with options of their own, beside a phrase system.
#[test]
fn all_workloads_are_measured_by_the_same_process() {
    let folder = tempfile::tempdir().unwrap();
    let toy = project_root().join("examples/toy");
    let neural = project_root().join("examples/toy-neural");
    let measure = |arguments: &[&str]| {
        let mut command = miriam();
        command.args(["bench", "scaling", "--counts", "1", "--repeat", "1", "--seconds", "0.2"]);
        command.args(["--log-level", "warn", "-i"]).arg(toy.join("input.txt"));
        command.arg("--nmt").arg(&neural).arg("-o").arg(folder.path());
        command.arg("--lm").arg(format!("lm={}", toy.join("lm.arpa").display())).args(arguments);
        command
    };
    let ini = toy.join("moses.ini").display().to_string();
    let options = ["--options", "toy-neural=-b 2 --mini-batch 3", "--options", "lm=--no-markers"];
    run(measure(&options).args(["--config", &ini]));
    let table = read_csv(folder.path(), "scaling.csv");
    let names: Vec<&str> = table[1..].iter().map(|row| &row[0][..]).collect();
    assert_eq!(names, ["toy", "toy-neural", "lm"]);
    let column = |name: &str| table[0].iter().position(|n| n == name).expect(name);
    let number = |row: usize, name: &str| table[row][column(name)].parse::<f64>().unwrap();
    let words = fs::read_to_string(toy.join("input.txt")).unwrap().split_whitespace().count();
    for row in 1..=3 {
        assert_eq!(number(row, "words") % words as f64, 0.0, "whole passes: {table:?}");
        assert!(number(row, "wall_seconds") > 0.15, "{table:?}");
        assert!(number(row, "user_seconds") > 0.0, "{table:?}");
    }
    assert!(number(3, "words_per_second") > number(2, "words_per_second"), "{table:?}");

    let usage = |arguments: &[&str]| run_to_usage_error(&mut measure(arguments));
    let threads = usage(&["--threads", "2"]);
    assert!(threads.contains("give the numbers of threads by --counts"), "{threads}");
    let mixed = usage(&["--", "-b", "2"]);
    assert!(mixed.contains("options after -- are for systems of one kind"), "{mixed}");
    let wrong = usage(&["--options", "toy-neural=--beams 2"]);
    assert!(wrong.contains("--beams"), "{wrong}");
    for threads in ["toy-neural=--cpu-threads 2", "toy-neural=--threads 2", "lm=--threads 2"] {
        let error = usage(&["--options", threads]);
        assert!(error.contains("threads") && !error.contains("measurement of"), "{error}");
    }
    let file = usage(&["--options", "lm=-i other.txt"]);
    assert!(file.contains("the study gives the text"), "{file}");
    let twice = usage(&["--options", "lm=--keep-percent 50"]);
    assert!(twice.contains("the study gives the text"), "{twice}");
    let absent = run_to_error(&mut measure(&["--lm", "absent.arpa"]));
    assert!(absent.contains("absent.arpa"), "{absent}");
}

/// With `--workload lm`, `--config` names a language model.
#[test]
fn config_names_models_of_the_workload() {
    let folder = tempfile::tempdir().unwrap();
    let toy = project_root().join("examples/toy");
    let mut command = miriam();
    command.args(["bench", "scaling", "--counts", "1", "--repeat", "1", "--seconds", "0.1"]);
    command.args(["--workload", "lm", "--config"]).arg(toy.join("lm.arpa"));
    command.arg("-i").arg(toy.join("input.txt")).arg("-o").arg(folder.path());
    run(command.args(["--", "--no-markers"]));
    assert_eq!(read_csv(folder.path(), "scaling.csv")[1][0], "lm");
}

/// Returns the id of a process that `parent` has started, if one is found at once.
fn find_child(parent: u32) -> Option<String> {
    let threads = fs::read_dir(format!("/proc/{parent}/task")).ok()?;
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).next()
}

/// Whether a process exists and is not only waiting to be reaped.
fn is_running(process: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// A study that is killed after its first measurement, and one that grows by a system.
#[test]
fn studies_are_resumed_and_never_mixed() {
    let folder = tempfile::tempdir().unwrap();
    let toy = project_root().join("examples/toy");
    let measure = |systems: &[&str], seconds: &str| {
        let mut command = miriam();
        command.args(["bench", "scaling", "--counts", "1", "--repeat", "2"]);
        command.args(["--seconds", seconds, "-i"]).arg(toy.join("input.txt"));
        command.arg("-o").arg(folder.path());
        for system in systems {
            command.args(["--system", system]);
        }
        command
    };
    let rows = || read_csv(folder.path(), "runs.csv");
    let slow = "slow=awk '{ system(\"sleep 0.01\"); print }'";
    let mut killed = measure(&[slow], "0.3").stderr(std::process::Stdio::null()).spawn().unwrap();
    let path = folder.path().join("runs.csv");
    while fs::read_to_string(&path).unwrap_or_default().lines().count() < 2 {
        assert!(killed.try_wait().unwrap().is_none(), "it ended early");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let measurement = find_child(killed.id());
    let message = run_to_error(&mut measure(&[slow], "0.3"));
    assert!(message.contains("another study is measured in this folder"), "{message}");
    killed.kill().unwrap();
    killed.wait().unwrap();
    let until = Instant::now() + Duration::from_secs(20);
    // It would disturb the next study.
    while measurement.as_deref().is_some_and(is_running) {
        assert!(Instant::now() < until, "the measurement of the killed study does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    let first = rows()[1].clone();
    let resumed = measure(&[slow], "0.3").output().unwrap();
    let messages = lossy_text(&resumed.stderr);
    assert!(resumed.status.success(), "{messages}");
    assert!(messages.contains(" of 2 measurements were made before"), "{messages}");
    let complete = rows();
    assert_eq!(complete.len(), 1 + 2);
    assert_eq!(complete[1], first, "what was measured is kept");

    let again = measure(&[slow], "0.3").output().unwrap();
    let messages = lossy_text(&again.stderr);
    assert!(messages.contains("2 of 2 measurements were made before"), "{messages}");
    assert!(again.stdout == resumed.stdout, "the table is printed again");
    assert_eq!(rows(), complete);

    let other = run_to_error(&mut measure(&[slow], "0.2"));
    assert!(other.contains("seconds: was 0.3, is now 0.2"), "{other}");
    assert!(other.contains("runs.csv") && other.contains("--overwrite"), "{other}");
    assert_eq!(rows(), complete, "a rejected command changes nothing");
    run(measure(&[slow], "0.2").arg("--overwrite"));
    let overwritten = rows();
    assert_eq!(overwritten.len(), 3);
    assert_ne!(overwritten[1], first);

    // A further system may be added. This one fails, which changes nothing.
    let failed = run_to_error(&mut measure(&[slow, "bad=false"], "0.2"));
    assert!(failed.contains("the measurement of bad"), "{failed}");
    assert_eq!(rows(), overwritten);
}

#[test]
fn systems_that_cannot_be_measured_say_why() {
    let folder = tempfile::tempdir().unwrap();
    let measure = |arguments: &[&str]| {
        let mut command = miriam();
        command.args(["bench", "scaling", "--seconds", "0.1", "--counts", "1", "-i"]);
        command.arg(project_root().join("examples/toy/input.txt")).arg("-o").arg(folder.path());
        command.args(arguments);
        command
    };
    let usage = |arguments: &[&str]| run_to_usage_error(&mut measure(arguments));
    assert!(usage(&[]).contains("required"));
    assert!(usage(&["--system", "cat"]).contains("--system cat: expected NAME=COMMAND"));
    let copy = ["--system", "copy=cat"];
    let other = usage(&[&copy[..], &["--options", "copy=-s 1"]].concat());
    assert!(other.contains("copy is another program"), "{other}");
    let other = usage(&[&copy[..], &["--options", "none=-s 1"]].concat());
    assert!(other.contains("there is no system none; there are copy"), "{other}");
    let open = usage(&[&copy[..], &["--options", "copy='x"]].concat());
    assert!(open.contains("a quotation mark is not closed"), "{open}");
    let other = usage(&[&copy[..], &["--", "-s", "1"]].concat());
    assert!(other.contains("options after -- are not for other programs"), "{other}");
    let twice = run_to_error(&mut measure(&[&copy[..], &copy].concat()));
    assert!(twice.contains("two systems are named copy"), "{twice}");
    let failed = run_to_error(&mut measure(&["--system", "bad=false"]));
    assert!(failed.contains("the measurement of bad with 1 thread failed"), "{failed}");
}

#[test]
fn unmeasurable_requests_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let message = run_to_error(bench_scaling(folder.path()).args(["--counts", "1,9999"]));
    assert!(message.contains("9999 threads"), "{message}");
    let message = run_to_usage_error(bench_scaling(folder.path()).args(["--", "-stack", "0"]));
    assert!(message.contains("-stack: a stack holds at least one"), "{message}");
    for options in [["-threads", "4"], ["-th", "4"], ["-cpus", "0,1"], ["-i", "x"]] {
        let arguments = [&["--counts", "1", "--"][..], &options].concat();
        let message = run_to_usage_error(bench_scaling(folder.path()).args(arguments));
        let name = format!("{} is given twice, with different values; the study", options[0]);
        assert!(message.contains(&name) && !message.contains("measurement of"), "{message}");
    }
    // A text from a pipe could be read only once.
    let mut piped = miriam();
    piped.args(["bench", "scaling", "-i", "/dev/stdin", "-o"]).arg(folder.path());
    piped.arg("--config").arg(project_root().join("examples/toy"));
    let output = output_with_input(&mut piped, b"a\n");
    assert!(lossy_text(&output.stderr).contains("give a file, not a pipe"), "{output:?}");
    // The models are opened by the measurement.
    let ini = folder.path().join("moses.ini");
    std::fs::copy(project_root().join("examples/toy/moses.ini"), &ini).unwrap();
    let mut failing = miriam();
    failing.args(["bench", "scaling", "--config"]).arg(&ini).arg("-i").arg(&ini).arg("-o");
    let message = run_to_error(failing.arg(folder.path().join("scaling")));
    assert!(message.contains("with 1 thread failed"), "{message}");
    let mut absent = miriam();
    absent.args(["bench", "scaling", "--config", "absent.ini", "-i", "absent.txt", "-o"]);
    let message = run_to_error(absent.arg(folder.path()));
    assert!(message.contains("absent.ini"), "{message}");
}
