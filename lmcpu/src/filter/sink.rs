//! Output files of the filter.
//!
//! The counts of an ARPA file come before its n-grams, but are known only after them. So n-grams
//! wait in memory, or in a temporary file beside the output. Only outputs of more than 1 MiB have a
//! temporary file, so that there can be many outputs.

use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use miriam_storage::partial_file::is_special;
use miriam_textio::Output;
use tempfile::SpooledTempFile;

use crate::Result;

/// The number of bytes up to which the lines of an output wait in memory.
const MEMORY_BYTES: usize = 1 << 20;

/// A file to be written.
pub(super) enum Sink {
    /// Lines are written as they are found.
    Stream(Output),
    /// Lines wait in memory or in a temporary file.
    Spool(Spool),
}

/// Lines that are written to the output when filtering ends.
pub(super) struct Spool {
    path: PathBuf,
    /// The folder of the temporary file.
    folder: PathBuf,
    lines: SpooledTempFile,
    /// Lines that are not yet written to `lines`.
    buffer: Vec<u8>,
    /// The counts, if it is an ARPA file.
    counts: Option<ArpaCounts>,
}

/// The counts of an ARPA file.
struct ArpaCounts {
    /// The number of bytes that the counts of the model take.
    reserved: usize,
    kept: Vec<u64>,
}

/// Returns the counts as KenLM's `filter` writes them, between empty lines.
fn header(counts: &[u64]) -> Vec<u8> {
    format!("\n{}\n", crate::dump::header(counts)).into_bytes()
}

impl Sink {
    /// Returns a sink for the ARPA file `path`. `counts` are the counts of the model before
    /// filtering; the file reserves the bytes that they take for its own counts.
    pub fn arpa(path: &Path, counts: &[u64]) -> Self {
        let reserved = header(counts).len();
        Sink::Spool(Spool::new(path, Some(ArpaCounts { reserved, kept: Vec::new() })))
    }

    /// Returns a sink for the file `path`, which has only lines, without counts. If it is the only
    /// output (`is_single`), it is created at once.
    ///
    /// # Errors
    ///
    /// If it cannot be created.
    pub fn raw(path: &Path, is_single: bool) -> Result<Self> {
        Ok(if is_single {
            Sink::Stream(Output::create(path)?)
        } else {
            Sink::Spool(Spool::new(path, None))
        })
    }

    /// Begins `order`, if it is not the current one.
    ///
    /// # Errors
    ///
    /// If a temporary file cannot be written.
    pub fn begin(&mut self, order: usize) -> Result<()> {
        match self {
            Sink::Spool(spool) => spool.begin(order),
            Sink::Stream(_) => Ok(()),
        }
    }

    /// Writes `count` lines.
    ///
    /// # Errors
    ///
    /// If the file, or a temporary one, cannot be written.
    pub fn write(&mut self, lines: &[u8], count: u64) -> Result<()> {
        match self {
            Sink::Stream(output) => Ok(output.write(lines)?),
            Sink::Spool(spool) => {
                if let Some(current) = spool.counts.as_mut().and_then(|c| c.kept.last_mut()) {
                    *current += count;
                }
                spool.push(lines)
            }
        }
    }

    /// Completes the file.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn finish(self) -> Result<()> {
        match self {
            Sink::Stream(output) => Ok(output.finish()?),
            Sink::Spool(spool) => spool.finish(),
        }
    }
}

impl Spool {
    fn new(path: &Path, counts: Option<ArpaCounts>) -> Self {
        let folder = match path.parent() {
            _ if path == Path::new("-") || is_special(path) => std::env::temp_dir(),
            Some(parent) if parent.as_os_str().is_empty() => Path::new(".").to_owned(),
            Some(parent) => parent.to_owned(),
            None => std::env::temp_dir(),
        };
        let lines = SpooledTempFile::new_in(MEMORY_BYTES, folder.clone());
        Spool { path: path.to_owned(), folder, lines, buffer: Vec::new(), counts }
    }

    fn begin(&mut self, order: usize) -> Result<()> {
        let Some(counts) = &mut self.counts else { return Ok(()) };
        if counts.kept.len() == order {
            return Ok(());
        }
        counts.kept.push(0);
        let blank = if order > 1 { "\n" } else { "" };
        self.push(format!("{blank}\\{order}-grams:\n").as_bytes())
    }

    fn push(&mut self, lines: &[u8]) -> Result<()> {
        const BUFFER_BYTES: usize = 1 << 14;
        self.buffer.extend_from_slice(lines);
        if self.buffer.len() >= BUFFER_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        let written = self.lines.write_all(&self.buffer);
        self.buffer.clear();
        written.map_err(|error| self.error("write a temporary file in this folder", error))
    }

    fn error(&self, action: &'static str, error: io::Error) -> crate::Error {
        let remedy = if self.folder == std::env::temp_dir() {
            "set TMPDIR to another folder"
        } else {
            "write the output to another folder"
        };
        let reason = format!("{error}; free some space there, or {remedy}");
        let error = io::Error::new(error.kind(), reason);
        miriam_textio::Error::io(&self.folder.display().to_string(), action, error).into()
    }

    fn finish(mut self) -> Result<()> {
        if self.counts.is_some() {
            self.push(b"\n\\end\\\n")?;
        }
        self.flush()?;
        let mut output = Output::create(&self.path)?;
        if let Some(ArpaCounts { reserved, kept }) = &self.counts {
            let mut counts = header(kept);
            // Counts may have fewer digits than before filtering: blank lines fill the rest.
            counts.resize(counts.len().max(*reserved), b'\n');
            output.write(&counts)?;
        }
        let action = "read back a temporary file in this folder";
        let rewound = self.lines.seek(SeekFrom::Start(0));
        rewound.map_err(|error| self.error(action, error))?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = self.lines.read(&mut buffer);
            match read.map_err(|error| self.error(action, error))? {
                0 => return Ok(output.finish()?),
                count => output.write(&buffer[..count])?,
            }
        }
    }
}
