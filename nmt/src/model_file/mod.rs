//! Our own file: a model, its vocabularies and its shortlist in one container, mapped and
//! ready (`docs/formats.md`).
//!
//! Floats become f32 in the order of rows, aligned, so that an engine multiplies with
//! them where they lie; integers stay as they were, with their multipliers. A tensor's
//! record says how its numbers are packed. What products multiply with may be packed for
//! them instead ([`write`] with a precision): then it lies in sections of its own.

mod packed_weights;
mod read;
mod write;

use miriam_storage::FileKind;
use miriam_storage::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
use serde::{Deserialize, Serialize};

use crate::architecture::Architecture;
use crate::checkpoint::{DType, StorageOrder};

pub use read::{from_container, open, verify};
pub use write::write;

/// The kind of the file.
pub const KIND: FileKind = FileKind::new("nmt-model");
/// The version of its layout where weights are packed for products of one precision.
pub const VERSION_PACKED: u32 = 2;

/// The version where all parameters are plain numbers.
const VERSION_PLAIN: u32 = 1;

/// Tensors start at multiples of this.
const ALIGNMENT: u64 = 64;

/// Numbers one after another, without padding.
const PACKING_NONE: u32 = 0;

/// Sections of the two sides.
const SIDES: [&str; 2] = ["source", "target"];

/// The metadata block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Metadata {
    architecture: Architecture,
    /// The format that the model was converted from.
    origin: String,
    vocabularies: Option<VocabularyMetadata>,
    /// The shortlist's count of frequent words, if there is one.
    shortlist_first: Option<u64>,
    /// Multipliers of activations by matrix.
    activation_multipliers: Vec<(String, f32)>,
    defaults: SearchDefaults,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct VocabularyMetadata {
    /// Whether there is one vocabulary for both sides.
    shared: bool,
    /// Ids of the end of a sentence.
    eos_ids: [u32; 2],
    /// Ids of unknown words.
    unk_ids: [u32; 2],
    /// Whether text of a side is cut by a SentencePiece model, and which section holds it.
    sentencepiece_sections: [Option<u32>; 2],
}

/// What the decoder's configuration beside the model said.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct SearchDefaults {
    beam_size: Option<u64>,
    normalize: Option<f32>,
    word_penalty: Option<f32>,
    max_length_factor: Option<f32>,
}

/// What the metadata block, whose form is fixed, has no place for: JSON in the section
/// [`MORE`], which files have where there is something to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Extensions {
    mini_batch: Option<u64>,
    maxi_batch: Option<u64>,
    /// That of the one model; 1 if there is none.
    weight: Option<f32>,
    /// Whether text of a side is cut by codes of byte pair encoding, and which side's section
    /// holds them.
    codes: [Option<u32>; 2],
}

/// The section of [`More`].
const EXTENSIONS_SECTION: &str = "more";

/// A tensor.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C)]
struct TensorRecord {
    rows: u64,
    columns: u64,
    /// In the section of data.
    start: u64,
    length: u64,
    /// In the section of multipliers; their number may be 0, 1 or that of the runs.
    first_multiplier: u64,
    multipliers: u64,
    dtype: u32,
    order: u32,
    packing: u32,
    reserved: u32,
}

/// Elements by their numbers in records.
const DTYPES: [DType; 4] = [DType::F32, DType::I8, DType::I16, DType::I32];
/// Orders by their numbers in records.
const STORAGE_ORDERS: [StorageOrder; 2] = [StorageOrder::RowMajor, StorageOrder::ColumnMajor];
