//! The estimated model as ARPA text.
//!
//! A section lists the n-grams of one length, and rows of the trie lie in its
//! order: threads write rows as text, taking turns, and the calling thread
//! collects them in the same turns. Text goes in pieces that are used again:
//! rows differ in size too much to hold them whole, and fresh memory costs more
//! than the text that is put there.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use miriam_textio::{Output, Progress, Vocabulary, WordId, number};

use super::ranges::Ranges;
use super::rows::{Block, children, is_pruned};
use super::spill::{Held, Shelf};
use crate::Result;

/// All that is printed of n-grams of 2 words and more.
pub(super) struct Model<'m> {
    /// Words in the longest n-grams.
    pub order: usize,
    pub vocabulary: &'m Vocabulary,
    pub ranges: &'m Ranges,
    /// The trie, probabilities beside it, and the backoffs of each row.
    pub blocks: &'m Shelf<'m>,
    pub probabilities: &'m Shelf<'m>,
    pub backoffs: &'m Shelf<'m>,
    /// How many bytes of text may wait for their turn.
    pub waiting: usize,
}

/// Bytes of text that are written at once.
const PIECE: usize = 256 << 10;
/// More than a line has behind its words.
const NUMBERS: usize = 64;

/// What is printed of a word: whether it is, its probability and its backoff.
pub(super) struct Unigram {
    pub kept: bool,
    pub probability: f32,
    pub backoff: Option<f32>,
}

/// Writes the head of an ARPA file with n-grams of these numbers.
pub(super) fn print_head(counts: &[u64], output: &mut Output) -> Result<()> {
    let mut text = String::from("\\data\\\n");
    for (i, count) in counts.iter().enumerate() {
        text += &format!("ngram {}={count}\n", i + 1);
    }
    Ok(output.write(text.as_bytes())?)
}

/// Writes the section of single words.
pub(super) fn print_unigrams(
    vocabulary: &Vocabulary,
    unigrams: impl Iterator<Item = Unigram>,
    output: &mut Output,
) -> Result<()> {
    let mut text = b"\n\\1-grams:\n".to_vec();
    let (mut probabilities, mut backoffs) = (Numbers::new(), Numbers::new());
    for (word, unigram) in vocabulary.iter().zip(unigrams) {
        if unigram.kept {
            probabilities.push_log10(&mut text, unigram.probability, 0.0);
            text.push(b'\t');
            text.extend_from_slice(word);
            if let Some(backoff) = unigram.backoff {
                text.push(b'\t');
                backoffs.push_log10(&mut text, backoff, f32::INFINITY);
            }
            text.push(b'\n');
        }
    }
    Ok(output.write(&text)?)
}

impl Model<'_> {
    /// Writes the sections of 2 words and more.
    pub fn print(
        &self,
        threads: usize,
        output: &mut Output,
        progress: &dyn Progress,
    ) -> Result<()> {
        let rows = self.ranges.len();
        progress.begin("writing", Some(((self.order - 1) * rows) as u64));
        let mut done = 0;
        let threads = threads.clamp(1, rows);
        let pool = Mutex::new(Vec::new());
        for order in 2..=self.order {
            output.write(format!("\n\\{order}-grams:\n").as_bytes())?;
            thread::scope(|scope| -> Result<()> {
                let pool = &pool;
                let spawn = |turn: usize| {
                    let (sender, receiver) = sync_channel(self.waiting / PIECE / threads);
                    scope.spawn(move || {
                        let mut pieces = Pieces { sender, pool, text: Vec::new() };
                        let mut numbers = (Numbers::new(), Numbers::new());
                        for row in (turn..rows).step_by(threads) {
                            let printed = self.print_row(row, order, &mut numbers, &mut pieces);
                            pieces.end(printed);
                        }
                    });
                    receiver
                };
                let receivers: Vec<_> = (0..threads).map(spawn).collect();
                for row in 0..rows {
                    // The scope raises the panic of a thread that sends no more.
                    while let Ok(Some(text)) = receivers[row % threads].recv() {
                        let mut text = text?;
                        output.write(&text)?;
                        text.clear();
                        lock(pool).push(text);
                    }
                    done += 1;
                    progress.reached(done);
                }
                Ok(())
            })?;
        }
        progress.end();
        Ok(())
    }

    /// The tables of a row, by range of the last but one word.
    fn tables<'t>(&self, shelf: &'t Shelf<'_>, row: usize) -> Result<Vec<Held<'t>>> {
        let ranges = self.ranges.len();
        (0..ranges).map(|q| shelf.get(row * ranges + q)).collect()
    }

    /// Prints the n-grams of `order` words that end in a word of `row`.
    fn print_row(
        &self,
        row: usize,
        order: usize,
        numbers: &mut (Numbers, Numbers),
        pieces: &mut Pieces<'_>,
    ) -> Result<()> {
        let (blocks, probabilities) =
            (self.tables(self.blocks, row)?, self.tables(self.probabilities, row)?);
        let backoffs = self.backoffs.get(row)?;
        let mut lines = Lines {
            order,
            vocabulary: self.vocabulary,
            backoffs: backoffs.get(order - 1).map(|column| &column[..]),
            pieces,
            tails: vec![Vec::new(); order],
            numbers,
        };
        let mut walks: Vec<Walk<'_>> = blocks
            .iter()
            .zip(&probabilities)
            .map(|(block, probabilities)| Walk {
                block: Block(block),
                probabilities: &probabilities[order - 2],
                next: [0; 17],
            })
            .collect();
        for last in self.ranges.words(row) {
            let mut known = false;
            for walk in &mut walks {
                let same = walk.block.roots()[walk.next[2]..].iter();
                let len = same.take_while(|&&root| root == last).count();
                if len > 0 {
                    if !known {
                        known = true;
                        lines.tails[1].clear();
                        lines.tails[1].extend_from_slice(self.vocabulary.word(WordId(last)));
                    }
                    lines.print(walk, 2, len);
                }
            }
        }
        Ok(())
    }
}

/// A block on the way through its n-grams.
struct Walk<'b> {
    block: Block<'b>,
    /// Of the n-grams that are printed.
    probabilities: &'b [u32],
    /// The next n-gram of each length.
    next: [usize; 17],
}

/// Lines being written.
struct Lines<'m, 'm2> {
    order: usize,
    vocabulary: &'m Vocabulary,
    /// Backoffs of the n-grams that follow; `None` for the longest.
    backoffs: Option<&'m [u32]>,
    pieces: &'m mut Pieces<'m2>,
    /// By length, the words of the n-gram that the next ones extend.
    tails: Vec<Vec<u8>>,
    numbers: &'m mut (Numbers, Numbers),
}

impl Lines<'_, '_> {
    /// Prints all below the next `len` n-grams of `length` words, which extend
    /// the tail one word shorter.
    fn print(&mut self, walk: &mut Walk<'_>, length: usize, len: usize) {
        let here = walk.next[length]..walk.next[length] + len;
        walk.next[length] = here.end;
        let entries = &walk.block.words(length)[here.clone()];
        if length == self.order {
            return self.print_lines(entries, &walk.probabilities[here]);
        }
        for (&entry, &count) in entries.iter().zip(&walk.block.counts(length)[here]) {
            let children = children(entry, count);
            if children > 0 {
                let (shorter, longer) = self.tails.split_at_mut(length);
                longer[0].clear();
                longer[0].extend_from_slice(self.vocabulary.word(WordId(entry >> 1)));
                longer[0].push(b' ');
                longer[0].extend_from_slice(&shorter[length - 1]);
                self.print(walk, length + 1, children);
            }
        }
    }

    fn print_lines(&mut self, entries: &[u32], probabilities: &[u32]) {
        let tail = &self.tails[self.order - 1];
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
            let text = self.pieces.room(first.len() + tail.len() + NUMBERS);
            self.numbers.0.push_log10(text, f32::from_bits(probability), 0.0);
            text.push(b'\t');
            text.extend_from_slice(first);
            text.push(b' ');
            text.extend_from_slice(tail);
            if let Some(backoffs) = backoffs {
                text.push(b'\t');
                self.numbers.1.push_log10(text, f32::from_bits(backoffs[i]), f32::INFINITY);
            }
            text.push(b'\n');
        }
    }
}

/// Text on its way to the thread that writes it.
struct Pieces<'p> {
    /// Pieces; nothing behind the last of a row.
    sender: SyncSender<Option<Result<Vec<u8>>>>,
    /// Pieces that were written.
    pool: &'p Mutex<Vec<Vec<u8>>>,
    text: Vec<u8>,
}

impl Pieces<'_> {
    /// Where to append up to `bytes` bytes.
    #[inline]
    fn room(&mut self, bytes: usize) -> &mut Vec<u8> {
        if self.text.len() + bytes > self.text.capacity() {
            self.send();
            self.text = lock(self.pool).pop().unwrap_or_default();
            self.text.reserve(bytes.max(PIECE));
        }
        &mut self.text
    }

    fn send(&mut self) {
        if !self.text.is_empty() {
            // The other side may have ended early; it has its own reason.
            let _ = self.sender.send(Some(Ok(std::mem::take(&mut self.text))));
        }
    }

    /// Ends a row.
    fn end(&mut self, printed: Result<()>) {
        self.send();
        if let Err(error) = printed {
            let _ = self.sender.send(Some(Err(error)));
        }
        let _ = self.sender.send(None);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // A list of spare memory cannot be left half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Logarithms as text, with those printed lately at hand: n-grams seen once
/// share few backoffs, and neighbours often a probability.
struct Numbers {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    value: u32,
    len: u8,
    text: [u8; 19],
}

const SLOTS_LOG: u32 = 12;

impl Numbers {
    fn new() -> Self {
        // What is never asked for marks an empty slot: no value is NaN.
        let empty = Slot { value: f32::NAN.to_bits(), len: 0, text: [0; 19] };
        Numbers { slots: vec![empty; 1 << SLOTS_LOG] }
    }

    /// Appends log10 of `value`, but at most `limit`; the same for all calls.
    #[inline]
    fn push_log10(&mut self, out: &mut Vec<u8>, value: f32, limit: f32) {
        let bits = value.to_bits();
        let place = bits.wrapping_mul(0x9e37_79b1) >> (u32::BITS - SLOTS_LOG);
        let slot = &mut self.slots[place as usize];
        if slot.value == bits {
            out.extend_from_slice(&slot.text[..usize::from(slot.len)]);
            return;
        }
        let start = out.len();
        number::push_shortest_f32(out, value.log10().min(limit));
        let text = &out[start..];
        if let Some(room) = slot.text.get_mut(..text.len()) {
            room.copy_from_slice(text);
            (slot.value, slot.len) = (bits, text.len() as u8);
        }
    }
}
