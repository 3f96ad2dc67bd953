//! Edit distance between a hypothesis and a reference, with the edits of a shortest path.
//!
//! Tercom computes only a band of the table of distances around its diagonal, which may miss the
//! smallest distance of long lines; the band is part of the metric. If the band covers the whole
//! table and the reference is short, as nearly always, the distance is computed bit-parallel: a row
//! of the table is two machine words, for the steps up and the steps down from cell to cell (Myers
//! 1999, in the form of Hyyrö 2003). The table itself is filled only for the path, once per round
//! of shifts. For longer lines, the distance after a shift is computed from the first row that the
//! shift changes, until it is clear that the shift cannot gain enough.

use std::ops::Range;

/// The width of the band: the number of cells on each side of the diagonal.
const BEAM_WIDTH: usize = 25;
/// A cost above any distance, small enough not to overflow in additions.
const INFINITE_COST: u32 = 1 << 30;

/// An edit on the path from the hypothesis to the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edit {
    Match,
    Substitute,
    /// The insertion of a word that the hypothesis lacks.
    Insert,
    /// The deletion of a word that the reference lacks.
    Delete,
}

/// Computation of distances between hypotheses of one length and one reference.
pub(super) struct EditDistance<'r> {
    reference: &'r [u32],
    /// The band of each row: its first cell and the cell after its last.
    bands: Vec<(usize, usize)>,
    /// A bit mask of each word's positions in the reference; `None` if distances come from the
    /// table.
    position_masks: Option<Vec<u64>>,
    /// The table, `[hypothesis words + 1, reference words + 1]`.
    costs: Vec<u32>,
    edits: Vec<Edit>,
    /// The table of changed words; only the rows from the first change on are filled.
    changed_costs: Vec<u32>,
}

impl<'r> EditDistance<'r> {
    pub(super) fn new(reference: &'r [u32], length: usize) -> Self {
        let bands = compute_bands(reference.len(), length);
        let is_full_table = bands.iter().all(|&band| band == (0, reference.len() + 1));
        let position_masks = (is_full_table && reference.len() <= 64).then(|| {
            let count = reference.iter().max().map_or(0, |&word| word as usize + 1);
            let mut positions = vec![0; count];
            for (i, &word) in reference.iter().enumerate() {
                positions[word as usize] |= 1 << i;
            }
            positions
        });
        let (costs, edits, changed_costs) = (Vec::new(), Vec::new(), Vec::new());
        EditDistance { reference, bands, position_masks, costs, edits, changed_costs }
    }

    /// Returns the distance of `words` from the reference.
    pub(super) fn compute(&mut self, words: &[u32]) -> usize {
        match &self.position_masks {
            Some(positions) => bit_parallel_distance(words, self.reference.len(), positions),
            None => self.fill_table(words),
        }
    }

    /// Returns the distance of `words` from the reference if it is at most `limit`. The last call
    /// of [`trace_back`](Self::trace_back) must have had the same words, except for those in
    /// `changed`.
    pub(super) fn compute_changed(
        &mut self,
        words: &[u32],
        changed: Range<usize>,
        limit: usize,
    ) -> Option<usize> {
        if self.position_masks.is_some() {
            return Some(self.compute(words)).filter(|&distance| distance <= limit);
        }
        let width = self.reference.len() + 1;
        let EditDistance { reference, bands, costs, changed_costs, .. } = self;
        let (before, limit) = (costs[costs.len() - 1], limit as u32);
        // Cells outside the bands stay infinite.
        changed_costs.resize(costs.len(), INFINITE_COST);
        let first_row = changed.start * width..(changed.start + 1) * width;
        changed_costs[first_row.clone()].copy_from_slice(&costs[first_row]);
        for i in changed.start..words.len() {
            let (word, (first, end)) = (words[i], bands[i]);
            let (above, row) = changed_costs[i * width..(i + 2) * width].split_at_mut(width);
            for j in first..end {
                let mut cost = INFINITE_COST.min(above[j] + 1);
                if j > 0 {
                    let substitution = u32::from(word != reference[j - 1]);
                    cost = cost.min(above[j - 1] + substitution).min(row[j - 1] + 1);
                }
                row[j] = cost;
            }
            // After the last change, the distance falls by at most as much as a cell of this row.
            let unchanged = &costs[(i + 1) * width..][..width];
            if i + 1 >= changed.end && (first..end).all(|j| before + row[j] > limit + unchanged[j])
            {
                return None;
            }
        }
        let distance = changed_costs[changed_costs.len() - 1];
        (distance <= limit).then_some(distance as usize)
    }

    /// Fills the table and returns its last cell.
    fn fill_table(&mut self, words: &[u32]) -> usize {
        let width = self.reference.len() + 1;
        let EditDistance { reference, bands, costs, edits, .. } = self;
        costs.clear();
        costs.extend(0..width as u32);
        costs.resize(width * (words.len() + 1), INFINITE_COST);
        edits.clear();
        edits.resize(width * (words.len() + 1), Edit::Insert);
        for (i, (word, &(first, end))) in words.iter().zip(&*bands).enumerate() {
            let (above, row) = costs[i * width..(i + 2) * width].split_at_mut(width);
            let edits = &mut edits[(i + 1) * width..][..width];
            for j in first..end {
                // Among equal costs, the first of these edits is taken.
                let mut best = (INFINITE_COST, Edit::Insert);
                let mut consider = |cost: u32, edit| {
                    if cost < best.0 {
                        best = (cost, edit);
                    }
                };
                if j > 0 {
                    if *word == reference[j - 1] {
                        consider(above[j - 1], Edit::Match)
                    } else {
                        consider(above[j - 1] + 1, Edit::Substitute)
                    }
                }
                consider(above[j] + 1, Edit::Delete);
                if j > 0 {
                    consider(row[j - 1] + 1, Edit::Insert);
                }
                (row[j], edits[j]) = best;
            }
        }
        costs[costs.len() - 1] as usize
    }

    /// Returns the distance of `words` from the reference. Calls `visit` with the edits of the
    /// path, from its end to its beginning.
    pub(super) fn trace_back(&mut self, words: &[u32], mut visit: impl FnMut(Edit)) -> usize {
        let distance = self.fill_table(words);
        let width = self.reference.len() + 1;
        let (mut i, mut j) = (words.len(), self.reference.len());
        while i > 0 || j > 0 {
            // At the edges there is only one path, which the table may not contain.
            let edit = match (i, j) {
                (0, _) => Edit::Insert,
                (_, 0) => Edit::Delete,
                _ => self.edits[i * width + j],
            };
            visit(edit);
            match edit {
                Edit::Match | Edit::Substitute => (i, j) = (i - 1, j - 1),
                Edit::Insert => j -= 1,
                Edit::Delete => i -= 1,
            }
        }
        distance
    }
}

/// Returns the band of each row of the table that Tercom fills.
fn compute_bands(reference: usize, length: usize) -> Vec<(usize, usize)> {
    let ratio = if length == 0 { 1.0 } else { reference as f64 / length as f64 };
    let band = if (BEAM_WIDTH as f64) < ratio / 2.0 {
        (ratio / 2.0 + BEAM_WIDTH as f64).ceil() as usize
    } else {
        BEAM_WIDTH
    };
    (1..=length)
        .map(|i| {
            let diagonal = (i as f64 * ratio).floor() as usize;
            let end =
                if i == length { reference + 1 } else { (diagonal + band).min(reference + 1) };
            (diagonal.saturating_sub(band), end)
        })
        .collect()
}

/// Computes the distance bit-parallel: bit j of `up` is set if cell j + 1 of a row of the table is
/// one more than cell j, bit j of `down` if it is one less.
fn bit_parallel_distance(words: &[u32], reference: usize, positions: &[u64]) -> usize {
    let (mut up, mut down) = (u64::MAX, 0u64);
    let mut distance = reference;
    let last = 1u64 << (reference - 1);
    for &word in words {
        let same = positions.get(word as usize).copied().unwrap_or(0);
        let diagonal = ((same & up).wrapping_add(up) ^ up) | same | down;
        let right_up = down | !(diagonal | up);
        let right_down = diagonal & up;
        if right_up & last != 0 {
            distance += 1;
        } else if right_down & last != 0 {
            distance -= 1;
        }
        let right_up = right_up << 1 | 1;
        up = right_down << 1 | !(diagonal | right_up);
        down = diagonal & right_up;
    }
    distance
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bits_and_table_agree(
            words in proptest::collection::vec(0u32..6, 0..40),
            reference in proptest::collection::vec(0u32..5, 1..25),
        ) {
            let mut distance = EditDistance::new(&reference, words.len());
            prop_assert!(words.is_empty() || distance.position_masks.is_some());
            let by_bits = distance.compute(&words);
            prop_assert_eq!(distance.fill_table(&words), by_bits);
            let (mut cost, mut kept) = (0, 0);
            let path_cost = distance.trace_back(&words, |edit| match edit {
                Edit::Match => kept += 1,
                _ => cost += 1,
            });
            prop_assert_eq!((path_cost, cost), (by_bits, by_bits));
            prop_assert!(kept <= words.len().min(reference.len()));
        }

        /// [`EditDistance::compute_changed`] agrees with [`EditDistance::compute`] up to the limit.
        #[test]
        fn distances_of_changed_words_agree(
            words in proptest::collection::vec(0u32..6, 1..90),
            reference in proptest::collection::vec(0u32..5, 1..90),
            moved in any::<[u8; 3]>(),
            limit in 0usize..90,
        ) {
            let mut places = moved.map(|place| usize::from(place) % (words.len() + 1));
            places.sort_unstable();
            let [start, middle, end] = places;
            let mut changed = words.clone();
            changed[start..end].rotate_left(middle - start);
            let expected = EditDistance::new(&reference, words.len()).compute(&changed);
            let mut distance = EditDistance::new(&reference, words.len());
            distance.trace_back(&words, |_| ());
            for _ in 0..2 {
                let found = distance.compute_changed(&changed, start..end, limit);
                prop_assert_eq!(found, Some(expected).filter(|&distance| distance <= limit));
            }
        }

        /// The bands contain a path from end to end for all lengths.
        #[test]
        fn bands_of_lines_of_very_different_lengths_join(
            length in 1usize..300, reference in 1usize..300,
        ) {
            let words = vec![1; length];
            let reference: Vec<u32> = (0..reference as u32).map(|i| i % 3).collect();
            let mut distance = EditDistance::new(&reference, length);
            let cost = distance.trace_back(&words, |_| ());
            prop_assert!(cost <= length.max(reference.len()) + 2 * BEAM_WIDTH);
        }
    }
}
