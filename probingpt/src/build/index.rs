//! The buckets of the index and the final order of records, partition by partition.
//!
//! A bucket takes the overflow of the previous bucket, then its own phrases, up to 14 in all. The
//! others overflow into the next bucket. The records of a bucket are written together, smallest
//! first.

use super::records::{EncodedPartition, SourceRecord};
use crate::bucket::{self, Bucket};
use crate::format::{BUCKET_SLOTS, PARTITIONS, fingerprint, home_bucket};

/// The records of a bucket before the last one take more bytes than a start can express: 2 GiB.
#[derive(Debug)]
pub(crate) struct BucketTooLarge;

/// Builds the index while records are written.
pub(crate) struct IndexBuilder {
    home_buckets: u64,
    pub buckets: Vec<Bucket>,
    /// Fingerprints and records of the overflow of the previous bucket.
    overflow: Vec<(u16, Vec<u8>)>,
    /// The offset of the next record.
    offset: u64,
}

impl IndexBuilder {
    pub fn new(home_buckets: u64) -> Self {
        let buckets = Vec::with_capacity(home_buckets as usize + 1);
        IndexBuilder { home_buckets, buckets, overflow: Vec::new(), offset: 0 }
    }

    /// Fills the buckets of the next partition; appends its records to `out`.
    ///
    /// # Errors
    /// If the records of a bucket are too large.
    pub fn push_partition(
        &mut self,
        part: &EncodedPartition,
        out: &mut Vec<u8>,
    ) -> Result<(), BucketTooLarge> {
        let mut rest = &part.records[..];
        for _ in 0..self.home_buckets / PARTITIONS as u64 {
            let number = self.buckets.len() as u64;
            let own = rest
                .iter()
                .take_while(|p| home_bucket(p.hash, self.home_buckets) == number)
                .count();
            let (own, others) = rest.split_at(own);
            rest = others;
            self.push_bucket(own, &part.bytes, out)?;
        }
        debug_assert!(rest.is_empty());
        Ok(())
    }

    /// Adds spare buckets until every phrase has a slot.
    ///
    /// # Errors
    /// If the records of a bucket are too large.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), BucketTooLarge> {
        while !self.overflow.is_empty() {
            self.push_bucket(&[], &[], out)?;
        }
        Ok(())
    }

    fn push_bucket(
        &mut self,
        own: &[SourceRecord],
        bytes: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), BucketTooLarge> {
        let overflow = std::mem::take(&mut self.overflow);
        let mut records: Vec<(u16, &[u8])> =
            overflow.iter().map(|(print, record)| (*print, &record[..])).collect();
        records
            .extend(own.iter().map(|p| (fingerprint(p.hash), &bytes[p.start..p.start + p.length])));
        let overflow = records.split_off(records.len().min(BUCKET_SLOTS));
        self.overflow = overflow.iter().map(|(print, record)| (*print, record.to_vec())).collect();
        records.sort_by_key(|(_, record)| record.len());

        let before_last = &records[..records.len().saturating_sub(1)];
        let lengths = before_last.iter().map(|(_, record)| record.len());
        let shift = choose_shift(lengths).ok_or(BucketTooLarge)?;
        let start = out.len();
        let mut slots = Vec::with_capacity(BUCKET_SLOTS);
        for (print, record) in records {
            let at = out.len() - start;
            out.resize(start + at.next_multiple_of(1 << shift), 0);
            slots.push((print, self.offset + (out.len() - start) as u64));
            out.extend_from_slice(record);
        }
        self.offset += (out.len() - start) as u64;
        self.buckets.push(bucket::pack(&slots, shift, !self.overflow.is_empty()));
        Ok(())
    }

    /// Returns the number of bytes of records so far.
    pub fn record_bytes(&self) -> u64 {
        self.offset
    }
}

/// Returns the smallest shift with which 16 bits hold the relative start of the last record, after
/// records of these `lengths`; `None` if there is none.
fn choose_shift(lengths: impl Iterator<Item = usize> + Clone) -> Option<u32> {
    (0..=bucket::MAX_SHIFT).find(|shift| {
        let padded = lengths.clone().map(|length| length.next_multiple_of(1 << shift));
        padded.sum::<usize>() <= 0xffff << shift
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shifts_are_those_that_the_format_has() {
        for (lengths, shift) in [
            (&[][..], Some(0)),
            (&[0xfffe, 1], Some(0)),
            (&[0xffff, 1], Some(1)),
            (&[0xffff << 15], Some(15)),
            (&[(0xffff << 15) + 1], None),
            // Each record is padded.
            (&[(0xfffe << 15) + 1], Some(15)),
            (&[(0xfffe << 15) + 1, 1], None),
        ] {
            assert_eq!(choose_shift(lengths.iter().copied()), shift, "{lengths:?}");
        }
    }
}
