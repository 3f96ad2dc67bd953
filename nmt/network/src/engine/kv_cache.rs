//! The KV cache of the engine. Rows stay where they were written, and each hypothesis lists the
//! rows of its history.

use miriam_kernels::MatRef;
use miriam_kernels::attention::{self, KvPool, RelativeQuery, attend_relative_row};

use super::operations::distance_terms;
use super::{Engine, PooledTensor};
use crate::Result;
use crate::cache_indirection::CacheIndirection;
use crate::layer::{AttentionMask, ColumnSlice, DecodingOps, RelativePositions};

/// The keys and values of one layer, for all positions of all hypotheses.
#[derive(Default)]
pub struct KvCache {
    keys: Vec<f32>,
    values: Vec<f32>,
    rows: usize,
    width: usize,
    histories: CacheIndirection,
}

impl KvCache {
    /// Lets each row inherit the history of its parent. Drops rows that no history names, if there
    /// are many.
    fn advance(&mut self, parents: &[Option<u32>]) {
        let Some(kept) = self.histories.advance(parents) else { return };
        for list in [&mut self.keys, &mut self.values] {
            // In place, since the memory is mapped already.
            for (to, &row) in kept.iter().enumerate() {
                let row = row as usize * self.width;
                list.copy_within(row..row + self.width, to * self.width);
            }
            list.truncate(kept.len() * self.width);
        }
        self.rows = kept.len();
    }

    fn append(&mut self, keys: MatRef<f32>, values: MatRef<f32>) {
        self.width = keys.columns();
        for row in 0..keys.rows() {
            self.keys.extend_from_slice(keys.row(row));
            self.values.extend_from_slice(values.row(row));
        }
        self.rows += keys.rows();
    }

    fn pool(&self) -> KvPool<'_> {
        KvPool {
            keys: MatRef::new(&self.keys, self.rows, self.width),
            values: MatRef::new(&self.values, self.rows, self.width),
        }
    }

    /// Returns the factor of attention scores.
    fn scale(&self, heads: usize) -> f32 {
        1.0 / ((self.width / heads) as f32).sqrt()
    }
}

impl Engine {
    /// Attends to the rows of a cache with terms for the distances of positions.
    fn attend_with_distances(
        &mut self,
        cache: &KvCache,
        heads: usize,
        queries: &ColumnSlice<'_, PooledTensor>,
        relative: &RelativePositions,
    ) -> PooledTensor {
        let queries = queries.view();
        let mut out = self.empty_tensor(queries.rows(), cache.width);
        let scale = cache.scale(heads);
        let mut to = out.view_mut();
        for row in 0..queries.rows() {
            let history = cache.histories.history(row);
            let pool = cache.pool();
            let terms = distance_terms(relative);
            let query = RelativeQuery { heads, scale, query: queries.row(row), terms };
            let last = history.len() - 1;
            attend_relative_row(
                self.cpu,
                query,
                pool,
                history,
                |key| relative.class(last, key),
                to.row_mut(row),
                &mut self.scratch,
            );
        }
        out
    }
}

impl DecodingOps for Engine {
    type KvCache = KvCache;

    fn new_kv_cache(&mut self) -> Result<KvCache> {
        Ok(KvCache::default())
    }

    fn attend_kv_cache(
        &mut self,
        cache: &mut KvCache,
        heads: usize,
        [queries, keys, values]: [ColumnSlice<'_, PooledTensor>; 3],
        parents: &[Option<u32>],
        relative: Option<&RelativePositions>,
    ) -> Result<PooledTensor> {
        cache.advance(parents);
        cache.append(keys.view(), values.view());
        if let Some(relative) = relative {
            return Ok(self.attend_with_distances(cache, heads, &queries, relative));
        }
        let queries = queries.view();
        let mut out = self.empty_tensor(queries.rows(), queries.columns());
        let pool = cache.pool();
        let histories: Vec<&[u32]> =
            (0..queries.rows()).map(|row| cache.histories.history(row)).collect();
        let scale = cache.scale(heads);
        let (to, scratch) = (out.view_mut(), &mut self.scratch);
        attention::attend_paged(self.cpu, heads, scale, queries, pool, &histories, to, scratch);
        Ok(out)
    }

    fn gather_state(
        &mut self,
        state: &PooledTensor,
        parents: &[Option<u32>],
    ) -> Result<PooledTensor> {
        let mut out = self.zero_tensor(parents.len(), state.width());
        let (from, mut to) = (state.view(), out.view_mut());
        for (row, parent) in parents.iter().enumerate() {
            if let Some(parent) = *parent {
                to.row_mut(row).copy_from_slice(from.row(parent as usize));
            }
        }
        Ok(out)
    }

    fn replace_rows(
        &mut self,
        mut rows: PooledTensor,
        indices: &[u32],
        from: ColumnSlice<'_, PooledTensor>,
    ) -> Result<PooledTensor> {
        let (mut to, from) = (rows.view_mut(), from.view());
        for (row, &index) in indices.iter().enumerate() {
            to.row_mut(index as usize).copy_from_slice(from.row(row));
        }
        Ok(rows)
    }

    fn attend_with_weights(
        &mut self,
        queries: ColumnSlice<'_, PooledTensor>,
        groups: &[(usize, &Self::PackedKv)],
        head: usize,
        weights: &mut Vec<Vec<f32>>,
    ) -> Result<PooledTensor> {
        Ok(self.attend_groups(queries, groups, AttentionMask::All, Some((head, weights))))
    }
}
