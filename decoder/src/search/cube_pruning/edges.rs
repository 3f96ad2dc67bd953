//! Edges and the mini-stacks that they lead to.

use hashbrown::HashTable;

use super::super::SearchSpace;
use super::super::expansion::for_each_extension;
use crate::coverage::CoverageId;
use crate::features::Transition;
use crate::span::Span;

/// Hypotheses of a mini-stack times options of a span.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    pub(super) first_hypothesis: u32,
    pub(super) num_hypotheses: u32,
    pub(super) first_option: u32,
    pub(super) num_options: u32,
    pub(super) transition: Transition,
    pub(super) coverage: CoverageId,
    /// The mini-stack that it leads to, a number within the stack.
    pub(super) group: u32,
    /// The estimate of what `coverage` leaves.
    pub(super) estimate: f32,
    /// The start of its rows of seen cells; [`Edge::NOTHING_SEEN`] before the first pop.
    pub(super) seen_start: u32,
}

impl Edge {
    /// `seen_start` of an edge of which nothing was popped yet.
    pub(super) const NOTHING_SEEN: u32 = u32::MAX;

    /// Marks a cell as seen; returns whether it exists and is new. `seen` has a row of bits for
    /// each hypothesis of every edge that was popped from.
    #[inline(always)]
    pub(super) fn mark_seen(&self, seen: &mut [u64], hypothesis: u32, option: u32) -> bool {
        if hypothesis >= self.num_hypotheses || option >= self.num_options {
            return false;
        }
        let row = self.seen_start + hypothesis * self.row_width();
        let word = &mut seen[(row + option / 64) as usize];
        let bit = 1 << (option % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Makes the edge's rows if there are none.
    #[inline(always)]
    pub(super) fn make_rows(&mut self, seen: &mut Vec<u64>) {
        if self.seen_start == Edge::NOTHING_SEEN {
            self.seen_start = seen.len() as u32;
            seen.resize(seen.len() + (self.num_hypotheses * self.row_width()) as usize, 0);
        }
    }

    #[inline(always)]
    fn row_width(&self) -> u32 {
        self.num_options.div_ceil(64)
    }
}

/// A mini-stack after its stack was filled: its index, the index of its first hypothesis, and the
/// number of its hypotheses.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptGroup {
    pub(super) group: u32,
    pub(super) first: u32,
    pub(super) count: u32,
}

/// The edges of a sentence by the number of words they cover, and the numbers of
/// mini-stacks: within each stack, in the order of their first edge.
#[derive(Default)]
pub(super) struct Edges {
    by_covered: Vec<Vec<Edge>>,
    groups: HashTable<(CoverageId, u32, u32)>,
    /// The number of mini-stacks, by words covered.
    num_groups: Vec<u32>,
    /// Scratch: the spans that may follow a mini-stack.
    spans: Vec<Span>,
}

impl Edges {
    /// Begins a sentence of `length` words.
    pub(super) fn start(&mut self, length: u32) {
        self.by_covered.iter_mut().for_each(Vec::clear);
        let stacks = length as usize + 1;
        self.by_covered.resize_with(stacks.max(self.by_covered.len()), Vec::new);
        self.groups.clear();
        self.num_groups.clear();
    }

    /// Takes the edges that lead to `covered` words.
    pub(super) fn take(&mut self, covered: u32) -> Vec<Edge> {
        std::mem::take(&mut self.by_covered[covered as usize])
    }

    /// Takes back the memory of the edges taken.
    pub(super) fn give_back(&mut self, covered: u32, edges: Vec<Edge>) {
        self.by_covered[covered as usize] = edges;
    }

    /// Returns the number of mini-stacks of `covered` words.
    pub(super) fn num_groups(&self, covered: u32) -> usize {
        self.num_groups.get(covered as usize).copied().unwrap_or(0) as usize
    }

    /// Makes the edges that leave the mini-stack of `count` hypotheses from `first` on, which
    /// cover `coverage` and end at `last_end`.
    pub(super) fn extend_mini_stack(
        &mut self,
        space: &mut SearchSpace<'_>,
        first: u32,
        count: u32,
        coverage: CoverageId,
        last_end: u32,
    ) {
        let mut spans = std::mem::take(&mut self.spans);
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
                    let group = self.group_of(coverage, span.end, facts.covered);
                    (coverage, group, facts.covered, facts.estimate)
                });
                self.by_covered[covered as usize].push(Edge {
                    first_hypothesis: first,
                    num_hypotheses: count,
                    first_option: range.first,
                    num_options: range.count,
                    transition,
                    coverage,
                    group,
                    estimate,
                    seen_start: Edge::NOTHING_SEEN,
                });
            }
        }
        self.spans = spans;
    }

    fn group_of(&mut self, coverage: CoverageId, end: u32, covered: u32) -> u32 {
        fn hash(coverage: CoverageId, end: u32) -> u64 {
            // Folded, because the table looks at the low bits.
            let key = u128::from(u64::from(coverage.0) << 32 | u64::from(end));
            let product = key * 0x9e37_79b9_7f4a_7c15;
            (product ^ product >> 64) as u64
        }
        let found = self.groups.find(hash(coverage, end), |&(c, e, _)| c == coverage && e == end);
        if let Some(&(_, _, group)) = found {
            return group;
        }
        if self.num_groups.len() <= covered as usize {
            self.num_groups.resize(covered as usize + 1, 0);
        }
        let group = self.num_groups[covered as usize];
        self.num_groups[covered as usize] += 1;
        self.groups
            .insert_unique(hash(coverage, end), (coverage, end, group), |&(c, e, _)| hash(c, e));
        group
    }
}
