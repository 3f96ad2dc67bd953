//! Tables that cannot be read, or do not belong to a phrase-based system: the error says what they
//! are and what to do instead.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::common::{lossy_text, miriam, project_root, run, run_to_error, run_with_input};

const TABLE: &str = "das ||| the ||| 0.5\nhaus ||| house ||| 0.5\n";
const REORDERING: &str = "das ||| the ||| 0.5 0.25 0.25\nhaus ||| house ||| 0.25 0.25 0.5\n";

/// Writes the ini of a system whose tables are `phrase-table` and `reordering-table`, which the
/// caller writes.
fn write_ini(folder: &Path, table_type: &str) {
    let ini = format!(
        "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nDistortion\n\
         {table_type} name=T num-features=1 path=phrase-table\n\
         LexicalReordering name=R num-features=3 type=msd-backward-fe path=reordering-table\n\
         [weight]\nDistortion0= 0.3\nT= 1\nR= 0.3 0.3 0.3\n"
    );
    fs::write(folder.join("moses.ini"), ini).unwrap();
}

fn write(folder: &Path, name: &str, content: impl AsRef<[u8]>) {
    fs::write(folder.join(name), content).unwrap();
}

fn translate(folder: &Path) -> Command {
    let mut command = miriam();
    command.args(["translate", "-output-hypo-score", "-f", "moses.ini"]).current_dir(folder);
    command
}

fn pt(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = miriam();
    command.arg("pt").args(arguments).current_dir(folder).stdin(Stdio::null());
    command
}

/// Returns the first bytes of Moses' compact tables.
fn compact_table() -> Vec<u8> {
    [&[10u8, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0][..], &[1; 8], b"chd\0\n\n|||"].concat()
}

#[test]
fn binary_reordering_tables_of_moses_are_named() {
    for (file, what, content) in [
        ("reordering-table.minlexr", "a compact reordering table of Moses", compact_table()),
        ("reordering-table.binlexr.idx", "a binary reordering table of Moses 1", vec![0; 64]),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        write_ini(folder, "PhraseDictionaryMemory");
        write(folder, "phrase-table", TABLE);
        write(folder, file, content);
        let message = run_to_error(&mut translate(folder));
        for part in [file, what, "miriam pt build --reordering"] {
            assert!(message.contains(part), "{message}");
        }
        let build = ["build", "--phrase-table", "phrase-table", "-o", "t", "--reordering", file];
        let message = run_to_error(&mut pt(folder, &build));
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn binary_phrase_tables_of_moses_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "t.minphr", compact_table());
    write(folder, "t.gz.binphr.idx", [0; 64]);
    write(
        folder,
        "pointer.gz",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
    );
    write(folder, "extract", "das haus ||| the house ||| 0-0 1-1\n");
    write(folder, "lm.arpa", "\\data\\\nngram 1=1\n");
    fs::create_dir(folder.join("ondisk")).unwrap();
    for name in ["ondisk/Misc.dat", "ondisk/Source.dat"] {
        write(folder, name, "");
    }
    let cases = [
        ("t.minphr", "compact"),
        ("t.gz.binphr.idx", "binary phrase table of Moses 1"),
        ("pointer.gz", "git lfs pull"),
        ("extract", "without scores"),
        ("lm.arpa", "n-gram language model"),
        ("ondisk", "on-disk"),
    ];
    for (file, what) in cases {
        let build = ["build", "--phrase-table", file, "-o", "table"];
        for arguments in [&build[..], &["query", file], &["dump", file], &["info", file]] {
            let message = run_to_error(&mut pt(folder, arguments));
            assert!(message.contains(what) && message.contains(file), "{arguments:?}: {message}");
        }
        assert!(!folder.join("table").exists());
    }
    for (missing, there) in [("t", "t.minphr, a compact"), ("extract", "extract.gz; name that one")]
    {
        if missing == "extract" {
            fs::rename(folder.join("extract"), folder.join("extract.gz")).unwrap();
        }
        let build = ["build", "--phrase-table", missing, "-o", "table"];
        for arguments in [&build[..], &["query", missing], &["dump", missing], &["info", missing]] {
            let message = run_to_error(&mut pt(folder, arguments));
            assert!(message.contains(there), "{arguments:?}: {message}");
        }
    }
    // In a system, such a table is found by its extension.
    fs::remove_file(folder.join("lm.arpa")).unwrap();
    write(folder, "reordering-table", REORDERING);
    for table_type in ["PhraseDictionaryMemory", "ProbingPT"] {
        write_ini(folder, table_type);
        fs::rename(folder.join("t.minphr"), folder.join("phrase-table.minphr")).unwrap();
        let message = run_to_error(&mut translate(folder));
        assert!(message.contains("phrase-table.minphr, a compact phrase table"), "{message}");
        fs::rename(folder.join("phrase-table.minphr"), folder.join("t.minphr")).unwrap();
    }
    let message = run_to_error(miriam().args(["verify", "t.minphr"]).current_dir(folder));
    assert!(message.contains("compact"), "{message}");
}

#[test]
fn text_tables_are_told_from_binary_ones() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write(folder, "phrase-table", TABLE);
    write(folder, "reordering-table", REORDERING);
    for command in ["query", "dump", "info"] {
        let message = run_to_error(&mut pt(folder, &[command, "phrase-table"]));
        assert!(message.contains("a text table"), "{message}");
        assert!(message.contains("miriam pt build --phrase-table phrase-table"), "{message}");
    }
    write_ini(folder, "ProbingPT");
    let message = run_to_error(&mut translate(folder));
    assert!(
        message.contains("PhraseDictionaryMemory") && message.contains("pt build"),
        "{message}"
    );
}

/// In Moses' directories, the factors of a word are words of their own.
#[test]
fn directories_of_moses_with_several_factors_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let table = project_root().join("probingpt/testdata/moses/logarithms");
    for (factors, is_rejected) in [
        ("input-factor=0 output-factor=0", false),
        ("input-factor=0,1 output-factor=0", true),
        ("input-factor=0 output-factor=0,1", true),
    ] {
        let ini = format!(
            "[mapping]\n0 T 0\n[feature]\nUnknownWordPenalty\nDistortion\n\
             ProbingPT name=T num-features=4 path={} {factors}\n\
             [weight]\nDistortion0= 0.3\nT= 1 1 1 1\n",
            table.display()
        );
        write(folder, "moses.ini", ini);
        if is_rejected {
            let message = run_to_error(&mut translate(folder));
            assert!(message.contains("several factors"), "{message}");
            assert!(message.contains("miriam pt build"), "{message}");
        } else {
            run_with_input(&mut translate(folder), b"das haus\n");
        }
    }
}

/// Moses looks for a reordering table under its name with .gz as well; here this holds for every
/// file of an ini.
#[test]
fn compressed_tables_are_found_without_their_extension() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_ini(folder, "PhraseDictionaryMemory");
    write(folder, "phrase-table", TABLE);
    write(folder, "reordering-table", REORDERING);
    let expected = run_with_input(&mut translate(folder), b"das haus\n").stdout;
    for name in ["phrase-table", "reordering-table"] {
        let text = fs::read(folder.join(name)).unwrap();
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packed, &text).unwrap();
        write(folder, &format!("{name}.gz"), packed.finish().unwrap());
        fs::remove_file(folder.join(name)).unwrap();
        let output = run_with_input(&mut translate(folder), b"das haus\n");
        assert_eq!(lossy_text(&output.stdout), lossy_text(&expected), "{name}");
    }
    fs::remove_file(folder.join("phrase-table.gz")).unwrap();
    let message = run_to_error(&mut translate(folder));
    assert!(message.contains("phrase-table: cannot open"), "{message}");
}

#[test]
fn a_reordering_table_of_another_system_is_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_ini(folder, "PhraseDictionaryMemory");
    write(folder, "phrase-table", TABLE);
    let log = |table: &str| {
        write(folder, "reordering-table", table);
        lossy_text(&run_with_input(&mut translate(folder), b"das haus\n").stderr)
    };
    let warning = "reordering-table has no phrase pair of the phrase table";
    let other = "la ||| the ||| 0.5 0.25 0.25\nhaus ||| casa ||| 0.5 0.25 0.25\n";
    assert_eq!(log(other).matches(warning).count(), 1);
    // One pair is enough, whichever table is the larger one.
    let one = "haus ||| casa ||| 0.5 0.25 0.25\nhaus ||| house ||| 0.5 0.25 0.25\n";
    assert!(!log(one).contains(warning));
    assert!(!log(&format!("a ||| b ||| 1 1 1\nc ||| d ||| 1 1 1\n{one}")).contains(warning));
    // Building both tables into one file gives a warning too.
    write(folder, "reordering-table", "a ||| b ||| 1 1 1\n");
    let build = ["--phrase-table", "phrase-table", "--reordering", "reordering-table", "-o", "t"];
    let output = pt(folder, &[&["build"], &build[..]].concat()).output().unwrap();
    let log = lossy_text(&output.stderr);
    assert!(output.status.success() && log.contains("no phrase pair has reordering"), "{log}");
}

#[test]
fn hierarchical_rules_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_ini(folder, "PhraseDictionaryMemory");
    write(folder, "reordering-table", REORDERING);
    for rules in [
        "<s> [X] ||| <s> [S] ||| 1 ||| ||| 2 2\n[X][S] </s> [X] ||| [X][S] </s> [S] ||| 1 ||| 0-0\n",
        "haus [NN] ||| house [NN] ||| 0.5 ||| 0-0\n",
    ] {
        write(folder, "phrase-table", rules);
        let build = ["build", "--phrase-table", "phrase-table", "-o", "t"];
        for command in [&mut translate(folder), &mut pt(folder, &build)] {
            let message = run_to_error(command);
            assert!(message.contains("hierarchical rules"), "{message}");
        }
    }
    // Brackets in a text are words.
    write(folder, "phrase-table", format!("{TABLE}see [1] ||| siehe [1] ||| 0.5\n"));
    run_with_input(&mut translate(folder), b"see [1]\n");
}

#[test]
fn sparse_features_of_a_table_are_warned_of() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    write_ini(folder, "PhraseDictionaryMemory");
    write(folder, "reordering-table", REORDERING);
    let table =
        "das ||| the ||| 0.5 ||| 0-0 ||| 1 1 1 ||| sp 2\nhaus ||| house ||| 0.5 ||| ||| ||| |||\n";
    write(folder, "phrase-table", table);
    let log = lossy_text(&run_with_input(&mut translate(folder), b"das haus\n").stderr);
    assert!(log.contains("sparse features (field 6)"), "{log}");
    let build = ["build", "--phrase-table", "phrase-table", "-o", "t.miriam"];
    let output = pt(folder, &build).output().unwrap();
    let log = lossy_text(&output.stderr);
    assert!(log.contains("1 phrase pairs have sparse features"), "{log}");
    let dump = lossy_text(&run(&mut pt(folder, &["dump", "t.miriam"])));
    assert!(dump.contains("||| sp 2"), "{dump}");
    // Properties are not sparse features.
    write(folder, "phrase-table", "das ||| the ||| 0.5 ||| 0-0 ||| 1 1 1 ||| ||| {{Tree [DT]}}\n");
    let log = lossy_text(&pt(folder, &build).output().unwrap().stderr);
    assert!(!log.contains("sparse"), "{log}");
}
