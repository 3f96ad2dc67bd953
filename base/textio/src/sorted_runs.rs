//! Sorted runs of lines, in memory and in compressed temporary files, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rayon::prelude::*;

use crate::line::Line;
use crate::{Error, Result};

/// Bytes of bookkeeping a line while it is gathered.
pub(crate) const LINE_OVERHEAD: usize = size_of::<LineEntry>();

struct LineEntry {
    start: usize,
    len: u32,
    number: u64,
}

#[derive(Default)]
pub(crate) struct SortBuffer {
    bytes: Vec<u8>,
    entries: Vec<LineEntry>,
}

impl SortBuffer {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.entries.len() * LINE_OVERHEAD
    }

    pub fn push(&mut self, line: Line<'_>, name: &str) -> Result<()> {
        let Ok(len) = u32::try_from(line.bytes.len()) else {
            return Err(Error::format(name, line.number, None, "a line of 4 GiB or more"));
        };
        let entry = LineEntry { start: self.bytes.len(), len, number: line.number };
        self.bytes.extend_from_slice(line.bytes);
        self.entries.push(entry);
        Ok(())
    }

    fn line(&self, entry: &LineEntry) -> &[u8] {
        &self.bytes[entry.start..entry.start + entry.len as usize]
    }

    pub fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |e: &LineEntry| (&bytes[e.start..e.start + e.len as usize], e.number);
        self.entries.par_sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    }

    /// Sorts the chunk into a temporary file and empties it.
    pub fn spill(&mut self, folder: &Path) -> Result<SpilledRun> {
        self.sort();
        let name = folder.display().to_string();
        let failed = |e| Error::io(&name, "write a temporary file for sorting in this folder", e);
        let file = tempfile::tempfile_in(folder).map_err(failed)?;
        let mut writer = zstd::Encoder::new(BufWriter::new(file), 1).map_err(failed)?;
        for entry in &self.entries {
            writer.write_all(&entry.number.to_le_bytes()).map_err(failed)?;
            writer.write_all(&entry.len.to_le_bytes()).map_err(failed)?;
            writer.write_all(self.line(entry)).map_err(failed)?;
        }
        let buffered = writer.finish().map_err(failed)?;
        let mut file = buffered.into_inner().map_err(|e| failed(e.into_error()))?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        self.bytes.clear();
        self.entries.clear();
        zstd::Decoder::new(file).map_err(failed)
    }
}

pub(crate) type SpilledRun = zstd::Decoder<'static, BufReader<File>>;

pub(crate) enum SortedRun {
    File(SpilledRun),
    Memory { chunk: SortBuffer, next: usize },
}

impl SortedRun {
    /// The lines of `chunk`, which are sorted.
    pub fn in_memory(chunk: SortBuffer) -> Self {
        SortedRun::Memory { chunk, next: 0 }
    }
}

/// A k-way merge of sorted runs.
pub(crate) struct KWayMerge {
    name: String,
    runs: Vec<SortedRun>,
    heap: BinaryHeap<Reverse<(Vec<u8>, u64, usize)>>,
    current: Vec<u8>,
}

impl KWayMerge {
    pub fn new(name: String) -> Self {
        KWayMerge { name, runs: Vec::new(), heap: BinaryHeap::new(), current: Vec::new() }
    }

    pub fn add_run(&mut self, run: SortedRun) -> Result<()> {
        self.runs.push(run);
        self.advance(self.runs.len() - 1, Vec::new())
    }

    /// Puts the next line of `run` into the heap, in the buffer `line`.
    fn advance(&mut self, run: usize, mut line: Vec<u8>) -> Result<()> {
        let number = match &mut self.runs[run] {
            SortedRun::Memory { chunk, next } => {
                let Some(entry) = chunk.entries.get(*next) else { return Ok(()) };
                line.clear();
                line.extend_from_slice(chunk.line(entry));
                *next += 1;
                entry.number
            }
            SortedRun::File(file) => {
                let failed = |e| Error::io(&self.name, "read back its sorted lines", e);
                let mut head = [0; 12];
                let first = file.read(&mut head).map_err(failed)?;
                if first == 0 {
                    return Ok(());
                }
                file.read_exact(&mut head[first..]).map_err(failed)?;
                let [number, len] = [&head[..8], &head[8..]];
                line.resize(u32::from_le_bytes(len.try_into().expect("4 bytes")) as usize, 0);
                file.read_exact(&mut line).map_err(failed)?;
                u64::from_le_bytes(number.try_into().expect("8 bytes"))
            }
        };
        self.heap.push(Reverse((line, number, run)));
        Ok(())
    }

    pub fn next(&mut self) -> Result<Option<Line<'_>>> {
        let Some(Reverse((line, number, run))) = self.heap.pop() else { return Ok(None) };
        let spare = std::mem::replace(&mut self.current, line);
        self.advance(run, spare)?;
        Ok(Some(Line { bytes: &self.current, number, terminated: true }))
    }
}
