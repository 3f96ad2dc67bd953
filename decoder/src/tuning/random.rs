//! Random numbers of tuning: SplitMix64 (Steele et al. 2014), for which any seed is good.
//! Runs with the same seed are equal on every machine.

/// A generator.
#[derive(Clone, Debug)]
pub(super) struct SplitMix64(u64);

/// A seed for part `number` of a run with `seed`.
pub(super) fn derive_seed(seed: u64, number: u64) -> u64 {
    SplitMix64(seed ^ SplitMix64(number).next()).next()
}

impl SplitMix64 {
    pub(super) fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number from -1 to 1.
    pub(super) fn next_symmetric(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Shuffles `items`.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let other = ((u128::from(self.next()) * (i as u128 + 1)) >> 64) as usize;
            items.swap(i, other);
        }
    }
}
