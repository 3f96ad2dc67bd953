//! `miriam mbr`: lists of both kinds of systems, estimates, compressed files, and errors by line
//! and field.

use std::collections::HashMap;
use std::fs;

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_to_usage_error,
    run_with_input,
};

/// Returns the chrF of single characters of two lines: 200 c / (a + b) for lines of a and b
/// characters, spaces not counted, that have c characters in common.
fn character_f1(a: &str, b: &str) -> f64 {
    fn counts(line: &str) -> HashMap<char, usize> {
        let mut counts = HashMap::new();
        line.chars().filter(|c| *c != ' ').for_each(|c| *counts.entry(c).or_default() += 1);
        counts
    }
    let (a, b) = (counts(a), counts(b));
    let common: usize = a.iter().map(|(c, n)| n.min(b.get(c).unwrap_or(&0))).sum();
    let total: usize = a.values().chain(b.values()).sum();
    200.0 * common as f64 / total as f64
}

/// The winners of pooled lists of a phrase-based and a neural system are those of the definition,
/// computed here with plain loops.
#[test]
fn pooled_systems_give_the_winner_by_definition() {
    let root = project_root().join("examples");
    let folder = tempfile::tempdir().unwrap();
    let [phrases, neural] =
        ["phrases.list.gz", "neural.list.zst"].map(|name| folder.path().join(name));
    let input = root.join("toy/input.txt");
    let mut command = miriam();
    command.args(["translate", "-f"]).arg(root.join("toy/moses.ini")).arg("-i").arg(&input);
    run(command.arg("-n-best-list").arg(&phrases).args(["8", "distinct"]));
    let mut command = miriam();
    command.args(["nmt", "translate", "-b", "6", "--n-best", "-m"]).arg(root.join("toy-neural"));
    run(command.arg("-i").arg(&input).arg("-o").arg(&neural));
    let lists = [&phrases, &neural].map(|path| {
        let mut lists: Vec<Vec<(String, f64)>> = Vec::new();
        for line in lossy_text(&read_decompressed(path)).lines() {
            let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
            lists.resize(fields[0].parse::<usize>().unwrap() + 1, Vec::new());
            let total: f64 = fields[fields.len() - 1].parse().unwrap();
            lists.last_mut().unwrap().push((fields[1].to_owned(), total));
        }
        lists
    });
    let mut command = miriam();
    command.args([
        "mbr",
        "--chrf-char-order",
        "1",
        "--chrf-beta",
        "1",
        "--scale",
        "0.5",
        "--n-best",
    ]);
    let output = lossy_text(&run(command.args([&phrases, &neural])));
    let mut not_first = 0;
    for (sentence, line) in output.lines().enumerate() {
        let mut candidates: Vec<(&str, f64)> = Vec::new();
        for list in lists.iter().map(|lists| &lists[sentence]) {
            let sum: f64 = list.iter().map(|(_, total)| (0.5 * total).exp()).sum();
            candidates.extend(list.iter().map(|(text, t)| (&text[..], (0.5 * t).exp() / sum)));
        }
        let expected = |text: &str| -> f64 {
            candidates.iter().map(|(other, weight)| weight * character_f1(text, other)).sum()
        };
        let best = candidates.iter().map(|(text, _)| expected(text)).fold(0.0, f64::max);
        assert!((expected(line) - best).abs() < 1e-9, "sentence {sentence}: {line}");
        not_first += usize::from(line != lists[0][sentence][0].0);
    }
    assert_eq!(output.lines().count(), lists[0].len());
    assert!(not_first > 0, "the lists decide nothing");
}

const LIST: &str = "0 ||| a b c d ||| F0= 0 ||| 0\n0 ||| a b c e ||| F0= 0 ||| 0\n\
                    0 ||| x y ||| F0= 0 ||| 0\n1 ||| g ||| F0= 0 ||| 0\n";

#[test]
fn every_utility_and_estimate_writes_a_line_a_sentence() {
    // A reference of two words would have a TER of 200.
    let list = LIST.replace("x y", "v w x y");
    for utility in ["chrf", "bleu", "ter"] {
        for estimate in ["exact", "aggregate", "coarse-to-fine"] {
            let mut command = miriam();
            command.args(["mbr", "--utility", utility, "--estimate", estimate]);
            if estimate == "coarse-to-fine" {
                command.args(["--keep", "2"]);
            }
            let output = run_with_input(command.arg("--show-loss"), list.as_bytes());
            assert_eq!(lossy_text(&output.stdout), "a b c d\ng\n", "{utility} {estimate}");
            let log = lossy_text(&output.stderr);
            assert!(log.contains("2 sentences, 4 entries, 4 different translations"), "{log}");
            assert!(log.contains("0 choices worse than the exact ones, by 0.0000 points"), "{log}");
        }
    }
}

#[test]
fn lists_are_written_in_the_order_of_risk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ranked.gz");
    let mut command = miriam();
    command.args(["mbr", "--write-lists", "--utility", "ter", "-o"]).arg(&path);
    run_with_input(&mut command, LIST.as_bytes());
    let text = lossy_text(&read_decompressed(&path));
    // TER of the first: 0, 1/4 and 4/2, so (0 + 25 + 200) / 3; of the third 100, 100 and 0.
    let expected = "0 ||| x y ||| MBR= -66.6667 ||| -66.6667\n0 ||| a b c d ||| MBR= -75 ||| -75\n\
                    0 ||| a b c e ||| MBR= -75 ||| -75\n1 ||| g ||| MBR= 0 ||| 0\n";
    assert_eq!(text.replace("-0 ", "0 ").replace("-0\n", "0\n"), expected);
    // The output is an n-best list that can be read again.
    let again = lossy_text(&run(miriam().args(["mbr", "-i"]).arg(&path)));
    assert_eq!(again.lines().count(), 2);
}

#[test]
fn lists_that_do_not_fit_are_rejected_by_line_and_field() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let whole = path("whole", LIST);
    for (name, text, message) in [
        ("short", "0 ||| a ||| F0= 0 ||| 0\n", "line 4, field 1: sentence 1 is not in"),
        (
            "gap",
            "0 ||| a ||| F0= 0 ||| 0\n2 ||| a ||| F0= 0 ||| 0\n",
            "line 2, field 1: expected sentence 1, found 2",
        ),
        ("number", "a b\n", "line 1, field 2: expected an entry of an n-best list"),
        ("name", "x ||| a ||| F0= 0 ||| 0\n", "line 1, field 1: expected an entry"),
        (
            "total",
            "0 ||| a ||| F0= 0 ||| x\n1 ||| b ||| F0= 0 ||| 0\n",
            "line 1, field 4: expected the total",
        ),
    ] {
        let other = path(name, text);
        let error = run_to_error(miriam().args(["mbr", "-i"]).args([&whole, &other]));
        assert!(error.contains(message), "{name}: {error}");
    }
    let error =
        run_to_usage_error(miriam().args(["mbr", "--list-weights", "1,2", "-i"]).arg(&whole));
    assert!(error.contains("2 weights of lists for 1 list"), "{error}");
    let error = run_to_usage_error(miriam().args(["mbr", "--keep", "0", "-i"]).arg(&whole));
    assert!(error.contains("--keep"), "{error}");
    let error = run_to_usage_error(miriam().args(["mbr", "--scale", "-1", "-i"]).arg(&whole));
    assert!(error.contains("--scale"), "{error}");
    for (options, needed) in [
        (&["--keep", "20"][..], "--keep needs --estimate coarse-to-fine"),
        (&["--weights", "uniform", "--scale", "0.1"], "--scale needs --weights posterior"),
        (&["--tokenize", "none"], "--tokenize needs --utility bleu"),
        (
            &["--utility", "bleu", "--chrf-word-order", "2"],
            "--chrf-word-order needs --utility chrf",
        ),
        (&["--utility", "bleu", "--ter-no-punct"], "--ter-no-punct needs --utility ter"),
        (&["--utility", "ter", "-s", "floor"], "--smooth-method needs --utility bleu"),
    ] {
        let error = run_to_usage_error(miriam().arg("mbr").args(options).arg("-i").arg(&whole));
        assert!(error.contains(needed), "{error}");
    }
    assert_eq!(fs::read_to_string(&whole).unwrap(), LIST);
}
