//! Writing text to standard output or a file, compressed as its name says.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, Result, display_name};

const BUFFER: usize = 256 << 10;

/// The compression of a text file, as its name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Plain text.
    None,
    /// Gzip members: `.gz`.
    Gzip,
    /// Zstd frames: `.zst`.
    Zstd,
}

impl Compression {
    /// The compression that the extension of `path` names.
    pub(crate) fn from_path(path: &Path) -> Self {
        match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            _ => Compression::None,
        }
    }

    /// Compresses `text` at the fastest level. Compressed texts one after the other
    /// decompress to their concatenation, so threads can compress parts of one file
    /// ([`Output::create_precompressed`]).
    ///
    /// # Errors
    /// Where the compressor fails.
    pub fn compress(self, text: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            Compression::None => Ok(text),
            Compression::Gzip => {
                let buffer = Vec::with_capacity(text.len() / 3);
                let mut gzip = flate2::write::GzEncoder::new(buffer, flate2::Compression::fast());
                gzip.write_all(&text)?;
                gzip.finish()
            }
            Compression::Zstd => zstd::bulk::compress(&text, 1),
        }
    }
}

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
    /// The temporary file, and the path to which [`Output::finish`] renames it.
    temporary: Option<(NamedTempFile, PathBuf)>,
}

enum Encoder {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Gzip(flate2::write::GzEncoder<BufWriter<Box<dyn Write + Send>>>),
    Zstd(zstd::Encoder<'static, BufWriter<Box<dyn Write + Send>>>),
}

impl Output {
    /// Creates `path`, or writes to standard output for `-`. A name that ends in
    /// `.gz` or `.zst` is compressed.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be created.
    pub fn create(path: &Path) -> Result<Self> {
        Self::create_direct(path, Compression::from_path(path))
    }

    fn create_direct(path: &Path, compression: Compression) -> Result<Self> {
        let name =
            if path.as_os_str() == "-" { "standard output".into() } else { display_name(path) };
        let raw: Box<dyn Write + Send> = if path.as_os_str() == "-" {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path).map_err(|e| Error::io(&name, "create", e))?)
        };
        Self::with_writer(compression, name, raw)
    }

    /// Writes to `writer`, uncompressed; `name` names it in messages.
    ///
    /// # Errors
    /// None before something is written.
    pub fn from_writer(writer: impl Write + Send + 'static, name: &str) -> Result<Self> {
        Self::with_writer(Compression::None, name.to_owned(), Box::new(writer))
    }

    /// As [`Output::create`], but the file appears complete, on [`Output::finish`], or not
    /// at all: an existing one stays as it was until then.
    ///
    /// # Errors
    /// [`Error::Io`] where no file can be created beside `path`.
    pub fn create_atomic(path: &Path) -> Result<Self> {
        Self::create_temporary(path, Compression::from_path(path))
    }

    /// As [`Output::create_atomic`] for bytes that are [compressed](Compression::compress)
    /// already.
    ///
    /// # Errors
    /// [`Error::Io`] where no file can be created beside `path`.
    pub fn create_precompressed(path: &Path) -> Result<Self> {
        Self::create_temporary(path, Compression::None)
    }

    fn create_temporary(path: &Path, compression: Compression) -> Result<Self> {
        let replaced = fs::metadata(path);
        if path.as_os_str() == "-" || replaced.as_ref().is_ok_and(|found| !found.is_file()) {
            return Self::create_direct(path, compression);
        }
        let name = display_name(path);
        let failed = |e| Error::io(&name, "create", e);
        // A symbolic link stays one: the file it points to is replaced.
        let target =
            if replaced.is_ok() { fs::canonicalize(path).map_err(failed)? } else { path.into() };
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let prefix = format!(".{}.", target.file_name().unwrap_or_default().to_string_lossy());
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(".partial");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let file = builder.tempfile_in(folder).map_err(|e| {
            // The message ends in the path of the hidden file, of which the user knows nothing.
            let reason = e.to_string();
            let reason = reason.split(" at path ").next().unwrap_or_default();
            failed(match e.kind() {
                io::ErrorKind::NotFound => {
                    let reason = format!("the folder {} does not exist", folder.display());
                    io::Error::new(io::ErrorKind::NotFound, reason)
                }
                kind => io::Error::new(kind, reason),
            })
        })?;
        let raw = Box::new(file.reopen().map_err(failed)?);
        let mut output = Self::with_writer(compression, name.clone(), raw)?;
        output.temporary = Some((file, target));
        Ok(output)
    }

    fn with_writer(
        compression: Compression,
        name: String,
        raw: Box<dyn Write + Send>,
    ) -> Result<Self> {
        let plain = BufWriter::with_capacity(BUFFER, raw);
        let writer = match compression {
            Compression::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(plain, flate2::Compression::default()))
            }
            Compression::Zstd => Encoder::Zstd(
                zstd::Encoder::new(plain, 3).map_err(|e| Error::io(&name, "create", e))?,
            ),
            Compression::None => Encoder::Plain(plain),
        };
        Ok(Output { name, writer, temporary: None })
    }

    /// The name of the output in messages.
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
        match &mut self.writer {
            Encoder::Plain(plain) => plain.flush().map_err(|e| Error::io(&self.name, "write", e)),
            Encoder::Gzip(_) | Encoder::Zstd(_) => Ok(()),
        }
    }

    /// Ends the stream; without this call a compressed file is truncated, and an
    /// [atomic](Output::create_atomic) one does not appear.
    ///
    /// # Errors
    /// [`Error::Io`] where writing, syncing or renaming fails.
    pub fn finish(self) -> Result<()> {
        let ended = match self.writer {
            Encoder::Plain(plain) => Ok(plain),
            Encoder::Gzip(gzip) => gzip.finish(),
            Encoder::Zstd(zstd) => zstd.finish(),
        };
        let ended = ended.and_then(|mut w| w.flush()).and_then(|()| match self.temporary {
            Some((file, target)) => {
                file.as_file().sync_all()?;
                file.persist(target).map(drop).map_err(|e| e.error)
            }
            None => Ok(()),
        });
        ended.map_err(|e| Error::io(&self.name, "write", e))
    }
}

impl Encoder {
    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Encoder::Plain(w) => w,
            Encoder::Gzip(w) => w,
            Encoder::Zstd(w) => w,
        }
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
        for name in ["a", "a.gz", "a.zst"] {
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
        for name in ["a", "a.gz", "a.zst"] {
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
