//! Stack decoding (`docs/spec/phrase-decoding.md` 3.12): one stack per number of covered words,
//! every expansion of every hypothesis evaluated. Slow and thorough.

use std::ops::Range;

use super::candidates::Candidates;
use super::expansion::{may_extend, respects_constraint};
use super::lattice::{Discard, Lattice, RecombinedArcs};
use super::{Search, SearchSpace};
use crate::coverage::CoverageId;
use crate::features::Transition;
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::span::Span;
use crate::translation_options::OptionId;

/// The search, with buffers that are reused.
#[derive(Default)]
pub(crate) struct StackDecoding<L = Discard> {
    hypotheses: Vec<Hypothesis>,
    lattice: Lattice,
    /// By the number of words covered.
    stacks: Vec<Candidates<L>>,
    /// The stack being expanded and its hypotheses.
    covered: u32,
    first: u32,
    last: u32,
    /// The start of the spans that are tried next.
    span_start: u32,
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

impl<L: RecombinedArcs> StackDecoding<L> {
    /// Extends every hypothesis of the stack by `span`, if that is allowed.
    fn expand_span(&mut self, space: &mut SearchSpace<'_>, span: Span) {
        let limits = space.limits.stack_limits();
        let options = space.options;
        if (0..options.num_slots()).all(|slot| options.range(span, slot).count == 0) {
            return;
        }
        for id in self.first..self.last {
            let previous = self.hypotheses[id as usize];
            let facts = space.coverages.summary(previous.coverage);
            let last_end = previous.span.end;
            if (span.start..span.end).any(|p| space.coverages.is_covered(previous.coverage, p))
                || !may_extend(space.limits.distortion_limit, last_end, span, facts.first_gap)
                || !respects_constraint(space, previous.coverage, span)
            {
                continue;
            }
            let coverage = space.coverages.extend(previous.coverage, span, space.future_costs);
            let facts = space.coverages.summary(coverage);
            let completes = space.coverages.is_complete(coverage);
            let transition = Transition::new(last_end, span);
            let stack = &mut self.stacks[facts.covered as usize];
            for slot in 0..options.num_slots() {
                let range = options.range(span, slot);
                let all = (range.first..range.first + range.count).map(OptionId);
                space.prefetch(all.clone().map(|option| (previous.joint_state, option)));
                for option in all {
                    let (total, state) = space.score_expansion(
                        &self.hypotheses,
                        HypothesisId(id),
                        option,
                        &transition,
                        completes,
                    );
                    let hypothesis = Hypothesis {
                        total,
                        joint_state: state,
                        previous: HypothesisId(id),
                        option,
                        span,
                        coverage,
                        future_score: total + facts.estimate,
                    };
                    stack.add(0, hypothesis, space.system.plan.features.recombination_key, limits);
                }
                self.num_evaluated += u64::from(range.count);
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
        stack.recombined.append_to_lattice(self.first, hypotheses, &mut self.lattice);
        if self.covered == space.length && self.first < self.last {
            // Sorted: the first is the best.
            self.best = Some(HypothesisId(self.first));
        }
    }
}
