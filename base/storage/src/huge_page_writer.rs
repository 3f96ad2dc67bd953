//! Writer that fills whole huge pages of the page cache.
//!
//! File systems with large folios (XFS, and ext4 since Linux 6.16) make a folio as large as the
//! write that fills it. Chunks of 2 MiB at multiples of 2 MiB become huge pages. A program that
//! loads the file with [`LoadMethod::Populate`](crate::LoadMethod) maps each of them with one entry
//! of the page table instead of 512.

use std::io::{self, Seek, SeekFrom, Write};

/// The size of a huge page in bytes. If the processor has another size, files are still correct,
/// but fewer huge pages are made.
pub(crate) const HUGE_PAGE: usize = 2 << 20;

/// A writer of chunks that end at multiples of [`HUGE_PAGE`].
pub(crate) struct HugePageWriter<W> {
    inner: W,
    /// The bytes not yet written.
    buffer: Vec<u8>,
    /// The offset of the buffer's bytes in a huge page.
    page_offset: usize,
    /// Whether a write has failed, possibly after writing a part.
    has_failed: bool,
}

impl<W: Write> HugePageWriter<W> {
    /// Returns a writer to `inner`, which is empty.
    pub(crate) fn new(inner: W) -> Self {
        HugePageWriter { inner, buffer: Vec::new(), page_offset: 0, has_failed: false }
    }

    /// Writes the buffer and returns the inner writer.
    ///
    /// # Errors
    /// The errors of writing. After a failed write of the buffer, it always fails.
    pub(crate) fn into_inner(mut self) -> io::Result<W> {
        self.flush_buffer()?;
        Ok(self.inner)
    }

    fn flush_buffer(&mut self) -> io::Result<()> {
        if self.has_failed {
            return Err(io::Error::other("an earlier write has failed"));
        }
        self.has_failed = true;
        self.inner.write_all(&self.buffer)?;
        self.has_failed = false;
        self.page_offset = (self.page_offset + self.buffer.len()) % HUGE_PAGE;
        self.buffer.clear();
        Ok(())
    }
}

impl<W: Write + Seek> HugePageWriter<W> {
    /// Overwrites existing bytes at `offset` with `bytes`.
    ///
    /// # Errors
    /// The errors of writing and seeking.
    pub(crate) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.flush_buffer()?;
        self.inner.seek(SeekFrom::Start(offset))?;
        self.inner.write_all(bytes)?;
        self.inner.seek(SeekFrom::End(0)).map(drop)
    }
}

impl<W: Write> Write for HugePageWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.page_offset + self.buffer.len() == 0 && bytes.len() >= HUGE_PAGE {
            let written = self.inner.write(&bytes[..bytes.len() / HUGE_PAGE * HUGE_PAGE])?;
            self.page_offset = written % HUGE_PAGE;
            return Ok(written);
        }
        let room = HUGE_PAGE - self.page_offset - self.buffer.len();
        let taken = bytes.len().min(room);
        self.buffer.extend_from_slice(&bytes[..taken]);
        if taken == room {
            self.flush_buffer()?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flush_buffer()?;
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_failed_write_is_never_forgotten() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut writer = HugePageWriter::new(Full);
        writer.write_all(b"bytes").unwrap();
        assert!(writer.flush().is_err());
        assert!(writer.flush().is_err() && writer.into_inner().is_err());
    }

    /// A writer that records the bytes and the range of each write.
    #[derive(Default)]
    struct Recorder {
        bytes: Vec<u8>,
        writes: Vec<(usize, usize)>,
        /// Whether writes are partial, as on some devices.
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
