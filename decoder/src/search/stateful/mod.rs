//! Features with a state of their own that are no language models.
//!
//! Each interns its states within a sentence, as the language models do, and takes
//! part in the joint state of a hypothesis (`super::JointStates`), by which
//! hypotheses are recombined: a hypothesis does not grow with the features. What an
//! expansion adds to the score are weighted addends.
//!
//! A system without such features pays one test an expansion, a usual one nothing.

mod forward_reordering;
mod hierarchical_backward;
mod operation_sequence;
mod slice_interner;

use forward_reordering::ForwardScores;
use hierarchical_backward::HierarchicalBackwardScorer;
use operation_sequence::OperationSequenceScorer;

use super::SearchSpace;
use super::hypothesis::{Hypothesis, HypothesisId};
use super::lm_cache::JointStates;
use crate::features::{Orientations, Span};
use crate::options::OptionId;
use crate::system::System;

/// A feature with a state, as the system knows it.
#[derive(Clone, Debug)]
pub(crate) enum StatefulFeature {
    /// Backward hierarchical reordering, its scores from this column on.
    HierarchicalBackward {
        /// Which orientations are told apart.
        orientations: Orientations,
        /// The first column of an option's row of reordering scores.
        column: usize,
    },
    /// No feature but the exact rule of recombination: phrases whose forward
    /// reordering scores, in these columns, differ are kept apart.
    ForwardScores(Vec<usize>),
    /// The operation sequence model of this number.
    OperationSequenceModel(usize),
}

impl StatefulFeature {
    /// How many addends it gives for an expansion.
    pub(crate) fn num_scores(&self, system: &System) -> usize {
        match *self {
            StatefulFeature::HierarchicalBackward { .. } => 1,
            StatefulFeature::ForwardScores(_) => 0,
            StatefulFeature::OperationSequenceModel(model) => {
                system.operation_models[model].weights.len()
            }
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
struct FeatureInput<'a> {
    space: &'a SearchSpace<'a>,
    hypotheses: &'a [Hypothesis],
    expansion: Expansion,
    /// The feature's state before.
    state: u32,
}

/// The components of a translation, and what they are made of.
pub(crate) struct ComponentValues<'a> {
    /// The values of all features.
    pub(crate) values: &'a mut [f32],
    /// The first of the feature in question.
    pub(crate) first_component: usize,
    /// The phrase's reordering scores, unweighted, and the component of each.
    pub(crate) reordering_scores: &'a [f32],
    pub(crate) reordering_components: &'a [usize],
}

/// The states and scores of one feature within a sentence.
trait StatefulScorer: Send {
    /// Begins a sentence; returns the state at its beginning.
    fn start(&mut self, system: &System) -> u32;

    /// Forgets what it knows of hypotheses: they will be numbered anew.
    fn restart(&mut self) {}

    /// Writes what `step` adds to the score, weighted, to `addends`, and returns
    /// the state behind it.
    fn apply(&mut self, input: &FeatureInput<'_>, addends: &mut [f32]) -> u32;

    /// Adds what `step` is worth, unweighted, to the feature's components.
    fn add_unweighted(&mut self, input: &FeatureInput<'_>, parts: ComponentValues<'_>);
}

/// All features with a state that are no language models.
#[derive(Default)]
pub(crate) struct StatefulScorers {
    scorers: Vec<(Box<dyn StatefulScorer>, usize)>,
    /// What the expansion answered last adds, feature by feature, and the states
    /// behind it.
    scores: Vec<f32>,
    states: Vec<u32>,
}

impl StatefulScorers {
    /// Those of `system`.
    pub(crate) fn new(system: &System) -> Self {
        let feature = |feature_spec: &StatefulFeature| -> Box<dyn StatefulScorer> {
            match feature_spec {
                &StatefulFeature::HierarchicalBackward { orientations, column } => {
                    Box::new(HierarchicalBackwardScorer::new(orientations, column))
                }
                StatefulFeature::ForwardScores(columns) => {
                    Box::new(ForwardScores::new(columns.clone()))
                }
                &StatefulFeature::OperationSequenceModel(model) => {
                    Box::new(OperationSequenceScorer::new(model))
                }
            }
        };
        let contexts = system.stateful_features.iter();
        StatefulScorers {
            scorers: contexts.map(|c| (feature(c), c.num_scores(system))).collect(),
            scores: vec![0.0; system.num_stateful_scores],
            states: vec![0; system.stateful_features.len()],
        }
    }

    /// Begins a sentence: the states at its beginning stand in joint states behind
    /// those of the language models.
    pub(crate) fn start(&mut self, system: &System, joint: &mut JointStates) {
        let first = system.language_models.len();
        for (i, (feature, _)) in self.scorers.iter_mut().enumerate() {
            joint.set_state(first + i, feature.start(system));
        }
    }

    /// A search begins over the sentence's options.
    pub(super) fn restart(&mut self) {
        for (feature, _) in &mut self.scorers {
            feature.restart();
        }
    }

    /// Works out what `expansion` of one of `hypotheses` adds, and the states
    /// behind it.
    pub(super) fn score_expansion(
        &mut self,
        space: &SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        expansion: Expansion,
    ) {
        let before = hypotheses[expansion.previous.0 as usize].joint_state;
        let first = space.lm_caches.len();
        let mut addends = &mut self.scores[..];
        for (i, (feature, count)) in self.scorers.iter_mut().enumerate() {
            let (own, rest) = addends.split_at_mut(*count);
            addends = rest;
            let state = space.joint_states.state(before, first + i);
            self.states[i] =
                feature.apply(&FeatureInput { space, hypotheses, expansion, state }, own);
        }
    }

    /// Adds what `expansion` is worth to the context of number `context`,
    /// unweighted, to its components.
    pub(crate) fn add_unweighted(
        &mut self,
        space: &SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        expansion: Expansion,
        index: usize,
        parts: ComponentValues<'_>,
    ) {
        let before = hypotheses[expansion.previous.0 as usize].joint_state;
        let state = space.joint_states.state(before, space.lm_caches.len() + index);
        let input = FeatureInput { space, hypotheses, expansion, state };
        self.scorers[index].0.add_unweighted(&input, parts);
    }

    /// What the expansion answered last adds to the score, weighted.
    pub(super) fn scores(&self) -> &[f32] {
        &self.scores
    }

    /// The states behind it.
    pub(super) fn states(&self) -> &[u32] {
        &self.states
    }
}
