//! Text output to standard output or a file, compressed according to the file name.
//!
//! A file gets its name when it is complete. Until then it is called `NAME.partial`, if an
//! incomplete output is useful, or has a hidden name. Devices, pipes and `/dev/stdout` are written
//! directly.

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
    /// The file until [`Output::finish`] renames it; `None` if nothing is renamed.
    partial: Option<Box<PartialFile>>,
}

impl Output {
    /// Creates `path`, or writes to standard output for `-`. If the name ends in `.gz`, `.zst`,
    /// `.bz2` or `.xz`, the text is compressed. The file is `path.partial` until
    /// [`Output::finish`]. After an error, the text written so far stays there (of `.zst` and `.xz`
    /// without its end), and an existing file stays unchanged.
    ///
    /// # Errors
    /// [`Error::Io`] if the file cannot be created, or another process is writing it.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_partial(path, Compression::from_path(path), PartialFile::create_visible)
    }

    fn create_direct(path: &Path, compression: Compression) -> Result<Self> {
        // Opening standard output by name would truncate a file to which it appends.
        let names = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
        if names.iter().any(|name| path.as_os_str() == *name) {
            return Self::with_writer(
                compression,
                "standard output".into(),
                Box::new(io::stdout()),
            );
        }
        let names = ["/dev/stderr", "/dev/fd/2", "/proc/self/fd/2"];
        if names.iter().any(|name| path.as_os_str() == *name) {
            let name = "standard error".into();
            return Self::with_writer(compression, name, Box::new(io::stderr()));
        }
        let name = display_name(path);
        // A file that the shell opened (`/dev/fd/9`) must not be truncated.
        let file = File::options().append(true).open(path);
        let file = file.map_err(|e| Error::io(&name, "create", e))?;
        Self::with_writer(compression, name, Box::new(file))
    }

    /// Returns an uncompressed output to `writer`; `name` is its name in messages.
    ///
    /// # Errors
    /// Never: only writing can fail.
    pub fn from_writer(writer: impl Write + Send + 'static, name: &str) -> Result<Self> {
        Self::with_writer(Compression::None, name.to_owned(), Box::new(writer))
    }

    /// Works like [`Output::create`], but with a hidden name until [`Output::finish`]; an
    /// unfinished file is removed.
    ///
    /// # Errors
    /// [`Error::Io`] if no file can be created beside `path`.
    pub fn create_atomic(path: &Path) -> Result<Self> {
        Self::create_partial(path, Compression::from_path(path), PartialFile::create_hidden)
    }

    /// Checks before long work that a file can be created at `path`. A folder is not rejected: some
    /// outputs are folders.
    ///
    /// # Errors
    /// [`Error::Io`] if no file can be created beside `path`.
    pub fn check_access(path: &Path) -> Result<()> {
        if path.as_os_str() == "-" || is_special(path) || path.is_dir() {
            return Ok(());
        }
        // The hidden file is removed when it is dropped.
        Self::create_precompressed(path).map(drop)
    }

    /// Works like [`Output::create_atomic`], for bytes that are already
    /// [compressed](crate::TextCompressor::compress).
    ///
    /// # Errors
    /// [`Error::Io`] if no file can be created beside `path`.
    pub fn create_precompressed(path: &Path) -> Result<Self> {
        Self::create_partial(path, Compression::None, PartialFile::create_hidden)
    }

    /// Works like [`Output::create`], for bytes that are already
    /// [compressed](crate::TextCompressor::compress), which follow the first `length` bytes of an
    /// unfinished file.
    ///
    /// # Errors
    /// The errors of [`Output::create`], and [`Error::Io`] if the unfinished file is shorter than
    /// `length`.
    pub(crate) fn resume(path: &Path, length: u64) -> Result<Self> {
        let open = |path: &Path| PartialFile::resume_visible(path, length);
        Self::create_partial(path, Compression::None, open)
    }

    /// Whether it is a file, not standard output or a device.
    pub(crate) fn is_file(&self) -> bool {
        self.partial.is_some()
    }

    /// Writes the buffer to the file, and the file to disk.
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.flush()?;
        let Some(partial) = &self.partial else { return Ok(()) };
        partial.file().sync_data().map_err(|e| Error::io(&self.name, "write", e))
    }

    fn create_partial(
        path: &Path,
        compression: Compression,
        create: impl FnOnce(&Path) -> io::Result<PartialFile>,
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
    /// [`Error::Io`] if writing fails.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.as_write().write_all(bytes).map_err(|e| Error::io(&self.name, "write", e))
    }

    /// Writes the buffer, for a reader that waits for it. A compressed stream is not flushed,
    /// because that would break it into small blocks.
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails.
    pub fn flush(&mut self) -> Result<()> {
        let Encoder::Plain(plain) = &mut self.writer else { return Ok(()) };
        plain.flush().map_err(|e| Error::io(&self.name, "write", e))
    }

    /// Ends the stream and renames the file to its final name.
    ///
    /// # Errors
    /// [`Error::Io`] if writing, syncing or renaming fails.
    pub fn finish(mut self) -> Result<()> {
        let partial = self.partial.take();
        let name = std::mem::take(&mut self.name);
        self.end_stream()
            .and_then(|()| partial.map_or(Ok(()), |partial| partial.commit()))
            .map_err(|e| Error::io(&name, "write", e))
    }

    /// Ends the stream of an incomplete output, so that a compressed file is valid. The file stays
    /// under its partial name, unless that is hidden.
    ///
    /// # Errors
    /// [`Error::Io`] if writing fails.
    pub fn finish_incomplete(mut self) -> Result<()> {
        // Dropped after the end of the stream.
        let _partial = self.partial.take();
        let name = std::mem::take(&mut self.name);
        self.end_stream().map_err(|e| Error::io(&name, "write", e))
    }

    /// Ends a complete output by [`finish`](Output::finish), and an incomplete one by
    /// [`finish_incomplete`](Output::finish_incomplete).
    ///
    /// # Errors
    /// The errors of the called function.
    pub fn finish_if(self, is_complete: bool) -> Result<()> {
        if is_complete { self.finish() } else { self.finish_incomplete() }
    }

    /// Writes a whole file; it appears complete or not at all.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be created or written.
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
    use crate::{Input, TextCompressor};
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
            let mut compressor = TextCompressor::new(Compression::from_path(&path));
            for part in [&b"one\n"[..], b"", b"two"] {
                let compressed = compressor.compress(part).unwrap();
                let mut fresh = TextCompressor::new(Compression::from_path(&path));
                assert_eq!(fresh.compress(part).unwrap(), compressed, "{name}");
                output.write(&compressed).unwrap();
            }
            output.finish().unwrap();
            let mut text = Vec::new();
            Input::open(&path).unwrap().read_to_end(&mut text).unwrap();
            assert_eq!(text, b"one\ntwo", "{name}");
        }
    }

    #[test]
    fn errors_do_not_name_hidden_files() {
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
        // Dropped like after an error: written text stays, an empty file does not.
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
