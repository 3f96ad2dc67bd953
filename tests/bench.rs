//! `miriam bench scaling` end to end, on the toy system, `miriam bench glm` on a
//! synthetic model, and `miriam bench nmt batching` on the toy text.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::{
    lossy_text, miriam, project_root, report_skip, run, run_to_error, run_to_usage_error,
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
    assert_eq!(of("circle"), 4, "two curves of two points");
    let measured = document.descendants().filter(|n| {
        n.attribute("stroke") == Some("#1F5FA8") && n.attribute("stroke-width") == Some("2")
    });
    assert_eq!(measured.count(), 3, "two curves and an entry of the legend");
    assert_eq!(count("script"), 0);
}

#[test]
fn unmeasurable_requests_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = run_to_error(bench_scaling(folder.path()).args(["--counts", "1,9999"]));
    assert!(message.contains("9999 threads"), "{message}");
    let message = run_to_usage_error(bench_scaling(folder.path()).args(["--", "-stack", "0"]));
    assert!(message.contains("-stack: a stack holds at least one"), "{message}");
    // The models are opened by the measurement.
    let ini = folder.path().join("moses.ini");
    std::fs::copy(project_root().join("examples/toy/moses.ini"), &ini).unwrap();
    let mut failing = miriam();
    failing.args(["bench", "scaling", "--config"]).arg(&ini).arg("-i").arg(&ini).arg("-o");
    let message = run_to_error(failing.arg(folder.path().join("scaling")));
    assert!(message.contains("1 threads failed"), "{message}");
    let mut absent = miriam();
    absent.args(["bench", "scaling", "--config", "absent.ini", "-i", "absent.txt", "-o"]);
    let message = run_to_error(absent.arg(folder.path()));
    assert!(message.contains("absent.ini"), "{message}");
}

fn bench_glm(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["bench", "glm", "--log-level", "warn", "--threads", "2"]).args(arguments);
    command
}

#[test]
fn a_synthetic_model_is_measured_in_every_layout() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/by the benchmark");
    let asked = ["--quick", "--synthetic", "20000", "--device", "cpu", "--repeat", "1", "-o"];
    let output = lossy_text(&run(bench_glm(&asked).arg(&folder)));
    assert!(output.contains("20000 synthetic n-grams"), "{output}");
    assert!(output.contains("held-out-like: words that match 1, 2, ..: 0."), "{output}");

    let table = read_csv(&folder, "queries.csv");
    let column = |name: &str| table[0].iter().position(|n| n == name).expect(name);
    let value = |row: &[String], name: &str| row[column(name)].clone();
    let number = |row: &[String], name: &str| value(row, name).parse::<f64>().unwrap();
    let body = &table[1..];
    assert!(body.iter().all(|row| row.len() == table[0].len()));
    for row in body {
        let rate = number(row, "queries") / number(row, "seconds");
        assert!((number(row, "queries_per_second") / rate - 1.0).abs() < 0.01, "{row:?}");
        assert!(number(row, "queries") >= 10_000.0, "{row:?}");
        let is_glm = value(row, "engine") == "glm";
        let is_counted = is_glm && value(row, "mode") == "sentences";
        assert_eq!(is_counted, !value(row, "share_of_ceiling").is_empty(), "{row:?}");
        assert_eq!(is_glm, !value(row, "node_width").is_empty(), "{row:?}");
    }
    // Eight layouts and two other models; two texts, two modes; one word at a time, in
    // batches on one thread and on two.
    let count =
        |name: &str, wanted: &str| body.iter().filter(|row| value(row, name) == wanted).count();
    assert_eq!(count("place", "cpu-single"), 10 * 4);
    assert_eq!(count("threads", "2"), 10 * 4);
    assert_eq!((count("engine", "trie"), count("engine", "probing")), (12, 12));
    // One layout is measured in small batches too.
    assert_eq!(body.len(), 10 * 12 + 2 * 4);
    assert_eq!((count("batch", "100"), count("batch", "1000")), (4, 10 * 4 + 4));

    let reads = read_csv(&folder, "reads.csv");
    assert_eq!(reads[0], ["threads", "buffer_bytes", "read_bytes", "reads_per_second"]);
    assert_eq!(reads.len(), 1 + 2 * 2 * 3, "two counts of threads, two buffers, three sizes");
    let svg = fs::read_to_string(folder.join("queries.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let of = |tag: &str| document.descendants().filter(|n| n.tag_name().name() == tag).count();
    // One and two threads of the default layout, one of each other model.
    assert_eq!(of("circle"), 4 * (3 + 1 + 1 + 1));
    let left: Vec<_> = fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path()).collect();
    assert_eq!(left.len(), 3, "models are gone: {left:?}");
}

#[test]
fn bits_are_compared_on_synthetic_and_on_given_models() {
    let output = lossy_text(&run(&mut bench_glm(&["--check", "--quick", "--device", "cpu"])));
    assert_eq!(output.matches("20000 compared").count(), 8 * 6, "{output}");
    assert!(
        output.ends_with("all scores are equal on the CPU; no device was compared\n"),
        "{output}"
    );

    let toy = project_root().join("examples/toy");
    let (model, input) = (toy.join("lm.arpa"), toy.join("input.txt"));
    let asked = ["--check", "--quick", "--device", "cpu", "-m"];
    let output = lossy_text(&run(bench_glm(&asked).arg(model).arg("-i").arg(input)));
    assert!(output.contains("text, side by side: CPU = trie, 20000 compared"), "{output}");
}

#[test]
fn a_missing_device_is_an_error_only_when_requested() {
    let auto = run(&mut bench_glm(&["--check", "--quick", "--synthetic", "5000"]));
    assert!(lossy_text(&auto).contains("all scores are equal"));
    let message =
        run_to_error(&mut bench_glm(&["--check", "--quick", "--device", "cuda:4294967295"]));
    assert!(message.contains("GPU"), "{message}");
}

#[test]
fn every_devlin_optimization_has_a_row() {
    let mut command = miriam();
    command.args(["bench", "nmt", "devlin", "--sentences", "1", "--passes", "1"]);
    command.args(["--words", "200", "-i"]).arg(project_root().join("examples/toy/test.en"));
    let table = lossy_text(&run(&mut command));
    for row in ["baseline", "+ 16 bits", "+ cached tokens", "+ cached context", "+ merged states"] {
        assert!(table.lines().any(|line| line.starts_with(row)), "{row}: {table}");
    }
    let baseline = table.lines().find(|line| line.starts_with("baseline")).unwrap();
    assert!(baseline.contains("1.00x") && baseline.contains("100.0%"), "{table}");
    assert!(table.contains("had a parent of their own"), "{table}");

    let none = tempfile::NamedTempFile::new().unwrap();
    let mut command = miriam();
    command.args(["bench", "nmt", "devlin", "--words", "200", "-i"]).arg(none.path());
    let error = run_to_error(&mut command);
    assert!(error.contains("no line with words"), "{error}");
}

fn bench_batching(target: &str, asked: &[&str]) -> Command {
    let toy = project_root().join("examples/toy");
    let mut command = miriam();
    command.args(["bench", "nmt", "batching", "-i"]).arg(toy.join("test.en"));
    command.arg("--target").arg(toy.join(target)).args(asked);
    command
}

#[test]
fn batching_strategies_are_measured_in_turn() {
    let asked = [
        &["--sentences", "6", "--batch", "2", "--words", "300", "-n", "1"][..],
        &["--beams", "2", "--precisions", "i8"],
    ];
    let output = lossy_text(&run(&mut bench_batching("test.es", &asked.concat())));
    let row = |name: &str| {
        let line = output.lines().find(|line| line.starts_with(name)).expect(name);
        let cells: Vec<&str> = line[name.len()..].split_whitespace().collect();
        (cells[1].parse::<usize>().unwrap(), cells[2].parse::<usize>().unwrap(), cells.join(" "))
    };
    let (dead, living) = (row("dead rows kept"), row("not topped up"));
    assert_eq!(dead.0, living.0, "dead rows make no more steps");
    assert!(dead.1 > living.1, "but more rows: {output}");
    assert!(dead.2.ends_with("100%"), "translations stay: {output}");
    assert_eq!(row("all optimisations").1, living.1);
    assert!(output.contains("| speed-up by | i8, beam 2 |"), "{output}");

    let refused = run_to_error(&mut bench_batching("train.es", &[]));
    assert!(refused.contains("line N of one belongs to line N of the other"), "{refused}");
}
