//! Row-major matrix views of borrowed memory.
//!
//! A view is a slice, a shape and a row stride. So some columns of a matrix, such as those of one
//! gate in a fused GEMM or of one attention head, are a view too.

use std::ops::Range;

/// A matrix `[rows, columns]` over a borrowed slice.
///
/// ```
/// use miriam_kernels::MatRef;
///
/// let gates = MatRef::new(&[1, 2, 3, 4, 5, 6], 2, 3);
/// assert_eq!(gates.column_range(1..3).row(1), [5, 6]);
/// ```
#[derive(Debug)]
pub struct MatRef<'a, T> {
    values: &'a [T],
    rows: usize,
    columns: usize,
    stride: usize,
}

/// A mutable matrix `[rows, columns]` over a borrowed slice.
#[derive(Debug)]
pub struct MatMut<'a, T> {
    values: &'a mut [T],
    rows: usize,
    columns: usize,
    stride: usize,
}

impl<T> Clone for MatRef<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for MatRef<'_, T> {}

/// Returns the number of elements from the first of the first row to the last of the last row, if
/// rows start `stride` elements apart.
///
/// # Panics
/// If rows overlap or the number exceeds the address space.
fn required_len(rows: usize, columns: usize, stride: usize) -> usize {
    assert!(columns <= stride || rows <= 1, "rows of {columns} overlap at a stride of {stride}");
    let before = rows.saturating_sub(1).checked_mul(stride);
    let span = before.and_then(|before| before.checked_add(columns));
    if rows == 0 { 0 } else { span.expect("a matrix fits the address space") }
}

impl<'a, T> MatRef<'a, T> {
    /// Creates a view of contiguous rows.
    ///
    /// # Panics
    /// If the slice has fewer than `rows * columns` elements.
    pub fn new(values: &'a [T], rows: usize, columns: usize) -> Self {
        Self::with_stride(values, rows, columns, columns)
    }

    /// Creates a view whose rows start `stride` elements apart.
    ///
    /// # Panics
    /// If rows overlap or exceed the slice.
    pub fn with_stride(values: &'a [T], rows: usize, columns: usize, stride: usize) -> Self {
        let span = required_len(rows, columns, stride);
        Self { values: &values[..span], rows, columns, stride }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of elements of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns row `index`.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[inline]
    pub fn row(&self, index: usize) -> &'a [T] {
        assert!(index < self.rows, "row {index} of {}", self.rows);
        &self.values[index * self.stride..][..self.columns]
    }

    /// Returns the rows `range`.
    ///
    /// # Panics
    /// If the range exceeds the rows.
    pub fn row_range(&self, range: Range<usize>) -> MatRef<'a, T> {
        assert!(range.start <= range.end && range.end <= self.rows);
        if range.is_empty() {
            return MatRef { values: &[], rows: 0, ..*self };
        }
        let values = &self.values[range.start * self.stride..];
        MatRef::with_stride(values, range.len(), self.columns, self.stride)
    }

    /// Returns the columns `range` of every row.
    ///
    /// # Panics
    /// If the range exceeds the columns.
    pub fn column_range(&self, range: Range<usize>) -> MatRef<'a, T> {
        assert!(range.start <= range.end && range.end <= self.columns);
        let values = if self.rows == 0 { self.values } else { &self.values[range.start..] };
        MatRef::with_stride(values, self.rows, range.len(), self.stride)
    }
}

impl<'a, T> MatMut<'a, T> {
    /// Creates a view of contiguous rows.
    ///
    /// # Panics
    /// If the slice has fewer than `rows * columns` elements.
    pub fn new(values: &'a mut [T], rows: usize, columns: usize) -> Self {
        Self::with_stride(values, rows, columns, columns)
    }

    /// Creates a view whose rows start `stride` elements apart.
    ///
    /// # Panics
    /// If rows overlap or exceed the slice.
    pub fn with_stride(values: &'a mut [T], rows: usize, columns: usize, stride: usize) -> Self {
        let span = required_len(rows, columns, stride);
        Self { values: &mut values[..span], rows, columns, stride }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of elements of a row.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns row `index`.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[inline]
    pub fn row(&self, index: usize) -> &[T] {
        assert!(index < self.rows, "row {index} of {}", self.rows);
        &self.values[index * self.stride..][..self.columns]
    }

    /// Returns row `index` to write.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[inline]
    pub fn row_mut(&mut self, index: usize) -> &mut [T] {
        assert!(index < self.rows, "row {index} of {}", self.rows);
        &mut self.values[index * self.stride..][..self.columns]
    }

    /// Returns the earlier row `before` to read and row `index` to write.
    ///
    /// # Panics
    /// If `before >= index` or `index` is out of range.
    #[inline(always)]
    pub(crate) fn row_pair(&mut self, before: usize, index: usize) -> (&[T], &mut [T]) {
        assert!(before < index && index < self.rows);
        let (first, second) = self.values.split_at_mut(index * self.stride);
        (&first[before * self.stride..][..self.columns], &mut second[..self.columns])
    }

    /// Returns the columns `columns` of row `index`. Callers must keep both in range: only debug
    /// builds check it, and other builds may return elements outside the row.
    ///
    /// # Panics
    /// If the columns exceed the slice of the matrix.
    #[inline(always)]
    pub(crate) fn row_columns(&mut self, index: usize, columns: Range<usize>) -> &mut [T] {
        debug_assert!(index < self.rows && columns.end <= self.columns);
        let row = index * self.stride;
        &mut self.values[row + columns.start..row + columns.end]
    }

    /// Borrows the matrix as a read-only view.
    pub fn as_ref(&self) -> MatRef<'_, T> {
        MatRef { values: self.values, rows: self.rows, columns: self.columns, stride: self.stride }
    }

    /// Converts the matrix into a read-only view of the same lifetime.
    pub(crate) fn into_ref(self) -> MatRef<'a, T> {
        MatRef { values: self.values, rows: self.rows, columns: self.columns, stride: self.stride }
    }

    /// Reborrows the matrix mutably.
    pub fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut { values: self.values, rows: self.rows, columns: self.columns, stride: self.stride }
    }

    /// Returns the rows `range`.
    ///
    /// # Panics
    /// If the range exceeds the rows.
    pub fn row_range(self, range: Range<usize>) -> MatMut<'a, T> {
        assert!(range.start <= range.end && range.end <= self.rows);
        let (until, _) = self.split_rows(range.end);
        until.split_rows(range.start).1
    }

    /// Returns the columns `range` of every row.
    ///
    /// # Panics
    /// If the range exceeds the columns.
    pub fn column_range(self, range: Range<usize>) -> MatMut<'a, T> {
        assert!(range.start <= range.end && range.end <= self.columns);
        let values = if self.rows == 0 { self.values } else { &mut self.values[range.start..] };
        MatMut::with_stride(values, self.rows, range.len(), self.stride)
    }

    /// Returns the first `rows` rows and the others.
    ///
    /// # Panics
    /// If `rows` exceeds the number of rows.
    pub fn split_rows(self, rows: usize) -> (MatMut<'a, T>, MatMut<'a, T>) {
        assert!(rows <= self.rows);
        let at = if rows < self.rows { rows * self.stride } else { self.values.len() };
        let (first, rest) = self.values.split_at_mut(at);
        (
            MatMut::with_stride(first, rows, self.columns, self.stride),
            MatMut::with_stride(rest, self.rows - rows, self.columns, self.stride),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_read_the_right_elements() {
        let values: Vec<usize> = (0..35).collect();
        let whole = MatRef::with_stride(&values, 5, 6, 7);
        let part = whole.row_range(1..4).column_range(2..5);
        for row in 0..3 {
            assert_eq!(part.row(row), [(row + 1) * 7 + 2, (row + 1) * 7 + 3, (row + 1) * 7 + 4]);
        }
        assert_eq!(whole.row_range(5..5).rows(), 0);
        assert_eq!(MatRef::new(&values[..0], 0, 7).column_range(3..5).rows(), 0);
    }

    #[test]
    fn rows_split_without_sharing_an_element() {
        for rows in 0..=3 {
            let mut values = vec![0; 20];
            let (mut first, mut rest) = MatMut::with_stride(&mut values, 3, 5, 7).split_rows(rows);
            assert_eq!((first.rows(), rest.rows()), (rows, 3 - rows));
            (0..first.rows()).for_each(|row| first.row_mut(row).fill(1));
            (0..rest.rows()).for_each(|row| rest.row_mut(row).fill(2));
            let expected = |at: usize| match (at % 7 < 5, at / 7 < rows) {
                (false, _) => 0,
                (true, true) => 1,
                (true, false) => 2,
            };
            assert!((0..19).all(|at| values[at] == expected(at)), "{values:?}");
        }
    }

    #[test]
    fn a_single_row_wider_than_the_stride_splits() {
        for rows in 0..=1 {
            let mut values = [1, 2, 3];
            let (first, rest) = MatMut::with_stride(&mut values, 1, 3, 2).split_rows(rows);
            let whole = if rows == 1 { first } else { rest };
            assert_eq!(whole.row(0), [1, 2, 3]);
        }
    }

    #[test]
    fn row_range_writes_only_its_rows() {
        for range in [0..0, 0..3, 1..2, 2..3, 3..3] {
            let mut values = vec![0; 20];
            let mut part = MatMut::with_stride(&mut values, 3, 5, 7).row_range(range.clone());
            assert_eq!((part.rows(), part.columns()), (range.len(), 5));
            (0..part.rows()).for_each(|row| part.row_mut(row).fill(1));
            let expected = |at: usize| usize::from(at % 7 < 5 && range.contains(&(at / 7)));
            assert!((0..19).all(|at| values[at] == expected(at)), "{values:?}");
        }
    }

    #[test]
    #[should_panic(expected = "overlap")]
    fn overlapping_rows_are_rejected() {
        MatRef::with_stride(&[0; 20], 3, 5, 4);
    }
}
