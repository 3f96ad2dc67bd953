//! Matrices of f64.

use miriam_kernels::{MatMut, MatRef};

/// A matrix `[rows, width]`, row after row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: usize,
    width: usize,
    values: Vec<f64>,
}

impl Matrix {
    /// Returns a matrix of zeros.
    pub fn zeros(rows: usize, width: usize) -> Self {
        Matrix { rows, width, values: vec![0.0; rows * width] }
    }

    /// Creates a matrix of these values, row after row.
    ///
    /// # Panics
    /// If there are not `rows * width` values.
    pub fn new(rows: usize, width: usize, values: Vec<f64>) -> Self {
        assert_eq!(values.len(), rows * width, "a value for each element");
        Matrix { rows, width, values }
    }

    /// Creates a matrix from the element at each row and column.
    pub fn from_fn(rows: usize, width: usize, element: impl Fn(usize, usize) -> f64) -> Self {
        let places = (0..rows).flat_map(|row| (0..width).map(move |column| (row, column)));
        let values = places.map(|(row, column)| element(row, column));
        Matrix { rows, width, values: values.collect() }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Returns the matrix `[rows, width]`.
    pub fn view(&self) -> MatRef<'_, f64> {
        MatRef::new(&self.values, self.rows, self.width)
    }

    /// Returns the matrix `[rows, width]` for writing.
    pub fn view_mut(&mut self) -> MatMut<'_, f64> {
        MatMut::new(&mut self.values, self.rows, self.width)
    }

    /// Returns a row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// Returns a row for writing.
    pub fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.width..(row + 1) * self.width]
    }

    /// Returns all rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.rows).map(|row| self.row(row))
    }

    /// Appends a row; the first one sets the width.
    ///
    /// # Panics
    /// If its width differs from the width of the other rows.
    pub fn push_row(&mut self, row: &[f64]) {
        assert!(self.rows == 0 || row.len() == self.width, "rows of one width");
        self.width = row.len();
        self.values.extend_from_slice(row);
        self.rows += 1;
    }
}
