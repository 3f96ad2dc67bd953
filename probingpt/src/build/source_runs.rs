//! The intermediate form of a table: a row for each phrase pair. A row has ids in the place of the
//! fields that repeat; a worker numbers them in the order in which they first occur. Consecutive
//! rows of a source phrase form a run. The highest bits of the source's hash choose one of
//! [`PARTITIONS`] buffers for the run.
//!
//! In the final table, codes replace ids. Codes are ranks by frequency, which are known only when
//! everything has been read. Until then, rows are buffered here, at about 26 bytes each. If the
//! buffers of a worker exceed its share of a memory bound, all of them are appended to a temporary
//! file of this worker, from which partitions are read one by one.

use std::path::Path;

use miriam_storage::spill_file::SpillFile;
use miriam_textio::leb128::{push_leb128, take_leb128};

use crate::Result;
use crate::format::{PARTITIONS, partition};

/// Advice in the error when the folder of the output, which also holds temporary files, is full.
const REMEDY: &str = "write the output to another folder, or give more memory with --memory";

/// Removes an id from the front of `bytes`; returns `None` if `bytes` do not begin with a number.
#[inline]
pub(crate) fn take_id(bytes: &mut &[u8]) -> Option<u32> {
    take_leb128(bytes).map(|n| n as u32)
}

/// A run: the rows of consecutive entries with the same source phrase.
#[derive(Clone, Copy)]
pub(crate) struct SourceRun<'a> {
    /// The hash of the source phrase.
    pub hash: u64,
    pub first_line: u64,
    pub last_line: u64,
    pub entries: usize,
    /// The number of source words, the ids of these words, and the rows.
    pub body: &'a [u8],
}

impl<'a> SourceRun<'a> {
    pub fn serialize(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.hash.to_le_bytes());
        push_leb128(out, self.first_line);
        push_leb128(out, self.last_line - self.first_line);
        push_leb128(out, self.entries as u64);
        push_leb128(out, self.body.len() as u64);
        out.extend_from_slice(self.body);
    }

    pub fn deserialize(bytes: &mut &'a [u8]) -> Option<Self> {
        let (hash, rest) = bytes.split_first_chunk::<8>()?;
        *bytes = rest;
        let first_line = take_leb128(bytes)?;
        let last_line = first_line.checked_add(take_leb128(bytes)?)?;
        let entries = take_leb128(bytes)? as usize;
        let length = take_leb128(bytes)? as usize;
        let (body, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Some(SourceRun { hash: u64::from_le_bytes(*hash), first_line, last_line, entries, body })
    }
}

/// The runs of one worker, by partition.
pub(crate) struct PartitionBuffers {
    /// A buffer for each partition.
    buffers: Vec<Vec<u8>>,
    /// The number of bytes in all buffers.
    buffered_bytes: usize,
    /// `None` if memory has no bound.
    spill: Option<SpilledBuffers>,
}

/// The runs that were moved from the buffers to a temporary file.
struct SpilledBuffers {
    /// The bound on `buffered_bytes`.
    max_buffered_bytes: usize,
    file: SpillFile,
    /// (partition, offset, length) of each segment of the file.
    segments: Vec<(usize, u64, usize)>,
}

impl PartitionBuffers {
    /// Returns empty buffers. `bound` is a number of bytes and a folder: when the buffers exceed
    /// that number, they are spilled to a temporary file in the folder.
    pub fn new(bound: Option<(usize, &Path)>) -> Self {
        let spill = bound.map(|(bound, folder)| SpilledBuffers {
            max_buffered_bytes: bound,
            file: SpillFile::new(folder, REMEDY),
            segments: Vec::new(),
        });
        PartitionBuffers { buffers: vec![Vec::new(); PARTITIONS], buffered_bytes: 0, spill }
    }

    /// Appends `run` to the buffer of its partition.
    pub fn push(&mut self, run: &SourceRun<'_>) -> Result<()> {
        let buffer = &mut self.buffers[partition(run.hash)];
        let start = buffer.len();
        run.serialize(buffer);
        self.buffered_bytes += buffer.len() - start;
        match &mut self.spill {
            Some(spill) if self.buffered_bytes > spill.max_buffered_bytes => {
                self.buffered_bytes = 0;
                spill.append_buffers(&mut self.buffers)
            }
            _ => Ok(()),
        }
    }

    /// Whether the buffers were spilled to a temporary file.
    pub fn has_spilled(&self) -> bool {
        self.spill.as_ref().is_some_and(|spill| !spill.segments.is_empty())
    }

    /// Returns a copy of the runs of partition `part`, in the order of appending.
    pub fn read_partition(&self, part: usize) -> Result<Vec<u8>> {
        let mut bytes = match &self.spill {
            Some(spill) => spill.read_segments(part)?,
            None => Vec::new(),
        };
        bytes.extend_from_slice(&self.buffers[part]);
        Ok(bytes)
    }

    /// Returns the runs of partition `part` as [`read_partition`](Self::read_partition) does, but
    /// removes them from memory.
    pub fn take_partition(&mut self, part: usize) -> Result<Vec<u8>> {
        if self.has_spilled() {
            return self.read_partition(part);
        }
        Ok(std::mem::take(&mut self.buffers[part]))
    }
}

impl SpilledBuffers {
    /// Moves all `buffers` to the file.
    fn append_buffers(&mut self, buffers: &mut [Vec<u8>]) -> Result<()> {
        for (part, buffer) in buffers.iter_mut().enumerate().filter(|(_, b)| !b.is_empty()) {
            self.segments.push((part, self.file.append(buffer)?, buffer.len()));
            // Clearing would keep the memory, and the next runs may go to other buffers.
            *buffer = Vec::new();
        }
        Ok(())
    }

    fn read_segments(&self, part: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for &(_, offset, length) in self.segments.iter().filter(|s| s.0 == part) {
            let start = bytes.len();
            bytes.resize(start + length, 0);
            self.file.read(offset, &mut bytes[start..])?;
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_can_be_read_repeatedly_in_order_whatever_the_bound(
            runs in proptest::collection::vec((any::<u64>(), 0u64..1000, proptest::collection::vec(any::<u8>(), 0..40)), 0..200),
            bound in proptest::option::of(0usize..10_000),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let mut partitions = PartitionBuffers::new(bound.map(|bytes| (bytes, folder.path())));
            for (hash, line, body) in &runs {
                let run = SourceRun { hash: *hash, first_line: *line, last_line: line + 3, entries: 2, body };
                partitions.push(&run).unwrap();
            }
            for part in 0..PARTITIONS {
                let bytes = partitions.read_partition(part).unwrap();
                prop_assert_eq!(&partitions.read_partition(part).unwrap(), &bytes);
                prop_assert_eq!(&partitions.take_partition(part).unwrap(), &bytes);
                let mut rest = &bytes[..];
                for (hash, line, body) in runs.iter().filter(|r| partition(r.0) == part) {
                    let run = SourceRun::deserialize(&mut rest).unwrap();
                    prop_assert_eq!((run.hash, run.first_line, run.body), (*hash, *line, &body[..]));
                }
                prop_assert!(rest.is_empty());
            }
        }
    }
}
