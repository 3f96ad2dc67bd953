//! `.npz`: an archive of NumPy arrays, as Marian, Nematus and Amun keep their
//! parameters (`neural.md` 1.1).

use std::path::Path;

use super::archive::Archive;
use super::cursor::Cursor;
use super::tensor::{Element, Order, Tensor, Window};
use super::{Checkpoint, Format, OPTIONS};
use crate::{Error, Result};

/// How a zip archive begins.
pub const MAGIC: &[u8] = b"PK\x03\x04";

/// Reads the archive in `window`. Arrays of kinds that no parameter has (texts, objects)
/// are set aside with the reason.
pub fn read(window: &Window, path: &Path) -> Result<Checkpoint> {
    let mut archive = Archive::open(window, path)?;
    let mut checkpoint = Checkpoint::new(path, Format::Npz);
    for index in 0..archive.entries().len() {
        let name = archive.entries()[index].name.clone();
        let content = archive.content(index)?;
        let name = name.strip_suffix(".npy").unwrap_or(&name);
        if name == OPTIONS {
            archive.check(index, &content)?;
        }
        match read_array(&content, path, name)? {
            Ok(tensor) if name == OPTIONS => checkpoint.set_options(tensor.bytes()),
            Ok(tensor) => checkpoint.insert(name, tensor)?,
            Err(reason) => checkpoint.set_aside(name, reason),
        }
    }
    Ok(checkpoint)
}

/// Compares the checksums of all entries of the archive in `window`.
pub fn verify(window: &Window, path: &Path) -> Result<()> {
    let mut archive = Archive::open(window, path)?;
    for index in 0..archive.entries().len() {
        let content = archive.content(index)?;
        archive.check(index, &content)?;
    }
    Ok(())
}

/// The array in `content`, or why it can be no parameter.
fn read_array(content: &Window, path: &Path, name: &str) -> Result<Result<Tensor, String>> {
    let damaged = |reason: String| Error::damaged(path, name, reason);
    let mut cursor = Cursor::new(content, path, 0);
    if cursor.take(6, name)? != b"\x93NUMPY" {
        return Err(damaged("this is no NumPy array".into()));
    }
    let version = cursor.u8(name)?;
    cursor.u8(name)?;
    let length = match version {
        1 => usize::from(cursor.u16(name)?),
        2 | 3 => cursor.u32(name)? as usize,
        _ => return Err(damaged(format!("version {version} of NumPy's format is not known"))),
    };
    let header = String::from_utf8_lossy(cursor.take(length, name)?).into_owned();
    let (kind, columns_first, shape) = read_header(&header)
        .ok_or_else(|| damaged(format!("its header cannot be understood: {}", header.trim())))?;
    let Some(element) = element(kind) else {
        return Ok(Err(format!("an array of {kind:?}")));
    };
    let data = cursor.window(content.len() - cursor.at, name)?;
    let shape = if columns_first { shape.into_iter().rev().collect() } else { shape };
    let tensor = Tensor::new(shape, element, Order::Rows, data).map_err(damaged)?;
    if columns_first && tensor.shape().len() > 2 {
        return Ok(Err("an array of more than two dimensions in Fortran's order".into()));
    }
    Ok(Ok(if columns_first { tensor.transposed() } else { tensor }))
}

/// Kind, whether in Fortran's order, and shape from a Python dictionary such as
/// `{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }`.
fn read_header(header: &str) -> Option<(&str, bool, Vec<usize>)> {
    let behind = |key: &str| {
        let at = header.find(&format!("'{key}'"))?;
        header[at + key.len() + 2..].trim_start().strip_prefix(':').map(str::trim_start)
    };
    let descr = behind("descr")?;
    // An array of records has a list here.
    let kind = match descr.strip_prefix('\'') {
        Some(text) => text.split('\'').next()?,
        None => descr.split(['{', '}', ')']).next()?,
    };
    let columns_first = behind("fortran_order")?.starts_with("True");
    let shape = behind("shape")?.strip_prefix('(')?.split(')').next()?;
    let numbers = shape.split(',').map(str::trim).filter(|number| !number.is_empty());
    let shape = numbers.map(|number| number.trim_end_matches('L').parse().ok());
    Some((kind, columns_first, shape.collect::<Option<_>>()?))
}

fn element(kind: &str) -> Option<Element> {
    Some(match kind {
        "<f4" => Element::F32,
        "<f2" => Element::F16,
        "<f8" => Element::F64,
        "|i1" | "<i1" | "|u1" | "|b1" => Element::I8,
        "<i2" => Element::I16,
        "<i4" => Element::I32,
        "<i8" => Element::I64,
        _ => return None,
    })
}
