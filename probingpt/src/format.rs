//! The constants of the file format: the metadata block, section names, the hash of a
//! source phrase and the classes of alignments.

use miriam_storage::FileKind;
use miriam_storage::hash::fast_range;
use serde::{Deserialize, Serialize};

/// The kind of a phrase table's container.
pub const KIND: FileKind = FileKind::new("phrase-table");
/// The version of the layout this crate reads and writes.
pub const VERSION: u32 = 1;

/// The encoding of a score column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ColumnEncoding {
    /// An `f32` for each entry.
    Raw,
    /// A code for each entry, and a codebook of the distinct values.
    Coded,
    /// As `Coded`; the codebook also has the counts of each value.
    CodedWithCounts,
}

/// The metadata block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Metadata {
    /// The number of phrase pairs.
    pub entries: u64,
    /// The number of distinct source phrases.
    pub sources: u64,
    /// The number of buckets of the index to which hashes are mapped; spare buckets follow them.
    pub home_buckets: u64,
    /// The encoding of each phrase score.
    pub columns: Vec<ColumnEncoding>,
    /// The number of reordering scores of an entry; 0 without reordering.
    pub num_reordering: u32,
    /// Whether entries have an alignment code.
    pub has_alignment: bool,
    /// Whether entries have a code of the text of their counts.
    pub has_counts: bool,
    /// Whether entries have a code of the text from field 6 on.
    pub has_extra: bool,
    /// The number of words of the longest source phrase.
    pub max_source_length: u32,
    /// The number of words of the longest target phrase.
    pub max_target_length: u32,
    /// The largest number of targets of a source phrase.
    pub max_targets: u32,
    /// The number of entries without reordering scores, in a table with such scores.
    pub missing_reordering: u64,
}

impl Metadata {
    /// Returns the number of columns of codes.
    pub fn num_coded_columns(&self) -> usize {
        self.columns.iter().filter(|c| **c != ColumnEncoding::Raw).count()
            + usize::from(self.num_reordering > 0)
            + usize::from(self.has_alignment)
            + usize::from(self.has_counts)
            + usize::from(self.has_extra)
    }
}

/// The largest number of phrase scores of a table. The layout allows more, but Moses' tables have
/// four or five. A line or metadata with more than this is an error.
pub(crate) const MAX_SCORES: usize = 20;
/// The largest number of reordering scores of an entry. Moses' models have two to eight. A table
/// into which several models are joined has a multiple of that. More than this is an error too.
pub(crate) const MAX_REORDERING: usize = 1000;
/// The number of slots of a bucket.
pub(crate) const BUCKET_SLOTS: usize = 14;
/// The highest bits of a hash choose one of this many partitions; the number of buckets is
/// a multiple of it, so that partitions are built one by one.
pub(crate) const PARTITIONS: usize = 64;

/// Returns the partition of a hash: its highest bits.
#[inline]
pub(crate) fn partition(hash: u64) -> usize {
    (hash >> (u64::BITS - PARTITIONS.ilog2())) as usize
}

/// Target words have a fixed width from this many targets on: decoding long lists of
/// varints is slow.
pub(crate) const FIXED_WIDTH_MIN_TARGETS: usize = 16;
/// Numbers of targets below this are in a record's first byte, unless target lengths are wide.
pub(crate) const TARGETS_ESCAPE: usize = 31;
/// Source lengths below this are in a record's first byte.
pub(crate) const SOURCE_LENGTH_ESCAPE: usize = 8;

/// Returns the number of buckets for `sources` phrases at a load factor of at most 0.7.
pub(crate) fn num_home_buckets(sources: u64) -> u64 {
    let per_partition = (sources * 10).div_ceil((BUCKET_SLOTS * 7 * PARTITIONS) as u64);
    per_partition.max(1) * PARTITIONS as u64
}

/// Returns the bucket in which the search for a phrase of this hash begins.
#[inline]
pub(crate) fn home_bucket(hash: u64, home_buckets: u64) -> u64 {
    fast_range(hash, home_buckets)
}

/// Returns the fingerprint of a hash in a slot. Buckets are chosen by the high bits.
#[inline]
pub(crate) fn fingerprint(hash: u64) -> u16 {
    hash as u16
}

/// The hash of a source phrase, built word by word from the XXH3 hashes of the words' bytes. So a
/// span that is one word longer costs one multiplication more, and a build knows the hash before
/// ids are ranked.
#[derive(Clone, Copy)]
pub(crate) struct PhraseHash(pub u64);

impl PhraseHash {
    pub const EMPTY: PhraseHash = PhraseHash(0x9e37_79b9_7f4a_7c15);

    /// Returns the hash of the phrase with one more word.
    #[inline(always)]
    pub fn with_word(self, word_hash: u64) -> Self {
        let product = u128::from(self.0.rotate_left(29) ^ word_hash) * 0xd6e8_feb8_6659_fd93;
        PhraseHash(product as u64 ^ (product >> 64) as u64)
    }
}

/// The number of classes of a length. The last class has all lengths of at least this number minus
/// 1.
const CLASS_LENGTHS: usize = 32;
/// Alignments are ranked by frequency within a class of lengths: both lengths are known
/// when an alignment is decoded, so its code takes fewer bits.
pub(crate) const NUM_ALIGNMENT_CLASSES: usize = CLASS_LENGTHS * CLASS_LENGTHS;

/// Returns the class of alignments between phrases of these lengths.
#[inline]
pub(crate) fn alignment_class(source_length: usize, target_length: usize) -> usize {
    source_length.min(CLASS_LENGTHS - 1) * CLASS_LENGTHS + target_length.min(CLASS_LENGTHS - 1)
}

/// Section names.
pub(crate) mod section {
    pub const SOURCE: &str = "source";
    pub const TARGET: &str = "target";
    pub const COUNTS: &str = "counts";
    pub const EXTRA: &str = "extra";
    pub const REORDERING: &str = "reordering";
    pub const ALIGNMENT_CLASSES: &str = "alignment.classes";
    pub const ALIGNMENT_OFFSETS: &str = "alignment.offsets";
    pub const ALIGNMENT_POINTS: &str = "alignment.points";
    pub const INDEX: &str = "index";
    pub const RECORDS: &str = "records";

    /// Returns the name of the codebook of score column `column`, counted from 0.
    pub fn values(column: usize) -> String {
        format!("score.{column}.values")
    }

    /// Returns the name of the section with the counts of the codebook's rows.
    pub fn counts(column: usize) -> String {
        format!("score.{column}.counts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_storage::hash::hash64;

    /// The index of a file depends on these hashes. The expected one was computed with Python's
    /// integers from the golden XXH3 values of the two words.
    #[test]
    fn the_hash_of_a_phrase_does_not_change() {
        assert_eq!(
            PhraseHash::EMPTY.with_word(hash64(b"a")).with_word(hash64(b"abc")).0,
            0xf3b3_5b9f_36da_96c5
        );
    }

    #[test]
    fn buckets_fit_the_load_factor() {
        assert_eq!(num_home_buckets(0), 64);
        assert_eq!(num_home_buckets(627), 64);
        assert_eq!(num_home_buckets(628), 128);
        for sources in [1, 1000, 582_384, 13_000_000] {
            let buckets = num_home_buckets(sources);
            assert!(buckets.is_multiple_of(64) && sources as f64 / (buckets * 14) as f64 <= 0.7);
        }
        assert_eq!(home_bucket(u64::MAX, 128), 127);
        assert_eq!(home_bucket(1 << 58, 128), 2);
    }

    #[test]
    fn classes_are_distinct_up_to_30() {
        assert_eq!(alignment_class(0, 31), 31);
        assert_eq!(alignment_class(31, 31), NUM_ALIGNMENT_CLASSES - 1);
        assert_eq!(alignment_class(500, 2), alignment_class(31, 2));
        assert_ne!(alignment_class(2, 3), alignment_class(3, 2));
    }
}
