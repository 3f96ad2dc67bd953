//! The numbers of a tensor: bytes of a file, or columns of a packed matrix of a model file.
//!
//! Model files hold the weights of GEMMs only once, in the layout that the engine reads. A
//! parameter in a packed matrix is unpacked only when its values are needed: to pack it for another
//! precision, to convert it or to list it. Rows of a table that is also the output layer are read
//! from the packed matrix one by one.

use std::sync::{Arc, OnceLock};

use miriam_storage::{Bytes, View};

use super::owned_bytes::OwnedBytes;
use crate::packed::{MappedMatrix, PackedView};

/// The storage of the numbers of a tensor.
#[derive(Clone)]
pub(super) enum TensorData {
    Stored(OwnedBytes),
    Packed(Arc<PackedColumns>),
}

impl TensorData {
    /// Returns the number of bytes, known without unpacking.
    pub(super) fn len(&self) -> usize {
        match self {
            TensorData::Stored(bytes) => bytes.len(),
            TensorData::Packed(columns) => columns.len(),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            TensorData::Stored(bytes) => bytes,
            TensorData::Packed(columns) => columns.bytes(),
        }
    }

    /// Returns the bytes `start..start + length`, if they are there.
    pub(super) fn slice(&self, start: usize, length: usize) -> Option<OwnedBytes> {
        match self {
            TensorData::Stored(bytes) => bytes.slice(start, length),
            TensorData::Packed(columns) => {
                let bytes = Bytes::copy_from(columns.bytes());
                OwnedBytes::new(View::new(&bytes, 0, bytes.len()).ok()?).slice(start, length)
            }
        }
    }
}

/// A parameter that is stored as columns of a packed matrix.
pub(crate) struct PackedColumns {
    matrix: MappedMatrix,
    first: usize,
    count: usize,
    /// Whether columns are the rows of a table.
    is_table: bool,
    unpacked: OnceLock<Vec<u8>>,
}

impl PackedColumns {
    /// Returns the parameter in the columns `first..first + count` of `matrix`: a matrix
    /// `[depth, count]` or, if `is_table`, the table `[count, depth]` of an output layer.
    ///
    /// # Errors
    /// If the matrix is damaged, has no such columns, or is packed in integers of 16 bits.
    pub(crate) fn new(
        matrix: MappedMatrix,
        first: usize,
        count: usize,
        is_table: bool,
    ) -> Result<Self, String> {
        if let PackedView::I16(_) = matrix.view()? {
            return Err("its matrix is packed in 16 bits and cannot be unpacked to a tensor".into());
        }
        if first.checked_add(count).is_none_or(|end| end > matrix.columns) {
            return Err("its columns are out of range of its packed matrix".into());
        }
        Ok(PackedColumns { matrix, first, count, is_table, unpacked: OnceLock::new() })
    }

    /// Returns its shape, `[rows, columns]`.
    pub(crate) fn shape(&self) -> [usize; 2] {
        if self.is_table {
            [self.count, self.matrix.depth]
        } else {
            [self.matrix.depth, self.count]
        }
    }

    /// Whether its numbers are floats; otherwise they are integers of eight bits.
    pub(crate) fn has_floats(&self) -> bool {
        matches!(self.view(), PackedView::F32(_))
    }

    pub(super) fn is_table(&self) -> bool {
        self.is_table
    }

    fn view(&self) -> PackedView<'_> {
        self.matrix.view().expect("checked when it was opened")
    }

    fn len(&self) -> usize {
        self.matrix.depth * self.count * if self.has_floats() { 4 } else { 1 }
    }

    /// Returns the bytes of the tensor, kept from the first call on.
    fn bytes(&self) -> &[u8] {
        self.unpacked.get_or_init(|| self.unpack())
    }

    /// Returns the bytes of the tensor: floats row by row, integers channel by channel.
    pub(super) fn unpack(&self) -> Vec<u8> {
        let (depth, count) = (self.matrix.depth, self.count);
        let mut bytes = vec![0; self.len()];
        match self.view() {
            PackedView::F32(view) => {
                let mut column = vec![0.0; depth];
                for index in 0..count {
                    view.column(self.first + index, &mut column);
                    for (at, number) in column.iter().enumerate() {
                        let place =
                            if self.is_table { index * depth + at } else { at * count + index };
                        bytes[4 * place..][..4].copy_from_slice(&number.to_le_bytes());
                    }
                }
            }
            PackedView::I8(view) => {
                for (index, integers) in bytes.chunks_exact_mut(depth.max(1)).enumerate() {
                    view.column_integers(self.first + index, integers);
                }
            }
            PackedView::I16(_) => unreachable!("rejected when it was opened"),
        }
        bytes
    }

    /// Reads the numbers of a column, without multipliers.
    ///
    /// # Panics
    /// If there is no such column, or `into` is not as long as the depth.
    pub(super) fn read_column(&self, index: usize, into: &mut [f32]) {
        assert!(index < self.count);
        match self.view() {
            PackedView::F32(view) => view.column(self.first + index, into),
            PackedView::I8(view) => {
                let mut integers = vec![0; into.len()];
                view.column_integers(self.first + index, &mut integers);
                for (to, &integer) in into.iter_mut().zip(&integers) {
                    *to = f32::from(integer as i8);
                }
            }
            PackedView::I16(_) => unreachable!("rejected when it was opened"),
        }
    }
}
