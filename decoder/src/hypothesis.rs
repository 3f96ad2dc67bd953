//! Hypotheses: partial translations, 32 bytes each.

use crate::coverage::CoverageId;
use crate::span::Span;
use crate::translation_options::OptionId;

/// The id of a hypothesis within a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HypothesisId(pub(crate) u32);

impl HypothesisId {
    /// The hypothesis that has translated nothing.
    pub(crate) const INITIAL: HypothesisId = HypothesisId(0);
}

/// A partial translation: its last phrase and the hypothesis before it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hypothesis {
    /// The weighted score so far.
    pub(crate) total: f32,
    /// The joint state of the language models and other features with states.
    pub(crate) joint_state: u32,
    /// The hypothesis that it extends; the initial one names itself.
    pub(crate) previous: HypothesisId,
    /// Its last phrase; meaningless for the initial one.
    pub(crate) option: OptionId,
    /// The span of the last phrase; empty at 0 for the initial one.
    pub(crate) span: Span,
    /// The covered positions.
    pub(crate) coverage: CoverageId,
    /// `total` plus the estimated score of the words that are not yet translated.
    pub(crate) future_score: f32,
}

const _: () = assert!(size_of::<Hypothesis>() == 32);

impl Hypothesis {
    /// Returns the hypothesis that has translated nothing.
    pub(crate) fn initial(joint_state: u32) -> Self {
        Hypothesis {
            total: 0.0,
            joint_state,
            previous: HypothesisId::INITIAL,
            option: OptionId(u32::MAX),
            span: Span { start: 0, end: 0 },
            coverage: CoverageId::EMPTY,
            future_score: 0.0,
        }
    }

    /// Whether this is the hypothesis that has translated nothing.
    #[inline(always)]
    pub(crate) fn is_initial(&self) -> bool {
        self.option.0 == u32::MAX
    }
}
