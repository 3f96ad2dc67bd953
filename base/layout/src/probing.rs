//! A linear-probing hash table whose slots are grouped by cache line.
//!
//! One lookup is one cache line nearly always: keys of a line are compared side
//! by side, and only a full line whose last key is smaller sends the search to
//! the next. The line of a key is the high half of `key * lines`, so lines follow
//! the order of keys and a table is built by sorting: in parallel, with the same
//! bytes whatever the number of threads. There is no wrap-around; spare lines
//! follow the last home line, and the very last slot of all is always empty,
//! which is what ends a search. A finished table is immutable, so readers need
//! no locks.
//!
//! Keys are well-mixed 64-bit hashes chosen by the caller; 0 marks an empty slot
//! (see [`table_key`]). Whether equal hashes mean equal things is the caller's
//! business.

use rayon::prelude::*;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use crate::hash::reduce;
use crate::{View, prefetch_at};

/// `hash` as a key of a table: itself, but 1 for 0.
#[inline(always)]
pub fn table_key(hash: u64) -> u64 {
    hash.max(1)
}

/// One cache line of a table.
pub trait Line:
    FromBytes + IntoBytes + Immutable + KnownLayout + Copy + Default + Send + Sync + 'static
{
    /// What a key is mapped to.
    type Value: Copy + Default + Send + Sync;
    /// How many pairs a line holds.
    const SLOTS: usize;
    /// The key in `slot`, 0 when it is empty. Slots fill from the first on.
    fn key(&self, slot: usize) -> u64;
    /// The value in `slot`.
    fn value(&self, slot: usize) -> Self::Value;
    /// Puts a pair into `slot`.
    fn set(&mut self, slot: usize, key: u64, value: Self::Value);
    /// The slot that holds `key`.
    fn find(&self, key: u64) -> Option<usize>;
    /// The pairs it holds, in the order of slots.
    fn pairs(&self) -> impl Iterator<Item = (u64, Self::Value)> + '_ {
        let slots = (0..Self::SLOTS).map(|slot| (self.key(slot), self.value(slot)));
        slots.take_while(|pair| pair.0 != 0)
    }
}

/// Which of the first four `keys` are `key`, a bit each; no branch depends on
/// the answer.
#[inline(always)]
fn equal_of_four(keys: &[u64], key: u64) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_and_ps, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_movemask_ps, _mm_set_epi64x,
            _mm_set1_epi64x, _mm_shuffle_ps,
        };
        // SSE2 compares halves of keys; the shuffles bring the low halves of all
        // four together, and the high ones.
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
        #[derive(Clone, Copy, Default, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
        #[repr(C, align(64))]
        pub struct $name {
            keys: [u64; $slots],
            values: [$value; $slots],
            unused: [u32; $pad],
        }

        impl Line for $name {
            type Value = $value;
            const SLOTS: usize = $slots;

            #[inline(always)]
            fn key(&self, slot: usize) -> u64 {
                self.keys[slot]
            }

            #[inline(always)]
            fn value(&self, slot: usize) -> $value {
                self.values[slot]
            }

            fn set(&mut self, slot: usize, key: u64, value: $value) {
                self.keys[slot] = key;
                self.values[slot] = value;
            }

            #[inline(always)]
            fn find(&self, key: u64) -> Option<usize> {
                let mut found = equal_of_four(&self.keys, key);
                for (slot, &other) in self.keys.iter().enumerate().skip(4) {
                    found |= u32::from(other == key) << slot;
                }
                (found != 0).then_some(found.trailing_zeros() as usize)
            }
        }
    };
}

line!(
    /// Four 64-bit values a line.
    Line4, u64, 4, 0
);
line!(
    /// Five 32-bit values a line.
    Line5, u32, 5, 1
);

/// How many home lines `entries` need at `load` (0 to 1) of the slots.
pub fn home_lines<L: Line>(entries: usize, load: f64) -> usize {
    ((entries as f64 / (L::SLOTS as f64 * load)).ceil() as usize).max(1)
}

/// Two entries given to [`build`] had the same key.
#[derive(Debug, PartialEq, Eq)]
pub struct EqualKeys {
    /// The key.
    pub key: u64,
}

/// Home lines that one task fills; fixed, so that the result does not depend on
/// the number of threads.
const CHUNK: usize = 1 << 12;

/// Builds the lines of a table from `entries` (consumed as scratch), with
/// `home` lines and the spare ones behind them, on rayon's current threads.
///
/// The same set of entries gives the same bytes in whatever order it comes.
/// Keys must not be 0.
pub fn build<L: Line>(entries: &mut [(u64, L::Value)], home: usize) -> Result<Vec<L>, EqualKeys> {
    build_parts(entries, home, |&(key, value)| (key, value, ())).map(|(lines, _)| lines)
}

/// Lines of a table, and something for each of their slots.
pub type WithBeside<L, B> = (Vec<L>, Vec<B>);

/// As [`build`], for entries that bring something along which the lines do not
/// hold: it comes back in a list with one item a slot, the default value where
/// the slot is empty.
pub fn build_with<L: Line, B: Copy + Default + Send + Sync>(
    entries: &mut [(u64, L::Value, B)],
    home: usize,
) -> Result<WithBeside<L, B>, EqualKeys> {
    build_parts(entries, home, |&entry| entry)
}

/// Builds from entries of which `parts` tells key, value and what goes beside.
fn build_parts<L: Line, B: Copy + Default + Send + Sync, E: Send + Sync>(
    entries: &mut [E],
    home: usize,
    parts: impl Fn(&E) -> (u64, L::Value, B) + Sync,
) -> Result<WithBeside<L, B>, EqualKeys> {
    assert!(home > 0);
    let key = |entry: &E| parts(entry).0;
    debug_assert!(entries.iter().all(|e| key(e) != 0));
    entries.par_sort_unstable_by_key(key);
    let entries = &*entries;
    let equal = entries.par_windows(2).find_first(|pair| key(&pair[0]) == key(&pair[1]));
    if let Some(pair) = equal {
        return Err(EqualKeys { key: key(&pair[0]) });
    }
    // Memory that is new is touched first by the threads that need it.
    let mut lines: Vec<L> =
        (0..home).into_par_iter().with_min_len(CHUNK).map(|_| L::default()).collect();
    let mut beside = vec![B::default(); home * L::SLOTS];
    let line_of = |key: u64| reduce(key, home as u64) as usize;
    // Each chunk of lines takes its own entries; what does not fit before its
    // end is handed on and placed below, in order.
    let overflows: Vec<&[E]> =
        (lines.par_chunks_mut(CHUNK), beside.par_chunks_mut(CHUNK * L::SLOTS))
            .into_par_iter()
            .enumerate()
            .map(|(chunk, (lines, beside))| {
                let first = chunk * CHUNK;
                let begin = entries.partition_point(|e| line_of(key(e)) < first);
                let end = begin
                    + entries[begin..].partition_point(|e| line_of(key(e)) < first + lines.len());
                let (mut line, mut slot) = (0, 0);
                for (i, entry) in entries[begin..end].iter().enumerate() {
                    let (key, value, aside) = parts(entry);
                    let wanted = line_of(key) - first;
                    if wanted > line {
                        (line, slot) = (wanted, 0);
                    }
                    if slot == L::SLOTS {
                        (line, slot) = (line + 1, 0);
                    }
                    if line == lines.len() {
                        return &entries[begin + i..end];
                    }
                    lines[line].set(slot, key, value);
                    beside[line * L::SLOTS + slot] = aside;
                    slot += 1;
                }
                &entries[end..end]
            })
            .collect();
    for (chunk, overflow) in overflows.into_iter().enumerate() {
        let mut line = ((chunk + 1) * CHUNK).min(home);
        for (key, value, aside) in overflow.iter().map(&parts) {
            loop {
                if line >= lines.len() {
                    lines.push(L::default());
                }
                if let Some(slot) = (0..L::SLOTS).find(|&slot| lines[line].key(slot) == 0) {
                    lines[line].set(slot, key, value);
                    beside.resize(lines.len() * L::SLOTS, B::default());
                    beside[line * L::SLOTS + slot] = aside;
                    break;
                }
                line += 1;
            }
        }
    }
    if lines.last().is_some_and(|l| l.key(L::SLOTS - 1) != 0) {
        lines.push(L::default());
    }
    beside.resize(lines.len() * L::SLOTS, B::default());
    Ok((lines, beside))
}

/// The position of a pair in a table: line times slots plus slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot(pub usize);

/// Finds `key` in `lines`, as [`ProbingTable::find`] does; for tables still
/// being worked on.
#[inline(always)]
pub fn find_slot<L: Line>(lines: &[L], home: u64, key: u64) -> Option<Slot> {
    let (line, slot) = find_line(lines, home, key)?;
    Some(Slot(line * L::SLOTS + slot))
}

/// The line and the slot that hold `key`.
#[inline(always)]
fn find_line<L: Line>(lines: &[L], home: u64, key: u64) -> Option<(usize, usize)> {
    let mut line = reduce(key, home) as usize;
    let current = &lines[line];
    if let Some(slot) = current.find(key) {
        return Some((line, slot));
    }
    // Of two keys neither of which comes before this line, the smaller is placed
    // first (see [`build`]): a last key that is larger ends the search, as an
    // empty slot (0 - 1 is larger than any key) does. It spares most absent keys
    // of full lines a look at a line that nobody has asked memory for.
    if current.key(L::SLOTS - 1).wrapping_sub(1) >= key {
        return None;
    }
    loop {
        // Inside the slice: the last line of a table is never full, and a line
        // that is not full ends the search. The next chunk's keys may stand
        // before this one there, though they are larger.
        line += 1;
        let current = &lines[line];
        if let Some(slot) = current.find(key) {
            return Some((line, slot));
        }
        if current.key(L::SLOTS - 1) == 0 {
            return None;
        }
    }
}

/// A finished table lying in a model.
#[derive(Clone)]
pub struct ProbingTable<L> {
    lines: View<L>,
    home: u64,
}

impl<L: Line> ProbingTable<L> {
    /// The table in `lines`, `home` of which are home lines; or why it is none.
    pub fn new(lines: View<L>, home: u64) -> Result<Self, &'static str> {
        if home == 0 || home > lines.len() as u64 {
            return Err("its number of lines does not fit");
        }
        if lines.last().is_none_or(|l| l.key(L::SLOTS - 1) != 0) {
            return Err("its last line is full, so a search would not end");
        }
        Ok(ProbingTable { lines, home })
    }

    /// Starts loading the line in which a search for `key` begins; the hash that
    /// the key was made from does as well.
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        prefetch_at(&self.lines, reduce(key, self.home) as usize);
    }

    /// The value of `key`.
    #[inline(always)]
    pub fn find(&self, key: u64) -> Option<L::Value> {
        let lines = &*self.lines;
        let (line, slot) = find_line(lines, self.home, key)?;
        Some(lines[line].value(slot))
    }

    /// Where `key` stands.
    pub fn slot(&self, key: u64) -> Option<Slot> {
        find_slot(&self.lines, self.home, key)
    }

    /// The lines.
    pub fn lines(&self) -> &[L] {
        &self.lines
    }

    /// The values of many keys, with their memory accesses overlapped. `values`
    /// is cleared first.
    pub fn find_batch(&self, keys: &[u64], values: &mut Vec<Option<L::Value>>) {
        const AHEAD: usize = 16;
        values.clear();
        for &key in keys.iter().take(AHEAD) {
            self.prefetch(key);
        }
        for (i, &key) in keys.iter().enumerate() {
            if let Some(&later) = keys.get(i + AHEAD) {
                self.prefetch(later);
            }
            values.push(self.find(key));
        }
    }

    /// Every pair, in table order.
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

    fn table<L: Line>(lines: &[L], home: usize) -> ProbingTable<L> {
        let bytes = Bytes::copy_from(lines.as_bytes());
        let view = View::new(&bytes, 0, bytes.len()).unwrap();
        ProbingTable::new(view, home as u64).unwrap()
    }

    fn check<L: Line<Value = u32>>(pairs: &HashMap<u64, u32>, home: usize) {
        let mut entries: Vec<_> = pairs.iter().map(|(&k, &v)| (k, v)).collect();
        let lines = build::<L>(&mut entries, home).unwrap();
        let table = table(&lines, home);
        let mut keys = Vec::new();
        for (&key, &value) in pairs {
            assert_eq!(table.find(key), Some(value));
            keys.extend([key, table_key(key ^ 1), table_key(key.wrapping_mul(3))]);
        }
        let mut found = Vec::new();
        table.find_batch(&keys, &mut found);
        for (key, found) in keys.iter().zip(found) {
            assert_eq!(found, pairs.get(key).copied());
        }
        assert_eq!(table.iter().collect::<HashMap<_, _>>(), *pairs);
    }

    proptest! {
        /// Against the standard library's map, from loose to overfull, with keys
        /// that crowd at the end of the range.
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
            (0..n).map(|i| (table_key(hash64(&i.to_le_bytes())), i)).collect();
        let home = home_lines::<Line4>(entries.len(), 0.9);
        let build_with = |threads, entries: &mut Vec<(u64, u64)>| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| build::<Line4>(entries, home).unwrap())
        };
        let one = build_with(1, &mut entries);
        entries.reverse();
        let three = build_with(3, &mut entries);
        assert_eq!(one.as_bytes(), three.as_bytes());
        let table = table(&one, home);
        for i in 0..n {
            assert_eq!(table.find(table_key(hash64(&i.to_le_bytes()))), Some(i));
        }
        assert_eq!(table.find(table_key(hash64(b"absent"))), None);
    }

    /// Also where a full line, a full chunk and a full table hand entries on.
    #[test]
    fn what_goes_beside_stands_by_its_key() {
        for (n, home) in [(0, 1), (9, 2), (60_000, 2 * CHUNK + 1), (50_000, 3)] {
            let keys = (0..n).map(|i| table_key(hash64(&(i as u64).to_le_bytes())));
            let mut entries: Vec<(u64, u32, u64)> =
                keys.enumerate().map(|(i, key)| (key, i as u32, key ^ 5)).collect();
            let mut plain: Vec<(u64, u32)> = entries.iter().map(|&(k, v, _)| (k, v)).collect();
            let (lines, beside) = build_with::<Line5, u64>(&mut entries, home).unwrap();
            assert_eq!(lines.as_bytes(), build::<Line5>(&mut plain, home).unwrap().as_bytes());
            assert_eq!(beside.len(), lines.len() * Line5::SLOTS);
            let slots = lines.iter().flat_map(|line| (0..Line5::SLOTS).map(|s| line.key(s)));
            for (key, beside) in slots.zip(beside) {
                assert_eq!(beside, if key == 0 { 0 } else { key ^ 5 });
            }
        }
    }

    #[test]
    fn keys_that_spill_into_the_next_chunk_are_found() {
        let n = 20_000u64;
        let key = |i: u64| table_key(hash64(&i.to_le_bytes()));
        let mut entries: Vec<(u64, u64)> = (0..n).map(|i| (key(i), i)).collect();
        // Fuller than full: they stand in front of, behind and among the keys
        // that are at home there.
        let home = home_lines::<Line4>(entries.len(), 1.1);
        assert!(home > CHUNK);
        let lines = build::<Line4>(&mut entries, home).unwrap();
        let table = table(&lines, home);
        for i in 0..n {
            assert_eq!(table.find(key(i)), Some(i));
            assert_eq!(table.find(key(n + i)), None);
        }
    }

    #[test]
    fn equal_keys_are_reported() {
        let mut entries = vec![(5u64, 1u32), (9, 2), (5, 3)];
        assert_eq!(build::<Line5>(&mut entries, 2).unwrap_err(), EqualKeys { key: 5 });
    }

    #[test]
    fn tables_that_would_not_end_are_refused() {
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
