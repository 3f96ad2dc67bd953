//! Phrase-based reordering: the orientation of a phrase towards the previous one.

use super::OrientationClasses;
use crate::features::expansion_feature::{ExpansionInput, ValueSources};

/// Whether the previous phrase begins where `input`'s phrase ends.
#[inline(always)]
fn swaps(input: &ExpansionInput<'_>) -> bool {
    input.previous.span.start == input.transition.span.end
}

/// Backward scores: the phrase's score for its orientation towards the previous one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BackwardReordering {
    pub(crate) orientations: OrientationClasses,
    /// The first column of the backward scores in an option's row.
    pub(super) column: usize,
}

impl BackwardReordering {
    /// Returns the column of `orientation`.
    #[inline(always)]
    pub(crate) fn column(&self, orientation: usize) -> usize {
        self.column + orientation
    }

    #[inline(always)]
    fn column_of(&self, input: &ExpansionInput<'_>) -> usize {
        self.column(self.orientations.orientation_at(input.transition.position, swaps(input)))
    }

    #[inline(always)]
    pub(in crate::features) fn score(&self, input: &ExpansionInput<'_>) -> f32 {
        input.options.reordering(input.option, self.column_of(input))
    }

    pub(in crate::features) fn add_value(
        &self,
        input: &ExpansionInput<'_>,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        let column = self.column_of(input);
        values[sources.reordering_components[column]] += sources.reordering[column];
    }
}

/// Forward scores: the previous phrase's score for the orientation of this one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ForwardReordering {
    pub(crate) orientations: OrientationClasses,
    /// The first column of the forward scores in an option's row.
    pub(super) column: usize,
}

impl ForwardReordering {
    /// Returns the column of `orientation`.
    #[inline(always)]
    pub(crate) fn column(&self, orientation: usize) -> usize {
        self.column + orientation
    }

    /// Returns the column of the score in the previous phrase's row; `None` at the beginning.
    #[inline(always)]
    fn column_of(&self, input: &ExpansionInput<'_>) -> Option<usize> {
        if input.previous.is_initial() {
            return None;
        }
        let position = input.transition.position;
        Some(self.column(self.orientations.orientation_at(position, swaps(input))))
    }

    #[inline(always)]
    pub(in crate::features) fn score(&self, input: &ExpansionInput<'_>) -> Option<f32> {
        let column = self.column_of(input)?;
        Some(input.options.reordering(input.previous.option, column))
    }

    pub(in crate::features) fn add_value(
        &self,
        input: &ExpansionInput<'_>,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        if let Some(column) = self.column_of(input) {
            values[sources.reordering_components[column]] += sources.previous_reordering[column];
        }
    }
}
