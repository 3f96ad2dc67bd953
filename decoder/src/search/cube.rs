//! Cube pruning with mini-stacks (`phrase-decoding.md` 3.11).
//!
//! An edge joins the hypotheses of one mini-stack (same coverage, same last
//! position) with the options of one span and table; both are sorted, so its
//! best item is the first of each. A stack is filled by popping the best item of
//! all edges, a fixed number of times; a popped item sends its two neighbours
//! into the queue.
//!
//! Edges are 40 bytes, items 24; the queue holds 8-byte keys, score above age.

use std::collections::BinaryHeap;

use hashbrown::HashTable;

use super::candidates::{Candidates, Limits, RecombinationKey, ascending};
use super::expansion::{self, for_each_extension};
use super::hypothesis::{Hypothesis, HypothesisId};
use super::{Expansion, Requests, Search, SearchSpace};
use crate::coverage::CoverageId;
use crate::features::Span;
use crate::options::OptionId;

/// Hypotheses of a mini-stack times options of a span.
#[derive(Clone, Copy)]
struct Edge {
    first_hypothesis: u32,
    hypotheses: u32,
    first_option: u32,
    options: u32,
    span: Span,
    coverage: CoverageId,
    group: u32,
    /// The estimate of what `coverage` leaves.
    estimate: f32,
    /// Where its rows of seen items start; `u32::MAX` before the first pop.
    seen: u32,
}

/// One cell of an edge, scored.
#[derive(Clone, Copy)]
struct Item {
    edge: u32,
    hypothesis: u32,
    option: u32,
    total: f32,
    future: f32,
    state: u32,
}

/// What the answers awaited are for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// A stack is about to be opened.
    Open,
    /// Items of the stack are in the queue.
    Pop,
    /// Lazy scoring: the popped item is being scored.
    Score,
    /// Lazy scoring with diversity: leftover first items are being scored.
    ScoreRest,
    /// All stacks are done.
    Over,
}

/// The search, with buffers that are reused.
#[derive(Default)]
pub(crate) struct CubePruning {
    hypotheses: Vec<Hypothesis>,
    /// Edges by the number of words they cover.
    edges: Vec<Vec<Edge>>,
    items: Vec<Item>,
    /// Score (ascending) above age (descending): an item's number is below.
    queue: BinaryHeap<u64>,
    seen: Vec<u64>,
    candidates: Candidates,
    mini_stacks: MiniStacks,
    phase: Option<Phase>,
    covered: u32,
    pops: usize,
    /// Items whose scores are awaited.
    pending: Vec<u32>,
    best: Option<HypothesisId>,
    evaluated: u64,
}

impl Search for CubePruning {
    fn start(&mut self, space: &mut SearchSpace<'_>, state: u32) {
        for edges in &mut self.edges {
            edges.clear();
        }
        let stacks = space.length as usize + 1;
        self.edges.resize_with(stacks.max(self.edges.len()), Vec::new);
        self.mini_stacks.clear();
        self.hypotheses.clear();
        self.best = None;
        self.evaluated = 0;
        let mut initial = Hypothesis::initial(state);
        initial.future = space.coverages.facts(CoverageId::EMPTY).estimate;
        self.hypotheses.push(initial);
        self.make_edges(space, 0, 1, CoverageId::EMPTY, 0);
        self.covered = 0;
        self.phase = Some(Phase::Open);
    }

    fn advance(&mut self, space: &mut SearchSpace<'_>, requests: &mut Requests) -> bool {
        loop {
            match self.phase.unwrap_or(Phase::Over) {
                Phase::Over => return false,
                Phase::Open => {
                    self.covered += 1;
                    if self.covered > space.length {
                        self.phase = Some(Phase::Over);
                        continue;
                    }
                    self.open_stack(space, requests);
                    self.phase = Some(Phase::Pop);
                }
                Phase::Pop => {
                    if self.pops < space.system.settings.pop_limit
                        && let Some(key) = self.queue.pop()
                    {
                        self.pops += 1;
                        let item = !(key as u32);
                        if space.system.settings.lazy_scoring {
                            self.request(space, requests, item);
                            self.phase = Some(Phase::Score);
                        } else {
                            self.keep(space, item);
                            self.push_neighbours(space, requests, item);
                        }
                    } else if space.system.settings.diversity && self.collect_rest(space, requests)
                    {
                        self.phase = Some(Phase::ScoreRest);
                    } else {
                        self.close_stack(space);
                        self.phase = Some(Phase::Open);
                    }
                }
                Phase::Score | Phase::ScoreRest => {
                    debug_assert!(false, "answers are awaited");
                    return false;
                }
            }
            if !requests.is_empty() {
                return true;
            }
        }
    }

    fn expansion(&self, i: usize) -> Expansion {
        let item = self.items[self.pending[i] as usize];
        let edge = &self.edges[self.covered as usize][item.edge as usize];
        Expansion {
            previous: HypothesisId(edge.first_hypothesis + item.hypothesis),
            option: OptionId(edge.first_option + item.option),
            span: edge.span,
        }
    }

    fn accept(&mut self, space: &mut SearchSpace<'_>, requests: &Requests) {
        let width = space.system.answer_width;
        self.evaluated += requests.len() as u64;
        for (i, &number) in self.pending.iter().enumerate() {
            let item = &mut self.items[number as usize];
            let edge = &self.edges[self.covered as usize][item.edge as usize];
            let previous = &self.hypotheses[(edge.first_hypothesis + item.hypothesis) as usize];
            let option = OptionId(edge.first_option + item.option);
            let scores = requests.scores(i, width);
            item.total = expansion::total(space, previous, option, edge.span, scores);
            item.future = item.total + edge.estimate;
            item.state = requests.state(i);
        }
        let pending = std::mem::take(&mut self.pending);
        match self.phase {
            Some(Phase::Score) => {
                for &item in &pending {
                    self.keep(space, item);
                    self.push_neighbours_lazily(space, item);
                }
                self.phase = Some(Phase::Pop);
            }
            Some(Phase::ScoreRest) => {
                for &item in &pending {
                    self.keep(space, item);
                }
                self.close_stack(space);
                self.phase = Some(Phase::Open);
            }
            _ => {
                for &item in &pending {
                    self.enqueue(item);
                }
            }
        }
        self.pending = pending;
        self.pending.clear();
    }

    fn best(&self) -> Option<HypothesisId> {
        self.best
    }

    fn hypotheses(&self) -> &[Hypothesis] {
        &self.hypotheses
    }

    fn evaluated(&self) -> u64 {
        self.evaluated
    }
}

impl CubePruning {
    /// Puts the first item of every edge of the stack on its way to the queue.
    fn open_stack(&mut self, space: &SearchSpace<'_>, requests: &mut Requests) {
        self.items.clear();
        self.queue.clear();
        self.seen.clear();
        self.candidates.clear();
        self.pops = 0;
        for edge in 0..self.edges[self.covered as usize].len() as u32 {
            self.make_item(space, requests, edge, 0, 0);
        }
    }

    /// A new item: to be scored now, or queued by its stateless score.
    fn make_item(
        &mut self,
        space: &SearchSpace<'_>,
        requests: &mut Requests,
        edge: u32,
        hypothesis: u32,
        option: u32,
    ) {
        let number = self.items.len() as u32;
        self.items.push(Item { edge, hypothesis, option, total: 0.0, future: 0.0, state: 0 });
        if space.system.settings.lazy_scoring {
            let Edge { first_hypothesis, first_option, estimate, .. } =
                self.edges[self.covered as usize][edge as usize];
            let previous = &self.hypotheses[(first_hypothesis + hypothesis) as usize];
            let option = OptionId(first_option + option);
            let total = expansion::stateless_total(space, previous, option);
            self.items[number as usize].future = total + estimate;
            self.enqueue(number);
        } else {
            self.request(space, requests, number);
        }
    }

    /// Asks for the language-model scores of an item.
    #[inline]
    fn request(&mut self, space: &SearchSpace<'_>, requests: &mut Requests, number: u32) {
        let item = self.items[number as usize];
        let edge = &self.edges[self.covered as usize][item.edge as usize];
        let previous = &self.hypotheses[(edge.first_hypothesis + item.hypothesis) as usize];
        let completes = self.covered == space.length;
        requests.push(previous.state, OptionId(edge.first_option + item.option), completes);
        self.pending.push(number);
    }

    #[inline]
    fn enqueue(&mut self, item: u32) {
        let score = ascending(self.items[item as usize].future);
        self.queue.push(u64::from(score) << 32 | u64::from(!item));
    }

    /// Offers a scored item to its mini-stack.
    #[inline]
    fn keep(&mut self, space: &SearchSpace<'_>, number: u32) {
        let item = self.items[number as usize];
        let edge = &self.edges[self.covered as usize][item.edge as usize];
        let hypothesis = Hypothesis {
            total: item.total,
            state: item.state,
            previous: HypothesisId(edge.first_hypothesis + item.hypothesis),
            option: OptionId(edge.first_option + item.option),
            span: edge.span,
            coverage: edge.coverage,
            future: item.future,
        };
        let (key, limits) = rules(space);
        self.candidates.add(edge.group, hypothesis, key, limits);
    }

    /// The item below and the item to the right, where they are new.
    #[inline]
    fn push_neighbours(&mut self, space: &SearchSpace<'_>, requests: &mut Requests, number: u32) {
        for (hypothesis, option) in self.new_neighbours(number).into_iter().flatten() {
            let edge = self.items[number as usize].edge;
            self.make_item(space, requests, edge, hypothesis, option);
        }
    }

    fn push_neighbours_lazily(&mut self, space: &SearchSpace<'_>, number: u32) {
        // With lazy scoring making an item asks for nothing.
        self.push_neighbours(space, &mut Requests::default(), number);
    }

    /// Marks the neighbours of an item as seen and returns those that were not.
    #[inline]
    fn new_neighbours(&mut self, number: u32) -> [Option<(u32, u32)>; 2] {
        let Item { edge, hypothesis, option, .. } = self.items[number as usize];
        let edge = &mut self.edges[self.covered as usize][edge as usize];
        let width = edge.options.div_ceil(64);
        if edge.seen == u32::MAX {
            edge.seen = self.seen.len() as u32;
            self.seen.resize(self.seen.len() + (edge.hypotheses * width) as usize, 0);
        }
        let mut mark = |hypothesis: u32, option: u32| {
            if hypothesis >= edge.hypotheses || option >= edge.options {
                return None;
            }
            let word = &mut self.seen[(edge.seen + hypothesis * width + option / 64) as usize];
            let bit = 1 << (option % 64);
            let new = *word & bit == 0;
            *word |= bit;
            new.then_some((hypothesis, option))
        };
        [mark(hypothesis + 1, option), mark(hypothesis, option + 1)]
    }

    /// Diversity: the first items of edges still in the queue join the stack.
    /// True when they have to be scored first.
    fn collect_rest(&mut self, space: &SearchSpace<'_>, requests: &mut Requests) -> bool {
        while let Some(key) = self.queue.pop() {
            let number = !(key as u32);
            let item = self.items[number as usize];
            if (item.hypothesis, item.option) != (0, 0) {
                continue;
            }
            if space.system.settings.lazy_scoring {
                self.request(space, requests, number);
            } else {
                self.keep(space, number);
            }
        }
        !requests.is_empty()
    }

    /// Sorts and cuts the mini-stacks and makes the edges that leave them.
    fn close_stack(&mut self, space: &mut SearchSpace<'_>) {
        let (_, limits) = rules(space);
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
        self.candidates = candidates;
        if self.covered == space.length {
            let complete = &self.hypotheses[first as usize..];
            let mut best: Option<(usize, f32)> = None;
            for (i, hypothesis) in complete.iter().enumerate() {
                if best.is_none_or(|(_, score)| hypothesis.future > score) {
                    best = Some((i, hypothesis.future));
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
            for slot in 0..space.options.slots() {
                let range = space.options.range(span, slot);
                if range.count == 0 {
                    continue;
                }
                let (coverage, group, covered, estimate) = *target.get_or_insert_with(|| {
                    let coverage = space.coverages.extend(coverage, span, space.costs);
                    let facts = space.coverages.facts(coverage);
                    let group = self.mini_stacks.group(coverage, span.end, facts.covered);
                    (coverage, group, facts.covered, facts.estimate)
                });
                self.edges[covered as usize].push(Edge {
                    first_hypothesis: first,
                    hypotheses: count,
                    first_option: range.first,
                    options: range.count,
                    span,
                    coverage,
                    group,
                    estimate,
                    seen: u32::MAX,
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
    /// Scratch: spans of a mini-stack, and what a stack kept.
    spans: Vec<Span>,
    kept: Vec<(u32, u32, u32)>,
}

impl MiniStacks {
    fn clear(&mut self) {
        self.ids.clear();
        self.counts.clear();
    }

    fn group(&mut self, coverage: CoverageId, end: u32, covered: u32) -> u32 {
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

fn rules(space: &SearchSpace<'_>) -> (RecombinationKey, Limits) {
    let settings = &space.system.settings;
    (space.system.recombination, Limits { size: settings.stack_size, beam: settings.beam })
}
