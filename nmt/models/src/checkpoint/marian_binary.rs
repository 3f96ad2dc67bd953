//! Marian's `.bin` (`neural.md` 1.2): headers, names, shapes and then the parameters,
//! each at an offset that is a multiple of 256 bytes.
//!
//! Marian and its fork for browsers number the quantised types differently; both are read.
//! A quantised matrix is stored transposed, so that each output column is contiguous, with
//! its multiplier after the last element; embeddings are stored row by row.

use std::path::Path;

use super::cursor::Cursor;
use super::owned_bytes::OwnedBytes;
use super::tensor::{DType, QuantMultipliers, StorageOrder, Tensor};
use super::{Checkpoint, CheckpointFormat, OPTIONS_ENTRY};
use crate::{Error, Result};

/// The numbers of the integer types of the fork for browsers.
const BROWSER_INTEGERS: [u64; 2] = [0x4101, 0x4102];

/// The header of an item.
struct ItemHeader {
    name_length: usize,
    kind: u64,
    dimensions: usize,
    length: usize,
}

/// The storage of an item.
enum ItemKind {
    Plain(DType),
    /// Integers followed by their multiplier.
    Quantized(DType),
}

/// Whether `bytes` may be a `.bin` of Marian. The format has no magic number, only a version and
/// the number of items, which must be plausible.
pub fn is_plausible(bytes: &[u8]) -> bool {
    fn number(at: usize, bytes: &[u8]) -> Option<u64> {
        bytes.get(at..at + 8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes")))
    }
    matches!(number(0, bytes), Some(1 | 2)) && number(8, bytes).is_some_and(|count| count < 1 << 24)
}

/// Reads the file in `window`; tensors share its bytes.
pub fn read(window: &OwnedBytes, path: &Path) -> Result<Checkpoint> {
    let mut cursor = Cursor::new(window, path, 0);
    match cursor.u64("header")? {
        1 => {}
        2 => {
            let reason = "its header is encrypted; ask for the plain model";
            return Err(Error::unsupported(path, reason));
        }
        version => {
            let reason = format!("version {version} is not supported, only version 1");
            return Err(cursor.damaged("header", reason));
        }
    }
    let count = cursor.usize("number of items")?;
    let mut headers = Vec::new();
    for _ in 0..count {
        headers.push(ItemHeader {
            name_length: cursor.usize("item header")?,
            kind: cursor.u64("item header")?,
            dimensions: cursor.usize("item header")?,
            length: cursor.usize("item header")?,
        });
    }
    let mut names = Vec::new();
    for header in &headers {
        let name = cursor.take(header.name_length, "names")?;
        let name = name.strip_suffix(b"\0").unwrap_or(name);
        names.push(String::from_utf8_lossy(name).into_owned());
    }
    let mut shapes = Vec::new();
    for (header, name) in headers.iter().zip(&names) {
        let mut shape = Vec::new();
        for _ in 0..header.dimensions {
            let dimension = cursor.u32(name)?;
            let dimension = i32::try_from(dimension).ok().and_then(|n| usize::try_from(n).ok());
            shape.push(dimension.ok_or_else(|| cursor.damaged(name, "a negative dimension"))?);
        }
        shapes.push(shape);
    }
    let padding = cursor.usize("padding")?;
    cursor.take(padding, "padding")?;
    let mut checkpoint = Checkpoint::new(path, CheckpointFormat::MarianBinary);
    for ((header, name), shape) in headers.iter().zip(&names).zip(shapes) {
        let data = cursor.take_shared(header.length, name)?;
        if name == OPTIONS_ENTRY {
            checkpoint.set_options(&data);
            continue;
        }
        checkpoint.is_for_browsers |= BROWSER_INTEGERS.contains(&header.kind);
        let tensor = read_item(header, name, shape, &data, path)?;
        checkpoint.insert_or_set_multiplier(name, tensor)?;
    }
    Ok(checkpoint)
}

fn read_item(
    header: &ItemHeader,
    name: &str,
    shape: Vec<usize>,
    data: &OwnedBytes,
    path: &Path,
) -> Result<Tensor> {
    let damaged = |reason: String| Error::damaged(path, name, reason);
    let kind = parse_item_kind(header.kind).map_err(|reason| {
        Error::unsupported(path, format!("{name}: {reason}; convert the model's .npz again"))
    })?;
    let (ItemKind::Plain(dtype) | ItemKind::Quantized(dtype)) = kind;
    let size = shape.iter().try_fold(dtype.size(), |size, &n| size.checked_mul(n));
    let length = size.filter(|&length| length <= data.len());
    let length = length.ok_or_else(|| {
        damaged(format!(
            "{} bytes are too few for the shape {shape:?} of {}",
            data.len(),
            dtype.name()
        ))
    })?;
    let numbers = data.slice(0, length).ok_or_else(|| damaged("it is truncated".into()))?;
    if let ItemKind::Plain(_) = kind {
        return Tensor::new(shape, dtype, StorageOrder::RowMajor, numbers).map_err(damaged);
    }
    let multiplier = Cursor::new(data, path, length).u32(name)?;
    let order =
        if name.contains("Wemb") { StorageOrder::RowMajor } else { StorageOrder::ColumnMajor };
    let tensor = Tensor::new(shape, dtype, order, numbers).map_err(damaged)?;
    tensor
        .with_multipliers(QuantMultipliers::PerTensor(f32::from_bits(multiplier)))
        .map_err(damaged)
}

/// Returns the storage that a type number denotes, or the reason why it cannot be read.
fn parse_item_kind(number: u64) -> Result<ItemKind, String> {
    Ok(match number {
        0x404 => ItemKind::Plain(DType::F32),
        0x402 => ItemKind::Plain(DType::F16),
        0x408 => ItemKind::Plain(DType::F64),
        0x101 | 0x201 => ItemKind::Plain(DType::I8),
        0x102 => ItemKind::Plain(DType::I16),
        0x104 | 0x204 => ItemKind::Plain(DType::I32),
        0x108 | 0x208 => ItemKind::Plain(DType::I64),
        0x4101 | 0x10001 => ItemKind::Quantized(DType::I8),
        0x4102 | 0x10002 => ItemKind::Quantized(DType::I16),
        0x802 | 0x1801 | 0x2801 => {
            return Err(format!("packed by FBGEMM for one processor type ({number:#x})"));
        }
        _ if number & 0xff_0000 == 0x1_0000 => {
            return Err(format!("laid out by intgemm for one processor type ({number:#x})"));
        }
        _ => return Err(format!("unknown item type {number:#x}")),
    })
}
