//! Edges: grids with hypotheses of the same coverage and end as rows, and the options of a span as
//! columns. Their cells are expansions.

use crate::coverage::CoverageId;
use crate::features::Transition;

/// Hypotheses of the same coverage and end, times the options of a span and table.
#[derive(Clone, Copy)]
pub(in crate::search) struct Edge {
    pub(in crate::search) first_hypothesis: u32,
    pub(in crate::search) num_hypotheses: u32,
    pub(in crate::search) first_option: u32,
    pub(in crate::search) num_options: u32,
    pub(in crate::search) transition: Transition,
    pub(in crate::search) coverage: CoverageId,
    /// The mini-stack to which it leads, a number within the stack.
    pub(in crate::search) group: u32,
    /// The estimated score of the words that `coverage` leaves open.
    pub(in crate::search) estimate: f32,
    /// The start of its rows of seen cells; [`Edge::NOTHING_SEEN`] before the first pop.
    pub(in crate::search) seen_start: u32,
}

impl Edge {
    /// `seen_start` of an edge from which nothing has been popped yet.
    pub(in crate::search) const NOTHING_SEEN: u32 = u32::MAX;

    /// Marks a cell as seen; returns whether it exists and is new. `seen` has a row of bits for
    /// each hypothesis of every edge from which a cell was popped.
    #[inline(always)]
    pub(in crate::search) fn mark_seen(
        &self,
        seen: &mut [u64],
        hypothesis: u32,
        option: u32,
    ) -> bool {
        if hypothesis >= self.num_hypotheses || option >= self.num_options {
            return false;
        }
        let row = self.seen_start + hypothesis * self.row_width();
        let word = &mut seen[(row + option / 64) as usize];
        let bit = 1 << (option % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Creates the edge's rows if there are none.
    #[inline(always)]
    pub(in crate::search) fn make_rows(&mut self, seen: &mut Vec<u64>) {
        if self.seen_start == Edge::NOTHING_SEEN {
            self.seen_start = seen.len() as u32;
            seen.resize(seen.len() + (self.num_hypotheses * self.row_width()) as usize, 0);
        }
    }

    #[inline(always)]
    fn row_width(&self) -> u32 {
        self.num_options.div_ceil(64)
    }
}
