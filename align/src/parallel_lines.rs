//! Reading parallel files line by line, which must have the same number of lines.

use std::path::Path;

use miriam_textio::{Input, Line, Lines};

use crate::{Error, Result};

/// Files whose lines correspond by their numbers.
pub(crate) struct ParallelLines {
    files: Vec<Lines>,
    /// The number of lines read of each file.
    lines_read: Vec<u64>,
}

impl ParallelLines {
    /// Opens the files.
    pub fn open(paths: &[&Path]) -> Result<Self> {
        let open = |path: &&Path| Ok(Lines::in_background(Input::open(path)?));
        let files = paths.iter().map(open).collect::<Result<Vec<_>>>()?;
        Ok(ParallelLines { lines_read: vec![0; files.len()], files })
    }

    /// Calls `found` with the index, the name and the next line of each file; returns false
    /// at the end of all files.
    pub fn next(
        &mut self,
        mut found: impl FnMut(usize, &str, &Line<'_>) -> miriam_textio::Result<()>,
    ) -> Result<bool> {
        let mut ended = 0;
        for (index, (file, read)) in self.files.iter_mut().zip(&mut self.lines_read).enumerate() {
            let name = file.name().to_owned();
            match file.next()? {
                Some(line) => {
                    *read += 1;
                    found(index, &name, &line)?;
                }
                None => ended += 1,
            }
        }
        if ended == 0 || ended == self.files.len() {
            return Ok(ended == 0);
        }
        for (file, read) in self.files.iter_mut().zip(&mut self.lines_read) {
            while file.next()?.is_some() {
                *read += 1;
            }
        }
        let other = self.lines_read.iter().position(|&read| read != self.lines_read[0]);
        let other = other.expect("one of the files ended before the others");
        Err(Error::LineCountMismatch {
            first: self.files[0].name().to_owned(),
            first_lines: self.lines_read[0],
            second: self.files[other].name().to_owned(),
            second_lines: self.lines_read[other],
        })
    }
}
