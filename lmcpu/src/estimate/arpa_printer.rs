//! The estimated model as ARPA text.
//!
//! A section lists the n-grams of one length in the order of the trie's rows: each
//! thread prints every n-th row to buffers, and the calling thread writes these in the
//! order of rows. Buffers are reused: rows differ too much in size to hold all of one,
//! and fresh memory costs more than printing into it.

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

/// Prints a model in the order of the trie.
pub(super) struct ModelPrinter<'m> {
    pub model: &'m ModelTables<'m>,
    /// The number of bytes of text that may wait to be written.
    pub buffer_bytes: usize,
}

/// Bytes of text in a buffer.
const BUFFER_BYTES: usize = 256 << 10;
/// More bytes than the numbers of a line take.
const MAX_NUMBERS_BYTES: usize = 64;

/// Writes what lmplz says about the text before the header.
pub(super) fn print_verbose_header(name: &str, tokens: u64, output: &mut Output) -> Result<()> {
    let smoothing = "# Smoothing: Modified Kneser-Ney";
    let text = format!("# Input file: {name}\n# Token count: {tokens}\n{smoothing}\n");
    Ok(output.write(text.as_bytes())?)
}

/// Writes the header of an ARPA file with these numbers of n-grams.
pub(super) fn print_header(counts: &[u64], output: &mut Output) -> Result<()> {
    let mut text = String::from("\\data\\\n");
    for (i, count) in counts.iter().enumerate() {
        text += &format!("ngram {}={count}\n", i + 1);
    }
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

/// Returns the lines of records of `length` words of a model of `order`.
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
        for order in 2..=order {
            print_section_head(order, output)?;
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
                                self.print_row(row, order, &mut log10_caches, &mut buffer);
                            buffer.finish_row(printed);
                        }
                    });
                    receivers.push(receiver);
                }
                for row in 0..rows {
                    check_cancelled(progress)?;
                    // The scope propagates the panic of a thread that sends no more.
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

    /// Writes the section of single words.
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

    /// Prints the n-grams of `order` words that end in a word of `row`.
    fn print_row(
        &self,
        row: usize,
        order: usize,
        log10_caches: &mut (Log10Cache, Log10Cache),
        buffer: &mut OutputBuffer<'_>,
    ) -> Result<()> {
        let model = self.model;
        let (blocks, probabilities) =
            (model.row(model.blocks, row)?, model.row(model.probabilities, row)?);
        let backoffs = model.backoffs.get(row)?;
        let mut lines = LinePrinter {
            order,
            vocabulary: model.vocabulary,
            backoffs: backoffs.get(order - 1).map(|column| &column[..]),
            output: buffer,
            suffixes: vec![Vec::new(); order],
            log10_caches,
        };
        let mut cursors = model.cursors(&blocks, &probabilities);
        for last in model.ranges.words(row) {
            let mut known = false;
            for cursor in &mut cursors {
                let len = cursor.bigrams_ending_in(last);
                if len > 0 {
                    if !known {
                        known = true;
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

/// Prints the lines of a row.
struct LinePrinter<'m, 'm2> {
    order: usize,
    vocabulary: &'m Vocabulary,
    /// The backoffs of the remaining n-grams; `None` for the longest.
    backoffs: Option<&'m [u32]>,
    output: &'m mut OutputBuffer<'m2>,
    /// By length, the text of the suffix that the next n-grams extend.
    suffixes: Vec<Vec<u8>>,
    log10_caches: &'m mut (Log10Cache, Log10Cache),
}

impl LinePrinter<'_, '_> {
    /// Prints all n-grams of `order` words below the next `len` n-grams of `length`
    /// words, which extend the suffix one word shorter.
    fn print_children(&mut self, cursor: &mut BlockCursor<'_>, length: usize, len: usize) {
        let here = cursor.take(length, len);
        let entries = &cursor.block.words(length)[here.clone()];
        if length == self.order {
            return self.print_lines(entries, &cursor.probabilities(length)[here]);
        }
        for (&entry, &count) in entries.iter().zip(&cursor.block.counts(length)[here]) {
            let children = child_count(entry, count);
            if children > 0 {
                let (shorter, longer) = self.suffixes.split_at_mut(length);
                longer[0].clear();
                longer[0].extend_from_slice(self.vocabulary.word(WordId(entry >> 1)));
                longer[0].push(b' ');
                longer[0].extend_from_slice(&shorter[length - 1]);
                self.print_children(cursor, length + 1, children);
            }
        }
    }

    fn print_lines(&mut self, entries: &[u32], probabilities: &[u32]) {
        let suffix = &self.suffixes[self.order - 1];
        let backoffs = self.backoffs.as_mut().map(|backoffs| {
            let (here, rest) = backoffs.split_at(entries.len());
            *backoffs = rest;
            here
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

/// A buffer of text for the thread that writes.
struct OutputBuffer<'p> {
    /// Full buffers; `None` after the last of a row.
    sender: SyncSender<Option<Result<Vec<u8>>>>,
    /// Buffers that have been written, for reuse.
    pool: &'p Mutex<Vec<Vec<u8>>>,
    text: Vec<u8>,
}

impl OutputBuffer<'_> {
    /// Returns a buffer with space for `bytes` bytes.
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

    /// Ends a row.
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

/// A cache of printed logarithms: n-grams seen once share few backoffs, and neighbours
/// often have the same probability.
struct Log10Cache {
    slots: Vec<CachedLog10>,
}

#[derive(Clone, Copy)]
struct CachedLog10 {
    value: u32,
    len: u8,
    text: [u8; 19],
}

const CACHE_SLOTS_LOG2: u32 = 12;

impl Log10Cache {
    fn new() -> Self {
        // NaN marks an empty slot: no value is NaN.
        let empty = CachedLog10 { value: f32::NAN.to_bits(), len: 0, text: [0; 19] };
        Log10Cache { slots: vec![empty; 1 << CACHE_SLOTS_LOG2] }
    }

    /// Appends log10 of `value`, but at most `limit`, which is the same for all calls.
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
