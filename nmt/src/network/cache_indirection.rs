//! Which rows of the past each hypothesis went through.
//!
//! Keys and values stay where they were written, so a beam is reordered by its lists of
//! rows. Rows that no list has any more are forgotten when they are more than the others.

/// Lists of rows of the past, one for each hypothesis.
#[derive(Default)]
pub struct CacheIndirection {
    paths: RaggedLists,
    previous: RaggedLists,
    /// Rows of the past, dead ones among them.
    rows: usize,
    /// At so many rows the dead ones are looked for.
    compact_at: usize,
    live_rows: Vec<u32>,
    renumbered: Vec<u32>,
}

/// Lists one after the other.
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

/// Fewer rows than this are not worth looking at.
const MIN_ROWS_TO_COMPACT: usize = 256;

impl CacheIndirection {
    /// Hypotheses go on from those of the step before, each with a row of its own: the next
    /// ones of the past, and so many others behind them. Gives the rows that the past must
    /// keep before that, if it is time to forget others.
    pub fn advance(&mut self, parents: &[Option<u32>], others: usize) -> Option<&[u32]> {
        std::mem::swap(&mut self.paths, &mut self.previous);
        let RaggedLists { items, ends } = &mut self.paths;
        items.clear();
        ends.clear();
        // Room for the new rows is left at the end of each list.
        for parent in parents {
            if let Some(parent) = *parent {
                items.extend_from_slice(self.previous.list(parent as usize));
            }
            items.push(u32::MAX);
            ends.push(items.len());
        }
        let forgets = self.rows >= self.compact_at.max(MIN_ROWS_TO_COMPACT) && self.compact();
        for (row, &end) in self.paths.ends.iter().enumerate() {
            self.paths.items[end - 1] = (self.rows + row) as u32;
        }
        self.rows += parents.len() + others;
        forgets.then_some(&self.live_rows[..])
    }

    /// Renames the rows that live, in their order. Tells whether any has died.
    fn compact(&mut self) -> bool {
        self.renumbered.clear();
        self.renumbered.resize(self.rows, u32::MAX);
        let old = |item: &&mut u32| **item != u32::MAX;
        for item in self.paths.items.iter_mut().filter(old) {
            self.renumbered[*item as usize] = 0;
        }
        self.live_rows.clear();
        for (row, name) in self.renumbered.iter_mut().enumerate().filter(|(_, name)| **name == 0) {
            *name = self.live_rows.len() as u32;
            self.live_rows.push(row as u32);
        }
        self.compact_at = 2 * self.live_rows.len();
        if self.live_rows.len() == self.rows {
            return false;
        }
        for item in self.paths.items.iter_mut().filter(old) {
            *item = self.renumbered[*item as usize];
        }
        self.rows = self.live_rows.len();
        true
    }

    /// The rows that hypothesis `index` sees, oldest first.
    pub fn path(&self, index: usize) -> &[u32] {
        self.paths.list(index)
    }

    /// Words before the coming one of hypothesis `index`.
    pub fn position(&self, index: usize) -> u32 {
        self.path(index).len() as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A past of numbers, each the history of its row, is what the lists say.
        #[test]
        fn paths_name_the_rows_of_ancestors(
            steps in prop::collection::vec(
                prop::collection::vec(prop::option::weighted(0.9, any::<prop::sample::Index>()), 1..40),
                1..60,
            ),
            others in 0usize..3,
        ) {
            let mut paths = CacheIndirection::default();
            let mut past: Vec<u32> = Vec::new();
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
                if let Some(kept) = paths.advance(&parents, others) {
                    past = kept.iter().map(|&row| past[row as usize]).collect();
                }
                let mut now = Vec::new();
                for parent in &parents {
                    let mut history =
                        parent.map_or(Vec::new(), |parent| histories[parent as usize].clone());
                    history.push(next);
                    past.push(next);
                    next += 1;
                    now.push(history);
                }
                past.extend(std::iter::repeat_n(u32::MAX, others));
                histories = now;
                for (index, history) in histories.iter().enumerate() {
                    let found: Vec<u32> =
                        paths.path(index).iter().map(|&row| past[row as usize]).collect();
                    prop_assert_eq!(&found, history);
                    prop_assert_eq!(paths.position(index) as usize, history.len() - 1);
                }
                let alive: std::collections::BTreeSet<_> = histories.iter().flatten().collect();
                prop_assert!(
                    past.len() <= 2 * alive.len().max(MIN_ROWS_TO_COMPACT) + (others + 1) * 40 * 2,
                    "{} rows, {} alive", past.len(), alive.len()
                );
            }
        }
    }
}
