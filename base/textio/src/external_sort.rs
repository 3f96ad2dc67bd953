//! External sort of any number of lines in limited memory.
//!
//! Lines are collected up to the limit, sorted on all threads, and written to a compressed
//! temporary file. These files are merged while they are read; if there are many, they are first
//! merged into fewer. Lines are in byte order, as with `LC_ALL=C sort`; equal lines keep their
//! order.

use std::path::PathBuf;

use crate::sorted_runs::{KWayMerge, LINE_OVERHEAD, SortBuffer, SortedRun, SpilledRuns};
use crate::{Lines, Result};

/// Limits of an external sort.
#[derive(Clone, Debug)]
pub struct SortOptions {
    /// The maximum number of bytes of all lines in memory together, including bookkeeping. Up to
    /// twice as much is allocated, because buffers grow by doubling.
    ///
    /// Each time this limit is reached, the collected lines are written to a temporary file.
    pub memory: u64,
    /// The folder for temporary files.
    pub folder: PathBuf,
}

/// Sorts `lines` by their bytes; they keep their original numbers.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if reading or a temporary file fails,
/// [`Error::Format`](crate::Error::Format) for a line of 4 GiB or more.
pub fn sort_lines(mut lines: Lines, options: &SortOptions) -> Result<Lines> {
    let name = lines.name().to_owned();
    let mut runs = SpilledRuns::new(&name, &options.folder);
    let mut buffer = SortBuffer::default();
    while let Some(line) = lines.next()? {
        if !buffer.is_empty()
            && (buffer.memory_bytes() + line.bytes.len() + LINE_OVERHEAD) as u64 > options.memory
        {
            runs.push(buffer.spill(&options.folder)?)?;
        }
        buffer.push(line, &name)?;
    }
    let mut merge = KWayMerge::new(name.clone());
    for run in runs.into_runs() {
        merge.add_run(SortedRun::File(run))?;
    }
    merge.add_run(SortedRun::in_memory(buffer))?;
    Ok(Lines::sorted(name, merge))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_a_stable_sort(
            lines in proptest::collection::vec("[a-c|\u{e9} ]{0,6}", 0..150), memory in 1u64..2000,
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
