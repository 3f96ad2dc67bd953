//! CTranslate2's `model.bin` (`neural.md` 1.10): named variables and aliases of them.
//!
//! Converters write version 6 today. Versions 2 to 5 differ in the other files of the folder. There
//! are aliases since version 3; before version 4, only the size of an element tells its data type.
//! Version 1 does not name the kind of model and uses OpenNMT-tf's names of variables. A file of
//! another layout does not end where it should, and is rejected.

use std::path::Path;
use std::sync::Arc;

use super::cursor::Cursor;
use super::owned_bytes::OwnedBytes;
use super::tensor::{DType, QuantMultipliers, StorageOrder, Tensor};
use super::{Checkpoint, CheckpointFormat};
use crate::{Error, Result};

/// The suffix of the names of quantisation multipliers. The factor `queries_scale` of attention is
/// not one of them.
const SCALE_SUFFIX: &str = "weight_scale";
/// The multiplier of 16-bit weights in older converters, which did not store it.
const DEFAULT_I16_MULTIPLIER: f32 = 1000.0;
/// The kind of a file of version 1, which does not name it.
const FIRST_KIND: &str = "TransformerBase";
/// The supported kinds of models: encoders and decoders with attention.
const KINDS: [&str; 3] = [FIRST_KIND, "TransformerBig", "TransformerSpec"];

/// Whether `bytes` begin like a `model.bin`: with a small version and the name of a model
/// specification or, in version 1, with a count and the name of a variable.
pub fn is_plausible(bytes: &[u8]) -> bool {
    fn name(rest: &[u8]) -> Option<Vec<u8>> {
        let (length, rest) = rest.split_first_chunk()?;
        let name = rest.get(..usize::from(u16::from_le_bytes(*length)))?;
        Some(name.strip_suffix(b"\0")?.to_vec())
    }
    match bytes {
        // Marian's binary files begin with a count of 64 bits, whose upper half is zero.
        [1, 0, 0, 0, count @ ..] => {
            count.first_chunk::<4>().is_some_and(|count| *count != [0; 4])
                && count
                    .get(4..)
                    .and_then(name)
                    .is_some_and(|name| !name.is_empty() && name.iter().all(u8::is_ascii_graphic))
        }
        [2..=16, 0, 0, 0, rest @ ..] => name(rest).is_some_and(|name| {
            name.ends_with(b"Spec") || name.iter().all(u8::is_ascii_alphanumeric)
        }),
        _ => false,
    }
}

/// Reads the file in `window`; tensors share its bytes.
pub fn read(window: &OwnedBytes, path: &Path) -> Result<Checkpoint> {
    let mut cursor = Cursor::new(window, path, 0);
    let version = cursor.u32("version")?;
    if !(1..=6).contains(&version) {
        let reason = format!(
            "version {version} of CTranslate2's files is not supported; convert the model again"
        );
        return Err(Error::unsupported(path, reason));
    }
    let (kind, revision) = match version {
        1 => (FIRST_KIND.to_owned(), 1),
        _ => (read_string(&mut cursor, "kind of model")?, cursor.u32("revision")?),
    };
    if !KINDS.contains(&&*kind) {
        let kinds = KINDS.join(", ");
        let reason = format!("a model of kind {kind} is not supported; supported kinds: {kinds}");
        return Err(Error::unsupported(path, reason));
    }
    let mut checkpoint = Checkpoint::new(path, CheckpointFormat::CTranslate2 { version, revision });
    checkpoint.model_kind = Some(kind);
    let count = cursor.u32("number of variables")?;
    for _ in 0..count {
        let mut name = read_string(&mut cursor, "name of a variable")?;
        if version == 1 {
            name = name_since_version_2(&name);
        }
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
        return Err(cursor.damaged("end", "there are bytes after the last variable"));
    }
    attach_multipliers(&mut checkpoint, path)?;
    Ok(checkpoint)
}

/// Returns the name that a variable of version 1 has since version 2: OpenNMT-tf's
/// `transformer/decoder/layer_0/masked_multi_head/conv1d_1/kernel:0` is
/// `decoder/layer_0/self_attention/linear_1/weight`.
fn name_since_version_2(name: &str) -> String {
    let name = name.strip_suffix(":0").unwrap_or(name);
    let name = name.strip_prefix("transformer/").unwrap_or(name);
    let is_decoder = name.starts_with("decoder/");
    let parts = name.split('/').map(|part| match part {
        "w_embs" => "embeddings/weight".to_owned(),
        "LayerNorm" => "layer_norm".to_owned(),
        "dense" => "projection".to_owned(),
        "kernel" => "weight".to_owned(),
        "masked_multi_head" => "self_attention".to_owned(),
        "multi_head" => if is_decoder { "attention" } else { "self_attention" }.to_owned(),
        "conv1d" => "linear_0".to_owned(),
        part => match part.strip_prefix("conv1d_") {
            Some(number) => format!("linear_{number}"),
            None => part.to_owned(),
        },
    });
    parts.collect::<Vec<_>>().join("/")
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
    let dtype = dtype
        .ok_or_else(|| Error::unsupported(path, format!("{name}: unknown element type {kind}")))?;
    let data = cursor.take_shared(length, name)?;
    Tensor::new(shape, dtype, StorageOrder::RowMajor, data)
        .map_err(|reason| cursor.damaged(name, reason))
}

/// Attaches each `X/weight_scale` to the quantised `X/weight`. 16-bit weights without a multiplier
/// get [`DEFAULT_I16_MULTIPLIER`].
fn attach_multipliers(checkpoint: &mut Checkpoint, path: &Path) -> Result<()> {
    let names: Vec<String> = checkpoint.names().map(str::to_owned).collect();
    for name in names.iter().filter(|name| name.ends_with(SCALE_SUFFIX)) {
        let target = name.strip_suffix("_scale").unwrap_or(name);
        let Some(scale) = checkpoint.take(name) else { continue };
        let Some(tensor) = checkpoint.take(target) else {
            return Err(Error::damaged(path, name, "the tensor that it scales is missing"));
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
    for name in names.iter().filter(|name| name.ends_with("/weight")) {
        if checkpoint
            .get(name)
            .is_some_and(|tensor| tensor.dtype() == DType::I16 && tensor.multipliers().is_none())
            && let Some(tensor) = checkpoint.take(name)
        {
            let multiplier = QuantMultipliers::PerTensor(DEFAULT_I16_MULTIPLIER);
            let tensor = tensor.with_multipliers(multiplier);
            checkpoint
                .insert(name, tensor.map_err(|reason| Error::damaged(path, name, reason))?)?;
        }
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
    fn names_of_version_1_become_those_of_version_2() {
        for (first, second) in [
            ("transformer/encoder/w_embs:0", "encoder/embeddings/weight"),
            ("transformer/decoder/dense/bias:0", "decoder/projection/bias"),
            ("transformer/decoder/LayerNorm/beta:0", "decoder/layer_norm/beta"),
            (
                "transformer/encoder/layer_3/multi_head/conv1d_1/kernel:0",
                "encoder/layer_3/self_attention/linear_1/weight",
            ),
            (
                "transformer/decoder/layer_0/masked_multi_head/LayerNorm/gamma:0",
                "decoder/layer_0/self_attention/layer_norm/gamma",
            ),
            (
                "transformer/decoder/layer_0/multi_head/conv1d_2/bias:0",
                "decoder/layer_0/attention/linear_2/bias",
            ),
            ("transformer/decoder/layer_1/ffn/conv1d/bias:0", "decoder/layer_1/ffn/linear_0/bias"),
        ] {
            assert_eq!(name_since_version_2(first), second);
        }
    }

    #[test]
    fn other_kinds_of_models_are_rejected_by_name() {
        let mut bytes = 6u32.to_le_bytes().to_vec();
        push_string(&mut bytes, "WhisperSpec");
        bytes.extend_from_slice(&[0; 12]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.bin");
        std::fs::write(&path, bytes).unwrap();
        let error = Checkpoint::open(&path, LoadMethod::Lazy).err().unwrap().to_string();
        assert!(error.contains("kind WhisperSpec") && error.contains("TransformerBase"), "{error}");
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
