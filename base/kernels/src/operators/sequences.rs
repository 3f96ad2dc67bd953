//! Rows that follow each other in time, for operators that carry a state from row to row.

use std::ops::Range;

use crate::MatMut;

/// The sequences that the rows of a matrix belong to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sequences {
    /// Each row is a separate sequence, as in a step of decoding.
    SingleStep,
    /// Sequences of these lengths, one after the other.
    Lengths(Vec<usize>),
}

impl Sequences {
    /// Returns the first row of each sequence, and after these the number of all rows.
    ///
    /// # Panics
    /// If the lengths do not sum to `rows`.
    pub fn starts(&self, rows: usize) -> impl Iterator<Item = usize> {
        self.ranges(rows).map(|range| range.start).chain([rows])
    }

    /// Returns the rows of each sequence; `rows` is the number of all rows.
    ///
    /// # Panics
    /// If the lengths do not sum to `rows`.
    pub(super) fn ranges(&self, rows: usize) -> impl Iterator<Item = Range<usize>> {
        let (count, lengths) = match self {
            Sequences::SingleStep => (rows, None),
            Sequences::Lengths(lengths) => {
                assert_eq!(lengths.iter().sum::<usize>(), rows, "every row is in a sequence");
                (lengths.len(), Some(lengths))
            }
        };
        let mut first = 0;
        (0..count).map(move |sequence| {
            let range = first..first + lengths.map_or(1, |lengths| lengths[sequence]);
            first = range.end;
            range
        })
    }
}

/// Returns the row of a step, filled with the row of the step before, or with `initial` in the
/// first step.
#[inline(always)]
pub(super) fn previous_to_row<'a, R: Copy>(
    initial: &[R],
    (first, step): (usize, usize),
    out: &'a mut MatMut<'_, R>,
) -> &'a mut [R] {
    if step == 0 {
        out.row_mut(first).copy_from_slice(initial);
        return out.row_mut(first);
    }
    let (before, row) = out.row_pair(first + step - 1, first + step);
    row.copy_from_slice(before);
    row
}
