//! Sorted runs of counted n-grams in the temporary file, and their merge.
//!
//! An n-gram is written as the words in which it differs from the one before:
//! one byte for how many last words are shared and for a small count, then the
//! other words, seven bits a byte; about six bytes for a 5-gram. Every so often
//! a run starts afresh, so that reading can begin near any last word.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::key::{Key, Packing};
use super::spill::{Spill, push_varint, read_varint};
use crate::Result;

/// Counts below this lie in the first byte.
const SMALL_COUNT: u64 = 15;
/// More bytes than any record has: 1, 15 words of 5 and a count of 10.
const RECORD: usize = 96;

/// A sorted run: where its stretches lie and their first last words.
#[derive(Default)]
pub(super) struct Run {
    stretches: Vec<(u32, Range<u64>)>,
}

impl Run {
    /// Appends n-grams that follow those already there, and starts afresh after
    /// each `stretch` bytes: what every run of a merge has in memory.
    pub fn push<K: Key>(
        &mut self,
        ngrams: impl Iterator<Item = (K, u64)>,
        packing: Packing,
        stretch: usize,
        spill: &Spill,
    ) -> Result<()> {
        let mut bytes = Vec::with_capacity(stretch + RECORD);
        let mut previous: Option<K> = None;
        let mut first = 0;
        let mut store = |bytes: &mut Vec<u8>, first| -> Result<()> {
            let at = spill.append(bytes)?;
            self.stretches.push((first, at..at + bytes.len() as u64));
            bytes.clear();
            Ok(())
        };
        for (key, count) in ngrams {
            let shared = match &previous {
                Some(previous) => previous.shared(&key, packing),
                None => {
                    first = key.word(0, packing);
                    0
                }
            };
            bytes.push(shared as u8 | (count.min(SMALL_COUNT) as u8) << 4);
            for place in shared..packing.order {
                push_varint(&mut bytes, key.word(place, packing).into());
            }
            if count >= SMALL_COUNT {
                push_varint(&mut bytes, count - SMALL_COUNT);
            }
            previous = Some(key);
            if bytes.len() >= stretch {
                store(&mut bytes, first)?;
                previous = None;
            }
        }
        if bytes.is_empty() { Ok(()) } else { store(&mut bytes, first) }
    }

    /// Puts `other`, whose n-grams all follow, behind the run.
    pub fn append(&mut self, other: Run) {
        self.stretches.extend(other.stretches);
    }

    /// The n-grams whose last word lies in `words`.
    fn reader<'s>(&'s self, words: Range<u32>, packing: Packing, spill: &'s Spill) -> Reader<'s> {
        // The stretch before the first that begins in `words` may end there.
        let from = self.stretches.partition_point(|(first, _)| *first < words.start);
        let stretches = &self.stretches[from.saturating_sub(1)..];
        let bytes = Vec::new();
        Reader { stretches, words, packing, spill, bytes, at: 0, last: [0; 16] }
    }
}

/// A run being read.
struct Reader<'s> {
    stretches: &'s [(u32, Range<u64>)],
    words: Range<u32>,
    packing: Packing,
    spill: &'s Spill,
    bytes: Vec<u8>,
    at: usize,
    /// The words of the last n-gram, its last word first.
    last: [u32; 16],
}

impl Reader<'_> {
    fn next<K: Key>(&mut self) -> Result<Option<(K, u64)>> {
        loop {
            if self.at == self.bytes.len() {
                let Some(((_, place), rest)) = self.stretches.split_first() else {
                    return Ok(None);
                };
                self.bytes.resize((place.end - place.start) as usize, 0);
                self.spill.read(place.start, &mut self.bytes)?;
                (self.stretches, self.at) = (rest, 0);
            }
            let head = self.bytes[self.at];
            self.at += 1;
            let (shared, mut count) = (usize::from(head & 15), u64::from(head >> 4));
            for word in &mut self.last[shared..self.packing.order] {
                *word = read_varint(&self.bytes, &mut self.at) as u32;
            }
            if count == SMALL_COUNT {
                count += read_varint(&self.bytes, &mut self.at);
            }
            if self.last[0] >= self.words.end {
                return Ok(None);
            }
            if self.last[0] >= self.words.start {
                let words = self.last[..self.packing.order].iter().enumerate();
                let key = words.fold(K::EMPTY, |key, (i, &word)| key.with(i, word, self.packing));
                return Ok(Some((key, count)));
            }
        }
    }
}

/// Several runs read as one, in suffix order, each n-gram once.
pub(super) struct Merge<'s, K> {
    readers: Vec<Reader<'s>>,
    /// The next n-gram of each run that has one.
    heads: BinaryHeap<Reverse<(K, usize, u64)>>,
}

impl<'s, K: Key> Merge<'s, K> {
    /// The n-grams of `runs` whose last word lies in `words`.
    pub fn new(
        runs: &'s [Run],
        words: Range<u32>,
        packing: Packing,
        spill: &'s Spill,
    ) -> Result<Self> {
        let readers = runs.iter().map(|run| run.reader(words.clone(), packing, spill)).collect();
        let mut merge = Merge { readers, heads: BinaryHeap::new() };
        for run in 0..runs.len() {
            if let Some((key, count)) = merge.readers[run].next()? {
                merge.heads.push(Reverse((key, run, count)));
            }
        }
        Ok(merge)
    }

    /// The next n-gram and how often it occurs in all runs.
    pub fn next(&mut self) -> Result<Option<(K, u64)>> {
        let mut found: Option<(K, u64)> = None;
        while let Some(mut head) = self.heads.peek_mut() {
            let Reverse((key, run, count)) = *head;
            match &mut found {
                None => found = Some((key, count)),
                Some((same, sum)) if *same == key => *sum += count,
                Some(_) => break,
            }
            match self.readers[run].next()? {
                Some((key, count)) => *head = Reverse((key, run, count)),
                None => drop(std::collections::binary_heap::PeekMut::pop(head)),
            }
        }
        Ok(found)
    }
}
