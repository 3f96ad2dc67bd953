//! `glm` files end to end: they can be built from ARPA files, tries and `glm` files, queries over
//! them print the same bytes as over tries, and the decoder translates with them.

use std::path::Path;
use std::process::Command;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_to_usage_error,
    run_with_input, shared_data,
};

/// Returns the command `miriam --quiet` with `arguments`.
fn miriam_quiet(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.arg("--quiet").args(arguments);
    command
}

fn path_str(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

/// The options of the layouts that are tested.
const LAYOUTS: [&[&str]; 4] = [
    &[],
    &["--node-width", "8", "--hash-orders", "0"],
    &["--node-width", "16", "--hash-orders", "2"],
    &["--node-width", "32", "--hash-orders", "99"],
];

/// Builds `model` from `from` with `arguments`.
fn build(from: &Path, model: &Path, arguments: &[&str]) {
    run(miriam_quiet(&["lm", "build", path_str(from), "-o", path_str(model)]).args(arguments));
}

#[test]
fn queries_print_the_same_as_over_tries() {
    let Some(data) = shared_data("kenlm-cases").and(shared_data("")) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let [trie, glm] = ["lm.trie", "lm.glm"].map(|name| folder.path().join(name));
    let mut cases: Vec<_> = ["o2", "o3", "o3-suffixless", "o4-prune", "o5"]
        .map(|name| (data.join(format!("kenlm-cases/{name}.arpa.gz")), "kenlm-cases/heldout.en"))
        .into();
    cases.push((data.join("m30k-de-en/lm/lm.5.en.arpa.gz"), "m30k-de-en/lm/odd.en.gz"));
    cases.push((data.join("m30k-de-en/lm/lm.5.en.arpa.gz"), "m30k-de-en/corpus/test.en.gz"));
    for (arpa, input) in cases {
        build(&arpa, &trie, &["--type", "trie"]);
        let input = data.join(input);
        let ask = |model: &Path, command: &str| {
            run(&mut miriam_quiet(&["lm", command, path_str(model), "-i", path_str(&input)]))
        };
        let expected = ["query", "perplexity"].map(|command| ask(&trie, command));
        assert!(!expected[0].is_empty());
        for layout in LAYOUTS {
            build(&arpa, &glm, &[&["--type", "glm"], layout].concat());
            run(&mut miriam_quiet(&["verify", path_str(&glm)]));
            for (command, expected) in ["query", "perplexity"].into_iter().zip(&expected) {
                assert!(ask(&glm, command) == *expected, "{command} {} {layout:?}", arpa.display());
            }
        }
    }
}

/// For every odd ARPA file, a `glm` file and a trie give the same scores, or are rejected with the
/// same message.
#[test]
fn odd_arpa_files_give_the_same_results_as_for_tries() {
    let Some(cases) = shared_data("arpa-cases") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let input = read_decompressed(&cases.join("input.txt"));
    let mut scored = 0;
    for entry in std::fs::read_dir(&cases).expect("readable") {
        let arpa = entry.expect("readable").path();
        if arpa.extension().is_none_or(|extension| extension != "arpa") {
            continue;
        }
        let outcome = |kind: &str| {
            let model = folder.path().join(kind);
            let built = miriam_quiet(&[
                "lm",
                "build",
                path_str(&arpa),
                "-o",
                path_str(&model),
                "--type",
                kind,
            ])
            .output()
            .expect("the binary starts");
            let message = lossy_text(&built.stderr);
            built
                .status
                .success()
                .then(|| {
                    run_with_input(&mut miriam_quiet(&["lm", "query", path_str(&model)]), &input)
                        .stdout
                })
                .ok_or(message)
        };
        let (trie, glm) = (outcome("trie"), outcome("glm"));
        assert!(trie == glm, "{}: {trie:?} {glm:?}", arpa.display());
        scored += usize::from(glm.is_ok());
    }
    assert!(scored > 5);
}

#[test]
fn models_round_trip_through_glm_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arpa = project_root().join("examples/toy/lm.arpa");
    let [trie, glm, again, back] =
        ["lm.trie", "lm.glm", "again.glm", "back.arpa"].map(|name| folder.path().join(name));
    build(&arpa, &trie, &["--type", "trie"]);
    let expected = run(&mut miriam_quiet(&["lm", "dump", path_str(&trie)]));
    for layout in LAYOUTS {
        build(&trie, &glm, &[&["--type", "glm"], layout].concat());
        assert!(run(&mut miriam_quiet(&["lm", "dump", path_str(&glm)])) == expected, "{layout:?}");
        std::fs::write(&back, &expected).expect("writable");
        for from in [&glm, &back, &arpa] {
            build(from, &again, &[&["--type", "glm"], layout].concat());
            assert!(read_decompressed(&again) == read_decompressed(&glm), "{layout:?}");
        }
    }
}

#[test]
fn the_decoder_translates_with_glm_files() {
    let toy = project_root().join("examples/toy");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (glm, ini) = (folder.path().join("lm.glm"), folder.path().join("moses.ini"));
    let translate = |ini: &Path| {
        let input = toy.join("input.txt");
        lossy_text(&run(&mut miriam_quiet(&[
            "translate",
            "-f",
            path_str(ini),
            "-i",
            path_str(&input),
        ])))
    };
    let expected = translate(&toy.join("moses.ini"));
    assert!(expected.contains("la casa roja es grande"));
    let original = lossy_text(&read_decompressed(&toy.join("moses.ini")));
    for layout in LAYOUTS {
        build(&toy.join("lm.arpa"), &glm, &[&["--type", "glm"], layout].concat());
        let changed = original
            .replace("path=lm.arpa", &format!("path={}", path_str(&glm)))
            .replace("path=phrase-table", &format!("path={}", path_str(&toy.join("phrase-table"))))
            .replace(
                "path=reordering-table",
                &format!("path={}", path_str(&toy.join("reordering-table"))),
            );
        assert_eq!(changed.matches("lm.glm").count(), 1);
        std::fs::write(&ini, changed).expect("writable");
        assert_eq!(translate(&ini), expected, "{layout:?}");
    }
}

#[test]
fn damage_and_wrong_options_are_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arpa = project_root().join("examples/toy/lm.arpa");
    let glm = folder.path().join("lm.glm");
    build(&arpa, &glm, &["--type", "glm"]);
    let other = folder.path().join("lm.trie");
    let from_glm = ["lm", "build", path_str(&glm), "-o", path_str(&other), "--type", "trie"];
    let message = run_to_error(&mut miriam_quiet(&from_glm));
    assert!(message.contains("lm.glm: ") && message.contains("lm dump"), "{message}");
    let mut bytes = read_decompressed(&glm);
    let middle = bytes.len() - 200;
    bytes[middle] ^= 1;
    std::fs::write(&glm, &bytes).expect("writable");
    let message = run_to_error(&mut miriam_quiet(&["verify", path_str(&glm)]));
    assert!(message.contains("lm.glm: damaged: "), "{message}");
    std::fs::write(&glm, &bytes[..5000]).expect("writable");
    let message = run_to_error(&mut miriam_quiet(&["lm", "query", path_str(&glm)]));
    assert!(message.contains("lm.glm: damaged: header"), "{message}");
    let message =
        miriam_quiet(&["lm", "build", path_str(&arpa), "-o", path_str(&glm), "--node-width", "12"])
            .output();
    assert_eq!(message.expect("the binary starts").status.code(), Some(2));
    let message = run_to_usage_error(&mut miriam_quiet(&[
        "lm",
        "build",
        path_str(&arpa),
        "-o",
        path_str(&glm),
        "--hash-orders",
        "2",
    ]));
    assert!(message.contains("--type glm"), "{message}");
}
