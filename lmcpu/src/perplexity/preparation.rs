//! Preparation of text before it is scored, such as normalising and splitting into pieces, by
//! functions that the caller gives.

use std::fmt;
use std::sync::Arc;

/// A function that prepares a text for scoring and appends the result to a buffer. It may reuse
/// memory of earlier texts.
pub type PrepareText = Box<dyn FnMut(&[u8], &mut Vec<u8>) + Send>;

/// The way in which text is prepared; each thread gets a function of its own.
#[derive(Clone)]
pub struct Preparation {
    /// Whether a document is prepared and scored as one line, not line by line.
    pub joins_lines: bool,
    make_function: Arc<dyn Fn() -> PrepareText + Send + Sync>,
}

impl Preparation {
    /// Creates a preparation by the functions that `make_function` returns, one for each thread.
    pub fn new(
        joins_lines: bool,
        make_function: impl Fn() -> PrepareText + Send + Sync + 'static,
    ) -> Self {
        Preparation { joins_lines, make_function: Arc::new(make_function) }
    }

    /// Creates the preparer of one thread.
    pub(super) fn preparer(&self) -> TextPreparer {
        TextPreparer { joins_lines: self.joins_lines, prepare: (self.make_function)() }
    }
}

impl fmt::Debug for Preparation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Preparation")
            .field("joins_lines", &self.joins_lines)
            .finish_non_exhaustive()
    }
}

/// Prepares the texts of one thread.
pub(super) struct TextPreparer {
    joins_lines: bool,
    prepare: PrepareText,
}

impl TextPreparer {
    /// Prepares `text` and appends the result to `out`: its lines, or one line if lines are joined,
    /// each with a line end.
    pub fn prepare(&mut self, text: &[u8], out: &mut Vec<u8>) {
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
