//! Cells under the features that training scripts write: distortion, one bidirectional reordering
//! model and one language model, in any order.
//!
//! What an expansion reads of a hypothesis is half a cache line, what it reads of an option one
//! line; the terms before the language model's are added when a cell is made.

use miriam_lmcpu::{LanguageModel, LmWord};

use super::super::SearchSpace;
use super::{Cell, CellScorer, Edge};
use crate::features::FastPathFeatures;
use crate::hypothesis::Hypothesis;
use crate::lm_scoring::LmScoreCache;
use crate::translation_options::{HotOption, MAX_HOT_COLUMNS};

/// The largest number of forward reordering scores: one per orientation.
const MAX_ORIENTATIONS: usize = 4;

/// The data that an expansion reads of the hypothesis that it extends, half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(in crate::search) struct Predecessor {
    total: f32,
    /// Its language model state.
    lm_state: u32,
    /// The start of its last phrase.
    span_start: u32,
    /// Weighted forward reordering scores of its last phrase.
    forward: [f32; MAX_ORIENTATIONS],
}

impl Predecessor {
    /// Returns the hypothesis that has translated nothing; no forward score precedes the first
    /// phrase.
    pub(in crate::search) fn initial(lm_state: u32) -> Self {
        Predecessor { total: 0.0, lm_state, span_start: 0, forward: [0.0; MAX_ORIENTATIONS] }
    }

    pub(in crate::search) fn new(
        hypothesis: &Hypothesis,
        space: &SearchSpace<'_>,
        features: &FastPathFeatures,
    ) -> Self {
        let row = &space.options.hot_option(hypothesis.option).reordering;
        Predecessor {
            total: hypothesis.total,
            lm_state: hypothesis.joint_state,
            span_start: hypothesis.span.start,
            forward: std::array::from_fn(|i| row[features.forward.column(i) % MAX_HOT_COLUMNS]),
        }
    }
}

const _: () = assert!(size_of::<Predecessor>() == 32);

/// Makes and scores plain cells. Until a cell is scored, its total has the terms before the
/// language model's, its future score the log10 probability of the words so far, its state is the
/// one after these, and its next cell the word whose query is awaited.
pub(in crate::search) struct PlainCells<'s> {
    features: &'s FastPathFeatures,
    /// By hypothesis.
    predecessors: &'s [Predecessor],
    /// By option.
    options: &'s [HotOption],
    lm_pool: &'s [u32],
    model: &'s dyn LanguageModel,
    cache: &'s mut LmScoreCache,
    queries: &'s mut PendingQueries,
    /// Whether nothing is left to be covered.
    completes: bool,
}

/// Numbers of cells that wait for a query, in buffers that are reused.
#[derive(Default)]
pub(in crate::search) struct PendingQueries {
    waiting: Vec<u32>,
    prefetched: Vec<u32>,
}

impl CellScorer for PlainCells<'_> {
    #[inline(always)]
    fn make_cell(&mut self, edge: &Edge, edge_number: u32, (previous, option): (u32, u32)) -> Cell {
        let predecessor = &self.predecessors[previous as usize];
        let hot = &self.options[option as usize];
        let total = predecessor.total + hot.total;
        let terms = self.terms(edge, predecessor, hot);
        if let Some(&word) = hot.phrase.parts(self.lm_pool).dependent.first() {
            self.cache.prefetch(predecessor.lm_state, LmWord(word));
        }
        Cell {
            edge: edge_number,
            previous,
            option,
            total: self.features.add_terms_before_lm(total, terms),
            future_score: 0.0,
            joint_state: predecessor.lm_state,
            estimate: edge.estimate,
            next: 0,
        }
    }

    #[inline(always)]
    fn score_cells(&mut self, cells: &mut [Cell], edges: &[Edge], mut while_waiting: impl FnMut()) {
        let mut waiting = std::mem::take(&mut self.queries.waiting);
        let mut prefetched = std::mem::take(&mut self.queries.prefetched);
        waiting.clear();
        for (number, cell) in (0u32..).zip(&mut *cells) {
            if self.score_cached_words(cell, 0) {
                waiting.push(number);
            }
        }
        while !waiting.is_empty() {
            while_waiting();
            std::mem::swap(&mut waiting, &mut prefetched);
            waiting.clear();
            for &number in &*prefetched {
                let cell = &mut cells[number as usize];
                let at = cell.next as usize;
                let phrase = self.options[cell.option as usize].phrase.parts(self.lm_pool);
                let word = LmWord(phrase.dependent[at]);
                let (log10, next) = self.cache.score(self.model, cell.joint_state, word);
                cell.future_score += log10;
                cell.joint_state = next;
                if self.score_cached_words(cell, at + 1) {
                    waiting.push(number);
                }
            }
        }
        for cell in cells {
            self.finish_cell(cell, edges);
        }
        *self.queries = PendingQueries { waiting, prefetched };
    }
}

impl<'s> PlainCells<'s> {
    /// Creates a scorer for a stack that extends hypotheses of `space`, one a `predecessor`;
    /// `completes` says that nothing is left to be covered.
    pub(in crate::search) fn new(
        space: &'s mut SearchSpace<'_>,
        features: &'s FastPathFeatures,
        predecessors: &'s [Predecessor],
        queries: &'s mut PendingQueries,
        completes: bool,
    ) -> Self {
        PlainCells {
            features,
            predecessors,
            options: space.options.hot_options(),
            lm_pool: space.options.lm_pool(),
            model: &*space.system.models.language_models[0].model,
            cache: &mut space.lm_caches[0],
            queries,
            completes,
        }
    }

    /// Returns the terms of distortion, backward and forward reordering.
    #[inline(always)]
    fn terms(&self, edge: &Edge, predecessor: &Predecessor, hot: &HotOption) -> [f32; 3] {
        let features = self.features;
        let swaps = predecessor.span_start == edge.transition.span.end;
        let orientation = features.orientations().orientation_at(edge.transition.position, swaps);
        [
            features.distortion.score(&edge.transition),
            hot.reordering[features.backward.column(orientation) % MAX_HOT_COLUMNS],
            predecessor.forward[orientation % MAX_ORIENTATIONS],
        ]
    }

    /// Scores the dependent words of `cell` from `first` on as far as they are in the cache.
    /// Returns whether one is left, whose query is prefetched.
    #[inline(always)]
    fn score_cached_words(&self, cell: &mut Cell, first: usize) -> bool {
        let phrase = self.options[cell.option as usize].phrase.parts(self.lm_pool);
        for (at, &word) in phrase.dependent.iter().enumerate().skip(first) {
            match self.cache.find(cell.joint_state, LmWord(word)) {
                Some((log10, next)) => {
                    cell.future_score += log10;
                    cell.joint_state = next;
                }
                None => {
                    self.model.prefetch(self.cache.state(cell.joint_state), LmWord(word));
                    cell.next = at as u32;
                    return true;
                }
            }
        }
        false
    }

    /// Adds the terms after the dependent words.
    #[inline(always)]
    fn finish_cell(&mut self, cell: &mut Cell, edges: &[Edge]) {
        let hot = &self.options[cell.option as usize];
        let mut log10 = cell.future_score;
        let phrase = hot.phrase.parts(self.lm_pool);
        for &bits in phrase.constants {
            log10 += f32::from_bits(bits);
        }
        if let Some(known) = phrase.right_state {
            cell.joint_state = known;
        }
        if self.completes && hot.has_words {
            let end = self.model.end_of_sentence();
            let (score, next) = self.cache.score(self.model, cell.joint_state, end);
            log10 += score;
            cell.joint_state = next;
        }
        cell.total += self.features.language_model.score(log10);
        if !self.features.lm_is_last() {
            let edge = &edges[cell.edge as usize];
            let terms = self.terms(edge, &self.predecessors[cell.previous as usize], hot);
            cell.total = self.features.add_terms_after_lm(cell.total, terms);
        }
        cell.future_score = cell.total + cell.estimate;
    }
}
