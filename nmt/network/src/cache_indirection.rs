//! The rows of a KV cache that belong to the history of each hypothesis.
//!
//! Keys and values stay where they were written. To reorder a beam, only its lists of rows change.
//! Rows that no list names are dropped when the cache has doubled since rows were last dropped.

/// The history of each hypothesis: rows of the cache, oldest first.
#[derive(Default)]
pub struct CacheIndirection {
    histories: RaggedLists,
    previous: RaggedLists,
    /// The number of rows in the cache, including dead rows, which no list names.
    rows: usize,
    /// The number of rows at which the cache is compacted.
    compact_at: usize,
    live_rows: Vec<u32>,
    renumbered: Vec<u32>,
}

/// Lists of different lengths in one vector.
#[derive(Default)]
struct RaggedLists {
    items: Vec<u32>,
    ends: Vec<usize>,
}

impl RaggedLists {
    fn list(&self, index: usize) -> &[u32] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.items[start..self.ends[index]]
    }
}

/// Fewer rows than this are never compacted.
const MIN_ROWS_TO_COMPACT: usize = 256;

impl CacheIndirection {
    /// Lets each hypothesis continue the history of its parent with one new row, which the caller
    /// appends to the cache. If it is time to drop dead rows, returns the rows to keep, ascending;
    /// the caller drops the others before it appends.
    pub fn advance(&mut self, parents: &[Option<u32>]) -> Option<&[u32]> {
        std::mem::swap(&mut self.histories, &mut self.previous);
        let RaggedLists { items, ends } = &mut self.histories;
        items.clear();
        ends.clear();
        // Each list ends with its new row, which is numbered below.
        for parent in parents {
            if let Some(parent) = *parent {
                items.extend_from_slice(self.previous.list(parent as usize));
            }
            items.push(u32::MAX);
            ends.push(items.len());
        }
        let compacts = self.rows >= self.compact_at.max(MIN_ROWS_TO_COMPACT) && self.compact();
        for (row, &end) in self.histories.ends.iter().enumerate() {
            self.histories.items[end - 1] = (self.rows + row) as u32;
        }
        self.rows += parents.len();
        compacts.then_some(&self.live_rows[..])
    }

    /// Renumbers the live rows in order. Returns whether any row was dead.
    fn compact(&mut self) -> bool {
        self.renumbered.clear();
        self.renumbered.resize(self.rows, u32::MAX);
        fn is_old(item: &&mut u32) -> bool {
            **item != u32::MAX
        }
        for item in self.histories.items.iter_mut().filter(is_old) {
            self.renumbered[*item as usize] = 0;
        }
        self.live_rows.clear();
        for (row, number) in self.renumbered.iter_mut().enumerate().filter(|(_, n)| **n == 0) {
            *number = self.live_rows.len() as u32;
            self.live_rows.push(row as u32);
        }
        self.compact_at = 2 * self.live_rows.len();
        if self.live_rows.len() == self.rows {
            return false;
        }
        for item in self.histories.items.iter_mut().filter(is_old) {
            *item = self.renumbered[*item as usize];
        }
        self.rows = self.live_rows.len();
        true
    }

    /// Returns the history of hypothesis `index`, its own row last.
    pub fn history(&self, index: usize) -> &[u32] {
        self.histories.list(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A history has the rows of the hypothesis and its ancestors, whichever rows were dropped.
        #[test]
        fn histories_name_the_rows_of_ancestors(
            steps in prop::collection::vec(
                prop::collection::vec(prop::option::weighted(0.9, any::<prop::sample::Index>()), 1..40),
                1..60,
            ),
        ) {
            let mut indirection = CacheIndirection::default();
            let mut cache: Vec<u32> = Vec::new();
            let mut histories: Vec<Vec<u32>> = Vec::new();
            let mut next = 0;
            for step in steps {
                let parents: Vec<Option<u32>> = step
                    .iter()
                    .map(|parent| match (parent, histories.len()) {
                        (Some(parent), n) if n > 0 => Some(parent.index(n) as u32),
                        _ => None,
                    })
                    .collect();
                if let Some(kept) = indirection.advance(&parents) {
                    cache = kept.iter().map(|&row| cache[row as usize]).collect();
                }
                let mut now = Vec::new();
                for parent in &parents {
                    let mut history =
                        parent.map_or(Vec::new(), |parent| histories[parent as usize].clone());
                    history.push(next);
                    cache.push(next);
                    next += 1;
                    now.push(history);
                }
                histories = now;
                for (index, history) in histories.iter().enumerate() {
                    let found: Vec<u32> =
                        indirection.history(index).iter().map(|&row| cache[row as usize]).collect();
                    prop_assert_eq!(&found, history);
                }
                let alive: std::collections::BTreeSet<_> = histories.iter().flatten().collect();
                prop_assert!(
                    cache.len() <= 2 * alive.len().max(MIN_ROWS_TO_COMPACT) + 40 * 2,
                    "{} rows, {} alive", cache.len(), alive.len()
                );
            }
        }
    }
}
