//! `miriam bench scaling` end to end, on the toy system.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{complaint, miriam, project, run, skipped, text};

fn study(folder: &Path) -> Command {
    let toy = project().join("examples/toy");
    let mut command = miriam();
    command.args(["bench", "scaling", "--config"]).arg(toy.join("moses.ini"));
    command.arg("-i").arg(toy.join("input.txt")).arg("-o").arg(folder);
    command
}

fn rows(folder: &Path, name: &str) -> Vec<Vec<String>> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
}

#[test]
fn two_threads_are_measured_beside_one() {
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        skipped("there is one CPU only");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("made/by the study");
    let output = text(&run(study(&folder)
        .args(["--counts", "2", "--repeat", "2", "--seconds", "0.3", "--log-level", "warn", "--"])
        .args(["-search-algorithm", "1"])));
    assert!(output.contains("Verdict:"), "{output}");

    let table = rows(&folder, "scaling.csv");
    let column = |name: &str| table[0].iter().position(|n| n == name).expect(name);
    assert_eq!(table.len(), 3, "a heading, one thread, two threads");
    let number = |row: usize, name: &str| table[row][column(name)].parse::<f64>().unwrap();
    assert_eq!([number(1, "threads"), number(2, "threads")], [1.0, 2.0]);
    assert_eq!([number(1, "speed_up"), number(1, "efficiency")], [1.0, 1.0]);
    assert_eq!(table[2][column("cpus")].split(' ').count(), 2);
    let words = fs::read_to_string(project().join("examples/toy/input.txt")).unwrap();
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
    assert_eq!(rows(&folder, "runs.csv").len(), 5);

    let svg = fs::read_to_string(folder.join("scaling.svg")).unwrap();
    let document = roxmltree::Document::parse(&svg).unwrap();
    let count = |tag: &str| document.descendants().filter(|n| n.has_tag_name(tag)).count();
    let namespaced = ("http://www.w3.org/2000/svg", "svg");
    assert!(document.root_element().has_tag_name(namespaced));
    let tags: Vec<&str> = document.descendants().map(|n| n.tag_name().name()).collect();
    let of = |tag: &str| tags.iter().filter(|&&t| t == tag).count();
    assert_eq!((of("polyline"), of("circle")), (4, 4), "two curves of two points, two ideals");
    assert_eq!(count("script"), 0);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let message = complaint(study(folder.path()).args(["--counts", "1,9999"]));
    assert!(message.contains("9999 threads"), "{message}");
    let message = complaint(study(folder.path()).args(["--", "-stack", "0"]));
    assert!(message.contains("1 threads failed"), "{message}");
    let mut absent = miriam();
    absent.args(["bench", "scaling", "--config", "absent.ini", "-i", "absent.txt", "-o"]);
    let message = complaint(absent.arg(folder.path()));
    assert!(message.contains("absent.ini"), "{message}");
}
