//! External sort of any number of lines within a bound of memory.
//!
//! Lines are gathered until the bound is met, sorted on all threads, and written
//! to a compressed temporary file; the files are merged while they are read. The
//! order is that of bytes, `LC_ALL=C sort`; equal lines keep their order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::PathBuf;

use rayon::prelude::*;

use crate::{Error, Line, Lines, Result};

/// Limits of an external sort.
#[derive(Clone, Debug)]
pub struct SortOptions {
    /// Bytes of memory for gathered lines, bookkeeping included.
    pub memory: u64,
    /// The folder for temporary files.
    pub folder: PathBuf,
}

/// Bytes of bookkeeping a line while it is gathered.
const LINE_OVERHEAD: usize = size_of::<LineEntry>();

struct LineEntry {
    start: usize,
    len: u32,
    number: u64,
}

/// The lines of `lines` in the order of their bytes, with their original numbers.
///
/// # Errors
/// [`Error::Io`] where reading or a temporary file fails, [`Error::Format`] for a line of
/// 4 GiB or more.
pub fn sort_lines(mut lines: Lines, options: &SortOptions) -> Result<Lines> {
    let name = lines.name().to_owned();
    let mut runs = Vec::new();
    let mut chunk = SortBuffer::default();
    while let Some(line) = lines.next()? {
        if !chunk.entries.is_empty()
            && (chunk.memory_bytes() + line.bytes.len() + LINE_OVERHEAD) as u64 > options.memory
        {
            runs.push(chunk.spill(options)?);
        }
        chunk.push(line, &name)?;
    }
    chunk.sort();
    let mut merge = KWayMerge::new(name.clone());
    for run in runs {
        merge.add_run(SortedRun::File(run))?;
    }
    merge.add_run(SortedRun::Memory { chunk, next: 0 })?;
    Ok(Lines::sorted(name, merge))
}

#[derive(Default)]
struct SortBuffer {
    bytes: Vec<u8>,
    entries: Vec<LineEntry>,
}

impl SortBuffer {
    fn memory_bytes(&self) -> usize {
        self.bytes.len() + self.entries.len() * LINE_OVERHEAD
    }

    fn push(&mut self, line: Line<'_>, name: &str) -> Result<()> {
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

    fn sort(&mut self) {
        let bytes = &self.bytes;
        let key = |e: &LineEntry| (&bytes[e.start..e.start + e.len as usize], e.number);
        self.entries.par_sort_unstable_by(|a, b| key(a).cmp(&key(b)));
    }

    /// Sorts the chunk into a temporary file and empties it.
    fn spill(&mut self, options: &SortOptions) -> Result<SpilledRun> {
        self.sort();
        let folder = options.folder.display().to_string();
        let failed = |e| Error::io(&folder, "write a temporary file for sorting in this folder", e);
        let file = tempfile::tempfile_in(&options.folder).map_err(failed)?;
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

type SpilledRun = zstd::Decoder<'static, BufReader<File>>;

enum SortedRun {
    File(SpilledRun),
    Memory { chunk: SortBuffer, next: usize },
}

/// A k-way merge of sorted runs.
pub(crate) struct KWayMerge {
    name: String,
    runs: Vec<SortedRun>,
    heap: BinaryHeap<Reverse<(Vec<u8>, u64, usize)>>,
    current: Vec<u8>,
}

impl KWayMerge {
    fn new(name: String) -> Self {
        KWayMerge { name, runs: Vec::new(), heap: BinaryHeap::new(), current: Vec::new() }
    }

    fn add_run(&mut self, run: SortedRun) -> Result<()> {
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

    pub(crate) fn next(&mut self) -> Result<Option<Line<'_>>> {
        let Some(Reverse((line, number, run))) = self.heap.pop() else { return Ok(None) };
        let spare = std::mem::replace(&mut self.current, line);
        self.advance(run, spare)?;
        Ok(Some(Line { bytes: &self.current, number, terminated: true }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_a_stable_sort(
            lines in proptest::collection::vec("[a-c|\u{e9} ]{0,6}", 0..80), memory in 1u64..2000,
        ) {
            let mut text = lines.join("\n");
            if !lines.is_empty() { text.push('\n'); }
            let size = Some(text.len() as u64);
            let input = Input::from_reader(std::io::Cursor::new(text.into_bytes()), "test", size).unwrap();
            let options = SortOptions { memory, folder: std::env::temp_dir() };
            let mut sorted = sort_lines(Lines::new(input), &options).unwrap();
            let mut expected: Vec<_> = lines.iter().zip(1u64..).collect();
            expected.sort_by_key(|(line, _)| line.as_bytes());
            for (line, number) in expected {
                let next = sorted.next().unwrap().unwrap();
                prop_assert_eq!((next.bytes, next.number), (line.as_bytes(), number));
            }
            prop_assert!(sorted.next().unwrap().is_none());
        }
    }
}
