//! Linear-probing hash table with slots grouped by cache line.
//!
//! A lookup nearly always reads one cache line. All keys of a line are compared together, and the
//! search leaves the home line only if it is full and its last key is smaller than the wanted key.
//! The home line of a key is the high half of `key * home_lines`, so lines follow the order of
//! keys. Tables are built in parallel by sorting; the bytes do not depend on the number of threads.
//! There is no wrap-around: spare lines follow the last home line, and the very last slot is always
//! empty, which ends a search. A finished table is immutable, so readers need no locks.
//!
//! Keys are well-mixed 64-bit hashes chosen by the caller; 0 marks an empty slot
//! (see [`nonzero_key`]). The caller decides whether equal hashes mean equal items.

mod build;

use std::sync::atomic::AtomicU64;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::hash::fast_range;
use crate::zeroed_vec::Pod;
use crate::{View, prefetch_at};

pub use build::{DuplicateKey, PartitionEnds, PartitionedEntries, TableBuilder, build};

/// Converts `hash` to a key of a table: 0 becomes 1.
#[inline(always)]
pub fn nonzero_key(hash: u64) -> u64 {
    hash.max(1)
}

/// The keys of one cache line of a table.
pub trait LineKeys {
    /// The number of pairs per line.
    const SLOTS: usize;
    /// Returns the key in `slot`; 0 if it is empty. Slots are filled from the first on.
    fn key(&self, slot: usize) -> u64;
    /// Returns the slot of `key`, which must not be 0.
    fn find(&self, key: u64) -> Option<usize>;
}

/// One cache line of a table.
pub trait TableLine:
    LineKeys + FromBytes + IntoBytes + Immutable + KnownLayout + Copy + Default + Send + Sync + 'static
{
    /// The value of a key.
    type Value: Copy + Default + Send + Sync;
    /// Returns the value in `slot`.
    fn value(&self, slot: usize) -> Self::Value;
    /// Replaces the pair in `slot`.
    fn set(&mut self, slot: usize, key: u64, value: Self::Value);
    /// A pair and its side value, packed while a table is built.
    type Entry: Pod + Copy + Default + Send + Sync;
    /// Packs `key` (not 0), `value`, and `side_value`, which is not stored in lines.
    fn pack_entry(key: u64, value: Self::Value, side_value: u32) -> Self::Entry;
    /// Returns the key, the value and the side value.
    fn unpack_entry(entry: &Self::Entry) -> (u64, Self::Value, u32);
    /// Returns the (key, value) pairs of the line, in the order of slots.
    fn pairs(&self) -> impl Iterator<Item = (u64, Self::Value)> + '_ {
        let slots = (0..Self::SLOTS).map(|slot| (self.key(slot), self.value(slot)));
        slots.take_while(|pair| pair.0 != 0)
    }
}

/// Returns a mask with one bit for each of the first four `keys` that equals `key`, without
/// branches on the result.
#[inline(always)]
fn match_mask4(keys: &[u64], key: u64) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_and_ps, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_movemask_ps, _mm_set_epi64x,
            _mm_set1_epi64x, _mm_shuffle_ps,
        };
        // SSE2 compares halves of keys; the shuffles gather the low halves of all
        // four, and the high halves.
        // SAFETY: SSE2 is part of the x86-64 baseline; no pointer is involved.
        unsafe {
            let wanted = _mm_set1_epi64x(key as i64);
            let first = _mm_set_epi64x(keys[1] as i64, keys[0] as i64);
            let second = _mm_set_epi64x(keys[3] as i64, keys[2] as i64);
            let first = _mm_castsi128_ps(_mm_cmpeq_epi32(first, wanted));
            let second = _mm_castsi128_ps(_mm_cmpeq_epi32(second, wanted));
            let low = _mm_shuffle_ps::<0b10_00_10_00>(first, second);
            let high = _mm_shuffle_ps::<0b11_01_11_01>(first, second);
            _mm_movemask_ps(_mm_and_ps(low, high)) as u32
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    keys.iter().take(4).enumerate().fold(0, |found, (slot, &k)| found | u32::from(k == key) << slot)
}

macro_rules! line {
    ($(#[$doc:meta])* $name:ident, $value:ty, $slots:literal, $pad:literal) => {
        $(#[$doc])*
        #[derive(Debug, FromBytes, IntoBytes, KnownLayout)]
        #[repr(C, align(64))]
        pub struct $name {
            keys: [u64; $slots],
            values: [$value; $slots],
            unused: [u32; $pad],
        }

        impl LineKeys for $name {
            const SLOTS: usize = $slots;

            #[inline(always)]
            fn key(&self, slot: usize) -> u64 {
                self.keys[slot]
            }

            #[inline(always)]
            fn find(&self, key: u64) -> Option<usize> {
                let mut found = match_mask4(&self.keys, key);
                for (slot, &other) in self.keys.iter().enumerate().skip(4) {
                    found |= u32::from(other == key) << slot;
                }
                (found != 0).then_some(found.trailing_zeros() as usize)
            }
        }
    };
    ($(#[$doc:meta])* plain $name:ident, $value:ty, $slots:literal, $pad:literal, $entry:literal) => {
        line!(
            $(#[$doc])*
            #[derive(Clone, Copy, Default, Immutable)]
            $name, $value, $slots, $pad
        );

        impl TableLine for $name {
            type Value = $value;

            #[inline(always)]
            fn value(&self, slot: usize) -> $value {
                self.values[slot]
            }

            #[inline(always)]
            fn set(&mut self, slot: usize, key: u64, value: $value) {
                self.keys[slot] = key;
                self.values[slot] = value;
            }

            type Entry = [u32; $entry];

            #[inline(always)]
            fn pack_entry(key: u64, value: $value, side_value: u32) -> [u32; $entry] {
                let mut entry = [side_value; $entry];
                let bytes = entry.as_mut_bytes();
                bytes[..8].copy_from_slice(&key.to_le_bytes());
                bytes[8..8 + size_of::<$value>()].copy_from_slice(&value.to_le_bytes());
                entry
            }

            #[inline(always)]
            fn unpack_entry(entry: &[u32; $entry]) -> (u64, $value, u32) {
                let key = u64::from(entry[0]) | u64::from(entry[1]) << 32;
                let mut value = [0; size_of::<$value>()];
                value.copy_from_slice(&entry[2..$entry - 1].as_bytes());
                (key, <$value>::from_le_bytes(value), entry[$entry - 1])
            }
        }
    };
}

line!(
    /// Four pairs per line, with 64-bit values.
    plain Line4, u64, 4, 0, 5
);
line!(
    /// Five pairs per line, with 32-bit values.
    plain Line5, u32, 5, 1, 4
);
line!(
    /// A [`Line4`] with atomic values, which many threads may change simultaneously.
    AtomicLine4, AtomicU64, 4, 0
);

impl AtomicLine4 {
    /// Returns `lines` as lines that threads can share while `lines` is borrowed.
    pub fn from_mut_lines(lines: &mut [Line4]) -> &[Self] {
        // Both types have the same layout.
        <[Self]>::mut_from_bytes(lines.as_mut_bytes()).unwrap_or_else(|_| unreachable!())
    }

    /// Returns the value in `slot`.
    #[inline(always)]
    pub fn value(&self, slot: usize) -> &AtomicU64 {
        &self.values[slot]
    }
}

/// Returns the number of home lines for `entries` entries at the load factor `load`, which is
/// positive. With more than 1, entries overflow into lines behind the home lines.
pub fn home_lines<L: TableLine>(entries: usize, load: f64) -> usize {
    ((entries as f64 / (L::SLOTS as f64 * load)).ceil() as usize).max(1)
}

/// The position of a pair in a table: line times slots per line, plus slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub usize);

/// Returns the slot of `key`, which must not be 0, in `lines`, the first `home_lines` of which are
/// home lines. Unlike [`ProbingTable::find_slot`], it searches lines whose values are still being
/// set.
///
/// # Panics
/// If all lines from the home line of `key` on are full.
#[inline(always)]
pub fn find_slot<L: LineKeys>(lines: &[L], home_lines: u64, key: u64) -> Option<Slot> {
    let (line, slot) = locate(lines, home_lines, key)?;
    Some(Slot(line * L::SLOTS + slot))
}

/// Returns the line of `key` and its slot in that line.
#[inline(always)]
fn locate<L: LineKeys>(lines: &[L], home_lines: u64, key: u64) -> Option<(usize, usize)> {
    let mut line = fast_range(key, home_lines) as usize;
    loop {
        match search_line(lines, home_lines, line, key) {
            LineSearch::Found(slot) => return Some((line, slot)),
            LineSearch::Absent => return None,
            LineSearch::NextLine => line += 1,
        }
    }
}

/// The result of searching one line of a table for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineSearch<T> {
    /// The key is in this line, with this slot or value.
    Found(T),
    /// The key is not in the table.
    Absent,
    /// The key may be in the next line.
    NextLine,
}

/// Searches `line` for the slot of `key`. Callers begin with the home line of `key` and continue
/// line by line.
#[inline(always)]
fn search_line<L: LineKeys>(
    lines: &[L],
    home_lines: u64,
    line: usize,
    key: u64,
) -> LineSearch<usize> {
    let current = &lines[line];
    if let Some(slot) = current.find(key) {
        return LineSearch::Found(slot);
    }
    // The next line exists, because the last line of a table is never full, and a line that is not
    // full ends a search.
    let last_key = current.key(L::SLOTS - 1);
    if last_key == 0 {
        return LineSearch::Absent;
    }
    // Of two keys whose home lines are not before this line, the smaller is placed first (see
    // [`build`]). In its home line, `key` would therefore precede a larger last key, so the search
    // ends. For most absent keys of full lines, this avoids a cache miss on the next line, which
    // was not prefetched. It holds for the home line only: in later lines, which may belong to the
    // next chunk, larger keys may precede `key`.
    if last_key > key && line as u64 == fast_range(key, home_lines) {
        return LineSearch::Absent;
    }
    LineSearch::NextLine
}

/// A finished table in a model. Its keys, and the keys that are searched for, are not 0.
///
/// ```
/// use miriam_storage::hash::hash64;
/// use miriam_storage::probing::{Line5, ProbingTable, build, home_lines, nonzero_key};
/// use miriam_storage::zerocopy::IntoBytes;
/// use miriam_storage::{Bytes, View};
///
/// let key = |word: &str| nonzero_key(hash64(word.as_bytes()));
/// let entries = [(key("haus"), 7), (key("maus"), 9)];
/// let home_lines = home_lines::<Line5>(entries.len(), 0.8);
/// let lines = build::<Line5>(&entries, home_lines).expect("distinct keys");
///
/// let bytes = Bytes::copy_from(lines.as_bytes());
/// let table = ProbingTable::<Line5>::new(View::new(&bytes, 0, bytes.len())?, home_lines as u64)?;
/// assert_eq!(table.find(key("maus")), Some(9));
/// assert_eq!(table.find(key("laus")), None);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone)]
pub struct ProbingTable<L> {
    lines: View<L>,
    home_lines: u64,
}

impl<L: TableLine> ProbingTable<L> {
    /// Returns the table in `lines`, the first `home_lines` of which are home lines.
    ///
    /// # Errors
    /// The reason why the lines are not a table.
    pub fn new(lines: View<L>, home_lines: u64) -> Result<Self, &'static str> {
        if home_lines == 0 || home_lines > lines.len() as u64 {
            return Err("the number of home lines is 0, or larger than that of all lines");
        }
        if lines.last().is_none_or(|l| l.key(L::SLOTS - 1) != 0) {
            return Err("the last line is full, so a search would not end");
        }
        Ok(ProbingTable { lines, home_lines })
    }

    /// Prefetches the line in which a search for `key` begins; `key` may also be a hash that
    /// [`nonzero_key`] has not converted.
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        self.prefetch_line(self.home_line(key));
    }

    /// Returns the index of the line in which a search for `key` begins; `key` may also be a hash
    /// that [`nonzero_key`] has not converted.
    #[inline(always)]
    pub fn home_line(&self, key: u64) -> usize {
        fast_range(key, self.home_lines) as usize
    }

    /// Prefetches the line with the index `line`.
    #[inline(always)]
    pub fn prefetch_line(&self, line: usize) {
        prefetch_at(&self.lines, line);
    }

    /// Searches `line` for the value of `key`. Callers begin with the home line of `key` and
    /// continue line by line. A caller that prefetches the next line and does something else
    /// meanwhile does not wait for memory.
    ///
    /// # Panics
    /// If `line` is not a line of the table.
    #[inline(always)]
    pub fn search_line(&self, line: usize, key: u64) -> LineSearch<L::Value> {
        let lines = &*self.lines;
        match search_line(lines, self.home_lines, line, key) {
            LineSearch::Found(slot) => LineSearch::Found(lines[line].value(slot)),
            LineSearch::Absent => LineSearch::Absent,
            LineSearch::NextLine => LineSearch::NextLine,
        }
    }

    /// Returns the value of `key`; `None` if the table lacks it.
    #[inline(always)]
    pub fn find(&self, key: u64) -> Option<L::Value> {
        let lines = &*self.lines;
        let (line, slot) = locate(lines, self.home_lines, key)?;
        Some(lines[line].value(slot))
    }

    /// Returns the slot of `key`; `None` if the table lacks it.
    pub fn find_slot(&self, key: u64) -> Option<Slot> {
        find_slot(&self.lines, self.home_lines, key)
    }

    /// Returns the lines.
    pub fn lines(&self) -> &[L] {
        &self.lines
    }

    /// Returns all pairs, in the order of lines and slots.
    pub fn iter(&self) -> impl Iterator<Item = (u64, L::Value)> + '_ {
        self.lines.iter().flat_map(L::pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Bytes;
    use crate::hash::hash64;
    use proptest::prelude::*;
    use std::collections::HashMap;

    fn table<L: TableLine>(lines: &[L], home_lines: usize) -> ProbingTable<L> {
        let bytes = Bytes::copy_from(lines.as_bytes());
        let view = View::new(&bytes, 0, bytes.len()).unwrap();
        ProbingTable::new(view, home_lines as u64).unwrap()
    }

    fn check<L: TableLine<Value = u32>>(pairs: &HashMap<u64, u32>, home: usize) {
        let entries: Vec<_> = pairs.iter().map(|(&k, &v)| (k, v)).collect();
        let lines = build::<L>(&entries, home).unwrap();
        let table = table(&lines, home);
        for (&key, &value) in pairs {
            assert_eq!(table.find(key), Some(value));
            for other in [key, nonzero_key(key ^ 1), nonzero_key(key.wrapping_mul(3))] {
                table.prefetch(other);
                let expected = pairs.get(&other).copied();
                assert_eq!(table.find(other), expected);
                let mut line = table.home_line(other);
                let found = loop {
                    match table.search_line(line, other) {
                        LineSearch::Found(value) => break Some(value),
                        LineSearch::Absent => break None,
                        LineSearch::NextLine => line += 1,
                    }
                };
                assert_eq!(found, expected);
            }
        }
        assert_eq!(table.iter().collect::<HashMap<_, _>>(), *pairs);
    }

    proptest! {
        /// Compares tables, from sparse to overfull ones, with the standard library's map. Some
        /// keys cluster at the two ends of the range.
        #[test]
        fn equals_a_hash_map(
            pairs in proptest::collection::hash_map(prop_oneof![1u64..50, any::<u64>(), (u64::MAX - 50)..u64::MAX], any::<u32>(), 0..300),
            home in 1usize..80,
        ) {
            let pairs: HashMap<u64, u32> = pairs.into_iter().filter(|p| p.0 != 0).collect();
            check::<Line5>(&pairs, home);
        }
    }

    #[test]
    fn many_chunks_and_any_number_of_threads_give_the_same_bytes() {
        let n = 200_000u64;
        let mut entries: Vec<(u64, u64)> =
            (0..n).map(|i| (nonzero_key(hash64(&i.to_le_bytes())), i)).collect();
        let home = home_lines::<Line4>(entries.len(), 0.9);
        let build_with = |threads, entries: &[(u64, u64)]| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| build::<Line4>(entries, home).unwrap())
        };
        let one = build_with(1, &entries);
        entries.reverse();
        let three = build_with(3, &entries);
        assert_eq!(one.as_bytes(), three.as_bytes());
        let table = table(&one, home);
        for i in 0..n {
            assert_eq!(table.find(nonzero_key(hash64(&i.to_le_bytes()))), Some(i));
        }
        assert_eq!(table.find(nonzero_key(hash64(b"absent"))), None);
    }

    /// Side values are at the slots of their keys, also where a line, a chunk or the table
    /// overflows.
    #[test]
    fn side_values_follow_their_keys() {
        for (n, home) in [(0, 1), (9, 2), (60_000, 3 << 12 | 1), (50_000, 3)] {
            let keys = (0..n).map(|i| nonzero_key(hash64(&(i as u64).to_le_bytes())));
            let plain: Vec<(u64, u32)> = keys.enumerate().map(|(i, k)| (k, i as u32)).collect();
            let entries: Vec<_> =
                plain.iter().map(|&(k, v)| Line5::pack_entry(k, v, k as u32 ^ 5)).collect();
            let mut split = entries.clone();
            let builder = TableBuilder::<Line5>::new(home);
            let ends: Vec<_> = entries
                .chunks(7_000)
                .zip(split.chunks_mut(7_000))
                .map(|(some, into)| builder.partition(some, into))
                .collect();
            let groups: Vec<_> = split
                .chunks(7_000)
                .zip(&ends)
                .map(|(group, ends)| PartitionedEntries::new(group, ends))
                .collect();
            let (lines, side_values) = builder.build(&groups).unwrap();
            assert_eq!(lines.as_bytes(), build::<Line5>(&plain, home).unwrap().as_bytes());
            assert_eq!(side_values.len(), lines.len() * Line5::SLOTS);
            let slots = lines.iter().flat_map(|line| (0..Line5::SLOTS).map(|s| line.key(s)));
            for (key, side_value) in slots.zip(side_values.iter().copied()) {
                assert_eq!(side_value, if key == 0 { 0 } else { key as u32 ^ 5 });
            }
        }
    }

    #[test]
    fn keys_that_spill_into_the_next_chunk_are_found() {
        let n = 20_000u64;
        let key = |i: u64| nonzero_key(hash64(&i.to_le_bytes()));
        let entries: Vec<(u64, u64)> = (0..n).map(|i| (key(i), i)).collect();
        // The table is overfull: in the next chunk, overflowing entries are before, after and among
        // the keys whose home is there.
        let home = home_lines::<Line4>(entries.len(), 1.1);
        assert!(home > 1 << 12);
        let lines = build::<Line4>(&entries, home).unwrap();
        let table = table(&lines, home);
        for i in 0..n {
            assert_eq!(table.find(key(i)), Some(i));
            assert_eq!(table.find(key(n + i)), None);
        }
    }

    #[test]
    fn equal_keys_are_reported() {
        let entries = [(5u64, 1u32), (9, 2), (5, 3), (9, 4)];
        assert_eq!(build::<Line5>(&entries, 2).err(), Some(DuplicateKey { key: 5 }));
    }

    #[test]
    fn tables_whose_searches_would_not_end_are_rejected() {
        let mut full = Line5::default();
        for slot in 0..5 {
            full.set(slot, slot as u64 + 1, 0);
        }
        let bytes = Bytes::copy_from(full.as_bytes());
        let view = View::<Line5>::new(&bytes, 0, 64).unwrap();
        assert!(ProbingTable::new(view.clone(), 1).is_err());
        assert!(ProbingTable::new(view.clone(), 0).is_err());
        assert!(ProbingTable::new(view, 2).is_err());
    }
}
