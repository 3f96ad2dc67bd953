//! The parents of the rows of a decoding step.
//!
//! A row is a hypothesis, and its parent is the row of the previous step that it extends. What
//! depends on the parent's state alone is computed once for all rows with this parent (Devlin 2017,
//! section 4.5).

use super::CellState;
use crate::Result;
use crate::layer::{HypothesisRow, RecurrentOps};

/// The parents of the rows of a decoding step.
pub struct ParentRows {
    /// The parents, as row numbers of the previous step. A row that begins a sentence has no
    /// parent; its initial state counts as one more row after the rows of the previous step. If
    /// parents are merged, each occurs once; otherwise there is an entry for each row.
    distinct: Vec<u32>,
    /// For each row, the index of its parent in `distinct`; `None` if every row has its own entry,
    /// in the order of the rows.
    index_of_row: Option<Vec<u32>>,
    /// The rows that begin a sentence, ascending.
    new_rows: Vec<usize>,
}

impl ParentRows {
    /// Returns the parents of `rows`, each once if they are `merged`. The previous step had
    /// `num_previous` rows.
    pub fn new(rows: &[HypothesisRow], num_previous: usize, merged: bool) -> Self {
        let new_rows: Vec<usize> =
            (0..rows.len()).filter(|&row| rows[row].parent.is_none()).collect();
        let mut next_new = num_previous as u32;
        let parents = rows.iter().map(|row| {
            row.parent.unwrap_or_else(|| {
                next_new += 1;
                next_new - 1
            })
        });
        let all: Vec<u32> = parents.collect();
        if !merged {
            return ParentRows { distinct: all, index_of_row: None, new_rows };
        }
        let mut index_of = vec![None; num_previous + new_rows.len()];
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

    /// Gathers the states of the distinct parents, `[distinct parents, width]`. `previous` is the
    /// state after the previous step, `[rows, width]`; `start` returns the initial state, `[1,
    /// width]`, of a row's sentence.
    ///
    /// # Errors
    /// If the backend fails.
    pub fn gather_states<'a, B: RecurrentOps>(
        &self,
        backend: &mut B,
        previous: Option<&CellState<B>>,
        start: impl Fn(usize) -> &'a B::Tensor,
    ) -> Result<CellState<B>>
    where
        B::Tensor: 'a,
    {
        let mut gather = |previous: Option<&B::Tensor>| {
            let starts = self.new_rows.iter().map(|&row| start(row));
            let all: Vec<&B::Tensor> = previous.into_iter().chain(starts).collect();
            match all[..] {
                [only] => backend.index_select(only, &self.distinct),
                _ => {
                    let all = backend.concat_rows(&all)?;
                    backend.index_select(&all, &self.distinct)
                }
            }
        };
        let output = gather(previous.map(|state| &state.output))?;
        // The initial state is both the first output and the first cell state of every layer.
        let cell = match previous {
            Some(CellState { cell: None, .. }) => None,
            Some(CellState { cell: Some(cell), .. }) => Some(gather(Some(cell))?),
            None => Some(gather(None)?),
        };
        Ok(CellState { output, cell })
    }

    /// Copies the row of each parent to its children: `product`, `[distinct parents, width]`,
    /// becomes `[rows, width]`.
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
