//! Table of a simulation's pushes, one line each. Each save appends new lines to the file, because
//! a long simulation has millions of pushes.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::Path;

use miriam_storage::Error as StorageError;

use crate::error::Result;

const HEADER: &str = "update,worker,seconds,staleness,bytes,words\n";

/// The table: the part in its file, and unsaved lines.
pub(super) struct PushTable {
    /// The number of valid bytes of the file; the rest comes from a training run that was stopped
    /// before it saved its state.
    saved_bytes: u64,
    unsaved: String,
}

impl PushTable {
    /// Creates a table without pushes.
    pub fn new() -> Self {
        PushTable { saved_bytes: 0, unsaved: HEADER.into() }
    }

    /// Reads the table in the file `path` up to push number `updates`. The first push in the file
    /// need not have number 1: the simulation may have resumed another training run. If the
    /// simulation was stopped before its first push, the file has no push, or only last pushes,
    /// which are not resumed.
    ///
    /// # Errors
    /// If the file cannot be read or ends earlier.
    pub fn read(path: &Path, updates: u64) -> Result<Self> {
        let cannot_read = |error| StorageError::io(path, "read", error);
        let mut file = BufReader::new(std::fs::File::open(path).map_err(cannot_read)?);
        let (mut saved_bytes, mut line) = (0, Vec::new());
        let mut last = None;
        while last != Some(updates) {
            line.clear();
            let bytes = file.read_until(b'\n', &mut line).map_err(cannot_read)?;
            let update = line.split(|&byte| byte == b',').next().unwrap_or_default();
            let update: Option<u64> =
                std::str::from_utf8(update).ok().and_then(|update| update.parse().ok());
            let is_first = saved_bytes == HEADER.len() as u64;
            if is_first && (bytes == 0 || update.is_some_and(|update| update > updates)) {
                break;
            }
            if !line.ends_with(b"\n") {
                let last = last.map_or("its header".into(), |last: u64| format!("update {last}"));
                let reason = format!("it ends after {last}, before update {updates}");
                return Err(StorageError::damaged(path, "pushes", reason).into());
            }
            saved_bytes += bytes as u64;
            last = update;
        }
        Ok(PushTable { saved_bytes, unsaved: String::new() })
    }

    /// Adds a line, given without line end.
    pub fn push(&mut self, line: std::fmt::Arguments) {
        use std::fmt::Write;
        writeln!(self.unsaved, "{line}").expect("writing to a string does not fail");
    }

    /// Appends the unsaved lines to the file.
    ///
    /// # Errors
    /// If it cannot be written; saved lines are unchanged.
    pub fn save(&mut self, path: &Path) -> Result<()> {
        self.append(path).map_err(|error| StorageError::io(path, "write", error))?;
        self.saved_bytes += self.unsaved.len() as u64;
        self.unsaved.clear();
        Ok(())
    }

    fn append(&self, path: &Path) -> std::io::Result<()> {
        let mut file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        file.set_len(self.saved_bytes)?;
        file.seek(SeekFrom::End(0))?;
        file.write_all(self.unsaved.as_bytes())?;
        file.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_after_the_resumed_push_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pushes.csv");
        std::fs::write(&path, "of another training run, which is longer than what follows here\n")
            .unwrap();
        let mut table = PushTable::new();
        (1..=2).for_each(|update| table.push(format_args!("{update},a")));
        table.save(&path).unwrap();
        (3..=4).for_each(|update| table.push(format_args!("{update},b")));
        table.save(&path).unwrap();
        let lines = |updates: usize| {
            let text = std::fs::read_to_string(&path).unwrap();
            assert_eq!(text.lines().count(), 1 + updates, "{text}");
            text
        };
        assert_eq!(lines(4), format!("{HEADER}1,a\n2,a\n3,b\n4,b\n"));
        // A training run that resumes after the third push.
        let mut table = PushTable::read(&path, 3).unwrap();
        table.push(format_args!("4,c"));
        table.save(&path).unwrap();
        assert_eq!(lines(4), format!("{HEADER}1,a\n2,a\n3,b\n4,c\n"));
        assert!(PushTable::read(&folder.path().join("none.csv"), 3).is_err());
        // A training run that was stopped before its first push.
        let none = folder.path().join("no-pushes.csv");
        PushTable::new().save(&none).unwrap();
        let mut table = PushTable::read(&none, 0).unwrap();
        table.push(format_args!("1,a"));
        table.save(&none).unwrap();
        assert_eq!(std::fs::read_to_string(&none).unwrap(), format!("{HEADER}1,a\n"));
        // A training run whose first pushes were last pushes, which are not resumed.
        let mut table = PushTable::read(&none, 0).unwrap();
        table.push(format_args!("1,b"));
        table.save(&none).unwrap();
        assert_eq!(std::fs::read_to_string(&none).unwrap(), format!("{HEADER}1,b\n"));
        let error = PushTable::read(&path, 5).err().expect("it has four").to_string();
        assert!(error.contains("pushes: it ends after update 4, before update 5"), "{error}");
        // A training run that resumed after a thousand updates of another program.
        let mut table = PushTable::new();
        table.push(format_args!("1001,a"));
        table.save(&path).unwrap();
        let mut table = PushTable::read(&path, 1001).unwrap();
        table.push(format_args!("1002,b"));
        table.save(&path).unwrap();
        assert_eq!(lines(2), format!("{HEADER}1001,a\n1002,b\n"));
    }
}
