//! `miriam pt` end to end.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{
    lossy_text, miriam, project_root, read_decompressed, run, run_to_error, shared_data, untar,
};

const TABLE: &str = "\
! ||| ! ||| 1 0.9 1 0.8 ||| 0-0 ||| 3 3 3 ||| |||
das haus ||| house ||| 0.5 0.1 0.25 0.2 ||| 1-0 ||| 2 4 1 ||| |||
das haus ||| the house ||| 0.5 0.4 0.75 0.2 ||| 0-0 1-1 ||| 6 4 3 ||| ||| {{Tree [NP]}}
haus ||| house ||| 1 0.7 1 0.6 ||| 0-0 ||| 5 5 5 ||| |||
";
const REORDERING: &str = "\
! ||| ! ||| 0.6 0.2 0.2 0.6 0.2 0.2
das haus ||| the house ||| 0.5 0.25 0.25 0.125 0.125 0.75
haus ||| haus ||| 0.5 0.25 0.25 0.125 0.125 0.75
haus ||| house ||| 1 0 0 0.125 0.125 0.75
";

/// Writes `TABLE` and `REORDERING` to a new folder.
fn write_small_table() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("table"), TABLE).unwrap();
    fs::write(folder.path().join("reordering"), REORDERING).unwrap();
    folder
}

fn build(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.current_dir(folder).args(["pt", "build"]).args(arguments);
    command
}

fn build_both(folder: &Path, output: &str) -> Command {
    build(folder, &["--phrase-table", "table", "--reordering", "reordering", "-o", output])
}

fn pt(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.current_dir(folder).arg("pt").args(arguments).stdin(Stdio::null());
    command
}

fn sort_lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&b| b == b'\n').collect();
    lines.sort();
    lines
}

#[test]
fn a_small_table_round_trips() {
    let folder = write_small_table();
    let folder = folder.path();
    let output = build_both(folder, "t.pt").output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty());
    let summary = lossy_text(&output.stderr);
    for part in ["4 phrase pairs", "3 sources", "1 without", "1 of the reordering table"] {
        assert!(summary.contains(part), "{summary}");
    }
    let output = build_both(folder, "t.pt").args(["--log-level", "off"]).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", lossy_text(&output.stderr));
    let dump = run(&mut pt(folder, &["dump", "t.pt", "--reordering", "r"]));
    assert_eq!(lossy_text(&sort_lines(&dump).concat()), TABLE);
    let expected = REORDERING.replace("haus ||| haus ||| 0.5 0.25 0.25 0.125 0.125 0.75\n", "");
    assert_eq!(
        lossy_text(&sort_lines(&fs::read(folder.join("r")).unwrap()).concat()),
        expected.replace("||| 1 0 0 ", "||| 1 3.7200760e-44 3.7200760e-44 ")
    );
    fs::write(folder.join("q"), "das haus\nkatze\n  haus \n\n").unwrap();
    assert_eq!(
        lossy_text(&run(&mut pt(folder, &["query", "t.pt", "-i", "q", "--reordering"]))),
        "das haus ||| house ||| 0.5 0.1 0.25 0.2 ||| 1-0 ||| \n\
         das haus ||| the house ||| 0.5 0.4 0.75 0.2 ||| 0-0 1-1 ||| 0.5 0.25 0.25 0.125 0.125 0.75\n\
         \n\
         \n\
         haus ||| house ||| 1 0.7 1 0.6 ||| 0-0 ||| 1 3.7200760e-44 3.7200760e-44 0.125 0.125 0.75\n\
         \n\
         \n"
    );
    run(pt(folder, &["query", "t.pt", "-i", "q", "-o", "answers.gz"]).arg("--threads=1"));
    assert!(
        lossy_text(&read_decompressed(&folder.join("answers.gz")))
            .starts_with("das haus ||| house ||| 0.5 0.1")
    );
    run(miriam().current_dir(folder).args(["verify", "t.pt"]));
    let information = lossy_text(&run(&mut pt(folder, &["info", "t.pt", "--json"])));
    for part in ["\"entries\":4", "\"sources\":3", "\"records\":", "\"reordering_scores\":6"] {
        assert!(information.contains(part), "{information}");
    }
    assert!(lossy_text(&run(&mut pt(folder, &["info", "t.pt"]))).contains("records"));
}

#[test]
fn every_help_has_an_example() {
    for command in ["build", "query", "dump", "info"] {
        let help = lossy_text(&run(miriam().args(["pt", command, "--help"])));
        assert!(help.contains("Example: "), "{help}");
    }
}

#[test]
fn unsorted_input_is_an_error_that_sort_resolves() {
    let folder = write_small_table();
    let folder = folder.path();
    run(&mut build_both(folder, "sorted.pt"));
    let mut lines: Vec<_> = TABLE.lines().collect();
    lines.swap(0, 2);
    fs::write(folder.join("mixed"), lines.join("\n") + "\n").unwrap();
    let with = |table: &str, reordering: &str, more: &[&str]| {
        let mut command =
            build(folder, &["--phrase-table", table, "--reordering", reordering, "-o", "o.pt"]);
        command.args(more);
        command
    };
    let message = run_to_error(&mut with("mixed", "reordering", &[]));
    assert!(message.contains("mixed, line 2") && message.contains("--sort"), "{message}");
    assert!(!folder.join("o.pt").exists());
    let mut lines: Vec<_> = REORDERING.lines().collect();
    lines.swap(0, 3);
    fs::write(folder.join("mixed-reordering"), lines.join("\n") + "\n").unwrap();
    let message = run_to_error(&mut with("table", "mixed-reordering", &[]));
    assert!(message.contains("mixed-reordering, line 2"), "{message}");
    for memory in ["1", "1G"] {
        run(&mut with("mixed", "mixed-reordering", &["--sort", "--memory", memory]));
        let same =
            fs::read(folder.join("o.pt")).unwrap() == fs::read(folder.join("sorted.pt")).unwrap();
        assert!(same, "--memory {memory}");
    }
    // Without a reordering table it is enough that lines of one source are adjacent.
    let lines: Vec<_> = TABLE.lines().rev().collect();
    fs::write(folder.join("backwards"), lines.join("\n")).unwrap();
    run(&mut build(folder, &["--phrase-table", "backwards", "-o", "o.pt"]));
}

#[test]
fn scattered_sources_are_an_error_without_sort() {
    let folder = write_small_table();
    let folder = folder.path();
    let mut lines: Vec<_> = TABLE.lines().collect();
    lines.swap(2, 3);
    fs::write(folder.join("scattered"), lines.join("\n")).unwrap();
    for threads in ["1", "2"] {
        let arguments = ["--phrase-table", "scattered", "-o", "o.pt", "--threads", threads];
        let message = run_to_error(&mut build(folder, &arguments));
        assert!(message.contains("scattered, line 4, field 1"), "{message}");
    }
}

#[test]
fn bad_lines_are_named() {
    let folder = write_small_table();
    let folder = folder.path();
    let good = "a ||| b ||| 0.5 0.5 ||| 0-0";
    for (bad, place) in [
        ("c", "line 2: "),
        ("c ||| d", "line 2: "),
        ("c ||| d ||| 0.5", "line 2, field 3: 1 scores"),
        ("c ||| d ||| 0.5 0.5 0.5", "line 2, field 3: 3 scores"),
        ("c ||| d ||| 0.5 x", "line 2, field 3: score 2: x is not"),
        ("c ||| d ||| -0.5 1", "line 2, field 3: score 1: -0.5 is a negative"),
        ("c ||| d ||| nan 1", "line 2, field 3: score 1"),
        ("c ||| d ||| 0.5 0.5 ||| 0_0", "line 2, field 4: "),
        ("c ||| d ||| 0.5 0.5 ||| 0-1", "line 2, field 4: "),
        (" ||| d ||| 0.5 0.5 ||| ", "line 2, field 1: no source word"),
        ("c ||| d ||| 0.5 \0", "line 2, field 3: score 2: \\x00"),
    ] {
        fs::write(folder.join("bad"), format!("{good}\n{bad}\n")).unwrap();
        for threads in ["1", "2"] {
            let arguments = ["--phrase-table", "bad", "-o", "o.pt", "--threads", threads];
            let message = run_to_error(&mut build(folder, &arguments));
            assert!(message.contains(&format!("bad, {place}")), "{bad:?}: {message}");
        }
    }
    fs::write(folder.join("bad"), REORDERING.replace("0.2 0.2\n", "0.2\n")).unwrap();
    let arguments = ["--phrase-table", "table", "--reordering", "bad", "-o", "o.pt"];
    let message = run_to_error(&mut build(folder, &arguments));
    assert!(message.contains("bad, line 2, field 3"), "{message}");
    let message = run_to_error(&mut build(
        folder,
        &["--phrase-table", "table", "-o", "o.pt", "--num-scores", "5"],
    ));
    // The message does not name the option: the decoder gives the same error for its text tables,
    // and it has no `--num-scores`.
    let expected = "line 1, field 3: expected 5 scores, found 4";
    assert!(message.contains(expected), "{message}");
    fs::write(folder.join("bad"), "").unwrap();
    assert!(
        run_to_error(&mut build(folder, &["--phrase-table", "bad", "-o", "o.pt"]))
            .contains("no phrase pair")
    );
    assert!(!folder.join("o.pt").exists());
}

#[test]
fn prune_keeps_the_best() {
    let folder = write_small_table();
    let folder = folder.path();
    run(&mut build(folder, &["--phrase-table", "table", "-o", "o.pt", "--prune", "1"]));
    let dump = lossy_text(&run(&mut pt(folder, &["dump", "o.pt"])));
    assert_eq!(dump.lines().count(), 3);
    assert!(dump.contains("the house") && !dump.contains("das haus ||| house"), "{dump}");
    let status = build(folder, &["--phrase-table", "table", "-o", "o.pt", "--prune", "0"]).output();
    assert_eq!(status.unwrap().status.code(), Some(2));
}

/// Moses' CreateProbingPT made the ProbingPT directory from `probingpt/testdata/moses/text`.
#[test]
fn tables_of_moses_are_queried_dumped_and_described() {
    let data = project_root().join("probingpt/testdata/moses");
    let directory = data.join("logarithms");
    let original = read_decompressed(&data.join("text"));
    let original: Vec<Vec<&[u8]>> =
        original.split(|&b| b == b'\n').filter(|line| !line.is_empty()).map(fields).collect();
    let asked = "das\ndas haus\nhaus das\n";
    let query = |options: &[&str]| {
        let mut command = miriam();
        command.args(["pt", "query"]).arg(&directory).args(options);
        lossy_text(&crate::common::run_with_input(&mut command, asked.as_bytes()).stdout)
    };
    let answers = query(&["--reordering"]);
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), 2 + 1 + 1 + 1 + 1, "two entries, one, none, each with its end");
    assert!(answers[2].is_empty() && answers[4].is_empty() && answers[5].is_empty());
    for (answer, entry) in [(answers[0], 1), (answers[1], 2), (answers[3], 4)] {
        let (answer, entry) = (fields(answer.as_bytes()), &original[entry]);
        assert_eq!(answer[..4], entry[..4]);
        let property = lossy_text(entry[6]);
        assert!(property.contains(&lossy_text(answer[4])), "{property}");
    }
    // The dump has all sources except the first, which Moses leaves out of its cache.
    let output = miriam().args(["pt", "dump"]).arg(&directory).output().unwrap();
    assert!(output.status.success());
    let warning = lossy_text(&output.stderr);
    assert!(
        warning.contains("a source phrase is omitted") && warning.contains("pt query"),
        "{warning}"
    );
    let dumped = sort_lines(&output.stdout);
    let wanted: Vec<_> = original[1..].iter().map(|entry| &entry[..2]).collect();
    let mut pairs: Vec<_> = dumped.iter().map(|line| fields(line)[..2].to_vec()).collect();
    pairs.sort();
    let mut sorted_wanted = wanted.clone();
    sorted_wanted.sort();
    assert_eq!(pairs, sorted_wanted);
    let info = run(miriam().args(["pt", "info", "--json"]).arg(&directory));
    let info: serde_json::Value = serde_json::from_slice(&info).unwrap();
    let number = |name: &str| info[name].as_u64().unwrap();
    assert_eq!((number("entries"), number("sources")), (original.len() as u64, 8));
    assert_eq!((number("scores"), number("reordering_scores")), (4, 6));
    assert_eq!(info["sections"]["config"].as_u64(), Some(71));
    let lowest = info["score_columns"][3]["lowest"].as_f64();
    assert_eq!(lowest, Some(-100.0), "p = 0");
    let verified = lossy_text(&run(miriam().arg("verify").arg(&directory)));
    assert!(verified.contains("readable") && verified.contains("10 entries"), "{verified}");
}

#[test]
fn any_bytes_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let lines: [&[u8]; 3] = [
        b"a\0b ||| \0 ||| 0.5 ||| 0-0",
        b"caf\xe9 ||| \xff\xfe ||| 0.25 ||| 0-0",
        b"x|y z||w ||| p|q ||| 0.125 ||| 0-0",
    ];
    let unix = [lines.join(&b"\n"[..]), b"\n".to_vec()].concat();
    let dos = [lines.join(&b"\r\n"[..]), b"\r\n".to_vec()].concat();
    fs::write(folder.join("unix"), &unix).unwrap();
    fs::write(folder.join("dos"), &dos).unwrap();
    for name in ["unix", "dos"] {
        let output = format!("{name}.pt");
        run(&mut build(folder, &["--phrase-table", name, "-o", &output]));
        let dump = run(&mut pt(folder, &["dump", &output]));
        assert_eq!(sort_lines(&dump).concat(), unix, "{name}");
    }
}

#[test]
fn compressed_tables_give_the_same_file() {
    use std::io::Write;
    let folder = write_small_table();
    let folder = folder.path();
    run(&mut build_both(folder, "plain.pt"));
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), Default::default());
    gz.write_all(TABLE.as_bytes()).unwrap();
    fs::write(folder.join("table"), gz.finish().unwrap()).unwrap();
    fs::write(folder.join("reordering"), zstd::encode_all(REORDERING.as_bytes(), 1).unwrap())
        .unwrap();
    for threads in ["1", "2"] {
        run(build_both(folder, "compressed.pt").args(["--threads", threads]));
        assert!(
            fs::read(folder.join("compressed.pt")).unwrap()
                == fs::read(folder.join("plain.pt")).unwrap()
        );
    }
    let table = fs::read(folder.join("table")).unwrap();
    fs::write(folder.join("table"), &table[..table.len() - 9]).unwrap();
    let message = run_to_error(&mut build_both(folder, "cut.pt"));
    assert!(message.contains("table: cannot read"), "{message}");
}

#[test]
fn files_that_cannot_be_read_or_written() {
    let folder = write_small_table();
    let folder = folder.path();
    let message = run_to_error(&mut build(folder, &["--phrase-table", "absent", "-o", "o.pt"]));
    assert!(message.contains("absent: cannot open"), "{message}");
    let message = run_to_error(&mut build(folder, &["--phrase-table", ".", "-o", "o.pt"]));
    assert!(message.contains("directory"), "{message}");
    let message = run_to_error(&mut build(folder, &["--phrase-table", "table", "-o", "."]));
    assert!(message.contains("not a regular file"), "{message}");
    let message =
        run_to_error(&mut build(folder, &["--phrase-table", "table", "-o", "no/such/o.pt"]));
    assert!(message.contains("no/such/o.pt"), "{message}");
    for command in ["query", "dump", "info"] {
        assert!(run_to_error(&mut pt(folder, &[command, "absent"])).contains("absent"));
        assert!(run_to_error(&mut pt(folder, &[command, "."])).contains("not a regular file"));
        let message = run_to_error(&mut pt(folder, &[command, "table"]));
        assert!(message.contains("a text table") && message.contains("pt build"), "{message}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = folder.join("table");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
        if fs::File::open(&path).is_ok() {
            crate::common::report_skip("this user reads unreadable files");
        } else {
            assert!(run_to_error(&mut build_both(folder, "o.pt")).contains("table: cannot open"));
        }
    }
    assert!(!folder.join("o.pt").exists());
}

/// Writes a table that is too large for the limit on file sizes in the test below.
fn write_large_table(folder: &Path) {
    let mut table = String::new();
    for i in 0..60_000 {
        table += &format!("s{i:06} ||| t{i} u{} ||| 0.{} 0.5 ||| 0-0 0-1\n", i * 7, i + 1);
    }
    fs::write(folder.join("table"), table).unwrap();
}

#[test]
#[cfg(unix)]
fn a_full_disk_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_large_table(folder);
    fs::write(folder.join("o.pt"), "old").unwrap();
    // Without a memory limit the table itself is too large; with one, a temporary file is.
    for (memory, failure) in [
        ("", "miriam: o.pt: cannot write: File too large"),
        (
            "--memory 1000",
            "miriam: .: cannot write a temporary file in this folder: File too large",
        ),
    ] {
        let script = format!(
            "trap '' XFSZ; ulimit -f 100; exec '{}' pt build --phrase-table table -o o.pt {memory}",
            env!("CARGO_BIN_EXE_miriam")
        );
        let message = run_to_error(Command::new("sh").current_dir(folder).args(["-c", &script]));
        assert!(message.starts_with(failure), "{message}");
        assert_eq!(fs::read(folder.join("o.pt")).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder).unwrap().count(), 2, "temporary files are gone");
    }
    // The failures come from the limit: without it, the same command replaces the file.
    run(&mut build(folder, &["--phrase-table", "table", "-o", "o.pt"]));
    assert_ne!(fs::read(folder.join("o.pt")).unwrap(), b"old");
}

#[test]
#[cfg(unix)]
fn a_killed_build_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("o.pt"), "old").unwrap();
    let made = Command::new("mkfifo").arg(folder.join("pipe")).status();
    assert!(made.is_ok_and(|s| s.success()));
    let mut child = build(folder, &["--phrase-table", "pipe", "-o", "o.pt"]).spawn().unwrap();
    // The build creates its temporary file before it opens the pipe, which waits for a writer.
    let pipe = fs::OpenOptions::new().write(true).open(folder.join("pipe")).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    drop(pipe);
    assert_eq!(fs::read(folder.join("o.pt")).unwrap(), b"old");
}

// The tests below build the table of Multi30k. They compare it with its text, and with the
// directory that Moses' CreateProbingPT made from this text.

struct Multi30k {
    data: PathBuf,
    folder: tempfile::TempDir,
}

impl Multi30k {
    fn build(more: &[&str]) -> Option<Self> {
        let data = shared_data("m30k-de-en")?;
        let folder = tempfile::tempdir().unwrap();
        let mut command = build(folder.path(), &["-o", "m30k.pt", "--phrase-table"]);
        command.arg(data.join("phrase-table.gz"));
        command.arg("--reordering").arg(data.join("reordering-table.gz")).args(more);
        run(&mut command);
        Some(Multi30k { data, folder })
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("m30k.pt")
    }
}

fn fields(line: &[u8]) -> Vec<&[u8]> {
    miriam_textio::fields::split_fields(line).collect()
}

/// Whether the numbers of two rows differ by at most 4e-6, relatively. Wanted numbers below e^-100
/// count as e^-100.
fn is_close(found: &[u8], wanted: &[u8]) -> bool {
    fn numbers(field: &[u8]) -> impl Iterator<Item = f64> {
        let text = std::str::from_utf8(field).unwrap();
        text.split_ascii_whitespace().map(|number| number.parse().unwrap())
    }
    let least = (-100f64).exp();
    numbers(found).count() == numbers(wanted).count()
        && numbers(found).zip(numbers(wanted)).all(|(f, w)| {
            let w = w.max(least);
            (f - w).abs() <= 4e-6 * w
        })
}

fn check_dump(dumped: &[u8], original: &[u8]) {
    let (dumped, original) = (sort_lines(dumped), sort_lines(original));
    assert_eq!(dumped.len(), original.len());
    for (found, wanted) in dumped.iter().zip(&original) {
        let (found, wanted) = (fields(found), fields(wanted));
        let same = found.len() == wanted.len()
            && (0..wanted.len()).all(|k| k == 2 || found[k] == wanted[k])
            && is_close(found[2], wanted[2]);
        assert!(
            same,
            "{:?} {:?}",
            found.iter().map(|f| lossy_text(f)).collect::<Vec<_>>(),
            lossy_text(&wanted.join(&b"|"[..]))
        );
    }
}

#[test]
fn multi30k_is_small_and_dumps_as_its_text() {
    let Some(m30k) = Multi30k::build(&["--threads", "2"]) else { return };
    let size = fs::metadata(m30k.file()).unwrap().len();
    assert!(size <= 26_000_000, "{size} bytes");
    let folder = m30k.folder.path();
    let dump = run(&mut pt(folder, &["dump", "m30k.pt", "--reordering", "r.gz"]));
    check_dump(&dump, &read_decompressed(&m30k.data.join("phrase-table.gz")));
    check_dump(
        &read_decompressed(&folder.join("r.gz")),
        &read_decompressed(&m30k.data.join("reordering-table.gz")),
    );
    run(miriam().current_dir(folder).args(["verify", "m30k.pt"]));
}

#[test]
fn multi30k_answers_queries_as_its_text() {
    let Some(m30k) = Multi30k::build(&["--threads", "1"]) else { return };
    let folder = m30k.folder.path();
    let table = read_decompressed(&m30k.data.join("phrase-table.gz"));
    let asked = ["ein mann", "&quot;", "ein mann ein mann", "zwei männer in", "gibtsnicht"];
    fs::write(folder.join("q"), asked.join("\n")).unwrap();
    let answers = lossy_text(&run(&mut pt(folder, &["query", "m30k.pt", "-i", "q"])));
    let mut expected = Vec::new();
    for source in asked {
        let lines = table.split(|&b| b == b'\n').filter(|l| fields(l)[0] == source.as_bytes());
        expected.extend(lines.map(|l| Some(fields(l))));
        expected.push(None);
    }
    let answers: Vec<_> = answers.lines().collect();
    assert_eq!(answers.len(), expected.len());
    for (found, wanted) in answers.iter().zip(expected) {
        let Some(wanted) = wanted else {
            assert!(found.is_empty());
            continue;
        };
        let found = fields(found.as_bytes());
        assert_eq!([found[0], found[1], found[3]], [wanted[0], wanted[1], wanted[3]]);
        assert!(is_close(found[2], wanted[2]));
    }
}

#[test]
fn multi30k_builds_the_same_file_with_any_threads_and_memory() {
    let Some(m30k) = Multi30k::build(&["--threads", "1"]) else { return };
    let bytes = fs::read(m30k.file()).unwrap();
    for more in [["--threads", "2", "--memory", "3M"], ["--threads", "3", "--memory", "1G"]] {
        let Some(other) = Multi30k::build(&more) else { return };
        assert!(fs::read(other.file()).unwrap() == bytes, "{more:?}");
    }
}

/// Every entry that Moses wrote is present, with the same bits in all ten scores, the same words
/// and the same alignment, in the same order.
#[test]
fn multi30k_scores_are_those_of_moses_bit_for_bit() {
    let Some(m30k) = Multi30k::build(&["--threads", "2"]) else { return };
    let archive = read_decompressed(&m30k.data.join("probing-pt.api15.tar.zst"));
    let files = untar(&archive);
    let word_of: HashMap<u32, &[u8]> = files["TargetVocab.dat"]
        .split(|&b| b == b'\n')
        .filter(|l| !l.is_empty())
        .map(|line| {
            // The id follows the last tab.
            let tab = line.iter().rposition(|&b| b == b'\t').unwrap();
            (lossy_text(&line[tab + 1..]).trim().parse().unwrap(), &line[..tab])
        })
        .collect();
    let alignments: Vec<Vec<(u16, u16)>> = {
        let mut rows: Vec<(usize, Vec<(u16, u16)>)> = lossy_text(files["Alignments.dat"])
            .lines()
            .map(|line| {
                let (id, points) = line.split_once('\t').unwrap();
                let numbers: Vec<u16> =
                    points.split_whitespace().map(|n| n.parse().unwrap()).collect();
                (id.parse().unwrap(), numbers.chunks(2).map(|p| (p[0], p[1])).collect())
            })
            .collect();
        rows.sort();
        rows.into_iter().map(|(_, points)| points).collect()
    };
    let collection = files["TargetColl.dat"];
    let u32_at = |at: usize| u32::from_le_bytes(collection[at..at + 4].try_into().unwrap());
    let u64_at = |at: usize| u64::from_le_bytes(collection[at..at + 8].try_into().unwrap());

    let table = miriam_probingpt::PhraseTable::open(&m30k.file(), Default::default()).unwrap();
    let mut targets = miriam_probingpt::Targets::new();
    let (mut at, mut entries) = (0, 0);
    // `TargetColl.dat` has the sources in the order of the text.
    let original = read_decompressed(&m30k.data.join("phrase-table.gz"));
    let mut previous: &[u8] = b"";
    for line in original.split(|&b| b == b'\n').filter(|l| !l.is_empty()) {
        let source = fields(line)[0];
        if source == previous {
            continue;
        }
        previous = source;
        let ids: Vec<u32> = miriam_textio::fields::split_words(source)
            .map(|w| table.source_words().find(w).unwrap())
            .collect();
        table.read_targets(table.find(&ids).unwrap(), &mut targets).unwrap();
        assert_eq!(u64_at(at), targets.len() as u64, "{}", lossy_text(source));
        at += 8;
        for i in 0..targets.len() {
            let num_words =
                usize::from(u16::from_le_bytes(collection[at + 8..at + 10].try_into().unwrap()));
            let ours = targets
                .scores(i)
                .iter()
                .chain(table.reordering_scores(targets.reordering_row(i)).unwrap());
            let ours: Vec<u32> = ours.map(|s| s.to_bits()).collect();
            let theirs: Vec<u32> = (0..10).map(|k| u32_at(at + 16 + 4 * k)).collect();
            assert_eq!(ours, theirs, "{} {i}", lossy_text(source));
            let words: Vec<_> =
                targets.words(i).iter().map(|&w| table.target_words().get(w).unwrap()).collect();
            let their_words: Vec<_> =
                (0..num_words).map(|k| word_of[&u32_at(at + 56 + 4 * k)]).collect();
            assert_eq!(words, their_words, "{}", lossy_text(source));
            let points: Vec<_> = table.alignment_points(targets.alignment_id(i)).collect();
            assert_eq!(points, alignments[u32_at(at) as usize]);
            at += 56 + 4 * num_words;
            entries += 1;
        }
    }
    assert_eq!((at, entries), (collection.len(), 791_348));
}
