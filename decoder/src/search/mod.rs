//! The search for the best translation of a sentence, given its options.
//!
//! A [`Search`] is stepped, at most a stack at a time, until it is over; between steps its driver
//! may stop it ([`run_search`] does, when time is up). Expansions are scored many at a time, so
//! that their language-model queries wait for memory together ([`cells`]). Only the loop of cube
//! pruning that pops one item at a time scores each item when it is created
//! ([`SearchSpace::score_expansion`]), and prefetches only when a stack is opened.
//!
//! One rule breaks all ties: the older one comes first. Options with equal scores keep the order of
//! their table. Hypotheses of a stack are ordered by score and then by age. The queue pops the
//! older of two equal items. A stored hypothesis is replaced only by a strictly better one. Nothing
//! depends on addresses or on the number of threads, so output is reproducible to the byte. (Moses2
//! breaks ties by memory addresses, differently from run to run.)

mod candidates;
mod cells;
mod cube_pruning;
mod expansion;
mod fast_path;
mod lattice;
mod limits;
mod ordered_bits;
mod stack_decoding;
mod time_limit;

pub(crate) use cube_pruning::CubePruning;
pub(crate) use lattice::{Discard, Keep, Lattice};
pub(crate) use limits::SearchLimits;
pub use limits::SearchWidth;
pub(crate) use ordered_bits::ordered_bits;
pub(crate) use stack_decoding::StackDecoding;
pub(crate) use time_limit::{SearchEffort, TimeLimit, run_search};

use std::ops::Range;

use crate::coverage::Coverages;
use crate::features::StatefulScorers;
use crate::future_cost::FutureCost;
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::joint_states::JointStates;
use crate::lm_scoring::LmScoreCache;
use crate::reordering_constraint::ReorderingConstraint;
use crate::sentence::Sentence;
use crate::system::System;
use crate::translation_options::SentenceOptions;

/// The inputs of a search (system, sentence, options) and the data that it extends.
pub(crate) struct SearchSpace<'a> {
    pub(crate) system: &'a System,
    /// The limits of the search.
    pub(crate) limits: SearchLimits,
    pub(crate) length: u32,
    pub(crate) sentence: &'a Sentence,
    pub(crate) options: &'a SentenceOptions,
    pub(crate) future_costs: &'a FutureCost,
    pub(crate) coverages: &'a mut Coverages,
    pub(crate) lm_caches: &'a mut [LmScoreCache],
    pub(crate) stateful_scorers: &'a mut StatefulScorers,
    pub(crate) joint_states: &'a mut JointStates,
    /// Walls and zones; `None` if there are none.
    pub(crate) constraint: Option<&'a ReorderingConstraint>,
}

/// A search that is stepped.
pub(crate) trait Search {
    /// Begins a sentence of at least one word; `state` is the joint state of all
    /// features before it.
    fn start(&mut self, space: &mut SearchSpace<'_>, state: u32);

    /// Advances by a stack at most; returns false when the search is over.
    fn step(&mut self, space: &mut SearchSpace<'_>) -> bool;

    /// Returns the best complete hypothesis, after the search is over.
    fn best_hypothesis(&self) -> Option<HypothesisId>;

    /// Returns all hypotheses, among which are the predecessors of each.
    fn hypotheses(&self) -> &[Hypothesis];

    /// Returns the complete hypotheses that were kept, after the search is over.
    fn complete_hypotheses(&self) -> Range<u32>;

    /// Returns the recombined hypotheses; `None` for a search that discards them.
    fn lattice(&self) -> Option<&Lattice>;

    /// Returns the number of items or hypotheses evaluated since the start.
    fn num_evaluated(&self) -> u64;
}
