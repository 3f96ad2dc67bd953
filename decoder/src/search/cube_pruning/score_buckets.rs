//! Lists of cells by ranges of their scores, the best first.
//!
//! All ranges have the same width in the scores' ordered bits. The mapping is monotone, so a cell
//! of a lower bucket scores more than any of a higher one, and equal scores share a bucket.

use super::super::cells::Cell;
use super::super::ordered_bits::ordered_bits;

/// The number of buckets: the bits of a word.
pub(super) const NUM_BUCKETS: usize = 64;

/// The number in place of a missing cell.
const END: u32 = u32::MAX;

/// The number of fractional bits of `ScoreBuckets::multiplier`.
const FRACTION_BITS: u32 = 32;

/// The largest number of buckets per step: one, so that no product overflows.
const MAX_MULTIPLIER: u64 = 1 << FRACTION_BITS;

/// Lists of cells. The last list has all cells that are too bad for the others.
pub(super) struct ScoreBuckets {
    /// The ordered bits of the score where the first bucket begins; better scores belong to it too.
    top: u32,
    /// The number of buckets per step of ordered bits, a fixed-point number.
    multiplier: u64,
    /// The first cell of each list.
    heads: [u32; NUM_BUCKETS],
    /// A bit for each list that has cells.
    occupied: u64,
}

impl Default for ScoreBuckets {
    fn default() -> Self {
        ScoreBuckets { top: 0, multiplier: 1, heads: [END; NUM_BUCKETS], occupied: 0 }
    }
}

impl ScoreBuckets {
    /// Empties all lists. The first bucket begins at `top`; a step of ordered bits has
    /// `buckets_per_step` buckets.
    pub(super) fn start(&mut self, top: u32, buckets_per_step: f32) {
        self.heads.fill(END);
        self.occupied = 0;
        self.top = top;
        self.multiplier = ((1u64 << FRACTION_BITS) as f32 * buckets_per_step) as u64;
        self.multiplier = self.multiplier.clamp(1, MAX_MULTIPLIER);
    }

    /// Works like [`ScoreBuckets::start`], with `divisor` buckets for each bucket of `other`.
    pub(super) fn start_finer(&mut self, other: &ScoreBuckets, top: u32, divisor: u64) {
        self.heads.fill(END);
        self.occupied = 0;
        self.top = top;
        self.multiplier = (other.multiplier * divisor).min(MAX_MULTIPLIER);
    }

    /// Makes the lists, which are empty, begin at `top` with buckets that are `factor` times as
    /// wide.
    pub(super) fn widen(&mut self, top: u32, factor: u64) {
        self.top = top;
        self.multiplier = (self.multiplier / factor).max(1);
    }

    /// Returns the bucket of a score.
    #[inline(always)]
    pub(super) fn bucket_of(&self, score: f32) -> usize {
        let below = u64::from(self.top.saturating_sub(ordered_bits(score)));
        ((below * self.multiplier) >> FRACTION_BITS).min(NUM_BUCKETS as u64 - 1) as usize
    }

    /// Returns the ordered bits where `bucket` ends.
    pub(super) fn end_of(&self, bucket: usize) -> f32 {
        let steps = (bucket + 1) as f32 * (1u64 << FRACTION_BITS) as f32 / self.multiplier as f32;
        self.top as f32 - steps
    }

    /// Adds `cell`, whose number is `number`, to the list of `bucket`.
    #[inline(always)]
    pub(super) fn push(&mut self, bucket: usize, number: u32, cell: &mut Cell) {
        cell.next = self.heads[bucket];
        self.heads[bucket] = number;
        self.occupied |= 1 << bucket;
    }

    /// Moves the cells of the best list that has any to `wave` and returns its bucket.
    #[inline(always)]
    pub(super) fn pop(&mut self, cells: &[Cell], wave: &mut Vec<u32>) -> Option<usize> {
        if self.occupied == 0 {
            return None;
        }
        let bucket = self.occupied.trailing_zeros() as usize;
        let mut number = self.heads[bucket];
        while number != END {
            wave.push(number);
            number = cells[number as usize].next;
        }
        self.heads[bucket] = END;
        self.occupied &= self.occupied - 1;
        Some(bucket)
    }
}
