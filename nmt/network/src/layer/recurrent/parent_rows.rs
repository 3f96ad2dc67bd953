//! The parents of the rows of a step: rows that share a parent share what is computed from
//! the parent alone (Devlin 2017, section 4.5).

use super::CellState;
use crate::Result;
use crate::layer::{HypothesisRow, RecurrentOps};

/// The parents of the rows of a step.
pub struct ParentRows {
    /// Rows of the step before, and the numbers after them for hypotheses that begin; each once if
    /// they are merged.
    distinct: Vec<u32>,
    /// The index in `distinct` of the parent of each row; none if it is the index of the row.
    index_of_row: Option<Vec<u32>>,
    /// Rows that begin a hypothesis, in their order.
    new_rows: Vec<usize>,
}

impl ParentRows {
    /// Returns the parents of `rows`, each once if they are `merged`. The step before had `before`
    /// rows.
    pub fn new(rows: &[HypothesisRow], before: usize, merged: bool) -> Self {
        let new_rows: Vec<usize> =
            (0..rows.len()).filter(|&row| rows[row].parent.is_none()).collect();
        let mut started = before as u32;
        let parents = rows.iter().map(|row| {
            row.parent.unwrap_or_else(|| {
                started += 1;
                started - 1
            })
        });
        let all: Vec<u32> = parents.collect();
        if !merged {
            return ParentRows { distinct: all, index_of_row: None, new_rows };
        }
        let mut index_of = vec![None; before + new_rows.len()];
        let mut distinct = Vec::new();
        let indices = all.iter().map(|&parent| {
            *index_of[parent as usize].get_or_insert_with(|| {
                distinct.push(parent);
                distinct.len() as u32 - 1
            })
        });
        let indices: Vec<u32> = indices.collect();
        let indices = (distinct.len() < all.len()).then_some(indices);
        ParentRows { distinct, index_of_row: indices, new_rows }
    }

    /// Gathers the states of the distinct parents. `before` are the states after the step before,
    /// `start` gives the initial state of a row's sentence.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn gather_states<'a, B: RecurrentOps>(
        &self,
        backend: &mut B,
        before: Option<&CellState<B>>,
        start: impl Fn(usize) -> &'a B::Tensor,
    ) -> Result<CellState<B>>
    where
        B::Tensor: 'a,
    {
        let mut gather = |before: Option<&B::Tensor>| {
            let starts = self.new_rows.iter().map(|&row| start(row));
            let all: Vec<&B::Tensor> = before.into_iter().chain(starts).collect();
            match all[..] {
                [only] => backend.index_select(only, &self.distinct),
                _ => {
                    let all = backend.concat_rows(&all)?;
                    backend.index_select(&all, &self.distinct)
                }
            }
        };
        let output = gather(before.map(|state| &state.output))?;
        // The initial state is the first output and the first cell of every layer.
        let cell = match before {
            Some(CellState { cell: None, .. }) => None,
            Some(CellState { cell: Some(cell), .. }) => Some(gather(Some(cell))?),
            None => Some(gather(None)?),
        };
        Ok(CellState { output, cell })
    }

    /// Copies the row of each parent to its children: `[distinct parents, width]` to `[rows,
    /// width]`.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn broadcast<B: RecurrentOps>(
        &self,
        backend: &mut B,
        product: B::Tensor,
    ) -> Result<B::Tensor> {
        match &self.index_of_row {
            Some(indices) => backend.index_select(&product, indices),
            None => Ok(product),
        }
    }
}
