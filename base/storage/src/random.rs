//! Pseudo-random numbers: SplitMix64 (Steele, Lea and Flood 2014).
//!
//! The state is a counter and every seed is good, so parallel work can use a separate generator per
//! item. Results are the same on every machine; synthetic models, tuning and sampling rely on that,
//! so the numbers must never change.

/// A SplitMix64 generator.
///
/// ```
/// use miriam_storage::random::SplitMix64;
///
/// let mut random = SplitMix64::new(7);
/// assert!(random.below(10) < 10);
/// assert!(random.next_f32() < 1.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Returns the generator of `seed`.
    #[inline(always)]
    pub const fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// Returns the generator of item `position` in stream `stream`, so that items can be generated
    /// in any order.
    #[inline(always)]
    pub const fn at_position(seed: u64, stream: u64, position: u64) -> Self {
        let mut random = SplitMix64(seed ^ stream.wrapping_mul(0xd6e8_feb8_6659_fd93));
        SplitMix64(random.next_u64() ^ position.wrapping_mul(0xa076_1d64_78bd_642f))
    }

    /// Returns the next 64 bits.
    #[inline(always)]
    pub const fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a uniform number in `0.0..1.0` with 24 bits.
    #[inline(always)]
    pub fn next_f32(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Returns a uniform number in `0.0..1.0` with 53 bits.
    #[inline(always)]
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns a uniform integer below `bound`.
    #[inline(always)]
    pub fn below(&mut self, bound: u64) -> u64 {
        crate::hash::fast_range(self.next_u64(), bound)
    }

    /// Permutes `items` uniformly (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of seed 1234567, as published with Vigna's splitmix64.c.
    #[test]
    fn golden_vectors() {
        let mut random = SplitMix64::new(1_234_567);
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!([(); 5].map(|()| random.next_u64()), expected);
    }

    #[test]
    fn numbers_are_within_their_ranges() {
        let mut random = SplitMix64::new(1);
        for _ in 0..10_000 {
            assert!((0.0..1.0).contains(&random.next_f32()));
            assert!((0.0..1.0).contains(&random.next_f64()));
            assert!(random.below(7) < 7);
        }
        let mut items: Vec<u32> = (0..100).collect();
        random.shuffle(&mut items);
        assert!(!items.is_sorted());
        items.sort_unstable();
        assert!(items.into_iter().eq(0..100));
    }
}
