//! Count of the words of a text that no phrase translates. If most are unknown, the text is nearly
//! always in another language than the system's, or not tokenised, and the output is a copy of the
//! input.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::sentence_decoder::Statistics;

/// Fewer unknown words than this are not a reason to warn: a short text may consist of names.
const MIN_UNKNOWN: u64 = 3;

/// The number of words of a text that is translated on many threads, and the number of unknown
/// words among them.
#[derive(Default)]
pub(crate) struct UnknownWordCounts {
    words: AtomicU64,
    unknown: AtomicU64,
}

impl UnknownWordCounts {
    /// Adds the counts of a decoder between two states of its statistics.
    pub(crate) fn add(&self, before: Statistics, after: Statistics) {
        self.words.fetch_add(after.words - before.words, Ordering::Relaxed);
        let unknown = after.unknown_words - before.unknown_words;
        if unknown > 0 {
            self.unknown.fetch_add(unknown, Ordering::Relaxed);
        }
    }

    /// Warns if more than half of the counted words are unknown. `name` is the name of the text in
    /// the message.
    pub(crate) fn warn_if_most(&self, name: &str) {
        let words = self.words.load(Ordering::Relaxed);
        let unknown = self.unknown.load(Ordering::Relaxed);
        if unknown >= MIN_UNKNOWN && 2 * unknown > words {
            tracing::warn!(
                "{name}: {unknown} of {words} words are unknown to the system, which copies them: \
                 is the text in its source language, and prepared as its training text was?"
            );
        }
    }
}
