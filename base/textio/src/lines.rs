//! Lines without copies: text is read in blocks of whole lines, and each line is a slice of its
//! block. Decompression can run on a background thread.

use std::thread;

use crossbeam::channel::{Receiver, bounded, select};
use memchr::memchr;

use crate::line::Line;
use crate::sorted_runs::KWayMerge;
use crate::{BlockReader, CancellationToken, Input, Result};

const BLOCK: usize = 512 << 10;
/// The number of blocks by which a background reader may be ahead.
const QUEUE: usize = 4;

/// The lines of an input, one after another.
///
/// ```
/// use std::io::Cursor;
///
/// use miriam_textio::{Input, Lines};
///
/// let mut lines = Lines::new(Input::from_reader(Cursor::new("one\ntwo"), "example", None)?);
/// assert_eq!(lines.next()?.map(|line| line.bytes), Some(&b"one"[..]));
/// let last = lines.next()?.expect("a second line");
/// assert_eq!((last.bytes, last.number, last.terminated), (&b"two"[..], 2, false));
/// assert!(lines.next()?.is_none());
/// # Ok::<(), miriam_textio::Error>(())
/// ```
pub struct Lines {
    name: String,
    source: LineSource,
}

enum LineSource {
    Blocks { blocks: BlockSource, block: Vec<u8>, position: usize, number: u64 },
    Sorted(KWayMerge),
}

enum BlockSource {
    Inline(BlockReader),
    /// Blocks, then `None` at the end of the input.
    Background(Receiver<Result<Option<Vec<u8>>>>),
    /// Like `Background`, until the token is cancelled.
    Cancellable(Receiver<Result<Option<Vec<u8>>>>, CancellationToken),
    Ended,
}

impl Lines {
    /// Returns the lines of `input`, which are read and decompressed on the calling thread.
    pub fn new(input: Input) -> Self {
        let name = input.name().to_owned();
        Self::from_blocks(name, BlockSource::Inline(BlockReader::open(input, BLOCK)))
    }

    /// Returns the lines of `input`, which are read and decompressed on a background thread, a few
    /// blocks ahead. The thread ends with the input, or soon after `Lines` is dropped.
    pub fn in_background(input: Input) -> Self {
        let name = input.name().to_owned();
        let (sender, receiver) = bounded(QUEUE);
        let mut reader = BlockReader::open(input, BLOCK);
        thread::spawn(move || {
            loop {
                let mut block = Vec::new();
                let message = reader.read_block(&mut block).map(|more| more.then_some(block));
                let last = !matches!(message, Ok(Some(_)));
                if sender.send(message).is_err() || last {
                    return;
                }
            }
        });
        Self::from_blocks(name, BlockSource::Background(receiver))
    }

    /// Makes lines [read in the background](Lines::in_background) end when `token` is cancelled, as
    /// if the input ended: after the current block of lines, or at once while waiting for input.
    pub fn until_cancelled(mut self, token: &CancellationToken) -> Self {
        if let LineSource::Blocks { blocks, .. } = &mut self.source {
            *blocks = match std::mem::replace(blocks, BlockSource::Ended) {
                BlockSource::Background(receiver) => {
                    BlockSource::Cancellable(receiver, token.clone())
                }
                other => other,
            };
        }
        self
    }

    fn from_blocks(name: String, blocks: BlockSource) -> Self {
        let source = LineSource::Blocks { blocks, block: Vec::new(), position: 0, number: 0 };
        Lines { name, source }
    }

    pub(crate) fn sorted(name: String, merge: KWayMerge) -> Self {
        Lines { name, source: LineSource::Sorted(merge) }
    }

    /// Returns the name of the input in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the next line, or `None` at the end. A line is valid only until the next call.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io) if reading or decompressing fails.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Line<'_>>> {
        match &mut self.source {
            LineSource::Sorted(merge) => merge.next(),
            LineSource::Blocks { blocks, block, position, number } => {
                if *position >= block.len() {
                    *position = 0;
                    if !blocks.read_block(block)? {
                        return Ok(None);
                    }
                }
                let rest = &block[*position..];
                let end = memchr(b'\n', rest);
                let bytes = &rest[..end.unwrap_or(rest.len())];
                *position += bytes.len() + 1;
                *number += 1;
                Ok(Some(Line { bytes, number: *number, terminated: end.is_some() }))
            }
        }
    }
}

impl BlockSource {
    fn read_block(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        match self {
            BlockSource::Inline(reader) => reader.read_block(block),
            BlockSource::Background(_) | BlockSource::Cancellable(..) => {
                let next = match self {
                    BlockSource::Cancellable(_, stop) if stop.is_cancelled() => None,
                    BlockSource::Cancellable(receiver, stop) => select! {
                        recv(receiver) -> next => Some(next),
                        recv(stop.closed_on_cancel()) -> _ => None,
                    },
                    BlockSource::Background(receiver) => Some(receiver.recv()),
                    _ => unreachable!("matched above"),
                };
                // The channel is closed without a last message only if the reading thread panics.
                let next = next.map(|next| next.expect("the reading thread has not panicked"));
                match next.transpose()?.flatten() {
                    Some(next) => *block = next,
                    None => {
                        block.clear();
                        *self = BlockSource::Ended;
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            BlockSource::Ended => {
                block.clear();
                Ok(false)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::{Cursor, Read};

    /// A reader that returns at most `step` bytes at a time, like a slow pipe.
    struct Trickle(Cursor<Vec<u8>>, usize);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let n = buffer.len().min(self.1);
            self.0.read(&mut buffer[..n])
        }
    }

    fn collect(mut lines: Lines) -> Vec<(Vec<u8>, u64, bool)> {
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push((line.bytes.to_vec(), line.number, line.terminated));
        }
        all
    }

    fn input(bytes: &[u8], step: usize, size: Option<u64>) -> Input {
        Input::from_reader(Trickle(Cursor::new(bytes.to_vec()), step), "test", size).unwrap()
    }

    proptest! {
        #[test]
        fn equals_splitting_at_newlines(
            text in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'a'), Just(0)], 0..200),
            step in 1usize..20, known in any::<bool>(),
        ) {
            let size = known.then_some(text.len() as u64);
            let mut expected: Vec<_> = text.split(|&b| b == b'\n').collect();
            let last_terminated = expected.last() == Some(&&b""[..]);
            if last_terminated { expected.pop(); }
            let n = expected.len();
            let expected: Vec<_> = expected.iter().enumerate()
                .map(|(i, l)| (l.to_vec(), i as u64 + 1, i + 1 < n || last_terminated)).collect();
            prop_assert_eq!(&collect(Lines::new(input(&text, step, size))), &expected);
            prop_assert_eq!(&collect(Lines::in_background(input(&text, step, size))), &expected);
        }
    }

    /// An input of one line that then blocks for ever.
    struct Idle(bool);

    impl Read for Idle {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                loop {
                    thread::park();
                }
            }
            buffer[..4].copy_from_slice(b"one\n");
            Ok(4)
        }
    }

    #[test]
    fn waiting_for_input_ends_when_cancelled() {
        let stop = CancellationToken::new();
        let input = Input::from_reader(Idle(false), "test", None).unwrap();
        let mut lines = Lines::in_background(input).until_cancelled(&stop);
        assert_eq!(lines.next().unwrap().map(|l| l.bytes), Some(&b"one"[..]));
        let asker = stop.clone();
        let asker = thread::spawn(move || {
            thread::sleep(std::time::Duration::from_millis(20));
            asker.cancel();
        });
        assert_eq!(lines.next().unwrap(), None);
        assert!(stop.is_cancelled());
        assert_eq!(lines.next().unwrap(), None);
        asker.join().unwrap();
    }

    #[test]
    fn lines_longer_than_a_block() {
        let mut text = vec![b'x'; 3 * BLOCK + 7];
        text.extend(b"\nend");
        let lines = collect(Lines::new(input(&text, usize::MAX, Some(text.len() as u64))));
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].0.len(), 3 * BLOCK + 7);
        assert_eq!(lines[1], (b"end".to_vec(), 2, false));
    }
}
