//! CTranslate2's `model.bin` (`neural.md` 1.10): named variables and aliases of them.
//!
//! Its converters write version 6 today. Versions 2 to 5 differ in that data types were
//! told by their size (before 4) and in the other files of the folder; a file of another
//! layout does not end where it should and is refused.

use std::path::Path;
use std::sync::Arc;

use super::cursor::Cursor;
use super::tensor::{DType, OwnedBytes, QuantMultipliers, StorageOrder, Tensor};
use super::{Checkpoint, Format};
use crate::{Error, Result};

const SCALE_SUFFIX: &str = "_scale";

/// Whether `bytes` begin as such a file does: a small version and the name of a model
/// specification.
pub fn is_plausible(bytes: &[u8]) -> bool {
    match bytes {
        [version @ 2..=16, 0, 0, 0, low, high, rest @ ..] => {
            let length = usize::from(u16::from_le_bytes([*low, *high]));
            rest.get(..length).is_some_and(|name| {
                name.strip_suffix(b"\0").is_some_and(|name| {
                    name.ends_with(b"Spec") || name.iter().all(u8::is_ascii_alphanumeric)
                }) && *version > 1
            })
        }
        _ => false,
    }
}

/// Reads the file in `window`; tensors share its bytes.
pub fn read(window: &OwnedBytes, path: &Path) -> Result<Checkpoint> {
    let mut cursor = Cursor::new(window, path, 0);
    let version = cursor.u32("version")?;
    if !(2..=6).contains(&version) {
        let reason = format!("version {version} of CTranslate2's files; convert the model again");
        return Err(Error::unsupported(path, reason));
    }
    let kind = read_string(&mut cursor, "kind of model")?;
    let revision = cursor.u32("revision")?;
    if kind != "TransformerSpec" {
        let reason = format!("a model of kind {kind}; only TransformerSpec is read");
        return Err(Error::unsupported(path, reason));
    }
    let mut checkpoint = Checkpoint::new(path, Format::CTranslate2 { version, revision });
    let count = cursor.u32("number of variables")?;
    for _ in 0..count {
        let name = read_string(&mut cursor, "name of a variable")?;
        let tensor = read_variable(&mut cursor, version, &name, path)?;
        checkpoint.insert(&name, tensor)?;
    }
    if version >= 3 {
        for _ in 0..cursor.u32("number of aliases")? {
            let name = read_string(&mut cursor, "alias")?;
            let target = read_string(&mut cursor, "alias")?;
            checkpoint.set_alias(&name, &target)?;
        }
    }
    if cursor.position != window.len() {
        return Err(cursor.damaged("end", "there are bytes after the last alias"));
    }
    attach_multipliers(&mut checkpoint, path)?;
    Ok(checkpoint)
}

fn read_string(cursor: &mut Cursor, what: &str) -> Result<String> {
    let length = cursor.u16(what)?;
    let bytes = cursor.take(usize::from(length), what)?;
    Ok(String::from_utf8_lossy(bytes.strip_suffix(b"\0").unwrap_or(bytes)).into_owned())
}

fn read_variable(cursor: &mut Cursor, version: u32, name: &str, path: &Path) -> Result<Tensor> {
    let rank = cursor.u8(name)?;
    let mut shape = Vec::new();
    for _ in 0..rank {
        shape.push(cursor.u32(name)? as usize);
    }
    let kind = cursor.u8(name)?;
    let number = cursor.u32(name)? as usize;
    let (dtype, length) = if version >= 4 {
        let dtypes = [DType::F32, DType::I8, DType::I16, DType::I32, DType::F16, DType::Bf16];
        (dtypes.get(usize::from(kind)).copied(), number)
    } else {
        let dtype = match kind {
            1 => Some(DType::I8),
            2 => Some(DType::I16),
            4 => Some(DType::F32),
            _ => None,
        };
        (dtype, number.saturating_mul(usize::from(kind)))
    };
    let dtype = dtype.ok_or_else(|| {
        Error::unsupported(path, format!("{name}: elements of kind {kind} are not known"))
    })?;
    let data = cursor.take_shared(length, name)?;
    Tensor::new(shape, dtype, StorageOrder::RowMajor, data)
        .map_err(|reason| cursor.damaged(name, reason))
}

/// Attaches each `X/weight_scale` to the quantised `X/weight`.
fn attach_multipliers(checkpoint: &mut Checkpoint, path: &Path) -> Result<()> {
    let names: Vec<String> = checkpoint.names().map(str::to_owned).collect();
    for name in names.iter().filter(|name| name.ends_with(SCALE_SUFFIX)) {
        let target = &name[..name.len() - SCALE_SUFFIX.len()];
        let Some(scale) = checkpoint.take(name) else { continue };
        let Some(tensor) = checkpoint.take(target) else {
            return Err(Error::damaged(path, name, "there is no tensor that it scales"));
        };
        let values = scale.values();
        let multipliers = match values[..] {
            [one] if tensor.channels() != 1 || scale.shape().is_empty() => {
                QuantMultipliers::PerTensor(one)
            }
            _ => QuantMultipliers::PerChannel(Arc::from(values)),
        };
        let tensor = tensor.with_multipliers(multipliers);
        checkpoint
            .insert(target, tensor.map_err(|reason| Error::damaged(path, target, reason))?)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_storage::LoadMethod;

    fn push_string(bytes: &mut Vec<u8>, text: &str) {
        bytes.extend_from_slice(&(text.len() as u16 + 1).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.push(0);
    }

    #[test]
    fn an_aliased_tensor_can_be_taken_under_both_names() {
        let mut bytes = 6u32.to_le_bytes().to_vec();
        push_string(&mut bytes, "TransformerSpec");
        [7u32, 1].iter().for_each(|n| bytes.extend_from_slice(&n.to_le_bytes()));
        push_string(&mut bytes, "one");
        bytes.push(1);
        bytes.extend_from_slice(&2u32.to_le_bytes());
        bytes.push(0);
        bytes.extend_from_slice(&8u32.to_le_bytes());
        [1.5f32, -2.0].iter().for_each(|x| bytes.extend_from_slice(&x.to_le_bytes()));
        bytes.extend_from_slice(&1u32.to_le_bytes());
        push_string(&mut bytes, "another");
        push_string(&mut bytes, "one");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.bin");
        std::fs::write(&path, bytes).unwrap();
        let mut checkpoint = Checkpoint::open(&path, LoadMethod::Lazy).unwrap();
        assert_eq!(checkpoint.alias("another"), Some("one"));
        for name in ["one", "another"] {
            assert_eq!(checkpoint.take(name).unwrap().values(), [1.5, -2.0], "{name}");
        }
    }
}
