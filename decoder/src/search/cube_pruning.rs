//! Cube pruning with mini-stacks (`phrase-decoding.md` 3.11).
//!
//! An edge joins the hypotheses of one mini-stack (same coverage, same last
//! position) with the options of one span and table; both are sorted, so its
//! best item is the first of each. A stack is filled by popping the best item of
//! all edges, a fixed number of times; a popped item sends its two neighbours
//! into the queue.
//!
//! Edges are 48 bytes, items 24; the queue holds 8-byte keys, score above age.

use std::collections::BinaryHeap;
use std::ops::Range;

use hashbrown::HashTable;

use super::candidates::{Candidates, StackLimits, ordered_bits};
use super::expansion::for_each_extension;
use super::lattice::{Discard, Lattice, RecombinedArcs};
use super::{Search, SearchSpace};
use crate::coverage::CoverageId;
use crate::features::{FastPathFeatures, RecombinationKey, Transition};
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::span::Span;
use crate::translation_options::OptionId;

/// Hypotheses of a mini-stack times options of a span.
#[derive(Clone, Copy)]
struct Edge {
    first_hypothesis: u32,
    num_hypotheses: u32,
    first_option: u32,
    num_options: u32,
    transition: Transition,
    coverage: CoverageId,
    group: u32,
    /// The estimate of what `coverage` leaves.
    estimate: f32,
    /// Where its rows of seen items start; `u32::MAX` before the first pop.
    seen_start: u32,
}

/// One cell of an edge, scored.
#[derive(Clone, Copy)]
struct QueueItem {
    edge: u32,
    hypothesis: u32,
    option: u32,
    total: f32,
    future_score: f32,
    joint_state: u32,
}

/// First items of edges whose memory is prefetched together: few enough for their
/// lines to stay in the first-level cache.
const PREFETCH_BATCH: usize = 48;

/// How an item is scored when it is made.
trait ExpansionScorer {
    /// The total and the joint state after the expansion.
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

/// By the features of the fast path.
struct FastPath<'a>(&'a FastPathFeatures);

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

/// By any features.
struct General;

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

/// Without stateful features: lazily, until it is popped.
struct Lazy;

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

/// The search, with buffers that are reused.
#[derive(Default)]
pub(crate) struct CubePruning<L = Discard> {
    hypotheses: Vec<Hypothesis>,
    lattice: Lattice,
    /// Edges by the number of words they cover.
    edges: Vec<Vec<Edge>>,
    items: Vec<QueueItem>,
    /// Score (ascending) above age (descending): an item's number is below.
    queue: BinaryHeap<u64>,
    seen: Vec<u64>,
    candidates: Candidates<L>,
    mini_stacks: MiniStacks,
    /// Words covered by the stack filled last.
    covered: u32,
    best: Option<HypothesisId>,
    complete_hypotheses: Range<u32>,
    num_evaluated: u64,
}

impl<L: RecombinedArcs> Search for CubePruning<L> {
    fn start(&mut self, space: &mut SearchSpace<'_>, state: u32) {
        for edges in &mut self.edges {
            edges.clear();
        }
        let stacks = space.length as usize + 1;
        self.edges.resize_with(stacks.max(self.edges.len()), Vec::new);
        self.mini_stacks.clear();
        self.hypotheses.clear();
        self.lattice.start();
        self.best = None;
        self.complete_hypotheses = 0..0;
        self.num_evaluated = 0;
        let mut initial = Hypothesis::initial(state);
        initial.future_score = space.coverages.summary(CoverageId::EMPTY).estimate;
        self.hypotheses.push(initial);
        self.make_edges(space, 0, 1, CoverageId::EMPTY, 0);
        self.covered = 0;
    }

    fn step(&mut self, space: &mut SearchSpace<'_>) -> bool {
        if self.covered == space.length {
            return false;
        }
        self.covered += 1;
        let mut edges = std::mem::take(&mut self.edges[self.covered as usize]);
        match &space.system.plan.fast_path {
            _ if space.system.settings.lazy_scoring => self.fill_stack(space, &mut edges, &Lazy),
            Some(fast_path) => self.fill_stack(space, &mut edges, &FastPath(fast_path)),
            None => self.fill_stack(space, &mut edges, &General),
        }
        self.edges[self.covered as usize] = edges;
        self.finish_stack(space);
        true
    }

    fn best_hypothesis(&self) -> Option<HypothesisId> {
        self.best
    }

    fn hypotheses(&self) -> &[Hypothesis] {
        &self.hypotheses
    }

    fn complete_hypotheses(&self) -> Range<u32> {
        self.complete_hypotheses.clone()
    }

    fn lattice(&self) -> Option<&Lattice> {
        L::KEEPS_ARCS.then_some(&self.lattice)
    }

    fn num_evaluated(&self) -> u64 {
        self.num_evaluated
    }
}

impl<L: RecombinedArcs> CubePruning<L> {
    /// Pops the best items of `edges` into their mini-stacks; `expand` scores an
    /// item when it is made.
    #[inline(always)]
    fn fill_stack<E: ExpansionScorer>(
        &mut self,
        space: &mut SearchSpace<'_>,
        edges: &mut [Edge],
        scorer: &E,
    ) {
        self.seed_queue(space, edges, scorer);
        for _ in 0..space.limits.pop_limit {
            let Some(&key) = self.queue.peek() else { break };
            let number = !(key as u32);
            let edge = &mut edges[self.items[number as usize].edge as usize];
            self.store_item(space, edge, number);
            self.replace_with_neighbours(space, edge, number, scorer);
        }
        if space.system.settings.diversity {
            self.store_first_items(space, edges);
        }
    }

    /// Puts the first item of every edge into the queue.
    #[inline(always)]
    fn seed_queue<E: ExpansionScorer>(
        &mut self,
        space: &mut SearchSpace<'_>,
        edges: &[Edge],
        scorer: &E,
    ) {
        self.items.clear();
        self.queue.clear();
        self.seen.clear();
        self.candidates.clear();
        for (chunk, edges) in edges.chunks(PREFETCH_BATCH).enumerate() {
            if !space.system.settings.lazy_scoring {
                let first = |edge: &Edge| {
                    let previous = &self.hypotheses[edge.first_hypothesis as usize];
                    (previous.joint_state, OptionId(edge.first_option))
                };
                space.prefetch(edges.iter().map(first));
            }
            for (i, edge) in edges.iter().enumerate() {
                let key = self.make_item(
                    space,
                    edge,
                    ((chunk * PREFETCH_BATCH + i) as u32, 0, 0),
                    scorer,
                );
                self.queue.push(key);
            }
        }
    }

    /// Makes a new item and returns its key in the queue: its score, or what is
    /// known of it without stateful features, above its age.
    #[inline(always)]
    fn make_item<E: ExpansionScorer>(
        &mut self,
        space: &mut SearchSpace<'_>,
        edge: &Edge,
        (number, hypothesis, option): (u32, u32, u32),
        scorer: &E,
    ) -> u64 {
        let previous = HypothesisId(edge.first_hypothesis + hypothesis);
        let id = OptionId(edge.first_option + option);
        let completes = self.covered == space.length;
        let (total, state) = scorer.score_expansion(
            space,
            &self.hypotheses,
            previous,
            id,
            &edge.transition,
            completes,
        );
        self.num_evaluated += 1;
        let future = total + edge.estimate;
        let age = self.items.len() as u32;
        self.items.push(QueueItem {
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
    fn store_item(&mut self, space: &mut SearchSpace<'_>, edge: &Edge, number: u32) {
        let mut item = self.items[number as usize];
        let previous = HypothesisId(edge.first_hypothesis + item.hypothesis);
        let option = OptionId(edge.first_option + item.option);
        if space.system.settings.lazy_scoring {
            let completes = self.covered == space.length;
            (item.total, item.joint_state) = space.score_expansion(
                &self.hypotheses,
                previous,
                option,
                &edge.transition,
                completes,
            );
            item.future_score = item.total + edge.estimate;
            self.num_evaluated += 1;
        }
        let QueueItem { total, future_score: future, joint_state: state, .. } = item;
        let Edge { transition: Transition { span, .. }, coverage, .. } = *edge;
        let hypothesis = Hypothesis {
            total,
            joint_state: state,
            previous,
            option,
            span,
            coverage,
            future_score: future,
        };
        let (key, limits) = recombination_rules(space);
        self.candidates.add(edge.group, hypothesis, key, limits);
    }

    /// Puts the item below and the item to the right, where they are new, into the
    /// queue instead of its first, the item `number`.
    #[inline(always)]
    fn replace_with_neighbours<E: ExpansionScorer>(
        &mut self,
        space: &mut SearchSpace<'_>,
        edge: &mut Edge,
        number: u32,
        scorer: &E,
    ) {
        let QueueItem { edge: edge_number, hypothesis, option, .. } = self.items[number as usize];
        let width = edge.num_options.div_ceil(64);
        if edge.seen_start == u32::MAX {
            edge.seen_start = self.seen.len() as u32;
            self.seen.resize(self.seen.len() + (edge.num_hypotheses * width) as usize, 0);
        }
        let mut replaced = false;
        for (hypothesis, option) in [(hypothesis + 1, option), (hypothesis, option + 1)] {
            if hypothesis >= edge.num_hypotheses || option >= edge.num_options {
                continue;
            }
            let word =
                &mut self.seen[(edge.seen_start + hypothesis * width + option / 64) as usize];
            let bit = 1 << (option % 64);
            if *word & bit != 0 {
                continue;
            }
            *word |= bit;
            let key = self.make_item(space, edge, (edge_number, hypothesis, option), scorer);
            if replaced {
                self.queue.push(key);
            } else if let Some(mut first) = self.queue.peek_mut() {
                // A neighbour seldom sinks far.
                *first = key;
                replaced = true;
            }
        }
        if !replaced {
            self.queue.pop();
        }
    }

    /// Diversity: the first items of edges still in the queue join the stack, the
    /// best first.
    fn store_first_items(&mut self, space: &mut SearchSpace<'_>, edges: &[Edge]) {
        while let Some(key) = self.queue.pop() {
            let number = !(key as u32);
            let item = self.items[number as usize];
            if (item.hypothesis, item.option) == (0, 0) {
                self.store_item(space, &edges[item.edge as usize], number);
            }
        }
    }

    /// Sorts and cuts the mini-stacks and makes the edges that leave them.
    fn finish_stack(&mut self, space: &mut SearchSpace<'_>) {
        let (_, limits) = recombination_rules(space);
        let first = self.hypotheses.len() as u32;
        let mut candidates = std::mem::take(&mut self.candidates);
        let hypotheses = &mut self.hypotheses;
        let groups = &mut self.mini_stacks.kept;
        groups.clear();
        candidates.drain(limits, |group, hypothesis| {
            match groups.last_mut() {
                Some((last, _, count)) if *last == group => *count += 1,
                _ => groups.push((group, hypotheses.len() as u32, 1)),
            }
            hypotheses.push(*hypothesis);
        });
        let last = hypotheses.len() as u32;
        candidates.recombined.append_to_lattice(first, hypotheses, &mut self.lattice);
        self.candidates = candidates;
        if self.covered == space.length {
            self.complete_hypotheses = first..last;
            let complete = &self.hypotheses[first as usize..last as usize];
            let mut best: Option<(usize, f32)> = None;
            for (i, hypothesis) in complete.iter().enumerate() {
                if best.is_none_or(|(_, score)| hypothesis.future_score > score) {
                    best = Some((i, hypothesis.future_score));
                }
            }
            self.best = best.map(|(i, _)| HypothesisId(first + i as u32));
            return;
        }
        let groups = std::mem::take(&mut self.mini_stacks.kept);
        for &(_, first, count) in &groups {
            let Hypothesis { coverage, span, .. } = self.hypotheses[first as usize];
            self.make_edges(space, first, count, coverage, span.end);
        }
        self.mini_stacks.kept = groups;
    }

    /// The edges that leave the mini-stack `first..first + count`.
    fn make_edges(
        &mut self,
        space: &mut SearchSpace<'_>,
        first: u32,
        count: u32,
        coverage: CoverageId,
        last_end: u32,
    ) {
        let mut spans = std::mem::take(&mut self.mini_stacks.spans);
        spans.clear();
        for_each_extension(space, coverage, last_end, |span| spans.push(span));
        for &span in &spans {
            let mut target = None;
            let transition = Transition::new(last_end, span);
            for slot in 0..space.options.num_slots() {
                let range = space.options.range(span, slot);
                if range.count == 0 {
                    continue;
                }
                let (coverage, group, covered, estimate) = *target.get_or_insert_with(|| {
                    let coverage = space.coverages.extend(coverage, span, space.future_costs);
                    let facts = space.coverages.summary(coverage);
                    let group = self.mini_stacks.mini_stack_id(coverage, span.end, facts.covered);
                    (coverage, group, facts.covered, facts.estimate)
                });
                self.edges[covered as usize].push(Edge {
                    first_hypothesis: first,
                    num_hypotheses: count,
                    first_option: range.first,
                    num_options: range.count,
                    transition,
                    coverage,
                    group,
                    estimate,
                    seen_start: u32::MAX,
                });
            }
        }
        self.mini_stacks.spans = spans;
    }
}

/// Numbers for the mini-stacks of each stack, in the order of their first edge.
#[derive(Default)]
struct MiniStacks {
    ids: HashTable<(CoverageId, u32, u32)>,
    /// How many mini-stacks there are, by words covered.
    counts: Vec<u32>,
    /// Scratch: spans of a mini-stack, and the groups that a stack kept.
    spans: Vec<Span>,
    kept: Vec<(u32, u32, u32)>,
}

impl MiniStacks {
    fn clear(&mut self) {
        self.ids.clear();
        self.counts.clear();
    }

    fn mini_stack_id(&mut self, coverage: CoverageId, end: u32, covered: u32) -> u32 {
        let hash = |coverage: CoverageId, end: u32| {
            // Folded, because the table looks at the low bits.
            let key = u128::from(u64::from(coverage.0) << 32 | u64::from(end));
            let product = key * 0x9e37_79b9_7f4a_7c15;
            (product ^ product >> 64) as u64
        };
        let found = self.ids.find(hash(coverage, end), |&(c, e, _)| c == coverage && e == end);
        if let Some(&(_, _, group)) = found {
            return group;
        }
        if self.counts.len() <= covered as usize {
            self.counts.resize(covered as usize + 1, 0);
        }
        let group = self.counts[covered as usize];
        self.counts[covered as usize] += 1;
        self.ids
            .insert_unique(hash(coverage, end), (coverage, end, group), |&(c, e, _)| hash(c, e));
        group
    }
}

fn recombination_rules(space: &SearchSpace<'_>) -> (RecombinationKey, StackLimits) {
    (space.system.plan.features.recombination_key, space.limits.stack_limits())
}
