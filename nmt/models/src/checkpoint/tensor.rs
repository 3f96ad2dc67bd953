//! A tensor whose elements stay in the mapped file: a shape, a data type, and a range of the file's
//! bytes, which need not be aligned.
//!
//! Formats disagree on whether matrices are stored transposed. Here a shape is always the
//! logical one, `[inputs, outputs]`, and [`StorageOrder`] says how the file stores it. So
//! reading a file copies no weight, and quantised weights keep the order that integer GEMM
//! needs: each output column contiguous.

use std::sync::Arc;

use miriam_storage::{Bytes, View};
use serde::{Deserialize, Serialize};

use super::owned_bytes::OwnedBytes;
use super::tensor_data::{PackedColumns, TensorData};

/// The data type of the elements of a tensor, stored little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DType {
    /// 32-bit float.
    F32,
    /// IEEE 754 binary16.
    F16,
    /// bfloat16: the upper half of a 32-bit float.
    Bf16,
    /// 64-bit float.
    F64,
    /// 8-bit integer.
    I8,
    /// 16-bit integer.
    I16,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
}

impl DType {
    /// Returns the number of bytes of one element.
    pub fn size(self) -> usize {
        match self {
            DType::I8 => 1,
            DType::F16 | DType::Bf16 | DType::I16 => 2,
            DType::F32 | DType::I32 => 4,
            DType::F64 | DType::I64 => 8,
        }
    }

    /// Returns its usual short name, such as `f32`.
    pub fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
            DType::F64 => "f64",
            DType::I8 => "i8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
        }
    }
}

/// The order of a matrix's elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StorageOrder {
    /// The elements of a row are contiguous.
    RowMajor,
    /// The elements of a column are contiguous: the matrix is stored transposed.
    ColumnMajor,
}

/// The multipliers of a quantised tensor: real number = integer / multiplier.
#[derive(Clone, Debug, PartialEq)]
pub enum QuantMultipliers {
    /// One for all elements.
    PerTensor(f32),
    /// One for each row or column, whichever is contiguous ([`StorageOrder`]).
    PerChannel(Arc<[f32]>),
}

/// A tensor of a checkpoint.
#[derive(Clone)]
pub struct Tensor {
    shape: Vec<usize>,
    dtype: DType,
    order: StorageOrder,
    multipliers: Option<QuantMultipliers>,
    data: TensorData,
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {:?} {:?}", self.dtype.name(), self.shape, self.order)
    }
}

impl Tensor {
    /// Creates a tensor over `data`. `order` is ignored unless there are two dimensions.
    ///
    /// # Errors
    /// If `data` does not have the number of bytes that follows from shape and data type.
    pub fn new(
        shape: Vec<usize>,
        dtype: DType,
        order: StorageOrder,
        data: OwnedBytes,
    ) -> Result<Self, String> {
        let count = shape.iter().try_fold(1usize, |count, &n| count.checked_mul(n));
        if count.and_then(|count| count.checked_mul(dtype.size())) != Some(data.len()) {
            let (bytes, name) = (data.len(), dtype.name());
            return Err(format!("{bytes} bytes do not fit the shape {shape:?} of {name}"));
        }
        // Files store vectors as [n] or as [1, n]; the order of [n] is always row-major.
        let order = if shape.len() == 2 { order } else { StorageOrder::RowMajor };
        Ok(Tensor { shape, dtype, order, multipliers: None, data: TensorData::Stored(data) })
    }

    /// Creates a tensor from columns that a model file stores packed for the kernels: floats in
    /// row-major order, or 8-bit integers whose channels are contiguous.
    pub(crate) fn from_packed(columns: PackedColumns) -> Self {
        let (dtype, order) = match (columns.has_floats(), columns.is_table()) {
            (true, _) => (DType::F32, StorageOrder::RowMajor),
            (false, true) => (DType::I8, StorageOrder::RowMajor),
            (false, false) => (DType::I8, StorageOrder::ColumnMajor),
        };
        let shape = columns.shape().to_vec();
        let data = TensorData::Packed(Arc::new(columns));
        Tensor { shape, dtype, order, multipliers: None, data }
    }

    /// Returns the tensor with quantisation multipliers.
    ///
    /// # Errors
    /// If a multiplier is 0 or not finite, or [`QuantMultipliers::PerChannel`] does not have one
    /// multiplier for each of the [`channels`](Tensor::channels).
    pub fn with_multipliers(mut self, multipliers: QuantMultipliers) -> Result<Self, String> {
        fn is_valid(multiplier: f32) -> bool {
            multiplier.is_finite() && multiplier != 0.0
        }
        match &multipliers {
            QuantMultipliers::PerTensor(multiplier) if !is_valid(*multiplier) => {
                return Err(format!(
                    "the quantisation multiplier is {multiplier}, expected a finite number that is \
                     not 0"
                ));
            }
            QuantMultipliers::PerChannel(all) if all.len() != self.channels() => {
                return Err(format!(
                    "expected {} quantisation multipliers, one per channel, found {}",
                    self.channels(),
                    all.len()
                ));
            }
            QuantMultipliers::PerChannel(all) if !all.iter().all(|&m| is_valid(m)) => {
                return Err("a quantisation multiplier is 0 or not finite".into());
            }
            _ => {}
        }
        self.multipliers = Some(multipliers);
        Ok(self)
    }

    /// Returns the logical shape, outermost dimension first; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Returns the number of elements.
    pub fn numel(&self) -> usize {
        self.data.len() / self.dtype.size()
    }

    /// Returns the data type of the elements.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Returns the storage order of a matrix; row-major for other tensors.
    pub fn order(&self) -> StorageOrder {
        self.order
    }

    /// Returns the quantisation multipliers.
    pub fn multipliers(&self) -> Option<&QuantMultipliers> {
        self.multipliers.as_ref()
    }

    /// Returns the stored bytes. The first call unpacks the bytes of a packed parameter.
    pub fn bytes(&self) -> &[u8] {
        self.data.bytes()
    }

    /// Returns the number of stored bytes, without unpacking them.
    pub fn byte_len(&self) -> usize {
        self.data.len()
    }

    /// Releases the memory of the stored bytes; the system reads them again from the file when they
    /// are needed.
    pub fn release_pages(&self) {
        if let TensorData::Stored(bytes) = &self.data {
            bytes.release_pages();
        }
    }

    /// Returns the number of rows or columns, whichever are contiguous; 1 for a scalar.
    pub fn channels(&self) -> usize {
        match (&self.shape[..], self.order) {
            (&[_, columns], StorageOrder::ColumnMajor) => columns,
            (&[rows, ..], StorageOrder::RowMajor) => rows,
            _ => 1,
        }
    }

    /// Returns the same elements with another shape.
    ///
    /// # Errors
    /// If the number of elements differs or the order is not row-major.
    pub fn reshaped(mut self, shape: Vec<usize>) -> Result<Self, String> {
        let fits = self.order == StorageOrder::RowMajor
            && shape.iter().try_fold(1usize, |count, &n| count.checked_mul(n))
                == Some(self.numel());
        if !fits {
            return Err(format!("the shape {:?} cannot be read as {shape:?}", self.shape));
        }
        self.shape = shape;
        Ok(self)
    }

    /// Returns the transposed matrix: `[r, c]` becomes `[c, r]`, without moving elements. Other
    /// tensors stay as they are.
    pub fn transposed(mut self) -> Self {
        if self.shape.len() == 2 {
            self.shape.swap(0, 1);
            self.order = match self.order {
                StorageOrder::RowMajor => StorageOrder::ColumnMajor,
                StorageOrder::ColumnMajor => StorageOrder::RowMajor,
            };
        }
        self
    }

    /// Returns the rows `first..first + count` of a row-major matrix, or the elements with these
    /// indices of a vector.
    ///
    /// # Errors
    /// If they are out of range or the matrix is column-major.
    pub fn slice_rows(&self, first: usize, count: usize) -> Result<Self, String> {
        let outside = || {
            format!(
                "rows {first} to {} are out of range of the shape {:?}",
                first + count,
                self.shape
            )
        };
        let (&rows, inner) = self.shape.split_first().ok_or_else(outside)?;
        if self.order != StorageOrder::RowMajor
            || first.checked_add(count).is_none_or(|end| end > rows)
        {
            return Err(outside());
        }
        let width = self.data.len().checked_div(rows).unwrap_or(0);
        let data = self.data.slice(first * width, count * width).ok_or_else(outside)?;
        let shape = [&[count], inner].concat();
        let part = Tensor::new(shape, self.dtype, StorageOrder::RowMajor, data)?;
        match &self.multipliers {
            None => Ok(part),
            Some(QuantMultipliers::PerTensor(multiplier)) => {
                part.with_multipliers(QuantMultipliers::PerTensor(*multiplier))
            }
            Some(QuantMultipliers::PerChannel(all)) => part
                .with_multipliers(QuantMultipliers::PerChannel(all[first..first + count].into())),
        }
    }

    /// Returns `n` zeros in f32, shape `[n]`. `n` must be a dimension of an existing tensor, so
    /// that a hostile file cannot ask for too much memory.
    pub(crate) fn zeros(n: usize) -> Self {
        let bytes = Bytes::copy_from(&vec![0; n * DType::F32.size()]);
        Self::from_bytes(vec![n], DType::F32, &bytes)
    }

    /// Returns a tensor of the values times `factor`, which is finite and not 0. Only the
    /// multipliers change, not the stored elements.
    ///
    /// # Errors
    /// If a multiplier would exceed the range of f32.
    pub(crate) fn scaled(self, factor: f32) -> Result<Self, String> {
        let multipliers = match &self.multipliers {
            None => QuantMultipliers::PerTensor(1.0 / factor),
            Some(QuantMultipliers::PerTensor(multiplier)) => {
                QuantMultipliers::PerTensor(multiplier / factor)
            }
            Some(QuantMultipliers::PerChannel(all)) => {
                QuantMultipliers::PerChannel(all.iter().map(|one| one / factor).collect())
            }
        };
        self.with_multipliers(multipliers)
    }

    /// Returns a row-major matrix or vector in which each block of `block` rows is repeated `times`
    /// times.
    ///
    /// # Errors
    /// If the number of rows is not a multiple of `block`, or the matrix is column-major.
    pub(crate) fn repeat_blocks(&self, block: usize, times: usize) -> Result<Self, String> {
        let rows = self.shape.first().copied().unwrap_or(0);
        if self.order != StorageOrder::RowMajor || block == 0 || !rows.is_multiple_of(block) {
            return Err(format!("the shape {:?} is not in blocks of {block} rows", self.shape));
        }
        let row_bytes = self.data.len() / rows.max(1);
        let blocks = self.bytes().chunks_exact((block * row_bytes).max(1));
        let bytes: Vec<u8> = blocks.flat_map(|bytes| bytes.repeat(times)).collect();
        let mut shape = self.shape.clone();
        shape[0] = rows * times;
        let repeated = Self::from_bytes(shape, self.dtype, &Bytes::copy_from(&bytes));
        match &self.multipliers {
            None => Ok(repeated),
            Some(QuantMultipliers::PerTensor(multiplier)) => {
                repeated.with_multipliers(QuantMultipliers::PerTensor(*multiplier))
            }
            Some(QuantMultipliers::PerChannel(all)) => {
                let all: Vec<f32> = all.chunks(block).flat_map(|part| part.repeat(times)).collect();
                repeated.with_multipliers(QuantMultipliers::PerChannel(all.into()))
            }
        }
    }

    /// Creates a row-major tensor over `bytes`, whose number must fit shape and data type.
    fn from_bytes(shape: Vec<usize>, dtype: DType, bytes: &Bytes) -> Self {
        let view = View::new(bytes, 0, bytes.len()).expect("all of the bytes are a window");
        Tensor {
            shape,
            dtype,
            order: StorageOrder::RowMajor,
            multipliers: None,
            data: TensorData::Stored(OwnedBytes::new(view)),
        }
    }

    /// Returns all values as f32 in row-major order; quantised elements are divided by their
    /// multipliers.
    pub fn values(&self) -> Vec<f32> {
        let stored = self.stored_values();
        match (&self.shape[..], self.order) {
            (&[rows, columns], StorageOrder::ColumnMajor) => transpose(&stored, columns, rows),
            _ => stored,
        }
    }

    /// Returns the first value that is not finite, in storage order. Integers are not checked: they
    /// and their multipliers are finite.
    pub fn non_finite_value(&self) -> Option<f32> {
        let TensorData::Stored(bytes) = &self.data else {
            return self.values().into_iter().find(|value| !value.is_finite());
        };
        let size = match self.dtype {
            DType::F32 | DType::F16 | DType::Bf16 | DType::F64 => self.dtype.size(),
            DType::I8 | DType::I16 | DType::I32 | DType::I64 => return None,
        };
        let mut values = [0.0; 1024];
        for part in bytes.chunks(size * values.len()) {
            let values = &mut values[..part.len() / size];
            self.decode(part, values);
            // The sum of the values times 0 is 0 unless a value is not finite.
            if values.iter().map(|value| value * 0.0).sum::<f32>() != 0.0 {
                return values.iter().copied().find(|value| !value.is_finite());
            }
        }
        None
    }

    /// Reads one row of a row-major matrix, with the same values as [`Tensor::values`].
    ///
    /// # Panics
    /// If the matrix is not row-major, has no such row, or its rows do not have `into.len()`
    /// elements.
    pub fn read_row(&self, row: usize, into: &mut [f32]) {
        assert!(self.order == StorageOrder::RowMajor && row < self.shape[0]);
        let bytes = into.len() * self.dtype.size();
        assert_eq!(bytes * self.shape[0], self.data.len(), "rows of that length");
        match &self.data {
            TensorData::Packed(columns) if columns.is_table() => columns.read_column(row, into),
            data => self.decode(&data.bytes()[row * bytes..][..bytes], into),
        }
        let multiplier = match &self.multipliers {
            None => return,
            Some(QuantMultipliers::PerTensor(multiplier)) => multiplier,
            Some(QuantMultipliers::PerChannel(all)) => &all[row],
        };
        into.iter_mut().for_each(|value| *value /= multiplier);
    }

    /// Works like [`Tensor::values`], but returns the values in storage order.
    fn stored_values(&self) -> Vec<f32> {
        let mut values = vec![0.0; self.numel()];
        match &self.data {
            TensorData::Stored(bytes) => self.decode(bytes, &mut values),
            // Callers read all values only once, so the unpacked bytes are not kept.
            TensorData::Packed(columns) => self.decode(&columns.unpack(), &mut values),
        }
        match &self.multipliers {
            None => {}
            Some(QuantMultipliers::PerTensor(multiplier)) => {
                values.iter_mut().for_each(|value| *value /= multiplier);
            }
            Some(QuantMultipliers::PerChannel(all)) => {
                let width = values.len().checked_div(all.len()).unwrap_or(0).max(1);
                for (run, multiplier) in values.chunks_exact_mut(width).zip(all.iter()) {
                    run.iter_mut().for_each(|value| *value /= multiplier);
                }
            }
        }
        values
    }

    /// Converts stored elements to f32, without multipliers.
    fn decode(&self, bytes: &[u8], into: &mut [f32]) {
        match self.dtype {
            DType::F32 => decode_numbers(bytes, into, f32::from_le_bytes),
            DType::F16 => decode_numbers(bytes, into, |b| f16_to_f32(u16::from_le_bytes(b))),
            DType::Bf16 => {
                decode_numbers(bytes, into, |b| {
                    f32::from_bits(u32::from(u16::from_le_bytes(b)) << 16)
                });
            }
            DType::F64 => decode_numbers(bytes, into, |b| f64::from_le_bytes(b) as f32),
            DType::I8 => decode_numbers(bytes, into, |[b]: [u8; 1]| f32::from(b as i8)),
            DType::I16 => decode_numbers(bytes, into, |b| f32::from(i16::from_le_bytes(b))),
            DType::I32 => decode_numbers(bytes, into, |b| i32::from_le_bytes(b) as f32),
            DType::I64 => decode_numbers(bytes, into, |b| i64::from_le_bytes(b) as f32),
        }
    }
}

fn decode_numbers<const N: usize>(bytes: &[u8], into: &mut [f32], number: impl Fn([u8; N]) -> f32) {
    for (to, &bytes) in into.iter_mut().zip(bytes.as_chunks::<N>().0) {
        *to = number(bytes);
    }
}

/// Returns the transpose of a `[rows, columns]` matrix, in blocks that stay in the cache.
pub fn transpose(values: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    const BLOCK: usize = 16;
    let mut transposed = vec![0.0; values.len()];
    if values.is_empty() {
        // Returns before the loops, because one dimension of an empty matrix may be huge.
        return transposed;
    }
    for top in (0..rows).step_by(BLOCK) {
        for left in (0..columns).step_by(BLOCK) {
            for row in top..rows.min(top + BLOCK) {
                for column in left..columns.min(left + BLOCK) {
                    transposed[column * rows + row] = values[row * columns + column];
                }
            }
        }
    }
    transposed
}

/// Converts IEEE 754 binary16 to binary32, which is exact.
fn f16_to_f32(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let exponent = u32::from(half >> 10 & 0x1f);
    let fraction = u32::from(half & 0x3ff);
    let magnitude = match exponent {
        // Subnormal: a multiple of 2^-24.
        0 => (fraction as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        0x1f => 0x7f80_0000 | fraction << 13,
        _ => (exponent + 112) << 23 | fraction << 13,
    };
    f32::from_bits(sign | magnitude)
}

#[cfg(test)]
mod tests;
