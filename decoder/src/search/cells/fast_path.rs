//! Cells of systems with the features of a usual `moses.ini`: distortion, bidirectional reordering
//! and language models, in any order. With phrase-based reordering there are one or two language
//! models, with hierarchical reordering only one.
//!
//! An expansion reads half a cache line of a hypothesis (hierarchical reordering also reads the
//! hypothesis itself and its coverage), one line of an option, and another for a second language
//! model. The terms before the language models' are added when a cell is made. The number of
//! language models and the kind of reordering are const parameters, so each kind of system has its
//! own machine code.

use super::super::SearchSpace;
use super::lm_scorer::{AwaitedWords, LmProgress, LmScorer};
use super::{Cell, CellScorer, Edge, ExtendedHypotheses};
use crate::coverage::Coverages;
use crate::features::{
    FastPathFeatures, HierarchicalBackwardScorer, LanguageModelFeature, MAX_FAST_MODELS,
    RelativePosition,
};
use crate::hypothesis::Hypothesis;
use crate::joint_states::JointStates;
use crate::span::Span;
use crate::translation_options::{HotOption, HotPhrase, MAX_HOT_COLUMNS};

/// The largest number of forward reordering scores: one per orientation.
const MAX_ORIENTATIONS: usize = 4;

/// The data that every expansion reads from the hypothesis that it extends: half a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(in crate::search) struct Predecessor {
    total: f32,
    /// Its state in the first language model.
    lm_state: u32,
    /// Its state in the second language model or in hierarchical reordering; 0 if there is neither.
    second_state: u32,
    /// The start of its last phrase.
    span_start: u32,
    /// Weighted forward reordering scores of its last phrase, by orientation. If the model has
    /// fewer orientations, the rest are other columns of the row, and are never read.
    forward: [f32; MAX_ORIENTATIONS],
}

const _: () = assert!(size_of::<Predecessor>() == 32);

impl Predecessor {
    /// Returns the data that is read from `hypothesis`.
    pub(in crate::search) fn new(
        hypothesis: &Hypothesis,
        space: &SearchSpace<'_>,
        features: &FastPathFeatures,
    ) -> Self {
        let states = &space.joint_states;
        let forward = if hypothesis.is_initial() {
            // Nothing comes before the first phrase.
            [0.0; MAX_ORIENTATIONS]
        } else {
            let row = &space.options.hot_option(hypothesis.option).reordering;
            // The remainder never changes an index in use; it spares the bounds check.
            std::array::from_fn(|i| row[(features.forward_column + i) % MAX_HOT_COLUMNS])
        };
        Predecessor {
            total: hypothesis.total,
            lm_state: states.state(hypothesis.joint_state, 0),
            second_state: match states.width() {
                1 => 0,
                _ => states.state(hypothesis.joint_state, 1),
            },
            span_start: hypothesis.span.start,
            forward,
        }
    }
}

/// Makes and scores the cells of a system of `LMS` language models, 1 or 2, whose reordering is
/// `HIERARCHICAL` or not.
///
/// Until a cell is scored, its fields hold:
/// - `total`: the total with the terms before the language models',
/// - `future_score`: the log10 probability of the words scored so far in the first language model,
/// - `next`: the bits of this probability in the second language model,
/// - `state`: the state of the first language model after these words,
/// - `second_state`: the state of the second language model after the words scored so far or, with
///   hierarchical reordering, the state of the block stack after the phrase.
pub(super) struct FastPathCells<'s, const LMS: usize, const HIERARCHICAL: bool> {
    features: &'s FastPathFeatures,
    extended: ExtendedHypotheses<'s>,
    /// The options by number.
    options: &'s [HotOption],
    /// The phrases of the options as the second language model sees them, by number of the option.
    second_phrases: &'s [HotPhrase],
    lms: [LmScorer<'s>; LMS],
    coverages: &'s Coverages,
    joint_states: &'s mut JointStates,
    /// Whether probabilities of 1 give a bound of each score.
    is_bounded: bool,
    /// The scorer of the backward orientation from the block stack; `None` unless reordering is
    /// hierarchical.
    backward_scorer: Option<&'s mut HierarchicalBackwardScorer>,
    buffers: &'s mut FastPathBuffers,
}

/// Buffers that are reused for one edge after another.
#[derive(Default)]
pub(super) struct FastPathBuffers {
    /// Words whose queries are awaited, by language model.
    awaited: [AwaitedWords<AwaitedWord>; MAX_FAST_MODELS],
    /// With hierarchical reordering, what the rows of an edge have in common, by edge.
    orientations: Vec<EdgeOrientations>,
}

/// The orientations of the phrases of an edge, as far as they are known, in hierarchical
/// reordering.
#[derive(Clone, Copy)]
struct EdgeOrientations {
    /// The orientation that selects the previous phrase's forward score;
    /// [`EdgeOrientations::UNKNOWN`] if it depends on the hypothesis.
    forward: u32,
    /// The column of the backward score after the block-stack state `before`, and the next state.
    backward_column: u32,
    before: u32,
    next: u32,
}

impl EdgeOrientations {
    /// `forward` of an edge whose hypotheses have different orientations.
    const UNKNOWN: u32 = u32::MAX;
}

/// A word of a cell whose score is not in the cache and is requested from the language model.
#[derive(Clone, Copy)]
struct AwaitedWord {
    cell: u32,
    /// The index of the word among the words of its phrase whose scores depend on the context.
    at: u32,
}

/// The data that the cells of an edge share if they extend the same hypothesis.
pub(super) struct FastPathRow {
    hypothesis: u32,
    total: f32,
    lm_state: u32,
    /// The state of the hypothesis in the second language model, or the state of hierarchical
    /// reordering after the phrase.
    second_state: u32,
    distortion: f32,
    forward: f32,
    backward_column: usize,
}

impl FastPathRow {
    /// Returns the terms of an expansion by `hot`: distortion, the backward reordering score of
    /// `hot`, and the forward reordering score of the previous phrase.
    #[inline(always)]
    fn terms(&self, hot: &HotOption) -> [f32; 3] {
        [self.distortion, hot.reordering[self.backward_column % MAX_HOT_COLUMNS], self.forward]
    }
}

impl<const LMS: usize, const HIERARCHICAL: bool> CellScorer
    for FastPathCells<'_, LMS, HIERARCHICAL>
{
    type Row = FastPathRow;

    #[inline(always)]
    fn row(&mut self, edges: &[Edge], number: u32, hypothesis: u32) -> FastPathRow {
        let edge = &edges[number as usize];
        let predecessor = &self.extended.predecessors[hypothesis as usize];
        let (backward_column, orientation, second_state) = if HIERARCHICAL {
            self.hierarchical_scores(edge, number, hypothesis, predecessor.second_state)
        } else {
            let swaps = predecessor.span_start == edge.transition.span.end;
            let orientation =
                self.features.orientations.orientation_at(edge.transition.position, swaps);
            (self.features.backward_column + orientation, orientation, predecessor.second_state)
        };
        FastPathRow {
            hypothesis,
            total: predecessor.total,
            lm_state: predecessor.lm_state,
            second_state,
            distortion: self.features.distortion.score(&edge.transition),
            forward: predecessor.forward[orientation % MAX_ORIENTATIONS],
            backward_column,
        }
    }

    /// Computes the score with probability 1 for all words that depend on the context. If
    /// `is_bounded`, weights are not negative and backoffs only lower scores. Floating-point
    /// addition is monotonic, so no score can be higher.
    #[inline(always)]
    fn bound(&self, row: &FastPathRow, option: u32) -> f32 {
        if !self.is_bounded {
            return f32::INFINITY;
        }
        let hot = &self.options[option as usize];
        let terms = row.terms(hot);
        let total = self.features.add_terms_before_lm(row.total + hot.total, terms);
        let first = self.lms[0].best_log10(&hot.phrase);
        let second = match LMS {
            1 => 0.0,
            _ => self.lms[1].best_log10(&self.second_phrases[option as usize]),
        };
        let lm_terms = self.lm_terms(first, second);
        if self.features.lms_are_last() {
            Self::add_lm_terms(total, lm_terms)
        } else {
            self.features.add_terms_from_lm(total, terms, lm_terms)
        }
    }

    #[inline(always)]
    fn make_cell(&mut self, row: &FastPathRow, edge: u32, option: u32) -> Cell {
        let hot = &self.options[option as usize];
        self.lms[0].prefetch_first_word(&hot.phrase, row.lm_state);
        if LMS > 1 {
            self.lms[1]
                .prefetch_first_word(&self.second_phrases[option as usize], row.second_state);
        }
        Cell {
            edge,
            previous: row.hypothesis,
            option,
            total: self.features.add_terms_before_lm(row.total + hot.total, row.terms(hot)),
            future_score: 0.0,
            state: row.lm_state,
            second_state: row.second_state,
            next: 0f32.to_bits(),
        }
    }

    #[inline(always)]
    fn score_cells(&mut self, cells: &mut [Cell], edges: &[Edge], mut while_waiting: impl FnMut()) {
        let mut buffers = std::mem::take(self.buffers);
        let [first_awaited, second_awaited] = &mut buffers.awaited;
        first_awaited.clear();
        for (number, cell) in (0u32..).zip(&mut *cells) {
            let phrase = &self.options[cell.option as usize].phrase;
            let mut progress = LmProgress { state: cell.state, log10: 0.0 };
            let awaited = self.lms[0].score_cached_words(phrase, 0, &mut progress);
            (cell.state, cell.future_score) = (progress.state, progress.log10);
            if let Some(at) = awaited {
                first_awaited.push(AwaitedWord { cell: number, at: at as u32 });
            }
        }
        if LMS > 1 {
            second_awaited.clear();
            for (number, cell) in (0u32..).zip(&mut *cells) {
                let phrase = &self.second_phrases[cell.option as usize];
                let mut progress = LmProgress { state: cell.second_state, log10: 0.0 };
                let awaited = self.lms[1].score_cached_words(phrase, 0, &mut progress);
                (cell.second_state, cell.next) = (progress.state, progress.log10.to_bits());
                if let Some(at) = awaited {
                    second_awaited.push(AwaitedWord { cell: number, at: at as u32 });
                }
            }
        }
        while !first_awaited.is_empty() || LMS > 1 && !second_awaited.is_empty() {
            while_waiting();
            first_awaited.answer(|word| {
                let cell = &mut cells[word.cell as usize];
                let phrase = &self.options[cell.option as usize].phrase;
                let mut progress = LmProgress { state: cell.state, log10: cell.future_score };
                let next = self.lms[0].score_awaited_word(phrase, word.at as usize, &mut progress);
                (cell.state, cell.future_score) = (progress.state, progress.log10);
                next.map(|at| AwaitedWord { at: at as u32, ..word })
            });
            if LMS > 1 {
                second_awaited.answer(|word| {
                    let cell = &mut cells[word.cell as usize];
                    let phrase = &self.second_phrases[cell.option as usize];
                    let log10 = f32::from_bits(cell.next);
                    let mut progress = LmProgress { state: cell.second_state, log10 };
                    let next =
                        self.lms[1].score_awaited_word(phrase, word.at as usize, &mut progress);
                    (cell.second_state, cell.next) = (progress.state, progress.log10.to_bits());
                    next.map(|at| AwaitedWord { at: at as u32, ..word })
                });
            }
        }
        *self.buffers = buffers;
        for cell in cells {
            self.finish_cell(cell, edges);
        }
    }

    fn join_states(&mut self, cells: &mut [Cell]) {
        if LMS > 1 || HIERARCHICAL {
            for cell in cells {
                let states = [cell.state, cell.second_state];
                (cell.state, cell.second_state) = (self.joint_states.join_states(&states), 0);
            }
        }
    }
}

impl<'s, const LMS: usize, const HIERARCHICAL: bool> FastPathCells<'s, LMS, HIERARCHICAL> {
    /// Creates a scorer of cells that extend the hypotheses in `extended`.
    pub(super) fn new(
        space: &'s mut SearchSpace<'_>,
        features: &'s FastPathFeatures,
        extended: ExtendedHypotheses<'s>,
        buffers: &'s mut FastPathBuffers,
    ) -> Self {
        let SearchSpace { system, options, coverages, lm_caches, stateful_scorers, .. } = space;
        buffers.orientations.clear();
        let models = &system.models.language_models;
        let is_bounded =
            features.language_models.iter().all(LanguageModelFeature::has_nonnegative_weight)
                && models.iter().all(|model| model.is_bounded);
        let mut models = models.iter().zip(&mut **lm_caches);
        let lms = std::array::from_fn(|_| {
            let (model, cache) = models.next().expect("the system has as many models");
            LmScorer { lm: &*model.model, cache, pool: options.lm_pool() }
        });
        FastPathCells {
            features,
            extended,
            options: options.hot_options(),
            second_phrases: if LMS > 1 { options.further_phrases(0) } else { &[] },
            lms,
            coverages,
            joint_states: space.joint_states,
            is_bounded,
            backward_scorer: stateful_scorers.hierarchical_backward(),
            buffers,
        }
    }

    /// Returns the column of the backward score of a phrase of the edge with the number `number`
    /// after `hypothesis`, the orientation that selects the previous phrase's forward score, and
    /// the block-stack state after the phrase. `state` is the block-stack state of `hypothesis`.
    #[inline(always)]
    fn hierarchical_scores(
        &mut self,
        edge: &Edge,
        number: u32,
        hypothesis: u32,
        state: u32,
    ) -> (usize, usize, u32) {
        if self.buffers.orientations.len() <= number as usize {
            self.add_orientations(edge, number, hypothesis, state);
        }
        let mut known = self.buffers.orientations[number as usize];
        if known.before != state {
            known = EdgeOrientations { before: state, ..known };
            (known.backward_column, known.next) = self.shift(state, edge.transition.span);
            self.buffers.orientations[number as usize] = known;
        }
        let forward = match known.forward {
            EdgeOrientations::UNKNOWN => self.forward_orientation(edge, hypothesis),
            orientation => orientation as usize,
        };
        (known.backward_column as usize, forward, known.next)
    }

    /// Stores the orientations of the edge with the number `number` after `hypothesis`. Edges are
    /// first met in their order.
    #[inline(never)]
    fn add_orientations(&mut self, edge: &Edge, number: u32, hypothesis: u32, state: u32) {
        debug_assert_eq!(self.buffers.orientations.len(), number as usize);
        // To the left of the previous phrase, the orientation depends on where that phrase starts.
        let forward = match edge.transition.position {
            RelativePosition::Left => EdgeOrientations::UNKNOWN,
            _ => self.forward_orientation(edge, hypothesis) as u32,
        };
        let (backward_column, next) = self.shift(state, edge.transition.span);
        let orientations = EdgeOrientations { forward, backward_column, before: state, next };
        self.buffers.orientations.push(orientations);
    }

    /// Returns the orientation that selects the forward score of the last phrase of `hypothesis`.
    fn forward_orientation(&self, edge: &Edge, hypothesis: u32) -> usize {
        let previous = &self.extended.hypotheses[hypothesis as usize];
        let (orientations, span) = (self.features.orientations, edge.transition.span);
        orientations.hierarchical_orientation(previous.span, span, |position| {
            self.coverages.is_covered(previous.coverage, position)
        })
    }

    /// Returns the column of the backward score of a phrase for `span` after the block-stack state
    /// `state`, and the state after it.
    fn shift(&mut self, state: u32, span: Span) -> (u32, u32) {
        let scorer = self.backward_scorer.as_mut().expect("reordering is hierarchical");
        let (column, next) = scorer.column_and_next(state, span);
        (column as u32, next)
    }

    /// Returns the terms of the language models for words of these log10 probabilities.
    #[inline(always)]
    fn lm_terms(&self, first: f32, second: f32) -> [f32; MAX_FAST_MODELS] {
        let [first_lm, second_lm] = &self.features.language_models;
        [first_lm.score(first), if LMS > 1 { second_lm.score(second) } else { 0.0 }]
    }

    /// Adds the language models' terms if no other terms come after them
    /// ([`FastPathFeatures::lms_are_last`]).
    #[inline(always)]
    fn add_lm_terms(total: f32, [first, second]: [f32; MAX_FAST_MODELS]) -> f32 {
        let total = total + first;
        if LMS > 1 { total + second } else { total }
    }

    /// Adds the language models' terms and all later terms.
    #[inline(always)]
    fn finish_cell(&mut self, cell: &mut Cell, edges: &[Edge]) {
        let hot = &self.options[cell.option as usize];
        let mut first = LmProgress { state: cell.state, log10: cell.future_score };
        let mut second = LmProgress { state: cell.second_state, log10: f32::from_bits(cell.next) };
        if self.extended.completes && hot.has_words {
            self.lms[0].score_end(&mut first);
            cell.state = first.state;
            if LMS > 1 {
                self.lms[1].score_end(&mut second);
                cell.second_state = second.state;
            }
        }
        let lm_terms = self.lm_terms(first.log10, second.log10);
        cell.total = if self.features.lms_are_last() {
            Self::add_lm_terms(cell.total, lm_terms)
        } else {
            let row = self.row(edges, cell.edge, cell.previous);
            self.features.add_terms_from_lm(cell.total, row.terms(hot), lm_terms)
        };
        cell.future_score = cell.total + edges[cell.edge as usize].estimate;
    }
}
