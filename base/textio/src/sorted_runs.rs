//! Sorted runs of lines, in memory and in compressed temporary files, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rayon::prelude::*;

use crate::error::TOO_LONG_LINE;
use crate::line::Line;
use crate::{Error, Result};

/// The bookkeeping per collected line, in bytes.
pub(crate) const LINE_OVERHEAD: usize = size_of::<LineEntry>();

struct LineEntry {
    start: usize,
    len: u32,
    number: u64,
}

impl LineEntry {
    /// Returns the sort key of a line.
    fn key<'b>(&self, bytes: &'b [u8]) -> (&'b [u8], u64) {
        (&bytes[self.start..self.start + self.len as usize], self.number)
    }
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
            return Err(Error::format(name, line.number, None, TOO_LONG_LINE));
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
        self.entries.par_sort_unstable_by(|a, b| a.key(bytes).cmp(&b.key(bytes)));
    }

    /// Sorts the chunk into a temporary file and empties it.
    pub fn spill(&mut self, folder: &Path) -> Result<SpilledRun> {
        self.sort();
        self.write_sorted(folder).map_err(|error| {
            let name = folder.display().to_string();
            Error::io(&name, "write a temporary file for sorting in this folder", error)
        })
    }

    fn write_sorted(&mut self, folder: &Path) -> io::Result<SpilledRun> {
        let file = tempfile::tempfile_in(folder)?;
        let mut writer = zstd::Encoder::new(BufWriter::new(file), 1)?;
        for entry in &self.entries {
            writer.write_all(&entry.number.to_le_bytes())?;
            writer.write_all(&entry.len.to_le_bytes())?;
            writer.write_all(self.line(entry))?;
        }
        let buffered = writer.finish()?;
        let mut file = buffered.into_inner().map_err(|e| e.into_error())?;
        file.seek(SeekFrom::Start(0))?;
        self.bytes.clear();
        self.entries.clear();
        zstd::Decoder::new(file)
    }
}

pub(crate) type SpilledRun = zstd::Decoder<'static, BufReader<File>>;

pub(crate) enum SortedRun {
    File(SpilledRun),
    Memory { chunk: SortBuffer, next: usize },
}

impl SortedRun {
    /// Returns a run of the sorted lines of `chunk`.
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

    /// Adds the next line of `run`, in the buffer `line`, to the heap.
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
                let number = read_spilled_line(file, &mut line)
                    .map_err(|e| Error::io(&self.name, "read back its sorted lines", e))?;
                let Some(number) = number else { return Ok(()) };
                number
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

/// Reads the next line of a spilled run into `line`, and returns its number; `None` at the end.
fn read_spilled_line(file: &mut SpilledRun, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    let mut head = [0; 12];
    let first = file.read(&mut head)?;
    if first == 0 {
        return Ok(None);
    }
    file.read_exact(&mut head[first..])?;
    let [number, len] = [&head[..8], &head[8..]];
    line.resize(u32::from_le_bytes(len.try_into().expect("4 bytes")) as usize, 0);
    file.read_exact(line)?;
    Ok(Some(u64::from_le_bytes(number.try_into().expect("8 bytes"))))
}
