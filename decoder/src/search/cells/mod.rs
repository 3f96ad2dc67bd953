//! Cells of edges, scored many at a time.
//!
//! A score waits for the language models: for the cache's line of a (state, word) pair, and if the
//! pair is new, for lines of the model, which mostly come from memory. So cells score their words
//! as far as they are in the caches. The queries for the rest are prefetched, and answered after
//! the caller has done other work.
//!
//! [`GeneralCells`] serve every system. [`PlainCells`] do the same for the features that training
//! scripts write, with fewer instructions.

mod edge;
mod general;
mod plain;

use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::translation_options::OptionId;
pub(in crate::search) use edge::Edge;
pub(in crate::search) use general::{CellRows, GeneralCells};
pub(in crate::search) use plain::{PendingQueries, PlainCells, Predecessor};

/// One cell of an edge, half a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(32))]
pub(in crate::search) struct Cell {
    /// A number within the stack.
    pub(in crate::search) edge: u32,
    /// The hypothesis that it extends, a number within the sentence.
    pub(in crate::search) previous: u32,
    /// A number within the sentence.
    pub(in crate::search) option: u32,
    /// The total; until the cell is scored, what its scorer keeps there.
    pub(in crate::search) total: f32,
    /// The total with the estimate of the rest; until the cell is scored, what its scorer keeps
    /// there.
    pub(in crate::search) future_score: f32,
    /// The joint state; until the cell is scored, what its scorer keeps there.
    pub(in crate::search) joint_state: u32,
    /// The estimate of what remains to be translated.
    estimate: f32,
    /// The next cell of a list; until the cell is scored, what its scorer keeps there.
    pub(in crate::search) next: u32,
}

const _: () = assert!(size_of::<Cell>() == 32);

impl Cell {
    /// Returns the hypothesis that this cell, of one of `edges`, becomes once it is scored and
    /// popped.
    #[inline(always)]
    pub(in crate::search) fn hypothesis(&self, edges: &[Edge]) -> Hypothesis {
        let edge = &edges[self.edge as usize];
        Hypothesis {
            total: self.total,
            joint_state: self.joint_state,
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
    /// Creates a new cell of `edge`, whose number is `edge_number`; it extends a hypothesis by an
    /// option, both given by their numbers. Prefetches what scoring it reads first.
    fn make_cell(&mut self, edge: &Edge, edge_number: u32, previous_and_option: (u32, u32))
    -> Cell;

    /// Scores `cells` of `edges`: all that were made since the last call, in that order. Calls
    /// `while_waiting` between prefetching queries and answering them.
    fn score_cells(&mut self, cells: &mut [Cell], edges: &[Edge], while_waiting: impl FnMut());
}

/// Buffers of both ways to score cells.
#[derive(Default)]
pub(in crate::search) struct CellBuffers {
    pub(in crate::search) queries: PendingQueries,
    pub(in crate::search) rows: CellRows,
}
