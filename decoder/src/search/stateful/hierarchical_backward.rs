//! Backward hierarchical reordering: the state is the stack of blocks, the value
//! the phrase's score for its orientation towards the block on top.

use super::slice_interner::SliceInterner;
use super::{ComponentValues, FeatureInput, StatefulScorer};
use crate::features::{Orientations, Span, shift_reduce};
use crate::system::System;

pub(super) struct HierarchicalBackwardScorer {
    orientations: Orientations,
    column: usize,
    /// Stacks as starts and ends, from the bottom.
    stacks: SliceInterner,
    /// Scratch: a stack, and the same as numbers.
    stack: Vec<Span>,
    row: Vec<u32>,
}

impl HierarchicalBackwardScorer {
    pub(super) fn new(orientations: Orientations, column: usize) -> Self {
        let (stack, row) = (Vec::new(), Vec::new());
        HierarchicalBackwardScorer {
            orientations,
            column,
            stacks: SliceInterner::default(),
            stack,
            row,
        }
    }
}

impl HierarchicalBackwardScorer {
    /// Leaves in `stack` the blocks behind `step`; returns where the phrase's score
    /// stands in its row.
    fn shift_span(&mut self, input: &FeatureInput<'_>) -> usize {
        let blocks = self.stacks.get(input.state).chunks_exact(2);
        self.stack.clear();
        self.stack.extend(blocks.map(|block| Span { start: block[0], end: block[1] }));
        let distance = shift_reduce(&mut self.stack, input.expansion.span);
        self.column + self.orientations.orientation_at_distance(distance)
    }
}

impl StatefulScorer for HierarchicalBackwardScorer {
    fn start(&mut self, _: &System) -> u32 {
        self.stacks.clear();
        self.stacks.intern(&[])
    }

    fn apply(&mut self, input: &FeatureInput<'_>, addends: &mut [f32]) -> u32 {
        let cell = self.shift_span(input);
        addends[0] = input.space.options.reordering(input.expansion.option, cell);
        self.row.clear();
        self.row.extend(self.stack.iter().flat_map(|block| [block.start, block.end]));
        self.stacks.intern(&self.row)
    }

    fn add_unweighted(&mut self, input: &FeatureInput<'_>, parts: ComponentValues<'_>) {
        let cell = self.shift_span(input);
        parts.values[parts.reordering_components[cell]] += parts.reordering_scores[cell];
    }
}
