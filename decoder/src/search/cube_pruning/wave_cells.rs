//! Cells of edges, scored many at a time.
//!
//! A score waits for the language model: for the cache's line of a (state, word) pair, and if the
//! pair is new, for lines of the model, which mostly come from memory. So cells score their words
//! as far as they are in the cache. The queries for the rest are prefetched, and answered after the
//! caller has done other work.

use miriam_lmcpu::{LanguageModel, LmWord};

use super::super::SearchSpace;
use super::edges::Edge;
use crate::features::FastPathFeatures;
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::lm_scoring::LmScoreCache;
use crate::translation_options::{HotOption, MAX_HOT_COLUMNS, OptionId};

/// The largest number of forward reordering scores: one per orientation.
const MAX_ORIENTATIONS: usize = 4;

/// The data that an expansion reads of the hypothesis that it extends, half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Predecessor {
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
    pub(super) fn initial(lm_state: u32) -> Self {
        Predecessor { total: 0.0, lm_state, span_start: 0, forward: [0.0; MAX_ORIENTATIONS] }
    }

    pub(super) fn new(
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

/// One cell of an edge, half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(super) struct Cell {
    /// A number within the stack.
    pub(super) edge: u32,
    /// The hypothesis that it extends, a number within the sentence.
    pub(super) previous: u32,
    /// A number within the sentence.
    pub(super) option: u32,
    /// The total; until the cell is scored, its terms before the language model's.
    pub(super) total: f32,
    /// The total with the estimate of the rest; until the cell is scored, the log10 probability
    /// of the words so far.
    pub(super) future_score: f32,
    /// The language model's state after the words so far.
    pub(super) lm_state: u32,
    estimate: f32,
    /// The next cell of a list; until the cell is scored, the word whose query is awaited.
    pub(super) next: u32,
}

const _: () = assert!(size_of::<Cell>() == 32 && size_of::<Predecessor>() == 32);

impl Cell {
    /// Returns the hypothesis that this cell, of one of `edges`, becomes once it is scored and
    /// popped.
    #[inline(always)]
    pub(super) fn hypothesis(&self, edges: &[Edge]) -> Hypothesis {
        let edge = &edges[self.edge as usize];
        Hypothesis {
            total: self.total,
            joint_state: self.lm_state,
            previous: HypothesisId(self.previous),
            option: OptionId(self.option),
            span: edge.transition.span,
            coverage: edge.coverage,
            future_score: self.future_score,
        }
    }
}

/// Makes and scores the cells of a stack.
pub(super) struct CellScorer<'s> {
    pub(super) features: &'s FastPathFeatures,
    /// By hypothesis.
    pub(super) predecessors: &'s [Predecessor],
    /// By option.
    pub(super) options: &'s [HotOption],
    pub(super) lm_pool: &'s [u32],
    pub(super) model: &'s dyn LanguageModel,
    pub(super) cache: &'s mut LmScoreCache,
    /// Whether nothing is left to be covered.
    pub(super) completes: bool,
}

/// Numbers of cells that wait for a query, in buffers that are reused.
#[derive(Default)]
pub(super) struct PendingQueries {
    waiting: Vec<u32>,
    prefetched: Vec<u32>,
}

impl CellScorer<'_> {
    /// Makes a new cell, with its terms before the language model's. Prefetches the cache's line
    /// for its first word.
    #[inline(always)]
    pub(super) fn make_cell(
        &self,
        edge: &Edge,
        edge_number: u32,
        (previous, option): (u32, u32),
    ) -> Cell {
        let predecessor = &self.predecessors[previous as usize];
        let hot = &self.options[option as usize];
        let total = predecessor.total + hot.total;
        let terms = self.terms(edge, predecessor, hot);
        if let Some(&word) = hot.lm_parts(self.lm_pool).dependent.first() {
            self.cache.prefetch(predecessor.lm_state, LmWord(word));
        }
        Cell {
            edge: edge_number,
            previous,
            option,
            total: self.features.add_terms_before_lm(total, terms),
            future_score: 0.0,
            lm_state: predecessor.lm_state,
            estimate: edge.estimate,
            next: 0,
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

    /// Scores `cells`, all of them new; calls `while_waiting` between prefetching queries and
    /// answering them.
    #[inline(always)]
    pub(super) fn score_cells(
        &mut self,
        cells: &mut [Cell],
        edges: &[Edge],
        queries: &mut PendingQueries,
        mut while_waiting: impl FnMut(),
    ) {
        let PendingQueries { waiting, prefetched } = queries;
        waiting.clear();
        for (number, cell) in (0u32..).zip(&mut *cells) {
            if self.score_cached_words(cell, 0) {
                waiting.push(number);
            }
        }
        while !waiting.is_empty() {
            while_waiting();
            std::mem::swap(waiting, prefetched);
            waiting.clear();
            for &number in &*prefetched {
                let cell = &mut cells[number as usize];
                let at = cell.next as usize;
                let phrase = self.options[cell.option as usize].lm_parts(self.lm_pool);
                let word = LmWord(phrase.dependent[at]);
                let (log10, next) = self.cache.score(self.model, cell.lm_state, word);
                cell.future_score += log10;
                cell.lm_state = next;
                if self.score_cached_words(cell, at + 1) {
                    waiting.push(number);
                }
            }
        }
        for cell in cells {
            self.finish_cell(cell, edges);
        }
    }

    /// Scores the dependent words of `cell` from `first` on as far as they are in the cache.
    /// Returns whether one is left, whose query is prefetched.
    #[inline(always)]
    fn score_cached_words(&self, cell: &mut Cell, first: usize) -> bool {
        let phrase = self.options[cell.option as usize].lm_parts(self.lm_pool);
        for (at, &word) in phrase.dependent.iter().enumerate().skip(first) {
            match self.cache.find(cell.lm_state, LmWord(word)) {
                Some((log10, next)) => {
                    cell.future_score += log10;
                    cell.lm_state = next;
                }
                None => {
                    self.model.prefetch(self.cache.state(cell.lm_state), LmWord(word));
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
        let phrase = hot.lm_parts(self.lm_pool);
        for &bits in phrase.constants {
            log10 += f32::from_bits(bits);
        }
        if let Some(known) = phrase.right_state {
            cell.lm_state = known;
        }
        if self.completes && hot.has_words {
            let end = self.model.end_of_sentence();
            let (score, next) = self.cache.score(self.model, cell.lm_state, end);
            log10 += score;
            cell.lm_state = next;
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
