//! The counted phrase pairs of a partition in the order of tables. They are scattered to ranges of
//! that order, each of which is sorted in a core's caches.
//!
//! A record begins with its phrases as ranks, with the end marker after each phrase. The ranks of a
//! side all have the same number of bytes, the highest byte first, so these bytes compare as lines
//! of tables do.

use miriam_textio::leb128::{push_leb128, read_leb128};

use crate::bucket_counts::CountedPair;
use crate::links::Link;
use crate::phrase_pair::PhrasePair;
use crate::phrases::decode_links;
use crate::ranked_vocabulary::RankedVocabulary;
use crate::record_buckets::RecordBuckets;
use crate::reordering::{pop_orientation_counts, push_orientation_counts};

/// The approximate number of phrase pairs in a range. They and their order fit into a core's
/// caches. It is smaller in tests, so that their small texts have several ranges too.
const RANGE_PAIRS: usize = if cfg!(test) { 4 } else { 8 << 10 };
/// The largest number of ranges.
const MAX_RANGES: usize = 1 << 10;

/// Phrase pairs in ranges of the order of tables.
pub(crate) struct SortedPairs<'a> {
    words: [&'a RankedVocabulary; 2],
    /// The number of bytes of a rank on each side.
    widths: [usize; 2],
    /// The first key of each range except the first range.
    bounds: Vec<u64>,
    ranges: RecordBuckets,
    /// The records that were pushed before the bounds were chosen.
    sample: Vec<u8>,
    /// A record and its two parts.
    record: Vec<u8>,
    phrases: Vec<u8>,
    rest: Vec<u8>,
}

/// A record of a range, to be sorted.
#[derive(Clone, Copy)]
struct SortEntry {
    key: u64,
    /// The start of the phrases, their length, and the length of what follows them.
    start: usize,
    phrases: u32,
    rest: u32,
}

/// Returns the start of a record's first part, and the lengths of its two parts.
#[inline]
fn parse_lengths(bytes: &[u8], mut at: usize) -> (usize, usize, usize) {
    let [phrases, rest] = [(); 2].map(|()| read_leb128(bytes, &mut at) as usize);
    (at, phrases, rest)
}

/// Returns the first bytes of the phrases as a number.
#[inline]
fn sort_key(phrases: &[u8]) -> u64 {
    match phrases.first_chunk() {
        Some(&first) => u64::from_be_bytes(first),
        None => {
            phrases.iter().fold(0, |key, &byte| key << 8 | u64::from(byte))
                << (64 - 8 * phrases.len())
        }
    }
}

impl<'a> SortedPairs<'a> {
    /// Creates an empty list of phrase pairs over these words.
    pub fn new(words: [&'a RankedVocabulary; 2]) -> Self {
        SortedPairs {
            words,
            widths: words.map(|words| (words.len() as u64).ilog2() as usize / 8 + 1),
            bounds: Vec::new(),
            ranges: RecordBuckets::new(0),
            sample: Vec::new(),
            record: Vec::new(),
            phrases: Vec::new(),
            rest: Vec::new(),
        }
    }

    /// Adds a phrase pair.
    pub fn push(&mut self, pair: &CountedPair<'_>) {
        self.phrases.clear();
        for (side, phrase) in [pair.source, pair.target].into_iter().enumerate() {
            let (words, width) = (self.words[side], self.widths[side]);
            let mut at = 0;
            while at < phrase.len() {
                let rank = words.rank(read_leb128(phrase, &mut at) as u32);
                push_rank(&mut self.phrases, rank, width);
            }
            push_rank(&mut self.phrases, words.end_rank, width);
        }
        self.rest.clear();
        push_leb128(&mut self.rest, pair.count.into());
        push_leb128(&mut self.rest, pair.target_count);
        push_leb128(&mut self.rest, pair.distinct_sources.into());
        for weight in pair.lexical_weights {
            self.rest.extend_from_slice(&weight.to_le_bytes());
        }
        push_orientation_counts(pair.count, &pair.orientations, &mut self.rest);
        self.rest.extend_from_slice(pair.alignment);
        self.record.clear();
        push_leb128(&mut self.record, self.phrases.len() as u64);
        push_leb128(&mut self.record, self.rest.len() as u64);
        self.record.extend_from_slice(&self.phrases);
        self.record.extend_from_slice(&self.rest);
        let key = sort_key(&self.phrases);
        if self.ranges.len() == 0 {
            self.sample.extend_from_slice(&self.record);
        } else {
            self.ranges.push(self.bounds.partition_point(|&bound| bound <= key), &self.record);
        }
    }

    /// Divides the order of tables into ranges. The phrase pairs so far are a sample: the ranges
    /// are enough for `parts` times as many phrase pairs. Does nothing if there are ranges already,
    /// or no phrase pairs.
    pub fn divide(&mut self, parts: usize) {
        if self.ranges.len() > 0 || self.sample.is_empty() {
            return;
        }
        let sample = std::mem::take(&mut self.sample);
        let mut entries = Vec::new();
        list_entries(&sample, &mut entries);
        let mut keys: Vec<u64> = entries.iter().map(|entry| entry.key).collect();
        keys.sort_unstable();
        let ranges = (keys.len() * parts / RANGE_PAIRS).clamp(1, MAX_RANGES.min(keys.len()));
        self.bounds = (1..ranges).map(|range| keys[range * keys.len() / ranges]).collect();
        self.bounds.dedup();
        self.ranges = RecordBuckets::new(self.bounds.len() + 1);
        let mut at = 0;
        for entry in entries {
            let (start, phrases, rest) = parse_lengths(&sample, at);
            let end = start + phrases + rest;
            let range = self.bounds.partition_point(|&bound| bound <= entry.key);
            self.ranges.push(range, &sample[at..end]);
            at = end;
        }
    }

    /// Calls `take` with every phrase pair in the order of tables, until one call fails. If
    /// `frees`, frees the phrase pairs that were taken.
    pub fn try_for_each<E>(
        &mut self,
        frees: bool,
        mut take: impl FnMut(&PhrasePair<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.divide(1);
        let (mut bytes, mut entries) = (Vec::new(), Vec::new());
        let mut phrases = [Vec::new(), Vec::new()];
        let mut links: Vec<Link> = Vec::new();
        for range in 0..self.ranges.len() {
            self.ranges.copy_to(range, &mut bytes);
            if frees {
                self.ranges.free(range);
            }
            list_entries(&bytes, &mut entries);
            let sorted_bytes = |entry: &SortEntry| &bytes[entry.start..][..entry.phrases as usize];
            entries.sort_unstable_by(|a, b| {
                a.key.cmp(&b.key).then_with(|| sorted_bytes(a).cmp(sorted_bytes(b)))
            });
            for entry in &entries {
                let mut at = entry.start;
                for (side, phrase) in phrases.iter_mut().enumerate() {
                    pop_phrase(
                        &bytes,
                        &mut at,
                        self.widths[side],
                        self.words[side].end_rank,
                        phrase,
                    );
                }
                let [source, target] = &phrases;
                let count = read_leb128(&bytes, &mut at) as u32;
                let target_count = read_leb128(&bytes, &mut at);
                let distinct_sources = read_leb128(&bytes, &mut at) as u32;
                let lexical_weights = [(); 2].map(|()| {
                    let four = bytes[at..at + 4].try_into().expect("four bytes");
                    at += 4;
                    f32::from_le_bytes(four)
                });
                let orientations = pop_orientation_counts(count, &bytes, &mut at);
                links.clear();
                let end = entry.start + (entry.phrases + entry.rest) as usize;
                links.extend(decode_links(&bytes[at..end]));
                take(&PhrasePair {
                    source,
                    target,
                    links: &links,
                    count,
                    target_count,
                    distinct_sources,
                    lexical_weights,
                    orientations,
                    is_pruned: false,
                })?;
            }
        }
        Ok(())
    }
}

/// Appends the low `width` bytes of `rank`, the highest first.
#[inline]
fn push_rank(record: &mut Vec<u8>, rank: u32, width: usize) {
    // A copy of constant size is a single instruction.
    record.extend_from_slice(&(rank << (8 * (4 - width))).to_be_bytes());
    record.truncate(record.len() - (4 - width));
}

/// Reads ranks of `width` bytes up to the end marker `end` into `phrase`.
#[inline]
fn pop_phrase(bytes: &[u8], at: &mut usize, width: usize, end: u32, phrase: &mut Vec<u32>) {
    phrase.clear();
    loop {
        let number = &bytes[*at..*at + width];
        let rank = number.iter().fold(0, |rank, &byte| rank << 8 | u32::from(byte));
        *at += width;
        if rank == end {
            return;
        }
        phrase.push(rank);
    }
}

/// Lists the records of a range.
fn list_entries(bytes: &[u8], entries: &mut Vec<SortEntry>) {
    entries.clear();
    let mut at = 0;
    while at < bytes.len() {
        let (start, length, rest) = parse_lengths(bytes, at);
        let key = sort_key(&bytes[start..start + length]);
        entries.push(SortEntry { key, start, phrases: length as u32, rest: rest as u32 });
        at = start + length + rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phrases::compare_phrases;
    use crate::ranked_vocabulary::VocabularyBuilder;
    use crate::reordering::MAX_CLASSES;
    use crate::sentence_pair::encode_phrase;
    use proptest::prelude::*;

    /// Returns orientation counts of `count` occurrences.
    fn orientations(count: u32) -> [[u32; MAX_CLASSES]; 2] {
        [[0, 0, 1, count - 1], [count, 0, 0, 0]]
    }

    proptest! {
        /// There is one range or many, and ranks have one byte or two.
        #[test]
        fn pairs_come_in_the_order_of_tables(
            mut pairs in proptest::collection::btree_set(
                [0, 1].map(|_| proptest::collection::vec(2u32..400, 1..4)), 1..60,
            ).prop_map(|pairs| pairs.into_iter().collect::<Vec<_>>()).prop_shuffle(),
            at in 0usize..60, parts in 1usize..9, words in prop::sample::select(vec![400u32, 200]),
        ) {
            let [mut sources, mut targets] = [VocabularyBuilder::new(), VocabularyBuilder::new()];
            for word in 2..words {
                sources.intern(format!("{}", word * 7919 % 1009).as_bytes());
                targets.intern(format!("{}~", word * 104_729 % 1013).as_bytes());
            }
            let words = [sources.into_ranked(), targets.into_ranked()];
            let limit = words[0].len().min(words[1].len()) as u32;
            pairs.iter_mut().flatten().flatten().for_each(|word| *word = 2 + *word % (limit - 2));
            let mut seen = std::collections::BTreeSet::new();
            pairs.retain(|pair| seen.insert(pair.clone()));
            let mut sorted = SortedPairs::new(words.each_ref());
            for (number, pair) in (1u32..).zip(&pairs) {
                let [source, target] = pair.each_ref().map(|phrase| encode_phrase(phrase));
                sorted.push(&CountedPair {
                    source: &source,
                    target: &target,
                    alignment: &[1, 0],
                    lexical_weights: [0.5, number as f32],
                    count: number,
                    target_count: 1 << 40,
                    distinct_sources: 3,
                    orientations: orientations(number),
                });
                if number as usize == at {
                    sorted.divide(parts);
                }
            }
            let [source_end, target_end] = words.each_ref().map(|words| words.end_rank);
            let ranks = |side: usize, phrase: &[u32]| -> Vec<u32> {
                phrase.iter().map(|&id| words[side].rank(id)).collect()
            };
            let mut expected: Vec<(Vec<u32>, Vec<u32>, u32)> = (1..)
                .zip(&pairs)
                .map(|(number, [source, target])| (ranks(0, source), ranks(1, target), number))
                .collect();
            expected.sort_by(|a, b| {
                compare_phrases(&a.0, &b.0, source_end)
                    .then_with(|| compare_phrases(&a.1, &b.1, target_end))
            });
            for frees in [false, true] {
                let mut found = Vec::new();
                let taken = sorted.try_for_each(frees, |pair| {
                    found.push((pair.source.to_vec(), pair.target.to_vec(), pair.count));
                    let is_equal = pair.links == [Link { target: 0, source: 0 }]
                        && pair.lexical_weights == [0.5, pair.count as f32]
                        && (pair.target_count, pair.distinct_sources) == (1 << 40, 3)
                        && pair.orientations == orientations(pair.count);
                    if is_equal { Ok(()) } else { Err(pair.count) }
                });
                prop_assert_eq!(taken, Ok(()));
                prop_assert_eq!(&found, &expected);
            }
        }
    }
}
