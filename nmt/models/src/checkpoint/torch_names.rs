//! PyTorch's names for the elements of storages and for quantised tensors.

use super::tensor::DType;

/// The kind of the elements of a storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StorageKind {
    /// PyTorch's name for it.
    pub name: &'static str,
    /// The data type; `None` for kinds that no parameter has.
    pub dtype: Option<DType>,
    /// The bytes of an element.
    pub size: usize,
}

const fn kind(name: &'static str, dtype: Option<DType>, size: usize) -> StorageKind {
    StorageKind { name, dtype, size }
}

/// All kinds.
pub const STORAGE_KINDS: [StorageKind; 16] = [
    kind("FloatStorage", Some(DType::F32), 4),
    kind("HalfStorage", Some(DType::F16), 2),
    kind("BFloat16Storage", Some(DType::Bf16), 2),
    kind("DoubleStorage", Some(DType::F64), 8),
    kind("LongStorage", Some(DType::I64), 8),
    kind("IntStorage", Some(DType::I32), 4),
    kind("ShortStorage", Some(DType::I16), 2),
    kind("CharStorage", Some(DType::I8), 1),
    kind("ByteStorage", None, 1),
    kind("BoolStorage", None, 1),
    kind("ComplexFloatStorage", None, 8),
    kind("ComplexDoubleStorage", None, 16),
    kind("QInt8Storage", None, 1),
    kind("QUInt8Storage", None, 1),
    kind("QInt32Storage", None, 4),
    kind("QUInt4x2Storage", None, 1),
];

/// The names of PyTorch's types and schemes of quantised tensors.
pub const QUANTIZATION_CONSTANTS: [&[u8]; 9] = [
    b"qint8",
    b"quint8",
    b"qint32",
    b"quint4x2",
    b"per_tensor_affine",
    b"per_tensor_symmetric",
    b"per_channel_affine",
    b"per_channel_symmetric",
    b"per_channel_affine_float_qparams",
];
