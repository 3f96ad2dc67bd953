//! Parallel files, read line by line together.

use std::path::Path;

use crate::{Error, Input, Line, Lines, Result};

/// Files with the same number of lines: line N of each belongs to line N of the others.
pub struct ParallelLines {
    files: Vec<Lines>,
    names: Vec<String>,
    /// The number of lines read from each file.
    lines_read: Vec<u64>,
}

impl ParallelLines {
    /// Returns a reader of the files at `paths`, which are read in the background; `-` is standard
    /// input.
    ///
    /// # Errors
    /// [`Error::Io`] for a file that cannot be opened.
    pub fn open(paths: &[&Path]) -> Result<Self> {
        fn open(path: &&Path) -> Result<Lines, Error> {
            Ok(Lines::in_background(Input::open(path)?))
        }
        Ok(Self::new(paths.iter().map(open).collect::<Result<_>>()?))
    }

    /// Returns a reader of `files` from their beginnings.
    pub fn new(files: Vec<Lines>) -> Self {
        let names = files.iter().map(|file| file.name().to_owned()).collect();
        ParallelLines { lines_read: vec![0; files.len()], names, files }
    }

    /// Returns the names of the files in messages.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the number of lines read from each file.
    pub fn num_read(&self) -> u64 {
        self.lines_read.first().copied().unwrap_or(0)
    }

    /// Calls `visit` with the index, the name and the next line of each file. Returns false at the
    /// end of all files.
    ///
    /// # Errors
    /// The errors of `visit`, [`Error::Io`] if a file cannot be read, and
    /// [`Error::LineCountMismatch`] if a file ends before another. Then all files are read to their
    /// ends, because the message contains their numbers of lines.
    pub fn next<E: From<Error>>(
        &mut self,
        mut visit: impl FnMut(usize, &str, &Line<'_>) -> Result<(), E>,
    ) -> Result<bool, E> {
        let mut num_ended = 0;
        for (index, file) in self.files.iter_mut().enumerate() {
            match file.next()? {
                Some(line) => {
                    self.lines_read[index] += 1;
                    visit(index, &self.names[index], &line)?;
                }
                None => num_ended += 1,
            }
        }
        if num_ended == 0 || num_ended == self.files.len() {
            return Ok(num_ended == 0);
        }
        for (file, read) in self.files.iter_mut().zip(&mut self.lines_read) {
            while file.next()?.is_some() {
                *read += 1;
            }
        }
        let lengths = self.names.iter().map(String::as_str).zip(self.lines_read.iter().copied());
        Error::check_line_counts(lengths)?;
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn parallel(texts: &[&'static str]) -> ParallelLines {
        let lines = |(text, name): (&&'static str, &str)| {
            Lines::new(Input::from_reader(Cursor::new(*text), name, None).unwrap())
        };
        ParallelLines::new(texts.iter().zip(["one", "two", "three"]).map(lines).collect())
    }

    fn read(files: &mut ParallelLines) -> Result<Vec<String>> {
        let mut rows = Vec::new();
        loop {
            let mut row = String::new();
            let has_line = files.next(|index, name, line| -> Result<()> {
                let text = String::from_utf8_lossy(line.bytes);
                row += &format!("{index} {name}:{} {text};", line.number);
                Ok(())
            })?;
            if !has_line {
                return Ok(rows);
            }
            rows.push(row);
        }
    }

    #[test]
    fn lines_come_together() {
        let mut files = parallel(&["a\nb\n", "x\ny"]);
        let rows = read(&mut files).unwrap();
        assert_eq!(rows, ["0 one:1 a;1 two:1 x;", "0 one:2 b;1 two:2 y;"]);
        assert_eq!((files.num_read(), files.names()), (2, &["one".into(), "two".into()][..]));
        assert!(read(&mut parallel(&["", "", ""])).unwrap().is_empty());
    }

    #[test]
    fn errors_of_unequal_lengths_name_both_numbers() {
        for (texts, [first, second]) in [
            (&["a\n", "x\ny\nz\n"][..], ["one has 1 line, ", "two has 3: "]),
            (&["a\nb\n", "x\n"], ["one has 2 lines, ", "two has 1: "]),
            (&["a\nb\n", "x\ny\n", "z\n"], ["one has 2 lines, ", "three has 1: "]),
            (&["", "x\n"], ["one has 0 lines, ", "two has 1: "]),
        ] {
            let error = read(&mut parallel(texts)).unwrap_err().to_string();
            assert!(error.contains(first) && error.contains(second), "{error}");
        }
    }

    #[test]
    fn errors_of_the_visitor_end_the_reading() {
        let stop = |_: usize, name: &str, line: &Line<'_>| {
            Err(Error::format(name, line.number, None, "not wanted"))
        };
        let error = parallel(&["a\n", "b\n"]).next(stop).unwrap_err().to_string();
        assert_eq!(error, "one, line 1: not wanted");
    }
}
