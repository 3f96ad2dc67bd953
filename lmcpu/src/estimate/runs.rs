//! Sorted runs of counted n-grams in the temporary file, and their merge.
//!
//! An n-gram is written as its difference from the previous one: one byte for the
//! number of last words that are shared and for a small count, then the other words as
//! varints; about six bytes for a 5-gram. A run consists of segments that can each be
//! read without the ones before, so that reading can begin near any last word.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use miriam_storage::spill_file::SpillFile;
use miriam_textio::leb128::{push_leb128, read_leb128};

use super::ngram_key::{KeyPacking, NgramKey};
use crate::{MAX_ORDER, Result};

/// Counts below this are in the first byte.
const SMALL_COUNT: u64 = 15;
/// The largest number of shared words in a record: what four bits hold. In longer
/// n-grams, the words after these are written even if they are shared.
const MAX_SHARED: usize = 15;
/// More bytes than any record has: 1 for the head, 5 for each word and 10 for the count.
const MAX_RECORD_BYTES: usize = 5 * MAX_ORDER + 16;

/// A sorted run: for each segment the last word of its first n-gram, and its bytes in
/// the temporary file.
#[derive(Default)]
pub(super) struct SortedRun {
    segments: Vec<(u32, Range<u64>)>,
}

impl SortedRun {
    /// Appends n-grams that follow those already written, in segments of about `segment_bytes`
    /// bytes. A merge holds one segment of each run in memory.
    pub fn write_ngrams<K: NgramKey>(
        &mut self,
        ngrams: impl Iterator<Item = (K, u64)>,
        packing: KeyPacking,
        segment_bytes: usize,
        spill: &SpillFile,
    ) -> Result<()> {
        let mut bytes = Vec::with_capacity(segment_bytes + MAX_RECORD_BYTES);
        let mut previous: Option<K> = None;
        let mut first = 0;
        let mut store = |bytes: &mut Vec<u8>, first| -> Result<()> {
            let at = spill.append(bytes)?;
            self.segments.push((first, at..at + bytes.len() as u64));
            bytes.clear();
            Ok(())
        };
        for (key, count) in ngrams {
            let shared = match &previous {
                Some(previous) => previous.shared_words(&key, packing).min(MAX_SHARED),
                None => {
                    first = key.word(0, packing);
                    0
                }
            };
            bytes.push(shared as u8 | (count.min(SMALL_COUNT) as u8) << 4);
            for index in shared..packing.order {
                push_leb128(&mut bytes, key.word(index, packing).into());
            }
            if count >= SMALL_COUNT {
                push_leb128(&mut bytes, count - SMALL_COUNT);
            }
            previous = Some(key);
            if bytes.len() >= segment_bytes {
                store(&mut bytes, first)?;
                previous = None;
            }
        }
        if bytes.is_empty() { Ok(()) } else { store(&mut bytes, first) }
    }

    /// Appends `other`, whose n-grams all follow the n-grams of this run.
    pub fn append(&mut self, other: SortedRun) {
        self.segments.extend(other.segments);
    }

    /// Returns a reader of the n-grams whose last word is in `words`.
    fn reader<'s>(
        &'s self,
        words: Range<u32>,
        packing: KeyPacking,
        spill: &'s SpillFile,
    ) -> RunReader<'s> {
        // The segment before the first one that begins in `words` may end in `words`.
        let from = self.segments.partition_point(|(first, _)| *first < words.start);
        let segments = &self.segments[from.saturating_sub(1)..];
        let bytes = Vec::new();
        RunReader {
            segments,
            words,
            packing,
            spill,
            bytes,
            position: 0,
            last_words: [0; MAX_ORDER],
        }
    }
}

/// A run being read.
struct RunReader<'s> {
    segments: &'s [(u32, Range<u64>)],
    words: Range<u32>,
    packing: KeyPacking,
    spill: &'s SpillFile,
    bytes: Vec<u8>,
    position: usize,
    /// The words of the previous n-gram, last word first.
    last_words: [u32; MAX_ORDER],
}

impl RunReader<'_> {
    fn next<K: NgramKey>(&mut self) -> Result<Option<(K, u64)>> {
        loop {
            if self.position == self.bytes.len() {
                let Some(((_, place), rest)) = self.segments.split_first() else {
                    return Ok(None);
                };
                self.bytes.resize((place.end - place.start) as usize, 0);
                self.spill.read(place.start, &mut self.bytes)?;
                (self.segments, self.position) = (rest, 0);
            }
            let head = self.bytes[self.position];
            self.position += 1;
            let (shared, mut count) = (usize::from(head) & MAX_SHARED, u64::from(head >> 4));
            for word in &mut self.last_words[shared..self.packing.order] {
                *word = read_leb128(&self.bytes, &mut self.position) as u32;
            }
            if count == SMALL_COUNT {
                count += read_leb128(&self.bytes, &mut self.position);
            }
            if self.last_words[0] >= self.words.end {
                return Ok(None);
            }
            if self.last_words[0] >= self.words.start {
                let words = self.last_words[..self.packing.order].iter().enumerate();
                let key =
                    words.fold(K::EMPTY, |key, (i, &word)| key.with_word(i, word, self.packing));
                return Ok(Some((key, count)));
            }
        }
    }
}

/// A merger of runs, which returns n-grams in suffix order, each once.
pub(super) struct RunMerger<'s, K> {
    readers: Vec<RunReader<'s>>,
    /// The next n-gram of each run that has one.
    heads: BinaryHeap<Reverse<(K, usize, u64)>>,
}

impl<'s, K: NgramKey> RunMerger<'s, K> {
    /// Creates a merger of the n-grams of `runs` whose last word is in `words`.
    pub fn new(
        runs: &'s [SortedRun],
        words: Range<u32>,
        packing: KeyPacking,
        spill: &'s SpillFile,
    ) -> Result<Self> {
        let readers = runs.iter().map(|run| run.reader(words.clone(), packing, spill)).collect();
        let mut merge = RunMerger { readers, heads: BinaryHeap::new() };
        for run in 0..runs.len() {
            if let Some((key, count)) = merge.readers[run].next()? {
                merge.heads.push(Reverse((key, run, count)));
            }
        }
        Ok(merge)
    }

    /// Returns the next n-gram and its count in all runs.
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
