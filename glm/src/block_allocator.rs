//! Where the blocks of an order begin: one after another, in the order of their
//! parents, each at the first unit that suits it. Builder and checker walk through an
//! order the same way, so a sound file is one that this finds again.

use crate::format::{BlockShape, GPU_CACHE_LINE, MANY_CHILDREN, NodeWidth};

/// What the parents of an order's n-grams are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParentKind {
    /// Words: an only child has a block like others.
    Words,
    /// N-grams with an entry each, which holds an only child's word.
    Entries,
    /// N-grams in buckets, which have room for small numbers of children only.
    Buckets,
}

/// Where an n-gram's children are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Children {
    /// There are none.
    None,
    /// An only child of the highest order, which its parent holds.
    Inline,
    /// An only child, whose entry is at this unit.
    SingleEntry(u64),
    /// A block.
    Block(BlockOffsets),
}

/// The children of one n-gram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockOffsets {
    /// The unit of the head, where there is one.
    pub head: Option<u64>,
    /// The unit at which the keys begin.
    pub keys: u64,
    /// The unit at which what is known of each begins.
    pub entries: u64,
}

impl Children {
    /// The unit that the parent names; 0 where it names none.
    pub fn first_unit(self) -> u64 {
        match self {
            Children::None | Children::Inline => 0,
            Children::SingleEntry(unit) => unit,
            Children::Block(block) => block.head.unwrap_or(block.keys),
        }
    }
}

/// The walk through the blocks of one order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockAllocator {
    pub width: NodeWidth,
    /// The blocks are of the highest order.
    pub is_longest: bool,
    pub parents: ParentKind,
    /// The first unit that is free.
    pub cursor: u64,
}

impl BlockAllocator {
    /// The next block, of `count` children.
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

    /// The units of the section: whole lines.
    pub fn total_units(&self) -> u64 {
        self.cursor.next_multiple_of(GPU_CACHE_LINE)
    }
}
