//! Checks of the tests themselves: on a fresh machine, a test that lacks an installed program, a
//! Python package or a file outside of the repository reports that it is skipped, and no test needs
//! the network.
//!
//! This test reads the sources. `.ci/run` checks the other half: it runs the tests with a
//! `CARGO_HOME` that has only levels of optimisation, an empty home folder and, where the kernel allows, without a network.

use std::path::{Path, PathBuf};

use crate::common::project_root;

/// Programs of every Linux machine that can build Rust.
const BASIC_PROGRAMS: [&str; 5] = ["bash", "chmod", "kill", "mkfifo", "sh"];

/// Programs that a test uses if they are installed, and replaces if they are not.
const REPLACED: [(&str, &str); 1] = [("tests/references.rs", "git")];

/// Texts that show that a source needs something which a fresh machine may lack.
const OUTSIDE: [&str; 4] = ["shared/data", "MIRIAM_PY", "_PYTHON\"", "target/python-env"];

/// Calls that say why a test is skipped.
const SKIPS: [&str; 4] = ["report_skip", "skipped(", "\"skipped: ", "shared_data("];

#[test]
fn tests_say_what_they_lack() {
    let mut unsaid = Vec::new();
    for path in test_sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        if !SKIPS.iter().any(|skip| text.contains(skip)) {
            let programs = literals_after(&text, "Command::new(\"")
                .filter(|name| !BASIC_PROGRAMS.contains(name))
                .filter(|name| !REPLACED.iter().any(|(file, p)| path.ends_with(file) && p == name))
                .map(str::to_owned);
            let outside = OUTSIDE.iter().filter(|needed| code(&text).any(|l| l.contains(**needed)));
            let needed = programs.chain(outside.map(|needed| (*needed).to_owned()));
            unsaid.extend(needed.map(|needed| format!("{} needs {needed}", path.display())));
        }
    }
    assert!(unsaid.is_empty(), "print a line that the test is skipped: {unsaid:#?}");
}

#[test]
fn tests_connect_to_this_machine_only() {
    let mut distant = Vec::new();
    for path in test_sources() {
        let text = std::fs::read_to_string(&path).unwrap();
        for call in ["TcpStream::connect(\"", "UdpSocket::bind(\"", "TcpListener::bind(\""] {
            let addresses = literals_after(&text, call);
            let is_here =
                |name: &&str| ["127.0.0.1:", "[::1]:"].iter().any(|own| name.starts_with(own));
            let others = addresses.filter(|name| !is_here(name));
            distant.extend(others.map(|name| format!("{}: {name}", path.display())));
        }
    }
    assert!(distant.is_empty(), "{distant:#?}");
}

/// Returns the lines of a source that are not comments.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| !line.trim_start().starts_with("//"))
}

/// Returns the text after the first `start` of each line, up to the next quotation mark. Comments
/// are left out.
fn literals_after<'t>(text: &'t str, start: &'t str) -> impl Iterator<Item = &'t str> {
    code(text).filter_map(move |line| line.split_once(start)?.1.split('"').next())
}

/// Returns the sources of tests: files in folders `tests`, and those that have a module of tests.
fn test_sources() -> Vec<PathBuf> {
    let mut sources = Vec::new();
    let mut folders = vec![std::fs::canonicalize(project_root()).unwrap()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() {
                let is_built =
                    name.starts_with('.') || ["target", "peers", "fuzz"].contains(&&*name);
                folders.extend((!is_built).then_some(path));
            } else if name.ends_with(".rs") && name != "self_contained.rs" && is_test(&path) {
                sources.push(path);
            }
        }
    }
    assert!(sources.len() > 100, "only {} sources of tests were found", sources.len());
    sources
}

fn is_test(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
        || path.file_name().is_some_and(|name| name == "tests.rs" || name == "test_support.rs")
        || std::fs::read_to_string(path)
            .is_ok_and(|text| text.contains("#[cfg(test)]\nmod tests {"))
}
