//! Cube pruning with mini-stacks (`docs/spec/phrase-decoding.md` 3.11).
//!
//! An edge joins the hypotheses of one mini-stack (same coverage, same last position) with the
//! options of one span and table. Both are sorted, so its best cell joins the first hypothesis with
//! the first option. A stack is filled by popping the best cell of all edges, a fixed number of
//! times. A popped cell makes its two neighbours reachable.
//!
//! Cells are popped in one of two ways with the same results: in [`waves`], which overlap the
//! memory accesses of many cells, or one at a time from an [`item_queue`], which supports all
//! systems and options.

mod edges;
mod item_queue;
mod score_buckets;
mod wave_recombination;
mod waves;

use std::ops::Range;

use super::candidates::StackLimits;
use super::cells::{CellBuffers, Edge, ExtendedHypotheses, Predecessor};
use super::lattice::{Discard, Lattice, RecombinedArcs};
use super::{Search, SearchSpace};
use crate::coverage::CoverageId;
use crate::features::{FastPathFeatures, FastPathKind, RecombinationKey};
use crate::hypothesis::{Hypothesis, HypothesisId};
use edges::{Edges, KeptGroup};
use item_queue::{FastPath, General, ItemQueue, Lazy};
use waves::{FillStack, WaveStack, Waves};

/// The search, with buffers that are reused.
pub(crate) struct CubePruning<L = Discard> {
    hypotheses: Vec<Hypothesis>,
    /// For each hypothesis, the data that the fast path reads; empty if the system does not use the
    /// fast path.
    predecessors: Vec<Predecessor>,
    lattice: Lattice,
    edges: Edges,
    queue: ItemQueue<L>,
    waves: Waves<L>,
    buffers: CellBuffers,
    /// Whether cells are popped in waves if the settings allow it. Only tests switch this off.
    uses_waves: bool,
    /// Scratch: the mini-stacks of the stack filled last.
    kept_groups: Vec<KeptGroup>,
    /// The number of words that hypotheses of the stack filled last cover.
    covered: u32,
    best: Option<HypothesisId>,
    complete_hypotheses: Range<u32>,
}

impl<L: RecombinedArcs> Default for CubePruning<L> {
    fn default() -> Self {
        CubePruning {
            hypotheses: Vec::new(),
            predecessors: Vec::new(),
            lattice: Lattice::default(),
            edges: Edges::default(),
            queue: ItemQueue::default(),
            waves: Waves::default(),
            buffers: CellBuffers::default(),
            uses_waves: true,
            kept_groups: Vec::new(),
            covered: 0,
            best: None,
            complete_hypotheses: 0..0,
        }
    }
}

impl<L: RecombinedArcs> Search for CubePruning<L> {
    fn start(&mut self, space: &mut SearchSpace<'_>, state: u32) {
        self.edges.start(space.length);
        self.hypotheses.clear();
        self.predecessors.clear();
        self.lattice.start();
        self.best = None;
        self.complete_hypotheses = 0..0;
        self.queue.num_evaluated = 0;
        self.waves.num_evaluated = 0;
        let mut initial = Hypothesis::initial(state);
        initial.future_score = space.coverages.summary(CoverageId::EMPTY).estimate;
        self.hypotheses.push(initial);
        if let Some(features) = self.fast_path_features(space) {
            self.predecessors.push(Predecessor::new(&initial, space, features));
        }
        self.edges.extend_mini_stack(space, 0, 1, CoverageId::EMPTY, 0);
        self.covered = 0;
    }

    fn step(&mut self, space: &mut SearchSpace<'_>) -> bool {
        if self.covered == space.length {
            return false;
        }
        self.covered += 1;
        let mut edges = self.edges.take(self.covered);
        let first = self.hypotheses.len() as u32;
        let in_waves = self.fill_in_waves(space, &mut edges);
        if !in_waves {
            self.fill_one_at_a_time(space, &mut edges);
        }
        self.edges.give_back(self.covered, edges);
        let last = self.hypotheses.len() as u32;
        self.append_arcs(space, first, in_waves);
        self.leave_stack(space, first..last);
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
        self.queue.num_evaluated + self.waves.num_evaluated
    }
}

impl<L: RecombinedArcs> CubePruning<L> {
    /// Whether stacks are filled in waves.
    fn fills_in_waves(&self, space: &SearchSpace<'_>) -> bool {
        let settings = &space.system.settings;
        self.uses_waves && !settings.lazy_scoring && !settings.diversity
    }

    /// Returns the features of a system whose stacks are filled with cells of the fast path.
    fn fast_path_features<'a>(&self, space: &SearchSpace<'a>) -> Option<&'a FastPathFeatures> {
        space.system.plan.fast_path.as_ref().filter(|_| self.fills_in_waves(space))
    }

    /// Fills the stack in waves. Adds no hypotheses and returns false if the settings need single
    /// items to be popped, if the stack or the sentence is too large for waves, or if ties or full
    /// mini-stacks may decide the content of the stack.
    fn fill_in_waves(&mut self, space: &mut SearchSpace<'_>, edges: &mut [Edge]) -> bool {
        let stack = WaveStack {
            limits: space.limits,
            recombination_key: space.system.plan.features.recombination_key,
            num_groups: self.edges.num_groups(self.covered),
        };
        if !self.fills_in_waves(space) || !stack.is_supported(space.length) {
            return false;
        }
        let first = self.hypotheses.len() as u32;
        let completes = self.covered == space.length;
        let features = self.fast_path_features(space);
        let CubePruning { waves, buffers, hypotheses, predecessors, .. } = self;
        let extended = ExtendedHypotheses { hypotheses, predecessors, completes };
        let task = FillStack { waves, edges: &mut *edges, stack };
        let filled = buffers.run(space, extended, features, task);
        if !filled {
            edges.iter_mut().for_each(|edge| edge.seen_start = Edge::NOTHING_SEEN);
            return false;
        }
        self.kept_groups.clear();
        self.waves.for_each_survivor(edges, |group, hypothesis| {
            push_kept(&mut self.kept_groups, group, self.hypotheses.len() as u32);
            self.hypotheses.push(hypothesis);
        });
        self.push_predecessors(space, first);
        true
    }

    /// Fills the stack by the loop that serves all systems.
    fn fill_one_at_a_time(&mut self, space: &mut SearchSpace<'_>, edges: &mut [Edge]) {
        let completes = self.covered == space.length;
        let hypotheses = &self.hypotheses;
        match &space.system.plan.fast_path {
            _ if space.system.settings.lazy_scoring => {
                self.queue.fill_stack(space, hypotheses, edges, &Lazy, completes);
            }
            Some(features) if features.kind == FastPathKind::Plain => {
                self.queue.fill_stack(space, hypotheses, edges, &FastPath(features), completes);
            }
            _ => self.queue.fill_stack(space, hypotheses, edges, &General, completes),
        }
        let (_, limits) = recombination_rules(space);
        let first = self.hypotheses.len() as u32;
        self.kept_groups.clear();
        self.queue.candidates.drain(limits, |group, hypothesis| {
            push_kept(&mut self.kept_groups, group, self.hypotheses.len() as u32);
            self.hypotheses.push(*hypothesis);
        });
        self.queue.candidates.recombined.sort_arcs();
        self.push_predecessors(space, first);
    }

    /// Stores the data that cells of the fast path read from the hypotheses from `first` on.
    fn push_predecessors(&mut self, space: &SearchSpace<'_>, first: u32) {
        let Some(features) = self.fast_path_features(space) else { return };
        let hypotheses = &self.hypotheses[first as usize..];
        self.predecessors.extend(
            hypotheses.iter().map(|hypothesis| Predecessor::new(hypothesis, space, features)),
        );
    }

    /// Appends the arcs of the stack filled last, whose first hypothesis is `first`.
    fn append_arcs(&mut self, space: &SearchSpace<'_>, first: u32, in_waves: bool) {
        let recombined =
            if in_waves { self.waves.recombined() } else { &mut self.queue.candidates.recombined };
        recombined.append_to_lattice(first, &mut self.hypotheses, &mut self.lattice);
        if self.fast_path_features(space).is_some() {
            // Arcs are never extended.
            self.predecessors.resize(self.hypotheses.len(), Predecessor::default());
        }
    }

    /// Creates the edges that leave the mini-stacks of the stack filled last, or notes that the
    /// search is over. `stack` is the range of its hypotheses.
    fn leave_stack(&mut self, space: &mut SearchSpace<'_>, stack: Range<u32>) {
        if self.covered == space.length {
            let first = stack.start;
            let complete = &self.hypotheses[first as usize..stack.end as usize];
            self.complete_hypotheses = stack;
            let mut best: Option<(usize, f32)> = None;
            for (i, hypothesis) in complete.iter().enumerate() {
                if best.is_none_or(|(_, score)| hypothesis.future_score > score) {
                    best = Some((i, hypothesis.future_score));
                }
            }
            self.best = best.map(|(i, _)| HypothesisId(first + i as u32));
            return;
        }
        for &KeptGroup { first, count, .. } in &self.kept_groups {
            let Hypothesis { coverage, span, .. } = self.hypotheses[first as usize];
            self.edges.extend_mini_stack(space, first, count, coverage, span.end);
        }
    }
}

/// Counts the next hypothesis, `number`, as one of `group`.
#[inline(always)]
fn push_kept(kept: &mut Vec<KeptGroup>, group: u32, number: u32) {
    match kept.last_mut() {
        Some(last) if last.group == group => last.count += 1,
        _ => kept.push(KeptGroup { group, first: number, count: 1 }),
    }
}

fn recombination_rules(space: &SearchSpace<'_>) -> (RecombinationKey, StackLimits) {
    (space.system.plan.features.recombination_key, space.limits.stack_limits())
}

#[cfg(test)]
mod tests;
