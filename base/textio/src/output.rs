//! Writing text: standard output or a file, compressed as its name says.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::{Error, Result, name_of};

const BUFFER: usize = 256 << 10;

/// How text is wrapped, as a file's name says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrapping {
    /// Not at all.
    Plain,
    /// In gzip members: `.gz`.
    Gzip,
    /// In zstd frames: `.zst`.
    Zstd,
}

impl Wrapping {
    /// What the name of `path` asks for.
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => Wrapping::Gzip,
            Some("zst") => Wrapping::Zstd,
            _ => Wrapping::Plain,
        }
    }

    /// Wraps `text` by itself, compressed as fast as it gets. Wrapped texts one after
    /// the other read as their concatenation, so threads can compress parts of one
    /// file ([`Output::create_wrapped`]).
    pub fn wrap(self, text: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            Wrapping::Plain => Ok(text),
            Wrapping::Gzip => {
                let room = Vec::with_capacity(text.len() / 3);
                let mut gzip = flate2::write::GzEncoder::new(room, flate2::Compression::fast());
                gzip.write_all(&text)?;
                gzip.finish()
            }
            Wrapping::Zstd => zstd::bulk::compress(&text, 1),
        }
    }
}

/// A buffered stream of text being written.
pub struct Output {
    name: String,
    writer: Writer,
    /// Where everything goes first, and the file that it becomes in the end.
    whole: Option<(NamedTempFile, PathBuf)>,
}

enum Writer {
    Plain(BufWriter<Box<dyn Write + Send>>),
    Gzip(flate2::write::GzEncoder<BufWriter<Box<dyn Write + Send>>>),
    Zstd(zstd::Encoder<'static, BufWriter<Box<dyn Write + Send>>>),
}

impl Output {
    /// Creates `path`, or writes to standard output for `-`. A name that ends in
    /// `.gz` or `.zst` is compressed.
    pub fn create(path: &Path) -> Result<Self> {
        Self::anywhere(path, Wrapping::of(path))
    }

    fn anywhere(path: &Path, wrapping: Wrapping) -> Result<Self> {
        let name = if path.as_os_str() == "-" { "standard output".into() } else { name_of(path) };
        let raw: Box<dyn Write + Send> = if path.as_os_str() == "-" {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path).map_err(|e| Error::io(&name, "create", e))?)
        };
        Self::over(wrapping, name, raw)
    }

    /// As [`Output::create`]; but a file appears whole, on [`Output::finish`], or not
    /// at all: one that is there already stays as it was until then.
    pub fn create_whole(path: &Path) -> Result<Self> {
        Self::whole(path, Wrapping::of(path))
    }

    /// As [`Output::create_whole`] for bytes that are [wrapped](Wrapping::wrap) already.
    pub fn create_wrapped(path: &Path) -> Result<Self> {
        Self::whole(path, Wrapping::Plain)
    }

    fn whole(path: &Path, wrapping: Wrapping) -> Result<Self> {
        let replaced = fs::metadata(path);
        if path.as_os_str() == "-" || replaced.as_ref().is_ok_and(|found| !found.is_file()) {
            return Self::anywhere(path, wrapping);
        }
        let name = name_of(path);
        let failed = |e| Error::io(&name, "create", e);
        // A link stays one: what it points to is replaced.
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
        let file = builder.tempfile_in(folder).map_err(failed)?;
        let raw = Box::new(file.reopen().map_err(failed)?);
        let mut output = Self::over(wrapping, name.clone(), raw)?;
        output.whole = Some((file, target));
        Ok(output)
    }

    fn over(wrapping: Wrapping, name: String, raw: Box<dyn Write + Send>) -> Result<Self> {
        let plain = BufWriter::with_capacity(BUFFER, raw);
        let writer = match wrapping {
            Wrapping::Gzip => {
                Writer::Gzip(flate2::write::GzEncoder::new(plain, flate2::Compression::default()))
            }
            Wrapping::Zstd => Writer::Zstd(
                zstd::Encoder::new(plain, 3).map_err(|e| Error::io(&name, "create", e))?,
            ),
            Wrapping::Plain => Writer::Plain(plain),
        };
        Ok(Output { name, writer, whole: None })
    }

    /// How the output is called in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes `bytes`.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer.as_write().write_all(bytes).map_err(|e| Error::io(&self.name, "write", e))
    }

    /// Hands everything to the system, for a reader that waits for it. A
    /// compressed stream is left alone: flushing would break it into pieces.
    pub fn flush(&mut self) -> Result<()> {
        match &mut self.writer {
            Writer::Plain(plain) => plain.flush().map_err(|e| Error::io(&self.name, "write", e)),
            Writer::Gzip(_) | Writer::Zstd(_) => Ok(()),
        }
    }

    /// Ends the stream; without this call a compressed file is cut, and one that was to
    /// appear [whole](Output::create_whole) does not.
    pub fn finish(self) -> Result<()> {
        let ended = match self.writer {
            Writer::Plain(plain) => Ok(plain),
            Writer::Gzip(gzip) => gzip.finish(),
            Writer::Zstd(zstd) => zstd.finish(),
        };
        let ended = ended.and_then(|mut w| w.flush()).and_then(|()| match self.whole {
            Some((file, target)) => {
                file.as_file().sync_all()?;
                file.persist(target).map(drop).map_err(|e| e.error)
            }
            None => Ok(()),
        });
        ended.map_err(|e| Error::io(&self.name, "write", e))
    }
}

impl Writer {
    fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Writer::Plain(w) => w,
            Writer::Gzip(w) => w,
            Writer::Zstd(w) => w,
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
    fn what_is_written_is_read_in_every_format() {
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
    fn parts_wrapped_one_by_one_read_as_one_text() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a", "a.gz", "a.zst"] {
            let path = folder.path().join(name);
            let mut output = Output::create_wrapped(&path).unwrap();
            for part in [&b"one\n"[..], b"", b"two"] {
                output.write(&Wrapping::of(&path).wrap(part.to_vec()).unwrap()).unwrap();
            }
            output.finish().unwrap();
            let mut text = Vec::new();
            Input::open(&path).unwrap().read_to_end(&mut text).unwrap();
            assert_eq!(text, b"one\ntwo", "{name}");
        }
    }

    #[test]
    fn a_whole_file_replaces_the_old_one_in_the_end_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "old").unwrap();
        let mut output = Output::create_whole(&path).unwrap();
        output.write(b"new").unwrap();
        drop(output);
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        let mut output = Output::create_whole(&path).unwrap();
        output.write(b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        output.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
