//! Stack decoding (`docs/spec/phrase-decoding.md` 3.12): one stack per number of covered words.
//! Every hypothesis is expanded by every option that is allowed; only expansions that the stack
//! would certainly reject are not scored. This is slow and thorough.
//!
//! Expansions are cells ([`cells`](super::cells)). They are scored in batches, so that a whole
//! batch waits for memory at once. Cells enter their stack in the order in which they were made: a
//! batch is added while the next one waits for memory. So the results, including ties, are those of
//! scoring one cell after another.

use std::ops::Range;

use super::candidates::{Candidates, StackLimits};
use super::cells::{
    Cell, CellBuffers, CellScorer, CellTask, Edge, ExtendedHypotheses, Predecessor,
};
use super::expansion::{may_extend, respects_constraint};
use super::lattice::{Discard, Lattice, RecombinedArcs};
use super::{Search, SearchSpace};
use crate::coverage::CoverageId;
use crate::features::{RecombinationKey, Transition};
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::span::Span;

/// A batch of cells ends with the edge that reaches this number of cells.
const BATCH_CELLS: usize = 128;

/// The number of scored cells that are added to their stack at each wait for memory.
const ADDED_WHILE_WAITING: usize = 16;

/// The search, with buffers that are reused.
#[derive(Default)]
pub(crate) struct StackDecoding<L = Discard> {
    hypotheses: Vec<Hypothesis>,
    /// For each hypothesis, the data that the fast path reads; empty if the system does not use the
    /// fast path.
    predecessors: Vec<Predecessor>,
    lattice: Lattice,
    /// The stacks, by the number of covered words.
    stacks: Vec<Candidates<L>>,
    /// The number of words that the stack being expanded covers, and the range of its hypotheses.
    covered: u32,
    first: u32,
    last: u32,
    /// The start of the spans that are tried next.
    span_start: u32,
    span_cells: SpanCells,
    buffers: CellBuffers,
    best: Option<HypothesisId>,
    num_evaluated: u64,
}

impl<L: RecombinedArcs> Search for StackDecoding<L> {
    fn start(&mut self, space: &mut SearchSpace<'_>, state: u32) {
        let stacks = space.length as usize + 1;
        self.stacks.resize_with(stacks.max(self.stacks.len()), Candidates::default);
        self.stacks.iter_mut().for_each(Candidates::clear);
        let mut initial = Hypothesis::initial(state);
        initial.future_score = space.coverages.summary(CoverageId::EMPTY).estimate;
        self.hypotheses.clear();
        self.hypotheses.push(initial);
        self.predecessors.clear();
        if let Some(features) = &space.system.plan.fast_path {
            self.predecessors.push(Predecessor::new(&initial, space, features));
        }
        self.lattice.start();
        self.first = 0;
        self.last = 1;
        self.covered = 0;
        self.span_start = 0;
        self.best = None;
        self.num_evaluated = 0;
    }

    fn step(&mut self, space: &mut SearchSpace<'_>) -> bool {
        if self.covered == space.length {
            return false;
        }
        let start = self.span_start;
        for end in start + 1..=space.length.min(start + space.options.max_span_length()) {
            self.expand_span(space, Span { start, end });
        }
        self.span_start += 1;
        if self.span_start == space.length {
            self.span_start = 0;
            self.advance_stack(space);
        }
        true
    }

    fn best_hypothesis(&self) -> Option<HypothesisId> {
        self.best
    }

    fn hypotheses(&self) -> &[Hypothesis] {
        &self.hypotheses
    }

    fn complete_hypotheses(&self) -> Range<u32> {
        self.first..self.last
    }

    fn lattice(&self) -> Option<&Lattice> {
        L::KEEPS_ARCS.then_some(&self.lattice)
    }

    fn num_evaluated(&self) -> u64 {
        self.num_evaluated
    }
}

/// The expansions of a stack by a span, in buffers that are reused: an edge for each hypothesis and
/// table, and their cells.
#[derive(Default)]
struct SpanCells {
    edges: Vec<Edge>,
    cells: Vec<Cell>,
    /// The number of cells that were added to their stack.
    num_added: usize,
}

/// The expansions of a stack by a span, to be scored and added to `stack`.
struct AddSpanCells<'s, L> {
    cells: &'s mut SpanCells,
    stack: &'s mut Candidates<L>,
    key: RecombinationKey,
    limits: StackLimits,
}

impl<L: RecombinedArcs> CellTask for AddSpanCells<'_, L> {
    type Output = ();

    fn run<S: CellScorer>(self, scorer: &mut S) {
        let AddSpanCells { cells: SpanCells { edges, cells, num_added }, stack, key, limits } =
            self;
        cells.clear();
        *num_added = 0;
        let mut from = 0;
        for (number, edge) in edges.iter().enumerate() {
            let row = scorer.row(edges, number as u32, edge.first_hypothesis);
            let floor = stack.floor(0);
            for option in edge.first_option..edge.first_option + edge.num_options {
                if scorer.bound(&row, option) + edge.estimate < floor {
                    // The stack would reject this cell and stay as it is.
                    continue;
                }
                cells.push(scorer.make_cell(&row, number as u32, option));
            }
            if cells.len() - from < BATCH_CELLS && number + 1 < edges.len() {
                continue;
            }
            let (scored, new) = cells.split_at_mut(from);
            let mut add_next = |count: usize| {
                let end = scored.len().min(num_added.saturating_add(count));
                for cell in &scored[*num_added..end] {
                    stack.add(0, cell.hypothesis(edges), key, limits);
                }
                *num_added = end;
            };
            scorer.score_cells(new, edges, || add_next(ADDED_WHILE_WAITING));
            scorer.join_states(new);
            add_next(usize::MAX);
            from = cells.len();
        }
        for cell in &cells[*num_added..] {
            stack.add(0, cell.hypothesis(edges), key, limits);
        }
    }
}

impl<L: RecombinedArcs> StackDecoding<L> {
    /// Extends every hypothesis of the stack by `span`, if that is allowed.
    fn expand_span(&mut self, space: &mut SearchSpace<'_>, span: Span) {
        let options = space.options;
        if (0..options.num_slots()).all(|slot| options.range(span, slot).count == 0) {
            return;
        }
        self.make_edges(space, span);
        let Some(first) = self.span_cells.edges.first() else { return };
        // All expansions by this span cover the same number of words.
        let covered = space.coverages.summary(first.coverage).covered;
        let completes = covered == space.length;
        let StackDecoding { span_cells, buffers, hypotheses, predecessors, .. } = self;
        let stack = &mut self.stacks[covered as usize];
        let plan = &space.system.plan;
        let (key, limits) = (plan.features.recombination_key, space.limits.stack_limits());
        let extended = ExtendedHypotheses { hypotheses, predecessors, completes };
        let task = AddSpanCells { cells: span_cells, stack, key, limits };
        buffers.run(space, extended, plan.fast_path.as_ref(), task);
        self.num_evaluated += self.span_cells.cells.len() as u64;
    }

    /// Creates the edges from all hypotheses of the stack that `span` may extend.
    fn make_edges(&mut self, space: &mut SearchSpace<'_>, span: Span) {
        let options = space.options;
        let edges = &mut self.span_cells.edges;
        edges.clear();
        for id in self.first..self.last {
            let previous = &self.hypotheses[id as usize];
            let summary = space.coverages.summary(previous.coverage);
            let last_end = previous.span.end;
            if space.coverages.next_covered(previous.coverage, span.start, span.end) < span.end
                || !may_extend(space.limits.distortion_limit, last_end, span, summary.first_gap)
                || !respects_constraint(space, previous.coverage, span)
            {
                continue;
            }
            let coverage = space.coverages.extend(previous.coverage, span, space.future_costs);
            let estimate = space.coverages.summary(coverage).estimate;
            let transition = Transition::new(last_end, span);
            for slot in 0..options.num_slots() {
                let range = options.range(span, slot);
                if range.count == 0 {
                    continue;
                }
                edges.push(Edge {
                    first_hypothesis: id,
                    num_hypotheses: 1,
                    first_option: range.first,
                    num_options: range.count,
                    transition,
                    coverage,
                    group: 0,
                    estimate,
                    seen_start: Edge::NOTHING_SEEN,
                });
            }
        }
    }

    /// Sorts and prunes the next stack.
    fn advance_stack(&mut self, space: &SearchSpace<'_>) {
        let limits = space.limits.stack_limits();
        self.covered += 1;
        self.first = self.hypotheses.len() as u32;
        let hypotheses = &mut self.hypotheses;
        let stack = &mut self.stacks[self.covered as usize];
        stack.drain(limits, |_, h| hypotheses.push(*h));
        self.last = hypotheses.len() as u32;
        stack.recombined.sort_arcs();
        if let Some(features) = &space.system.plan.fast_path {
            let survivors = &hypotheses[self.first as usize..];
            let kept = survivors.iter().map(|h| Predecessor::new(h, space, features));
            self.predecessors.extend(kept);
        }
        stack.recombined.append_to_lattice(self.first, hypotheses, &mut self.lattice);
        if space.system.plan.fast_path.is_some() {
            // Arcs are never extended.
            self.predecessors.resize(hypotheses.len(), Predecessor::default());
        }
        if self.covered == space.length && self.first < self.last {
            // Hypotheses are sorted: the first is the best.
            self.best = Some(HypothesisId(self.first));
        }
    }
}
