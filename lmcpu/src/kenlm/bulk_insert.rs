//! Parallel filling of a linear-probing table, with the result of inserting its entries one after
//! another.
//!
//! The slot of an entry in KenLM's tables depends on all entries that were inserted before it, and
//! the file must equal KenLM's byte for byte. The result of sequential insertion is unique: if
//! several entries reach a slot, it holds the one that was inserted first, and the others continue
//! to the next slot. So the entries are sorted by home slot. One sweep over the slots, with a heap
//! of waiting entries in insertion order, places them all. It accesses memory in sequence, and
//! chunks of the table are swept in parallel.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use miriam_storage::parallel;

use super::table::FastModulo;

/// The number of slots of a chunk, the work of one task.
const CHUNK: usize = 1 << 14;

/// An entry to insert.
#[derive(Clone, Copy, Debug, Default)]
pub struct TableEntry {
    /// The key, which is not 0.
    pub key: u64,
    /// Its position in the sequence of insertions.
    pub insertion_order: u64,
    /// The value of the key.
    pub value: u64,
}

/// Two entries with the same key, by insertion order, the earlier one first.
#[derive(Debug, PartialEq, Eq)]
pub struct DuplicateKeys(pub u64, pub u64);

/// Returns the keys (0 in an empty slot) and the values of a table of `slots` slots. There must be
/// fewer entries than slots.
///
/// # Errors
///
/// If two entries have the same key.
pub fn bulk_insert(
    mut entries: Vec<TableEntry>,
    slots: usize,
) -> Result<(Vec<u64>, Vec<u64>), DuplicateKeys> {
    assert!(entries.len() < slots);
    let modulo = FastModulo::new(slots as u64);
    let home = |entry: &TableEntry| modulo.reduce(entry.key) as usize;
    entries.par_sort_unstable_by_key(|entry| (home(entry), entry.key));
    let equal_to_next = parallel::positions(entries.len().saturating_sub(1), |at| {
        entries[at].key == entries[at + 1].key
    });
    if let Some(&at) = equal_to_next.first() {
        let (a, b) = (entries[at].insertion_order, entries[at + 1].insertion_order);
        return Err(DuplicateKeys(a.min(b), a.max(b)));
    }
    let (mut keys, mut values) = (vec![0; slots], vec![0; slots]);
    let chunks = keys.chunks_mut(CHUNK).zip(values.chunks_mut(CHUNK)).collect();
    let mut chunks =
        parallel::map_items(chunks, &|chunk, (keys, values): (&mut [u64], &mut [u64])| {
            let first = chunk * CHUNK;
            let begin = entries.partition_point(|entry| home(entry) < first);
            let rest = &entries[begin..];
            let end = rest.partition_point(|entry| home(entry) < first + keys.len());
            let mut table_chunk = TableChunk {
                first_slot: first,
                entries: &rest[..end],
                keys,
                values,
                overflow: Vec::new(),
            };
            table_chunk.place_entries(&[], home);
            table_chunk
        });
    // Entries that did not fit into a chunk visit the next chunk, and those of the last chunk visit
    // the first, until all are placed. Visitors stop at an empty slot, of which there is at least
    // one, so each chunk has visitors at most twice.
    let count = chunks.len();
    for turn in 1..=2 * count {
        let (at, before) = (turn % count, (turn - 1) % count);
        if !chunks[before].overflow.is_empty() {
            let over = std::mem::take(&mut chunks[before].overflow);
            chunks[at].place_entries(&over, home);
        }
    }
    debug_assert!(chunks.iter().all(|chunk| chunk.overflow.is_empty()));
    Ok((keys, values))
}

/// Consecutive slots, and the entries whose home slots they are.
struct TableChunk<'a> {
    first_slot: usize,
    entries: &'a [TableEntry],
    keys: &'a mut [u64],
    values: &'a mut [u64],
    /// Entries that did not fit here.
    overflow: Vec<TableEntry>,
}

impl TableChunk<'_> {
    /// Places the chunk's entries and `visitors`, which are all entries that overflow from the
    /// previous chunk. The first pass has no visitors. A later pass ends at the first empty slot:
    /// after it, visitors change nothing.
    fn place_entries(&mut self, visitors: &[TableEntry], home: impl Fn(&TableEntry) -> usize) {
        let is_first_pass = visitors.is_empty();
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
                if is_first_pass {
                    continue;
                }
                // From here on the slots are as they were without the visitors.
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Inserts the keys one after another.
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
        fn small_tables_equal_sequential_insertion(
            keys in proptest::collection::hash_set(1..200u64, 0..40), more in 1..20usize,
        ) {
            let keys: Vec<u64> = keys.into_iter().collect();
            check(&keys, keys.len() + more)?;
        }

        #[test]
        fn tables_of_many_chunks_equal_sequential_insertion(
            seed in 1..u64::MAX, load in 50..100usize, chunks in 1..4usize, at_end: bool
        ) {
            let slots = chunks * CHUNK + 77;
            let mut state = seed;
            let mut keys = std::collections::BTreeSet::new();
            while keys.len() < slots * load / 100 - 1 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let key = state >> 20;
                // Crowded at the end, so that many wrap around.
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
            .map(|(i, &key)| TableEntry { key, insertion_order: i as u64, value: i as u64 })
            .collect();
        assert_eq!(bulk_insert(entries, 10).unwrap_err(), DuplicateKeys(1, 3));
    }
}
