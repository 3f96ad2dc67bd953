//! Files of Moses that are not read as tables, recognised by their names and first bytes.
//!
//! If a table cannot be opened or read, the error says what the file is and what to do, instead of
//! what its bytes lack. A file is examined only after a failure, because a valid table may have any
//! name.

use std::io::Read;
use std::path::Path;

use miriam_storage::paths::with_suffix;
use miriam_textio::fields::{split_fields, split_words};
use miriam_textio::{Input, Lines, parse_phrase_link};

use crate::Error;

/// Extensions of compressed text.
const COMPRESSIONS: [&str; 4] = [".gz", ".zst", ".bz2", ".xz"];

/// The number of bytes of a file that are examined.
const HEAD_BYTES: u64 = 4096;

const FROM_TEXT: &str =
    "it is not read; build a table from the text that it was made from with `miriam pt build`";

const REORDERING_FROM_TEXT: &str = "it is not read; name the text table that it was made from, or \
    build it into the phrase table with `miriam pt build --reordering`";

const SUFFIX_ARRAY: &str =
    "it is not read; extract and score a phrase table from its corpus with `miriam train`";

/// A kind of table that Moses keeps in files named after the table.
struct Family {
    /// The suffixes that Moses adds to the path in the ini.
    extensions: &'static [&'static str],
    what: &'static str,
    remedy: &'static str,
}

const FAMILIES: [Family; 5] = [
    Family { extensions: &[".minphr"], what: "a compact phrase table of Moses", remedy: FROM_TEXT },
    Family {
        extensions: &[".minlexr"],
        what: "a compact reordering table of Moses",
        remedy: REORDERING_FROM_TEXT,
    },
    Family {
        extensions: &[
            ".binphr.idx",
            ".binphr.srctree",
            ".binphr.srctree.wa",
            ".binphr.srcvoc",
            ".binphr.tgtdata",
            ".binphr.tgtdata.wa",
            ".binphr.tgtvoc",
        ],
        what: "a binary phrase table of Moses 1",
        remedy: FROM_TEXT,
    },
    Family {
        extensions: &[
            ".binlexr.idx",
            ".binlexr.srctree",
            ".binlexr.tgtdata",
            ".binlexr.voc0",
            ".binlexr.voc1",
        ],
        what: "a binary reordering table of Moses 1",
        remedy: REORDERING_FROM_TEXT,
    },
    Family {
        extensions: &[".mct", ".mam", ".tdx", ".sfa"],
        what: "a suffix-array table of Moses",
        remedy: SUFFIX_ARRAY,
    },
];

/// Describes the file or folder at `path`, and says what to do with it, if it has a known format
/// other than a text table or a file of Miriam. If nothing is at `path`, looks for the files that
/// Moses would open in its place. Returns `None` if the format is not known.
pub fn describe_foreign(path: &Path) -> Option<String> {
    if path.is_dir() {
        return describe_folder(path);
    }
    if !path.exists() {
        return describe_in_place(path);
    }
    if !path.is_file() {
        return None;
    }
    if let Some(text) = describe_content(path) {
        return Some(text);
    }
    let name = path.file_name()?.to_str()?;
    let Family { what, remedy, .. } =
        FAMILIES.iter().find(|family| family.extensions.iter().any(|e| name.ends_with(e)))?;
    Some(format!("this is a file of {what}; {remedy}"))
}

/// Whether the file at `path` is a phrase or reordering table as text, plain or compressed.
pub fn is_text_table(path: &Path) -> bool {
    first_line(path).is_some_and(|line| {
        let fields: Vec<&[u8]> = split_fields(&line).collect();
        fields.len() >= 3
            && split_words(fields[2]).next().is_some()
            && split_words(fields[2])
                .all(|word| std::str::from_utf8(word).is_ok_and(|word| word.parse::<f32>().is_ok()))
    })
}

/// Returns an error that says what the file at `path` is, if it is known not to be a table.
/// Otherwise returns `error`, the error of reading it as a table. A cancellation, and an error that
/// says this already, stay as they are.
pub(crate) fn explain(path: &Path, error: Error) -> Error {
    if matches!(error, Error::Cancelled | Error::Foreign { .. }) {
        return error;
    }
    match describe_foreign(path) {
        Some(reason) => Error::Foreign { path: path.to_owned(), reason },
        None => error,
    }
}

/// Works like [`explain`], where a binary table is expected.
pub(crate) fn explain_binary(path: &Path, error: Error) -> Error {
    if path.is_file() && is_text_table(path) {
        let file = path.display();
        let reason = format!(
            "this is a text table; build a binary one with `miriam pt build --phrase-table {file} \
             -o FILE`"
        );
        return Error::Foreign { path: path.to_owned(), reason };
    }
    explain(path, error)
}

/// Describes a file that is there instead of the missing file `path`: its name is `path` with an
/// extension.
fn describe_in_place(path: &Path) -> Option<String> {
    let find = |extensions: &[&str]| {
        extensions.iter().map(|e| with_suffix(path, e)).find(|file| file.is_file())
    };
    if let Some(file) = find(&COMPRESSIONS) {
        return Some(format!("there is no such file, but {}; name that one", file.display()));
    }
    FAMILIES.iter().find_map(|Family { extensions, what, remedy }| {
        let file = find(extensions)?;
        Some(format!("there is no such file, but {}, {what}; {remedy}", file.display()))
    })
}

fn describe_folder(folder: &Path) -> Option<String> {
    // The files by which a folder is recognised, what it is, and what to do.
    const KINDS: [(&[&str], &str, &str); 4] = [
        (
            &["probing_hash.dat"],
            "a ProbingPT folder of Moses",
            "name it in a ProbingPT line, or see `miriam pt dump`",
        ),
        (&["Misc.dat", "Source.dat"], "an on-disk phrase table of Moses", FROM_TEXT),
        (
            &["dalm.ini"],
            "a language model of DALM",
            "it is not read; name its ARPA file in a KENLM line",
        ),
        (&["f.bin", "e.bin"], "a suffix-array table of Moses", SUFFIX_ARRAY),
    ];
    let (_, what, remedy) =
        KINDS.iter().find(|(files, ..)| files.iter().all(|file| folder.join(file).is_file()))?;
    Some(format!("this is {what}; {remedy}"))
}

fn describe_content(path: &Path) -> Option<String> {
    let mut head = Vec::new();
    std::fs::File::open(path).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let is_language_model =
        head.starts_with(b"mmap lm ") || head.trim_ascii_start().starts_with(b"\\data\\");
    if head.starts_with(b"version https://git-lfs.github.com/spec/") {
        let text = "this is a pointer of Git LFS instead of the file; fetch the file with `git \
                    lfs pull`";
        return Some(text.into());
    }
    if is_language_model {
        return Some("this is an n-gram language model; name it in a KENLM line".into());
    }
    // A compact table has hash functions of the CMPH library: the name of their algorithm follows
    // three numbers of 64 bits.
    if head.get(24..28) == Some(b"chd\0") && path.extension().is_none_or(|e| e != "minlexr") {
        return Some(format!("this is a compact table of Moses; {FROM_TEXT}"));
    }
    describe_extract(&first_line(path)?).map(str::to_owned)
}

/// Describes a line of Moses' `extract` files, which have no scores.
fn describe_extract(line: &[u8]) -> Option<&'static str> {
    const ORIENTATIONS: [&[u8]; 8] =
        [b"mono", b"swap", b"other", b"dright", b"dleft", b"nomono", b"left", b"right"];
    let words: Vec<&[u8]> = split_words(split_fields(line).nth(2)?).collect();
    if words.is_empty() {
        return None;
    }
    if words.iter().all(|word| parse_phrase_link(word).is_some()) {
        return Some(
            "these are extracted phrase pairs without scores; `miriam extract` makes a phrase \
             table from the corpus",
        );
    }
    words.iter().all(|word| ORIENTATIONS.contains(word)).then_some(
        "these are orientations of extracted phrase pairs without scores; `miriam extract` makes \
         a reordering table from the corpus",
    )
}

/// Returns the first line of a file, decompressed.
fn first_line(path: &Path) -> Option<Vec<u8>> {
    let mut lines = Lines::new(Input::open(path).ok()?);
    lines.next().ok()?.map(|line| line.bytes.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn describe(folder: &Path, name: &str, content: &[u8]) -> Option<String> {
        std::fs::write(folder.join(name), content).unwrap();
        describe_foreign(&folder.join(name))
    }

    #[test]
    fn files_are_recognized_by_content_or_name() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let compact = [&[10u8, 0, 0, 0, 0, 0, 0, 0][..], &[1; 16], b"chd\0\xd4\x01"].concat();
        for (name, content, expected) in [
            ("t.minphr", &compact[..], "compact table"),
            ("renamed", &compact, "compact table"),
            ("r.minlexr", &compact, "compact reordering table"),
            ("t.binphr.tgtdata.wa", b"\0\x01", "binary phrase table of Moses 1"),
            ("r.binlexr.voc1", b"\0\x01", "binary reordering table of Moses 1"),
            ("pointer", b"version https://git-lfs.github.com/spec/v1\noid x\n", "git lfs pull"),
            ("lm", b"\n\\data\\\nngram 1=1\n", "n-gram language model"),
            ("extract", b"a b ||| c ||| 0-0 1-0\n", "without scores"),
            ("extract.o", b"a b ||| c ||| mono other\n", "without scores"),
        ] {
            let text = describe(folder, name, content).unwrap_or_default();
            assert!(text.contains(expected), "{name}: {text}");
        }
        for text in [&b"a ||| b ||| 0.5 1 ||| 0-0\n"[..], b"a ||| b\n", b"", b"a ||| b ||| \n"] {
            assert_eq!(describe(folder, "table", text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn missing_files_are_explained_by_those_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let table = folder.path().join("ro");
        assert_eq!(describe_foreign(&table), None);
        std::fs::write(folder.path().join("ro.binlexr.idx"), "").unwrap();
        let text = describe_foreign(&table).unwrap();
        assert!(text.contains("ro.binlexr.idx, a binary reordering table"), "{text}");
        let failure = Error::Options("it has no phrase pair".into());
        assert!(matches!(explain(&table, failure), Error::Foreign { .. }));
        assert!(matches!(explain(&table, Error::Cancelled), Error::Cancelled));
        std::fs::write(folder.path().join("pt.gz"), "").unwrap();
        let text = describe_foreign(&folder.path().join("pt")).unwrap();
        assert!(text.contains("no such file, but") && text.contains("pt.gz; name that"), "{text}");
        for name in ["Misc.dat", "Source.dat"] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let text = describe_foreign(folder.path()).unwrap();
        assert!(text.contains("on-disk") && text.contains("miriam pt build"), "{text}");
    }

    #[test]
    fn text_tables_are_told_by_their_scores() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let is_table = |text: &str| {
            std::fs::write(file.path(), text).unwrap();
            is_text_table(file.path())
        };
        assert!(
            is_table("a ||| b ||| 0.5 1e-3\n") && is_table("a ||| b ||| 1 ||| 0-0 ||| 1 1 1\n")
        );
        assert!(!is_table("a ||| b ||| 0-0\n") && !is_table("a b 0.5\n") && !is_table(""));
    }
}
