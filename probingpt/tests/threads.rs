//! Builds on several threads end on every failure, and so do their progress stages.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use miriam_probingpt::{BuildOptions, BuildReport, Result, build_file};
use miriam_textio::Progress;

/// Returns a table of many blocks of entries whose alignment is `alignment`.
fn write_table(folder: &Path, alignment: &str) -> BuildOptions {
    let phrase_table = folder.join("table");
    let filler = "word ".repeat(14);
    let mut text = String::new();
    for i in 0..120_000 {
        text += &format!("s{i:06} ||| {filler}t ||| 0.5 0.5 0.5 0.5 ||| {alignment}\n");
    }
    std::fs::write(&phrase_table, text).unwrap();
    BuildOptions { phrase_table, threads: 2, ..BuildOptions::default() }
}

/// Returns the result of a build, `None` if it panics; fails if it does not end.
fn build_with_timeout(
    options: BuildOptions,
    output: &Path,
    progress: impl Progress + Send + 'static,
) -> Option<Result<BuildReport>> {
    let (sender, receiver) = channel();
    let output = output.to_owned();
    std::thread::spawn(move || {
        let built = catch_unwind(AssertUnwindSafe(|| build_file(&options, &output, &progress)));
        sender.send(built.ok()).unwrap();
    });
    receiver.recv_timeout(Duration::from_secs(60)).expect("the build does not end")
}

#[test]
fn a_table_without_a_valid_line_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let options = write_table(folder.path(), "x");
    let open = OpenStages::default();
    let built = build_with_timeout(options, &folder.path().join("out"), open.clone());
    let error = built.unwrap().unwrap_err();
    assert!(error.to_string().contains("table, line 1, field 4"), "{error}");
    assert_eq!(open.0.load(Ordering::Relaxed), 0);
}

/// Counts stages that have begun but not ended.
#[derive(Clone, Default)]
struct OpenStages(Arc<AtomicI32>);

impl Progress for OpenStages {
    fn begin(&self, _: &str, _: Option<u64>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    fn set_position(&self, _: u64) {}
    fn end(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

struct Panicking;

impl Progress for Panicking {
    fn begin(&self, _: &str, _: Option<u64>) {}
    fn set_position(&self, _: u64) {
        panic!("no progress");
    }
    fn end(&self) {}
}

#[test]
fn a_panic_while_reading_ends_the_workers() {
    let folder = tempfile::tempdir().unwrap();
    let options = write_table(folder.path(), "0-0");
    assert!(build_with_timeout(options, &folder.path().join("out"), Panicking).is_none());
}
