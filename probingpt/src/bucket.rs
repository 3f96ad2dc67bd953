//! One bucket of the index: a cache line of 64 bytes, with up to 14 source phrases.
//!
//! | byte | what |
//! |---|---|
//! | 0-4 | offset of the bucket's first record, 40 bits |
//! | 5 | bits 0-6: slots in use; bit 7: a phrase of this bucket or an earlier one is in the next |
//! | 6 | shift: a record starts at offset + (relative start << shift) |
//! | 7 | zero |
//! | 8-35 | 14 fingerprints, 16 bits each |
//! | 36-63 | 14 relative starts, 16 bits each |
//!
//! The records of a bucket lie together, smallest first, so that even the largest starts nearby.
//! Fingerprints are compared four at a time in ordinary 64-bit words; `unsafe` vector instructions
//! would gain little on 28 bytes.

use crate::format::BUCKET_SLOTS;

/// A bucket as in the file: eight little-endian words.
pub(crate) type Bucket = [u64; 8];

/// The largest shift. Only four bits of its byte are read.
pub(crate) const MAX_SHIFT: u32 = 15;

const LANE_ONES: u64 = 0x0001_0001_0001_0001;
const LANE_HIGH_BITS: u64 = LANE_ONES << 15;

/// Returns the number of slots in use; a damaged bucket may claim too many.
#[inline(always)]
pub(crate) fn used_slots(bucket: &Bucket) -> usize {
    ((bucket[0] >> 40) as usize & 127).min(BUCKET_SLOTS)
}

/// Whether a phrase that is not in this bucket may be in the next one.
#[inline(always)]
pub(crate) fn overflows(bucket: &Bucket) -> bool {
    bucket[0] >> 47 & 1 == 1
}

#[inline(always)]
fn fingerprint(bucket: &Bucket, slot: usize) -> u16 {
    (bucket[1 + slot / 4] >> (16 * (slot % 4))) as u16
}

/// Returns the offset of the record of `slot`.
#[inline(always)]
pub(crate) fn record_offset(bucket: &Bucket, slot: usize) -> u64 {
    let at = slot + 18;
    let relative = bucket[at / 4] >> (16 * (at % 4)) & 0xffff;
    (bucket[0] & 0xff_ffff_ffff) + (relative << (bucket[0] >> 48 & 15))
}

/// Calls `found` with the offset of the record of each slot in use whose fingerprint is `wanted`.
#[inline(always)]
pub(crate) fn probe_fingerprints(bucket: &Bucket, wanted: u16, mut found: impl FnMut(u64)) {
    let pattern = u64::from(wanted) * LANE_ONES;
    let used = used_slots(bucket);
    for word in 0..4 {
        // A lane of zeros sets its top bit. Lanes above it may be false positives, so slots are
        // compared again.
        let difference = bucket[1 + word] ^ pattern;
        let mut zeros = difference.wrapping_sub(LANE_ONES) & !difference & LANE_HIGH_BITS;
        while zeros != 0 {
            let slot = word * 4 + zeros.trailing_zeros() as usize / 16;
            if slot < used && fingerprint(bucket, slot) == wanted {
                found(record_offset(bucket, slot));
            }
            zeros &= zeros - 1;
        }
    }
}

/// Packs fingerprints and offsets of records, which ascend, into a bucket. Offsets must be within
/// `65535 << shift` of the first, at multiples of `1 << shift` from it.
pub(crate) fn pack(slots: &[(u16, u64)], shift: u32, overflows: bool) -> Bucket {
    let base = slots.first().map_or(0, |s| s.1);
    let mut bucket = [0; 8];
    bucket[0] =
        base | (slots.len() as u64) << 40 | u64::from(overflows) << 47 | u64::from(shift) << 48;
    for (i, &(fingerprint, offset)) in slots.iter().enumerate() {
        bucket[1 + i / 4] |= u64::from(fingerprint) << (16 * (i % 4));
        let relative = (offset - base) >> shift;
        debug_assert!(relative < 1 << 16 && relative << shift == offset - base);
        bucket[(i + 18) / 4] |= relative << (16 * ((i + 18) % 4));
    }
    bucket
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_bytes_are_those_of_the_table_above() {
        let slots: Vec<_> = (0..14).map(|i| (0x1000 + i as u16, 0x12_3456_7890 + 4 * i)).collect();
        let bucket = pack(&slots, 2, true);
        let bytes: Vec<u8> = bucket.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert_eq!(bytes[..8], [0x90, 0x78, 0x56, 0x34, 0x12, 0x8e, 2, 0]);
        assert_eq!(bytes[8..12], [0x00, 0x10, 0x01, 0x10]);
        assert_eq!(bytes[36..40], [0, 0, 1, 0]);
        assert_eq!(bytes[62..], [13, 0]);
    }

    proptest! {
        #[test]
        fn probing_equals_comparing_one_by_one(
            prints in proptest::collection::vec(prop_oneof![0u16..4, Just(0x8000), any::<u16>()], 0..=14),
            wanted in prop_oneof![0u16..4, Just(0x8000), any::<u16>()],
        ) {
            let slots: Vec<_> = prints.iter().enumerate().map(|(i, &p)| (p, 100 + 3 * i as u64)).collect();
            let bucket = pack(&slots, 0, false);
            let mut found = Vec::new();
            probe_fingerprints(&bucket, wanted, |r| found.push(r));
            let expected: Vec<_> = slots.iter().filter(|s| s.0 == wanted).map(|s| s.1).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
