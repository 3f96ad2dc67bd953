//! Immutable B-tree of sorted `u32` keys, with minimal depth.
//!
//! A complete tree of nodes of `K` keys is stored breadth first in one array: child `s` of node `i`
//! is node `i * (K + 1) + s + 1`. All nodes but the last are full. So no pointer is stored and no
//! slot is wasted (the tree of Bogoychev's thesis, section 4.3.2, made implicit). Values are in a
//! separate array, at the positions of their keys. All keys of a node are compared at once, without
//! branches ([`Isa::rank`]), so a search reads one or two cache lines for each level of the tree.
//!
//! Keys need not be valid: the keys of a damaged file give a wrong result or no result, never an
//! endless search.

mod isa;

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

pub use isa::{Isa, find_key};

/// Four keys: the unit in which nodes and files are measured.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout,
)]
#[repr(C, align(16))]
pub struct Unit(pub [u32; 4]);

/// Padding of the last node; not a valid key.
pub const NO_KEY: u32 = u32::MAX;

/// The shape of a tree.
///
/// ```
/// use miriam_storage::btree::{Isa, NO_KEY, StaticBTree, Unit};
///
/// let tree = StaticBTree { node_keys: 8, count: 20 };
/// let mut units = vec![Unit([NO_KEY; 4]); (tree.nodes() * tree.node_keys / 4) as usize];
/// let sorted = (0..20).map(|i| i * 3);
/// for (position, key) in tree.in_order_positions().zip(sorted) {
///     units[position as usize / 4].0[position as usize % 4] = key;
/// }
/// assert!(tree.find(Isa::detect(), &units, 33).is_some());
/// assert!(tree.find(Isa::detect(), &units, 34).is_none());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaticBTree {
    /// The number of keys per node, a multiple of four.
    pub node_keys: u64,
    /// The total number of keys.
    pub count: u64,
}

impl StaticBTree {
    /// Returns the number of nodes.
    #[inline(always)]
    pub const fn nodes(self) -> u64 {
        self.count.div_ceil(self.node_keys)
    }

    /// Returns the child of `node` with the keys between those in its slots `slot - 1` and `slot`,
    /// if there are any.
    #[inline(always)]
    pub const fn child(self, node: u64, slot: u64) -> Option<u64> {
        let child = node * (self.node_keys + 1) + slot + 1;
        // Multiplied, because division is slow.
        if child * self.node_keys < self.count { Some(child) } else { None }
    }

    /// Returns the range of units of `node`.
    #[inline(always)]
    pub const fn units(self, node: u64) -> std::ops::Range<u64> {
        let width = self.node_keys / 4;
        node * width..(node + 1) * width
    }

    /// Returns the positions of the keys in ascending order of keys, without recursion.
    pub fn in_order_positions(self) -> InOrderPositions {
        let mut positions = InOrderPositions { tree: self, path: [(0, 0); MAX_DEPTH], depth: 0 };
        if self.count > 0 {
            positions.descend(0);
        }
        positions
    }

    /// Returns the position of `key`; `None` if it is absent or `keys` ends too early.
    pub fn find(self, isa: Isa, keys: &[Unit], key: u32) -> Option<u64> {
        let mut node = 0;
        if self.count == 0 {
            return None;
        }
        loop {
            let units = self.units(node);
            let keys = keys.get(units.start as usize..units.end as usize)?;
            let slot = isa.rank(keys, key);
            if key_at(keys, slot) == Some(key) {
                return Some(node * self.node_keys + slot as u64).filter(|&at| at < self.count);
            }
            // A child's number is larger than its parent's, so this ends.
            node = self.child(node, slot as u64)?;
        }
    }
}

/// Returns the key at `slot`, if there is one.
#[inline(always)]
pub fn key_at(keys: &[Unit], slot: usize) -> Option<u32> {
    keys.get(slot / 4).map(|unit| unit.0[slot % 4])
}

/// An upper bound on the depth of a tree with a fan-out of at least 5 and fewer than 2^64 keys.
const MAX_DEPTH: usize = 28;

/// The iterator of [`StaticBTree::in_order_positions`].
#[derive(Clone, Debug)]
pub struct InOrderPositions {
    tree: StaticBTree,
    /// The path from the root: nodes, each with the slot of its next key.
    path: [(u64, u64); MAX_DEPTH],
    depth: usize,
}

impl InOrderPositions {
    /// Descends to `node`, and along its first children to a leaf.
    fn descend(&mut self, node: u64) {
        let mut next = Some(node);
        while let Some(node) = next {
            self.path[self.depth] = (node, 0);
            self.depth += 1;
            next = self.tree.child(node, 0);
        }
    }
}

impl Iterator for InOrderPositions {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        loop {
            let (node, slot) = &mut self.path[self.depth.checked_sub(1)?];
            let position = *node * self.tree.node_keys + *slot;
            if *slot < self.tree.node_keys && position < self.tree.count {
                *slot += 1;
                if let Some(child) = self.tree.child(*node, *slot) {
                    self.descend(child);
                }
                return Some(position);
            }
            self.depth -= 1;
        }
    }
}

#[cfg(test)]
mod tests;
