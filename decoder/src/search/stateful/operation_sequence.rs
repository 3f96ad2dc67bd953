//! Operation sequence models in the search.
//!
//! What an expansion costs depends on the cursor, the gaps and the model's context
//! behind the hypothesis. For recombination Moses2 looks at the *length* of that
//! context only, not at its words (`phrase-decoding.md` 3.8), and so does the state
//! here unless recombination is to be exact. The state therefore does not tell what
//! stands behind a hypothesis; it is worked out from the hypothesis before it when it
//! is expanded for the first time, and kept under its number.

use miriam_lmcpu::LmWord;
use miriam_textio::WordId;

use super::slice_interner::SliceInterner;
use super::{ComponentValues, Expansion, FeatureInput, StatefulScorer};
use crate::features::{Cursor, OperationCounts, OperationProgram, Span, UNKNOWN_TARGET};
use crate::options::OptionId;
use crate::search::SearchSpace;
use crate::search::hypothesis::{Hypothesis, HypothesisId};
use crate::search::lm_cache::LmScoreCache;
use crate::system::System;

pub(super) struct OperationSequenceScorer {
    /// Which model.
    model: usize,
    lm_cache: LmScoreCache,
    /// By option, where it has been applied.
    programs: LazyVec<OperationProgram>,
    /// By hypothesis, where it has been expanded.
    states: LazyVec<OperationState>,
    /// What counts for recombination.
    recombination_states: SliceInterner,
    scratch: Scratch,
}

/// Where the operations of a hypothesis end.
#[derive(Clone, Default)]
struct OperationState {
    cursor: Cursor,
    /// The state of the operation model.
    lm_state: u32,
}

/// Values made once a sentence each, in memory that outlives it.
#[derive(Default)]
struct LazyVec<T> {
    values: Vec<T>,
    is_set: Vec<bool>,
}

impl<T: Default> LazyVec<T> {
    fn clear(&mut self) {
        self.is_set.clear();
    }

    fn contains(&self, at: u32) -> bool {
        self.is_set.get(at as usize) == Some(&true)
    }

    /// The value at `at`, which has been made.
    fn get(&self, at: u32) -> &T {
        debug_assert!(self.contains(at));
        &self.values[at as usize]
    }

    /// The value at `at`, to be made now.
    fn insert(&mut self, at: u32) -> &mut T {
        let at = at as usize;
        if self.values.len() <= at {
            self.values.resize_with(at + 1, T::default);
        }
        if self.is_set.len() <= at {
            self.is_set.resize(at + 1, false);
        }
        self.is_set[at] = true;
        &mut self.values[at]
    }
}

#[derive(Default)]
struct Scratch {
    state: OperationState,
    covered: Vec<bool>,
    operations: Vec<LmWord>,
    row: Vec<u32>,
}

impl OperationSequenceScorer {
    pub(super) fn new(model: usize) -> Self {
        OperationSequenceScorer {
            model,
            lm_cache: LmScoreCache::new(),
            programs: LazyVec::default(),
            states: LazyVec::default(),
            recombination_states: SliceInterner::default(),
            scratch: Scratch::default(),
        }
    }

    /// Makes sure that the place behind `id` is known.
    fn ensure_state(
        &mut self,
        space: &SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        id: HypothesisId,
    ) {
        if self.states.contains(id.0) {
            return;
        }
        // What came before has been expanded, so its place is known.
        let &Hypothesis { previous, option, span, .. } = &hypotheses[id.0 as usize];
        self.apply_operations(space, hypotheses, Expansion { previous, option, span });
        self.states.insert(id.0).clone_from(&self.scratch.state);
    }

    /// Leaves in `scratch` the place behind `expansion`, the place before which is
    /// known; returns the log10 probability of its operations and their counts.
    fn apply_operations(
        &mut self,
        space: &SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        expansion: Expansion,
    ) -> (f64, OperationCounts) {
        let Expansion { previous, option, span } = expansion;
        self.ensure_program(space, option, span);
        let OperationSequenceScorer { lm_cache: lm, programs, states: places, scratch, .. } = self;
        let Scratch { state: place, covered, operations, .. } = scratch;
        let before = places.get(previous.0);
        place.cursor.clone_from(&before.cursor);
        place.lm_state = before.lm_state;
        covered.clear();
        let coverage = hypotheses[previous.0 as usize].coverage;
        covered.extend((0..space.length).map(|p| space.coverages.is_covered(coverage, p)));
        operations.clear();
        let feature = &space.system.operation_models[self.model];
        let program = programs.get(option.0);
        let counts =
            program.run(&feature.fixed, span.start, covered, &mut place.cursor, operations);
        let mut log10 = 0f64;
        for &operation in &*operations {
            let (score, next) = lm.score(&*feature.model, place.lm_state, operation);
            log10 += f64::from(score);
            place.lm_state = next;
        }
        (log10, counts)
    }

    /// Makes sure that the program of `option`, which translates `span`, is known.
    fn ensure_program(&mut self, space: &SearchSpace<'_>, option: OptionId, span: Span) {
        if self.programs.contains(option.0) {
            return;
        }
        let (system, sentence, options) = (space.system, space.sentence, space.options);
        let source = sentence.source_span(span).surfaces(system);
        let surface = |&id: &WordId| system.surface(sentence.word(id, system));
        let mut target: Vec<&[u8]> = options.words(option).iter().map(surface).collect();
        let mut points = Vec::new();
        if options.is_copied(option) {
            target.fill(UNKNOWN_TARGET);
        } else {
            options.push_alignment_points(option, system, &mut points);
        }
        let model = &*system.operation_models[self.model].model;
        self.programs.insert(option.0).compile(model, &source, &target, points.into_iter());
    }

    /// The class of the place in `scratch`.
    fn intern_state(&mut self, exact: bool) -> u32 {
        let Scratch { state: place, row, .. } = &mut self.scratch;
        let context = self.lm_cache.state(place.lm_state);
        row.clear();
        row.extend([place.cursor.position as u32, place.cursor.end as u32, context.len() as u32]);
        if exact {
            row.extend(context.entries().iter().map(|(word, _)| word.0));
        }
        let gaps = place.cursor.gaps.iter();
        row.extend(gaps.map(|gap| (gap.position as u32) << 1 | u32::from(gap.filled)));
        self.recombination_states.intern(row)
    }
}

impl StatefulScorer for OperationSequenceScorer {
    fn start(&mut self, system: &System) -> u32 {
        self.lm_cache.start();
        self.programs.clear();
        self.states.clear();
        self.recombination_states.clear();
        let begin = system.operation_models[self.model].model.begin_state();
        self.scratch.state.cursor.reset();
        self.scratch.state.lm_state = self.lm_cache.intern(&begin);
        self.states.insert(HypothesisId::INITIAL.0).clone_from(&self.scratch.state);
        self.intern_state(true)
    }

    fn restart(&mut self) {
        let initial = HypothesisId::INITIAL.0;
        self.scratch.state.clone_from(self.states.get(initial));
        self.states.clear();
        self.states.insert(initial).clone_from(&self.scratch.state);
    }

    fn apply(&mut self, input: &FeatureInput<'_>, addends: &mut [f32]) -> u32 {
        let (space, expansion) = (input.space, input.expansion);
        self.ensure_state(space, input.hypotheses, expansion.previous);
        let (log10, counts) = self.apply_operations(space, input.hypotheses, expansion);
        let weighted = space.system.operation_models[self.model].weighted_values(log10, counts);
        for (addend, value) in addends.iter_mut().zip(weighted) {
            *addend = value;
        }
        self.intern_state(space.system.settings.exact_recombination)
    }

    fn add_unweighted(&mut self, input: &FeatureInput<'_>, parts: ComponentValues<'_>) {
        self.ensure_state(input.space, input.hypotheses, input.expansion.previous);
        let (log10, counts) = self.apply_operations(input.space, input.hypotheses, input.expansion);
        let model = &input.space.system.operation_models[self.model];
        for (part, value) in
            parts.values[parts.first_component..].iter_mut().zip(model.values(log10, counts))
        {
            *part += value;
        }
    }
}
