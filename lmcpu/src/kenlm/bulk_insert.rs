//! Filling a linear-probing table as if its entries had been inserted one after
//! another, without doing so.
//!
//! Where an entry comes to lie in KenLM's tables depends on all that were
//! inserted before it, and a table that is to equal KenLM's byte for byte must
//! come out the same. It does if each slot takes, of all entries that reach it,
//! the one that was inserted first, and the others go on: inserting in turn is one
//! way to that end, and it is the only end. So the entries are sorted by the slot
//! where their search begins, and one sweep over the slots, with those that wait in
//! a heap by time, places them all: no memory is touched out of order, and parts
//! of the table are swept side by side.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::table::FastModulo;

/// Slots that one task sweeps.
const CHUNK: usize = 1 << 14;

/// Something to insert.
#[derive(Clone, Copy, Debug)]
pub struct TableEntry<V> {
    /// Not 0, and no other's.
    pub key: u64,
    /// Before which others it is inserted: its number.
    pub insertion_order: u64,
    /// What the key is mapped to.
    pub value: V,
}

/// Two entries, by their times, that have the same key.
#[derive(Debug, PartialEq, Eq)]
pub struct DuplicateKeys(pub u64, pub u64);

/// The keys, 0 where there is none, and the values of a table of `slots` slots;
/// there must be more of these than `entries`.
pub fn bulk_insert<V: Copy + Default + Send + Sync>(
    mut entries: Vec<TableEntry<V>>,
    slots: usize,
) -> Result<(Vec<u64>, Vec<V>), DuplicateKeys> {
    assert!(entries.len() < slots);
    let modulo = FastModulo::new(slots as u64);
    let home = |entry: &TableEntry<V>| modulo.reduce(entry.key) as usize;
    entries.par_sort_unstable_by_key(|entry| (home(entry), entry.key));
    if let Some(pair) = entries.par_windows(2).find_any(|pair| pair[0].key == pair[1].key) {
        let (a, b) = (pair[0].insertion_order, pair[1].insertion_order);
        return Err(DuplicateKeys(a.min(b), a.max(b)));
    }
    let (mut keys, mut values) = (vec![0; slots], vec![V::default(); slots]);
    let mut parts: Vec<TableChunk<'_, V>> = keys
        .par_chunks_mut(CHUNK)
        .zip(values.par_chunks_mut(CHUNK))
        .enumerate()
        .map(|(chunk, (keys, values))| {
            let first = chunk * CHUNK;
            let begin = entries.partition_point(|entry| home(entry) < first);
            let rest = &entries[begin..];
            let end = rest.partition_point(|entry| home(entry) < first + keys.len());
            let mut part = TableChunk {
                first_slot: first,
                entries: &rest[..end],
                keys,
                values,
                overflow: Vec::new(),
            };
            part.place_entries(Vec::new(), home);
            part
        })
        .collect();
    // What a part had no slot for goes on to the next, and from the last to the
    // first, until all are placed. Twice around is enough: an empty slot, of which
    // there is one at least, ends it.
    let count = parts.len();
    for turn in 1..=2 * count {
        let (at, before) = (turn % count, (turn - 1) % count);
        if !parts[before].overflow.is_empty() {
            let over = std::mem::take(&mut parts[before].overflow);
            parts[at].place_entries(over, home);
        }
    }
    debug_assert!(parts.iter().all(|part| part.overflow.is_empty()));
    Ok((keys, values))
}

/// Some slots with the entries whose search begins there.
struct TableChunk<'a, V> {
    first_slot: usize,
    entries: &'a [TableEntry<V>],
    keys: &'a mut [u64],
    values: &'a mut [V],
    /// Those that found no slot here.
    overflow: Vec<TableEntry<V>>,
}

impl<V: Copy> TableChunk<'_, V> {
    /// Places all entries, and `before`, which come from other slots, until none of
    /// these has an effect any more.
    fn place_entries(
        &mut self,
        before: Vec<TableEntry<V>>,
        home: impl Fn(&TableEntry<V>) -> usize,
    ) {
        let goes_to_the_end = before.is_empty();
        let mut visitors = before;
        let mut waiting: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
        let own = self.entries.len();
        waiting.extend(
            visitors.iter().enumerate().map(|(i, e)| Reverse((e.insertion_order, own + i))),
        );
        let mut next = 0;
        for slot in 0..self.keys.len() {
            while next < own && home(&self.entries[next]) == self.first_slot + slot {
                waiting.push(Reverse((self.entries[next].insertion_order, next)));
                next += 1;
            }
            let Some(Reverse((_, first))) = waiting.pop() else {
                if goes_to_the_end {
                    continue;
                }
                // From here on all is as it was without the visitors.
                return;
            };
            let entry = if first < own { &self.entries[first] } else { &visitors[first - own] };
            (self.keys[slot], self.values[slot]) = (entry.key, entry.value);
        }
        let over = waiting.iter().map(
            |&Reverse((_, i))| {
                if i < own { self.entries[i] } else { visitors[i - own] }
            },
        );
        self.overflow = over.collect();
        visitors.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// One after another.
    fn insert_one_by_one(keys: &[u64], slots: usize) -> Vec<u64> {
        let mut table = vec![0; slots];
        for &key in keys {
            let mut at = (key % slots as u64) as usize;
            while table[at] != 0 {
                at = (at + 1) % slots;
            }
            table[at] = key;
        }
        table
    }

    fn check(keys: &[u64], slots: usize) -> Result<(), TestCaseError> {
        let entries = keys.iter().enumerate();
        let entries =
            entries.map(|(i, &key)| TableEntry { key, insertion_order: i as u64, value: key });
        let (found, values) = bulk_insert(entries.collect(), slots).unwrap();
        prop_assert_eq!(&found, &insert_one_by_one(keys, slots));
        prop_assert_eq!(found, values);
        Ok(())
    }

    proptest! {
        #[test]
        fn small_tables(keys in proptest::collection::hash_set(1..200u64, 0..40), more in 1..20usize) {
            let keys: Vec<u64> = keys.into_iter().collect();
            check(&keys, keys.len() + more)?;
        }

        #[test]
        fn tables_of_many_parts(
            seed in 1..u64::MAX, load in 50..100usize, parts in 1..4usize, at_end: bool
        ) {
            let slots = parts * CHUNK + 77;
            let mut state = seed;
            let mut keys = std::collections::BTreeSet::new();
            while keys.len() < slots * load / 100 - 1 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let key = state >> 20;
                // Crowded at the end, so that many go around.
                let home = slots as u64 - 1 - key % 64;
                let crowded = at_end && keys.len() % 8 == 0;
                keys.insert(if crowded { (key | 1) * slots as u64 + home } else { key | 1 });
            }
            let mut keys: Vec<u64> = keys.into_iter().collect();
            keys.sort_by_key(|key| key.wrapping_mul(seed | 1));
            check(&keys, slots)?;
        }
    }

    #[test]
    fn duplicate_keys_are_reported() {
        let entries = [5, 6, 7, 6].iter().enumerate();
        let entries = entries
            .map(|(i, &key)| TableEntry { key, insertion_order: i as u64, value: () })
            .collect();
        assert_eq!(bulk_insert(entries, 10).unwrap_err(), DuplicateKeys(1, 3));
    }
}
