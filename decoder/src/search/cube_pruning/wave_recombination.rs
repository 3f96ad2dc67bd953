//! Recombination of popped cells, in any order.
//!
//! The best of all cells with the same key does not depend on the order, unless two of these cells
//! have equal scores. Then the first one to be popped should win, and the stack counts as tied. If
//! recombined cells are kept as arcs, two arcs of one hypothesis with equal scores also make the
//! stack tied, because the older arc should come first.

use std::cmp::Ordering;

use super::super::cells::{Cell, Edge};
use super::super::lattice::{ArcOrder, RecombinedArcs};
use super::super::ordered_bits::ordered_bits;
use crate::features::RecombinationKey;

/// The largest number of mini-stacks of a stack, and of words of a sentence. Keys have 16 bits each
/// for the mini-stack and for the start of the last phrase.
pub(super) const MAX_KEY_PART: usize = 1 << 16;

#[derive(Clone, Copy, Default)]
#[repr(C, align(16))]
struct Slot {
    /// The mini-stack, the start of the last phrase, and the first state. The entry has the second.
    key: u64,
    /// The generation of the stack that set the slot. If it is not the current one, the slot is
    /// empty.
    generation: u32,
    entry: u32,
}

/// The best cell of each key, in buffers that are reused.
#[derive(Default)]
pub(super) struct Recombination<L> {
    slots: Vec<Slot>,
    generation: u32,
    /// The bits of the last phrase's start that are part of a key: all or none.
    start_mask: u32,
    entries: Vec<Cell>,
    /// The cells that were recombined.
    pub(super) recombined: L,
    /// Whether the order of arrival decides which cells are kept.
    pub(super) is_tied: bool,
    /// Scratch: for each mini-stack, the end of its ranks in `ranks`.
    group_ends: Vec<u32>,
    /// Scratch: ranks of all mini-stacks.
    ranks: Vec<u64>,
}

impl<L: RecombinedArcs> Recombination<L> {
    /// Begins a stack; `key` says which properties make hypotheses different.
    pub(super) fn start(&mut self, key: RecombinationKey) {
        self.start_mask = if key.uses_start { MAX_KEY_PART as u32 - 1 } else { 0 };
        self.entries.clear();
        self.recombined.clear();
        self.is_tied = false;
        self.generation = self.generation.wrapping_add(1);
        if self.slots.is_empty() || self.generation == 0 {
            self.slots.clear();
            self.slots.resize(1 << 10, Slot::default());
            self.generation = 1;
        }
    }

    /// Adds a cell of one of `edges`.
    #[inline(always)]
    pub(super) fn add(&mut self, cell: &Cell, edges: &[Edge]) {
        let edge = &edges[cell.edge as usize];
        // The mini-stack determines the coverage and the end of the last phrase.
        let place = edge.group << 16 | (edge.transition.span.start & self.start_mask);
        let key = u64::from(place) << 32 | u64::from(cell.state);
        let mask = self.slots.len() - 1;
        let mut at = first_slot(key, cell.second_state) & mask;
        loop {
            let slot = &mut self.slots[at];
            if slot.generation != self.generation {
                *slot = Slot { key, generation: self.generation, entry: self.entries.len() as u32 };
                self.recombined.record_new(slot.entry);
                self.entries.push(*cell);
                if self.entries.len() * 2 > self.slots.len() {
                    self.grow();
                }
                return;
            }
            if slot.key == key
                && self.entries[slot.entry as usize].second_state == cell.second_state
            {
                let stored = &mut self.entries[slot.entry as usize];
                match cell.future_score.partial_cmp(&stored.future_score) {
                    Some(Ordering::Greater) => {
                        self.recombined.record_replaced(slot.entry, &stored.hypothesis(edges));
                        *stored = *cell;
                    }
                    Some(Ordering::Less) => {
                        self.recombined.record_rejected(slot.entry, &cell.hypothesis(edges));
                    }
                    // The scores are equal, or one is NaN.
                    _ => self.is_tied = true,
                }
                return;
            }
            at = (at + 1) & mask;
        }
    }

    #[inline(never)]
    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old.into_iter().filter(|slot| slot.generation == self.generation) {
            let second_state = self.entries[slot.entry as usize].second_state;
            let mut at = first_slot(slot.key, second_state) & (size - 1);
            while self.slots[at].generation == self.generation {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot;
        }
    }

    /// Sorts the cells of each of `num_groups` mini-stacks, the best first, and the arcs. Returns
    /// false if the order of arrival matters. It does if two scores are equal, because the older
    /// cell or arc comes first. The order may also matter if a mini-stack reaches `max_size`:
    /// the mini-stack may have been pruned or may have rejected cells.
    pub(super) fn sort(&mut self, edges: &[Edge], num_groups: usize, max_size: usize) -> bool {
        let Recombination { entries, recombined, group_ends, ranks, .. } = self;
        group_ends.clear();
        group_ends.resize(num_groups, 0);
        for entry in &*entries {
            group_ends[edges[entry.edge as usize].group as usize] += 1;
        }
        let mut sum = 0;
        for end in &mut *group_ends {
            sum += std::mem::replace(end, sum);
        }
        ranks.clear();
        ranks.resize(entries.len(), 0);
        for (i, entry) in entries.iter().enumerate() {
            let place = &mut group_ends[edges[entry.edge as usize].group as usize];
            ranks[*place as usize] = u64::from(!ordered_bits(entry.future_score)) << 32 | i as u64;
            *place += 1;
        }
        let mut begin = 0;
        let is_decided = group_ends.iter().all(|&end| {
            let ranks = &mut ranks[begin..end as usize];
            begin = end as usize;
            ranks.sort_unstable();
            ranks.len() < max_size && ranks.windows(2).all(|two| two[0] >> 32 != two[1] >> 32)
        });
        if !L::KEEPS_ARCS || !is_decided {
            return is_decided;
        }
        ranks.iter().for_each(|&rank| recombined.record_survivor(rank as u32));
        recombined.sort_arcs() == ArcOrder::ByTotal
    }

    /// Returns the cells in the order of their arrival.
    pub(super) fn cells(&mut self) -> &mut [Cell] {
        &mut self.entries
    }

    /// Returns the cells in the order of [`Recombination::sort`].
    pub(super) fn sorted_cells(&self) -> impl Iterator<Item = &Cell> {
        self.ranks.iter().map(|&rank| &self.entries[rank as u32 as usize])
    }
}

#[inline(always)]
fn first_slot(key: u64, second_state: u32) -> usize {
    let mixed = (key ^ u64::from(second_state) << 44).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize
}
