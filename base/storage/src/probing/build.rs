//! Filling a table: by sorting, in parts that fit a core's cache.
//!
//! Lines follow the order of keys, so a table could be built by sorting its
//! entries. Keys are well mixed, and so most of that comes for free: entries are
//! split by the part of the table in which they are at home, group by group, as
//! they come ([`Grouping`]); then each part takes its own from all groups, counts
//! them out to their lines, and compares only those that share a line.

use std::marker::PhantomData;

use rayon::prelude::*;

use super::TableLine;
use crate::hash::fast_range;
use crate::zeroed_vec::{Pod, ZeroedVec};

/// Two entries given to a table had the same key.
#[derive(Debug, PartialEq, Eq)]
pub struct DuplicateKey {
    /// The key.
    pub key: u64,
}

/// Home lines that are filled without a look at what stands before them; part of
/// the format, as entries go over to the next so many.
const CHUNK_LINES: usize = 1 << 12;
/// More parts than this would be so small in each group that finding them takes
/// longer than the cache saves.
const MAX_PARTITIONS: usize = 1 << 10;

/// How the entries of a table of so many home lines are split, and the table built.
pub struct TableBuilder<L> {
    home_lines: usize,
    /// Home lines of each part, as a power of two; whole chunks.
    partition_log2: u32,
    lines: PhantomData<L>,
}

impl<L> Clone for TableBuilder<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for TableBuilder<L> {}

/// Some entries of a table, split by the part where they are at home.
pub struct PartitionedEntries<'e, L: TableLine> {
    entries: &'e [L::Entry],
    /// Where each part ends.
    ends: Vec<u32>,
}

impl<L: TableLine> TableBuilder<L> {
    /// For a table of `home` home lines.
    pub fn new(home_lines: usize) -> Self {
        assert!(home_lines > 0);
        let partition_log2 =
            home_lines.div_ceil(MAX_PARTITIONS).max(CHUNK_LINES).next_power_of_two().ilog2();
        TableBuilder { home_lines, partition_log2, lines: PhantomData }
    }

    /// Home lines of each part but the last.
    fn partition_lines(self) -> usize {
        1 << self.partition_log2
    }

    fn home_line(self, key: u64) -> usize {
        fast_range(key, self.home_lines as u64) as usize
    }

    /// Splits `entries`, fewer than 2^32, `into` memory for as many; some ten
    /// thousand at a time stay in a core's cache.
    pub fn partition<'e>(
        self,
        entries: &[L::Entry],
        into: &'e mut [L::Entry],
    ) -> PartitionedEntries<'e, L> {
        let part_of =
            |entry: &L::Entry| self.home_line(L::unpack_entry(entry).0) >> self.partition_log2;
        let mut ends = vec![0u32; self.home_lines.div_ceil(self.partition_lines())];
        for entry in entries {
            ends[part_of(entry)] += 1;
        }
        exclusive_prefix_sum(&mut ends);
        for entry in entries {
            let end = &mut ends[part_of(entry)];
            into[*end as usize] = *entry;
            *end += 1;
        }
        PartitionedEntries { entries: into, ends }
    }

    /// Builds the lines of the table, and a list of what goes along with its entries:
    /// one item a slot, 0 where the slot is empty. Of several equal keys the smallest
    /// is told.
    ///
    /// The same set of entries gives the same bytes however it is split into groups.
    pub fn build(
        self,
        groups: &[PartitionedEntries<'_, L>],
    ) -> Result<(ZeroedVec<L>, ZeroedVec<u32>), DuplicateKey> {
        let mut lines = ZeroedVec::<L>::new(self.home_lines);
        let mut side_values = ZeroedVec::<u32>::new(self.home_lines * L::SLOTS);
        let parts: Vec<Result<Vec<Overflow<L>>, DuplicateKey>> = (
            lines.par_chunks_mut(self.partition_lines()),
            side_values.par_chunks_mut(self.partition_lines() * L::SLOTS),
        )
            .into_par_iter()
            .enumerate()
            .map_init(PartitionSorter::default, |sorter, (at, (lines, beside))| {
                sorter.fill_partition(groups, self, at, lines, beside)
            })
            .collect();
        // What does not fit before the end of its chunk is placed here, in order.
        for overflows in parts {
            for Overflow { first_line: behind, entries } in overflows? {
                let mut line = behind;
                for (key, value, aside) in entries.iter().map(L::unpack_entry) {
                    loop {
                        if line >= lines.len() {
                            lines.resize(line + 1);
                            side_values.resize(lines.len() * L::SLOTS);
                        }
                        if let Some(slot) = (0..L::SLOTS).find(|&slot| lines[line].key(slot) == 0) {
                            lines[line].set(slot, key, value);
                            side_values[line * L::SLOTS + slot] = aside;
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

impl<L: TableLine> PartitionedEntries<'_, L> {
    fn partition(&self, part: usize) -> &[L::Entry] {
        let begin = if part == 0 { 0 } else { self.ends[part - 1] };
        &self.entries[begin as usize..self.ends[part] as usize]
    }
}

/// Makes of counts where each begins among all of them.
fn exclusive_prefix_sum(counts: &mut [u32]) {
    let mut sum = 0;
    for count in counts {
        (*count, sum) = (sum, sum + *count);
    }
}

/// Builds the lines of a table from `entries`, with `home` home lines and the
/// spare ones behind them, on rayon's current threads.
///
/// The same set of entries gives the same bytes in whatever order it comes.
/// Keys must not be 0.
pub fn build<L: TableLine>(
    entries: &[(u64, L::Value)],
    home: usize,
) -> Result<ZeroedVec<L>, DuplicateKey> {
    let grouping = TableBuilder::<L>::new(home);
    let entries: Vec<_> =
        entries.iter().map(|&(key, value)| L::pack_entry(key, value, 0)).collect();
    let group = &mut vec![L::Entry::default(); entries.len()];
    grouping.build(&[grouping.partition(&entries, group)]).map(|(lines, _)| lines)
}

/// Entries that found no place in their chunk of lines.
struct Overflow<L: TableLine> {
    /// The first line behind the chunk.
    first_line: usize,
    /// By key.
    entries: Vec<L::Entry>,
}

/// Sorts the entries of one part after another; the memory stays.
#[derive(Default)]
struct PartitionSorter<E> {
    sorted: Vec<E>,
    /// Where the entries of each line end in `sorted`.
    ends: Vec<u32>,
}

impl<E: Pod + Copy + Default> PartitionSorter<E> {
    /// Puts the entries of part `at` into its `lines`; returns what overflows.
    fn fill_partition<L: TableLine<Entry = E>>(
        &mut self,
        groups: &[PartitionedEntries<'_, L>],
        grouping: TableBuilder<L>,
        at: usize,
        lines: &mut [L],
        side_values: &mut [u32],
    ) -> Result<Vec<Overflow<L>>, DuplicateKey> {
        let first = at * grouping.partition_lines();
        let key = |entry: &E| L::unpack_entry(entry).0;
        let line_of = |key: u64| grouping.home_line(key) - first;
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
        let (mut begin, mut behind) = (0, 0);
        for (lines, beside) in
            lines.chunks_mut(CHUNK_LINES).zip(side_values.chunks_mut(CHUNK_LINES * L::SLOTS))
        {
            let front = behind;
            behind += lines.len();
            let own = &sorted[begin..ends[behind - 1] as usize];
            begin += own.len();
            let (mut line, mut slot) = (0, 0);
            for (i, (key, value, aside)) in own.iter().map(L::unpack_entry).enumerate() {
                let wanted = line_of(key) - front;
                if wanted > line {
                    (line, slot) = (wanted, 0);
                }
                if slot == L::SLOTS {
                    (line, slot) = (line + 1, 0);
                }
                if line == lines.len() {
                    let entries = own[i..].to_vec();
                    overflows.push(Overflow { first_line: first + behind, entries });
                    break;
                }
                lines[line].set(slot, key, value);
                beside[line * L::SLOTS + slot] = aside;
                slot += 1;
            }
        }
        Ok(overflows)
    }
}
