//! `.npz`: a zip archive of NumPy arrays, the checkpoints of Marian, Nematus and Amun
//! (`neural.md` 1.1).

use std::path::Path;

use super::cursor::Cursor;
use super::owned_bytes::OwnedBytes;
use super::tensor::{DType, StorageOrder, Tensor};
use super::zip_archive::ZipArchive;
use super::{Checkpoint, CheckpointFormat, OPTIONS_ENTRY};
use crate::{Error, Result};

/// The first bytes of a zip archive.
pub const MAGIC: &[u8] = b"PK\x03\x04";

/// Reads an archive of arrays. Arrays of types that no parameter has (strings, objects) are
/// skipped, and the reason is kept.
pub fn read(mut archive: ZipArchive, path: &Path) -> Result<Checkpoint> {
    let mut checkpoint = Checkpoint::new(path, CheckpointFormat::Npz);
    for index in 0..archive.entries().len() {
        let name = archive.entries()[index].name.clone();
        let content = archive.read_content(index)?;
        let name = name.strip_suffix(".npy").unwrap_or(&name);
        if name == OPTIONS_ENTRY {
            archive.check_crc(index, &content)?;
        }
        match read_array(&content, path, name)? {
            Ok(tensor) if name == OPTIONS_ENTRY => checkpoint.set_options(tensor.bytes()),
            Ok(tensor) => checkpoint.insert_or_set_multiplier(name, tensor)?,
            Err(reason) => checkpoint.skip(name, reason),
        }
    }
    Ok(checkpoint)
}

/// Checks the checksums of all entries of the archive in `window`.
pub fn verify(window: &OwnedBytes, path: &Path) -> Result<()> {
    let mut archive = ZipArchive::open(window, path)?;
    for index in 0..archive.entries().len() {
        let content = archive.read_content(index)?;
        archive.check_crc(index, &content)?;
    }
    Ok(())
}

/// Reads the array in `content`, or returns the reason why it cannot be a parameter.
fn read_array(content: &OwnedBytes, path: &Path, name: &str) -> Result<Result<Tensor, String>> {
    let mut cursor = Cursor::new(content, path, 0);
    if cursor.take(6, name)? != b"\x93NUMPY" {
        return Err(Error::damaged(path, name, "not a NumPy array"));
    }
    let version = cursor.u8(name)?;
    cursor.u8(name)?;
    let length = match version {
        1 => usize::from(cursor.u16(name)?),
        2 | 3 => cursor.u32(name)? as usize,
        _ => {
            let reason = format!("unknown version {version} of NumPy's format");
            return Err(Error::damaged(path, name, reason));
        }
    };
    let header = String::from_utf8_lossy(cursor.take(length, name)?).into_owned();
    let (kind, fortran_order, shape) = read_header(&header).ok_or_else(|| {
        let reason = format!("invalid header: {}", header.trim());
        Error::damaged(path, name, reason)
    })?;
    let Some(dtype) = parse_dtype(kind) else {
        return Ok(Err(format!("an array of the data type {kind:?} is not supported")));
    };
    let data = cursor.take_shared(content.len() - cursor.position, name)?;
    let shape = if fortran_order { shape.into_iter().rev().collect() } else { shape };
    let tensor = Tensor::new(shape, dtype, StorageOrder::RowMajor, data)
        .map_err(|reason| Error::damaged(path, name, reason))?;
    if fortran_order && tensor.shape().len() > 2 {
        let reason = "an array of more than two dimensions in Fortran's order is not supported";
        return Ok(Err(reason.into()));
    }
    Ok(Ok(if fortran_order { tensor.transposed() } else { tensor }))
}

/// Reads the data type, whether the order is Fortran's, and the shape from a Python dictionary such
/// as `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
fn read_header(header: &str) -> Option<(&str, bool, Vec<usize>)> {
    let value_of = |key: &str| {
        let at = header.find(&format!("'{key}'"))?;
        header[at + key.len() + 2..].trim_start().strip_prefix(':').map(str::trim_start)
    };
    let descr = value_of("descr")?;
    // A structured array has a list here.
    let kind = match descr.strip_prefix('\'') {
        Some(text) => text.split('\'').next()?,
        None => descr.split(['{', '}', ')']).next()?,
    };
    let fortran_order = value_of("fortran_order")?.starts_with("True");
    let shape = value_of("shape")?.strip_prefix('(')?.split(')').next()?;
    let numbers = shape.split(',').map(str::trim).filter(|number| !number.is_empty());
    let shape = numbers.map(|number| number.trim_end_matches('L').parse().ok());
    Some((kind, fortran_order, shape.collect::<Option<_>>()?))
}

fn parse_dtype(kind: &str) -> Option<DType> {
    Some(match kind {
        "<f4" => DType::F32,
        "<f2" => DType::F16,
        "<f8" => DType::F64,
        "|i1" | "<i1" | "|u1" | "|b1" => DType::I8,
        "<i2" => DType::I16,
        "<i4" => DType::I32,
        "<i8" => DType::I64,
        _ => return None,
    })
}
