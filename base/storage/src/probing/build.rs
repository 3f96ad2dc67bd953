//! Construction of tables: a counting sort of the entries, in partitions that fit a core's cache.
//!
//! Lines follow the order of keys, so a table could be built by sorting its entries. Keys are well
//! mixed, so a comparison sort is not needed. Each group of entries is partitioned by home line as
//! it arrives ([`TableBuilder::partition`]). Then each partition gathers its entries from all
//! groups and places them in their lines by counting; it compares only entries that share a line.

use std::marker::PhantomData;

use super::TableLine;
use crate::hash::fast_range;
use crate::parallel::{self, Workspaces};
use crate::zeroed_vec::{Pod, ZeroedVec};

/// The error for two entries with the same key.
#[derive(Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: u64,
}

/// The number of home lines of a chunk, which is filled independently of earlier lines. It is part
/// of the format, because it decides where overflowing entries go.
const CHUNK_LINES: usize = 1 << 12;
/// The maximum number of partitions: smaller partitions would cost more time than the cache saves.
const MAX_PARTITIONS: usize = 1 << 10;

/// A builder of tables, which partitions entries by home line.
#[derive(Clone, Copy)]
pub struct TableBuilder<L> {
    home_lines: usize,
    /// The binary logarithm of the number of home lines per partition. A partition consists of
    /// whole chunks.
    partition_log2: u32,
    lines: PhantomData<L>,
}

/// The end of each partition of a group of entries.
pub struct PartitionEnds(Vec<u32>);

impl PartitionEnds {
    /// Returns the number of entries in the group.
    pub fn num_entries(&self) -> usize {
        self.0.last().map_or(0, |&end| end as usize)
    }
}

/// A group of entries of a table, ordered by the partition of their home line.
pub struct PartitionedEntries<'e, L: TableLine> {
    entries: &'e [L::Entry],
    ends: &'e PartitionEnds,
}

impl<L: TableLine> TableBuilder<L> {
    /// Returns a builder of a table with `home_lines` home lines, at least 1.
    pub fn new(home_lines: usize) -> Self {
        assert!(home_lines > 0);
        let partition_log2 =
            home_lines.div_ceil(MAX_PARTITIONS).max(CHUNK_LINES).next_power_of_two().ilog2();
        TableBuilder { home_lines, partition_log2, lines: PhantomData }
    }

    /// Returns the number of home lines of each partition except the last.
    fn partition_lines(self) -> usize {
        1 << self.partition_log2
    }

    fn home_line(self, key: u64) -> usize {
        fast_range(key, self.home_lines as u64) as usize
    }

    /// Partitions `entries`, fewer than 2^32, into `into`, which has the same length. Groups of
    /// some ten thousand entries fit a core's cache.
    pub fn partition(self, entries: &[L::Entry], into: &mut [L::Entry]) -> PartitionEnds {
        let partition_of =
            |entry: &L::Entry| self.home_line(L::unpack_entry(entry).0) >> self.partition_log2;
        let mut ends = vec![0u32; self.home_lines.div_ceil(self.partition_lines())];
        for entry in entries {
            ends[partition_of(entry)] += 1;
        }
        exclusive_prefix_sum(&mut ends);
        for entry in entries {
            let end = &mut ends[partition_of(entry)];
            into[*end as usize] = *entry;
            *end += 1;
        }
        PartitionEnds(ends)
    }

    /// Builds the lines of the table, and the side values of its entries: one per slot, 0 for an
    /// empty slot.
    ///
    /// The same set of entries gives the same bytes with any split into groups.
    ///
    /// # Errors
    /// [`DuplicateKey`] with the smallest key that occurs more than once.
    pub fn build(
        self,
        groups: &[PartitionedEntries<'_, L>],
    ) -> Result<(ZeroedVec<L>, ZeroedVec<u32>), DuplicateKey> {
        let mut lines = ZeroedVec::<L>::new(self.home_lines);
        let mut side_values = ZeroedVec::<u32>::new(self.home_lines * L::SLOTS);
        let partitions = lines
            .chunks_mut(self.partition_lines())
            .zip(side_values.chunks_mut(self.partition_lines() * L::SLOTS))
            .collect();
        let sorters = Workspaces::<PartitionSorter<L::Entry>>::default();
        let partitions =
            parallel::map_items(partitions, &|at, (lines, side_values): (&mut [L], &mut [u32])| {
                sorters.with(|sorter| sorter.fill_partition(groups, self, at, lines, side_values))
            });
        // Entries that did not fit in their chunk are placed here, in order.
        for overflows in partitions {
            for Overflow { first_line, entries } in overflows? {
                let mut line = first_line;
                for (key, value, side_value) in entries.iter().map(L::unpack_entry) {
                    loop {
                        if line >= lines.len() {
                            lines.resize(line + 1);
                            side_values.resize(lines.len() * L::SLOTS);
                        }
                        if let Some(slot) = (0..L::SLOTS).find(|&slot| lines[line].key(slot) == 0) {
                            lines[line].set(slot, key, value);
                            side_values[line * L::SLOTS + slot] = side_value;
                            break;
                        }
                        line += 1;
                    }
                }
            }
        }
        if lines.last().is_some_and(|l| l.key(L::SLOTS - 1) != 0) {
            lines.resize(lines.len() + 1);
            side_values.resize(lines.len() * L::SLOTS);
        }
        Ok((lines, side_values))
    }
}

impl<'e, L: TableLine> PartitionedEntries<'e, L> {
    /// Returns the group that [`TableBuilder::partition`] wrote to `entries`, with the ends of its
    /// partitions.
    pub fn new(entries: &'e [L::Entry], ends: &'e PartitionEnds) -> Self {
        PartitionedEntries { entries, ends }
    }

    fn partition(&self, index: usize) -> &[L::Entry] {
        let begin = if index == 0 { 0 } else { self.ends.0[index - 1] };
        &self.entries[begin as usize..self.ends.0[index] as usize]
    }
}

/// Replaces each count by the sum of the previous ones.
fn exclusive_prefix_sum(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        (*count, sum) = (sum, sum + *count);
    }
}

/// Builds the lines of a table from `entries`: `home_lines` home lines, then spare ones. Runs on
/// rayon's current threads.
///
/// The same set of entries gives the same bytes in any order.
/// Keys must not be 0.
///
/// # Errors
/// [`DuplicateKey`] with the smallest key that occurs more than once.
pub fn build<L: TableLine>(
    entries: &[(u64, L::Value)],
    home_lines: usize,
) -> Result<ZeroedVec<L>, DuplicateKey> {
    let builder = TableBuilder::<L>::new(home_lines);
    let entries: Vec<_> =
        entries.iter().map(|&(key, value)| L::pack_entry(key, value, 0)).collect();
    let mut group = vec![L::Entry::default(); entries.len()];
    let ends = builder.partition(&entries, &mut group);
    builder.build(&[PartitionedEntries::new(&group, &ends)]).map(|(lines, _)| lines)
}

/// Entries that did not fit in their chunk of lines.
struct Overflow<L: TableLine> {
    /// The first line after the chunk.
    first_line: usize,
    /// In the order of keys.
    entries: Vec<L::Entry>,
}

/// A sorter of partitions that reuses its memory.
#[derive(Default)]
struct PartitionSorter<E> {
    sorted: Vec<E>,
    /// The end of the entries of each line in `sorted`.
    ends: Vec<u32>,
}

impl<E: Pod + Copy + Default> PartitionSorter<E> {
    /// Puts the entries of partition `at` into its `lines`; returns the overflowing ones.
    fn fill_partition<L: TableLine<Entry = E>>(
        &mut self,
        groups: &[PartitionedEntries<'_, L>],
        builder: TableBuilder<L>,
        at: usize,
        lines: &mut [L],
        side_values: &mut [u32],
    ) -> Result<Vec<Overflow<L>>, DuplicateKey> {
        let first = at * builder.partition_lines();
        let key = |entry: &E| L::unpack_entry(entry).0;
        let line_of = |key: u64| builder.home_line(key) - first;
        let PartitionSorter { sorted, ends } = self;
        ends.clear();
        ends.resize(lines.len(), 0);
        for group in groups {
            for entry in group.partition(at) {
                ends[line_of(key(entry))] += 1;
            }
        }
        exclusive_prefix_sum(ends);
        sorted.resize(groups.iter().map(|group| group.partition(at).len()).sum(), E::default());
        for group in groups {
            for entry in group.partition(at) {
                let end = &mut ends[line_of(key(entry))];
                sorted[*end as usize] = *entry;
                *end += 1;
            }
        }
        let mut begin = 0;
        for &end in &*ends {
            let sharing = &mut sorted[begin as usize..end as usize];
            sharing.sort_unstable_by_key(key);
            if let Some(pair) = sharing.windows(2).find(|pair| key(&pair[0]) == key(&pair[1])) {
                return Err(DuplicateKey { key: key(&pair[0]) });
            }
            begin = end;
        }
        let mut overflows = Vec::new();
        let (mut begin, mut chunk_end) = (0, 0);
        for (lines, side_values) in
            lines.chunks_mut(CHUNK_LINES).zip(side_values.chunks_mut(CHUNK_LINES * L::SLOTS))
        {
            let chunk_start = chunk_end;
            chunk_end += lines.len();
            let own = &sorted[begin..ends[chunk_end - 1] as usize];
            begin += own.len();
            let (mut line, mut slot) = (0, 0);
            for (i, (key, value, side_value)) in own.iter().map(L::unpack_entry).enumerate() {
                let home = line_of(key) - chunk_start;
                if home > line {
                    (line, slot) = (home, 0);
                }
                if slot == L::SLOTS {
                    (line, slot) = (line + 1, 0);
                }
                if line == lines.len() {
                    let entries = own[i..].to_vec();
                    overflows.push(Overflow { first_line: first + chunk_end, entries });
                    break;
                }
                lines[line].set(slot, key, value);
                side_values[line * L::SLOTS + slot] = side_value;
                slot += 1;
            }
        }
        Ok(overflows)
    }
}
