//! Plain or compressed text (gzip, zstd, bzip2, xz) from a file or standard input. The compression
//! is detected by the first bytes, not the file name. A byte order mark at the start is skipped.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;
use lzma_rust2::XzReader;

use crate::foreign_format::describe_foreign_format;
use crate::line_limit::LineLimit;
use crate::members::Members;
use crate::{Error, Output, Result, display_name, is_same_file};

const BUFFER: usize = 256 << 10;

/// The maximum memory for decompressing xz; `xz -9` needs 65 MiB.
const MAX_XZ_KIB: u32 = 1 << 20;

/// The first bytes of a bzip2 block, and of the end of a file without blocks. They are checked
/// because text may begin like the header before them, with `BZh` and a digit from 1 to 9.
const BZIP2_BLOCKS: [&[u8; 6]; 2] = [b"\x31\x41\x59\x26\x53\x59", b"\x17\x72\x45\x38\x50\x90"];

const BYTE_ORDER_MARK: [u8; 3] = [0xef, 0xbb, 0xbf];

/// A stream of decompressed text with its name in messages. Reading fails at a line that is longer
/// than the [limit](crate::set_max_line_bytes).
pub struct Input {
    name: String,
    reader: Box<dyn Read + Send>,
    size: Option<u64>,
    consumed: Arc<AtomicU64>,
    is_binary: bool,
    line_limit: LineLimit,
}

impl Input {
    /// Opens the file `path`, or standard input for `-`.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read or is a folder.
    pub fn open(path: &Path) -> Result<Self> {
        let name = display_name(path);
        if path.as_os_str() == "-" {
            return Self::from_reader(io::stdin(), &name, None);
        }
        let file = File::open(path).map_err(|e| Error::io(&name, "open", e))?;
        let information = file.metadata().map_err(|e| Error::io(&name, "open", e))?;
        if information.is_dir() {
            let source = io::Error::from(io::ErrorKind::IsADirectory);
            return Err(Error::io(&name, "read", source));
        }
        let size = information.is_file().then_some(information.len());
        Self::from_reader(file, &name, size)
    }

    /// Checks before long work that `path` can be read, that `output` can be created, and that
    /// writing to it would not overwrite `path`.
    ///
    /// # Errors
    /// [`Error::Io`] if not.
    pub fn check_access(path: &Path, output: Option<&Path>) -> Result<()> {
        if let Some(output) = output {
            Output::check_access(output)?;
        }
        if path.as_os_str() == "-" {
            return Ok(());
        }
        let name = display_name(path);
        let information = path.metadata().map_err(|e| Error::io(&name, "open", e))?;
        // Pipes can be opened only once.
        if information.is_file() {
            File::open(path).map_err(|e| Error::io(&name, "open", e))?;
        }
        if output.is_some_and(|output| is_same_file(path, output)) {
            let source = io::Error::other("it is also the output; write to another file");
            return Err(Error::io(&name, "read", source));
        }
        Ok(())
    }

    /// Checks before long work that `path` is a file, which can be read more than once, and not
    /// standard input or another pipe.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be read, or is a pipe or a folder.
    pub fn check_file(path: &Path) -> Result<()> {
        Self::check_access(path, None)?;
        if path.as_os_str() != "-" && path.metadata().is_ok_and(|found| found.is_file()) {
            return Ok(());
        }
        let source = if path.is_dir() {
            io::Error::from(io::ErrorKind::IsADirectory)
        } else {
            io::Error::other("it is read more than once; give a file, not a pipe")
        };
        Err(Error::io(&display_name(path), "read", source))
    }

    /// Wraps any reader; `size` is its length in bytes before decompression, if known.
    ///
    /// # Errors
    /// [`Error::Io`] if the first bytes cannot be read or decompressed, or belong to a format other
    /// than text.
    pub fn from_reader(
        reader: impl Read + Send + 'static,
        name: &str,
        size: Option<u64>,
    ) -> Result<Self> {
        Self::from_boxed(Box::new(reader), name, size)
    }

    /// Works like [`Input::from_reader`], but is compiled only once for all readers.
    fn from_boxed(reader: Box<dyn Read + Send>, name: &str, size: Option<u64>) -> Result<Self> {
        let consumed = Arc::new(AtomicU64::new(0));
        let counted = CountingReader { inner: reader, consumed: Arc::clone(&consumed) };
        let mut buffered = BufReader::with_capacity(BUFFER, counted);
        let start = buffered.fill_buf().map_err(|e| Error::io(name, "read", e))?;
        if let Some(reason) = describe_foreign_format(start) {
            return Err(Error::io(
                name,
                "read",
                io::Error::new(io::ErrorKind::InvalidData, reason),
            ));
        }
        let mut is_binary = false;
        let reader: Box<dyn Read + Send> = match start {
            [0x1f, 0x8b, ..] => Box::new(Members::<_, GzDecoder<_>>::new(buffered)),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Box::new(
                zstd::Decoder::with_buffer(buffered).map_err(|e| Error::io(name, "read", e))?,
            ),
            _ if is_bzip2(start) => Box::new(Members::<_, BzDecoder<_>>::new(buffered)),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => {
                Box::new(XzReader::new_mem_limit(buffered, true, MAX_XZ_KIB))
            }
            _ => {
                is_binary = start.contains(&0);
                Box::new(buffered)
            }
        };
        let reader = skip_byte_order_mark(reader).map_err(|e| Error::io(name, "read", e))?;
        let line_limit = LineLimit::new();
        Ok(Input { name: name.to_owned(), reader, size, consumed, is_binary, line_limit })
    }

    /// Turns the default limit off, for texts whose lines may be of any length. A limit that the
    /// user chose still applies.
    pub fn without_default_line_limit(self) -> Self {
        Input { line_limit: LineLimit::chosen(), ..self }
    }

    /// Turns the limit off, for data without lines.
    pub fn without_line_limit(self) -> Self {
        Input { line_limit: LineLimit::none(), ..self }
    }

    /// Returns the name of the input in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its length in bytes before decompression, if known.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Whether its first bytes contain zeros, so that it is probably not UTF-8. Always false for
    /// compressed text.
    pub fn is_binary(&self) -> bool {
        self.is_binary
    }

    /// Returns a counter of the bytes read so far, before decompression.
    pub fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.reader.read(buffer)?;
        self.line_limit.check(&buffer[..n])?;
        Ok(n)
    }
}

/// Whether data that begins with `start` is compressed by bzip2, or may be, if `start` is shorter
/// than a header.
fn is_bzip2(start: &[u8]) -> bool {
    let Some([level, block @ ..]) = start.strip_prefix(b"BZh") else { return false };
    let block = &block[..block.len().min(BZIP2_BLOCKS[0].len())];
    let is_block = BZIP2_BLOCKS.iter().any(|known| known.starts_with(block));
    (b'1'..=b'9').contains(level) && !block.is_empty() && is_block
}

/// Skips a byte order mark, if there is one.
fn skip_byte_order_mark(mut reader: Box<dyn Read + Send>) -> io::Result<Box<dyn Read + Send>> {
    let mut start = Vec::with_capacity(BYTE_ORDER_MARK.len());
    // Only the necessary bytes are read, because the writer of a short line may wait for an answer.
    while start.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&start) {
        if reader.by_ref().take(1).read_to_end(&mut start)? == 0 {
            break;
        }
    }
    if start == BYTE_ORDER_MARK {
        return Ok(reader);
    }
    Ok(Box::new(io::Cursor::new(start).chain(reader)))
}

struct CountingReader {
    inner: Box<dyn Read + Send>,
    consumed: Arc<AtomicU64>,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.consumed.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn read(bytes: Vec<u8>) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut input = Input::from_reader(io::Cursor::new(bytes), "test", None)?;
        input.read_to_end(&mut text).map_err(|e| Error::io("test", "read", e))?;
        Ok(text)
    }

    #[test]
    fn the_first_bytes_tell_the_format() {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), Default::default());
        gz.write_all(b"one\n").unwrap();
        let gz = gz.finish().unwrap();
        assert_eq!(read(b"one\n".to_vec()).unwrap(), b"one\n");
        assert_eq!(read(b"".to_vec()).unwrap(), b"");
        assert_eq!(read(zstd::encode_all(&b"one\n"[..], 1).unwrap()).unwrap(), b"one\n");
        assert_eq!(read([&gz[..], &gz[..]].concat()).unwrap(), b"one\none\n", "two members");
        assert!(read(gz[..gz.len() - 5].to_vec()).is_err(), "a truncated file is an error");
        assert!(read(b"BZh91AY".to_vec()).is_err());
        let empty = b"BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0";
        assert_eq!(read(empty.to_vec()).unwrap(), b"");
        for text in ["BZh", "BZh 1AY&SY\n", "BZh0AY&SY\n", "BZh9\n", "BZh91AY of it\n", "BZhang\n"]
        {
            assert_eq!(read(text.into()).unwrap(), text.as_bytes());
        }
        let packed = |name: &str| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
            std::fs::read(folder.join(name)).unwrap()
        };
        for name in ["lines.bz2", "lines.xz"] {
            let bytes = packed(name);
            assert_eq!(read(bytes.clone()).unwrap(), b"one\ntwo\n", "{name}");
            assert_eq!(read([&bytes[..], &bytes[..]].concat()).unwrap(), b"one\ntwo\none\ntwo\n");
            assert!(read(bytes[..bytes.len() - 5].to_vec()).is_err(), "{name}");
        }
    }

    #[test]
    fn a_byte_order_mark_at_the_start_is_not_text() {
        let marked = b"\xef\xbb\xbfone \xef\xbb\xbf\n";
        assert_eq!(read(marked.to_vec()).unwrap(), b"one \xef\xbb\xbf\n");
        assert_eq!(read(zstd::encode_all(&marked[..], 1).unwrap()).unwrap(), &marked[3..]);
        for short in [&b""[..], b"\xef", b"\xef\xbb", b"ab"] {
            assert_eq!(read(short.to_vec()).unwrap(), short);
        }
    }

    /// A pipe whose writer waits for an answer before it writes more.
    struct Waiting(Option<&'static [u8]>);

    impl Read for Waiting {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let line = self.0.take().expect("nothing more is asked for");
            buffer[..line.len()].copy_from_slice(line);
            Ok(line.len())
        }
    }

    #[test]
    fn a_short_first_line_is_read_at_once() {
        for line in [&b"\n"[..], b"a\n"] {
            let mut input = Input::from_reader(Waiting(Some(line)), "test", None).unwrap();
            let mut text = vec![0; line.len()];
            input.read_exact(&mut text).unwrap();
            assert_eq!(text, line);
        }
    }

    #[test]
    fn a_directory_is_an_error() {
        let error = Input::open(Path::new(".")).err().unwrap();
        assert!(error.to_string().contains("directory"), "{error}");
    }
}
