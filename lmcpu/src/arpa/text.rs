//! The text of an ARPA file as blocks of whole lines.
//!
//! A section ends after the number of entries that the header promises, and an entry may span
//! several lines. So the ends of sections and entries are unknown until they are parsed, and blocks
//! end at arbitrary line ends. Nearly always an entry ends there too. If not, the parser reports
//! it, and the block is joined with the next one.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel, sync_channel};
use std::thread;

use memchr::{memchr, memrchr};
use miriam_textio::{Error, Input, Progress};

use crate::Result;
use crate::error::check_cancelled;

/// The approximate size of a block: small enough to stay in a core's cache while it is parsed.
const BLOCK_BYTES: usize = 1 << 18;
/// The number of blocks that the reading thread may be ahead of the parser.
const QUEUE_BLOCKS: usize = 32;
/// The maximum size in bytes of blocks that are joined for an entry.
const MAX_ENTRY_BYTES: usize = 256 << 20;

/// A block, or `None` at the end of the file. The end is a message of its own: if the reading
/// thread dies, its channel is closed without this message.
type BlockMessage = miriam_textio::Result<Option<Vec<u8>>>;

/// A line that is not an entry: of the header, between sections, or at the end.
pub(super) struct HeaderLine {
    /// Its bytes, without LF or CRLF.
    pub bytes: Vec<u8>,
    /// Its number, from 1.
    pub number: u64,
}

/// The text of an input from the first byte that is not yet used. Another thread reads and
/// decompresses it.
pub(super) struct ArpaText<'p> {
    pub name: String,
    receiver: Receiver<BlockMessage>,
    /// Used blocks go back to the reading thread, which fills them again, because new memory would
    /// cost more than the reading.
    recycled: Sender<Vec<u8>>,
    /// Whether the end has been received.
    ended: bool,
    /// Blocks received and not yet used up; the first is used up to `position`.
    blocks: VecDeque<Vec<u8>>,
    position: usize,
    /// The number of the line at `position`, from 1.
    line: u64,
    progress: &'p dyn Progress,
    consumed: Arc<AtomicU64>,
}

impl<'p> ArpaText<'p> {
    pub fn new(mut input: Input, progress: &'p dyn Progress) -> Self {
        let name = input.name().to_owned();
        let consumed = input.consumed();
        let (sender, receiver) = sync_channel(QUEUE_BLOCKS);
        let (recycle_sender, recycle_receiver) = channel();
        thread::spawn(move || {
            let mut rest = Vec::new();
            loop {
                let next = recycle_receiver.try_recv().unwrap_or_default();
                let message = read_block(&mut input, &mut rest, next);
                let last = !matches!(message, Ok(Some(_)));
                if sender.send(message).is_err() || last {
                    return;
                }
            }
        });
        Self::from_messages(name, receiver, recycle_sender, progress, consumed)
    }

    fn from_messages(
        name: String,
        receiver: Receiver<BlockMessage>,
        recycled: Sender<Vec<u8>>,
        progress: &'p dyn Progress,
        consumed: Arc<AtomicU64>,
    ) -> Self {
        let blocks = VecDeque::new();
        let (ended, position, line) = (false, 0, 1);
        ArpaText { name, receiver, recycled, ended, blocks, position, line, progress, consumed }
    }

    /// Returns the number of the next line, from 1.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns an error about the line of this number.
    pub fn error(&self, line: u64, reason: impl Into<String>) -> crate::Error {
        Error::format(&self.name, line, None, reason).into()
    }

    /// Waits for one more block; returns false at the end of the input.
    fn receive(&mut self) -> Result<bool> {
        if self.ended {
            return Ok(false);
        }
        let message = self.receiver.recv().unwrap_or_else(|_| {
            let reason = io::Error::other("the thread that reads it has ended early");
            Err(Error::io(&self.name, "read", reason))
        });
        self.accept(message?);
        self.progress.set_position(self.consumed.load(Ordering::Relaxed));
        check_cancelled(self.progress)?;
        Ok(!self.ended)
    }

    fn accept(&mut self, message: Option<Vec<u8>>) {
        match message {
            Some(block) => self.blocks.push_back(block),
            None => self.ended = true,
        }
    }

    /// Makes the first block one that is not used up; returns false at the end of the input.
    fn advance(&mut self) -> Result<bool> {
        loop {
            match self.blocks.front() {
                Some(block) if self.position < block.len() => return Ok(true),
                Some(_) => self.recycle_first(),
                None => {
                    if !self.receive()? {
                        return Ok(false);
                    }
                }
            }
        }
    }

    fn recycle_first(&mut self) {
        if let Some(mut block) = self.blocks.pop_front() {
            block.clear();
            // If the channel is closed, the reading thread has ended and needs no blocks.
            let _ = self.recycled.send(block);
        }
        self.position = 0;
    }

    /// Returns the next line, or `None` at the end. A CR at the end of the file is part of the last
    /// line.
    pub fn next_line(&mut self) -> Result<Option<HeaderLine>> {
        if !self.advance()? {
            return Ok(None);
        }
        let rest = &self.blocks[0][self.position..];
        let bytes = match memchr(b'\n', rest) {
            Some(end) => {
                self.position += end + 1;
                let line = &rest[..end];
                line.strip_suffix(b"\r").unwrap_or(line).to_vec()
            }
            None => {
                let line = rest.to_vec();
                self.position += rest.len();
                line
            }
        };
        self.line += 1;
        Ok(Some(HeaderLine { bytes, number: self.line - 1 }))
    }

    /// Returns the unused bytes of up to `wanted` blocks, none at the end of the input. The first
    /// has at least one byte. Waits for the first block; the others are those that have already
    /// been read.
    pub fn blocks(&mut self, wanted: usize) -> Result<Vec<&[u8]>> {
        if !self.advance()? {
            return Ok(Vec::new());
        }
        while self.blocks.len() < wanted && !self.ended {
            match self.receiver.try_recv() {
                Ok(message) => self.accept(message?),
                // No block yet; if the thread has died, the next wait reports it.
                Err(_) => break,
            }
        }
        self.progress.set_position(self.consumed.load(Ordering::Relaxed));
        check_cancelled(self.progress)?;
        let mut position = self.position;
        let rests = self.blocks.iter().take(wanted).map(|block| {
            let rest = &block[position..];
            position = 0;
            rest
        });
        Ok(rests.collect())
    }

    /// Marks the next `bytes` of the first block, which are `lines` lines, as used.
    pub fn consume(&mut self, bytes: usize, lines: u64) {
        self.position += bytes;
        self.line += lines;
        if self.blocks.front().is_some_and(|b| self.position >= b.len()) {
            self.recycle_first();
        }
    }

    /// Joins the rest of the first block with the next one; returns false if there is no next
    /// block.
    pub fn join_blocks(&mut self) -> Result<bool> {
        if self.blocks.len() < 2 && !self.receive()? {
            return Ok(false);
        }
        let mut first = self.blocks.pop_front().unwrap_or_default();
        first.drain(..self.position.min(first.len()));
        self.position = 0;
        match self.blocks.front_mut() {
            Some(second) if first.len() + second.len() <= MAX_ENTRY_BYTES => {
                first.append(second);
                *second = first;
                Ok(true)
            }
            _ => Err(self.error(self.line, "an entry of more than 256 MiB")),
        }
    }
}

/// Reads complete lines, or at the end what is left, into `block`, which is empty. `rest` has the
/// bytes after the last complete line of the previous block, and gets those of this one.
fn read_block(input: &mut Input, rest: &mut Vec<u8>, mut block: Vec<u8>) -> BlockMessage {
    block.append(rest);
    let mut searched = 0;
    loop {
        let start = block.len();
        input
            .by_ref()
            .take(BLOCK_BYTES as u64)
            .read_to_end(&mut block)
            .map_err(|e| Error::io(input.name(), "read", e))?;
        if block.len() == start {
            return Ok((!block.is_empty()).then_some(block));
        }
        if let Some(end) = memrchr(b'\n', &block[searched..]) {
            rest.extend_from_slice(&block[searched + end + 1..]);
            block.truncate(searched + end + 1);
            return Ok(Some(block));
        }
        searched = block.len();
    }
}

#[cfg(test)]
mod tests {
    use miriam_textio::NoProgress;

    use super::*;

    fn text(messages: Vec<BlockMessage>) -> ArpaText<'static> {
        let (sender, receiver) = sync_channel(messages.len());
        for message in messages {
            sender.send(message).unwrap();
        }
        let (recycle_sender, _) = channel();
        ArpaText::from_messages(
            "lm.arpa".into(),
            receiver,
            recycle_sender,
            &NoProgress,
            Arc::default(),
        )
    }

    #[test]
    fn a_thread_that_dies_is_not_the_end_of_the_file() {
        let mut cut = text(vec![Ok(Some(b"one\n".to_vec()))]);
        assert_eq!(cut.next_line().unwrap().unwrap().bytes, b"one");
        let error = cut.next_line().err().unwrap();
        assert_eq!(
            error.to_string(),
            "lm.arpa: cannot read: the thread that reads it has ended early"
        );
        let mut cut = text(vec![Ok(Some(b"one\n".to_vec()))]);
        assert_eq!(cut.blocks(4).unwrap().len(), 1);
        cut.consume(4, 1);
        assert!(cut.blocks(4).is_err());
        assert!(cut.join_blocks().is_err());
    }

    #[test]
    fn the_end_stays_the_end() {
        let mut whole = text(vec![Ok(Some(b"one\n".to_vec())), Ok(None)]);
        assert_eq!(whole.blocks(4).unwrap().len(), 1);
        whole.consume(4, 1);
        assert!(whole.next_line().unwrap().is_none());
        assert!(whole.next_line().unwrap().is_none());
        assert!(!whole.join_blocks().unwrap());
    }
}
