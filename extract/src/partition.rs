//! One partition of the phrase pairs, counted in memory. The hash of the target phrase decides
//! to which partition a pair belongs. So all counts of a target phrase are in one partition, and
//! the merge adds only the counts of source phrases.
//!
//! Looking up a phrase in tables of the size of a partition means several waits for memory. So the
//! occurrences are first scattered, by the same hash, to buckets that fit into a core's caches; the
//! phrase pairs of a bucket are counted there and scattered once more, by their place in the
//! tables.
//!
//! Each partition reads the whole corpus and shares no mutable state. So partitions need no
//! locks, and any number of them gives the same result.

use miriam_textio::SliceInterner;

use crate::bucket_counts::BucketCounts;
use crate::consistent_spans::for_each_consistent_span;
use crate::corpus::Corpus;
use crate::lexical_table::LexicalTable;
use crate::phrase_occurrence::write_occurrence;
use crate::phrase_pair::PhrasePair;
use crate::phrases::{PackedAlignment, hash_phrase};
use crate::record_buckets::RecordBuckets;
use crate::reordering::{OrientationFinder, ReorderingType};
use crate::sentence_pair::{SentencePair, count_encoded_words};
use crate::sentence_weights::SentenceWeights;
use crate::significance::{SignificanceThreshold, find_insignificant};
use crate::sorted_pairs::SortedPairs;
use crate::{Error, Result};

/// The approximate number of occurrences in a bucket. They and the counts of their phrase pairs fit
/// into a core's caches. It is smaller in tests, so that their small texts have several buckets
/// too.
const BUCKET_OCCURRENCES: u64 = if cfg!(test) { 8 } else { 16 << 10 };
/// The largest number of buckets, and so of the places in memory that are written to in turn.
const MAX_BUCKETS: u64 = 1 << 10;

/// The corpus and the options from which partitions are extracted.
pub(crate) struct PhraseExtractor<'a> {
    pub corpus: &'a Corpus,
    pub lexical_table: &'a LexicalTable,
    pub max_length: usize,
    pub reordering: Option<ReorderingType>,
    pub significance: Option<SignificanceThreshold>,
    /// The first partition that is counted here; other shards count the earlier ones.
    pub first_partition: u64,
    pub num_partitions: u64,
}

/// The largest count for which the number of phrase pairs with that count is kept.
pub(crate) const MAX_COUNTED: usize = 10;

/// The counts of counts, from which discounts are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CountsOfCounts {
    /// The number of phrase pairs that occur once, twice and so on.
    pub counts: [u64; MAX_COUNTED],
    /// The number of all phrase pairs.
    pub pairs: u64,
}

impl CountsOfCounts {
    fn add(&mut self, count: u32) {
        if let Some(counter) = self.counts.get_mut(count as usize - 1) {
            *counter += 1;
        }
        self.pairs += 1;
    }

    pub fn merge(&mut self, other: &CountsOfCounts) {
        self.counts.iter_mut().zip(other.counts).for_each(|(a, b)| *a += b);
        self.pairs += other.pairs;
    }
}

impl PhraseExtractor<'_> {
    /// Calls `take` with the phrase pairs of `partition` in the order of tables, and
    /// `block_done` after every block of the corpus. An error of either ends the work.
    pub fn count_partition(
        &self,
        partition: u64,
        block_done: impl Fn() -> Result<()>,
        mut take: impl FnMut(&PhrasePair<'_>) -> Result<()>,
    ) -> Result<CountsOfCounts> {
        let occurrences = self.corpus.instances / self.num_partitions;
        let buckets = (occurrences / BUCKET_OCCURRENCES).clamp(1, MAX_BUCKETS) as usize;
        let mut found = RecordBuckets::new(buckets);
        let mut orienter =
            self.reordering.map(|model| OrientationFinder::new(model, self.max_length));
        let (mut sentence, mut scratch) = (SentencePair::default(), SentenceScratch::default());
        for block in 0..self.corpus.num_blocks() {
            self.corpus.for_each_sentence_pair(block, &mut sentence, |sentence| {
                let orienter = orienter.as_mut();
                self.collect_occurrences(partition, sentence, orienter, &mut scratch, &mut found);
            })?;
            block_done()?;
        }
        let mut pairs = SortedPairs::new(self.corpus.vocabularies.each_ref());
        let mut counts = CountsOfCounts::default();
        let mut counter = BucketCounts::default();
        for bucket in 0..buckets {
            counter.count(|bytes| found.copy_to(bucket, bytes));
            found.free(bucket);
            counter.for_each_pair(count_encoded_words, |pair| {
                counts.add(pair.count);
                pairs.push(pair);
            });
            pairs.divide(buckets);
        }
        drop((counter, found));
        let pruned = match self.significance {
            Some(significance) => self.find_pruned_pairs(significance, partition, &mut pairs)?,
            None => Vec::new(),
        };
        let mut pruned = pruned.into_iter();
        pairs.try_for_each(true, |pair| {
            take(&PhrasePair { is_pruned: pruned.next().unwrap_or(false), ..*pair })
        })?;
        Ok(counts)
    }

    /// Returns the bucket of a target phrase with this hash among `buckets`; `None` if the phrase
    /// does not belong to `partition`.
    #[inline]
    fn bucket_in_partition(&self, hash: u64, partition: u64, buckets: usize) -> Option<usize> {
        let place = (hash >> 16 & 0xffff_ffff) * self.num_partitions;
        let bucket = ((place & 0xffff_ffff) * buckets as u64) >> 32;
        (place >> 32 == partition).then_some(bucket as usize)
    }

    fn collect_occurrences(
        &self,
        partition: u64,
        sentence: &SentencePair,
        mut orienter: Option<&mut OrientationFinder>,
        scratch: &mut SentenceScratch,
        found: &mut RecordBuckets,
    ) {
        if let Some(orienter) = &mut orienter {
            orienter.set_sentence_pair(sentence);
        }
        let SentenceScratch { weights, alignment, record } = scratch;
        let mut has_weights = false;
        for_each_consistent_span(sentence, self.max_length, |block| {
            let hash = hash_phrase(&sentence.target[block.target.clone()]);
            let Some(bucket) = self.bucket_in_partition(hash, partition, found.len()) else {
                return;
            };
            if !has_weights {
                weights.set(sentence, self.lexical_table, self.corpus);
                has_weights = true;
            }
            let direct = weights.direct(block.target.clone());
            let target = sentence.target_bytes(block.target.clone());
            let links = sentence.links_in(block.target.start, block.target.end);
            for span in block.source_spans(self.max_length) {
                alignment.set(links, span.start, block.target.start, block.target.len());
                let [previous, next] = match &orienter {
                    Some(orienter) => orienter.class_indices(sentence, &span, &block.target),
                    None => [0; 2],
                };
                write_occurrence(
                    record,
                    previous | next << 4,
                    [weights.inverse(span.clone()), direct],
                    [sentence.source_bytes(span), target],
                    alignment.as_bytes(),
                );
                found.push(bucket, record);
            }
        });
    }

    /// Returns for each phrase pair, in the order of tables, whether `significance` prunes it.
    fn find_pruned_pairs(
        &self,
        significance: SignificanceThreshold,
        partition: u64,
        pairs: &mut SortedPairs<'_>,
    ) -> Result<Vec<bool>> {
        let [mut sources, mut targets] = [SliceInterner::new(), SliceInterner::new()];
        let mut ids = Vec::new();
        pairs.try_for_each(false, |pair| {
            let source = sources.intern(pair.source, hash_phrase);
            ids.push((source, targets.intern(pair.target, hash_phrase)));
            Ok::<_, Error>(())
        })?;
        find_insignificant(
            self.corpus,
            significance,
            self.max_length,
            |hash| self.bucket_in_partition(hash, partition, 1).is_some(),
            [&sources, &targets],
            &ids,
        )
    }
}

/// Buffers for the occurrences of a sentence pair.
#[derive(Default)]
struct SentenceScratch {
    weights: SentenceWeights,
    alignment: PackedAlignment,
    record: Vec<u8>,
}
