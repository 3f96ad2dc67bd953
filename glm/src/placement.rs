//! Where the blocks of an order begin: one after another, in the order of their
//! parents, each at the first unit that suits it. Builder and checker walk through an
//! order the same way, so a sound file is one that this finds again.

use crate::format::{LINE, MANY, NodeWidth, Shape};

/// What the parents of an order's n-grams are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parents {
    /// Words: an only child has a block like others.
    Words,
    /// N-grams with an entry each, which holds an only child's word.
    Entries,
    /// N-grams in buckets, which have room for small numbers of children only.
    Buckets,
}

/// Where an n-gram's children are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    /// There are none.
    None,
    /// An only child of the highest order, which its parent holds.
    Inline,
    /// An only child, whose entry is at this unit.
    Single(u64),
    /// A block.
    Block(Block),
}

/// The children of one n-gram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Block {
    /// The unit of the head, where there is one.
    pub head: Option<u64>,
    /// The unit at which the keys begin.
    pub keys: u64,
    /// The unit at which what is known of each begins.
    pub entries: u64,
}

impl Family {
    /// The unit that the parent names; 0 where it names none.
    pub fn first(self) -> u64 {
        match self {
            Family::None | Family::Inline => 0,
            Family::Single(unit) => unit,
            Family::Block(block) => block.head.unwrap_or(block.keys),
        }
    }
}

/// The walk through the blocks of one order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub width: NodeWidth,
    /// The blocks are of the highest order.
    pub longest: bool,
    pub parents: Parents,
    /// The first unit that is free.
    pub cursor: u64,
}

impl Placement {
    /// The next block, of `count` children.
    pub fn place(&mut self, count: u64) -> Family {
        match (count, self.parents) {
            (0, _) => Family::None,
            (1, Parents::Entries) if self.longest => Family::Inline,
            (1, Parents::Entries) => {
                self.cursor += 1;
                Family::Single(self.cursor - 1)
            }
            _ => {
                let shape = Shape::new(count, self.width, self.longest);
                let headed = self.parents == Parents::Buckets && count >= u64::from(MANY);
                let keys = if headed {
                    (self.cursor + 1).next_multiple_of(LINE)
                } else {
                    shape.place(self.cursor, self.width)
                };
                self.cursor = keys + shape.units();
                let head = headed.then(|| keys - 1);
                Family::Block(Block { head, keys, entries: keys + shape.keys })
            }
        }
    }

    /// The units of the section: whole lines.
    pub fn units(&self) -> u64 {
        self.cursor.next_multiple_of(LINE)
    }
}
