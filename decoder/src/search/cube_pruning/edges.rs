//! Edges and the mini-stacks that they lead to.

use hashbrown::HashTable;

use super::super::SearchSpace;
use super::super::cells::Edge;
use super::super::expansion::for_each_extension;
use crate::coverage::CoverageId;
use crate::features::Transition;
use crate::span::Span;

/// A mini-stack after its stack was filled: its index, the index of its first hypothesis, and the
/// number of its hypotheses.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptGroup {
    pub(super) group: u32,
    pub(super) first: u32,
    pub(super) count: u32,
}

/// The edges of a sentence, by the number of words that their cells cover. Mini-stacks are numbered
/// within each stack, in the order of their first edges.
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

    /// Takes back edges that were taken, so that their memory is reused.
    pub(super) fn give_back(&mut self, covered: u32, edges: Vec<Edge>) {
        self.by_covered[covered as usize] = edges;
    }

    /// Returns the number of mini-stacks of `covered` words.
    pub(super) fn num_groups(&self, covered: u32) -> usize {
        self.num_groups.get(covered as usize).copied().unwrap_or(0) as usize
    }

    /// Creates the edges that leave the mini-stack of `count` hypotheses from `first` on, which
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
                    let summary = space.coverages.summary(coverage);
                    let group = self.group_of(coverage, span.end, summary.covered);
                    (coverage, group, summary.covered, summary.estimate)
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
            // The product is folded, because the table uses its low bits.
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
