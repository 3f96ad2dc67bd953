//! Records scattered to buckets, so that records that belong together are processed together, in a
//! core's caches, in whatever order they are found. Writing to a bucket is sequential, and its
//! memory can be freed as soon as it has been read.

/// The number of bytes that a bucket grows by, or more for a longer record.
const CHUNK_BYTES: usize = 16 << 10;

/// Buckets of records, which are bytes.
pub(crate) struct RecordBuckets {
    /// The chunk of each bucket that records are appended to.
    open: Vec<Vec<u8>>,
    full: Vec<Vec<Vec<u8>>>,
}

impl RecordBuckets {
    /// Makes `buckets` empty buckets.
    pub fn new(buckets: usize) -> Self {
        RecordBuckets { open: vec![Vec::new(); buckets], full: vec![Vec::new(); buckets] }
    }

    /// Returns the number of buckets.
    pub fn len(&self) -> usize {
        self.open.len()
    }

    /// Appends a record to a bucket.
    #[inline]
    pub fn push(&mut self, bucket: usize, record: &[u8]) {
        let chunk = &mut self.open[bucket];
        if chunk.capacity() - chunk.len() < record.len() {
            let fresh = Vec::with_capacity(CHUNK_BYTES.max(record.len()));
            let chunk = std::mem::replace(chunk, fresh);
            if !chunk.is_empty() {
                self.full[bucket].push(chunk);
            }
        }
        self.open[bucket].extend_from_slice(record);
    }

    /// Replaces `bytes` by the records of a bucket, in the order of their arrival.
    pub fn copy_to(&self, bucket: usize, bytes: &mut Vec<u8>) {
        bytes.clear();
        for chunk in self.full[bucket].iter().chain([&self.open[bucket]]) {
            bytes.extend_from_slice(chunk);
        }
    }

    /// Removes the records of a bucket.
    pub fn free(&mut self, bucket: usize) {
        self.open[bucket] = Vec::new();
        self.full[bucket] = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_keep_their_records_in_order(
            records in proptest::collection::vec((0usize..3, 1usize..9000), 0..40),
        ) {
            let mut buckets = RecordBuckets::new(3);
            let mut expected = vec![Vec::new(); 3];
            for (number, &(bucket, length)) in (0u8..).zip(&records) {
                buckets.push(bucket, &vec![number; length]);
                expected[bucket].extend(vec![number; length]);
            }
            let mut bytes = vec![1];
            for (bucket, expected) in expected.iter().enumerate() {
                buckets.copy_to(bucket, &mut bytes);
                prop_assert_eq!(&bytes, expected);
                buckets.free(bucket);
                buckets.copy_to(bucket, &mut bytes);
                prop_assert!(bytes.is_empty());
            }
        }
    }
}
