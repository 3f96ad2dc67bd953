//! Words of a text that were cut at a bar. A system without factors translates only the part of a
//! word before a bar, its first factor, as Moses does: `either|or` as `either`. Training text has
//! `&#124;` for the bar.

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
    /// Adds the words that were cut in line `line`, given a decoder's statistics before and after
    /// the line.
    pub(crate) fn add(&self, line: u64, before: Statistics, after: Statistics) {
        let words = after.cut_words - before.cut_words;
        if words > 0 {
            self.words.fetch_add(words, Ordering::Relaxed);
            self.first_line.fetch_min(line, Ordering::Relaxed);
        }
    }

    /// Warns if words were cut. `name` is the name of the text in the message.
    pub(crate) fn warn(&self, name: &str) {
        let words = self.words.load(Ordering::Relaxed);
        if words > 0 {
            let line = self.first_line.load(Ordering::Relaxed);
            tracing::warn!("{name}, line {line}: {}", describe(words));
        }
    }
}

/// Returns a line error if words of a line were cut, given the statistics before and after the
/// line.
pub(crate) fn find_line_error(before: Statistics, after: Statistics) -> Option<LineError> {
    let words = after.cut_words - before.cut_words;
    (words > 0).then(|| LineError::new(LineErrorKind::CutWords, describe(words)))
}

/// Describes `words` cut words and the remedy.
fn describe(words: u64) -> String {
    let verb = if words == 1 { "word is" } else { "words are" };
    format!(
        "{words} {verb} cut at a bar, which separates factors; write &#124; for it, as \
         `miriam tokenize` and `miriam train` do, or give -factor-delimiter none; if words have \
         more factors, list those of all columns in -input-factors"
    )
}
