//! Counts of the phrase pairs of one bucket of occurrences. Tables and records of a bucket fit into
//! a core's caches, so that looking up a phrase pair does not wait for memory.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use xxhash_rust::xxh3::xxh3_64;

use crate::phrase_occurrence::OccurrenceRecord;
use crate::phrases::invert_alignment;
use crate::reordering::MAX_CLASSES;

/// The end of a list of alignments.
const NONE: u32 = u32::MAX;

/// The counts of a bucket; buffers are reused from one bucket to the next.
#[derive(Default)]
pub(crate) struct BucketCounts {
    /// The records of all occurrences.
    bytes: Vec<u8>,
    aligned_pairs: Vec<AlignedPair>,
    pairs: Vec<Pair>,
    targets: Vec<Target>,
    /// Indices into the lists above, found by the bytes of records.
    aligned_pair_ids: HashTable<u32>,
    pair_ids: HashTable<u32>,
    target_ids: HashTable<u32>,
    /// Bytes of inverted alignments.
    best_inverse: Vec<u8>,
    other_inverse: Vec<u8>,
}

/// A phrase pair with one of its alignments.
struct AlignedPair {
    /// The first occurrence.
    record: OccurrenceRecord,
    pair: u32,
    count: u32,
    /// The next alignment in the list of the same pair, or [`NONE`].
    next: u32,
}

struct Pair {
    /// The first occurrence.
    record: OccurrenceRecord,
    target: u32,
    count: u32,
    /// The start of the list of alignments: the alignment that was found last.
    alignments: u32,
    orientations: [[u32; MAX_CLASSES]; 2],
}

struct Target {
    record: OccurrenceRecord,
    count: u64,
    distinct_sources: u32,
}

/// A counted phrase pair; words are encoded as in the corpus.
pub(crate) struct CountedPair<'a> {
    pub source: &'a [u8],
    pub target: &'a [u8],
    /// The most frequent alignment, packed.
    pub alignment: &'a [u8],
    /// lex(f|e) and lex(e|f).
    pub lexical_weights: [f32; 2],
    pub count: u32,
    pub target_count: u64,
    pub distinct_sources: u32,
    pub orientations: [[u32; MAX_CLASSES]; 2],
}

impl BucketCounts {
    /// Counts the occurrences that `fill` writes into an empty buffer.
    pub fn count(&mut self, fill: impl FnOnce(&mut Vec<u8>)) {
        self.aligned_pairs.clear();
        self.pairs.clear();
        self.targets.clear();
        for ids in [&mut self.aligned_pair_ids, &mut self.pair_ids, &mut self.target_ids] {
            ids.clear();
        }
        fill(&mut self.bytes);
        let mut at = 0;
        while at < self.bytes.len() {
            let record = OccurrenceRecord::parse(&self.bytes, at);
            at = record.end;
            let aligned_pair = self.aligned_pair_id(record);
            let aligned_pair = &mut self.aligned_pairs[aligned_pair as usize];
            aligned_pair.count += 1;
            let pair = &mut self.pairs[aligned_pair.pair as usize];
            pair.count += 1;
            let [previous, next] = record.orientations(&self.bytes);
            pair.orientations[0][previous] += 1;
            pair.orientations[1][next] += 1;
        }
        for pair in &self.pairs {
            let target = &mut self.targets[pair.target as usize];
            target.count += u64::from(pair.count);
            target.distinct_sources += 1;
        }
    }

    fn aligned_pair_id(&mut self, record: OccurrenceRecord) -> u32 {
        let (bytes, known) = (&self.bytes, &self.aligned_pairs);
        let found = intern(
            &mut self.aligned_pair_ids,
            known.len(),
            |id| known[id as usize].record.aligned_pair(bytes),
            record.aligned_pair(bytes),
        );
        if found.is_new {
            let pair = self.pair_id(record);
            let next = &mut self.pairs[pair as usize].alignments;
            let next = std::mem::replace(next, found.id);
            self.aligned_pairs.push(AlignedPair { record, pair, count: 0, next });
        }
        found.id
    }

    fn pair_id(&mut self, record: OccurrenceRecord) -> u32 {
        let (bytes, known) = (&self.bytes, &self.pairs);
        let found = intern(
            &mut self.pair_ids,
            known.len(),
            |id| known[id as usize].record.pair(bytes),
            record.pair(bytes),
        );
        if found.is_new {
            let target = self.target_id(record);
            self.pairs.push(Pair {
                record,
                target,
                count: 0,
                alignments: NONE,
                orientations: [[0; MAX_CLASSES]; 2],
            });
        }
        found.id
    }

    fn target_id(&mut self, record: OccurrenceRecord) -> u32 {
        let (bytes, known) = (&self.bytes, &self.targets);
        let found = intern(
            &mut self.target_ids,
            known.len(),
            |id| known[id as usize].record.target(bytes),
            record.target(bytes),
        );
        if found.is_new {
            self.targets.push(Target { record, count: 0, distinct_sources: 0 });
        }
        found.id
    }

    /// Calls `take` with every phrase pair of the bucket. `count_words` returns the number of words
    /// of an encoded phrase.
    pub fn for_each_pair(
        &mut self,
        count_words: impl Fn(&[u8]) -> usize,
        mut take: impl FnMut(&CountedPair<'_>),
    ) {
        for pair in &self.pairs {
            let bytes = &self.bytes;
            let target = &self.targets[pair.target as usize];
            let mut most = 0;
            // The most frequent alignment: `direct` for the weights of target words, `inverse` for
            // the weights of source words. Of equally frequent alignments, each direction takes the
            // last in its own order.
            let (mut direct, mut inverse) = (&pair.record, &pair.record);
            let mut is_inverted = false;
            let mut next = pair.alignments;
            while next != NONE {
                let other = &self.aligned_pairs[next as usize];
                next = other.next;
                if other.count > most {
                    most = other.count;
                    (direct, inverse) = (&other.record, &other.record);
                    is_inverted = false;
                } else if other.count == most {
                    if other.record.alignment(bytes) > direct.alignment(bytes) {
                        direct = &other.record;
                    }
                    let words = count_words(pair.record.source(bytes));
                    if !is_inverted {
                        invert_alignment(inverse.alignment(bytes), words, &mut self.best_inverse);
                        is_inverted = true;
                    }
                    let alignment = other.record.alignment(bytes);
                    invert_alignment(alignment, words, &mut self.other_inverse);
                    if self.other_inverse > self.best_inverse {
                        std::mem::swap(&mut self.best_inverse, &mut self.other_inverse);
                        inverse = &other.record;
                    }
                }
            }
            take(&CountedPair {
                source: pair.record.source(bytes),
                target: pair.record.target(bytes),
                alignment: direct.alignment(bytes),
                lexical_weights: [
                    inverse.lexical_weights(bytes)[0],
                    direct.lexical_weights(bytes)[1],
                ],
                count: pair.count,
                target_count: target.count,
                distinct_sources: target.distinct_sources,
                orientations: pair.orientations,
            });
        }
    }
}

/// An id, and whether this key is the first with it.
struct FoundId {
    id: u32,
    is_new: bool,
}

/// Finds the id of `key` among `ids`, or adds the id `num_known` for it. `key_at` returns the key
/// of a known id.
fn intern<'a>(
    ids: &mut HashTable<u32>,
    num_known: usize,
    key_at: impl Fn(u32) -> &'a [u8],
    key: &'a [u8],
) -> FoundId {
    match ids.entry(xxh3_64(key), |&id| key_at(id) == key, |&id| xxh3_64(key_at(id))) {
        Entry::Occupied(entry) => FoundId { id: *entry.get(), is_new: false },
        Entry::Vacant(entry) => {
            let id = num_known as u32;
            entry.insert(id);
            FoundId { id, is_new: true }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::phrase_occurrence::write_occurrence;
    use proptest::prelude::*;

    /// Alignments of two source words and two target words. Two of them are ordered differently in
    /// the two directions.
    const ALIGNMENTS: [&[u8]; 4] =
        [&[1, 2, 0, 1, 0], &[2, 0, 1, 2, 0], &[1, 0, 2, 0], &[2, 0, 1, 0]];

    proptest! {
        /// The counts of a phrase pair equal those that a map collects. The alignment of a
        /// direction is the most frequent one; of equally frequent ones, it is the last in the
        /// order of the direction.
        #[test]
        fn pairs_are_counted(
            occurrences in proptest::collection::vec((0u8..3, 0u8..3, 0usize..4, 0u8..4), 1..60),
        ) {
            let (mut bytes, mut record) = (Vec::new(), Vec::new());
            let mut expected = BTreeMap::<_, Vec<(usize, u8)>>::new();
            for &(source, target, alignment, orientation) in &occurrences {
                let phrases = ([source, source], [target, 7]);
                // Weights tell which alignment they belong to.
                let weights = [alignment as f32, 10.0 + alignment as f32];
                write_occurrence(
                    &mut record, orientation, weights, [&phrases.0, &phrases.1], ALIGNMENTS[alignment],
                );
                bytes.extend_from_slice(&record);
                expected.entry(phrases).or_default().push((alignment, orientation));
            }
            let mut counts = BucketCounts::default();
            for _ in 0..2 {
                counts.count(|buffer| buffer.clone_from(&bytes));
                let mut found = BTreeMap::new();
                let mut error = None;
                counts.for_each_pair(<[u8]>::len, |pair| {
                    let key = ([pair.source[0]; 2], [pair.target[0], 7]);
                    let occurrences = &expected[&key];
                    let frequency =
                        |alignment| occurrences.iter().filter(|found| found.0 == alignment).count();
                    let inverted = |alignment: usize| {
                        let mut inverse = Vec::new();
                        invert_alignment(ALIGNMENTS[alignment], 2, &mut inverse);
                        inverse
                    };
                    let direct = (0..4).max_by_key(|&at| (frequency(at), ALIGNMENTS[at])).unwrap();
                    let inverse = (0..4).max_by_key(|&at| (frequency(at), inverted(at))).unwrap();
                    let others = expected.iter().filter(|(phrases, _)| phrases.1 == key.1);
                    let same_target: Vec<usize> = others.map(|(_, list)| list.len()).collect();
                    let mut orientations = [[0; MAX_CLASSES]; 2];
                    for &(_, orientation) in occurrences {
                        orientations[0][usize::from(orientation)] += 1;
                        orientations[1][0] += 1;
                    }
                    let is_equal = pair.count as usize == occurrences.len()
                        && pair.alignment == ALIGNMENTS[direct]
                        && pair.lexical_weights == [inverse as f32, 10.0 + direct as f32]
                        && pair.target_count as usize == same_target.iter().sum::<usize>()
                        && pair.distinct_sources as usize == same_target.len()
                        && pair.orientations == orientations;
                    if !is_equal || found.insert(key, ()).is_some() {
                        error = Some(key);
                    }
                });
                prop_assert_eq!(error, None);
                prop_assert_eq!(found.len(), expected.len());
            }
        }
    }
}
