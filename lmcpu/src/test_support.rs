//! Helpers that tests of several modules share.

use std::fmt::Write as _;
use std::io::{Cursor, Read, Write as _};
use std::path::{Path, PathBuf};

use miriam_textio::{Input, NoProgress, Output};

use crate::query::{QueryOptions, Verbosity, query};
use crate::{LanguageModel, Result};

/// The toy model of `ngram-lm.md` Appendix A.
pub(crate) const TOY: &str = concat!(
    "\\data\\\nngram 1=5\nngram 2=4\nngram 3=1\n",
    "\n\\1-grams:\n",
    "-1.0\t<unk>\n-99\t<s>\t-0.3\n-1.2\t</s>\n-1.5\ta\t-0.2\n-1.7\tb\t-0.1\n",
    "\n\\2-grams:\n",
    "-0.5\t<s> a\t-0.05\n-0.6\ta b\t0\n-0.7\tb </s>\n-0.9\tb a\t-0.4\n",
    "\n\\3-grams:\n",
    "-0.3\t<s> a b\n",
    "\n\\end\\\n",
);

/// Returns the ARPA text of a model of 99,303 n-grams, which several threads build together.
pub(crate) fn large_arpa() -> String {
    let mut arpa = String::from(concat!(
        "\\data\\\nngram 1=303\nngram 2=90000\nngram 3=9000\n",
        "\n\\1-grams:\n-1\t<unk>\n-9\t<s>\n-1\t</s>\n",
    ));
    for i in 0..300 {
        writeln!(arpa, "-1.{i}\tw{i}\t-0.{i}").unwrap();
    }
    arpa += "\\2-grams:\n";
    for i in 0..90000 {
        writeln!(arpa, "-0.{i}\tw{} w{}\t-0.1", i / 300, i % 300).unwrap();
    }
    arpa += "\\3-grams:\n";
    for i in 0..9000 {
        writeln!(arpa, "-0.{i}\tw{} w{} w{}", i / 300, i % 300, i % 7).unwrap();
    }
    arpa + "\\end\\\n"
}

/// Returns the ARPA text of a bigram model of more than 3 MiB, whose first and last bigrams are
/// equal. A reader on one thread reads it in at least two parts, because a part has at most about
/// ten blocks of 256 KiB.
pub(crate) fn arpa_with_distant_duplicate() -> String {
    let num_words = 450;
    let mut arpa = format!(
        "\\data\\\nngram 1={}\nngram 2={}\n\n\\1-grams:\n-99\t<s>\n-1\t</s>\n",
        num_words + 2,
        num_words * num_words + 2
    );
    (0..num_words).for_each(|word| writeln!(arpa, "-2\tw{word}\t-0.5").unwrap());
    arpa += "\n\\2-grams:\n-1\t<s> w7\n";
    for pair in 0..num_words * num_words {
        writeln!(arpa, "-1.25\tw{} w{}", pair / num_words, pair % num_words).unwrap();
    }
    arpa += "-1\t<s> w7\n\n\\end\\\n";
    assert!(arpa.len() > 3 << 20);
    arpa
}

/// Returns the path of `name` in `../shared/data`; `None`, with a message, if that is absent.
pub(crate) fn shared_path(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    // Written to stderr directly: the test runner captures the macros' output of passing tests.
    let _ = writeln!(std::io::stderr(), "skipped: {} is absent", path.display());
    None
}

/// Returns the content of the file at `path`, decompressed.
pub(crate) fn read_file(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    Input::open(path).unwrap().read_to_end(&mut bytes).unwrap();
    bytes
}

/// Returns the content of a file of `../shared/data`, decompressed; `None`, with a message, if it
/// is absent.
pub(crate) fn read_shared(name: &str) -> Option<Vec<u8>> {
    shared_path(name).map(|path| read_file(&path))
}

/// Returns an input that reads `text`; `name` is its name in messages.
pub(crate) fn text_input(text: &[u8], name: &str) -> Input {
    Input::from_reader(Cursor::new(text.to_vec()), name, Some(text.len() as u64)).unwrap()
}

/// Returns the bytes that `write` writes to its output, and its result.
pub(crate) fn capture_output<T>(
    write: impl FnOnce(&mut Output) -> Result<T>,
) -> Result<(Vec<u8>, T)> {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut output = Output::create(file.path())?;
    let value = write(&mut output)?;
    output.finish()?;
    Ok((std::fs::read(file.path()).unwrap(), value))
}

/// Returns what `query` prints for `text`.
pub(crate) fn query_output(model: &dyn LanguageModel, text: &[u8]) -> Vec<u8> {
    let options = QueryOptions {
        verbosity: Verbosity::ALL,
        sentence_markers: true,
        threads: 2,
        line_buffered: false,
        kenlm_compat: false,
    };
    let input = text_input(text, "text");
    capture_output(|output| query(model, input, output, options, &NoProgress)).unwrap().0
}

/// Asserts that texts are equal; shows the first line that differs.
pub(crate) fn assert_same(found: &[u8], expected: &[u8], name: &str) {
    if found == expected {
        return;
    }
    let found_lines = escape_lines(found);
    let expected_lines = escape_lines(expected);
    for (i, (found, expected)) in found_lines.iter().zip(&expected_lines).enumerate() {
        assert_eq!(found, expected, "{name}, line {}", i + 1);
    }
    panic!("{name}: found {} lines, expected {}", found_lines.len(), expected_lines.len());
}

/// Returns the lines of `text` with their ends, and with all but printable ASCII escaped.
fn escape_lines(text: &[u8]) -> Vec<String> {
    text.split_inclusive(|&byte| byte == b'\n')
        .map(|line| line.escape_ascii().to_string())
        .collect()
}
