//! Errors in text files, with file, line and field.

use std::fmt;
use std::io;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of reading, writing or parsing text.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An operation of the operating system or of a decompressor failed.
    #[error("{file}: cannot {action}: {source}")]
    Io {
        /// The file, or `standard input`.
        file: String,
        /// The failed action, as a verb phrase.
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
    /// A line is malformed.
    #[error("{file}, line {line}{field}: {reason}", field = InField(*.field))]
    Format {
        /// The file, or `standard input`.
        file: String,
        /// The line, counted from 1.
        line: u64,
        /// The field, counted from 1, if known.
        field: Option<usize>,
        /// What is wrong and what was expected.
        reason: String,
    },
    /// Parallel files have different numbers of lines.
    #[error(
        "{first} has {first_lines} line{s}, {second} has {second_lines}: line N of one belongs \
         to line N of the other; find the line that one of them lacks",
        s = if *first_lines == 1 { "" } else { "s" }
    )]
    LineCountMismatch {
        /// One file.
        first: String,
        /// Its number of lines.
        first_lines: u64,
        /// The other file.
        second: String,
        /// Its number of lines.
        second_lines: u64,
    },
}

/// The reason in errors about lines whose length exceeds 32 bits.
pub const TOO_LONG_LINE: &str = "a line of 4 GiB or more; break it into shorter lines";

struct InField(Option<usize>);

impl fmt::Display for InField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(field) => write!(f, ", field {field}"),
            None => Ok(()),
        }
    }
}

impl Error {
    /// Returns an [`Error::Io`]; `action` is a verb phrase such as `"open"`.
    pub fn io(file: &str, action: &'static str, source: io::Error) -> Self {
        Error::Io { file: file.to_owned(), action, source }
    }

    /// Checks that files, given as names with numbers of lines, have equally many lines.
    ///
    /// # Errors
    /// [`Error::LineCountMismatch`] with the first file and the first that differs from it.
    pub fn check_line_counts<'a>(files: impl IntoIterator<Item = (&'a str, u64)>) -> Result<()> {
        let mut files = files.into_iter();
        let Some((first, first_lines)) = files.next() else { return Ok(()) };
        match files.find(|(_, lines)| *lines != first_lines) {
            None => Ok(()),
            Some((second, second_lines)) => Err(Error::LineCountMismatch {
                first: first.to_owned(),
                first_lines,
                second: second.to_owned(),
                second_lines,
            }),
        }
    }

    /// Returns an [`Error::Format`].
    pub fn format(file: &str, line: u64, field: Option<usize>, reason: impl Into<String>) -> Self {
        Error::Format { file: file.to_owned(), line, field, reason: reason.into() }
    }
}
