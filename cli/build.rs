//! Build script that gives the compiler what `miriam --version` prints: the version of the
//! package, the commit and the features.
//!
//! The commit comes from the variable `MIRIAM_COMMIT`, for packages that are built from an archive,
//! or else from the checkout. Without either, no commit is printed.

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=MIRIAM_COMMIT");
    let commit = std::env::var("MIRIAM_COMMIT").ok().or_else(|| {
        // The log of HEAD changes with every commit.
        let log = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
        if Path::new(&log).exists() {
            println!("cargo::rerun-if-changed={log}");
        }
        git(&["rev-parse", "--short=12", "HEAD"])
    });
    let version = std::env::var("CARGO_PKG_VERSION").expect("cargo sets it");
    let features = [("cuda", "CARGO_FEATURE_CUDA"), ("serve", "CARGO_FEATURE_SERVE")];
    let features = features.into_iter().filter(|(_, name)| std::env::var_os(name).is_some());
    let mut details: Vec<String> =
        commit.map(|commit| format!("commit {commit}")).into_iter().collect();
    details.extend(features.map(|(name, _)| name.to_owned()));
    let details =
        if details.is_empty() { String::new() } else { format!(" ({})", details.join(", ")) };
    println!("cargo::rustc-env=MIRIAM_VERSION={version}{details}");
}

/// Returns the output of git; `None` without git or a checkout.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
