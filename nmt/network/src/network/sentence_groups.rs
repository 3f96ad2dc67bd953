//! Division of a batch into groups of consecutive sentences.
//!
//! Sentences do not influence each other, so a batch may pass through the layers group by group. On
//! a CPU this is faster where the results of the whole batch would not stay in a cache.

use std::ops::Range;

/// Divides sentences into groups; `rows` has the number of rows of each sentence. A group is the
/// longest run of sentences with at most `max_rows` rows in total, or one longer sentence.
pub(super) fn sentence_groups(
    rows: &[usize],
    max_rows: usize,
) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let mut sum = 0usize;
        let fitting = rows[start..].iter().take_while(|&&rows| {
            sum = sum.saturating_add(rows);
            sum <= max_rows
        });
        let end = rows.len().min(start + fitting.count().max(1));
        let group = start..end;
        start = end;
        (!group.is_empty()).then_some(group)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_large_as_allowed() {
        let groups = |rows: &[usize], most| sentence_groups(rows, most).collect::<Vec<_>>();
        assert_eq!(groups(&[3, 4, 5, 20, 1, 2, 7], 10), [0..2, 2..3, 3..4, 4..7]);
        assert_eq!(sentence_groups(&[3, 4, 1], usize::MAX).next(), Some(0..3));
        assert_eq!(groups(&[0, 0, 1], 0), [0..2, 2..3]);
        assert!(groups(&[], 10).is_empty());
    }
}
