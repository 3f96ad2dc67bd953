//! Lines of the index and the final order of records, part by part.
//!
//! A line takes the phrases that the line before could not hold, then its own,
//! up to 14; the others go on. Its records are written together, smallest first.

use super::records::{EncodedPartition, SourceRecord};
use crate::bucket::{self, Bucket};
use crate::format::{BUCKET_SLOTS, PARTITIONS, fingerprint, home_bucket};

/// Builds the index while records stream by.
pub(crate) struct IndexBuilder {
    home_buckets: u64,
    pub buckets: Vec<Bucket>,
    /// Records that had no room on the lines so far.
    overflow: Vec<(u16, Vec<u8>)>,
    /// Bytes of records before those of the current part.
    offset: u64,
}

impl IndexBuilder {
    pub fn new(home_buckets: u64) -> Self {
        let buckets = Vec::with_capacity(home_buckets as usize + 1);
        IndexBuilder { home_buckets, buckets, overflow: Vec::new(), offset: 0 }
    }

    /// Lays out the lines of the next part; appends its records to `out`.
    pub fn push_partition(&mut self, part: &EncodedPartition, out: &mut Vec<u8>) {
        let mut rest = &part.records[..];
        for _ in 0..self.home_buckets / PARTITIONS as u64 {
            let number = self.buckets.len() as u64;
            let own = rest
                .iter()
                .take_while(|p| home_bucket(p.hash, self.home_buckets) == number)
                .count();
            let (own, behind) = rest.split_at(own);
            rest = behind;
            self.push_bucket(own, &part.bytes, out);
        }
        debug_assert!(rest.is_empty());
    }

    /// Adds spare lines until every phrase has a slot.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        while !self.overflow.is_empty() {
            self.push_bucket(&[], &[], out);
        }
    }

    fn push_bucket(&mut self, own: &[SourceRecord], bytes: &[u8], out: &mut Vec<u8>) {
        let waiting = std::mem::take(&mut self.overflow);
        let mut records: Vec<(u16, &[u8])> =
            waiting.iter().map(|(print, record)| (*print, &record[..])).collect();
        records
            .extend(own.iter().map(|p| (fingerprint(p.hash), &bytes[p.start..p.start + p.length])));
        let further = records.split_off(records.len().min(BUCKET_SLOTS));
        self.overflow = further.iter().map(|(print, record)| (*print, record.to_vec())).collect();
        records.sort_by_key(|(_, record)| record.len());

        // The last record's start must be within reach of 16 bits.
        let before_last = &records[..records.len().saturating_sub(1)];
        let mut shift = 0;
        while before_last.iter().map(|(_, r)| r.len().next_multiple_of(1 << shift)).sum::<usize>()
            > 0xffff << shift
        {
            shift += 1;
        }
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
    }

    /// Bytes of records so far.
    pub fn record_bytes(&self) -> u64 {
        self.offset
    }
}
