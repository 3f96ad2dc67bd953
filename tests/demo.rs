//! `miriam demo` end to end.

use crate::common::{lossy_text, miriam, project_root, read_decompressed, run};

#[test]
fn the_demo_goes_from_text_to_translations() {
    // Files with the models' names in the working directory must not matter.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("lm.miriam"), "decoy").unwrap();
    std::fs::write(elsewhere.path().join("phrase-table.miriam"), "decoy").unwrap();
    let demo = |threads: &str| {
        let mut command = miriam();
        lossy_text(&run(command.args(["demo", "--threads", threads]).current_dir(elsewhere.path())))
    };
    let output = demo("2");
    let lines = |label: &str| -> Vec<&str> {
        output.lines().filter_map(|line| line.strip_prefix(label)).map(str::trim).collect()
    };
    let expect = |file: &str| {
        lossy_text(&read_decompressed(&project_root().join("examples/toy").join(file)))
    };
    let (sources, references) = (expect("test.en"), expect("test.es"));
    let first = |text: &'_ str| text.lines().take(12).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(lines("source "), first(&sources));
    assert_eq!(lines("reference "), first(&references));
    let right =
        lines("translation ").iter().zip(lines("reference ")).filter(|(a, b)| *a == b).count();
    assert!(right >= 7, "{output}");
    let links = lines("alignment ").into_iter().filter(|line| line.starts_with("0-0 "));
    assert!(links.count() >= 10, "{output}");
    let bleu: f64 = lines("BLEU ")[0].split(' ').next().unwrap().parse().unwrap();
    assert!(bleu > 85.0, "{bleu}");
    // The same except for times, for any number of threads.
    let stable = |output: &str| -> Vec<String> {
        let varies = |line: &str| {
            line.contains(" s in all") || line.contains(" s  ") || line.starts_with("model ")
        };
        output.lines().filter(|line| !varies(line)).map(str::to_owned).collect()
    };
    assert_eq!(stable(&output), stable(&demo("1")));
}
