//! How wide a search goes: as the settings say, or narrower when time runs out.

use super::candidates::Limits;
use crate::Settings;

/// The bounds of one search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchLimits {
    /// Hypotheses kept a stack, at least 1.
    pub(crate) stack: usize,
    /// Pops a stack in cube pruning.
    pub(crate) pops: usize,
    /// The farthest jump in words; nothing for no limit.
    pub(crate) distortion: Option<i64>,
    /// The beam, a natural logarithm.
    beam: f32,
}

impl SearchLimits {
    /// What `settings` ask for.
    pub(crate) fn of(settings: &Settings) -> Self {
        SearchLimits {
            stack: settings.stack_size,
            pops: settings.pop_limit,
            distortion: settings.distortion_limit,
            beam: settings.beam,
        }
    }

    /// Stacks and pops an eighth.
    pub(crate) fn narrow(self) -> Self {
        let eighth = |n: usize| n.div_ceil(8);
        SearchLimits { stack: eighth(self.stack), pops: eighth(self.pops), ..self }
    }

    /// From left to right with next to no alternatives. Time is linear in the
    /// length, and there always is a translation, since every word has one.
    pub(crate) fn greedy(self) -> Self {
        SearchLimits {
            stack: self.stack.min(8),
            pops: self.pops.clamp(1, 8),
            distortion: Some(0),
            ..self
        }
    }

    /// What holds for one stack or mini-stack.
    #[inline]
    pub(crate) fn of_stack(&self) -> Limits {
        Limits { size: self.stack, beam: self.beam }
    }
}
