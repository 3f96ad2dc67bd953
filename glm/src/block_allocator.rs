//! Layout of the blocks of one n-gram order: they follow each other in the sequence of their
//! parents, each at the first unit that its alignment allows. Builder and checker allocate in the
//! same sequence, so the blocks of a valid file are exactly where the allocator puts them.

use crate::format::{BlockShape, GPU_CACHE_LINE, MANY_CHILDREN, NodeWidth};

/// The kind of the parents of an order's n-grams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParentKind {
    /// Unigrams: an only child has a block like others.
    Words,
    /// N-grams with an [`crate::format::Entry`], which holds the word of an only child.
    Entries,
    /// N-grams in hash buckets, which count up to [`MANY_CHILDREN`] children only.
    Buckets,
}

/// The location of an n-gram's children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Children {
    /// No children.
    None,
    /// An only child of the highest order, stored in its parent.
    Inline,
    /// An only child, with its entry at this unit.
    SingleEntry(u64),
    /// A block.
    Block(BlockOffsets),
}

/// The block of one n-gram's children.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockOffsets {
    /// The unit of the head, if the block has one.
    pub head: Option<u64>,
    /// The unit at which the keys begin.
    pub keys: u64,
    /// The unit at which the entries begin.
    pub entries: u64,
}

impl Children {
    /// Returns the unit that the parent points to; 0 if the children have no unit.
    pub fn first_unit(self) -> u64 {
        match self {
            Children::None | Children::Inline => 0,
            Children::SingleEntry(unit) => unit,
            Children::Block(block) => block.head.unwrap_or(block.keys),
        }
    }
}

/// Allocates the blocks of one order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockAllocator {
    pub width: NodeWidth,
    /// Whether the blocks are of the highest order.
    pub is_longest: bool,
    pub parents: ParentKind,
    /// The first free unit.
    pub cursor: u64,
}

impl BlockAllocator {
    /// Allocates the block of the next parent, which has `count` children.
    pub fn allocate(&mut self, count: u64) -> Children {
        match (count, self.parents) {
            (0, _) => Children::None,
            (1, ParentKind::Entries) if self.is_longest => Children::Inline,
            (1, ParentKind::Entries) => {
                self.cursor += 1;
                Children::SingleEntry(self.cursor - 1)
            }
            _ => {
                let shape = BlockShape::new(count, self.width, self.is_longest);
                let headed =
                    self.parents == ParentKind::Buckets && count >= u64::from(MANY_CHILDREN);
                let keys = if headed {
                    (self.cursor + 1).next_multiple_of(GPU_CACHE_LINE)
                } else {
                    shape.align(self.cursor, self.width)
                };
                self.cursor = keys + shape.units();
                let head = headed.then(|| keys - 1);
                Children::Block(BlockOffsets { head, keys, entries: keys + shape.keys })
            }
        }
    }

    /// Returns the number of units of the section, rounded up to whole lines.
    pub fn total_units(&self) -> u64 {
        self.cursor.next_multiple_of(GPU_CACHE_LINE)
    }
}
