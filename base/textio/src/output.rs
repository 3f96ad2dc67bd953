//! Writing text to standard output or a file, compressed as its name says.
//!
//! A file appears under its name when it is complete. Until then it has another one:
//! `NAME.partial` where the output comes bit by bit and is of use before its end, a hidden one
//! where it is not. Devices, pipes and `/dev/stdout` are written directly.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use miriam_storage::partial_file::{PartialFile, is_special};

use crate::compression::Encoder;
use crate::{Compression, Error, Result, display_name};

const BUFFER: usize = 256 << 10;

/// A buffered stream of text to a file or standard output.
///
/// ```
/// use miriam_textio::{Input, Lines, Output};
///
/// let folder = tempfile::tempdir()?;
/// let path = folder.path().join("text.gz");
/// let mut output = Output::create(&path)?;
/// output.write(b"one\n")?;
/// output.finish()?;
/// let mut lines = Lines::new(Input::open(&path)?);
/// assert_eq!(lines.next()?.map(|line| line.bytes), Some(&b"one"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Output {
    name: String,
    writer: Encoder,
    /// The file before [`Output::finish`] renames it; none where there is nothing to rename.
    partial: Option<Box<PartialFile>>,
}

impl Output {
    /// Creates `path`, or writes to standard output for `-`. A name that ends in
    /// `.gz`, `.zst`, `.bz2` or `.xz` is compressed. The file is `path.partial` until [`Output::finish`]; what
    /// is written before an error stays there, and an existing file stays as it was.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be created, or another process is writing it.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_partial(path, Compression::from_path(path), PartialFile::create_visible)
    }

    fn create_direct(path: &Path, compression: Compression) -> Result<Self> {
        // Opened by its name, a file that standard output appends to would be cut.
        let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
        if names.iter().any(|name| path.as_os_str() == *name) {
            return Self::with_writer(
                compression,
                "standard output".into(),
                Box::new(io::stdout()),
            );
        }
        let name = display_name(path);
        let file = File::create(path).map_err(|e| Error::io(&name, "create", e))?;
        Self::with_writer(compression, name, Box::new(file))
    }

    /// Writes to `writer`, uncompressed; `name` names it in messages.
    ///
    /// # Errors
    /// None before something is written.
    pub fn from_writer(writer: impl Write + Send + 'static, name: &str) -> Result<Self> {
        Self::with_writer(Compression::None, name.to_owned(), Box::new(writer))
    }

    /// As [`Output::create`], but under a hidden name until [`Output::finish`], and nothing
    /// remains of a file that is not finished.
    ///
    /// # Errors
    /// [`Error::Io`] where no file can be created beside `path`.
    pub fn create_atomic(path: &Path) -> Result<Self> {
        Self::create_partial(path, Compression::from_path(path), PartialFile::create_hidden)
    }

    /// As [`Output::create_atomic`] for bytes that are [compressed](Compression::compress)
    /// already.
    ///
    /// # Errors
    /// [`Error::Io`] where no file can be created beside `path`.
    pub fn create_precompressed(path: &Path) -> Result<Self> {
        Self::create_partial(path, Compression::None, PartialFile::create_hidden)
    }

    fn create_partial(
        path: &Path,
        compression: Compression,
        create: fn(&Path) -> io::Result<PartialFile>,
    ) -> Result<Self> {
        if path.as_os_str() == "-" || is_special(path) {
            return Self::create_direct(path, compression);
        }
        let name = display_name(path);
        let created = create(path).and_then(|partial| Ok((partial.file().try_clone()?, partial)));
        let (file, partial) = created.map_err(|e| Error::io(&name, "create", e))?;
        let raw = Box::new(file);
        let mut output = Self::with_writer(compression, name.clone(), raw)?;
        output.partial = Some(Box::new(partial));
        Ok(output)
    }

    fn with_writer(
        compression: Compression,
        name: String,
        raw: Box<dyn Write + Send>,
    ) -> Result<Self> {
        let plain = BufWriter::with_capacity(BUFFER, raw);
        let writer = Encoder::new(compression, plain).map_err(|e| Error::io(&name, "create", e))?;
        Ok(Output { name, writer, partial: None })
    }

    /// Returns the name of the output in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes `bytes`.
    ///
    /// # Errors
    /// [`Error::Io`] where writing fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.as_write().write_all(bytes).map_err(|e| Error::io(&self.name, "write", e))
    }

    /// Writes the buffer out, for a reader that waits for it. A compressed stream is not
    /// flushed, which would break it into small blocks.
    ///
    /// # Errors
    /// [`Error::Io`] where writing fails.
    pub fn flush(&mut self) -> Result<()> {
        let Encoder::Plain(plain) = &mut self.writer else { return Ok(()) };
        plain.flush().map_err(|e| Error::io(&self.name, "write", e))
    }

    /// Ends the stream, and gives the file its name; without this call it does not appear
    /// under it.
    ///
    /// # Errors
    /// [`Error::Io`] where writing, syncing or renaming fails.
    pub fn finish(mut self) -> Result<()> {
        let partial = self.partial.take();
        let name = std::mem::take(&mut self.name);
        self.end_stream()
            .and_then(|()| partial.map_or(Ok(()), |partial| partial.commit()))
            .map_err(|e| Error::io(&name, "write", e))
    }

    /// Ends the stream of an output that was cut short: what was written is whole, as of a
    /// compressed file, and stays under its partial name, if that is not a hidden one.
    ///
    /// # Errors
    /// [`Error::Io`] where writing fails.
    pub fn finish_incomplete(mut self) -> Result<()> {
        // It is dropped after the stream was ended.
        let _partial = self.partial.take();
        let name = std::mem::take(&mut self.name);
        self.end_stream().map_err(|e| Error::io(&name, "write", e))
    }

    /// [`finish`](Output::finish)es an output that is complete, and ends any other one as
    /// [`finish_incomplete`](Output::finish_incomplete) does.
    ///
    /// # Errors
    /// Theirs.
    pub fn finish_if(self, is_complete: bool) -> Result<()> {
        if is_complete { self.finish() } else { self.finish_incomplete() }
    }

    /// Writes a whole file; it appears complete or not at all.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be created or written.
    pub fn write_file(path: &Path, bytes: &[u8]) -> Result<()> {
        let mut output = Self::create_atomic(path)?;
        output.write(bytes)?;
        output.finish()
    }

    fn end_stream(self) -> io::Result<()> {
        self.writer.finish()?.flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.as_write().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.as_write().flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;
    use std::io::Read;

    #[test]
    fn every_compression_reads_back() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "a.gz", "a.zst", "a.bz2", "a.xz"] {
            let path = folder.path().join(name);
            let mut output = Output::create(&path).unwrap();
            output.write(b"one\ntwo").unwrap();
            output.finish().unwrap();
            let mut text = Vec::new();
            Input::open(&path).unwrap().read_to_end(&mut text).unwrap();
            assert_eq!(text, b"one\ntwo", "{name}");
        }
    }

    #[test]
    fn parts_compressed_one_by_one_read_as_one_text() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "a.gz", "a.zst", "a.bz2", "a.xz"] {
            let path = folder.path().join(name);
            let mut output = Output::create_precompressed(&path).unwrap();
            for part in [&b"one\n"[..], b"", b"two"] {
                output
                    .write(&Compression::from_path(&path).compress(part.to_vec()).unwrap())
                    .unwrap();
            }
            output.finish().unwrap();
            let mut text = Vec::new();
            Input::open(&path).unwrap().read_to_end(&mut text).unwrap();
            assert_eq!(text, b"one\ntwo", "{name}");
        }
    }

    #[test]
    fn what_cannot_be_created_is_said_without_hidden_names() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        for (name, reason) in [("absent/a", "absent does not exist"), ("file/a", "Not a directory")]
        {
            let error = Output::create_atomic(&folder.path().join(name)).err().unwrap().to_string();
            assert!(error.contains(reason) && !error.contains("partial"), "{error}");
        }
    }

    #[test]
    fn an_output_has_its_name_when_it_is_finished() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "a.gz", "a.zst", "a.bz2", "a.xz"] {
            let (path, partial) =
                (folder.path().join(name), folder.path().join(format!("{name}.partial")));
            let read = |path: &Path| {
                let mut text = Vec::new();
                Input::open(path).unwrap().read_to_end(&mut text).unwrap();
                text
            };
            std::fs::write(&path, "old").unwrap();
            let mut output = Output::create(&path).unwrap();
            output.write(b"one\ntw").unwrap();
            output.finish_incomplete().unwrap();
            assert_eq!((read(&path), read(&partial)), (b"old".to_vec(), b"one\ntw".to_vec()));
            let mut output = Output::create(&path).unwrap();
            output.write(b"two\n").unwrap();
            output.flush().unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"old");
            output.finish().unwrap();
            assert_eq!(read(&path), b"two\n");
            assert!(!partial.exists());
        }
        // Dropped as by an error: what was written stays, and no empty file does.
        let path = folder.path().join("b");
        let mut output = Output::create(&path).unwrap();
        output.write(b"some").unwrap();
        drop(output);
        assert_eq!(std::fs::read(folder.path().join("b.partial")).unwrap(), b"some");
        drop(Output::create(&path).unwrap());
        assert!(!path.exists() && !folder.path().join("b.partial").exists());
    }

    #[test]
    fn an_atomic_file_replaces_the_old_one_on_finish_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "old").unwrap();
        let mut output = Output::create_atomic(&path).unwrap();
        output.write(b"new").unwrap();
        drop(output);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        let mut output = Output::create_atomic(&path).unwrap();
        output.write(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        output.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
