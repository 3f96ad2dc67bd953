//! Features with their own state that are not language models.
//!
//! Each feature interns its states within a sentence, as the language models do. The states of all
//! features are a joint state ([`JointStates`]), by which hypotheses are recombined. So a
//! hypothesis has the same size for any number of features. An expansion gets weighted scores from
//! each feature.
//!
//! A system without such features needs one more test per expansion, and none on the fast path.

use std::ops::Range;

use super::expansion_feature::{ExpansionInput, ValueSources};
use super::lexical_reordering::{ForwardScores, HierarchicalBackward, HierarchicalBackwardScorer};
use super::operation_sequence_model::{OperationSequenceModel, OperationSequenceScorer};

use crate::joint_states::JointStates;

/// A feature with its own state, as part of a system.
pub(crate) enum StatefulFeature {
    /// Backward hierarchical reordering.
    HierarchicalBackward(HierarchicalBackward),
    /// The exact rule of recombination: phrases with different forward reordering scores, in these
    /// columns, are kept apart.
    ForwardScores(Vec<usize>),
    /// An operation sequence model.
    OperationSequenceModel(OperationSequenceModel),
}

impl StatefulFeature {
    /// Returns the number of scores that an expansion gets from this feature.
    pub(super) fn num_scores(&self) -> usize {
        match self {
            StatefulFeature::HierarchicalBackward(_) => 1,
            StatefulFeature::ForwardScores(_) => 0,
            StatefulFeature::OperationSequenceModel(model) => model.num_components(),
        }
    }

    /// Sets the weights of the feature. `weights` has the weights of all components.
    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        match self {
            // Reordering scores are weighted already, in the columns of options.
            StatefulFeature::HierarchicalBackward(_) | StatefulFeature::ForwardScores(_) => {}
            StatefulFeature::OperationSequenceModel(model) => model.set_weights(weights),
        }
    }

    fn scorer(&self, exact_recombination: bool) -> Box<dyn StatefulScorer> {
        match self {
            StatefulFeature::HierarchicalBackward(feature) => {
                Box::new(HierarchicalBackwardScorer::new(*feature))
            }
            StatefulFeature::ForwardScores(columns) => {
                Box::new(ForwardScores::new(columns.clone()))
            }
            StatefulFeature::OperationSequenceModel(model) => {
                Box::new(OperationSequenceScorer::new(model.clone(), exact_recombination))
            }
        }
    }
}

/// The index of a stateful feature among all stateful features, and its scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatefulSlot {
    pub(super) index: usize,
    /// The index of its first score among the scores of all stateful features.
    pub(super) first_score: usize,
    pub(super) num_scores: usize,
}

impl StatefulSlot {
    /// Returns the feature's scores from `all`, the scores of all stateful features.
    #[inline(always)]
    pub(super) fn scores<'a>(&self, all: &'a [f32]) -> &'a [f32] {
        &all[self.first_score..self.first_score + self.num_scores]
    }
}

/// The states and scores of one feature within a sentence.
pub(super) trait StatefulScorer: Send {
    /// Begins a sentence; returns the state at its beginning.
    fn start(&mut self) -> u32;

    /// Forgets all hypotheses, which will be numbered anew.
    fn restart(&mut self) {}

    /// Returns the scorer of backward hierarchical reordering if this is one.
    fn as_hierarchical_backward(&mut self) -> Option<&mut HierarchicalBackwardScorer> {
        None
    }

    /// Writes the weighted scores of an expansion of a hypothesis in `state` to
    /// `scores`; returns the state after it.
    fn score(&mut self, input: &ExpansionInput<'_>, state: u32, scores: &mut [f32]) -> u32;

    /// Does the work of [`StatefulScorer::score`] for each expansion of `batch`.
    fn score_batch(&mut self, batch: &ExpansionBatch<'_>, results: &mut BatchResults<'_>) {
        for index in 0..batch.len {
            let input = (batch.input_of)(index);
            let before = batch.joint_states.state(input.previous.joint_state, results.feature);
            let (state, scores) = results.row(index);
            *state = self.score(&input, before, scores);
        }
    }

    /// Adds the values of an expansion that has been scored, unweighted, to the
    /// feature's components of `values`.
    fn add_values(
        &self,
        input: &ExpansionInput<'_>,
        state: u32,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    );
}

/// Expansions that are scored together.
pub(crate) struct ExpansionBatch<'b> {
    /// Their number.
    pub(crate) len: usize,
    /// Returns the expansion of an index.
    pub(crate) input_of: &'b dyn Fn(usize) -> ExpansionInput<'b>,
    /// The joint states of the hypotheses that they extend.
    pub(crate) joint_states: &'b JointStates,
}

/// The results of one feature for a batch. Each expansion has a row of states and a row of scores,
/// in which every feature has its own places.
pub(super) struct BatchResults<'r> {
    states: &'r mut [u32],
    num_states: usize,
    /// The index of the feature's state in a joint state.
    feature: usize,
    scores: &'r mut [f32],
    num_scores: usize,
    /// The feature's scores in a row.
    own_scores: Range<usize>,
}

impl BatchResults<'_> {
    /// Returns the state after the expansion of `index` and its scores, to be written.
    #[inline(always)]
    pub(super) fn row(&mut self, index: usize) -> (&mut u32, &mut [f32]) {
        let scores = &mut self.scores[index * self.num_scores..];
        let state = &mut self.states[index * self.num_states + self.feature];
        (state, &mut scores[self.own_scores.clone()])
    }
}

/// The scorers of all stateful features of a system.
#[derive(Default)]
pub(crate) struct StatefulScorers {
    scorers: Vec<(Box<dyn StatefulScorer>, usize)>,
    /// The number of language models, whose states come first in joint states.
    num_lms: usize,
    /// The scores of the last expansion, feature by feature.
    scores: Vec<f32>,
    /// The states after the last expansion.
    states: Vec<u32>,
}

impl StatefulScorers {
    /// Creates scorers of `features` in a system of `num_lms` language models.
    pub(crate) fn new(
        features: &[StatefulFeature],
        num_lms: usize,
        exact_recombination: bool,
    ) -> Self {
        StatefulScorers {
            scorers: features
                .iter()
                .map(|feature| (feature.scorer(exact_recombination), feature.num_scores()))
                .collect(),
            num_lms,
            scores: vec![0.0; features.iter().map(StatefulFeature::num_scores).sum()],
            states: vec![0; features.len()],
        }
    }

    /// Begins a sentence: sets the states at its beginning.
    pub(crate) fn start(&mut self, joint_states: &mut JointStates) {
        for (i, (scorer, _)) in self.scorers.iter_mut().enumerate() {
            joint_states.set_state(self.num_lms + i, scorer.start());
        }
    }

    /// Begins a search over the sentence's options.
    pub(crate) fn restart(&mut self) {
        for (scorer, _) in &mut self.scorers {
            scorer.restart();
        }
    }

    /// Returns the first scorer if it is one of backward hierarchical reordering.
    pub(crate) fn hierarchical_backward(&mut self) -> Option<&mut HierarchicalBackwardScorer> {
        self.scorers.first_mut()?.0.as_hierarchical_backward()
    }

    /// Returns the number of scores of an expansion.
    pub(crate) fn num_scores(&self) -> usize {
        self.scores.len()
    }

    /// Scores an expansion, and sets the states after it.
    pub(crate) fn score_expansion(
        &mut self,
        input: &ExpansionInput<'_>,
        joint_states: &mut JointStates,
    ) {
        let before = input.previous.joint_state;
        let mut scores = &mut self.scores[..];
        for (i, (scorer, count)) in self.scorers.iter_mut().enumerate() {
            let (own, rest) = scores.split_at_mut(*count);
            scores = rest;
            self.states[i] = scorer.score(input, joint_states.state(before, self.num_lms + i), own);
        }
        for (i, &state) in self.states.iter().enumerate() {
            joint_states.set_state(self.num_lms + i, state);
        }
    }

    /// Scores the expansions of `batch`. For each expansion, `states` has a row with a place for
    /// each feature of joint states, and `scores` has a row of [`StatefulScorers::num_scores`]
    /// scores.
    pub(crate) fn score_batch(
        &mut self,
        batch: &ExpansionBatch<'_>,
        states: &mut [u32],
        scores: &mut [f32],
    ) {
        let (num_states, num_scores) = (self.num_lms + self.scorers.len(), self.scores.len());
        let mut first = 0;
        for (i, (scorer, count)) in self.scorers.iter_mut().enumerate() {
            let own_scores = first..first + *count;
            first += *count;
            let (states, scores) = (&mut *states, &mut *scores);
            let feature = self.num_lms + i;
            let mut results =
                BatchResults { states, num_states, feature, scores, num_scores, own_scores };
            scorer.score_batch(batch, &mut results);
        }
    }

    /// Adds the values that an expansion gets from the feature at `slot`.
    pub(super) fn add_values(
        &self,
        slot: &StatefulSlot,
        input: &ExpansionInput<'_>,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        let before = input.previous.joint_state;
        let state = sources.lms.joint_states.state(before, self.num_lms + slot.index);
        self.scorers[slot.index].0.add_values(input, state, sources, values);
    }

    /// Returns the weighted scores of the last expansion.
    #[inline(always)]
    pub(crate) fn scores(&self) -> &[f32] {
        &self.scores
    }
}

/// Returns the hash of a row of numbers that make up a state.
pub(crate) fn hash_row(row: &[u32]) -> u64 {
    let hash = row.iter().fold(row.len() as u64, |hash, &number| {
        (hash ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
    });
    hash ^ hash >> 32
}
