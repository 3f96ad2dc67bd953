//! The blocks that partial translations consist of, as a shift-reduce parser sees them: the
//! backward states of hierarchical reordering (`docs/spec/phrase-decoding.md` 3.6).
//!
//! A phrase that touches the block on top is merged with it. The result is merged with the block
//! below as long as the two touch. Any other phrase begins a new block. Everything inside a block
//! is translated.
//!
//! Stacks share what lies below their tops: a stack is its top block and the number of the stack
//! below. Equal stacks have the same number, so a shift needs no copy of a stack.

use hashbrown::HashTable;

use crate::span::Span;

/// The stacks of blocks of a sentence, by number.
#[derive(Default)]
pub(super) struct BlockStacks {
    stacks: Vec<BlockStack>,
    numbers: HashTable<u32>,
}

/// A stack of at least one block.
#[derive(Clone, Copy, PartialEq, Eq)]
struct BlockStack {
    top: Span,
    /// The number of the stack without its top.
    below: u32,
}

impl BlockStacks {
    /// The stack without blocks.
    pub(super) const EMPTY: u32 = 0;

    /// Forgets all stacks.
    pub(super) fn clear(&mut self) {
        self.stacks.clear();
        self.numbers.clear();
    }

    /// Returns the stack with this number; `None` for the empty one.
    #[inline(always)]
    fn get(&self, number: u32) -> Option<BlockStack> {
        (number != BlockStacks::EMPTY).then(|| self.stacks[number as usize - 1])
    }

    /// Returns the signed distance between `span` and the block on top of `stack`: 1 right after
    /// it, -1 right before it. The top of an empty stack is the position before the sentence.
    #[inline]
    pub(super) fn distance(&self, stack: u32, span: Span) -> i64 {
        match self.get(stack) {
            None => i64::from(span.start) + 1,
            Some(BlockStack { top, .. }) if span.start > top.start => {
                i64::from(span.start) - i64::from(top.end) + 1
            }
            Some(BlockStack { top, .. }) => i64::from(span.end) - i64::from(top.start) - 1,
        }
    }

    /// Puts `span` on `stack`, merges spans that touch, and returns the number of the result.
    #[inline]
    pub(super) fn shift(&mut self, stack: u32, span: Span) -> u32 {
        let (mut top, mut below) = (span, stack);
        while let Some(next) = self.get(below) {
            if top.start == next.top.end {
                top.start = next.top.start;
            } else if top.end == next.top.start {
                top.end = next.top.end;
            } else {
                break;
            }
            below = next.below;
        }
        let (stacks, new) = (&self.stacks, BlockStack { top, below });
        if let Some(&number) =
            self.numbers.find(hash(new), |&number| stacks[number as usize - 1] == new)
        {
            return number;
        }
        self.stacks.push(new);
        let (stacks, number) = (&self.stacks, self.stacks.len() as u32);
        self.numbers.insert_unique(hash(new), number, |&number| hash(stacks[number as usize - 1]));
        number
    }
}

#[inline(always)]
fn hash(BlockStack { top, below }: BlockStack) -> u64 {
    let key = u64::from(below) << 32 | u64::from(top.start) << 16 ^ u64::from(top.end);
    let product = u128::from(key) * 0x9e37_79b9_7f4a_7c15;
    (product ^ product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Phrases in the order of translation, with the distance of each and the
    /// stack after it, worked out by hand.
    #[test]
    fn blocks_merge_while_they_touch() {
        let mut stacks = BlockStacks::default();
        type Bounds = (u32, u32);
        let steps: [(Bounds, i64, &[Bounds]); 7] = [
            ((2, 4), 3, &[(2, 4)]),
            ((6, 7), 3, &[(2, 4), (6, 7)]),
            ((5, 6), -1, &[(2, 4), (5, 7)]),
            ((4, 5), -1, &[(2, 7)]),
            ((9, 10), 3, &[(2, 7), (9, 10)]),
            ((0, 1), -9, &[(2, 7), (9, 10), (0, 1)]),
            ((1, 2), 1, &[(2, 7), (9, 10), (0, 2)]),
        ];
        let mut stack = BlockStacks::EMPTY;
        for ((start, end), distance, blocks) in steps {
            let span = Span { start, end };
            let found = stacks.distance(stack, span);
            stack = stacks.shift(stack, span);
            let (mut spans, mut rest) = (Vec::new(), stack);
            while let Some(BlockStack { top, below }) = stacks.get(rest) {
                spans.insert(0, (top.start, top.end));
                rest = below;
            }
            assert_eq!((found, &spans[..]), (distance, blocks), "{start}..{end}");
        }
    }

    /// Two ways to the same blocks end in the same stack.
    #[test]
    fn equal_stacks_have_one_number() {
        let mut stacks = BlockStacks::default();
        let mut after = |phrases: &[(u32, u32)]| {
            phrases.iter().fold(BlockStacks::EMPTY, |stack, &(start, end)| {
                stacks.shift(stack, Span { start, end })
            })
        };
        let one = after(&[(0, 2), (4, 6)]);
        assert_eq!(after(&[(0, 1), (1, 2), (5, 6), (4, 5)]), one);
        assert_ne!(after(&[(4, 6), (0, 2)]), one, "another block is on top");
        assert_ne!(after(&[(0, 2), (5, 6)]), one);
        assert_eq!(after(&[(4, 6), (0, 2), (2, 4)]), after(&[(0, 6)]));
    }
}
