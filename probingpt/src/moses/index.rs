//! `probing_hash.dat`: an array of buckets, each the key of a source phrase and the offset
//! of its targets. A search begins at the bucket whose number is the key modulo the number of
//! buckets. It probes linearly until it finds the key or an empty bucket. After the last bucket
//! comes the first.
//!
//! A key is a sum of shifted word hashes, and the words are not compared: phrases with equal keys
//! share their targets, as in Moses.

use std::path::Path;

use miriam_storage::{Bytes, LoadMethod, View, prefetch_at};

use crate::Result;

/// The key of an empty bucket.
const EMPTY: u64 = 0;
/// The offset of a phrase that is only a prefix of others (tables of hierarchical
/// systems).
const PREFIX_ONLY: u64 = u64::MAX;

/// The hash table, mapped.
pub(super) struct ProbingIndex {
    /// Key and offset.
    buckets: View<[u64; 2]>,
}

/// Returns the number of buckets of a table of `sources` source phrases. It is computed in f32,
/// whose rounding is part of the format.
fn num_buckets(sources: u64) -> u64 {
    sources.saturating_add(1).max((1.2 * sources as f32) as u64)
}

impl ProbingIndex {
    /// Opens the hash table of a directory with `sources` source phrases.
    ///
    /// # Errors
    ///
    /// If the file cannot be read or does not have the size that follows from `sources`.
    pub fn open(path: &Path, sources: u64, load: LoadMethod) -> Result<Self> {
        let bytes = Bytes::open(path, load)?;
        let expected = u128::from(num_buckets(sources)) * 16;
        if bytes.len() as u128 != expected {
            let reason = format!(
                "it has {} bytes, but uniq_entries in config requires {expected}",
                bytes.len()
            );
            return Err(miriam_storage::Error::damaged(path, "size", reason).into());
        }
        let buckets = View::new(&bytes, 0, bytes.len())
            .map_err(|reason| miriam_storage::Error::damaged(path, "buckets", reason))?;
        Ok(ProbingIndex { buckets })
    }

    #[inline]
    fn home_bucket(&self, key: u64) -> usize {
        (key % self.buckets.len() as u64) as usize
    }

    /// Prefetches the bucket in which the search for `key` begins.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch_at(&self.buckets, self.home_bucket(key));
    }

    /// Returns the offset of the targets of the phrase with `key`.
    #[inline]
    pub fn find(&self, key: u64) -> Option<u64> {
        let (before_home, from_home) = self.buckets.split_at(self.home_bucket(key));
        // A damaged table may have no empty bucket, so each bucket is probed at most once.
        for &[found, offset] in from_home.iter().chain(before_home) {
            if found == EMPTY {
                return None;
            }
            if found == key {
                return (offset != PREFIX_ONLY).then_some(offset);
            }
        }
        None
    }

    /// Returns the offsets of the targets of all phrases, in the order of the buckets.
    pub fn offsets(&self) -> impl Iterator<Item = u64> + '_ {
        self.buckets
            .iter()
            .filter(|bucket| bucket[0] != EMPTY && bucket[1] != PREFIX_ONLY)
            .map(|bucket| bucket[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sizes of three tables that Moses built, of an empty table, and of one where f32 rounds.
    #[test]
    fn the_number_of_buckets_is_that_of_moses() {
        for (sources, buckets) in
            [(27_489, 32_986), (582_384, 698_860), (1, 2), (0, 1), (100_000_001, 120_000_008)]
        {
            assert_eq!(num_buckets(sources), buckets, "{sources}");
        }
        assert_eq!(num_buckets(u64::MAX), u64::MAX);
    }
}
