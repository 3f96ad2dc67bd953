//! `miriam demo` end to end.

mod common;

use common::{miriam, project, read, run, text};

#[test]
fn the_demo_translates_the_toy_input() {
    // Files of the models' names in the working directory must not matter.
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("lm.miriam"), "decoy").unwrap();
    std::fs::write(elsewhere.path().join("phrase-table.miriam"), "decoy").unwrap();
    let output = text(&run(miriam().arg("demo").current_dir(elsewhere.path())));
    let lines = |label: &str| -> Vec<String> {
        output.lines().filter_map(|l| l.strip_prefix(label)).map(|l| l.trim().to_owned()).collect()
    };
    let folder = project().join("examples/toy");
    let expect = |file: &str| -> Vec<String> {
        text(&read(&folder.join(file))).lines().map(str::to_owned).collect()
    };
    assert_eq!(lines("source "), expect("input.txt"));
    assert_eq!(lines("translation "), expect("expected.txt"));
    assert_eq!(lines("score ")[0], "-6.375");
    // the red house is big . -> la casa roja es grande .
    assert_eq!(lines("alignment ")[0], "0-0 1-2 2-1 3-3 4-4 5-5");
}
