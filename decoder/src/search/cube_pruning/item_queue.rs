//! Cube pruning one item at a time: the best item of all edges leaves a priority queue, and its two
//! neighbours enter it.
//!
//! This loop supports all systems and options. It also repeats the stacks in which
//! [`waves`](super::waves) met a tie or a full mini-stack. An item has 24 bytes, so the queue holds
//! keys of 8 bytes instead: the score in the upper half, the age in the lower.

use std::collections::BinaryHeap;

use super::super::SearchSpace;
use super::super::candidates::Candidates;
use super::super::cells::Edge;
use super::super::lattice::RecombinedArcs;
use super::super::ordered_bits::ordered_bits;
use super::recombination_rules;
use crate::features::{FastPathFeatures, Transition};
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::translation_options::OptionId;

/// A scored item: one hypothesis and one option of an edge.
#[derive(Clone, Copy)]
struct QueueItem {
    edge: u32,
    hypothesis: u32,
    option: u32,
    total: f32,
    future_score: f32,
    joint_state: u32,
}

/// A method of scoring an item when it is created.
pub(super) trait ExpansionScorer {
    /// Returns the total and the joint state after the expansion.
    fn score_expansion(
        &self,
        space: &mut SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        previous: HypothesisId,
        option: OptionId,
        transition: &Transition,
        completes: bool,
    ) -> (f32, u32);
}

/// The scorer for the features of [`FastPathKind::Plain`](crate::features::FastPathKind::Plain).
pub(super) struct FastPath<'a>(pub(super) &'a FastPathFeatures);

impl ExpansionScorer for FastPath<'_> {
    #[inline(always)]
    fn score_expansion(
        &self,
        space: &mut SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        previous: HypothesisId,
        option: OptionId,
        transition: &Transition,
        completes: bool,
    ) -> (f32, u32) {
        let previous = &hypotheses[previous.0 as usize];
        space.score_expansion_fast_path(self.0, previous, option, transition, completes)
    }
}

/// The scorer for any features.
pub(super) struct General;

impl ExpansionScorer for General {
    #[inline(always)]
    fn score_expansion(
        &self,
        space: &mut SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        previous: HypothesisId,
        option: OptionId,
        transition: &Transition,
        completes: bool,
    ) -> (f32, u32) {
        space.score_expansion(hypotheses, previous, option, transition, completes)
    }
}

/// The scorer that leaves out the features of an expansion. Their scores are added when an item is
/// popped.
pub(super) struct Lazy;

impl ExpansionScorer for Lazy {
    #[inline(always)]
    fn score_expansion(
        &self,
        space: &mut SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        previous: HypothesisId,
        option: OptionId,
        _transition: &Transition,
        _completes: bool,
    ) -> (f32, u32) {
        let previous = &hypotheses[previous.0 as usize];
        (previous.total + space.options.scores(option).total, 0)
    }
}

/// The number of edges whose first items are prefetched together: few enough that their cache lines
/// stay in the first-level cache.
pub(super) const PREFETCH_BATCH: usize = 48;

/// The items of a stack and the hypotheses popped from them, in buffers that are reused.
#[derive(Default)]
pub(super) struct ItemQueue<L> {
    items: Vec<QueueItem>,
    /// Keys: the score, and below it the complement of the item's number, so that older items win
    /// ties.
    queue: BinaryHeap<u64>,
    seen: Vec<u64>,
    pub(super) candidates: Candidates<L>,
    /// The number of scored items, for statistics.
    pub(super) num_evaluated: u64,
}

impl<L: RecombinedArcs> ItemQueue<L> {
    /// Pops the best items of `edges`, which extend `hypotheses`, into the mini-stacks of
    /// `candidates`; `scorer` scores an item when it is created.
    #[inline(always)]
    pub(super) fn fill_stack<E: ExpansionScorer>(
        &mut self,
        space: &mut SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        edges: &mut [Edge],
        scorer: &E,
        completes: bool,
    ) {
        self.items.clear();
        self.queue.clear();
        self.seen.clear();
        self.candidates.clear();
        let mut stack = Stack { queue: self, space, hypotheses, scorer, completes };
        stack.seed(edges);
        for _ in 0..stack.space.limits.pop_limit {
            let Some(&key) = stack.queue.queue.peek() else { break };
            let number = !(key as u32);
            let edge = &mut edges[stack.queue.items[number as usize].edge as usize];
            stack.store_item(edge, number);
            stack.replace_with_neighbours(edge, number);
        }
        if stack.space.system.settings.diversity {
            stack.store_first_items(edges);
        }
    }
}

/// A stack that is being filled.
struct Stack<'s, 'a, L, E> {
    queue: &'s mut ItemQueue<L>,
    space: &'s mut SearchSpace<'a>,
    hypotheses: &'s [Hypothesis],
    scorer: &'s E,
    completes: bool,
}

impl<L: RecombinedArcs, E: ExpansionScorer> Stack<'_, '_, L, E> {
    /// Puts the first item of every edge into the queue.
    #[inline(always)]
    fn seed(&mut self, edges: &[Edge]) {
        for (chunk, edges) in edges.chunks(PREFETCH_BATCH).enumerate() {
            if !self.space.system.settings.lazy_scoring {
                self.space.prefetch(edges.iter().map(|edge| {
                    let previous = &self.hypotheses[edge.first_hypothesis as usize];
                    (previous.joint_state, OptionId(edge.first_option))
                }));
            }
            for (i, edge) in edges.iter().enumerate() {
                let key = self.make_item(edge, ((chunk * PREFETCH_BATCH + i) as u32, 0, 0));
                self.queue.queue.push(key);
            }
        }
    }

    /// Creates an item and returns its key in the queue.
    #[inline(always)]
    fn make_item(&mut self, edge: &Edge, (number, hypothesis, option): (u32, u32, u32)) -> u64 {
        let previous = HypothesisId(edge.first_hypothesis + hypothesis);
        let id = OptionId(edge.first_option + option);
        let (total, state) = self.scorer.score_expansion(
            self.space,
            self.hypotheses,
            previous,
            id,
            &edge.transition,
            self.completes,
        );
        self.queue.num_evaluated += 1;
        let future = total + edge.estimate;
        let age = self.queue.items.len() as u32;
        self.queue.items.push(QueueItem {
            edge: number,
            hypothesis,
            option,
            total,
            future_score: future,
            joint_state: state,
        });
        u64::from(ordered_bits(future)) << 32 | u64::from(!age)
    }

    /// Adds an item to its mini-stack.
    #[inline(always)]
    fn store_item(&mut self, edge: &Edge, number: u32) {
        let mut item = self.queue.items[number as usize];
        let previous = HypothesisId(edge.first_hypothesis + item.hypothesis);
        let option = OptionId(edge.first_option + item.option);
        if self.space.system.settings.lazy_scoring {
            (item.total, item.joint_state) = self.space.score_expansion(
                self.hypotheses,
                previous,
                option,
                &edge.transition,
                self.completes,
            );
            item.future_score = item.total + edge.estimate;
            self.queue.num_evaluated += 1;
        }
        let hypothesis = Hypothesis {
            total: item.total,
            joint_state: item.joint_state,
            previous,
            option,
            span: edge.transition.span,
            coverage: edge.coverage,
            future_score: item.future_score,
        };
        let (key, limits) = recombination_rules(self.space);
        self.queue.candidates.add(edge.group, hypothesis, key, limits);
    }

    /// Replaces the first item of the queue, `number`, by its neighbours: the one with the next
    /// hypothesis and the one with the next option, if they are new.
    #[inline(always)]
    fn replace_with_neighbours(&mut self, edge: &mut Edge, number: u32) {
        let QueueItem { edge: edge_number, hypothesis, option, .. } =
            self.queue.items[number as usize];
        edge.make_rows(&mut self.queue.seen);
        let mut replaced = false;
        for (hypothesis, option) in [(hypothesis + 1, option), (hypothesis, option + 1)] {
            if !edge.mark_seen(&mut self.queue.seen, hypothesis, option) {
                continue;
            }
            let key = self.make_item(edge, (edge_number, hypothesis, option));
            if replaced {
                self.queue.queue.push(key);
            } else if let Some(mut first) = self.queue.queue.peek_mut() {
                // A neighbour has about the same score, so replacing the top is cheaper than a pop
                // and a push.
                *first = key;
                replaced = true;
            }
        }
        if !replaced {
            self.queue.queue.pop();
        }
    }

    /// For diversity, adds to the stack the first item of each edge, if it is still in the queue.
    /// The best items are added first.
    fn store_first_items(&mut self, edges: &[Edge]) {
        while let Some(key) = self.queue.queue.pop() {
            let number = !(key as u32);
            let item = self.queue.items[number as usize];
            if (item.hypothesis, item.option) == (0, 0) {
                self.store_item(&edges[item.edge as usize], number);
            }
        }
    }
}
