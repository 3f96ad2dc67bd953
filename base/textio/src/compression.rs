//! Compression of written text, chosen by the file name.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use lzma_rust2::{XzOptions, XzWriter};

/// The level of xz for streams; the default of the `xz` command.
const XZ_LEVEL: u32 = 6;

/// The compression of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// Plain text.
    None,
    /// Gzip members: `.gz`.
    Gzip,
    /// Zstd frames: `.zst`.
    Zstd,
    /// Bzip2 streams: `.bz2`.
    Bzip2,
    /// Xz streams: `.xz`.
    Xz,
}

impl Compression {
    /// Returns the compression for the extension of `path`.
    pub(crate) fn from_path(path: &Path) -> Self {
        match path.extension().and_then(|e| e.to_str()) {
            Some("gz") => Compression::Gzip,
            Some("zst") => Compression::Zstd,
            Some("bz2") => Compression::Bzip2,
            Some("xz") => Compression::Xz,
            _ => Compression::None,
        }
    }

    /// Returns the file extension with its dot; empty for plain text.
    pub fn extension(self) -> &'static str {
        match self {
            Compression::None => "",
            Compression::Gzip => ".gz",
            Compression::Zstd => ".zst",
            Compression::Bzip2 => ".bz2",
            Compression::Xz => ".xz",
        }
    }
}

/// A compressor of texts, one after another, at the fastest level. Concatenated compressed texts
/// decompress to the concatenation of the texts, so threads can compress parts of one file
/// ([`Output::create_precompressed`](crate::Output::create_precompressed)).
pub struct TextCompressor {
    compression: Compression,
    /// The tables of zstd, made for the first text.
    zstd: Option<zstd::bulk::Compressor<'static>>,
    buffer: Vec<u8>,
}

impl TextCompressor {
    /// Returns a compressor for `compression`.
    pub fn new(compression: Compression) -> Self {
        TextCompressor { compression, zstd: None, buffer: Vec::new() }
    }

    /// Compresses `text`. Equal texts have equal results, whatever came before.
    ///
    /// # Errors
    /// If the compressor fails.
    pub fn compress(&mut self, text: &[u8]) -> io::Result<Vec<u8>> {
        let buffer = || Vec::with_capacity(text.len() / 3);
        match self.compression {
            Compression::None => Ok(text.to_vec()),
            Compression::Gzip => {
                let mut gzip = flate2::write::GzEncoder::new(buffer(), flate2::Compression::fast());
                gzip.write_all(text)?;
                gzip.finish()
            }
            Compression::Zstd => {
                let zstd = match &mut self.zstd {
                    Some(zstd) => zstd,
                    none => none.insert(zstd::bulk::Compressor::new(1)?),
                };
                self.buffer.clear();
                self.buffer.reserve(zstd::zstd_safe::compress_bound(text.len()));
                zstd.compress_to_buffer(text, &mut self.buffer)?;
                Ok(self.buffer.clone())
            }
            Compression::Bzip2 => {
                let mut bzip2 = bzip2::write::BzEncoder::new(buffer(), bzip2::Compression::fast());
                bzip2.write_all(text)?;
                bzip2.finish()
            }
            Compression::Xz => {
                let mut xz = XzWriter::new(buffer(), XzOptions::with_preset(0))?;
                xz.write_all(text)?;
                xz.finish()
            }
        }
    }
}

type Plain = BufWriter<Box<dyn Write + Send>>;

/// A writer that compresses a stream.
pub(crate) enum Encoder {
    Plain(Plain),
    Gzip(flate2::write::GzEncoder<Plain>),
    Zstd(zstd::Encoder<'static, Plain>),
    Bzip2(Box<bzip2::write::BzEncoder<Plain>>),
    Xz(Box<XzWriter<Plain>>),
}

impl Encoder {
    /// Begins a stream to `plain`, at the default levels of the commands `gzip`, `zstd`, `bzip2`
    /// and `xz`.
    pub fn new(compression: Compression, plain: Plain) -> io::Result<Self> {
        Ok(match compression {
            Compression::None => Encoder::Plain(plain),
            Compression::Gzip => {
                Encoder::Gzip(flate2::write::GzEncoder::new(plain, flate2::Compression::default()))
            }
            Compression::Zstd => Encoder::Zstd(zstd::Encoder::new(plain, 3)?),
            Compression::Bzip2 => {
                let bzip2 = bzip2::write::BzEncoder::new(plain, bzip2::Compression::best());
                Encoder::Bzip2(Box::new(bzip2))
            }
            Compression::Xz => {
                Encoder::Xz(Box::new(XzWriter::new(plain, XzOptions::with_preset(XZ_LEVEL))?))
            }
        })
    }

    pub fn as_write(&mut self) -> &mut dyn Write {
        match self {
            Encoder::Plain(w) => w,
            Encoder::Gzip(w) => w,
            Encoder::Zstd(w) => w,
            Encoder::Bzip2(w) => w,
            Encoder::Xz(w) => w,
        }
    }

    /// Ends the stream.
    pub fn finish(self) -> io::Result<Plain> {
        match self {
            Encoder::Plain(plain) => Ok(plain),
            Encoder::Gzip(gzip) => gzip.finish(),
            Encoder::Zstd(zstd) => zstd.finish(),
            Encoder::Bzip2(bzip2) => bzip2.finish(),
            Encoder::Xz(xz) => xz.finish(),
        }
    }
}
