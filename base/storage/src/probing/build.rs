//! Filling a table: by sorting, in parts that fit a core's cache.
//!
//! Lines follow the order of keys, so a table could be built by sorting its
//! entries. Keys are well mixed, and so most of that comes for free: entries are
//! split by the part of the table in which they are at home, group by group, as
//! they come ([`Grouping`]); then each part takes its own from all groups, counts
//! them out to their lines, and compares only those that share a line.

use std::marker::PhantomData;

use rayon::prelude::*;

use super::Line;
use crate::hash::reduce;
use crate::zeroed::{Plain, Zeroed};

/// Two entries given to a table had the same key.
#[derive(Debug, PartialEq, Eq)]
pub struct EqualKeys {
    /// The key.
    pub key: u64,
}

/// Home lines that are filled without a look at what stands before them; part of
/// the format, as entries go over to the next so many.
const CHUNK: usize = 1 << 12;
/// More parts than this would be so small in each group that finding them takes
/// longer than the cache saves.
const MOST_PARTS: usize = 1 << 10;

/// How the entries of a table of so many home lines are split, and the table built.
pub struct Grouping<L> {
    home: usize,
    /// Home lines of each part, as a power of two; whole chunks.
    part_log: u32,
    lines: PhantomData<L>,
}

impl<L> Clone for Grouping<L> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<L> Copy for Grouping<L> {}

/// Some entries of a table, split by the part where they are at home.
pub struct Group<'e, L: Line> {
    entries: &'e [L::Entry],
    /// Where each part ends.
    ends: Vec<u32>,
}

impl<L: Line> Grouping<L> {
    /// For a table of `home` home lines.
    pub fn new(home: usize) -> Self {
        assert!(home > 0);
        let part_log = home.div_ceil(MOST_PARTS).max(CHUNK).next_power_of_two().ilog2();
        Grouping { home, part_log, lines: PhantomData }
    }

    /// Home lines of each part but the last.
    fn part(self) -> usize {
        1 << self.part_log
    }

    fn line_of(self, key: u64) -> usize {
        reduce(key, self.home as u64) as usize
    }

    /// Splits `entries`, fewer than 2^32, `into` memory for as many; some ten
    /// thousand at a time stay in a core's cache.
    pub fn group<'e>(self, entries: &[L::Entry], into: &'e mut [L::Entry]) -> Group<'e, L> {
        let part_of = |entry: &L::Entry| self.line_of(L::parts(entry).0) >> self.part_log;
        let mut ends = vec![0u32; self.home.div_ceil(self.part())];
        for entry in entries {
            ends[part_of(entry)] += 1;
        }
        add_up(&mut ends);
        for entry in entries {
            let end = &mut ends[part_of(entry)];
            into[*end as usize] = *entry;
            *end += 1;
        }
        Group { entries: into, ends }
    }

    /// Builds the lines of the table, and a list of what goes along with its entries:
    /// one item a slot, 0 where the slot is empty. Of several equal keys the smallest
    /// is told.
    ///
    /// The same set of entries gives the same bytes however it is split into groups.
    pub fn build(self, groups: &[Group<'_, L>]) -> Result<(Zeroed<L>, Zeroed<u32>), EqualKeys> {
        let mut lines = Zeroed::<L>::new(self.home);
        let mut beside = Zeroed::<u32>::new(self.home * L::SLOTS);
        let parts: Vec<Result<Vec<Overflow<L>>, EqualKeys>> =
            (lines.par_chunks_mut(self.part()), beside.par_chunks_mut(self.part() * L::SLOTS))
                .into_par_iter()
                .enumerate()
                .map_init(Sorter::default, |sorter, (at, (lines, beside))| {
                    sorter.fill(groups, self, at, lines, beside)
                })
                .collect();
        // What does not fit before the end of its chunk is placed here, in order.
        for overflows in parts {
            for Overflow { behind, entries } in overflows? {
                let mut line = behind;
                for (key, value, aside) in entries.iter().map(L::parts) {
                    loop {
                        if line >= lines.len() {
                            lines.resize(line + 1);
                            beside.resize(lines.len() * L::SLOTS);
                        }
                        if let Some(slot) = (0..L::SLOTS).find(|&slot| lines[line].key(slot) == 0) {
                            lines[line].set(slot, key, value);
                            beside[line * L::SLOTS + slot] = aside;
                            break;
                        }
                        line += 1;
                    }
                }
            }
        }
        if lines.last().is_some_and(|l| l.key(L::SLOTS - 1) != 0) {
            lines.resize(lines.len() + 1);
            beside.resize(lines.len() * L::SLOTS);
        }
        Ok((lines, beside))
    }
}

impl<L: Line> Group<'_, L> {
    fn part(&self, part: usize) -> &[L::Entry] {
        let begin = if part == 0 { 0 } else { self.ends[part - 1] };
        &self.entries[begin as usize..self.ends[part] as usize]
    }
}

/// Makes of counts where each begins among all of them.
fn add_up(counts: &mut [u32]) {
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
pub fn build<L: Line>(entries: &[(u64, L::Value)], home: usize) -> Result<Zeroed<L>, EqualKeys> {
    let grouping = Grouping::<L>::new(home);
    let entries: Vec<_> = entries.iter().map(|&(key, value)| L::entry(key, value, 0)).collect();
    let group = &mut vec![L::Entry::default(); entries.len()];
    grouping.build(&[grouping.group(&entries, group)]).map(|(lines, _)| lines)
}

/// Entries that found no place in their chunk of lines.
struct Overflow<L: Line> {
    /// The first line behind the chunk.
    behind: usize,
    /// By key.
    entries: Vec<L::Entry>,
}

/// Sorts the entries of one part after another; the memory stays.
#[derive(Default)]
struct Sorter<E> {
    sorted: Vec<E>,
    /// Where the entries of each line end in `sorted`.
    ends: Vec<u32>,
}

impl<E: Plain + Copy + Default> Sorter<E> {
    /// Puts the entries of part `at` into its `lines`; returns what overflows.
    fn fill<L: Line<Entry = E>>(
        &mut self,
        groups: &[Group<'_, L>],
        grouping: Grouping<L>,
        at: usize,
        lines: &mut [L],
        beside: &mut [u32],
    ) -> Result<Vec<Overflow<L>>, EqualKeys> {
        let first = at * grouping.part();
        let key = |entry: &E| L::parts(entry).0;
        let line_of = |key: u64| grouping.line_of(key) - first;
        let Sorter { sorted, ends } = self;
        ends.clear();
        ends.resize(lines.len(), 0);
        for group in groups {
            for entry in group.part(at) {
                ends[line_of(key(entry))] += 1;
            }
        }
        add_up(ends);
        sorted.resize(groups.iter().map(|group| group.part(at).len()).sum(), E::default());
        for group in groups {
            for entry in group.part(at) {
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
                return Err(EqualKeys { key: key(&pair[0]) });
            }
            begin = end;
        }
        let mut overflows = Vec::new();
        let (mut begin, mut behind) = (0, 0);
        for (lines, beside) in lines.chunks_mut(CHUNK).zip(beside.chunks_mut(CHUNK * L::SLOTS)) {
            let front = behind;
            behind += lines.len();
            let own = &sorted[begin..ends[behind - 1] as usize];
            begin += own.len();
            let (mut line, mut slot) = (0, 0);
            for (i, (key, value, aside)) in own.iter().map(L::parts).enumerate() {
                let wanted = line_of(key) - front;
                if wanted > line {
                    (line, slot) = (wanted, 0);
                }
                if slot == L::SLOTS {
                    (line, slot) = (line + 1, 0);
                }
                if line == lines.len() {
                    let entries = own[i..].to_vec();
                    overflows.push(Overflow { behind: first + behind, entries });
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
