//! KenLM's hash table: linear probing over packed slots, each a 64-bit key and a
//! value; key 0 is an empty slot (`ngram-lm.md` 2.7, 2.8).

use miriam_storage::{View, prefetch_read};

use super::unaligned::u64_at;

/// Returns the number of slots of a table for `entries`. The product is computed in f32, whose
/// rounding is part of the format.
pub fn bucket_count(entries: u64, multiplier: f32) -> u64 {
    (entries.saturating_add(1)).max((multiplier * entries as f32) as u64)
}

/// Hashes modulo the number of slots, without a division.
#[derive(Clone, Copy, Debug)]
pub struct FastModulo {
    slots: u64,
    /// 2^64 / slots, rounded down (for one slot: 2^64 - 1).
    inverse: u64,
}

impl FastModulo {
    /// Prepares for `slots` slots, which must not be 0.
    pub fn new(slots: u64) -> Self {
        let inverse = ((1u128 << 64) / u128::from(slots)).min(u128::from(u64::MAX)) as u64;
        FastModulo { slots, inverse }
    }

    /// Computes `hash % slots`.
    ///
    /// The inverse falls short of 2^64 / slots by at most 1, so the product falls short
    /// of hash / slots by less than 1: rounded down, it is the quotient or one less,
    /// and at most one subtraction remains.
    #[inline(always)]
    pub fn reduce(self, hash: u64) -> u64 {
        let quotient = ((u128::from(hash) * u128::from(self.inverse)) >> 64) as u64;
        let rest = hash - quotient * self.slots;
        if rest >= self.slots { rest - self.slots } else { rest }
    }
}

/// A table of slots of `N` bytes.
pub struct KenlmTable<const N: usize> {
    slots: View<[u8; N]>,
    modulo: FastModulo,
}

impl<const N: usize> KenlmTable<N> {
    /// Creates a table over `slots`, which must not be empty.
    pub fn new(slots: View<[u8; N]>) -> Self {
        let modulo = FastModulo::new(slots.len() as u64);
        KenlmTable { slots, modulo }
    }

    /// Returns the home slot of `key`.
    #[inline(always)]
    pub fn home_slot(&self, key: u64) -> usize {
        self.modulo.reduce(key) as usize
    }

    /// Prefetches the slot `home` and the next.
    #[inline(always)]
    pub fn prefetch(&self, home: usize) {
        // Slots straddle cache lines, and a search continues to the next slot half of
        // the time.
        let start = self.slots.as_ptr().wrapping_add(home).cast::<u8>();
        prefetch_read(start);
        prefetch_read(start.wrapping_add(2 * N - 1));
    }

    /// Returns the slot with `key`, whose [`KenlmTable::home_slot`] is `home`.
    #[inline(always)]
    pub fn find(&self, key: u64, home: usize) -> Option<&[u8; N]> {
        self.find_slot(key, home).map(|at| &self.slots[at])
    }

    /// Returns the index of the slot with `key`.
    #[inline(always)]
    pub fn find_slot(&self, key: u64, home: usize) -> Option<usize> {
        let mut at = home;
        // A damaged table may have no empty slot to end the search.
        for _ in 0..self.slots.len() {
            let found = u64_at(&self.slots[at], 0);
            if found == key {
                // An empty slot is not an n-gram, not even one whose hash is 0.
                return (key != 0).then_some(at);
            }
            if found == 0 {
                return None;
            }
            at += 1;
            if at == self.slots.len() {
                at = 0;
            }
        }
        None
    }
}

/// A [`KenlmTable`] of any size of slots, for work that is not worth compiling for each size.
pub trait NgramTable: Sync {
    /// Returns the number of slots.
    fn slot_count(&self) -> usize;

    /// Returns the bytes of the slot `at`.
    fn slot(&self, at: usize) -> &[u8];

    /// Returns the key in the slot `at`; 0 where it is empty.
    fn key(&self, at: usize) -> u64 {
        u64_at(self.slot(at), 0)
    }

    /// Returns the slot in which a search finds `key`, if it does.
    fn find_key(&self, key: u64) -> Option<usize>;

    /// Whether a search finds the slot `at`: of equal keys it finds the first.
    fn is_found(&self, at: usize) -> bool {
        let key = self.key(at);
        key != 0 && self.find_key(key) == Some(at)
    }
}

impl<const N: usize> NgramTable for KenlmTable<N> {
    fn slot_count(&self) -> usize {
        self.slots.len()
    }

    fn slot(&self, at: usize) -> &[u8] {
        &self.slots[at]
    }

    fn find_key(&self, key: u64) -> Option<usize> {
        self.find_slot(key, self.home_slot(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Values of `ngram-lm.md`, Appendix A.
    #[test]
    fn bucket_counts_are_kenlms() {
        let cases: [(u64, u64); 8] = [
            (1, 2),
            (2, 3),
            (10, 15),
            (110_049, 165_073),
            (1_535_319, 2_302_978),
            (16_777_217, 25_165_824),
            (33_554_433, 50_331_648),
            (100_000_001, 150_000_000),
        ];
        for (entries, expected) in cases {
            assert_eq!(bucket_count(entries, 1.5), expected);
        }
        assert_eq!(bucket_count(u64::MAX, 1e30), u64::MAX);
    }

    proptest! {
        #[test]
        fn modulo_is_the_remainder(
            hash: u64,
            slots in prop_oneof![1..=u64::MAX, 1..1000u64, u64::MAX - 3..=u64::MAX],
            near in -2..3i64,
            times: u64,
        ) {
            let modulo = FastModulo::new(slots);
            prop_assert_eq!(modulo.reduce(hash), hash % slots);
            let multiple = slots.wrapping_mul(times % (u64::MAX / slots).saturating_add(1));
            let edge = multiple.wrapping_add_signed(near);
            prop_assert_eq!(modulo.reduce(edge), edge % slots);
        }
    }
}
