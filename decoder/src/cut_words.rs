//! Words of a text that were cut at a bar. In a system without factors a word is its first factor,
//! as in Moses, so `either|or` is translated as `either`; training text has `&#124;` in its place.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::line_errors::{LineError, LineErrorKind};
use crate::sentence_decoder::Statistics;

/// The number of cut words of a text that is translated on many threads, and the first line with
/// one.
pub(crate) struct CutWordCounts {
    words: AtomicU64,
    first_line: AtomicU64,
}

impl Default for CutWordCounts {
    fn default() -> Self {
        CutWordCounts { words: AtomicU64::new(0), first_line: AtomicU64::new(u64::MAX) }
    }
}

impl CutWordCounts {
    /// Adds what a decoder decoded of line `line`, between two states of its statistics.
    pub(crate) fn add(&self, line: u64, before: Statistics, after: Statistics) {
        let words = after.cut_words - before.cut_words;
        if words > 0 {
            self.words.fetch_add(words, Ordering::Relaxed);
            self.first_line.fetch_min(line, Ordering::Relaxed);
        }
    }

    /// Warns if words of `text` were cut.
    pub(crate) fn warn(&self, text: &str) {
        let words = self.words.load(Ordering::Relaxed);
        if words > 0 {
            let line = self.first_line.load(Ordering::Relaxed);
            tracing::warn!("{text}, line {line}: {}", describe(words));
        }
    }
}

/// Returns the line error of a line with what was decoded of it, between two states of the
/// statistics.
pub(crate) fn find_line_error(before: Statistics, after: Statistics) -> Option<LineError> {
    let words = after.cut_words - before.cut_words;
    (words > 0).then(|| LineError::new(LineErrorKind::CutWords, describe(words)))
}

/// Says that `words` words were cut, and what to do.
fn describe(words: u64) -> String {
    let verb = if words == 1 { "word is" } else { "words are" };
    format!(
        "{words} {verb} cut at a bar, which separates factors; write &#124; for it, as \
         `miriam tokenize` and `miriam train` do, or give -factor-delimiter none"
    )
}
