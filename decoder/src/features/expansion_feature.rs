//! Features of an expansion, which is a hypothesis with one more phrase. They look at the previous
//! phrase's span and the coverage, or are language models, or have their own state.
//!
//! The search adds weighted scores one after another, in the order of the ini. Unweighted values
//! are computed for output. Both use the same function in the source file of the feature.

use super::distortion::{Distortion, EarlyDistortion, jump_distance};
use super::language_model::LanguageModelFeature;
use super::lexical_reordering::{
    BackwardReordering, ForwardReordering, HierarchicalForward, RelativePosition,
};
use super::stateful_feature::{StatefulScorers, StatefulSlot};
use crate::coverage::Coverages;
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::joint_states::JointStates;
use crate::lm_scoring::LmScoreCache;
use crate::models::Models;
use crate::sentence::Sentence;
use crate::span::Span;
use crate::translation_options::{OptionId, SentenceOptions};

/// A span relative to the end of the previous phrase: the same for all hypotheses of a
/// mini-stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition {
    pub(crate) span: Span,
    /// The length of the jump, in words.
    pub(crate) distance: f32,
    pub(crate) position: RelativePosition,
}

impl Transition {
    /// Returns the step from `last_end` (0 at the beginning) to `span`.
    #[inline]
    pub(crate) fn new(last_end: u32, span: Span) -> Self {
        let distance = jump_distance(last_end, span) as f32;
        Transition { span, distance, position: RelativePosition::from_span(last_end, span) }
    }
}

/// A hypothesis with one more phrase, as features see it.
pub(crate) struct ExpansionInput<'a> {
    pub(crate) models: &'a Models,
    pub(crate) sentence: &'a Sentence,
    pub(crate) options: &'a SentenceOptions,
    pub(crate) coverages: &'a Coverages,
    pub(crate) hypotheses: &'a [Hypothesis],
    /// The index in `hypotheses` of the hypothesis that is extended.
    pub(crate) previous_id: HypothesisId,
    /// The same hypothesis.
    pub(crate) previous: &'a Hypothesis,
    /// The phrase.
    pub(crate) option: OptionId,
    pub(crate) transition: &'a Transition,
    /// Whether `</s>` follows: nothing is left to be covered, and the phrase has words.
    pub(crate) ends: bool,
}

/// The language models' states and caches during a search.
pub(crate) struct LmScorers<'a> {
    pub(crate) caches: &'a mut [LmScoreCache],
    pub(crate) joint_states: &'a mut JointStates,
}

/// The language models' states and caches after a search.
#[derive(Clone, Copy)]
pub(crate) struct ScoredLms<'a> {
    pub(crate) caches: &'a [LmScoreCache],
    pub(crate) joint_states: &'a JointStates,
}

/// Inputs of the values of an expansion, besides the expansion itself.
#[derive(Clone, Copy)]
pub(crate) struct ValueSources<'a> {
    /// The unweighted reordering scores of the option, one column per orientation.
    pub(crate) reordering: &'a [f32],
    /// The same scores of the previous hypothesis' option; arbitrary if there is no such option.
    pub(crate) previous_reordering: &'a [f32],
    /// The component of each column.
    pub(crate) reordering_components: &'a [usize],
    pub(crate) lms: ScoredLms<'a>,
    pub(crate) stateful: &'a StatefulScorers,
}

/// Features of an expansion, in the order of the ini.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExpansionFeature {
    Distortion(Distortion),
    EarlyDistortion(EarlyDistortion),
    BackwardReordering(BackwardReordering),
    ForwardReordering(ForwardReordering),
    HierarchicalForward(HierarchicalForward),
    LanguageModel(LanguageModelFeature),
    /// A feature with its own state that is not a language model.
    Stateful(StatefulSlot),
}

impl ExpansionFeature {
    /// Sets the weights of the feature. `weights` has the weights of all components.
    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        match self {
            ExpansionFeature::Distortion(feature) => feature.set_weights(weights),
            ExpansionFeature::EarlyDistortion(feature) => feature.set_weights(weights),
            ExpansionFeature::LanguageModel(feature) => feature.set_weights(weights),
            // The scores of these features are weighted elsewhere: in the columns of options and by
            // scorers.
            ExpansionFeature::BackwardReordering(_)
            | ExpansionFeature::ForwardReordering(_)
            | ExpansionFeature::HierarchicalForward(_)
            | ExpansionFeature::Stateful(_) => {}
        }
    }

    /// Returns `total` plus the weighted score of an expansion. `lm_score` returns the weighted
    /// score of a language model; `stateful_scores` are the weighted scores of the features with
    /// their own states.
    #[inline(always)]
    pub(crate) fn add_score(
        &self,
        total: f32,
        input: &ExpansionInput<'_>,
        lm_score: impl FnOnce(&LanguageModelFeature) -> f32,
        stateful_scores: &[f32],
    ) -> f32 {
        match self {
            ExpansionFeature::Distortion(feature) => total + feature.score(input.transition),
            ExpansionFeature::EarlyDistortion(feature) => total + feature.score(input),
            ExpansionFeature::BackwardReordering(feature) => total + feature.score(input),
            ExpansionFeature::ForwardReordering(feature) => match feature.score(input) {
                Some(score) => total + score,
                None => total,
            },
            ExpansionFeature::HierarchicalForward(feature) => total + feature.score(input),
            ExpansionFeature::LanguageModel(feature) => total + lm_score(feature),
            ExpansionFeature::Stateful(slot) => {
                let scores = slot.scores(stateful_scores).iter();
                scores.fold(total, |total, score| total + score)
            }
        }
    }

    /// Adds the values of an expansion, unweighted, to the feature's components of
    /// `values`.
    pub(crate) fn add_values(
        &self,
        input: &ExpansionInput<'_>,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        match self {
            ExpansionFeature::Distortion(feature) => feature.add_value(input.transition, values),
            ExpansionFeature::EarlyDistortion(feature) => feature.add_value(input, values),
            ExpansionFeature::BackwardReordering(feature) => {
                feature.add_value(input, sources, values);
            }
            ExpansionFeature::ForwardReordering(feature) => {
                feature.add_value(input, sources, values);
            }
            ExpansionFeature::HierarchicalForward(feature) => {
                feature.add_value(input, sources, values);
            }
            ExpansionFeature::LanguageModel(feature) => {
                feature.add_expansion_value(input, &sources.lms, values);
            }
            ExpansionFeature::Stateful(slot) => {
                sources.stateful.add_values(slot, input, sources, values);
            }
        }
    }
}
