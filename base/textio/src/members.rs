//! Decompression of gzip and bzip2 files of several members, one after the other, as `cat` and
//! parallel compressors write them. Zeros after a member are padding, which tapes, archives and
//! block devices add; `gzip -d` ignores them, too.

use std::io::{self, BufRead, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

/// A decompressor of one member.
pub(crate) trait MemberDecoder<R>: Read {
    const NAME: &str;
    /// The first byte of a member.
    const FIRST_BYTE: u8;

    fn new(reader: R) -> Self;

    /// Returns the reader. Its next byte is the first after the member, if all of the member was
    /// read.
    fn into_reader(self) -> R;
}

impl<R: BufRead> MemberDecoder<R> for GzDecoder<R> {
    const NAME: &str = "gzip";
    const FIRST_BYTE: u8 = 0x1f;

    fn new(reader: R) -> Self {
        GzDecoder::new(reader)
    }

    fn into_reader(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> MemberDecoder<R> for BzDecoder<R> {
    const NAME: &str = "bzip2";
    const FIRST_BYTE: u8 = b'B';

    fn new(reader: R) -> Self {
        BzDecoder::new(reader)
    }

    fn into_reader(self) -> R {
        self.into_inner()
    }
}

/// A reader of the text of all members of a file.
pub(crate) struct Members<R, D> {
    /// The reader between members and at the end of the file; `None` within a member.
    reader: Option<R>,
    /// The decompressor of the current member, which owns the reader.
    decoder: Option<D>,
}

impl<R: BufRead, D: MemberDecoder<R>> Members<R, D> {
    /// Creates a reader of the members in `reader`, which must have at least one.
    pub fn new(reader: R) -> Self {
        Members { reader: None, decoder: Some(D::new(reader)) }
    }

    /// Begins the next member. Returns whether there is one.
    fn begin_next(&mut self) -> io::Result<bool> {
        let Some(reader) = &mut self.reader else { return Ok(false) };
        loop {
            let bytes = reader.fill_buf()?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
            if zeros < bytes.len() {
                if bytes[zeros] != D::FIRST_BYTE {
                    let reason = format!("other bytes follow the {} data", D::NAME);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
                }
                reader.consume(zeros);
                self.decoder = self.reader.take().map(D::new);
                return Ok(true);
            }
            reader.consume(zeros);
        }
    }
}

impl<R: BufRead, D: MemberDecoder<R>> Read for Members<R, D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(decoder) = &mut self.decoder {
                let count = decoder.read(buffer)?;
                if count > 0 || buffer.is_empty() {
                    return Ok(count);
                }
                self.reader = self.decoder.take().map(D::into_reader);
            }
            if !self.begin_next()? {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(text: &[u8]) -> Vec<u8> {
        let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    type Buffered = io::BufReader<io::Cursor<Vec<u8>>>;

    /// Reads through a buffer of few bytes, so that members end anywhere in it.
    fn read<D: MemberDecoder<Buffered>>(parts: &[&[u8]]) -> Result<Vec<u8>, String> {
        let mut text = Vec::new();
        let reader = io::BufReader::with_capacity(5, io::Cursor::new(parts.concat()));
        let mut members = Members::<_, D>::new(reader);
        members.read_to_end(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    #[test]
    fn members_follow_each_other_and_zeros_are_padding() {
        let [one, two] = [gzip(b"one\n"), gzip(b"two\n")];
        let zeros = [0; 512];
        for parts in [&[&one[..], &two][..], &[&one, &zeros, &two, &zeros], &[&one, &[0], &two]] {
            assert_eq!(read::<GzDecoder<_>>(parts).unwrap(), b"one\ntwo\n");
        }
        let [one, two] = [bzip2(b"one\n"), bzip2(b"two\n")];
        for parts in [&[&one[..], &two][..], &[&one, &zeros, &two, &zeros]] {
            assert_eq!(read::<BzDecoder<_>>(parts).unwrap(), b"one\ntwo\n");
        }
    }

    #[test]
    fn other_bytes_and_cut_members_are_errors() {
        let one = gzip(b"one\n");
        let error = read::<GzDecoder<_>>(&[&one, b"more"]).unwrap_err();
        assert_eq!(error, "other bytes follow the gzip data");
        assert!(read::<GzDecoder<_>>(&[&one[..one.len() - 5]]).is_err());
        assert!(read::<GzDecoder<_>>(&[&one, &one[..12]]).is_err());
        let one = bzip2(b"one\n");
        assert!(read::<BzDecoder<_>>(&[&one, &[0], b"x"]).unwrap_err().contains("bzip2"));
        assert!(read::<BzDecoder<_>>(&[&one[..one.len() - 3]]).is_err());
    }
}
