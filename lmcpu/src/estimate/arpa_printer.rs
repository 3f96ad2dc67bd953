//! The estimated model as ARPA text.
//!
//! A section lists the n-grams of one order. They are divided into rows by their last word. Of t
//! threads, each prints every t-th row to buffers, and the calling thread writes these in the order
//! of rows. A buffer holds a part of a row, because rows differ too much in size. Buffers are
//! reused, because allocating memory takes more time than printing into it.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use miriam_textio::{Output, Progress, Vocabulary, WordId, number};

use super::memory::VALUES;
use super::renumbering::Renumbering;
use super::rows::{child_count, is_pruned};
use super::tables::{BlockCursor, ModelTables};
use crate::Result;
use crate::error::check_cancelled;

/// A printer of a model as ARPA text, in the order of its trie.
pub(super) struct ModelPrinter<'m> {
    pub model: &'m ModelTables<'m>,
    /// The largest number of bytes of text that wait to be written.
    pub buffer_bytes: usize,
}

/// The least capacity of a buffer in bytes.
const BUFFER_BYTES: usize = 256 << 10;
/// An upper bound of the bytes that the two numbers of a line and its separators take.
const MAX_NUMBERS_BYTES: usize = 64;

/// Writes the comments that lmplz writes before the header with `--verbose_header`.
pub(super) fn print_verbose_header(name: &str, tokens: u64, output: &mut Output) -> Result<()> {
    let smoothing = "# Smoothing: Modified Kneser-Ney";
    let text = format!("# Input file: {name}\n# Token count: {tokens}\n{smoothing}\n");
    Ok(output.write(text.as_bytes())?)
}

/// Writes the end of an ARPA file.
pub(super) fn print_end(output: &mut Output) -> Result<()> {
    Ok(output.write(b"\n\\end\\\n")?)
}

/// Writes the head of the section of n-grams of `length` words.
pub(super) fn print_section_head(length: usize, output: &mut Output) -> Result<()> {
    Ok(output.write(format!("\n\\{length}-grams:\n").as_bytes())?)
}

/// Returns the lines of the n-grams in `records`, for a model of order `order`. A record is
/// `length` words and then the values of the n-gram.
pub(super) fn format_records(
    records: &[u32],
    length: usize,
    order: usize,
    renumbering: &Renumbering<'_>,
) -> Vec<u8> {
    let mut text = Vec::with_capacity(records.len() * 8);
    for record in records.chunks_exact(length + VALUES) {
        let (ngram, values) = record.split_at(length);
        number::push_shortest_f32(&mut text, f32::from_bits(values[0]));
        for (i, &word) in ngram.iter().enumerate() {
            text.push(if i == 0 { b'\t' } else { b' ' });
            text.extend_from_slice(renumbering.word(word));
        }
        if length < order {
            text.push(b'\t');
            number::push_shortest_f32(&mut text, f32::from_bits(values[1]));
        }
        text.push(b'\n');
    }
    text
}

impl ModelPrinter<'_> {
    /// Writes all sections.
    pub fn print(
        &self,
        threads: usize,
        output: &mut Output,
        progress: &dyn Progress,
    ) -> Result<()> {
        self.print_unigrams(output)?;
        let (order, rows) = (self.model.order, self.model.ranges.len());
        let total = ((order - 1) * rows) as u64;
        let task = progress.task("writing", Some(total));
        let mut done = 0;
        let threads = threads.clamp(1, rows);
        let pool = Mutex::new(Vec::new());
        for length in 2..=order {
            print_section_head(length, output)?;
            thread::scope(|scope| -> Result<()> {
                let pool = &pool;
                let mut receivers = Vec::with_capacity(threads);
                for first_row in 0..threads {
                    let (sender, receiver) =
                        sync_channel(self.buffer_bytes / BUFFER_BYTES / threads);
                    scope.spawn(move || {
                        let mut buffer = OutputBuffer { sender, pool, text: Vec::new() };
                        let mut log10_caches = (Log10Cache::new(), Log10Cache::new());
                        for row in (first_row..rows).step_by(threads) {
                            let printed =
                                self.print_row(row, length, &mut log10_caches, &mut buffer);
                            buffer.finish_row(printed);
                        }
                    });
                    receivers.push(receiver);
                }
                for row in 0..rows {
                    check_cancelled(progress)?;
                    // If a thread panics, the channel closes, and the scope propagates the panic.
                    while let Ok(Some(text)) = receivers[row % threads].recv() {
                        let mut text = text?;
                        output.write(&text)?;
                        text.clear();
                        lock(pool).push(text);
                    }
                    done += 1;
                    task.set_position(done);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Writes the section of unigrams.
    fn print_unigrams(&self, output: &mut Output) -> Result<()> {
        print_section_head(1, output)?;
        let mut text = Vec::new();
        let (mut probabilities, mut backoffs) = (Log10Cache::new(), Log10Cache::new());
        for (word, unigram) in self.model.vocabulary.iter().zip(&self.model.unigrams) {
            if !unigram.pruned {
                probabilities.push_log10(&mut text, unigram.probability, 0.0);
                text.push(b'\t');
                text.extend_from_slice(word);
                if self.model.order > 1 {
                    text.push(b'\t');
                    backoffs.push_log10(&mut text, unigram.backoff, f32::INFINITY);
                }
                text.push(b'\n');
            }
        }
        Ok(output.write(&text)?)
    }

    /// Prints the n-grams of `length` words whose last word is in `row`.
    fn print_row(
        &self,
        row: usize,
        length: usize,
        log10_caches: &mut (Log10Cache, Log10Cache),
        buffer: &mut OutputBuffer<'_>,
    ) -> Result<()> {
        let model = self.model;
        let (blocks, probabilities) =
            (model.row(model.blocks, row)?, model.row(model.probabilities, row)?);
        let backoffs = model.backoffs.get(row)?;
        let mut lines = LinePrinter {
            length,
            vocabulary: model.vocabulary,
            backoffs: backoffs.get(length - 1).map(|column| &column[..]),
            output: buffer,
            suffixes: vec![Vec::new(); length],
            log10_caches,
        };
        let mut cursors = model.cursors(&blocks, &probabilities);
        for last in model.ranges.words(row) {
            let mut has_suffix = false;
            for cursor in &mut cursors {
                let len = cursor.bigrams_ending_in(last);
                if len > 0 {
                    if !has_suffix {
                        has_suffix = true;
                        lines.suffixes[1].clear();
                        lines.suffixes[1].extend_from_slice(model.vocabulary.word(WordId(last)));
                    }
                    lines.print_children(cursor, 2, len);
                }
            }
        }
        Ok(())
    }
}

/// A printer of the lines of a row.
struct LinePrinter<'m, 'm2> {
    /// The number of words of the printed n-grams.
    length: usize,
    vocabulary: &'m Vocabulary,
    /// The backoffs of the n-grams that are not printed yet; `None` for the highest order.
    backoffs: Option<&'m [u32]>,
    output: &'m mut OutputBuffer<'m2>,
    /// At index n, the text of the suffix of n words that the next n-grams extend.
    suffixes: Vec<Vec<u8>>,
    log10_caches: &'m mut (Log10Cache, Log10Cache),
}

impl LinePrinter<'_, '_> {
    /// Prints the n-grams of `self.length` words that end in one of the next `count` n-grams of
    /// `depth` words. These extend the suffix of `depth - 1` words in `suffixes`.
    fn print_children(&mut self, cursor: &mut BlockCursor<'_>, depth: usize, count: usize) {
        let range = cursor.take(depth, count);
        let entries = &cursor.block.words(depth)[range.clone()];
        if depth == self.length {
            return self.print_lines(entries, &cursor.probabilities(depth)[range]);
        }
        for (&entry, &count) in entries.iter().zip(&cursor.block.counts(depth)[range]) {
            let children = child_count(entry, count);
            if children > 0 {
                let (shorter, longer) = self.suffixes.split_at_mut(depth);
                longer[0].clear();
                longer[0].extend_from_slice(self.vocabulary.word(WordId(entry >> 1)));
                longer[0].push(b' ');
                longer[0].extend_from_slice(&shorter[depth - 1]);
                self.print_children(cursor, depth + 1, children);
            }
        }
    }

    fn print_lines(&mut self, entries: &[u32], probabilities: &[u32]) {
        let suffix = &self.suffixes[self.length - 1];
        let backoffs = self.backoffs.as_mut().map(|backoffs| {
            let (own, rest) = backoffs.split_at(entries.len());
            *backoffs = rest;
            own
        });
        for (i, (&entry, &probability)) in entries.iter().zip(probabilities).enumerate() {
            if is_pruned(entry) {
                continue;
            }
            let first = self.vocabulary.word(WordId(entry >> 1));
            let text = self.output.reserve(first.len() + suffix.len() + MAX_NUMBERS_BYTES);
            self.log10_caches.0.push_log10(text, f32::from_bits(probability), 0.0);
            text.push(b'\t');
            text.extend_from_slice(first);
            text.push(b' ');
            text.extend_from_slice(suffix);
            if let Some(backoffs) = backoffs {
                text.push(b'\t');
                self.log10_caches.1.push_log10(text, f32::from_bits(backoffs[i]), f32::INFINITY);
            }
            text.push(b'\n');
        }
    }
}

/// A buffer of text that is sent to the writing thread whenever it is full.
struct OutputBuffer<'p> {
    /// Sends full buffers, an error, and `None` after the last buffer of a row.
    sender: SyncSender<Option<Result<Vec<u8>>>>,
    /// Buffers whose text has been written, for reuse.
    pool: &'p Mutex<Vec<Vec<u8>>>,
    text: Vec<u8>,
}

impl OutputBuffer<'_> {
    /// Returns the buffer, with space for `bytes` bytes; sends it first if it is full.
    #[inline]
    fn reserve(&mut self, bytes: usize) -> &mut Vec<u8> {
        if self.text.len() + bytes > self.text.capacity() {
            self.send();
            self.text = lock(self.pool).pop().unwrap_or_default();
            self.text.reserve(bytes.max(BUFFER_BYTES));
        }
        &mut self.text
    }

    fn send(&mut self) {
        if !self.text.is_empty() {
            // The receiver may have ended early, with an error of its own.
            let _ = self.sender.send(Some(Ok(std::mem::take(&mut self.text))));
        }
    }

    /// Sends the rest of a row, the error of printing it if there is one, and the end of the row.
    fn finish_row(&mut self, printed: Result<()>) {
        self.send();
        if let Err(error) = printed {
            let _ = self.sender.send(Some(Err(error)));
        }
        let _ = self.sender.send(None);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A list of spare buffers is never left inconsistent.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A cache of printed logarithms. It pays off because n-grams that occur once have few different
/// backoffs, and neighbours often have the same probability.
struct Log10Cache {
    slots: Vec<CachedLog10>,
}

#[derive(Clone, Copy)]
struct CachedLog10 {
    /// The bits of the number whose logarithm is cached.
    value: u32,
    /// The number of bytes of `text` in use.
    len: u8,
    text: [u8; 19],
}

const CACHE_SLOTS_LOG2: u32 = 12;

impl Log10Cache {
    fn new() -> Self {
        // NaN marks an empty slot, because no cached number is NaN.
        let empty = CachedLog10 { value: f32::NAN.to_bits(), len: 0, text: [0; 19] };
        Log10Cache { slots: vec![empty; 1 << CACHE_SLOTS_LOG2] }
    }

    /// Appends log10 of `value`, or `limit` if that is smaller. All calls must have the same
    /// `limit`, because the cache does not store it.
    #[inline]
    fn push_log10(&mut self, out: &mut Vec<u8>, value: f32, limit: f32) {
        let bits = value.to_bits();
        let index = bits.wrapping_mul(0x9e37_79b1) >> (u32::BITS - CACHE_SLOTS_LOG2);
        let slot = &mut self.slots[index as usize];
        if slot.value == bits {
            out.extend_from_slice(&slot.text[..usize::from(slot.len)]);
            return;
        }
        let start = out.len();
        number::push_shortest_f32(out, value.log10().min(limit));
        let text = &out[start..];
        if let Some(cached) = slot.text.get_mut(..text.len()) {
            cached.copy_from_slice(text);
            (slot.value, slot.len) = (bits, text.len() as u8);
        }
    }
}
