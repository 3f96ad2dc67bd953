//! Stack decoding (`phrase-decoding.md` 3.12): one stack a number of covered
//! words, every expansion of every hypothesis evaluated. Slow and thorough.
//!
//! A batch is one span: all hypotheses of the stack that may go on with it,
//! times its options. What it makes lands in later stacks, so a batch never
//! waits for itself.

use super::candidates::{Candidates, Limits};
use super::expansion::{self, may_extend, respects_constraint};
use super::hypothesis::{Hypothesis, HypothesisId};
use super::{Requests, Search, SearchSpace};
use crate::coverage::CoverageId;
use crate::features::Span;
use crate::options::OptionId;

/// An expansion whose score is awaited.
#[derive(Clone, Copy)]
struct Pending {
    previous: HypothesisId,
    option: OptionId,
    coverage: CoverageId,
}

/// The search, with buffers that are reused.
#[derive(Default)]
pub(crate) struct StackSearch {
    hypotheses: Vec<Hypothesis>,
    /// By the number of words covered.
    stacks: Vec<Candidates>,
    /// The stack being expanded and its first hypothesis.
    covered: u32,
    first: u32,
    /// The span to be tried next; nothing when the stack is done.
    next_span: Option<Span>,
    /// The span of the expansions whose scores are awaited.
    span: Option<Span>,
    pending: Vec<Pending>,
    best: Option<HypothesisId>,
    evaluated: u64,
}

impl Search for StackSearch {
    fn start(&mut self, space: &mut SearchSpace<'_>, state: u32) {
        let stacks = space.length as usize + 1;
        self.stacks.resize_with(stacks.max(self.stacks.len()), Candidates::default);
        self.stacks.iter_mut().for_each(Candidates::clear);
        let mut initial = Hypothesis::initial(state);
        initial.future = space.coverages.facts(CoverageId::EMPTY).estimate;
        self.hypotheses.clear();
        self.hypotheses.push(initial);
        self.first = 0;
        self.covered = 0;
        self.next_span = Some(Span { start: 0, end: 1 });
        self.best = None;
        self.evaluated = 0;
    }

    fn advance(&mut self, space: &mut SearchSpace<'_>, requests: &mut Requests) -> bool {
        while self.best.is_none() {
            match self.next_span {
                Some(span) => {
                    self.expand(space, span, requests);
                    self.next_span = span_after(span, space);
                }
                None if self.covered == space.length => break,
                None => self.open_stack(space),
            }
            if !requests.is_empty() {
                return true;
            }
        }
        false
    }

    fn accept(&mut self, space: &mut SearchSpace<'_>, requests: &Requests) {
        let Some(span) = self.span else { return };
        let settings = &space.system.settings;
        let limits = Limits { size: settings.stack_size, beam: settings.beam };
        let models = space.system.language_models.len();
        self.evaluated += requests.len() as u64;
        for (i, pending) in self.pending.iter().enumerate() {
            let previous = &self.hypotheses[pending.previous.0 as usize];
            let scores = requests.scores(i, models);
            let total = expansion::total(space, previous, pending.option, span, scores);
            let facts = space.coverages.facts(pending.coverage);
            let hypothesis = Hypothesis {
                total,
                state: requests.state(i),
                previous: pending.previous,
                option: pending.option,
                span,
                coverage: pending.coverage,
                future: total + facts.estimate,
            };
            let stack = &mut self.stacks[facts.covered as usize];
            stack.add(0, hypothesis, space.system.recombination, limits);
        }
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

impl StackSearch {
    /// Requests the expansions of all hypotheses of the stack by `span`.
    fn expand(&mut self, space: &mut SearchSpace<'_>, span: Span, requests: &mut Requests) {
        let limit = space.system.settings.distortion_limit;
        self.span = Some(span);
        let any = (0..space.options.slots()).any(|slot| space.options.range(span, slot).count > 0);
        if !any {
            return;
        }
        for id in self.first..self.hypotheses.len() as u32 {
            let hypothesis = &self.hypotheses[id as usize];
            let (coverage, state) = (hypothesis.coverage, hypothesis.state);
            let facts = space.coverages.facts(coverage);
            let last_end = hypothesis.span.end;
            if (span.start..span.end).any(|p| space.coverages.is_covered(coverage, p))
                || !may_extend(limit, last_end, span, facts.first_gap)
                || !respects_constraint(space, coverage, span)
            {
                continue;
            }
            let coverage = space.coverages.extend(coverage, span, space.costs);
            let completes = space.coverages.is_complete(coverage);
            for slot in 0..space.options.slots() {
                let range = space.options.range(span, slot);
                for option in range.first..range.first + range.count {
                    let option = OptionId(option);
                    requests.push(state, option, completes);
                    self.pending.push(Pending { previous: HypothesisId(id), option, coverage });
                }
            }
        }
    }

    /// Sorts and cuts the next stack.
    fn open_stack(&mut self, space: &SearchSpace<'_>) {
        let settings = &space.system.settings;
        let limits = Limits { size: settings.stack_size, beam: settings.beam };
        self.covered += 1;
        self.first = self.hypotheses.len() as u32;
        let hypotheses = &mut self.hypotheses;
        self.stacks[self.covered as usize].drain(limits, |_, h| hypotheses.push(*h));
        if self.covered < space.length {
            self.next_span = Some(Span { start: 0, end: 1 });
        } else if self.first < self.hypotheses.len() as u32 {
            // Sorted: the first is the best.
            self.best = Some(HypothesisId(self.first));
        }
    }
}

/// Spans by start, then by length.
fn span_after(span: Span, space: &SearchSpace<'_>) -> Option<Span> {
    let Span { start, end } = span;
    if end < space.length && end - start < space.options.longest() {
        Some(Span { start, end: end + 1 })
    } else if start + 1 < space.length {
        Some(Span { start: start + 1, end: start + 2 })
    } else {
        None
    }
}
