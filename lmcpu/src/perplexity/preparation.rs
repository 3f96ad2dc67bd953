//! Preparation of text before it is scored, by functions of other crates that normalise and split
//! it.

use std::fmt;
use std::sync::Arc;

/// A function that prepares a text for scoring and appends the result to a buffer. It may keep
/// memory from text to text.
pub type PrepareText = Box<dyn FnMut(&[u8], &mut Vec<u8>) + Send>;

/// A maker of preparations, one for each thread.
#[derive(Clone)]
pub struct Preparation {
    /// Whether documents are prepared and scored as one line each, not line by line.
    pub joins_lines: bool,
    make: Arc<dyn Fn() -> PrepareText + Send + Sync>,
}

impl Preparation {
    /// Creates a preparation that calls `make` once per thread.
    pub fn new(joins_lines: bool, make: impl Fn() -> PrepareText + Send + Sync + 'static) -> Self {
        Preparation { joins_lines, make: Arc::new(make) }
    }

    /// Creates the preparation for one thread.
    pub(super) fn start(&self) -> PreparedText {
        PreparedText { joins_lines: self.joins_lines, prepare: (self.make)() }
    }
}

impl fmt::Debug for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Preparation")
            .field("joins_lines", &self.joins_lines)
            .finish_non_exhaustive()
    }
}

/// The preparation of one thread.
pub(super) struct PreparedText {
    joins_lines: bool,
    prepare: PrepareText,
}

impl PreparedText {
    /// Appends the prepared `text` to `out`: its lines, or one line if lines are joined, each with
    /// its line end.
    pub fn push(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let text = text.strip_suffix(b"\n").unwrap_or(text);
        if self.joins_lines {
            return self.push_line(text, out);
        }
        text.split(|&byte| byte == b'\n').for_each(|line| self.push_line(line, out));
    }

    fn push_line(&mut self, line: &[u8], out: &mut Vec<u8>) {
        let before = out.len();
        (self.prepare)(line, out);
        // A line end within the prepared line would begin another line.
        out[before..].iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        out.push(b'\n');
    }
}
