//! Backward hierarchical reordering. The state is a stack of blocks. The value is the phrase's
//! score for its orientation towards the block on top.

use super::OrientationClasses;
use super::block_stacks::BlockStacks;
use crate::features::expansion_feature::{ExpansionInput, ValueSources};
use crate::features::stateful_feature::StatefulScorer;
use crate::span::Span;

/// Backward hierarchical scores of a reordering model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HierarchicalBackward {
    pub(in crate::features) orientations: OrientationClasses,
    /// The first column of the backward scores in an option's row.
    pub(in crate::features) column: usize,
}

/// The stacks of blocks of a sentence.
pub(crate) struct HierarchicalBackwardScorer {
    feature: HierarchicalBackward,
    stacks: BlockStacks,
}

impl HierarchicalBackwardScorer {
    /// Creates a scorer without states.
    pub(crate) fn new(feature: HierarchicalBackward) -> Self {
        HierarchicalBackwardScorer { feature, stacks: BlockStacks::default() }
    }

    /// Returns the column of a phrase's score in its option's row, and the next state. The phrase
    /// translates `span` and follows the blocks of `state`.
    #[inline(always)]
    pub(crate) fn column_and_next(&mut self, state: u32, span: Span) -> (usize, u32) {
        (self.column(state, span), self.stacks.shift(state, span))
    }

    /// Returns the column of the score of a phrase in its option's row. The phrase translates
    /// `span` and follows the blocks of `state`.
    #[inline(always)]
    fn column(&self, state: u32, span: Span) -> usize {
        let distance = self.stacks.distance(state, span);
        self.feature.column + self.feature.orientations.orientation_at_distance(distance)
    }
}

impl StatefulScorer for HierarchicalBackwardScorer {
    fn as_hierarchical_backward(&mut self) -> Option<&mut HierarchicalBackwardScorer> {
        Some(self)
    }

    fn start(&mut self) -> u32 {
        self.stacks.clear();
        BlockStacks::EMPTY
    }

    fn score(&mut self, input: &ExpansionInput<'_>, state: u32, scores: &mut [f32]) -> u32 {
        let (column, next) = self.column_and_next(state, input.transition.span);
        scores[0] = input.options.reordering(input.option, column);
        next
    }

    fn add_values(
        &self,
        input: &ExpansionInput<'_>,
        state: u32,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        let column = self.column(state, input.transition.span);
        values[sources.reordering_components[column]] += sources.reordering[column];
    }
}
