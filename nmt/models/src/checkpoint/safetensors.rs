//! Hugging Face's `safetensors`: the length of the header, the header in JSON, the tensors.
//!
//! The crate `safetensors` gives offsets too, but its `read_metadata` does not check the sum of the
//! lengths that a header claims. With eight entries of a hostile header the sum overflows, and the
//! crate panics where overflow checks are on. With `serde_json` the header needs only two small
//! types.

use std::path::Path;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};

use super::cursor::Cursor;
use super::owned_bytes::OwnedBytes;
use super::tensor::{DType, StorageOrder, Tensor};
use super::{Checkpoint, CheckpointFormat};
use crate::{Error, Result, json};

/// The format's own limit for its header.
const MAX_HEADER_LEN: usize = 100_000_000;

/// Reads the file in `window`; tensors share its bytes.
pub fn read(window: &OwnedBytes, path: &Path) -> Result<Checkpoint> {
    let mut cursor = Cursor::new(window, path, 0);
    let length = cursor.usize("header")?;
    if length > MAX_HEADER_LEN {
        return Err(cursor.damaged("header", format!("{length} bytes are too many")));
    }
    let header: Header = json::parse(cursor.take(length, "header")?, path)?;
    let data = cursor.take_shared(window.len() - cursor.position, "data")?;
    let mut checkpoint = Checkpoint::new(path, CheckpointFormat::Safetensors);
    for (name, TensorInfo { dtype, shape, data_offsets: [start, end] }) in header.0 {
        let range = end.checked_sub(start).and_then(|length| data.slice(start, length));
        let range = range
            .ok_or_else(|| Error::damaged(path, &name, "its bytes are outside of the file"))?;
        let dtype = match &dtype[..] {
            "F32" => DType::F32,
            "F16" => DType::F16,
            "BF16" => DType::Bf16,
            "F64" => DType::F64,
            "I8" => DType::I8,
            "I16" => DType::I16,
            "I32" => DType::I32,
            "I64" => DType::I64,
            other => {
                checkpoint.skip(&name, format!("elements of kind {other:?}"));
                continue;
            }
        };
        let tensor = Tensor::new(shape, dtype, StorageOrder::RowMajor, range);
        let tensor = tensor.map_err(|reason| Error::damaged(path, &name, reason))?;
        checkpoint.insert(&name, tensor)?;
    }
    Ok(checkpoint)
}

/// The header: every tensor by name, repeated names included.
struct Header(Vec<(String, TensorInfo)>);

#[derive(Deserialize)]
struct TensorInfo {
    dtype: String,
    shape: Vec<usize>,
    /// First byte and end of the tensor in the data.
    data_offsets: [usize; 2],
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct HeaderVisitor;

        impl<'de> Visitor<'de> for HeaderVisitor {
            type Value = Header;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object with an entry for each tensor")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut tensors = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "__metadata__" {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        tensors.push((name, map.next_value()?));
                    }
                }
                Ok(Header(tensors))
            }
        }

        deserializer.deserialize_map(HeaderVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_storage::Bytes;

    fn open(header: &str, data: &[u8]) -> Result<Checkpoint> {
        let length = (header.len() as u64).to_le_bytes();
        let file = [&length[..], header.as_bytes(), data].concat();
        Checkpoint::from_bytes(&Bytes::copy_from(&file), Path::new("m.safetensors"))
    }

    #[test]
    fn tensors_are_found_by_their_offsets() {
        let header = r#"{"__metadata__":{"format":"pt"},
            "b":{"dtype":"F32","shape":[],"data_offsets":[4,8]},
            "a":{"dtype":"I16","shape":[1,2],"data_offsets":[0,4]},
            "c":{"dtype":"C64","shape":[0],"data_offsets":[8,8]}}  "#;
        let checkpoint = open(header, &[1, 0, 2, 0, 0, 0, 0x80, 0x3f]).unwrap();
        assert_eq!(checkpoint.get("a").unwrap().values(), [1.0, 2.0]);
        assert_eq!(checkpoint.get("b").unwrap().values(), [1.0]);
        assert_eq!(checkpoint.skipped_tensors().len(), 1);
    }

    /// The lengths in the first header add up to 2^64 - 8; with the length of the header, the sum
    /// overflows.
    #[test]
    fn hostile_headers_are_rejected() {
        const LENGTH: u64 = (1 << 61) - 1;
        let entry = |i: u64| {
            let (start, end) = (i * LENGTH, (i + 1) * LENGTH);
            format!(r#""t{i}":{{"dtype":"I8","shape":[{LENGTH}],"data_offsets":[{start},{end}]}}"#)
        };
        let entries: Vec<String> = (0..8).map(entry).collect();
        let tensor = r#"{"dtype":"I8","shape":[1],"data_offsets":[0,1]}"#;
        for header in [
            format!("{{{}}}", entries.join(",")),
            format!(r#"{{"a":{tensor},"a":{tensor}}}"#),
            r#"{"a":{"dtype":"I8","shape":[1],"data_offsets":[1,0]}}"#.into(),
            r#"{"a":{"dtype":"I8","shape":[-1],"data_offsets":[0,1]}}"#.into(),
            r#"{"a":{"dtype":"I8","data_offsets":[0,1]}}"#.into(),
            "[".repeat(100_000).replacen('[', "{", 1),
        ] {
            let error = open(&header, &[0]).err().unwrap().to_string();
            assert!(error.contains("m.safetensors"), "{error}");
        }
    }
}
