//! Operation sequence models in the search.
//!
//! The score of an expansion depends on the cursor, the gaps and the model's context after the
//! hypothesis. For recombination Moses2 looks only at the *length* of that context, not at its
//! words (`docs/spec/phrase-decoding.md` 3.8), and so does the state here unless recombination is
//! exact. The state therefore does not determine the position in the operation sequence. When a
//! hypothesis is expanded for the first time, this position is computed from the previous
//! hypothesis, and stored under the hypothesis' number.

use std::borrow::Cow;
use std::ops::Range;

use miriam_lmcpu::LmWord;
use miriam_textio::{SliceInterner, WordId};

use super::{Cursor, OperationCounts, OperationProgram, OperationSequenceModel, UNKNOWN_TARGET};
use crate::features::expansion_feature::{ExpansionInput, ValueSources};
use crate::features::stateful_feature::{BatchResults, ExpansionBatch, StatefulScorer, hash_row};
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::lm_scoring::{LmContext, LmScoreCache};
use crate::span::Span;
use crate::translation_options::OptionId;

/// The operation sequences of a sentence's hypotheses.
pub(crate) struct OperationSequenceScorer {
    feature: OperationSequenceModel,
    /// Whether the words of the model's context count for recombination.
    exact_recombination: bool,
    lm_cache: LmScoreCache,
    /// The program of each option that has been applied.
    programs: LazyVec<OperationProgram>,
    /// The state of each hypothesis that has been expanded.
    states: LazyVec<OperationState>,
    /// The states for recombination.
    recombination_states: SliceInterner<u32>,
    scratch: Scratch,
    batch: OperationBatch,
}

/// Expansions that are scored together, in buffers that are reused.
#[derive(Default)]
struct OperationBatch {
    /// As long as the largest batch so far.
    expansions: Vec<PendingExpansion>,
    operations: Vec<LmWord>,
    waiting: Vec<u32>,
    prefetched: Vec<u32>,
}

/// An expansion whose operations are being scored.
#[derive(Default)]
struct PendingExpansion {
    /// The cursor after the expansion, and the model's state after the operations scored so far.
    state: OperationState,
    counts: OperationCounts,
    log10: f64,
    /// The operations that are not scored yet, among those of the batch.
    operations: Range<usize>,
}

/// The state of a hypothesis: where its operations end.
#[derive(Default)]
struct OperationState {
    cursor: Cursor,
    /// The state of the operation model.
    lm_state: u32,
}

impl Clone for OperationState {
    fn clone(&self) -> Self {
        OperationState { cursor: self.cursor.clone(), lm_state: self.lm_state }
    }

    /// Copies `other` into memory that is already allocated.
    fn clone_from(&mut self, other: &Self) {
        self.cursor.clone_from(&other.cursor);
        self.lm_state = other.lm_state;
    }
}

/// Values that are each made once per sentence, in memory that is reused.
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

    /// Returns the value at `at`, which exists.
    fn get(&self, at: u32) -> &T {
        assert!(self.contains(at), "a value that is set");
        &self.values[at as usize]
    }

    /// Marks the value at `at` as set, and returns it to be written.
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

/// A hypothesis with one more phrase.
#[derive(Clone, Copy)]
struct Expansion {
    previous: HypothesisId,
    option: OptionId,
    span: Span,
}

impl Expansion {
    fn of(input: &ExpansionInput<'_>) -> Self {
        let (previous, option) = (input.previous_id, input.option);
        Expansion { previous, option, span: input.transition.span }
    }
}

impl OperationSequenceScorer {
    /// Creates a scorer for `feature`, without states.
    pub(crate) fn new(feature: OperationSequenceModel, exact_recombination: bool) -> Self {
        OperationSequenceScorer {
            feature,
            exact_recombination,
            lm_cache: LmScoreCache::new(),
            programs: LazyVec::default(),
            states: LazyVec::default(),
            recombination_states: SliceInterner::default(),
            scratch: Scratch::default(),
            batch: OperationBatch::default(),
        }
    }

    /// Makes sure that the state after hypothesis `id` is known.
    fn ensure_state(&mut self, input: &ExpansionInput<'_>, id: HypothesisId) {
        if self.states.contains(id.0) {
            return;
        }
        // The hypothesis before has been expanded, so its state is known.
        let &Hypothesis { previous, option, span, .. } = &input.hypotheses[id.0 as usize];
        self.apply_operations(input, Expansion { previous, option, span });
        self.states.insert(id.0).clone_from(&self.scratch.state);
    }

    /// Computes in `scratch` the state after `expansion`; the state before it must be known.
    /// Returns the log10 probability of the expansion's operations, and their counts.
    fn apply_operations(
        &mut self,
        input: &ExpansionInput<'_>,
        expansion: Expansion,
    ) -> (f64, OperationCounts) {
        self.ensure_program(input, expansion.option, expansion.span);
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.operations.clear();
        scratch.state.clone_from(self.states.get(expansion.previous.0));
        let counts = self.run_program(input, expansion, &mut scratch);
        let mut log10 = 0f64;
        let model = &*self.feature.operations.model;
        for &operation in &scratch.operations {
            let (score, next) = self.lm_cache.score(model, scratch.state.lm_state, operation);
            log10 += f64::from(score);
            scratch.state.lm_state = next;
        }
        self.scratch = scratch;
        (log10, counts)
    }

    /// Replaces the cursor in `scratch` by the cursor after an expansion, and appends the
    /// operations of the expansion.
    fn run_program(
        &self,
        input: &ExpansionInput<'_>,
        expansion: Expansion,
        scratch: &mut Scratch,
    ) -> OperationCounts {
        let Expansion { previous, option, span } = expansion;
        let Scratch { state, covered, operations, .. } = scratch;
        let coverage = input.hypotheses[previous.0 as usize].coverage;
        input.coverages.write_covered(coverage, covered);
        let fixed = &self.feature.operations.fixed;
        let program = self.programs.get(option.0);
        program.run(fixed, span.start, covered, &mut state.cursor, operations)
    }

    /// Makes sure that the program of `option`, which translates `span`, is known.
    fn ensure_program(&mut self, input: &ExpansionInput<'_>, option: OptionId, span: Span) {
        if self.programs.contains(option.0) {
            return;
        }
        let (models, sentence, options) = (input.models, input.sentence, input.options);
        let source = sentence.source_span(span);
        let source =
            self.feature.source_words(models, source, || Cow::Owned(source.surfaces(models)));
        let word = |&id: &WordId| self.feature.target_word(models, sentence.word(id, models));
        let mut target: Vec<&[u8]> = options.words(option).iter().map(word).collect();
        let mut points = Vec::new();
        if options.belongs_to_unknown_word_penalty(option) {
            if self.feature.hides_unknown_words() {
                target.fill(UNKNOWN_TARGET);
            }
        } else {
            options.push_alignment_points(option, models, &mut points);
        }
        let model = &*self.feature.operations.model;
        self.programs.insert(option.0).compile(model, &source, &target, points.into_iter());
    }

    /// Returns the recombination state that belongs to the state in `scratch`.
    fn intern_state(&mut self, exact: bool) -> u32 {
        let Scratch { state, row, .. } = &mut self.scratch;
        let context = self.lm_cache.state(state.lm_state);
        row.clear();
        row.extend([state.cursor.position as u32, state.cursor.end as u32, context.len() as u32]);
        if exact {
            row.extend(context.entries().iter().map(|(word, _)| word.0));
        }
        let gaps = state.cursor.gaps.iter();
        row.extend(gaps.map(|gap| (gap.position as u32) << 1 | u32::from(gap.filled)));
        self.recombination_states.intern(row, hash_row)
    }

    /// Computes the operations of the expansions of `inputs`, which are not scored yet.
    fn begin_batch(&mut self, inputs: &ExpansionBatch<'_>, batch: &mut OperationBatch) {
        let OperationBatch { expansions, operations, .. } = batch;
        operations.clear();
        if expansions.len() < inputs.len {
            expansions.resize_with(inputs.len, PendingExpansion::default);
        }
        let mut scratch = Scratch::default();
        for (index, pending) in expansions[..inputs.len].iter_mut().enumerate() {
            let input = (inputs.input_of)(index);
            let expansion = Expansion::of(&input);
            self.ensure_state(&input, expansion.previous);
            self.ensure_program(&input, expansion.option, expansion.span);
            let first = operations.len();
            // The buffers are swapped, not copied.
            std::mem::swap(&mut scratch.state, &mut pending.state);
            std::mem::swap(&mut scratch.operations, operations);
            scratch.state.clone_from(self.states.get(expansion.previous.0));
            pending.counts = self.run_program(&input, expansion, &mut scratch);
            std::mem::swap(&mut scratch.state, &mut pending.state);
            std::mem::swap(&mut scratch.operations, operations);
            (pending.log10, pending.operations) = (0.0, first..operations.len());
        }
    }

    /// Scores the operations of `pending` up to the first that is not in the cache. If there is
    /// one, prefetches the model's data for it and returns true.
    fn score_cached_operations(
        &self,
        pending: &mut PendingExpansion,
        operations: &[LmWord],
    ) -> bool {
        let PendingExpansion { state, log10, operations: left, .. } = pending;
        while let Some(&operation) = operations[left.clone()].first() {
            match self.lm_cache.find(state.lm_state, operation) {
                Some((score, next)) => {
                    *log10 += f64::from(score);
                    state.lm_state = next;
                    left.start += 1;
                }
                None => {
                    let model = &self.feature.operations.model;
                    model.prefetch(self.lm_cache.state(state.lm_state), operation);
                    return true;
                }
            }
        }
        false
    }
}

impl StatefulScorer for OperationSequenceScorer {
    fn start(&mut self) -> u32 {
        self.lm_cache.start();
        self.programs.clear();
        self.states.clear();
        self.recombination_states.clear();
        let begin = self.feature.operations.model.begin_state();
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

    fn score(&mut self, input: &ExpansionInput<'_>, _: u32, scores: &mut [f32]) -> u32 {
        self.ensure_state(input, input.previous_id);
        let (log10, counts) = self.apply_operations(input, Expansion::of(input));
        let weighted = self.feature.weighted_values(log10, counts);
        for (score, value) in scores.iter_mut().zip(weighted) {
            *score = value;
        }
        self.intern_state(self.exact_recombination)
    }

    /// Scores the operations of all expansions in turns, so that several queries wait for memory at
    /// the same time.
    fn score_batch(&mut self, inputs: &ExpansionBatch<'_>, results: &mut BatchResults<'_>) {
        let mut batch = std::mem::take(&mut self.batch);
        self.begin_batch(inputs, &mut batch);
        let OperationBatch { expansions, operations, waiting, prefetched } = &mut batch;
        waiting.clear();
        for (number, pending) in (0u32..).zip(&mut expansions[..inputs.len]) {
            if self.score_cached_operations(pending, operations) {
                waiting.push(number);
            }
        }
        while !waiting.is_empty() {
            std::mem::swap(waiting, prefetched);
            waiting.clear();
            for &number in &*prefetched {
                let pending = &mut expansions[number as usize];
                let operation = operations[pending.operations.start];
                let model = &*self.feature.operations.model;
                let (score, next) = self.lm_cache.score(model, pending.state.lm_state, operation);
                pending.log10 += f64::from(score);
                pending.state.lm_state = next;
                pending.operations.start += 1;
                if self.score_cached_operations(pending, operations) {
                    waiting.push(number);
                }
            }
        }
        for (index, pending) in expansions[..inputs.len].iter_mut().enumerate() {
            let (state, scores) = results.row(index);
            let weighted = self.feature.weighted_values(pending.log10, pending.counts);
            for (score, value) in scores.iter_mut().zip(weighted) {
                *score = value;
            }
            std::mem::swap(&mut self.scratch.state, &mut pending.state);
            *state = self.intern_state(self.exact_recombination);
            std::mem::swap(&mut self.scratch.state, &mut pending.state);
        }
        self.batch = batch;
    }

    fn add_values(
        &self,
        input: &ExpansionInput<'_>,
        _: u32,
        _: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        // The expansion has been scored: its program and the state before it are known.
        let before = self.states.get(input.previous_id.0);
        let mut scratch = Scratch { state: before.clone(), ..Scratch::default() };
        let counts = self.run_program(input, Expansion::of(input), &mut scratch);
        let mut log10 = 0f64;
        let mut context = LmContext::Interned(before.lm_state);
        for &operation in &scratch.operations {
            let model = &*self.feature.operations.model;
            let (score, next) = self.lm_cache.rescore(model, context, operation);
            log10 += f64::from(score);
            context = next;
        }
        let own = values[self.feature.component..].iter_mut();
        for (component, value) in own.zip(self.feature.values(log10, counts)) {
            *component += value;
        }
    }
}
