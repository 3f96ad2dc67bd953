//! Features with a state of their own that are no language models.
//!
//! Each interns its states within a sentence, as the language models do, and takes
//! part in the joint state of a hypothesis (`super::JointStates`), by which
//! hypotheses are recombined: a hypothesis does not grow with the features. What an
//! expansion adds to the score are weighted addends.
//!
//! A system without such features pays one test an expansion, a usual one nothing.

mod forward_scores;
mod operations;
mod slices;
mod span_stack;

use forward_scores::ForwardScores;
use operations::Operations;
use span_stack::BackwardBlocks;

use super::SearchSpace;
use super::hypothesis::{Hypothesis, HypothesisId};
use super::language_models::JointStates;
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

/// The components of a translation, and what they are made of.
pub(crate) struct Parts<'a> {
    /// The values of all features.
    pub(crate) values: &'a mut [f32],
    /// The first of the feature in question.
    pub(crate) first: usize,
    /// The phrase's reordering scores, unweighted, and the component of each.
    pub(crate) reordering: &'a [f32],
    pub(crate) components: &'a [usize],
}

/// The states and scores of one feature within a sentence.
trait ContextFeature: Send {
    /// Begins a sentence; returns the state at its beginning.
    fn start(&mut self, system: &System) -> u32;

    /// Forgets what it knows of hypotheses: they will be numbered anew.
    fn restart(&mut self) {}

    /// Writes what `step` adds to the score, weighted, to `addends`, and returns
    /// the state behind it.
    fn apply(&mut self, step: &Step<'_>, addends: &mut [f32]) -> u32;

    /// Adds what `step` is worth, unweighted, to the feature's components.
    fn explain(&mut self, step: &Step<'_>, parts: Parts<'_>);
}

/// All features with a state that are no language models.
#[derive(Default)]
pub(crate) struct Contexts {
    features: Vec<(Box<dyn ContextFeature>, usize)>,
    /// What the expansion answered last adds, feature by feature, and the states
    /// behind it.
    addends: Vec<f32>,
    states: Vec<u32>,
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
        Contexts {
            features: contexts.map(|c| (feature(c), c.addends(system))).collect(),
            addends: vec![0.0; system.addends],
            states: vec![0; system.contexts.len()],
        }
    }

    /// Begins a sentence: the states at its beginning stand in joint states behind
    /// those of the language models.
    pub(crate) fn start(&mut self, system: &System, joint: &mut JointStates) {
        let first = system.language_models.len();
        for (i, (feature, _)) in self.features.iter_mut().enumerate() {
            joint.set(first + i, feature.start(system));
        }
    }

    /// A search begins over the sentence's options.
    pub(super) fn restart(&mut self) {
        for (feature, _) in &mut self.features {
            feature.restart();
        }
    }

    /// Works out what `expansion` of one of `hypotheses` adds, and the states
    /// behind it.
    pub(super) fn answer(
        &mut self,
        space: &SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        expansion: Expansion,
    ) {
        let before = hypotheses[expansion.previous.0 as usize].state;
        let first = space.lms.len();
        let mut addends = &mut self.addends[..];
        for (i, (feature, count)) in self.features.iter_mut().enumerate() {
            let (own, rest) = addends.split_at_mut(*count);
            addends = rest;
            let state = space.joint.state(before, first + i);
            self.states[i] = feature.apply(&Step { space, hypotheses, expansion, state }, own);
        }
    }

    /// Adds what `expansion` is worth to the context of number `context`,
    /// unweighted, to its components.
    pub(crate) fn explain(
        &mut self,
        space: &SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        expansion: Expansion,
        context: usize,
        parts: Parts<'_>,
    ) {
        let before = hypotheses[expansion.previous.0 as usize].state;
        let state = space.joint.state(before, space.lms.len() + context);
        let step = Step { space, hypotheses, expansion, state };
        self.features[context].0.explain(&step, parts);
    }

    /// What the expansion answered last adds to the score, weighted.
    pub(super) fn addends(&self) -> &[f32] {
        &self.addends
    }

    /// The states behind it.
    pub(super) fn states(&self) -> &[u32] {
        &self.states
    }
}
