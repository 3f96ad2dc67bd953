//! Backward hierarchical reordering: the state is the stack of blocks, the value
//! the phrase's score for its orientation towards the block on top.

use super::slices::Slices;
use super::{ContextFeature, Parts, Step};
use crate::features::{Orientations, Span, shift_reduce};
use crate::system::System;

pub(super) struct BackwardBlocks {
    orientations: Orientations,
    column: usize,
    /// Stacks as starts and ends, from the bottom.
    stacks: Slices,
    /// Scratch: a stack, and the same as numbers.
    stack: Vec<Span>,
    row: Vec<u32>,
}

impl BackwardBlocks {
    pub(super) fn new(orientations: Orientations, column: usize) -> Self {
        let (stack, row) = (Vec::new(), Vec::new());
        BackwardBlocks { orientations, column, stacks: Slices::default(), stack, row }
    }
}

impl BackwardBlocks {
    /// Leaves in `stack` the blocks behind `step`; returns where the phrase's score
    /// stands in its row.
    fn shift(&mut self, step: &Step<'_>) -> usize {
        let blocks = self.stacks.get(step.state).chunks_exact(2);
        self.stack.clear();
        self.stack.extend(blocks.map(|block| Span { start: block[0], end: block[1] }));
        let distance = shift_reduce(&mut self.stack, step.expansion.span);
        self.column + self.orientations.at_distance(distance)
    }
}

impl ContextFeature for BackwardBlocks {
    fn start(&mut self, _: &System) -> u32 {
        self.stacks.clear();
        self.stacks.intern(&[])
    }

    fn apply(&mut self, step: &Step<'_>, addends: &mut [f32]) -> u32 {
        let cell = self.shift(step);
        addends[0] = step.space.options.reordering(step.expansion.option, cell);
        self.row.clear();
        self.row.extend(self.stack.iter().flat_map(|block| [block.start, block.end]));
        self.stacks.intern(&self.row)
    }

    fn explain(&mut self, step: &Step<'_>, parts: Parts<'_>) {
        let cell = self.shift(step);
        parts.values[parts.components[cell]] += parts.reordering[cell];
    }
}
