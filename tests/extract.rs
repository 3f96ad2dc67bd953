//! `miriam extract` end to end: Moses' tables from recorded links, compression, errors
//! that say what to do, and resuming after a kill.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, run_to_usage_error,
    shared_data,
};

/// Returns the command `miriam extract` for three files and the folder `output`.
fn extract(files: [&Path; 3], output: &Path) -> Command {
    let mut command = miriam();
    command.args(["--quiet", "extract", "--source"]).arg(files[0]).arg("--target").arg(files[1]);
    command.arg("--alignment").arg(files[2]).arg("-o").arg(output);
    command
}

/// Returns the command for the small files for which Moses' results are recorded.
fn small_corpus_command(output: &Path) -> Command {
    let folder = project_root().join("extract/testdata");
    let files = ["source", "target", "links"].map(|name| folder.join(name));
    let mut command = extract(files.each_ref().map(|path| path.as_path()), output);
    command.args(["--max-length", "3"]);
    command
}

fn sort_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split(|&b| b == b'\n').collect();
    lines.sort_unstable();
    lines
}

#[test]
fn recorded_links_give_the_tables_of_moses() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = ["corpus/train.de.gz", "corpus/train.en.gz", "align/grow-diag-final-and.gz"];
    let files = files.map(|name| data.join(name));
    let files = files.each_ref().map(|path| path.as_path());
    run(extract(files, folder.path()).args(["--memory", "64M"]));
    for name in ["phrase-table.gz", "reordering-table.gz"] {
        assert!(
            read_decompressed(&folder.path().join(name)) == read_decompressed(&data.join(name)),
            "{name}"
        );
    }
    for name in ["lex.e2f", "lex.f2e"] {
        let (found, expected) = (
            read_decompressed(&folder.path().join(name)),
            read_decompressed(&data.join(name).with_extension(if name == "lex.e2f" {
                "e2f.gz"
            } else {
                "f2e.gz"
            })),
        );
        assert!(sort_lines(&found) == sort_lines(&expected), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 4, "nothing else is left");
}

#[test]
fn text_with_crlf_gives_the_same_tables() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = ["source", "target", "links"].map(|name| {
        let text = fs::read_to_string(project_root().join("extract/testdata").join(name)).unwrap();
        let path = folder.path().join(name);
        fs::write(&path, text.replace('\n', "\r\n")).unwrap();
        path
    });
    let output = folder.path().join("tables");
    let mut command = extract(files.each_ref().map(|path| path.as_path()), &output);
    run(command.args(["--max-length", "3", "--tables", "plain"]));
    let expected = read_decompressed(&project_root().join("extract/testdata/phrase-table"));
    let found = read_decompressed(&output.join("phrase-table"));
    assert_eq!(lossy_text(&found), lossy_text(&expected));
}

#[test]
fn tables_are_compressed_as_requested() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let expected = read_decompressed(&project_root().join("extract/testdata/phrase-table"));
    let reordering = read_decompressed(&project_root().join("extract/testdata/hier-mslr"));
    for (tables, extension) in [("gz", ".gz"), ("zst", ".zst"), ("plain", "")] {
        let output = folder.path().join(tables);
        let options = ["--tables", tables, "--reordering", "hier-mslr-bidirectional-fe"];
        run(small_corpus_command(&output).args(options).args(["--threads", "3", "--memory", "2K"]));
        let table = |name: &str| read_decompressed(&output.join(format!("{name}{extension}")));
        assert_eq!(lossy_text(&table("phrase-table")), lossy_text(&expected));
        assert_eq!(lossy_text(&table("reordering-table")), lossy_text(&reordering));
    }
    let output = folder.path().join("alone");
    run(small_corpus_command(&output).args(["--reordering", "none", "--smoothing", "kneser-ney"]));
    let smoothed =
        read_decompressed(&project_root().join("extract/testdata/phrase-table.kneser-ney"));
    assert_eq!(
        lossy_text(&read_decompressed(&output.join("phrase-table.gz"))),
        lossy_text(&smoothed)
    );
    assert!(!output.join("reordering-table.gz").exists());
    let output = folder.path().join("pruned");
    run(small_corpus_command(&output).args(["--significance", "a+e"]));
    let lines = |bytes: &[u8]| bytes.iter().filter(|&&b| b == b'\n').count();
    let left = lines(&read_decompressed(&output.join("phrase-table.gz")));
    assert!(0 < left && left < lines(&expected) / 2, "{left}");
}

/// Pairs below the thresholds of probabilities and counts are left out of both tables, and nothing
/// else changes.
#[test]
fn pairs_below_thresholds_are_left_out() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let testdata = project_root().join("extract/testdata");
    let scores = |line: &str| -> Vec<f32> {
        let field = line.split(" ||| ").nth(2).unwrap();
        field.split(' ').map(|score| score.parse().unwrap()).collect()
    };
    let count = |line: &str| -> u32 {
        let counts = line.split(" ||| ").nth(4).unwrap().trim_end_matches(" |||");
        counts.rsplit(' ').next().unwrap().parse().unwrap()
    };
    let keys = |table: &str| -> Vec<String> {
        let two = |line: &str| line.splitn(3, "|||").take(2).collect::<Vec<_>>().join("|||");
        table.lines().map(two).collect()
    };
    for (smoothing, recorded, inverse, direct, least) in [
        ("none", "phrase-table", "0.3", "0", 1),
        ("none", "phrase-table", "0", "0.25", 1),
        ("none", "phrase-table", "0.3", "0.25", 1),
        ("none", "phrase-table", "0", "0", 2),
        ("good-turing", "phrase-table.good-turing", "0.02", "0.03", 1),
    ] {
        let output = folder.path().join(format!("{smoothing}.{inverse}.{direct}.{least}"));
        let thresholds = format!("0:{inverse},2:{direct}");
        let mut command = small_corpus_command(&output);
        command.args(["--tables", "plain", "--smoothing", smoothing, "--min-score", &thresholds]);
        run(command.args(["--min-count", &least.to_string()]));
        let all = lossy_text(&read_decompressed(&testdata.join(recorded)));
        let [inverse, direct] = [inverse, direct].map(|text| text.parse::<f32>().unwrap());
        let is_kept = |line: &&str| {
            let scores = scores(line);
            scores[0] >= inverse && scores[2] >= direct && count(line) >= least
        };
        let expected: Vec<&str> = all.lines().filter(is_kept).collect();
        assert!(!expected.is_empty() && expected.len() < all.lines().count(), "{thresholds}");
        let found = lossy_text(&read_decompressed(&output.join("phrase-table")));
        assert_eq!(found.lines().collect::<Vec<_>>(), expected, "{thresholds}");
        let reordering = lossy_text(&read_decompressed(&output.join("reordering-table")));
        assert_eq!(keys(&reordering), keys(&found), "{thresholds}");
    }
    let mut command = small_corpus_command(folder.path());
    let error = run_to_usage_error(command.args(["--min-score", "1:0.5"]));
    assert!(error.contains("2:0.0001"), "{error}");
}

#[test]
fn tables_of_an_earlier_extraction_are_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let log = |options: &[&str]| {
        let output = small_corpus_command(folder.path()).args(options).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        lossy_text(&output.stderr)
    };
    let warnings = |log: &str| log.matches("earlier extraction").count();
    assert_eq!(warnings(&log(&[])), 0);
    assert_eq!(warnings(&log(&["--smoothing", "good-turing"])), 0);
    let found = log(&["--tables", "plain", "--reordering", "none"]);
    assert_eq!(warnings(&found), 2, "{found}");
    assert!(
        found.contains("phrase-table.gz:") && found.contains("reordering-table.gz:"),
        "{found}"
    );
}

#[test]
fn a_phrase_table_is_built_from_extracted_tables() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    run(small_corpus_command(folder.path()).args(["--tables", "zst"]));
    let table = |name: &str| folder.path().join(name).into_os_string();
    let mut build = miriam();
    build.args(["--quiet", "pt", "build", "--phrase-table"]).arg(table("phrase-table.zst"));
    build.arg("--reordering").arg(table("reordering-table.zst")).arg("-o").arg(table("binary"));
    run(&mut build);
}

#[test]
fn a_killed_extraction_resumes() {
    let Some(data) = shared_data("m30k-de-en") else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let files = ["corpus/train.de.gz", "corpus/train.en.gz", "align/grow-diag-final-and.gz"];
    let files = files.map(|name| data.join(name));
    let files = files.each_ref().map(|path| path.as_path());
    let mut killed = extract(files, folder.path());
    killed.args(["--threads", "1", "--memory", "8M", "--tables", "plain"]).stderr(Stdio::null());
    let mut child = killed.spawn().expect("it starts");
    let state = folder.path().join("extract.state");
    let begun = Instant::now();
    // The state has four lines, then one for each finished part.
    while fs::read_to_string(&state).map_or(0, |text| text.lines().count()) < 6 {
        assert!(child.try_wait().expect("it can be asked").is_none(), "it ended too early");
        assert!(begun.elapsed() < Duration::from_secs(300), "nothing gets done");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    let output =
        extract(files, folder.path()).args(["--tables", "plain"]).output().expect("it starts");
    let message = lossy_text(&output.stderr);
    assert!(output.status.success() && message.contains("resuming: "), "{message}");
    for name in ["phrase-table", "reordering-table"] {
        let expected = read_decompressed(&data.join(name).with_extension("gz"));
        assert!(read_decompressed(&folder.path().join(name)) == expected, "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 4, "nothing else is left");
}

/// A text may be divided into more parts than files may be open at once.
#[test]
fn the_limit_of_open_files_ends_no_extraction() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 24 && exec \"$@\"", "sh"]);
    let command = small_corpus_command(folder.path());
    limited.arg(command.get_program()).args(command.get_args());
    run(limited.args(["--memory", "2K", "--threads", "1", "--tables", "plain"]));
    let expected = read_decompressed(&project_root().join("extract/testdata/phrase-table"));
    let found = read_decompressed(&folder.path().join("phrase-table"));
    assert_eq!(lossy_text(&found), lossy_text(&expected));
}

#[test]
fn errors_name_the_place_and_what_to_do() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        fs::write(&path, content).expect("writable");
        path
    };
    let (two, one) = (file("two", "a b\nc\n"), file("one", "x\n"));
    let (links, bad) = (file("links", "0-0\n0-0\n"), file("bad", "0-0\n0-7\n"));
    let output = folder.path().join("output");
    let short = run_to_error(&mut extract([&two, &one, &links], &output));
    assert!(short.contains("two has 2 lines") && short.contains("one has 1:"), "{short}");
    let outside = run_to_error(&mut extract([&two, &two, &bad], &output));
    assert!(outside.contains("bad, line 2") && outside.contains("0-7"), "{outside}");
    let none = run_to_error(&mut extract([&two, &two, Path::new("/no/such/file")], &output));
    assert!(none.contains("/no/such/file"), "{none}");
}

#[test]
fn wrong_usage_ends_with_status_2() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let wrong: &[&[&str]] = &[
        &["--max-length", "0"],
        &["--max-length", "65"],
        &["--reordering", "wbe"],
        &["--reordering-smoothing", "nan"],
        &["--min-score", "0.0001"],
        &["--min-count", "some"],
        &["--shard", "1/2", "--min-count", "2"],
        &["--reordering", "none", "--reordering-smoothing", "2"],
        &["--smoothing", "some"],
        &["--significance", "b+e"],
        &["--tables", "bz2"],
        &["--memory", "much"],
    ];
    for arguments in wrong {
        let output =
            small_corpus_command(folder.path()).args(*arguments).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", lossy_text(&output.stderr));
    }
}
