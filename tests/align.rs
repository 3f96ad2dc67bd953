//! `miriam align` and `miriam nmt shortlist` end to end: fast_align's links, atools'
//! symmetrisation, saved models, errors that say what to do.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{
    lossy_text, miriam, read_decompressed, run, run_to_error, run_to_usage_error, shared_data,
};

/// Returns the command `miriam align` with `arguments`.
fn align(arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.args(["--quiet", "--log-level", "warn", "align"]).args(arguments);
    command
}

fn path_str(path: &Path) -> &str {
    path.to_str().expect("test paths are text")
}

/// Writes a small parallel text; returns its folder and the paths of its two sides.
fn write_small_corpus() -> (tempfile::TempDir, PathBuf, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (source, target) = (folder.path().join("s"), folder.path().join("t"));
    std::fs::write(&source, "das haus\n\ndas buch\nein buch\n").expect("writable");
    std::fs::write(&target, "the house\nx\nthe book\na book\n").expect("writable");
    (folder, source, target)
}

/// Returns the number of common links of two files, and the number of links of each.
fn count_agreement(ours: &[u8], theirs: &[u8]) -> (usize, usize, usize) {
    let (ours, theirs) = (lossy_text(ours), lossy_text(theirs));
    assert_eq!(ours.lines().count(), theirs.lines().count());
    let (mut common, mut first, mut second) = (0, 0, 0);
    for (ours, theirs) in ours.lines().zip(theirs.lines()) {
        let ours: HashSet<&str> = ours.split(' ').collect();
        let theirs: HashSet<&str> = theirs.split(' ').collect();
        common += ours.intersection(&theirs).count();
        first += ours.len();
        second += theirs.len();
    }
    (common, first, second)
}

#[test]
fn one_direction_gives_the_links_of_fast_align() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let (source, target) = (data.join("corpus/train.de.gz"), data.join("corpus/train.en.gz"));
    for how in ["forward", "reverse"] {
        let arguments =
            ["--source", path_str(&source), "--target", path_str(&target), "--symmetrize", how];
        let ours = run(&mut align(&arguments));
        let theirs = read_decompressed(&data.join(format!("align/{how}.gz")));
        let (common, first, second) = count_agreement(&ours, &theirs);
        // All were equal on the machine where this was written; the last bits of a
        // platform's exponential may decide between equally good positions.
        let least = 0.9999;
        assert!(common as f64 >= least * first.max(second) as f64, "{how}: {common} of {second}");
    }
}

#[test]
fn recorded_links_are_symmetrized_exactly() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let (forward, reverse) = (data.join("align/forward.gz"), data.join("align/reverse.gz"));
    let joined = |how: &str| {
        run(&mut align(&[
            "--forward",
            path_str(&forward),
            "--reverse",
            path_str(&reverse),
            "--symmetrize",
            how,
        ]))
    };
    assert!(
        joined("grow-diag-final-and")
            == read_decompressed(&data.join("align/grow-diag-final-and.gz"))
    );
    assert!(joined("forward") == read_decompressed(&forward));
    assert!(joined("reverse") == read_decompressed(&reverse));
}

#[test]
fn threads_memory_and_compression_change_nothing() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let (source, target) = (data.join("corpus/dev.de.gz"), data.join("corpus/dev.en.gz"));
    let plain = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(plain.path(), read_decompressed(&source)).expect("writable");
    for model in ["ibm2", "hmm"] {
        let links = |source: &Path, more: &[&str]| {
            let mut command = align(&[
                "--source",
                path_str(source),
                "--target",
                path_str(&target),
                "--model",
                model,
            ]);
            run(command.args(more))
        };
        let expected = links(&source, &["--threads", "1"]);
        assert_eq!(expected.iter().filter(|&&b| b == b'\n').count(), 1014);
        assert!(expected == links(plain.path(), &["--threads", "3", "--memory", "1"]), "{model}");
    }
}

/// A direction that is not trained has no perplexity.
#[test]
fn only_trained_directions_have_a_perplexity() {
    let (_folder, source, target) = write_small_corpus();
    for (how, forward, reverse) in
        [("forward", true, false), ("reverse", false, true), ("union", true, true)]
    {
        let mut command = miriam();
        command.args(["align", "--source", path_str(&source), "--target", path_str(&target)]);
        let output = command.args(["--symmetrize", how]).output().expect("it starts");
        let log = lossy_text(&output.stderr);
        let shown = [log.contains(" forward"), log.contains(" reverse")];
        assert_eq!(shown, [forward, reverse], "{how}: {log}");
    }
}

#[test]
fn empty_lines_stay_empty_and_in_position() {
    let (_folder, source, target) = write_small_corpus();
    for model in ["ibm2", "hmm"] {
        let arguments =
            ["--source", path_str(&source), "--target", path_str(&target), "--model", model];
        assert_eq!(
            lossy_text(&run(&mut align(&arguments))),
            "0-0 1-1\n\n0-0 1-1\n0-0 1-1\n",
            "{model}"
        );
    }
}

#[test]
fn a_saved_model_aligns_the_text_it_was_trained_on_as_training_did() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (model, table) = (folder.path().join("model"), folder.path().join("table"));
    let (source, target) = (data.join("corpus/dev.de.gz"), data.join("corpus/dev.en.gz"));
    let files = ["--source", path_str(&source), "--target", path_str(&target)];
    for name in ["ibm2", "hmm"] {
        let more = [
            "--save-model",
            path_str(&model),
            "--lexical-table",
            path_str(&table),
            "--model",
            name,
        ];
        let trained = run(align(&files).args(more));
        let loaded = run(align(&files).args(["--load-model", path_str(&model)]));
        let (common, first, second) = count_agreement(&trained, &loaded);
        assert!(common * 1000 >= first.max(second) * 999, "{name}: {common} of {first}, {second}");
        let message = lossy_text(&run(miriam().arg("verify").arg(&model)));
        assert!(message.contains("whole: alignment"), "{message}");
        let table = lossy_text(&read_decompressed(&table));
        // Neither probability of a pair that is left out reaches 0.0001.
        let probability = |source: &str, target: &str| -> [f64; 2] {
            let start = format!("{source} {target} ");
            let line = table.lines().find_map(|line| line.strip_prefix(&start));
            let mut numbers = line.unwrap_or("0 0").split(' ');
            std::array::from_fn(|_| numbers.next().unwrap().parse().unwrap())
        };
        assert!(probability("mann", "man").iter().all(|&p| p > 0.7), "{name}");
        assert!(probability("mann", "woman").iter().all(|&p| p < 0.01), "{name}");
    }
    let other = run_to_error(align(&files).args(["--load-model", path_str(&source)]));
    assert!(other.contains("not a Miriam model"), "{other}");
}

#[test]
fn links_are_compared_with_gold_ones() {
    let (folder, source, target) = write_small_corpus();
    let (gold, links) = (folder.path().join("gold"), folder.path().join("links"));
    std::fs::write(&gold, "0-0 1-1\n\n0-0 1?1\n0-0 0-1\n").expect("writable");
    let files =
        ["--source", path_str(&source), "--target", path_str(&target), "-o", path_str(&links)];
    let message = run(align(&files).args(["--gold", path_str(&gold)]));
    // Of 6 links, 5 are possible. Of 5 sure gold links, 4 are found. AER: 1 - (4 + 5) / (6 + 5).
    let expected = "precision 0.8333  recall 0.8000  AER 0.1818\n";
    assert_eq!(lossy_text(&message), expected);
    let again = run(&mut align(&["--links", path_str(&links), "--gold", path_str(&gold)]));
    assert_eq!(lossy_text(&again), expected);
}

#[test]
fn errors_name_files_lines_and_what_to_do() {
    let (folder, source, target) = write_small_corpus();
    std::fs::write(&target, "the house\n").expect("writable");
    let message =
        run_to_error(&mut align(&["--source", path_str(&source), "--target", path_str(&target)]));
    assert!(message.contains("has 4 lines") && message.contains("has 1: "), "{message}");
    assert!(
        message.contains(path_str(&source)) && message.contains(path_str(&target)),
        "{message}"
    );
    let bad = folder.path().join("bad");
    std::fs::write(&bad, "0-0\n0-0 1:1\n").expect("writable");
    let message =
        run_to_error(&mut align(&["--forward", path_str(&bad), "--reverse", path_str(&bad)]));
    assert!(message.contains("bad, line 2, field 2: \"1:1\""), "{message}");
    let giza = "# Sentence pair (1) source length 1 target length 1 alignment score : 1\nx\n";
    std::fs::write(&bad, giza).expect("writable");
    let message =
        run_to_error(&mut align(&["--forward", path_str(&bad), "--reverse", path_str(&bad)]));
    assert!(message.contains("bad, line 1: this is the output of GIZA++"), "{message}");
    let over = run_to_error(&mut align(&[
        "--source",
        path_str(&source),
        "--target",
        path_str(&source),
        "-o",
        path_str(&source),
    ]));
    assert!(over.contains("output"), "{over}");
}

#[test]
fn wrong_usage_ends_with_status_2() {
    let wrong: &[&[&str]] = &[
        &[],
        &["--source", "a"],
        &["--forward", "a"],
        &["--source", "a", "--target", "b", "--model", "ibm9"],
        &["--source", "a", "--target", "b", "--symmetrize", "all"],
        &["--source", "a", "--target", "b", "--gold", "c"],
        &["--source", "a", "--target", "b", "--iterations", "1"],
        &["--source", "a", "--target", "b", "--hmm-iterations", "5"],
        &["--source", "a", "--target", "b", "--load-model", "c", "--model", "hmm"],
    ];
    for arguments in wrong {
        let output = align(arguments).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", lossy_text(&output.stderr));
    }
}

#[test]
fn shortlists_are_what_marian_reads() {
    let (folder, source, target) = write_small_corpus();
    let links = folder.path().join("links");
    std::fs::write(&links, "0-0 1-1\n\n0-0 1-1\n0-0 1-1\n").expect("writable");
    let mut command = miriam();
    command.args([
        "--quiet",
        "nmt",
        "shortlist",
        "--source",
        path_str(&source),
        "--target",
        path_str(&target),
    ]);
    let list = run(command.args(["--alignment", path_str(&links), "--best", "1"]));
    let expected = "the das 1.000000\nhouse haus 1.000000\nbook buch 1.000000\na ein 1.000000\n";
    assert_eq!(lossy_text(&list), expected);

    // The binary form is the same from the links and from the list.
    let list_file = folder.path().join("list");
    std::fs::write(&list_file, &list).expect("writable");
    let vocabularies = [("s.vocab", "das\nhaus\nbuch\nein"), ("t.vocab", "a\nbook\nhouse\nthe")]
        .map(|(name, words)| {
            let path = folder.path().join(name);
            std::fs::write(&path, format!("</s>\n<unk>\n{words}\n")).expect("writable");
            path
        });
    let shortlist = |arguments: &[&str]| {
        let mut command = miriam();
        command.args(["--quiet", "nmt", "shortlist", "--best", "1"]).args(arguments);
        command
    };
    let binary = |inputs: &[&str]| {
        let mut command = shortlist(&["--to", "marian-bin", "--first", "3"]);
        run(command.args(inputs).arg("--vocabs").args(&vocabularies))
    };
    let texts = ["--source", path_str(&source), "--target", path_str(&target)];
    let from_links = binary(&[&texts[..], &["--alignment", path_str(&links)]].concat());
    let listed = ["--list", path_str(&list_file)];
    assert_eq!(from_links, binary(&listed));
    let numbers: Vec<u64> = from_links[16..104]
        .as_chunks::<8>()
        .0
        .iter()
        .map(|&number| u64::from_le_bytes(number))
        .collect();
    assert_eq!(numbers, [3, 1, 7, 4, 0, 0, 0, 1, 2, 3, 4]);
    let ids: Vec<u8> = [5u32, 4, 3, 2].into_iter().flat_map(u32::to_le_bytes).collect();
    assert_eq!(from_links[104..], ids);

    let error = run_to_usage_error(&mut shortlist(&listed));
    assert!(error.contains("--to marian-bin"), "{error}");
    let error = run_to_usage_error(shortlist(&listed).args(["--to", "marian-bin"]));
    assert!(error.contains("--vocabs"), "{error}");
}

/// A missing folder for temporary files is found even if memory suffices.
#[test]
fn a_missing_temporary_folder_is_an_error() {
    let (folder, source, target) = write_small_corpus();
    let texts = ["--source", path_str(&source), "--target", path_str(&target)];
    let links = folder.path().join("links");
    let arguments = ["-o", path_str(&links), "--temp", "/no/such/folder"];
    let error = run_to_error(&mut align(&[&texts[..], &arguments].concat()));
    assert!(error.contains("/no/such/folder") && error.contains("--temp"), "{error}");
    assert!(!links.exists());
}

/// A pair that is too long on both sides is counted once, and is reported as too long, not as
/// empty.
#[test]
fn pairs_that_are_too_long_are_counted_once() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let long = "a ".repeat(1200) + "\n";
    let log = |source: &str, target: &str| {
        std::fs::write(folder.join("s"), source).unwrap();
        std::fs::write(folder.join("t"), target).unwrap();
        let mut command = miriam();
        command.args(["align", "--source", "s", "--target", "t", "-o", "links"]);
        let output = command.current_dir(folder).output().unwrap();
        assert!(output.status.success());
        lossy_text(&output.stderr)
    };
    let one = log(&long, &long);
    assert!(one.contains("1 sentence pair is not aligned"), "{one}");
    assert!(one.contains("more than 1000 words") && !one.contains("nothing to align"), "{one}");
    assert!(one.contains("1 sentence pairs, 0 of them empty"), "{one}");
    let three = log(&format!("{long}a\n{long}a b\n\n"), &format!("{long}{long}x\nx y\nx\n"));
    assert!(three.contains("3 sentence pairs are not aligned"), "{three}");
    assert!(three.contains("5 sentence pairs, 1 of them empty"), "{three}");
}
