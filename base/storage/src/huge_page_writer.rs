//! Writes that fill whole huge pages of the page cache.
//!
//! File systems with large folios (XFS, and ext4 since Linux 6.16) make a folio as large as the
//! write that fills it. Pieces of 2 MiB at multiples of 2 MiB become huge pages, each of which a
//! program maps with one entry in place of 512: of a table of 800 MB, which was just written or
//! read with [`LoadMethod::Populate`](crate::LoadMethod), mapping then takes a tenth of the time.

use std::io::{self, Seek, SeekFrom, Write};

/// The size of a huge page; where the processor's is another, only the gain is less.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// Passes bytes on in pieces that end at multiples of [`HUGE_PAGE`].
pub(crate) struct HugePageWriter<W> {
    inner: W,
    /// Not yet passed on.
    buffer: Vec<u8>,
    /// How many bytes of the huge page come before those of the buffer.
    begun: usize,
}

impl<W: Write> HugePageWriter<W> {
    /// A writer to `inner`, which has nothing yet.
    pub(crate) fn new(inner: W) -> Self {
        HugePageWriter { inner, buffer: Vec::new(), begun: 0 }
    }

    /// What was written to, with all bytes.
    ///
    /// # Errors
    /// Those of writing.
    pub(crate) fn into_inner(mut self) -> io::Result<W> {
        self.pass_on()?;
        Ok(self.inner)
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.inner.write_all(&self.buffer)?;
        self.begun = (self.begun + self.buffer.len()) % HUGE_PAGE;
        self.buffer.clear();
        Ok(())
    }
}

impl<W: Write + Seek> HugePageWriter<W> {
    /// Overwrites the bytes at `offset`, all of them there before, with `bytes`.
    ///
    /// # Errors
    /// Those of writing and seeking.
    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.pass_on()?;
        self.inner.seek(SeekFrom::Start(offset))?;
        self.inner.write_all(bytes)?;
        self.inner.seek(SeekFrom::End(0)).map(drop)
    }
}

impl<W: Write> Write for HugePageWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.begun + self.buffer.len() == 0 && bytes.len() >= HUGE_PAGE {
            let written = self.inner.write(&bytes[..bytes.len() / HUGE_PAGE * HUGE_PAGE])?;
            self.begun = written % HUGE_PAGE;
            return Ok(written);
        }
        let room = HUGE_PAGE - self.begun - self.buffer.len();
        let taken = bytes.len().min(room);
        self.buffer.extend_from_slice(&bytes[..taken]);
        if taken == room {
            self.pass_on()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pass_on()?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The bytes, and where each write began and ended.
    #[derive(Default)]
    struct Recorder {
        bytes: Vec<u8>,
        writes: Vec<(usize, usize)>,
        /// Takes less than is asked for, as a device may.
        is_slow: bool,
    }

    impl Write for Recorder {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let taken = if self.is_slow { bytes.len().div_ceil(2) } else { bytes.len() };
            let begin = self.bytes.len();
            self.bytes.extend_from_slice(&bytes[..taken]);
            self.writes.push((begin, begin + taken));
            Ok(taken)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn bytes_stay_and_no_write_has_parts_of_two_pages(
            parts in prop::collection::vec((0..2 * HUGE_PAGE + 9, any::<bool>()), 1..6),
            is_slow in any::<bool>(),
        ) {
            let mut writer = HugePageWriter::new(Recorder { is_slow, ..Recorder::default() });
            let mut expected = Vec::new();
            for (i, (length, flushes)) in (1..).zip(parts) {
                let bytes = vec![i; length];
                writer.write_all(&bytes).unwrap();
                expected.extend(bytes);
                if flushes {
                    writer.flush().unwrap();
                    prop_assert_eq!(writer.inner.bytes.len(), expected.len());
                }
            }
            let recorder = writer.into_inner().unwrap();
            prop_assert!(recorder.bytes == expected);
            for (begin, end) in recorder.writes.into_iter().filter(|_| !is_slow) {
                let is_in_one = begin / HUGE_PAGE == end.saturating_sub(1) / HUGE_PAGE;
                prop_assert!(
                    begin == end || is_in_one || (begin % HUGE_PAGE, end % HUGE_PAGE) == (0, 0),
                    "{begin} to {end}"
                );
            }
        }
    }
}
