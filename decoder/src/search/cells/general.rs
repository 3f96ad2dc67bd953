//! Cells of systems with any features: several language models or none, features with their own
//! states, in any order.
//!
//! While the words of a cell are scored, the cell has a state and a log10 probability for each
//! language model. They are stored model by model, so that a pass over the cells for one model
//! reads no data of the others. The missing words of all models are queried together, and features
//! with their own states are scored while the queries wait for memory. Then the scores of the
//! features are added in the order of the ini, and the states are joined.

use super::super::SearchSpace;
use super::lm_scorer::{AwaitedWords, LmProgress, LmScorer};
use super::{Cell, CellScorer, Edge, ExtendedHypotheses};
use crate::coverage::Coverages;
use crate::features::{ExpansionBatch, ExpansionInput, LanguageModelFeature};
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::sentence::Sentence;
use crate::system::System;
use crate::translation_options::{HotPhrase, OptionId, SentenceOptions};

/// A scorer of cells of systems with any features.
pub(super) struct GeneralCells<'s, 'a> {
    space: &'s mut SearchSpace<'a>,
    /// The hypotheses of the sentence so far.
    hypotheses: &'s [Hypothesis],
    rows: &'s mut CellRows,
    /// The number of states that make up a joint state.
    num_states: usize,
    /// The number of scores of features with their own states.
    num_scores: usize,
    /// Whether the new hypotheses cover the whole sentence.
    completes: bool,
}

/// The data that a cell takes from its edge and the hypothesis that it extends.
pub(super) struct GeneralRow {
    previous: u32,
    joint_state: u32,
}

/// The data of cells that are made and not yet scored, in buffers that are reused.
#[derive(Default)]
pub(super) struct CellRows {
    /// The progress of each language model, by cell.
    lms: Vec<Vec<LmProgress>>,
    /// The queries of all models.
    waiting: AwaitedWords<Query>,
    /// A row of states for each cell: the states of language models, then of other features.
    states: Vec<u32>,
    /// The weighted scores of features with their own states, a row for each cell.
    scores: Vec<f32>,
    /// Scratch: the log10 probabilities of a cell by language model.
    log10: Vec<f32>,
}

/// A word to be scored by a language model because its score is not in the cache.
#[derive(Clone, Copy)]
struct Query {
    cell: u32,
    model: u16,
    /// The index of the word among the words of its phrase whose scores depend on the context.
    at: u16,
}

/// Returns the phrase of `option` in the ids of language model `model`.
#[inline(always)]
fn lm_phrase(options: &SentenceOptions, model: usize, option: u32) -> &HotPhrase {
    match model.checked_sub(1) {
        None => &options.hot_option(OptionId(option)).phrase,
        Some(further) => &options.further_phrases(further)[option as usize],
    }
}

impl CellScorer for GeneralCells<'_, '_> {
    type Row = GeneralRow;

    #[inline(always)]
    fn row(&mut self, _: &[Edge], _: u32, previous: u32) -> GeneralRow {
        GeneralRow { previous, joint_state: self.hypotheses[previous as usize].joint_state }
    }

    #[inline(always)]
    fn bound(&self, _: &GeneralRow, _: u32) -> f32 {
        f32::INFINITY
    }

    #[inline(always)]
    fn make_cell(&mut self, row: &GeneralRow, edge: u32, option: u32) -> Cell {
        let &GeneralRow { previous, joint_state } = row;
        let SearchSpace { options, joint_states, lm_caches, .. } = &*self.space;
        for (model, (progress, cache)) in self.rows.lms.iter_mut().zip(&**lm_caches).enumerate() {
            let state = joint_states.state(joint_state, model);
            progress.push(LmProgress { state, log10: 0.0 });
            let phrase = lm_phrase(options, model, option);
            if let Some(word) = phrase.first_dependent(options.lm_pool()) {
                cache.prefetch(state, word);
            }
        }
        Cell {
            edge,
            previous,
            option,
            total: 0.0,
            future_score: 0.0,
            state: 0,
            second_state: 0,
            next: 0,
        }
    }

    #[inline(always)]
    fn score_cells(&mut self, cells: &mut [Cell], edges: &[Edge], mut while_waiting: impl FnMut()) {
        self.rows.waiting.clear();
        for model in 0..self.rows.lms.len() {
            self.score_cached_words(model, cells);
        }
        if self.num_states > self.rows.lms.len() {
            self.score_stateful(cells, edges);
        }
        while !self.rows.waiting.is_empty() {
            while_waiting();
            self.answer_queries(cells);
        }
        self.add_terms(cells, edges);
        self.rows.lms.iter_mut().for_each(Vec::clear);
    }

    fn join_states(&mut self, _: &mut [Cell]) {
        // They are joined already, when a cell is scored.
    }
}

impl<'s, 'a> GeneralCells<'s, 'a> {
    /// Creates a scorer of cells that extend the hypotheses in `extended`.
    pub(super) fn new(
        space: &'s mut SearchSpace<'a>,
        extended: ExtendedHypotheses<'s>,
        rows: &'s mut CellRows,
    ) -> Self {
        let ExtendedHypotheses { hypotheses, completes, .. } = extended;
        let num_models = space.lm_caches.len();
        rows.lms.resize_with(num_models, Vec::new);
        let num_states = num_models + space.system.plan.features.stateful.len();
        let num_scores = space.stateful_scorers.num_scores();
        GeneralCells { space, hypotheses, rows, num_states, num_scores, completes }
    }

    /// Scores the words of all cells by `model`, in each cell up to the first that is not in the
    /// cache.
    #[inline(always)]
    fn score_cached_words(&mut self, model: usize, cells: &[Cell]) {
        let CellRows { lms, waiting, .. } = &mut *self.rows;
        let options = self.space.options;
        let scorer = LmScorer {
            lm: &*self.space.system.models.language_models[model].model,
            cache: &mut self.space.lm_caches[model],
            pool: options.lm_pool(),
        };
        for ((number, cell), progress) in (0u32..).zip(cells).zip(&mut lms[model]) {
            let phrase = lm_phrase(options, model, cell.option);
            if let Some(at) = scorer.score_cached_words(phrase, 0, progress) {
                waiting.push(Query { cell: number, model: model as u16, at: at as u16 });
            }
        }
    }

    /// Answers the waiting queries, and scores the words after each up to the next that is not in
    /// the cache.
    fn answer_queries(&mut self, cells: &[Cell]) {
        let CellRows { lms, waiting, .. } = &mut *self.rows;
        let options = self.space.options;
        waiting.answer(|query| {
            let (model, at) = (usize::from(query.model), usize::from(query.at));
            let mut scorer = LmScorer {
                lm: &*self.space.system.models.language_models[model].model,
                cache: &mut self.space.lm_caches[model],
                pool: options.lm_pool(),
            };
            let progress = &mut lms[model][query.cell as usize];
            let phrase = lm_phrase(options, model, cells[query.cell as usize].option);
            let next = scorer.score_awaited_word(phrase, at, progress);
            next.map(|at| Query { at: at as u16, ..query })
        });
    }

    /// Scores the features with their own states.
    fn score_stateful(&mut self, cells: &[Cell], edges: &[Edge]) {
        let CellRows { states, scores, .. } = &mut *self.rows;
        let (options, hypotheses) = (self.space.options, self.hypotheses);
        let SearchSpace { system, sentence, coverages, stateful_scorers, joint_states, .. } =
            &mut *self.space;
        let sources = InputSources { system, sentence, options, coverages, hypotheses };
        let input_of = |row: usize| {
            let cell = &cells[row];
            let ends = self.completes && options.hot_option(OptionId(cell.option)).has_words;
            sources.input(cell, &edges[cell.edge as usize], ends)
        };
        states.clear();
        states.resize(cells.len() * self.num_states, 0);
        scores.clear();
        scores.resize(cells.len() * self.num_scores, 0.0);
        let batch = ExpansionBatch { len: cells.len(), input_of: &input_of, joint_states };
        stateful_scorers.score_batch(&batch, states, scores);
    }

    /// Scores `</s>` after complete translations, adds the scores of all features, and joins the
    /// states.
    #[inline(always)]
    fn add_terms(&mut self, cells: &mut [Cell], edges: &[Edge]) {
        let CellRows { lms, states, scores, log10, .. } = &mut *self.rows;
        let (num_states, num_scores) = (self.num_states, self.num_scores);
        let (options, hypotheses) = (self.space.options, self.hypotheses);
        let SearchSpace { system, sentence, coverages, joint_states, lm_caches, .. } =
            &mut *self.space;
        let sources = InputSources { system, sentence, options, coverages, hypotheses };
        let features = &system.plan.features.expansion[..];
        if states.len() < num_states * cells.len() {
            states.resize(num_states * cells.len(), 0);
        }
        log10.resize(lms.len(), 0.0);
        for (row, cell) in cells.iter_mut().enumerate() {
            let hot = options.hot_option(OptionId(cell.option));
            let ends = self.completes && hot.has_words;
            let states = &mut states[row * num_states..(row + 1) * num_states];
            for (model, progress) in lms.iter_mut().enumerate() {
                let progress = &mut progress[row];
                if ends {
                    let lm = &*system.models.language_models[model].model;
                    let (cache, pool) = (&mut lm_caches[model], options.lm_pool());
                    LmScorer { lm, cache, pool }.score_end(progress);
                }
                states[model] = progress.state;
                log10[model] = progress.log10;
            }
            let scores = match num_scores {
                0 => &[][..],
                _ => &scores[row * num_scores..(row + 1) * num_scores],
            };
            let input = sources.input(cell, &edges[cell.edge as usize], ends);
            let mut total = input.previous.total + hot.total;
            for feature in features {
                let lm_score = |lm: &LanguageModelFeature| lm.score_in(log10);
                total = feature.add_score(total, &input, lm_score, scores);
            }
            cell.total = total;
            cell.future_score = total + edges[cell.edge as usize].estimate;
            cell.state = joint_states.join_states(states);
        }
    }
}

/// The data of a sentence that features read.
struct InputSources<'i> {
    system: &'i System,
    sentence: &'i Sentence,
    options: &'i SentenceOptions,
    coverages: &'i Coverages,
    hypotheses: &'i [Hypothesis],
}

impl<'i> InputSources<'i> {
    /// Returns the input of features for `cell` of `edge`; `ends` says whether `</s>` follows.
    #[inline(always)]
    fn input(&self, cell: &Cell, edge: &'i Edge, ends: bool) -> ExpansionInput<'i> {
        ExpansionInput {
            models: &self.system.models,
            sentence: self.sentence,
            options: self.options,
            coverages: self.coverages,
            hypotheses: self.hypotheses,
            previous_id: HypothesisId(cell.previous),
            previous: &self.hypotheses[cell.previous as usize],
            option: OptionId(cell.option),
            transition: &edge.transition,
            ends,
        }
    }
}
