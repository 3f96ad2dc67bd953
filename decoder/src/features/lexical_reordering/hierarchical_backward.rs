//! Backward hierarchical reordering: the state is the stack of blocks, the value
//! the phrase's score for its orientation towards the block on top.

use miriam_textio::SliceInterner;

use super::OrientationClasses;
use super::span_stack::shift_reduce;
use crate::features::expansion_feature::{ExpansionInput, ValueSources};
use crate::features::stateful_feature::{StatefulScorer, hash_row};
use crate::span::Span;

/// Backward hierarchical scores of a reordering model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HierarchicalBackward {
    pub(super) orientations: OrientationClasses,
    /// The first column of the backward scores in an option's row.
    pub(super) column: usize,
}

/// The stacks of blocks of a sentence.
pub(crate) struct HierarchicalBackwardScorer {
    feature: HierarchicalBackward,
    /// Stacks as starts and ends, from the bottom.
    stacks: SliceInterner<u32>,
    /// Scratch: a stack.
    stack: Vec<Span>,
    /// Scratch: the starts and ends of `stack`.
    row: Vec<u32>,
}

impl HierarchicalBackwardScorer {
    /// Makes a scorer without states.
    pub(crate) fn new(feature: HierarchicalBackward) -> Self {
        let (stack, row) = (Vec::new(), Vec::new());
        HierarchicalBackwardScorer { feature, stacks: SliceInterner::default(), stack, row }
    }

    /// Shifts `span` onto the blocks of `state`, in `stack`; returns the column of the phrase's
    /// score in its row.
    fn shift_span(&self, state: u32, span: Span, stack: &mut Vec<Span>) -> usize {
        let blocks = self.stacks.get(state).chunks_exact(2);
        stack.clear();
        stack.extend(blocks.map(|block| Span { start: block[0], end: block[1] }));
        let distance = shift_reduce(stack, span);
        self.feature.column + self.feature.orientations.orientation_at_distance(distance)
    }
}

impl StatefulScorer for HierarchicalBackwardScorer {
    fn start(&mut self) -> u32 {
        self.stacks.clear();
        self.stacks.intern(&[], hash_row)
    }

    fn score(&mut self, input: &ExpansionInput<'_>, state: u32, scores: &mut [f32]) -> u32 {
        let mut stack = std::mem::take(&mut self.stack);
        let column = self.shift_span(state, input.transition.span, &mut stack);
        scores[0] = input.options.reordering(input.option, column);
        self.row.clear();
        self.row.extend(stack.iter().flat_map(|block| [block.start, block.end]));
        self.stack = stack;
        self.stacks.intern(&self.row, hash_row)
    }

    fn add_values(
        &self,
        input: &ExpansionInput<'_>,
        state: u32,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        let column = self.shift_span(state, input.transition.span, &mut Vec::new());
        values[sources.reordering_components[column]] += sources.reordering[column];
    }
}
