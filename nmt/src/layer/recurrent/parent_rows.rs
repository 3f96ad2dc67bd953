//! Which hypotheses continue which: rows that share a parent share what is computed of the
//! parent alone (Devlin 2017, section 4.5).

use crate::layer::RecurrentOps;
use crate::network::HypothesisRow;

use super::CellState;

/// The parents of the rows of a step.
pub struct ParentRows {
    /// Rows of the step before, those that start put behind; each once.
    distinct: Vec<u32>,
    /// The place in `distinct` of the parent of each row; none if that is its number.
    index_of_row: Option<Vec<u32>>,
    /// Rows that start, in their order.
    new_rows: Vec<usize>,
}

impl ParentRows {
    /// The parents of `rows`, each once if they are `merged`; `before` rows had the step
    /// before.
    pub fn new(rows: &[HypothesisRow], before: usize, merged: bool) -> Self {
        let new_rows: Vec<usize> =
            (0..rows.len()).filter(|&row| rows[row].parent.is_none()).collect();
        let mut started = before as u32;
        let mut parent_of = |row: &HypothesisRow| {
            row.parent.unwrap_or_else(|| {
                started += 1;
                started - 1
            })
        };
        let all: Vec<u32> = rows.iter().map(&mut parent_of).collect();
        if !merged {
            return ParentRows { distinct: all, index_of_row: None, new_rows };
        }
        let mut place_of = vec![None; before + new_rows.len()];
        let mut distinct = Vec::new();
        let places = all.iter().map(|&parent| {
            *place_of[parent as usize].get_or_insert_with(|| {
                distinct.push(parent);
                distinct.len() as u32 - 1
            })
        });
        let places: Vec<u32> = places.collect();
        let places = (distinct.len() < all.len()).then_some(places);
        ParentRows { distinct, index_of_row: places, new_rows }
    }

    /// The states of the parents, each once. `before` is what the step before left, `start`
    /// gives the first state of a row's sentence.
    pub fn gather_states<'a, B: RecurrentOps>(
        &self,
        backend: &mut B,
        before: Option<&CellState<B>>,
        start: impl Fn(usize) -> &'a B::Tensor,
    ) -> CellState<B>
    where
        B::Tensor: 'a,
    {
        let mut gather = |before: Option<&B::Tensor>| {
            let starts = self.new_rows.iter().map(|&row| start(row));
            let all: Vec<&B::Tensor> = before.into_iter().chain(starts).collect();
            match all[..] {
                [only] => backend.index_select(only, &self.distinct),
                _ => {
                    let all = backend.concat_rows(&all);
                    backend.index_select(&all, &self.distinct)
                }
            }
        };
        let output = gather(before.map(|state| &state.output));
        // A start is the first output and the first cell of every layer.
        let cell = match before {
            Some(CellState { cell: None, .. }) => None,
            Some(CellState { cell: Some(cell), .. }) => Some(gather(Some(cell))),
            None => Some(gather(None)),
        };
        CellState { output, cell }
    }

    /// Gives every row what its parent has.
    pub fn broadcast<B: RecurrentOps>(&self, backend: &mut B, of_parents: B::Tensor) -> B::Tensor {
        match &self.index_of_row {
            Some(places) => backend.index_select(&of_parents, places),
            None => of_parents,
        }
    }
}
