//! Models and texts made from a seed, for benchmarks on machines without data.
//!
//! What decides the speed of a lookup is not the words but the shape of the trie
//! and of the walks through it (`ngram-lm.md` 4.5), so that is what a made model
//! takes over from a measured one: how many n-grams of each order there are, how
//! unequal the numbers of children are, and that frequent words own the large
//! blocks. [`Recipe::model`] grows the trie order by order. The [`texts`](Text) are
//! walks through it.
//!
//! Every choice is a hash of the seed and of a place, so nothing depends on the
//! number of threads.

mod generate;
mod ngrams;
mod text;

use miriam_lmcpu::MAX_ORDER;

pub use ngrams::random_ngrams;
pub use text::{Text, TextKind};

/// Which model to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyntheticOptions {
    /// About how many n-grams it has in all, from [`Recipe::LEAST`] to
    /// [`Recipe::MOST`].
    pub ngrams: u64,
    /// The length of the longest, 2 to [`MAX_ORDER`].
    pub order: usize,
    /// Other seeds make other models.
    pub seed: u64,
}

/// n-grams of orders 1 to 5 of the measured model.
const REFERENCE_COUNTS: [f64; 5] = [110_049.0, 1_535_319.0, 3_903_660.0, 5_434_809.0, 5_986_699.0];
/// How words grow with text: Heaps' exponent.
const HEAPS_EXPONENT: f64 = 0.7;

impl SyntheticOptions {
    /// The fewest n-grams; below, power laws have no room.
    pub const MIN_NGRAMS: u64 = 5_000;
    /// The most of any order; fewer where orders are few ([`Recipe::fits`]).
    pub const MAX_NGRAMS: u64 = 8_000_000_000;

    /// About how many n-grams of each order the model has.
    ///
    /// Panics when the recipe is out of its bounds; whether an order has more n-grams than
    /// 32 bits count is the caller's to see ([`Recipe::fits`]).
    pub fn counts(&self) -> Vec<u64> {
        assert!((2..=MAX_ORDER).contains(&self.order), "an order from 2 to {MAX_ORDER}");
        assert!(
            (Self::MIN_NGRAMS..=Self::MAX_NGRAMS).contains(&self.ngrams),
            "{} n-grams",
            self.ngrams
        );
        // Beyond order 5 there are about as many as of order 5.
        let measured = |order: usize| REFERENCE_COUNTS[order.min(REFERENCE_COUNTS.len()) - 1];
        let longer: f64 = (2..=self.order).map(measured).sum();
        let scale = self.ngrams as f64 / (measured(1) + longer);
        let words = (measured(1) * scale.powf(HEAPS_EXPONENT)).round();
        let rest = (self.ngrams as f64 - words) / longer;
        let counts = (2..=self.order).map(|order| (measured(order) * rest) as u64);
        std::iter::once(words as u64).chain(counts).collect()
    }

    /// Whether each order's n-grams can be numbered. Panics as [`Recipe::counts`].
    pub fn fits_u32_ids(&self) -> bool {
        self.counts().iter().all(|&count| count < u64::from(u32::MAX) / 2)
    }
}

/// Numbers that look random: SplitMix64 (Steele, Lea and Flood 2014).
#[derive(Clone, Copy)]
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// The numbers of one place of one stream.
    #[inline(always)]
    pub(crate) fn at_position(seed: u64, stream: u64, place: u64) -> Self {
        let mut random = SplitMix64(seed ^ stream.wrapping_mul(0xD6E8_FEB8_6659_FD93));
        SplitMix64(random.next() ^ place.wrapping_mul(0xA076_1D64_78BD_642F))
    }

    #[inline(always)]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 inclusive to 1 exclusive.
    #[inline(always)]
    pub(crate) fn uniform(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }

    /// Below `bound`, all alike.
    #[inline(always)]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// Below `bound`, `i` being about as probable as 1 / (i + 1): Zipf's law over
    /// what is sorted by frequency.
    #[inline(always)]
    pub(crate) fn below_zipf(&mut self, bound: usize) -> usize {
        let place = ((bound + 1) as f32).powf(self.uniform()) as usize;
        place.saturating_sub(1).min(bound - 1)
    }
}

#[cfg(test)]
mod tests;
