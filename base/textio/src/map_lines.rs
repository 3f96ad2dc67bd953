//! Parallel map of a function over the lines of a text, in order and in bounded memory.

use std::sync::atomic::Ordering;

use crate::{BlockReader, Input, Output, Progress, Result, ordered_map};

/// The bytes of text in one work item.
const BLOCK: usize = 256 << 10;

/// Returns the lines of a block of whole lines, without their ends.
pub fn split_lines(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    block.strip_suffix(b"\n").unwrap_or(block).split(|&byte| byte == b'\n')
}

/// Maps blocks of whole lines of `input` by `work` on `threads` threads, and passes the results to
/// `write` in order, like [`ordered_map`]. A block of a pipe ends as soon as a whole line has
/// arrived. Progress is measured in bytes of the input.
///
/// # Errors
/// The first error of reading or of `write`.
pub fn map_blocks<T: Send, E: From<crate::Error> + Send>(
    input: Input,
    threads: usize,
    (stage, progress): (&str, &dyn Progress),
    work: impl Fn(&[u8]) -> T + Sync,
    write: impl FnMut(T, bool) -> Result<(), E>,
) -> Result<(), E> {
    let (size, consumed) = (input.size(), input.consumed());
    let mut blocks = BlockReader::open(input, BLOCK);
    let task = progress.task(stage, size);
    ordered_map(
        threads,
        || {
            let mut block = Vec::new();
            let more = blocks.read_block(&mut block)?;
            task.set_position(consumed.load(Ordering::Relaxed));
            Ok(more.then_some(block))
        },
        || |block: Vec<u8>| work(&block),
        write,
    )
}

/// Calls `change` with each line of `input`, without its line end. Writes to `output` the text that
/// `change` appends to its second argument, and a line end.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) if reading or writing fails.
pub fn map_lines(
    input: Input,
    output: &mut Output,
    threads: usize,
    stage: (&str, &dyn Progress),
    change: impl Fn(&[u8], &mut Vec<u8>) + Sync,
) -> Result<()> {
    map_blocks(
        input,
        threads,
        stage,
        |block| {
            let mut changed = Vec::with_capacity(block.len() + block.len() / 4);
            for line in split_lines(block) {
                change(line, &mut changed);
                changed.push(b'\n');
            }
            changed
        },
        |changed, more| {
            output.write(&changed)?;
            if more { Ok(()) } else { output.flush() }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::NoProgress;
    use proptest::prelude::*;
    use std::io::Cursor;

    proptest! {
        #[test]
        fn every_line_gives_a_line(text in "[ab\n]{0,40}", threads in 1usize..4, known in any::<bool>()) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out");
            let size = known.then_some(text.len() as u64);
            let input = Input::from_reader(Cursor::new(text.clone().into_bytes()), "test", size).unwrap();
            let mut output = Output::create(&path).unwrap();
            map_lines(input, &mut output, threads, ("", &NoProgress), |line, out| {
                out.extend(line.iter().rev());
            }).unwrap();
            output.finish().unwrap();
            let expected: String =
                text.lines().map(|line| line.chars().rev().chain(['\n']).collect::<String>()).collect();
            prop_assert_eq!(std::fs::read_to_string(&path).unwrap(), expected);
        }
    }
}
