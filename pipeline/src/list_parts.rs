//! Translation of a text by a neural model into n-best lists. They are written in parts, each of
//! them complete or absent, so a killed run resumes after the last part.
//!
//! One translation runs over all remaining lines, so batches and threads never wait for the end
//! of a part; the ordered output of the translation is divided into parts.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use miriam_nmt::translate::{LineError, SourceText, Translator};
use miriam_storage::partial_file::remove_stale_files;
use miriam_textio::{
    CancellableProgress, CancellationToken, Input, Lines, Output, Progress, ProgressTask,
};

use crate::{Error, Result};

/// The file that describes the teacher, search and text of the lists.
const DESCRIPTION_FILE: &str = "teacher.json";

/// A loaded teacher.
pub struct Teacher<'a> {
    /// The translator with the teacher's models and search. It writes n-best lists in plain form.
    pub translator: &'a Translator,
    /// Names and values of all that translations depend on: models, vocabularies, search options.
    pub description: BTreeMap<String, String>,
    /// The function that gets errors and warnings of single lines.
    pub report: &'a (dyn Fn(&LineError) + Sync),
}

/// The parts of the lists of a text.
pub(crate) struct ListParts {
    /// The folder of the parts.
    pub folder: PathBuf,
    /// The number of lines of the text.
    pub num_lines: u64,
    /// The number of lines of a part.
    pub part_lines: u64,
}

impl ListParts {
    fn name(index: u64) -> String {
        format!("{index:06}.zst")
    }

    fn path(&self, index: u64) -> PathBuf {
        self.folder.join(Self::name(index))
    }

    /// Returns the paths of all parts.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.names().map(|name| self.folder.join(name))
    }

    /// Returns the names of all parts.
    pub fn names(&self) -> impl Iterator<Item = String> {
        (0..self.num_lines.div_ceil(self.part_lines)).map(Self::name)
    }

    /// Translates the lines after the last finished part.
    pub fn translate(
        &self,
        source: &Path,
        teacher: &Teacher<'_>,
        progress: &dyn Progress,
    ) -> Result<()> {
        self.check_description(&teacher.description)?;
        remove_stale_files(&self.folder, ".");
        let count = self.num_lines.div_ceil(self.part_lines);
        let Some(first_part) = (0..count).find(|&index| !self.path(index).is_file()) else {
            return Ok(());
        };
        let first_line = first_part * self.part_lines;
        if first_line > 0 {
            tracing::info!("resuming at line {}", first_line + 1);
        }
        let mut lines = Lines::new(Input::open(source)?);
        for _ in 0..first_line {
            lines.next()?;
        }
        let task = progress.task("translating", Some(self.num_lines));
        task.set_position(first_line);
        let writer = Arc::new(Mutex::new(PartWriter {
            folder: self.folder.clone(),
            part_lines: self.part_lines,
            first_line,
            line: Vec::new(),
            part: None,
        }));
        let output = Output::from_writer(SharedWriter(Arc::clone(&writer)), "n-best lists")?;
        let text = SourceText { lines, prefixes: None };
        let stop = CancellationToken::new();
        let position = ResumedProgress { task: &task, first_line };
        let position = CancellableProgress { shown: &position, stop: &stop };
        teacher.translator.translate(text, false, output, &stop, &position, &mut |error| {
            (teacher.report)(error);
            Ok(())
        })?;
        if stop.is_cancelled() {
            return Err(Error::Cancelled);
        }
        let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
        writer.finish_part()
    }

    /// Rejects lists of another teacher, and records this teacher.
    fn check_description(&self, description: &BTreeMap<String, String>) -> Result<()> {
        let path = self.folder.join(DESCRIPTION_FILE);
        if let Ok(bytes) = fs::read(&path) {
            let before: BTreeMap<String, String> =
                serde_json::from_slice(&bytes).unwrap_or_default();
            let mut changed: Vec<&str> = before
                .keys()
                .chain(description.keys())
                .filter(|name| before.get(*name) != description.get(*name))
                .map(String::as_str)
                .collect();
            changed.sort_unstable();
            changed.dedup();
            if changed.is_empty() {
                return Ok(());
            }
            return Err(Error::Options {
                reason: format!(
                    "{}: the translations in this folder were made with other values of: {}; give \
                     another -o, or remove this folder to start over",
                    self.folder.display(),
                    changed.join(", ")
                ),
            });
        }
        if self.names().any(|name| self.folder.join(name).exists()) {
            return Err(Error::Options {
                reason: format!(
                    "{}: this file is missing, so the teacher of the lists beside it is unknown; \
                     give another -o, or remove the folder to start over",
                    path.display()
                ),
            });
        }
        let mut text = serde_json::to_vec_pretty(description)
            .map_err(|e| Error::io(&path, "write", io::Error::other(e)))?;
        text.push(b'\n');
        Ok(Output::write_file(&path, &text)?)
    }
}

/// The progress of a translation that began at line `first_line` (counted from 0) of the text.
struct ResumedProgress<'a> {
    task: &'a ProgressTask<'a>,
    first_line: u64,
}

impl Progress for ResumedProgress<'_> {
    fn begin(&self, _: &str, _: Option<u64>) {}

    fn set_position(&self, done: u64) {
        self.task.set_position(self.first_line + done);
    }

    fn end(&self) {}

    fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }
}

/// A writer that divides the lists of a translation, which are numbered from 0, into parts.
struct PartWriter {
    folder: PathBuf,
    part_lines: u64,
    /// The line of the text, counted from 0, at which the translation began.
    first_line: u64,
    /// The start of a line whose end is not yet written.
    line: Vec<u8>,
    /// The current part, with its index.
    part: Option<(u64, Output)>,
}

impl PartWriter {
    fn write_line(&mut self) -> Result<()> {
        let line = std::mem::take(&mut self.line);
        let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number: u64 = std::str::from_utf8(&line[..digits])
            .ok()
            .and_then(|digits| digits.parse().ok())
            .expect("an entry of a list begins with its number");
        let number = self.first_line + number;
        let index = number / self.part_lines;
        if self.part.as_ref().is_none_or(|(current, _)| *current != index) {
            self.finish_part()?;
            let path = self.folder.join(ListParts::name(index));
            self.part = Some((index, Output::create_atomic(&path)?));
        }
        if let Some((_, output)) = &mut self.part {
            output.write(number.to_string().as_bytes())?;
            output.write(&line[digits..])?;
        }
        Ok(())
    }

    /// Finishes the file of the current part.
    fn finish_part(&mut self) -> Result<()> {
        match self.part.take() {
            Some((_, output)) => Ok(output.finish()?),
            None => Ok(()),
        }
    }
}

impl Write for PartWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|&byte| byte == b'\n') {
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                self.write_line().map_err(io::Error::other)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A shared [`PartWriter`], whose last part is finished after the translation is complete.
struct SharedWriter(Arc<Mutex<PartWriter>>);

impl Write for SharedWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_textio::n_best::{NBestForm, NBestReader};

    fn writer(folder: &Path, first_line: u64) -> PartWriter {
        let folder = folder.to_owned();
        PartWriter { folder, part_lines: 2, first_line, line: Vec::new(), part: None }
    }

    fn read_text(path: &Path) -> String {
        let mut lines = Lines::new(Input::open(path).unwrap());
        let mut text = String::new();
        while let Some(line) = lines.next().unwrap() {
            text += &(String::from_utf8_lossy(line.bytes).into_owned() + "\n");
        }
        text
    }

    /// Parts do not depend on the sizes of writes, and are numbered over the whole text.
    #[test]
    fn output_is_cut_into_parts() {
        let list = b"0 ||| a ||| F0= 0 ||| 0\n0 ||| b ||| F0= 0 ||| 0\n1 |||  ||| F0= 0 ||| 0\n\
                     2 ||| c ||| F0= 0 ||| 0\n";
        for step in [1, 7, 200] {
            let folder = tempfile::tempdir().unwrap();
            let mut parts = writer(folder.path(), 4);
            list.chunks(step).for_each(|bytes| parts.write_all(bytes).unwrap());
            assert!(folder.path().join("000002.zst").is_file());
            assert!(!folder.path().join("000003.zst").exists(), "not complete yet");
            parts.finish_part().unwrap();
            assert!(read_text(&folder.path().join("000002.zst")).starts_with("4 ||| a |||"));
            assert_eq!(read_text(&folder.path().join("000003.zst")), "6 ||| c ||| F0= 0 ||| 0\n");
            let mut reader = NBestReader::new([folder.path().join("000003.zst")], NBestForm::Plain);
            assert!(reader.next().is_err(), "the list does not begin with sentence 0");
        }
    }
}
