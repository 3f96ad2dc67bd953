//! Which hypotheses continue which: rows that share a parent share what is computed of the
//! parent alone (Devlin 2017, section 4.5).

use crate::layer::Gates;
use crate::network::Row;

use super::State;

/// The parents of the rows of a step.
pub struct Parents {
    /// Rows of the step before, those that start put behind; each once.
    distinct: Vec<u32>,
    /// The place in `distinct` of the parent of each row; none if that is its number.
    places: Option<Vec<u32>>,
    /// Rows that start, in their order.
    starting: Vec<usize>,
}

impl Parents {
    /// The parents of `rows`, each once if they are `merged`; `before` rows had the step
    /// before.
    pub fn new(rows: &[Row], before: usize, merged: bool) -> Self {
        let starting: Vec<usize> =
            (0..rows.len()).filter(|&row| rows[row].parent.is_none()).collect();
        let mut started = before as u32;
        let mut parent_of = |row: &Row| {
            row.parent.unwrap_or_else(|| {
                started += 1;
                started - 1
            })
        };
        let all: Vec<u32> = rows.iter().map(&mut parent_of).collect();
        if !merged {
            return Parents { distinct: all, places: None, starting };
        }
        let mut place_of = vec![None; before + starting.len()];
        let mut distinct = Vec::new();
        let places = all.iter().map(|&parent| {
            *place_of[parent as usize].get_or_insert_with(|| {
                distinct.push(parent);
                distinct.len() as u32 - 1
            })
        });
        let places: Vec<u32> = places.collect();
        let places = (distinct.len() < all.len()).then_some(places);
        Parents { distinct, places, starting }
    }

    /// The states of the parents, each once. `before` is what the step before left, `start`
    /// gives the first state of a row's sentence.
    pub fn states<'a, B: Gates>(
        &self,
        backend: &mut B,
        before: Option<&State<B>>,
        start: impl Fn(usize) -> &'a B::Rows,
    ) -> State<B>
    where
        B::Rows: 'a,
    {
        let mut gather = |before: Option<&B::Rows>| {
            let starts = self.starting.iter().map(|&row| start(row));
            let all: Vec<&B::Rows> = before.into_iter().chain(starts).collect();
            match all[..] {
                [only] => backend.select(only, &self.distinct),
                _ => {
                    let all = backend.stack(&all);
                    backend.select(&all, &self.distinct)
                }
            }
        };
        let output = gather(before.map(|state| &state.output));
        // A start is the first output and the first cell of every layer.
        let cell = match before {
            Some(State { cell: None, .. }) => None,
            Some(State { cell: Some(cell), .. }) => Some(gather(Some(cell))),
            None => Some(gather(None)),
        };
        State { output, cell }
    }

    /// Gives every row what its parent has.
    pub fn spread<B: Gates>(&self, backend: &mut B, of_parents: B::Rows) -> B::Rows {
        match &self.places {
            Some(places) => backend.select(&of_parents, places),
            None => of_parents,
        }
    }
}
