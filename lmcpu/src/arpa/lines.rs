//! The lines of an ARPA file, order by order, for programs that copy them.

use miriam_textio::{Input, Progress};

use super::text::ArpaText;
use super::{read_counts, read_end, read_section_header, truncated_section};
use crate::Result;

/// The approximate number of bytes in a chunk.
const CHUNK_BYTES: usize = 1 << 18;

/// Some lines of one order.
pub(crate) struct LineChunk {
    /// The length of their n-grams.
    pub order: usize,
    /// The number of the first line.
    pub first_line: u64,
    /// Whole lines; none where the order has no n-grams.
    pub text: Vec<u8>,
}

/// A reader of the n-grams of an ARPA file as lines.
pub(crate) struct ArpaLines<'p> {
    text: ArpaText<'p>,
    counts: Vec<u64>,
    /// The current order.
    order: usize,
    remaining: u64,
}

impl<'p> ArpaLines<'p> {
    /// Reads `input` up to its counts.
    ///
    /// # Errors
    ///
    /// If the input cannot be read or is not an ARPA file.
    pub fn open(input: Input, progress: &'p dyn Progress) -> Result<Self> {
        let mut text = ArpaText::new(input, progress);
        let counts = read_counts(&mut text)?;
        Ok(ArpaLines { text, counts, order: 0, remaining: 0 })
    }

    /// Returns the number of n-grams of each order in the header, from order 1.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Returns the name of the file for messages.
    pub fn name(&self) -> &str {
        &self.text.name
    }

    /// Returns the next lines, at least one chunk for each order; `None` after the longest order,
    /// when the end of the file is checked too.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, or a section has more or fewer lines than the header says.
    pub fn next_chunk(&mut self) -> Result<Option<LineChunk>> {
        if self.remaining == 0 {
            if self.order == self.counts.len() {
                read_end(&mut self.text, &self.counts)?;
                return Ok(None);
            }
            self.order += 1;
            read_section_header(&mut self.text, &self.counts, self.order)?;
            self.remaining = self.counts[self.order - 1];
        }
        let mut chunk =
            LineChunk { order: self.order, first_line: self.text.line(), text: Vec::new() };
        while self.remaining > 0 && chunk.text.len() < CHUNK_BYTES {
            let Some(&block) = self.text.blocks(1)?.first() else {
                return Err(truncated_section(&self.text, self.order, self.remaining));
            };
            let (mut end, mut lines) = (0, 0);
            for at in memchr::memchr_iter(b'\n', block) {
                (end, lines) = (at + 1, lines + 1);
                if lines == self.remaining {
                    break;
                }
            }
            if lines == 0 {
                // The last line of the file, without a line end.
                (end, lines) = (block.len(), 1);
            }
            chunk.text.extend_from_slice(&block[..end]);
            self.text.consume(end, lines);
            self.remaining -= lines;
        }
        Ok(Some(chunk))
    }
}
