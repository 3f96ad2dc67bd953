//! Load of a table's index, and the cache lines that lookups read from it.
//!
//! A lookup should read one bucket of the index and one record, wherever they are: two random
//! accesses to memory. A bucket that overflows makes lookups read the next one too.

use miriam_storage::hash::hash64;

use crate::format::{BUCKET_SLOTS, PhraseHash, home_bucket};
use crate::lookup::HashedSpan;
use crate::{PhraseTable, Result, SpanLookup, bucket};

/// The size and load of an index, and the numbers of buckets that lookups of its source phrases
/// read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IndexStatistics {
    /// The number of buckets, of a cache line each.
    pub buckets: u64,
    /// The share of slots in use, from 0 to 1.
    pub load: f64,
    /// The mean number of buckets that the lookup of a source phrase of the table reads; 0 for an
    /// empty table.
    pub mean_buckets_read: f64,
    /// The largest number of buckets that the lookup of a source phrase of the table reads.
    pub max_buckets_read: u64,
}

/// The cache lines that the lookup of a sentence read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookupReads {
    /// The number of spans looked up.
    pub spans: u64,
    /// The number of buckets of the index that were read.
    pub buckets: u64,
    /// The number of records whose source words were compared.
    pub records: u64,
}

impl PhraseTable {
    /// Returns the size and load of the index, and counts the buckets that lookups of all source
    /// phrases read. Reads the whole table.
    ///
    /// # Errors
    ///
    /// If a record is damaged.
    pub fn index_statistics(&self) -> Result<IndexStatistics> {
        let (mut phrases, mut total, mut max_buckets_read) = (0u64, 0, 0);
        let mut source = Vec::new();
        for record in self.records() {
            self.read_source(record, &mut source)?;
            let hash = source.iter().fold(PhraseHash::EMPTY, |hash, &word| {
                hash.with_word(self.source.get(word).map_or(0, hash64))
            });
            let read = self.buckets_read(hash.0);
            phrases += 1;
            total += read;
            max_buckets_read = max_buckets_read.max(read);
        }
        let buckets = self.index.len() as u64;
        Ok(IndexStatistics {
            buckets,
            load: phrases as f64 / (buckets.max(1) * BUCKET_SLOTS as u64) as f64,
            mean_buckets_read: total as f64 / phrases.max(1) as f64,
            max_buckets_read,
        })
    }

    /// Counts the spans, buckets and records that the lookup which filled `lookup` read.
    pub fn lookup_reads(&self, lookup: &SpanLookup) -> LookupReads {
        let buckets = lookup.spans.iter().map(|&HashedSpan { hash, .. }| self.buckets_read(hash));
        LookupReads {
            spans: lookup.spans.len() as u64,
            buckets: buckets.sum(),
            records: lookup.candidates.len() as u64,
        }
    }

    /// Returns the number of buckets that a lookup of `hash` reads: up to the first one that does
    /// not overflow.
    fn buckets_read(&self, hash: u64) -> u64 {
        let home = home_bucket(hash, self.metadata.home_buckets) as usize;
        let chain = self.index.get(home..).unwrap_or_default();
        let overflowing = chain.iter().take_while(|line| bucket::overflows(line)).count();
        (overflowing + 1).min(chain.len()) as u64
    }
}
