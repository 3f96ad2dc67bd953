//! Forward hierarchical reordering: it needs no state, because the coverage tells whether
//! a block may still join the previous phrase.

use super::OrientationClasses;
use crate::coverage::Coverages;
use crate::features::expansion_feature::{ExpansionInput, ValueSources};
use crate::hypothesis::Hypothesis;
use crate::span::Span;

/// Hierarchical forward scores: the previous phrase's score for the orientation of the block to
/// which this phrase will belong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HierarchicalForward {
    pub(in crate::features) orientations: OrientationClasses,
    /// The first column of the forward scores in an option's row.
    pub(in crate::features) column: usize,
}

impl HierarchicalForward {
    /// Returns the column of the score in the previous phrase's row. Not inlined, to keep the loop
    /// over common features small.
    #[inline(never)]
    fn column_of(&self, coverages: &Coverages, previous: &Hypothesis, span: Span) -> usize {
        self.column
            + self.orientations.hierarchical_orientation(previous.span, span, |position| {
                coverages.is_covered(previous.coverage, position)
            })
    }

    #[inline(always)]
    pub(in crate::features) fn score(&self, input: &ExpansionInput<'_>) -> f32 {
        if input.previous.is_initial() {
            return 0.0;
        }
        let column = self.column_of(input.coverages, input.previous, input.transition.span);
        input.options.reordering(input.previous.option, column)
    }

    pub(in crate::features) fn add_value(
        &self,
        input: &ExpansionInput<'_>,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        if !input.previous.is_initial() {
            let column = self.column_of(input.coverages, input.previous, input.transition.span);
            values[sources.reordering_components[column]] += sources.previous_reordering[column];
        }
    }
}
