//! Features with a state of their own that are no language models.
//!
//! Each interns its states within a sentence, as the language models do, and takes
//! part in the joint state of a hypothesis (`super::JointStates`), by which
//! hypotheses are recombined: a hypothesis does not grow with the features. What an
//! expansion adds to the score is answered together with the language models'
//! scores, in the same row, as weighted addends.
//!
//! A system without such features has none of this: a batch is answered as if the
//! module were not there.

mod forward_scores;
mod operations;
mod slices;
mod span_stack;

use forward_scores::ForwardScores;
use operations::Operations;
use span_stack::BackwardBlocks;

use super::hypothesis::{Hypothesis, HypothesisId};
use super::language_models::JointStates;
use super::{Search, SearchSpace};
use crate::features::{Orientations, Span};
use crate::options::OptionId;
use crate::system::System;

/// A feature with a state, as the system knows it.
#[derive(Clone, Debug)]
pub(crate) enum Context {
    /// Backward hierarchical reordering, its scores from this column on.
    BackwardBlocks {
        /// Which orientations are told apart.
        orientations: Orientations,
        /// The first column of an option's row of reordering scores.
        column: usize,
    },
    /// No feature but the exact rule of recombination: phrases whose forward
    /// reordering scores, in these columns, differ are kept apart.
    ForwardScores(Vec<usize>),
    /// The operation sequence model of this number.
    Operations(usize),
}

impl Context {
    /// How many addends it gives for an expansion.
    pub(crate) fn addends(&self, system: &System) -> usize {
        match *self {
            Context::BackwardBlocks { .. } => 1,
            Context::ForwardScores(_) => 0,
            Context::Operations(model) => system.operations[model].weights.len(),
        }
    }
}

/// A hypothesis with one more phrase, about to be scored.
#[derive(Clone, Copy)]
pub(crate) struct Expansion {
    /// What is extended.
    pub(crate) previous: HypothesisId,
    /// By which phrase.
    pub(crate) option: OptionId,
    /// Where.
    pub(crate) span: Span,
}

/// What a feature sees of an expansion.
struct Step<'a> {
    space: &'a SearchSpace<'a>,
    hypotheses: &'a [Hypothesis],
    expansion: Expansion,
    /// The feature's state before.
    state: u32,
}

/// The states and scores of one feature within a sentence.
trait ContextFeature: Send {
    /// Begins a sentence; returns the state at its beginning.
    fn start(&mut self, system: &System) -> u32;

    /// Writes what `step` adds to the score, weighted, to `addends`, and returns
    /// the state behind it.
    fn apply(&mut self, step: &Step<'_>, addends: &mut [f32]) -> u32;
}

/// All features with a state that are no language models.
pub(crate) struct Contexts {
    features: Vec<(Box<dyn ContextFeature>, usize)>,
}

impl Contexts {
    /// Those of `system`.
    pub(crate) fn new(system: &System) -> Self {
        let feature = |context: &Context| -> Box<dyn ContextFeature> {
            match context {
                &Context::BackwardBlocks { orientations, column } => {
                    Box::new(BackwardBlocks::new(orientations, column))
                }
                Context::ForwardScores(columns) => Box::new(ForwardScores::new(columns.clone())),
                &Context::Operations(model) => Box::new(Operations::new(model)),
            }
        };
        let contexts = system.contexts.iter();
        Contexts { features: contexts.map(|c| (feature(c), c.addends(system))).collect() }
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.features.is_empty()
    }

    /// Begins a sentence and appends the states at its beginning to `states`.
    pub(crate) fn start(&mut self, system: &System, states: &mut Vec<u32>) {
        states.extend(self.features.iter_mut().map(|(feature, _)| feature.start(system)));
    }

    /// Answers an expansion: its addends, feature by feature, and the states behind
    /// it. The features' states stand in joint states from `first` on.
    pub(super) fn answer(
        &mut self,
        space: &SearchSpace<'_>,
        search: &dyn Search,
        expansion: Expansion,
        joint: &JointStates,
        first: usize,
        (mut addends, states): (&mut [f32], &mut [u32]),
    ) {
        let hypotheses = search.hypotheses();
        let before = hypotheses[expansion.previous.0 as usize].state;
        for (i, (feature, count)) in self.features.iter_mut().enumerate() {
            let (own, rest) = addends.split_at_mut(*count);
            addends = rest;
            let state = joint.state(before, first + i);
            states[i] = feature.apply(&Step { space, hypotheses, expansion, state }, own);
        }
    }
}
