//! The KV cache on a device: rows stay where they were written, and each hypothesis has the list of
//! the rows of its history.
//!
//! All layers of a decoder append the rows of a step in the same order, so they share one set of
//! lists: the first layer of a step makes them, the others find them.

use miriam_nmt_models::Result;
use miriam_nmt_network::layer::{AttentionMask, Backend, ColumnSlice, DecodingOps};

use crate::queries::{Keys, KvLayout, SourceKv};
use crate::rows::NONE;
use crate::{CudaBackend, DeviceTensor, RelativeTerms};

/// The keys and values of one layer, for all positions of all hypotheses.
#[derive(Default)]
pub struct KvCache {
    /// `[room, 2 * width]`: keys, then values.
    rows: Option<DeviceTensor>,
    /// Steps so far.
    step: usize,
}

/// The smallest number of rows for which a cache has room.
const MIN_ROOM: usize = 256;

impl CudaBackend {
    /// Appends keys and values of a step to a cache and returns where they lie.
    fn append(
        &mut self,
        cache: &mut KvCache,
        heads: usize,
        keys: &ColumnSlice<'_, DeviceTensor>,
        values: &ColumnSlice<'_, DeviceTensor>,
        parents: &[Option<u32>],
    ) -> Result<KvLayout> {
        if cache.step == self.histories.step {
            self.histories.advance(parents);
        }
        cache.step += 1;
        let histories = &self.histories;
        assert_eq!((cache.step, &histories.parents[..]), (histories.step, parents), "one step");
        let (first_row, rows) = (histories.first_row, histories.rows);
        let width = keys.columns.len();
        let kept = histories.kept.clone();
        let mut old = cache.rows.take();
        if let (Some(kept), Some(all)) = (kept, &old) {
            old = Some(self.gather_rows(all, kept)?);
        }
        let tensor = match old {
            Some(tensor) if tensor.rows() >= rows && tensor.is_unique() => tensor,
            old => {
                let room = rows.next_power_of_two().max(MIN_ROOM);
                let tensor = self.empty(room, 2 * width)?;
                if let Some(old) = &old {
                    self.copy_part(&self.whole(old), first_row, &tensor, [0, 0])?;
                }
                tensor
            }
        };
        self.copy_part(keys, parents.len(), &tensor, [first_row, 0])?;
        self.copy_part(values, parents.len(), &tensor, [first_row, width])?;
        cache.rows = Some(tensor.clone());
        Ok(KvLayout {
            tensor,
            key_column: 0,
            value_column: width,
            key_width: width,
            value_width: width,
            heads,
        })
    }
}

impl DecodingOps for CudaBackend {
    type KvCache = KvCache;

    fn new_kv_cache(&mut self) -> Result<KvCache> {
        Ok(KvCache::default())
    }

    fn attend_kv_cache(
        &mut self,
        cache: &mut KvCache,
        heads: usize,
        [queries, keys, values]: [ColumnSlice<'_, DeviceTensor>; 3],
        parents: &[Option<u32>],
        relative: Option<&RelativeTerms>,
    ) -> Result<DeviceTensor> {
        let layout = self.append(cache, heads, &keys, &values, parents)?;
        let score = layout.scaled_score(relative);
        let list = std::mem::take(&mut self.histories.list);
        let uploaded = self.upload_list(&list);
        self.histories.list = list;
        let uploaded = uploaded?;
        let keys = Keys { layout: &layout, list: Some(&uploaded) };
        let records = std::mem::take(&mut self.histories.records);
        let attended = self.launch_attention(queries, keys, &records, score, None);
        self.histories.records = records;
        Ok(attended?.0)
    }

    fn gather_state(
        &mut self,
        state: &DeviceTensor,
        parents: &[Option<u32>],
    ) -> Result<DeviceTensor> {
        let limit = state.rows() as u32;
        let parents = parents.iter().map(|parent| parent.unwrap_or(NONE));
        let parents: Vec<u32> = parents.collect();
        let exists = |row: u32| row < limit || row == NONE;
        assert!(parents.iter().all(|&row| exists(row)), "parents that are there");
        self.gather_rows(state, parents)
    }

    fn replace_rows(
        &mut self,
        rows: DeviceTensor,
        indices: &[u32],
        from: ColumnSlice<'_, DeviceTensor>,
    ) -> Result<DeviceTensor> {
        let limit = rows.rows() as u32;
        assert!(indices.iter().all(|&index| index < limit), "rows that are there");
        let rows = if rows.is_unique() { rows } else { self.copy(self.whole(&rows))? };
        self.scatter_rows(&rows, indices, &from)?;
        Ok(rows)
    }

    fn attend_with_weights(
        &mut self,
        queries: ColumnSlice<'_, DeviceTensor>,
        groups: &[(usize, &SourceKv)],
        head: usize,
        _weights: &mut Vec<Vec<f32>>,
    ) -> Result<DeviceTensor> {
        self.attend_sources(queries, groups, AttentionMask::All, Some(head))
    }

    fn collect_attention_weights(&mut self, weights: &mut Vec<Vec<f32>>) -> Result<()> {
        self.download_attention_weights(weights)
    }
}
