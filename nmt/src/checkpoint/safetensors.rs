//! Hugging Face's `safetensors`: a length, a directory in JSON, the tensors.

use std::path::Path;

use super::cursor::Cursor;
use super::tensor::{DType, OwnedBytes, StorageOrder, Tensor};
use super::{Checkpoint, Format};
use crate::yaml::Value;
use crate::{Error, Result};

/// The format's own limit for its directory.
const MAX_HEADER_LEN: usize = 100_000_000;

/// Reads the file in `window`.
pub fn read(window: &OwnedBytes, path: &Path) -> Result<Checkpoint> {
    let mut cursor = Cursor::new(window, path, 0);
    let length = cursor.usize("directory")?;
    if length > MAX_HEADER_LEN {
        return Err(cursor.damaged("directory", format!("{length} bytes are too many")));
    }
    let directory = cursor.take(length, "directory")?;
    let data = cursor.take_shared(window.len() - cursor.position, "data")?;
    let directory = Value::parse(directory, &path.display().to_string())?;
    let entries = directory.entries();
    let entries = entries.ok_or_else(|| cursor.damaged("directory", "it is no JSON object"))?;
    let mut checkpoint = Checkpoint::new(path, Format::Safetensors);
    for (name, entry) in entries {
        let name = String::from_utf8_lossy(name);
        if name == "__metadata__" {
            continue;
        }
        let damaged = |reason: &str| Error::damaged(path, &name, reason);
        let numbers = |key: &str| -> Option<Vec<usize>> {
            entry.get(key)?.items().iter().map(|number| number.as_str()?.parse().ok()).collect()
        };
        let shape = numbers("shape").ok_or_else(|| damaged("its shape is missing"))?;
        let range = match numbers("data_offsets").as_deref() {
            Some(&[start, end]) => end.checked_sub(start).and_then(|n| data.slice(start, n)),
            _ => None,
        };
        let range = range.ok_or_else(|| damaged("it does not lie in the file"))?;
        let element = match entry.get("dtype").and_then(Value::as_str) {
            Some("F32") => DType::F32,
            Some("F16") => DType::F16,
            Some("BF16") => DType::Bf16,
            Some("F64") => DType::F64,
            Some("I8" | "U8" | "BOOL") => DType::I8,
            Some("I16") => DType::I16,
            Some("I32") => DType::I32,
            Some("I64") => DType::I64,
            other => {
                checkpoint.skip(&name, format!("elements of kind {other:?}"));
                continue;
            }
        };
        let tensor = Tensor::new(shape, element, StorageOrder::RowMajor, range);
        checkpoint.insert(&name, tensor.map_err(|reason| damaged(&reason))?)?;
    }
    Ok(checkpoint)
}
