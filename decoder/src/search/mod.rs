//! The search, as a machine that stops where it needs language-model scores.
//!
//! A [`Search`] is advanced until it has collected requests; whoever drives it
//! has them scored and hands the answers back. The driver here does so for one
//! sentence on one thread; because the machine holds its place, another driver
//! may pool the requests of many sentences without changing the order in which
//! any of them is searched.
//!
//! Ties are broken by one rule everywhere: what was made earlier comes first.
//! Options keep the order of their table, hypotheses of a stack are ordered by
//! score and then by age, the queue pops the older of two equal items, and a
//! stored hypothesis is replaced only by a strictly better one. Nothing depends
//! on addresses or on the number of threads, so output is reproducible to the
//! byte. (Moses2 breaks ties by memory addresses, differently from run to run.)

mod candidates;
mod cube;
mod expansion;
mod hypothesis;
mod language_models;
mod stack;

pub(crate) use candidates::RecombinationKey;
pub(crate) use cube::CubePruning;
pub(crate) use hypothesis::{Hypothesis, HypothesisId};
pub(crate) use language_models::{JointStates, LanguageModelScores, Requests};
pub(crate) use stack::StackSearch;

use crate::coverage::Coverages;
use crate::future_cost::FutureCost;
use crate::options::SentenceOptions;
use crate::reordering_constraint::ReorderingConstraint;
use crate::system::System;

/// What a search reads and grows while it works on a sentence.
pub(crate) struct SearchSpace<'a> {
    pub(crate) system: &'a System,
    pub(crate) length: u32,
    pub(crate) options: &'a SentenceOptions,
    pub(crate) costs: &'a FutureCost,
    pub(crate) coverages: &'a mut Coverages,
    /// Walls and zones; nothing where there are none.
    pub(crate) constraint: Option<&'a ReorderingConstraint>,
}

/// A search that can be interrupted wherever it needs scores.
pub(crate) trait Search {
    /// Begins a sentence of at least one word; `state` is the joint state of the
    /// language models behind `<s>`.
    fn start(&mut self, space: &mut SearchSpace<'_>, state: u32);

    /// Works until `requests` are collected (true) or the search is over (false).
    fn advance(&mut self, space: &mut SearchSpace<'_>, requests: &mut Requests) -> bool;

    /// Takes the answers to the requests collected last.
    fn accept(&mut self, space: &mut SearchSpace<'_>, requests: &Requests);

    /// The best complete hypothesis, after the search is over.
    fn best(&self) -> Option<HypothesisId>;

    /// The hypotheses, in which predecessors are followed.
    fn hypotheses(&self) -> &[Hypothesis];

    /// Statistics: items or hypotheses evaluated since the start.
    fn evaluated(&self) -> u64;
}
