//! The header of KenLM's binary files (`ngram-lm.md` 2.6): a sanity block that must
//! match byte for byte, then type, options and counts.
//!
//! Sizes are computed from the counts with checked arithmetic: a hostile header must
//! not make a reader read outside the file.

use std::path::Path;

use miriam_storage::Bytes;

use super::unaligned::{f32_at, u32_at, u64_at};
use crate::{Error, MAX_ORDER, Result};

/// The first bytes of files of all versions.
const MAGIC_BEFORE_VERSION: &[u8] = b"mmap lm http://kheafield.com/code format version ";
/// The first bytes of a file whose builder did not finish.
const MAGIC_INCOMPLETE: &[u8] = b"mmap lm http://kheafield.com/code incomplete\n";
/// The version of the format.
const VERSION: u64 = 5;
/// The size of the sanity block in bytes.
const SANITY_BYTES: usize = 88;
/// The number of bytes before the counts.
const FIXED_HEADER_BYTES: usize = 108;

/// The type of a model, by its number in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelType {
    /// Probing hash tables (type 0).
    Probing,
    /// Probing hash tables that also keep rest costs (type 1).
    RestProbing,
    /// A trie (types 2 to 5).
    Trie {
        /// Whether probabilities and backoffs are indices into codebooks.
        quantized: bool,
        /// Whether the high bits of pointers are in a sorted array.
        compressed: bool,
    },
}

impl ModelType {
    fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(ModelType::Probing),
            1 => Some(ModelType::RestProbing),
            2..=5 => {
                Some(ModelType::Trie { quantized: (number - 2) & 1 != 0, compressed: number >= 4 })
            }
            _ => None,
        }
    }

    fn number(self) -> u32 {
        match self {
            ModelType::Probing => 0,
            ModelType::RestProbing => 1,
            ModelType::Trie { quantized, compressed } => {
                2 + u32::from(quantized) + 2 * u32::from(compressed)
            }
        }
    }

    /// Returns the version of the body that is supported for this type.
    fn search_version(self) -> u32 {
        match self {
            ModelType::Probing | ModelType::RestProbing => 0,
            ModelType::Trie { .. } => 1,
        }
    }
}

/// The header.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The type of the model.
    pub model_type: ModelType,
    /// The number of slots of a hash table for each entry, at least 1.
    pub probing_multiplier: f32,
    /// Whether the strings of the words follow at the end.
    pub has_vocabulary: bool,
    /// The number of n-grams of each order, from 1. What is counted differs by type: see [`super`].
    pub counts: Vec<u64>,
}

impl Header {
    /// Reads the header of the file with these bytes; `path` is its name for messages.
    pub fn read(bytes: &Bytes, path: &Path) -> Result<Self> {
        if bytes.starts_with(MAGIC_INCOMPLETE) {
            return unsupported(path, "its builder did not finish; build it again");
        }
        if bytes.len() < FIXED_HEADER_BYTES {
            return damaged(path, format!("the file ends after {} bytes", bytes.len()));
        }
        if bytes[..SANITY_BYTES] != sanity_header() {
            return unsupported(path, &mismatch_reason(bytes));
        }
        let order = usize::from(bytes[SANITY_BYTES]);
        if !(2..=MAX_ORDER).contains(&order) {
            return damaged(path, format!("order {order} is not between 2 and {MAX_ORDER}"));
        }
        let multiplier = f32_at(bytes, 92);
        if !(multiplier >= 1.0 && multiplier.is_finite()) {
            return damaged(path, format!("the probing multiplier is {multiplier}, not 1 or more"));
        }
        let Some(kind) = ModelType::from_number(u32_at(bytes, 96)) else {
            return unsupported(
                path,
                &format!(
                    "KenLM model type {} is not supported; types 0 to 5 are",
                    u32_at(bytes, 96)
                ),
            );
        };
        let version = u32_at(bytes, 104);
        if version != kind.search_version() {
            return unsupported(
                path,
                &format!(
                    "its body has version {version}, this program reads version {}; build the \
                     file again from the ARPA file",
                    kind.search_version()
                ),
            );
        }
        if bytes.len() < FIXED_HEADER_BYTES + 8 * order {
            return damaged(path, "the file ends inside the counts".into());
        }
        let counts: Vec<u64> =
            (0..order).map(|i| u64_at(bytes, FIXED_HEADER_BYTES + 8 * i)).collect();
        // No structure takes less than one bit per entry; after this check counts may be added and
        // multiplied by small numbers without overflow.
        let most = bytes.len() as u64 * 8;
        if let Some(at) = counts.iter().position(|&count| count > most) {
            return damaged(
                path,
                format!(
                    "{} {}-grams do not fit into {} bytes; the file may be truncated, so copy or \
                     build it again",
                    counts[at],
                    at + 1,
                    bytes.len()
                ),
            );
        }
        if counts[0] == 0 || counts[0] >= u64::from(u32::MAX) {
            let reason = format!("expected 1 to {} words, found {}", u32::MAX - 1, counts[0]);
            return damaged(path, reason);
        }
        Ok(Header {
            model_type: kind,
            probing_multiplier: multiplier,
            has_vocabulary: bytes[100] != 0,
            counts,
        })
    }

    /// Returns the header's bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = sanity_header().to_vec();
        out.extend_from_slice(&[self.counts.len() as u8, 0, 0, 0]);
        out.extend_from_slice(&self.probing_multiplier.to_le_bytes());
        out.extend_from_slice(&self.model_type.number().to_le_bytes());
        out.extend_from_slice(&[u8::from(self.has_vocabulary), 0, 0, 0]);
        out.extend_from_slice(&self.model_type.search_version().to_le_bytes());
        for count in &self.counts {
            out.extend_from_slice(&count.to_le_bytes());
        }
        out.resize(self.len(), 0);
        out
    }

    /// Returns the number of bytes of the header.
    pub fn len(&self) -> usize {
        (FIXED_HEADER_BYTES + 8 * self.counts.len()).next_multiple_of(8)
    }

    /// Returns the length of the longest n-grams, 2 to [`MAX_ORDER`].
    pub fn order(&self) -> usize {
        self.counts.len()
    }
}

/// Returns the sanity block as a little-endian machine writes it.
fn sanity_header() -> [u8; SANITY_BYTES] {
    let mut block = [0; SANITY_BYTES];
    let text = format!("{}{VERSION}\n", String::from_utf8_lossy(MAGIC_BEFORE_VERSION));
    block[..text.len()].copy_from_slice(text.as_bytes());
    block[60..64].copy_from_slice(&1f32.to_le_bytes());
    block[64..68].copy_from_slice(&(-0.5f32).to_le_bytes());
    block[68..72].copy_from_slice(&1u32.to_le_bytes());
    block[72..76].copy_from_slice(&u32::MAX.to_le_bytes());
    block[80..88].copy_from_slice(&1u64.to_le_bytes());
    block
}

/// Says why the sanity block does not match.
fn mismatch_reason(bytes: &[u8]) -> String {
    let digits = bytes.strip_prefix(MAGIC_BEFORE_VERSION).unwrap_or_default();
    let end = digits.iter().position(|b| !b.is_ascii_digit()).unwrap_or(digits.len());
    match std::str::from_utf8(&digits[..end]).ok().and_then(|text| text.parse::<u64>().ok()) {
        Some(version) if version != VERSION => format!(
            "KenLM binary format version {version}, this program reads version {VERSION}; build \
             the file again from the ARPA file"
        ),
        _ if bytes[60..64] == 1f32.to_be_bytes() => {
            "it was built on a big-endian machine; build it again on a little-endian one from the \
             ARPA file"
                .into()
        }
        _ => "a KenLM binary file whose sanity block does not match: built on another kind of \
              machine, or damaged; build it again from the ARPA file"
            .into(),
    }
}

fn damaged<T>(path: &Path, reason: String) -> Result<T> {
    Err(miriam_storage::Error::damaged(path, "header", reason).into())
}

fn unsupported<T>(path: &Path, reason: &str) -> Result<T> {
    Err(Error::Unsupported { file: miriam_textio::display_name(path), reason: reason.to_owned() })
}
