//! n-best lists and everything else that `miriam translate` writes beside the
//! translation: against Moses2's recorded lists on a real system, and in form on
//! the toy one.

mod common;

use std::fs;
use std::path::{Path, PathBuf};

use common::{complaint, feed, miriam, project, read, run, shared_data, text};

/// A line of an n-best list: words, values and total as printed.
type Entry = (String, Vec<String>, String);

/// The lists in `bytes`, one a sentence.
fn lists(bytes: &[u8]) -> Vec<Vec<Entry>> {
    let mut lists: Vec<Vec<Entry>> = Vec::new();
    for line in text(bytes).lines() {
        let columns: Vec<&str> = line.split(" ||| ").collect();
        let &[id, words, values, total] = &columns[..] else { panic!("four columns: {line}") };
        let id: usize = id.parse().unwrap();
        if id == lists.len() {
            lists.push(Vec::new());
        }
        assert_eq!(id + 1, lists.len(), "{line}");
        // Moses' binary tables hold 1e-10 where ours hold 0, the logarithm of one.
        let value = |v: &str| if v.ends_with("e-10") { "0".into() } else { v.to_owned() };
        let values = values.split(' ').map(value).collect();
        lists[id].push((words.to_owned(), values, total.to_owned()));
    }
    lists
}

/// What differs between two lists of a sentence. Totals must be the same, one by
/// one; entries of equal printed totals are compared as sets, because Moses2's
/// order among them follows memory addresses. Of the last of these sets the lists
/// may hold different parts.
fn difference(ours: &[Entry], theirs: &[Entry]) -> Option<String> {
    if ours.len() != theirs.len() {
        return Some(format!("{} entries against {}", ours.len(), theirs.len()));
    }
    if let Some((a, b)) = ours.iter().zip(theirs).find(|(a, b)| a.2 != b.2) {
        return Some(format!("ours   {a:?}\ntheirs {b:?}"));
    }
    let last = &ours.last()?.2;
    let sorted = |list: &[Entry]| {
        let mut entries: Vec<Entry> = list.iter().filter(|e| e.2 != *last).cloned().collect();
        entries.sort();
        entries
    };
    let (ours, theirs) = (sorted(ours), sorted(theirs));
    let (a, b) = ours.iter().zip(&theirs).find(|(a, b)| a != b)?;
    Some(format!("sets differ\nours   {a:?}\ntheirs {b:?}"))
}

fn m30k_lists(weights: &str, distinct: &str) {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list.gz");
    let suffix = if weights == "tuned" { ".tuned" } else { "" };
    let best = run(miriam()
        .args(["translate", "-f"])
        .arg(data.join(format!("text{suffix}.ini")))
        .arg("-i")
        .arg(data.join("corpus/test.de.gz"))
        .args("-search-algorithm 1 -cube-pruning-pop-limit 400 -s 400 -threads 2".split(' '))
        .arg("-n-best-list")
        .arg(&list)
        .args(format!("100 {distinct}").split_whitespace()));
    let oracle = data.join("oracle");
    let expected = read(&oracle.join(format!("test.{weights}.1best.gz")));
    assert!(best == expected, "{weights}: the best translations");
    let suffix = if distinct.is_empty() { "" } else { "-distinct" };
    let theirs = lists(&read(&oracle.join(format!("test.{weights}.nbest100{suffix}.gz"))));
    let ours = lists(&read(&list));
    assert_eq!(ours.len(), theirs.len());
    let differing: Vec<String> = ours
        .iter()
        .zip(&theirs)
        .enumerate()
        .filter_map(|(i, (a, b))| difference(a, b).map(|d| format!("sentence {i}: {d}")))
        .collect();
    assert!(
        differing.is_empty(),
        "{weights} {distinct}: {} of {} lists differ\n{}",
        differing.len(),
        ours.len(),
        differing.join("\n")
    );
}

#[test]
fn moses2s_lists_with_default_weights() {
    m30k_lists("default", "");
}

#[test]
fn moses2s_lists_with_tuned_weights() {
    m30k_lists("tuned", "");
}

#[test]
fn moses2s_distinct_lists() {
    m30k_lists("default", "distinct");
    m30k_lists("tuned", "distinct");
}
