//! Cells of edges, scored many at a time.
//!
//! A score waits for data of the language models. It waits for the line of the score cache that has
//! the (state, word) pair. If the pair is new, it also waits for lines of the model, which mostly
//! come from memory. So cells score their words up to the first that is not in the score cache. The
//! queries for the other words are prefetched, and answered after the caller has done other work.
//!
//! [`GeneralCells`] serve every system. [`FastPathCells`] do the same for the features of a usual
//! `moses.ini`, with fewer instructions.

mod edge;
mod fast_path;
mod general;
mod lm_scorer;

use super::SearchSpace;
use crate::features::{FastPathFeatures, FastPathKind};
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::translation_options::OptionId;
pub(in crate::search) use edge::Edge;
pub(in crate::search) use fast_path::Predecessor;
use fast_path::{FastPathBuffers, FastPathCells};
use general::{CellRows, GeneralCells};

/// One cell of an edge, half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(in crate::search) struct Cell {
    /// The number of the edge within the stack.
    pub(in crate::search) edge: u32,
    /// The hypothesis that it extends, a number within the sentence.
    pub(in crate::search) previous: u32,
    /// The number of the option within the sentence.
    pub(in crate::search) option: u32,
    /// The total. Before the cell is scored, its scorer keeps another value here.
    pub(in crate::search) total: f32,
    /// The total with the estimate of the rest. Before the cell is scored, its scorer keeps another
    /// value here.
    pub(in crate::search) future_score: f32,
    /// The joint state, after [`CellScorer::join_states`]. Until then, this state and
    /// `second_state` together tell hypotheses apart.
    pub(in crate::search) state: u32,
    pub(in crate::search) second_state: u32,
    /// The next cell of a list. Before the cell is scored, its scorer keeps another value here.
    pub(in crate::search) next: u32,
}

const _: () = assert!(size_of::<Cell>() == 32);

impl Cell {
    /// Returns the hypothesis that this cell, of one of `edges`, becomes once it is scored and
    /// popped. Its joint state is only right after [`CellScorer::join_states`].
    #[inline(always)]
    pub(in crate::search) fn hypothesis(&self, edges: &[Edge]) -> Hypothesis {
        let edge = &edges[self.edge as usize];
        Hypothesis {
            total: self.total,
            joint_state: self.state,
            previous: HypothesisId(self.previous),
            option: OptionId(self.option),
            span: edge.transition.span,
            coverage: edge.coverage,
            future_score: self.future_score,
        }
    }
}

/// A way to make and score cells.
pub(in crate::search) trait CellScorer {
    /// The data that the cells of an edge share if they extend the same hypothesis.
    type Row;

    /// Returns the row of the edge with the number `edge` for a hypothesis, given by its number.
    fn row(&mut self, edges: &[Edge], edge: u32, hypothesis: u32) -> Self::Row;

    /// Returns an upper bound of the total of a cell of `row` for an option, without queries of
    /// language models. It is infinity if no bound is known.
    fn bound(&self, row: &Self::Row, option: u32) -> f32;

    /// Creates a new cell of `row` for the option with the number `option`. `edge` is the number of
    /// the row's edge. Prefetches the data that scoring reads first.
    fn make_cell(&mut self, row: &Self::Row, edge: u32, option: u32) -> Cell;

    /// Scores `cells` of `edges`: all cells made since the last call, in the order in which they
    /// were made. Calls `while_waiting` between prefetching queries and answering them.
    fn score_cells(&mut self, cells: &mut [Cell], edges: &[Edge], while_waiting: impl FnMut());

    /// Joins the two states of each of the scored `cells`.
    fn join_states(&mut self, cells: &mut [Cell]);
}

/// A task that can be done with any scorer of cells.
pub(in crate::search) trait CellTask {
    /// The result of the task.
    type Output;

    /// Does the task with `scorer`.
    fn run<S: CellScorer>(self, scorer: &mut S) -> Self::Output;
}

/// The hypotheses of a sentence, whose expansions are cells.
#[derive(Clone, Copy)]
pub(in crate::search) struct ExtendedHypotheses<'s> {
    pub(in crate::search) hypotheses: &'s [Hypothesis],
    /// For each hypothesis, the data that the fast path reads; empty if the system does not use the
    /// fast path.
    pub(in crate::search) predecessors: &'s [Predecessor],
    /// Whether their expansions cover the whole sentence.
    pub(in crate::search) completes: bool,
}

/// Buffers of all ways to score cells.
#[derive(Default)]
pub(in crate::search) struct CellBuffers {
    fast_path: FastPathBuffers,
    rows: CellRows,
}

impl CellBuffers {
    /// Runs `task` with the scorer for the fast path's `features`, or with the general scorer if
    /// there are none. Cells extend the hypotheses in `extended`.
    #[inline]
    pub(in crate::search) fn run<T: CellTask>(
        &mut self,
        space: &mut SearchSpace<'_>,
        extended: ExtendedHypotheses<'_>,
        features: Option<&FastPathFeatures>,
        task: T,
    ) -> T::Output {
        let Some(features) = features else {
            return task.run(&mut GeneralCells::new(space, extended, &mut self.rows));
        };
        let buffers = &mut self.fast_path;
        match features.kind {
            FastPathKind::Plain => {
                task.run(&mut FastPathCells::<1, false>::new(space, features, extended, buffers))
            }
            FastPathKind::TwoModels => {
                task.run(&mut FastPathCells::<2, false>::new(space, features, extended, buffers))
            }
            FastPathKind::Hierarchical => {
                task.run(&mut FastPathCells::<1, true>::new(space, features, extended, buffers))
            }
        }
    }
}
