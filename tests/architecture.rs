//! The layers of `docs/architecture.md`: crates depend on each other only as listed here, nothing
//! but the feature `cuda` needs `cudarc`, and tests use the crates as they were built for the
//! program.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use crate::common::{lossy_text, project_root, report_skip};

const ALLOWED_DEPENDENCIES: &[(&str, &[&str])] = &[
    ("miriam-storage", &[]),
    ("miriam-textio", &["miriam-storage"]),
    ("miriam-gpu", &[]),
    ("miriam-ptx", &[]),
    ("miriam-emulated-driver", &["miriam-ptx"]),
    ("miriam-chart", &[]),
    ("miriam-lmcpu", &["miriam-storage", "miriam-textio"]),
    ("miriam-glm", &["miriam-storage", "miriam-textio", "miriam-gpu", "miriam-lmcpu"]),
    ("miriam-probingpt", &["miriam-storage", "miriam-textio"]),
    ("miriam-textproc", &[]),
    ("miriam-metrics", &[]),
    ("miriam-combine", &["miriam-storage", "miriam-textio", "miriam-metrics"]),
    ("miriam-kernels", &["miriam-storage"]),
    ("miriam-align", &["miriam-storage", "miriam-textio"]),
    ("miriam-extract", &["miriam-storage", "miriam-textio"]),
    (
        "miriam-nmt-models",
        &["miriam-storage", "miriam-textio", "miriam-textproc", "miriam-kernels"],
    ),
    (
        "miriam-nmt-network",
        &["miriam-nmt-models", "miriam-storage", "miriam-textio", "miriam-kernels"],
    ),
    (
        "miriam-nmt-cuda",
        &["miriam-nmt-network", "miriam-nmt-models", "miriam-kernels", "miriam-gpu"],
    ),
    (
        "miriam-nmt",
        &[
            "miriam-nmt-cuda",
            "miriam-nmt-network",
            "miriam-gpu",
            "miriam-nmt-models",
            "miriam-storage",
            "miriam-textio",
            "miriam-textproc",
            "miriam-kernels",
            "miriam-lmcpu",
        ],
    ),
    (
        "miriam-rescoring",
        &[
            "miriam-combine",
            "miriam-decoder",
            "miriam-glm",
            "miriam-lmcpu",
            "miriam-nmt",
            "miriam-storage",
            "miriam-textio",
        ],
    ),
    (
        "miriam-trainer",
        &[
            "miriam-nmt",
            "miriam-kernels",
            "miriam-chart",
            "miriam-metrics",
            "miriam-textproc",
            "miriam-storage",
            "miriam-textio",
        ],
    ),
    (
        "miriam-decoder",
        &[
            "miriam-storage",
            "miriam-textio",
            "miriam-textproc",
            "miriam-metrics",
            "miriam-combine",
            "miriam-lmcpu",
            "miriam-glm",
            "miriam-probingpt",
        ],
    ),
    (
        "miriam-pipeline",
        &[
            "miriam-storage",
            "miriam-textio",
            "miriam-textproc",
            "miriam-metrics",
            "miriam-lmcpu",
            "miriam-glm",
            "miriam-probingpt",
            "miriam-align",
            "miriam-extract",
            "miriam-nmt",
            "miriam-combine",
            "miriam-decoder",
            "miriam-rescoring",
            "miriam-trainer",
        ],
    ),
    (
        "miriam-serve",
        &[
            "miriam-storage",
            "miriam-textio",
            "miriam-textproc",
            "miriam-lmcpu",
            "miriam-glm",
            "miriam-nmt",
            "miriam-decoder",
            "miriam-rescoring",
        ],
    ),
    (
        "miriam-bench",
        &[
            "miriam-storage",
            "miriam-textio",
            "miriam-chart",
            "miriam-metrics",
            "miriam-probingpt",
            "miriam-kernels",
            "miriam-lmcpu",
            "miriam-glm",
            "miriam-nmt",
            "miriam-decoder",
            "miriam-trainer",
        ],
    ),
    (
        "miriam",
        &[
            "miriam-storage",
            "miriam-textio",
            "miriam-textproc",
            "miriam-metrics",
            "miriam-lmcpu",
            "miriam-glm",
            "miriam-probingpt",
            "miriam-align",
            "miriam-extract",
            "miriam-combine",
            "miriam-rescoring",
            "miriam-nmt",
            "miriam-decoder",
            "miriam-trainer",
            "miriam-pipeline",
            "miriam-bench",
            "miriam-serve",
            "miriam-gpu",
        ],
    ),
    (
        "miriam-python",
        &[
            "miriam-storage",
            "miriam-textio",
            "miriam-textproc",
            "miriam-metrics",
            "miriam-lmcpu",
            "miriam-glm",
            "miriam-align",
            "miriam-nmt",
            "miriam-combine",
            "miriam-decoder",
            "miriam-rescoring",
            "miriam-trainer",
            "miriam-pipeline",
        ],
    ),
];

#[test]
fn crates_depend_only_as_the_layers_allow() {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(project_root())
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", lossy_text(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert_eq!(
        packages.len(),
        ALLOWED_DEPENDENCIES.len(),
        "a crate was added or removed: update the list and docs/architecture.md"
    );
    for package in packages {
        let name = package["name"].as_str().unwrap();
        let (_, allowed) = ALLOWED_DEPENDENCIES
            .iter()
            .find(|(known, _)| *known == name)
            .unwrap_or_else(|| panic!("{name} is not in the list of crates"));
        for dependency in package["dependencies"].as_array().unwrap() {
            let other = dependency["name"].as_str().unwrap();
            if dependency["kind"].is_null() && other.starts_with("miriam") {
                assert!(allowed.contains(&other), "{name} may not depend on {other}");
            }
        }
    }
}

/// `--no-default-features` leaves the feature `cuda` out everywhere.
#[test]
fn without_default_features_nothing_needs_cudarc() {
    let trees = [&["--workspace"][..], &["--workspace", "--no-default-features"]].map(cargo_tree);
    let [Some(with), Some(without)] = trees else { return };
    let names_cudarc = |tree: &str| tree.lines().any(|line| line.starts_with("cudarc "));
    assert!(names_cudarc(&with));
    assert!(!names_cudarc(&without));
}

/// Crates that only tests need do not enable features of other crates that the program does not
/// enable. Otherwise `cargo test --release --workspace` would build those crates again, and all
/// crates that depend on them.
#[test]
fn tests_build_no_crate_with_other_features_than_the_program() {
    let program = package_features(&["--package", "miriam", "--edges", "normal,build"]);
    let tests = package_features(&["--workspace", "--edges", "normal,build,dev"]);
    let (Some(program), Some(tests)) = (program, tests) else { return };
    assert_built_once(&program, &tests);
}

/// The same holds for the Python package, which `.ci/run` builds between the program and the tests.
#[test]
fn the_python_package_builds_no_crate_with_other_features_than_the_program() {
    let package = ["--package", "miriam-python", "--features", "miriam-python/extension"];
    let package = package_features(&[&package[..], &["--edges", "normal,build"]].concat());
    let program = package_features(&["--package", "miriam", "--edges", "normal,build"]);
    let (Some(package), Some(program)) = (package, program) else { return };
    assert_built_once(&package, &program);
}

/// Returns the names and versions of the packages of a tree, each with the sets of features that it
/// is built with; `None` if [`cargo_tree`] returns nothing.
fn package_features(arguments: &[&str]) -> Option<BTreeMap<String, BTreeSet<String>>> {
    let mut packages: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let tree = cargo_tree(&[arguments, &["--format", "{p} [{f}]"]].concat())?;
    for line in tree.lines().filter(|line| !line.is_empty()) {
        let line = line.trim_end_matches(" (*)");
        let (package, features) = line.rsplit_once(" [").expect("the format");
        packages.entry(package.to_owned()).or_default().insert(features.to_owned());
    }
    Some(packages)
}

fn assert_built_once(
    first: &BTreeMap<String, BTreeSet<String>>,
    second: &BTreeMap<String, BTreeSet<String>>,
) {
    let in_both =
        first.iter().filter_map(|(name, features)| Some((name, features, second.get(name)?)));
    let built_twice: Vec<_> =
        in_both.filter(|(_, features, others)| !features.is_subset(others)).collect();
    assert!(
        built_twice.is_empty(),
        "these are built twice; give them the same features, in Cargo.toml of the program or the \
         package: {built_twice:?}"
    );
}

/// Returns the dependencies that `cargo tree` lists. A test does not use the network: if a package
/// was never downloaded, prints a note and returns `None`. This happens for packages of the Python
/// package where it was never built.
fn cargo_tree(arguments: &[&str]) -> Option<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--prefix", "none", "--offline"])
        .args(arguments)
        .current_dir(project_root())
        .output()
        .expect("cargo runs");
    let errors = lossy_text(&output.stderr);
    if let Some(missing) = errors.lines().find(|line| line.contains("failed to download")) {
        report_skip(&format!("cargo tree {}: {}", arguments.join(" "), missing.trim()));
        return None;
    }
    assert!(output.status.success(), "{errors}");
    Some(lossy_text(&output.stdout))
}

/// A clock that is set while a server runs changes no deadline: the time of day is for reports
/// alone.
#[test]
fn the_server_measures_time_by_the_monotonic_clock() {
    let mut folders = vec![project_root().join("serve/src")];
    let mut readers = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read_to_string(&path).unwrap().contains("SystemTime") {
                readers.insert(path.file_name().unwrap().to_owned());
            }
        }
    }
    // These files read the time of day: for the dates of log lines, and for the time of the start.
    assert_eq!(readers, BTreeSet::from(["access_log.rs".into(), "metrics.rs".into()]));
}

/// Returns the production files of the workspace, without the folders `tests` and `benches`.
fn production_files() -> Vec<PathBuf> {
    let (mut folders, mut files) = (vec![project_root()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let is_skipped = ["target", "tests", "benches", "tests.rs"].contains(&&name[..]);
            if is_skipped || name.starts_with('.') || path.is_symlink() {
                continue;
            } else if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") {
                files.push(path);
            }
        }
    }
    files
}

/// The code that runs operators does not name them: an operator is named in its own file, in the
/// list of its folder, and in the layers that use it.
#[test]
fn an_operator_is_named_in_few_files() {
    const MAX_FILES: usize = 5;
    let texts: Vec<(PathBuf, String)> = production_files()
        .into_iter()
        .map(|path| (path.clone(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    assert!(texts.len() > 500, "only {} files found", texts.len());
    for [module, operator] in [
        ["average_attention_gate", "AverageAttentionGate"],
        ["linear_recurrence", "LinearRecurrence"],
        ["running_mean", "RunningMean"],
        ["multiplicative_state", "MultiplicativeState"],
    ] {
        let names_it = |text: &str| text.contains(module) || text.contains(operator);
        let files: Vec<&PathBuf> =
            texts.iter().filter(|(_, text)| names_it(text)).map(|(path, _)| path).collect();
        assert!((2..=MAX_FILES).contains(&files.len()), "{operator} is named in {files:?}");
    }
}
