//! The histories of the hypotheses of a step, which all layers of a decoder share.

use miriam_nmt_network::cache_indirection::CacheIndirection;

use crate::queries::QueryRecords;

/// The histories of the hypotheses of a step, for all layers.
#[derive(Default)]
pub(crate) struct StepHistories {
    indirection: CacheIndirection,
    pub step: usize,
    pub parents: Vec<Option<u32>>,
    /// The old rows that caches keep, or `None` if they keep all. Caches drop the other old rows
    /// before they append the rows of this step.
    pub kept: Option<Vec<u32>>,
    /// The number of rows before those of this step.
    pub first_row: usize,
    pub rows: usize,
    /// The row numbers of all histories, one history after the other.
    pub list: Vec<u32>,
    pub records: QueryRecords,
}

impl StepHistories {
    /// Creates the histories of the next step.
    pub fn advance(&mut self, parents: &[Option<u32>]) {
        self.step += 1;
        self.parents.clear();
        self.parents.extend_from_slice(parents);
        self.kept = self.indirection.advance(parents).map(<[u32]>::to_vec);
        self.first_row = self.kept.as_ref().map_or(self.rows, Vec::len);
        self.rows = self.first_row + parents.len();
        self.list.clear();
        self.records = QueryRecords::default();
        for row in 0..parents.len() {
            let history = self.indirection.history(row);
            let place = [self.list.len(), history.len(), history.len() - 1];
            self.records.push(0, place);
            self.list.extend_from_slice(history);
        }
    }
}
