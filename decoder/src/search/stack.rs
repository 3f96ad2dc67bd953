//! Stack decoding (`phrase-decoding.md` 3.12): one stack a number of covered
//! words, every expansion of every hypothesis evaluated. Slow and thorough.

use std::ops::Range;

use super::candidates::Candidates;
use super::expansion::{Step, may_extend, respects_constraint};
use super::hypothesis::{Hypothesis, HypothesisId};
use super::lattice::{Forgotten, Lattice, Losers};
use super::{Search, SearchSpace};
use crate::coverage::CoverageId;
use crate::features::Span;
use crate::options::OptionId;

/// The search, with buffers that are reused.
#[derive(Default)]
pub(crate) struct StackSearch<L = Forgotten> {
    hypotheses: Vec<Hypothesis>,
    lattice: Lattice,
    /// By the number of words covered.
    stacks: Vec<Candidates<L>>,
    /// The stack being expanded and its hypotheses.
    covered: u32,
    first: u32,
    last: u32,
    /// Where the spans begin that are tried next.
    start: u32,
    best: Option<HypothesisId>,
    evaluated: u64,
}

impl<L: Losers> Search for StackSearch<L> {
    fn start(&mut self, space: &mut SearchSpace<'_>, state: u32) {
        let stacks = space.length as usize + 1;
        self.stacks.resize_with(stacks.max(self.stacks.len()), Candidates::default);
        self.stacks.iter_mut().for_each(Candidates::clear);
        let mut initial = Hypothesis::initial(state);
        initial.future = space.coverages.facts(CoverageId::EMPTY).estimate;
        self.hypotheses.clear();
        self.hypotheses.push(initial);
        self.lattice.start();
        self.first = 0;
        self.last = 1;
        self.covered = 0;
        self.start = 0;
        self.best = None;
        self.evaluated = 0;
    }

    fn step(&mut self, space: &mut SearchSpace<'_>) -> bool {
        if self.covered == space.length {
            return false;
        }
        let start = self.start;
        for end in start + 1..=space.length.min(start + space.options.longest()) {
            self.expand(space, Span { start, end });
        }
        self.start += 1;
        if self.start == space.length {
            self.start = 0;
            self.open_stack(space);
        }
        true
    }

    fn best(&self) -> Option<HypothesisId> {
        self.best
    }

    fn hypotheses(&self) -> &[Hypothesis] {
        &self.hypotheses
    }

    fn complete(&self) -> Range<u32> {
        self.first..self.last
    }

    fn lattice(&self) -> Option<&Lattice> {
        L::KEPT.then_some(&self.lattice)
    }

    fn evaluated(&self) -> u64 {
        self.evaluated
    }
}

impl<L: Losers> StackSearch<L> {
    /// Goes on with `span` from every hypothesis of the stack that may.
    fn expand(&mut self, space: &mut SearchSpace<'_>, span: Span) {
        let limits = space.limits.of_stack();
        let options = space.options;
        if (0..options.slots()).all(|slot| options.range(span, slot).count == 0) {
            return;
        }
        for id in self.first..self.last {
            let previous = self.hypotheses[id as usize];
            let facts = space.coverages.facts(previous.coverage);
            let last_end = previous.span.end;
            if (span.start..span.end).any(|p| space.coverages.is_covered(previous.coverage, p))
                || !may_extend(space.limits.distortion, last_end, span, facts.first_gap)
                || !respects_constraint(space, previous.coverage, span)
            {
                continue;
            }
            let coverage = space.coverages.extend(previous.coverage, span, space.costs);
            let facts = space.coverages.facts(coverage);
            let completes = space.coverages.is_complete(coverage);
            let step = Step::new(last_end, span);
            let stack = &mut self.stacks[facts.covered as usize];
            for slot in 0..options.slots() {
                let range = options.range(span, slot);
                let all = (range.first..range.first + range.count).map(OptionId);
                space.prefetch(all.clone().map(|option| (previous.state, option)));
                for option in all {
                    let (total, state) =
                        space.expand(&self.hypotheses, HypothesisId(id), option, &step, completes);
                    let hypothesis = Hypothesis {
                        total,
                        state,
                        previous: HypothesisId(id),
                        option,
                        span,
                        coverage,
                        future: total + facts.estimate,
                    };
                    stack.add(0, hypothesis, space.system.recombination, limits);
                }
                self.evaluated += u64::from(range.count);
            }
        }
    }

    /// Sorts and cuts the next stack.
    fn open_stack(&mut self, space: &SearchSpace<'_>) {
        let limits = space.limits.of_stack();
        self.covered += 1;
        self.first = self.hypotheses.len() as u32;
        let hypotheses = &mut self.hypotheses;
        let stack = &mut self.stacks[self.covered as usize];
        stack.drain(limits, |_, h| hypotheses.push(*h));
        self.last = hypotheses.len() as u32;
        stack.losers.settle(self.first, hypotheses, &mut self.lattice);
        if self.covered == space.length && self.first < self.last {
            // Sorted: the first is the best.
            self.best = Some(HypothesisId(self.first));
        }
    }
}
