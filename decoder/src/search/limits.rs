//! The limits of a search: the limits of the settings, or narrower limits when time runs out.

use miriam_textio::Ln;

use super::candidates::StackLimits;
use crate::config::Settings;

/// The width of the search of a line; `None` for the value in the settings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SearchWidth {
    /// The number of hypotheses kept per stack.
    pub stack_size: Option<usize>,
    /// The pop limit of a stack in cube pruning.
    pub pop_limit: Option<usize>,
    /// The beam, a probability.
    pub beam_threshold: Option<f32>,
}

/// The bounds of one search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchLimits {
    /// The number of hypotheses kept per stack, at least 1.
    pub(crate) stack_size: usize,
    /// The pop limit of a stack in cube pruning.
    pub(crate) pop_limit: usize,
    /// The farthest jump in words; `None` for no limit.
    pub(crate) distortion_limit: Option<i64>,
    /// The beam, a natural logarithm.
    beam: f32,
}

impl SearchLimits {
    /// Returns the limits of `settings`, overridden by the values that `width` has.
    pub(crate) fn from_settings(settings: &Settings, width: SearchWidth) -> Self {
        let beam = width.beam_threshold.map(|beam| Ln::from_probability(beam).0);
        SearchLimits {
            stack_size: width.stack_size.unwrap_or(settings.stack_size).max(1),
            pop_limit: width.pop_limit.unwrap_or(settings.pop_limit),
            distortion_limit: settings.distortion_limit,
            beam: beam.unwrap_or(settings.beam_threshold),
        }
    }

    /// Returns limits with stacks and pops divided by eight.
    pub(crate) fn narrowed(self) -> Self {
        fn eighth(n: usize) -> usize {
            n.div_ceil(8)
        }
        SearchLimits {
            stack_size: eighth(self.stack_size),
            pop_limit: eighth(self.pop_limit),
            ..self
        }
    }

    /// Returns limits of a greedy search from left to right, with hardly any alternatives. Its time
    /// is linear in the length. It finds a translation unless markup leaves a word without options.
    pub(crate) fn to_greedy(self) -> Self {
        SearchLimits {
            stack_size: self.stack_size.min(8),
            pop_limit: self.pop_limit.clamp(1, 8),
            distortion_limit: Some(0),
            ..self
        }
    }

    /// Returns the limits of one stack or mini-stack.
    #[inline]
    pub(crate) fn stack_limits(&self) -> StackLimits {
        StackLimits { size: self.stack_size, beam: self.beam }
    }
}
