//! Distortion: minus the length of a jump in words, charged when the jump is made or as
//! early as it is known (`docs/spec/phrase-decoding.md` 3.6, 5.2).

use super::expansion_feature::{ExpansionFeature, ExpansionInput, Transition};
use super::{FeatureSet, LoadContext, RecombinationKey};
use crate::coverage::Coverages;
use crate::hypothesis::Hypothesis;
use crate::span::Span;

/// Returns the length of the jump to `span` from the end of the previous phrase, in words.
#[inline]
pub(crate) fn jump_distance(last_end: u32, span: Span) -> i64 {
    (i64::from(last_end) - i64::from(span.start)).abs()
}

/// Returns the total length, in words, of the jumps that become unavoidable with `span`. As in
/// Moore and Quirk (2007), a phrase that leaves a gap pays for jumping over it and back, so that
/// later phrases in the gap cost nothing. `last_end` is the end of the previous phrase (0 at the
/// beginning). `first_gap` is the first position that the earlier phrases do not cover.
#[inline]
fn early_distortion_distance(last_end: u32, span: Span, first_gap: u32) -> i64 {
    let length = i64::from(span.end - span.start);
    if span.start == first_gap {
        0
    } else if span.end < last_end {
        2 * length
    } else {
        // Words skipped since the covered prefix, or since the previous phrase.
        2 * (i64::from(span.start - first_gap.max(last_end)) + length)
    }
}

/// The length of a jump, charged when it is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Distortion {
    component: usize,
    weight: f32,
}

/// Adds the feature to `set`, in the form that the settings select.
pub(super) fn load(set: &mut FeatureSet, component: usize, context: &LoadContext<'_>) {
    set.recombination_key = RecombinationKey { uses_end: true, ..set.recombination_key };
    let weight = 0.0;
    set.expansion.push(if context.early_distortion {
        ExpansionFeature::EarlyDistortion(EarlyDistortion { component, weight })
    } else {
        ExpansionFeature::Distortion(Distortion { component, weight })
    });
}

impl Distortion {
    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.weight = weights[self.component];
    }

    #[inline(always)]
    fn value(transition: &Transition) -> f32 {
        -transition.distance
    }

    /// Returns the weighted score of a transition.
    #[inline(always)]
    pub(crate) fn score(&self, transition: &Transition) -> f32 {
        Self::value(transition) * self.weight
    }

    pub(super) fn add_value(&self, transition: &Transition, values: &mut [f32]) {
        values[self.component] += Self::value(transition);
    }
}

/// The jumps that become unavoidable, charged as soon as they do.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EarlyDistortion {
    component: usize,
    weight: f32,
}

impl EarlyDistortion {
    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.weight = weights[self.component];
    }

    // Not inlined, to keep the loop over common features small.
    #[inline(never)]
    fn value(coverages: &Coverages, previous: &Hypothesis, span: Span) -> f32 {
        let first_gap = coverages.summary(previous.coverage).first_gap;
        -(early_distortion_distance(previous.span.end, span, first_gap) as f32)
    }

    #[inline(always)]
    pub(super) fn score(&self, input: &ExpansionInput<'_>) -> f32 {
        Self::value(input.coverages, input.previous, input.transition.span) * self.weight
    }

    pub(super) fn add_value(&self, input: &ExpansionInput<'_>, values: &mut [f32]) {
        values[self.component] +=
            Self::value(input.coverages, input.previous, input.transition.span);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    #[test]
    fn jumps_are_measured_between_phrases() {
        assert_eq!(jump_distance(0, span(2, 3)), 2);
        assert_eq!(jump_distance(5, span(2, 3)), 3);
    }

    /// The four cases of `docs/spec/phrase-decoding.md` 5.2.
    #[test]
    fn early_jumps() {
        assert_eq!(early_distortion_distance(0, span(0, 3), 0), 0, "next to the prefix");
        assert_eq!(early_distortion_distance(7, span(2, 4), 2), 0, "back in the gap");
        assert_eq!(early_distortion_distance(9, span(4, 6), 2), 4, "left of the previous phrase");
        assert_eq!(
            early_distortion_distance(2, span(4, 6), 2),
            8,
            "away from the prefix: 2 and 2 words"
        );
        assert_eq!(early_distortion_distance(0, span(1, 2), 0), 4, "at the beginning");
        assert_eq!(
            early_distortion_distance(6, span(7, 9), 2),
            6,
            "right of the previous phrase: 1 and 2"
        );
    }
}
