//! Sorted runs of lines, in memory and in compressed temporary files, and their merge.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

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
    /// Returns the bytes of the line; `all` is the buffer with the bytes of all lines.
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
        self.write_sorted(folder).map_err(|error| write_error(folder, error))
    }

    fn write_sorted(&mut self, folder: &Path) -> io::Result<SpilledRun> {
        let mut writer = RunWriter::create(folder)?;
        for entry in &self.entries {
            writer.push(entry.number, entry.bytes(&self.bytes))?;
        }
        self.bytes.clear();
        self.entries.clear();
        writer.finish()
    }
}

/// A temporary file to which sorted lines are written.
struct RunWriter(zstd::Encoder<'static, BufWriter<File>>);

impl RunWriter {
    fn create(folder: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder)?;
        Ok(RunWriter(zstd::Encoder::new(BufWriter::new(file), 1)?))
    }

    fn push(&mut self, number: u64, line: &[u8]) -> io::Result<()> {
        self.0.write_all(&number.to_le_bytes())?;
        self.0.write_all(&(line.len() as u32).to_le_bytes())?;
        self.0.write_all(line)
    }

    fn finish(self) -> io::Result<SpilledRun> {
        let mut file = self.0.finish()?.into_inner().map_err(|e| e.into_error())?;
        file.seek(SeekFrom::Start(0))?;
        zstd::Decoder::new(file)
    }
}

/// The number of runs that are merged into one. Usually, a process may have at most 1,024 files
/// open. In tests, the number is smaller, so that few runs have several levels.
const MERGED_RUNS: usize = if cfg!(test) { 4 } else { 64 };

/// The runs of a sort, in levels. A run of the first level is a buffer that was written to a file.
/// As soon as a level has [`MERGED_RUNS`] runs, they are merged into one run of the next level. So
/// each level has at most [`MERGED_RUNS`] open files, and each line is written at most once for
/// each level. The number of levels is logarithmic.
pub(crate) struct SpilledRuns {
    levels: Vec<Vec<SpilledRun>>,
    folder: PathBuf,
    name: String,
}

impl SpilledRuns {
    /// Creates an empty set for the lines of the input `name`.
    pub fn new(name: &str, folder: &Path) -> Self {
        SpilledRuns { levels: Vec::new(), folder: folder.to_owned(), name: name.to_owned() }
    }

    pub fn push(&mut self, mut run: SpilledRun) -> Result<()> {
        for level in 0.. {
            if level == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[level].push(run);
            if self.levels[level].len() < MERGED_RUNS {
                break;
            }
            let full = std::mem::take(&mut self.levels[level]);
            run = self.merge(full)?;
        }
        Ok(())
    }

    fn merge(&self, runs: Vec<SpilledRun>) -> Result<SpilledRun> {
        let mut merge = KWayMerge::new(self.name.clone());
        for run in runs {
            merge.add_run(SortedRun::File(run))?;
        }
        let failed = |error| write_error(&self.folder, error);
        let mut writer = RunWriter::create(&self.folder).map_err(failed)?;
        while let Some(line) = merge.next()? {
            writer.push(line.number, line.bytes).map_err(failed)?;
        }
        writer.finish().map_err(failed)
    }

    /// Returns all runs.
    pub fn into_runs(self) -> impl Iterator<Item = SpilledRun> {
        self.levels.into_iter().flatten()
    }
}

fn write_error(folder: &Path, error: io::Error) -> Error {
    let name = folder.display().to_string();
    Error::io(&name, "write a temporary file for sorting in this folder", error)
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
