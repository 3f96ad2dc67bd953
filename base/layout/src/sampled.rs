//! K-ary search in nodes of sorted keys that lie end to end in one long row.
//!
//! The keys themselves stay where the caller keeps them, next to their values;
//! this index samples them. Its first level holds every eighth key of the row,
//! each level above every sixteenth key of the one below, as `u32` in cache lines
//! of sixteen ([`KeyLine`]). Nodes need no entry of their own: which samples fall
//! into a node follows from where it begins and ends. So a node of n keys is
//! searched in about log16(n / 8) lines, compared whole, and a last block of at
//! most eight keys; the upper lines of large nodes are few and stay in the
//! caches. Small nodes are searched directly.
//!
//! A search is split where it waits for memory, so that many can wait together.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::{View, prefetch_at};

/// Keys of a line.
const FAN_OUT: usize = 16;
const FAN_OUT_SHIFT: u32 = FAN_OUT.trailing_zeros();
/// log2 of the distance of the samples of the first level.
const BLOCK_SHIFT: u32 = 3;
/// Keys of the row that a search leaves to the caller, at most.
pub const BLOCK: usize = 1 << BLOCK_SHIFT;
/// The longest row: the place behind its last block is still a `u32`.
pub const MAX_KEYS: usize = u32::MAX as usize - BLOCK;
/// Levels that such a row needs.
const MAX_LEVELS: usize = 8;

/// Sixteen keys at a multiple of 64; unused ones are [`u32::MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[repr(C, align(64))]
pub struct KeyLine([u32; FAN_OUT]);

impl KeyLine {
    /// How many of the keys `from..to`, which are sorted, are not above `key`.
    ///
    /// Every key of the line is compared, by a handful of vector instructions;
    /// the first one above ends the count, whatever stands outside.
    #[inline(always)]
    fn count(&self, from: u32, to: u32, key: u32) -> u32 {
        ((self.not_above(key) >> from).trailing_ones()).min(to - from)
    }

    /// A bit for each key that is not above `key`.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn not_above(&self, key: u32) -> u32 {
        use std::arch::x86_64::{
            _mm_cmpgt_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32,
            _mm_set1_epi32, _mm_xor_si128,
        };
        let four = self.0.as_chunks::<4>().0;
        // SAFETY: SSE2 is part of the x86-64 baseline, and each load reads the 16
        // bytes of an array of four.
        unsafe {
            // The comparison is of signed numbers: turning the highest bits over
            // puts unsigned ones in the same order.
            let sign = _mm_set1_epi32(i32::MIN);
            let key = _mm_xor_si128(_mm_set1_epi32(key as i32), sign);
            let above = |i: usize| {
                let keys = _mm_loadu_si128(four[i].as_ptr().cast());
                _mm_cmpgt_epi32(_mm_xor_si128(keys, sign), key)
            };
            let low = _mm_packs_epi32(above(0), above(1));
            let high = _mm_packs_epi32(above(2), above(3));
            !_mm_movemask_epi8(_mm_packs_epi16(low, high)) as u32 & 0xffff
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline(always)]
    fn not_above(&self, key: u32) -> u32 {
        self.0.iter().rev().fold(0, |bits, &k| bits << 1 | u32::from(k <= key))
    }
}

/// A search under way among the keys `begin..end` of the row.
#[derive(Clone, Copy, Debug, Default)]
pub struct Search {
    begin: u32,
    end: u32,
    key: u32,
    /// The line of the level that is looked at next.
    line: u32,
    /// From 1; 0: the index has done its part.
    level: u32,
}

impl Search {
    /// What is looked for.
    #[inline(always)]
    pub fn key(&self) -> u32 {
        self.key
    }

    /// Where the key may still be, once the index has done its part: up to
    /// [`BLOCK`] keys.
    #[inline(always)]
    pub fn block(&self) -> (u32, u32) {
        (self.begin, self.end)
    }

    /// Whether the index has done its part.
    #[inline(always)]
    pub fn is_narrow(&self) -> bool {
        self.level == 0
    }
}

/// The index of a row of keys.
#[derive(Clone)]
pub struct SampledKeys {
    lines: View<KeyLine>,
    /// The first line of each level, from level 1.
    starts: [u32; MAX_LEVELS],
}

/// log2 of how far apart in the row the samples of `level` are.
#[inline(always)]
fn distance(level: u32) -> u32 {
    BLOCK_SHIFT + FAN_OUT_SHIFT * (level - 1)
}

/// How many lines each level of an index of `count` keys has, from level 1: up
/// to the first level that is one line.
fn level_lines(count: usize) -> impl Iterator<Item = usize> {
    let mut samples = Some(count.div_ceil(BLOCK));
    std::iter::from_fn(move || {
        let lines = samples?.div_ceil(FAN_OUT);
        samples = (lines > 1).then_some(lines);
        Some(lines)
    })
}

/// Samples `count` keys, which `key` gives by their place in the row. They need
/// only be sorted inside each node.
pub fn sample(count: usize, key: impl Fn(usize) -> u32) -> Vec<KeyLine> {
    let mut lines = Vec::with_capacity(level_lines(count).sum());
    let mut step = BLOCK;
    for level in level_lines(count) {
        for line in 0..level {
            let mut keys = [u32::MAX; FAN_OUT];
            for (slot, to) in keys.iter_mut().enumerate() {
                let place = (line * FAN_OUT + slot) * step;
                if place < count {
                    *to = key(place);
                }
            }
            lines.push(KeyLine(keys));
        }
        step *= FAN_OUT;
    }
    lines
}

impl SampledKeys {
    /// The index `lines` of a row of `count` keys, or the reason why it is none.
    pub fn new(lines: View<KeyLine>, count: usize) -> Result<Self, &'static str> {
        if count > MAX_KEYS {
            return Err("it is for more than 4,294,967,287 keys");
        }
        let mut starts = [0; MAX_LEVELS];
        let mut start = 0;
        for (level, lines) in starts.iter_mut().zip(level_lines(count)) {
            *level = start as u32;
            start += lines;
        }
        if start != lines.len() {
            return Err("its size does not fit the keys");
        }
        Ok(SampledKeys { lines, starts })
    }

    /// Whether the samples are those of the row whose keys `key` gives.
    pub fn is_sample_of(&self, count: usize, key: impl Fn(usize) -> u32) -> bool {
        sample(count, key) == self.lines[..]
    }

    /// Begins to search for `key` among the keys `begin..end` of the row, and
    /// asks for the line of the index that is needed next, if any.
    ///
    /// Levels above the first are gone through at once: there is one of their
    /// lines for every 2,048 keys, so they are in a cache near by, and waiting in
    /// line would cost more than waiting for them.
    ///
    /// `begin..end` must lie in the row.
    #[inline(always)]
    pub fn begin(&self, begin: u32, end: u32, key: u32) -> Search {
        let mut search = Search { begin, end, key, line: 0, level: 0 };
        if end.saturating_sub(begin) > BLOCK as u32 {
            // The lowest level of which the node's samples lie in one line.
            loop {
                let distance = distance(search.level + 1);
                let (first, last) = ((begin >> distance) + 1, (end - 1) >> distance);
                search.level += 1;
                search.line = first >> FAN_OUT_SHIFT;
                if search.line >= last >> FAN_OUT_SHIFT || search.level == MAX_LEVELS as u32 {
                    break;
                }
            }
            while search.level > 1 {
                search.line = self.place(&search);
                search.level -= 1;
            }
            prefetch_at(&self.lines, search.line as usize);
        }
        search
    }

    /// Looks into a line: the last sample of the level that is not above the key.
    #[inline(always)]
    fn place(&self, search: &Search) -> u32 {
        let distance = distance(search.level);
        let start = self.starts[search.level as usize - 1];
        // A node's samples stand behind its first key and up to its last.
        let (first, last) = ((search.begin >> distance) + 1, (search.end - 1) >> distance);
        let line_begin = search.line << FAN_OUT_SHIFT;
        let from = first.max(line_begin);
        let to = (last + 1).min(line_begin + FAN_OUT as u32).max(from);
        // Begin and end lie in the row, so the line is there; should they not,
        // the answer is nonsense.
        let count = match self.lines.get((start + search.line) as usize) {
            Some(line) => line.count(from - line_begin, to - line_begin, search.key),
            None => 0,
        };
        from - 1 + count
    }

    /// Looks into the line that was asked for, after which the search is narrow.
    /// It must not be so before.
    #[inline(always)]
    pub fn step(&self, search: &mut Search) {
        let place = self.place(search);
        search.level = 0;
        search.begin = search.begin.max(place << BLOCK_SHIFT);
        search.end = search.end.min((place + 1) << BLOCK_SHIFT);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Bytes;

    fn index(keys: &[u32]) -> SampledKeys {
        let lines = sample(keys.len(), |i| keys[i]);
        let bytes = Bytes::copy_from(lines.as_bytes());
        SampledKeys::new(View::new(&bytes, 0, bytes.len()).unwrap(), keys.len()).unwrap()
    }

    fn find(
        index: &SampledKeys,
        keys: &[u32],
        begin: usize,
        end: usize,
        key: u32,
    ) -> Option<usize> {
        let mut search = index.begin(begin as u32, end as u32, key);
        while !search.is_narrow() {
            index.step(&mut search);
        }
        let (from, to) = search.block();
        assert!(to.saturating_sub(from) <= BLOCK as u32);
        assert!(begin as u32 <= from && to <= end as u32);
        (from as usize..to as usize).find(|&i| keys[i] == key)
    }

    /// Nodes of the given sizes, end to end, each searched for each of its keys
    /// and for those between.
    fn check(sizes: &[usize]) {
        let mut keys = Vec::new();
        for (node, &size) in sizes.iter().enumerate() {
            keys.extend((0..size as u32).map(|i| 3 * i + node as u32 % 3));
        }
        let index = index(&keys);
        assert!(index.is_sample_of(keys.len(), |i| keys[i]));
        let mut begin = 0;
        for &size in sizes {
            let end = begin + size;
            for i in begin..end {
                assert_eq!(find(&index, &keys, begin, end, keys[i]), Some(i));
                assert_eq!(find(&index, &keys, begin, end, keys[i] + 1), None);
                assert_eq!(find(&index, &keys, begin, end, keys[i].wrapping_sub(1)), None);
            }
            assert_eq!(find(&index, &keys, begin, end, u32::MAX), None);
            begin = end;
        }
    }

    #[test]
    fn finds_every_key_of_nodes_of_telling_sizes() {
        check(&[]);
        check(&[0]);
        check(&[1]);
        check(&[4000]);
        check(&[1, 7, 8, 9, 15, 16, 17, 127, 128, 129, 255, 256, 257, 0, 4000, 2, 2049, 1]);
    }

    proptest! {
        #[test]
        fn finds_every_key(sizes in proptest::collection::vec(0usize..700, 0..12)) {
            check(&sizes);
        }

        /// Lines of any content: the answer is nonsense, but there is one.
        #[test]
        fn any_samples_do(
            keys in proptest::collection::vec(any::<u32>(), 1..3000),
            (a, b) in (0usize..3000, 0usize..3000),
            key in any::<u32>(),
        ) {
            let (a, b) = (a.min(keys.len()), b.min(keys.len()));
            find(&index(&keys), &keys, a.min(b), a.max(b), key);
        }
    }

    #[test]
    fn sizes_are_checked() {
        let bytes = Bytes::copy_from(&[0; 128]);
        let lines = View::<KeyLine>::new(&bytes, 0, 128).unwrap();
        assert!(SampledKeys::new(lines.clone(), 128).is_err());
        assert!(SampledKeys::new(lines, usize::MAX).is_err());
    }
}
