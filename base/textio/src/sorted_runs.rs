//! Sorted runs of lines, in memory and in compressed temporary files, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
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
    /// Returns the bytes of the line; `all` are those of all lines.
    fn bytes<'b>(&self, all: &'b [u8]) -> &'b [u8] {
        &all[self.start..][..self.len as usize]
    }

    /// Returns the sort key: the bytes, then the line number, so that an unstable sort keeps the
    /// order of equal lines.
    fn key<'b>(&self, all: &'b [u8]) -> (&'b [u8], u64) {
        (self.bytes(all), self.number)
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

    /// Returns the length of the lines, including bookkeeping. Up to twice as much is allocated,
    /// because vectors grow by doubling.
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

    fn sort(&mut self) {
        let bytes = &self.bytes;
        self.entries.par_sort_unstable_by(|a, b| a.key(bytes).cmp(&b.key(bytes)));
    }

    /// Sorts the lines, writes them to a temporary file in `folder`, and clears the buffer.
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
            writer.write_all(entry.bytes(&self.bytes))?;
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
    Memory { buffer: SortBuffer, next: usize },
}

impl SortedRun {
    /// Sorts the lines of `buffer` and returns them as a run.
    pub fn in_memory(mut buffer: SortBuffer) -> Self {
        buffer.sort();
        SortedRun::Memory { buffer, next: 0 }
    }

    /// Reads the next line into `line`, and returns its number; `None` at the end.
    fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
        match self {
            SortedRun::File(file) => read_spilled_line(file, line),
            SortedRun::Memory { buffer, next } => {
                let Some(entry) = buffer.entries.get(*next) else { return Ok(None) };
                line.clear();
                line.extend_from_slice(entry.bytes(&buffer.bytes));
                *next += 1;
                Ok(Some(entry.number))
            }
        }
    }
}

/// A k-way merge of sorted runs.
pub(crate) struct KWayMerge {
    name: String,
    runs: Vec<SortedRun>,
    /// The next line of each run that has one: its bytes, its number, the index of the run.
    heap: BinaryHeap<Reverse<(Vec<u8>, u64, usize)>>,
    current: Vec<u8>,
}

impl KWayMerge {
    pub fn new(name: String) -> Self {
        KWayMerge { name, runs: Vec::new(), heap: BinaryHeap::new(), current: Vec::new() }
    }

    pub fn add_run(&mut self, mut run: SortedRun) -> Result<()> {
        let mut line = Vec::new();
        let number = run.read_line(&mut line).map_err(|e| read_error(&self.name, e))?;
        if let Some(number) = number {
            self.heap.push(Reverse((line, number, self.runs.len())));
            self.runs.push(run);
        }
        Ok(())
    }

    pub fn next(&mut self) -> Result<Option<Line<'_>>> {
        let Some(mut first) = self.heap.peek_mut() else { return Ok(None) };
        let Reverse((line, number, run)) = &mut *first;
        let current_number = *number;
        std::mem::swap(&mut self.current, line);
        match self.runs[*run].read_line(line).map_err(|e| read_error(&self.name, e))? {
            Some(next) => *number = next,
            None => {
                PeekMut::pop(first);
            }
        }
        Ok(Some(Line { bytes: &self.current, number: current_number, terminated: true }))
    }
}

fn read_error(name: &str, error: io::Error) -> Error {
    Error::io(name, "read back its sorted lines from the temporary folder", error)
}

/// Reads the next line of a spilled run into `line`, and returns its number; `None` at the end.
fn read_spilled_line(file: &mut SpilledRun, line: &mut Vec<u8>) -> io::Result<Option<u64>> {
    let mut head = [0; 12];
    let read = file.read(&mut head)?;
    if read == 0 {
        return Ok(None);
    }
    file.read_exact(&mut head[read..])?;
    let (number, len) = head.split_first_chunk::<8>().expect("12 bytes");
    line.resize(u32::from_le_bytes(len.try_into().expect("4 bytes")) as usize, 0);
    file.read_exact(line)?;
    Ok(Some(u64::from_le_bytes(*number)))
}
