//! Reader of text in blocks of whole lines, so that lines are not copied one by one.

use std::io::Read;

use memchr::{memchr, memrchr};

use crate::{Error, Input, Result};

/// The bytes per read from pipes and terminals, whose buffers are not larger.
const PIPE_BLOCK: usize = 64 << 10;

/// A reader that cuts an input into blocks of whole lines.
pub struct BlockReader {
    input: Input,
    /// The number of bytes per read request.
    size: usize,
    low_latency: bool,
    /// The beginning of a line that continues after the last block.
    rest: Vec<u8>,
    at_eof: bool,
}

impl BlockReader {
    /// Returns a reader of blocks of about `size` bytes, or more if a line is longer. With
    /// `low_latency`, a block ends as soon as a whole line has arrived, so that a pipe or a
    /// terminal can be answered line by line.
    pub fn new(input: Input, size: usize, low_latency: bool) -> Self {
        BlockReader { input, size, low_latency, rest: Vec::new(), at_eof: false }
    }

    /// Returns a reader of blocks of about `size` bytes, if the input is a file. Blocks of a
    /// terminal or a pipe end as soon as a whole line has arrived.
    pub(crate) fn open(input: Input, size: usize) -> Self {
        match input.size() {
            Some(_) => Self::new(input, size, false),
            None => Self::new(input, PIPE_BLOCK, true),
        }
    }

    /// Returns the name of the input in messages.
    pub fn name(&self) -> &str {
        self.input.name()
    }

    /// Replaces `block` by the next whole lines with their line ends; returns false at the end.
    /// Only the last line of the input may lack a line end.
    ///
    /// # Errors
    /// [`Error::Io`] if reading or decompressing fails.
    pub fn read_block(&mut self, block: &mut Vec<u8>) -> Result<bool> {
        block.clear();
        block.append(&mut self.rest);
        let mut searched = 0;
        while !self.at_eof {
            let start = block.len();
            block.resize(start + self.size, 0);
            let mut filled = start;
            // Decompressors return few bytes per call, so several calls fill the block.
            while filled < block.len() {
                let n = match self.input.read(&mut block[filled..]) {
                    Err(e) if e.kind() == std::io::ErrorKind::Interrupted => continue,
                    result => result.map_err(|e| Error::io(self.input.name(), "read", e))?,
                };
                self.at_eof = n == 0;
                let fresh = &block[filled..filled + n];
                filled += n;
                if self.at_eof || (self.low_latency && memchr(b'\n', fresh).is_some()) {
                    break;
                }
            }
            block.truncate(filled);
            if let Some(end) = memrchr(b'\n', &block[searched..]) {
                self.rest.extend_from_slice(&block[searched + end + 1..]);
                block.truncate(searched + end + 1);
                return Ok(true);
            }
            searched = block.len();
        }
        Ok(!block.is_empty())
    }
}
