//! Metadata block of a model file, encoded by `bincode`.
//!
//! The encoding is bincode 1.3 with fixed-width little-endian integers, at most 1 MiB, without
//! trailing bytes. Only this module uses the crate, which is no longer maintained. A test shows
//! that `wincode`, a possible replacement, reads and writes the same bytes for the types in use.

use bincode::Options;
use serde::{Serialize, de::DeserializeOwned};

/// The maximum size of a metadata block in bytes.
pub const MAX_BYTES: u64 = 1 << 20;

fn options() -> impl Options {
    bincode::DefaultOptions::new()
        .with_fixint_encoding()
        .with_little_endian()
        .reject_trailing_bytes()
        .with_limit(MAX_BYTES)
}

/// Encodes `value`.
///
/// # Errors
/// A reason, if it exceeds [`MAX_BYTES`].
pub fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, String> {
    options().serialize(value).map_err(|e| e.to_string())
}

/// Returns the value encoded in `bytes`.
///
/// # Errors
/// A reason, if `bytes` is not exactly one `T`.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    options().deserialize(bytes).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Sample {
        name: String,
        counts: Vec<u64>,
        flag: bool,
        scale: f32,
        maybe: Option<u32>,
    }

    fn sample() -> Sample {
        Sample {
            name: "köln".into(),
            counts: vec![1, u64::MAX],
            flag: true,
            scale: 0.5,
            maybe: Some(3),
        }
    }

    #[test]
    fn round_trip_and_layout() {
        let bytes = encode(&sample()).unwrap();
        assert_eq!(decode::<Sample>(&bytes).unwrap(), sample());
        assert_eq!(&bytes[..8], 5u64.to_le_bytes(), "lengths are fixed-width u64");
    }

    #[test]
    fn wincode_reads_and_writes_the_same_bytes() {
        // A struct is written as the tuple of its fields; deriving wincode's own traits would add
        // five crates to every build of the tests.
        type Fields = (String, Vec<u64>, bool, f32, Option<u32>);
        let Sample { name, counts, flag, scale, maybe } = sample();
        let fields: Fields = (name, counts, flag, scale, maybe);
        let bytes = encode(&sample()).unwrap();
        assert_eq!(wincode::deserialize::<Fields>(&bytes).unwrap(), fields);
        assert_eq!(wincode::serialize(&fields).unwrap(), bytes);
    }

    #[test]
    fn hostile_lengths_and_trailing_bytes_are_rejected() {
        let mut bytes = encode(&sample()).unwrap();
        bytes.push(0);
        assert!(decode::<Sample>(&bytes).is_err());
        bytes.pop();
        bytes[..8].copy_from_slice(&u64::MAX.to_le_bytes());
        assert!(decode::<Sample>(&bytes).is_err());
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<Sample>(&bytes);
        }
    }
}
