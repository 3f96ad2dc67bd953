//! The model file of this program: a model, its vocabularies and its shortlist in one
//! container that is mapped (`docs/formats.md`).
//!
//! Weights of GEMMs are packed in the layout in which the engine reads them, so that opening packs
//! nothing. Packing rounds neither floats that are packed as floats nor integers of eight bits that
//! are packed unchanged. For these, the records of parameters refer to columns of packed matrices,
//! from which every precision can be made. If packing rounds parameters, they are stored in
//! addition, or they are left out and the file serves one precision only ([`write()`] with a
//! precision).

mod decoder_config;
mod packed_weights;
mod read;
mod write;

use miriam_storage::FileKind;
use miriam_storage::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
use serde::{Deserialize, Serialize};

use crate::architecture::Architecture;
use crate::checkpoint::{DType, StorageOrder};
use crate::model_bundle::EosAfterTokens;
use crate::segmentation::WordRules;

use decoder_config::StoredDecoderConfig;
pub use read::{from_container, open, verify};
pub use write::{LosslessColumns, StoredWeights, write};

/// The container kind of the file.
pub const KIND: FileKind = FileKind::new("nmt-model");
/// The version of the layout with weights packed for GEMM in one precision.
pub const VERSION_PACKED: u32 = 2;

/// The version of the layout without packed weights, which is no longer written.
const VERSION_PLAIN: u32 = 1;

/// Added to both versions for models that programs of the first versions do not know: models with
/// relative positions, positions that do not begin at 0, RMS norms, gated layers, alignments from
/// several heads, a source without `</s>`, or special tokens other than `</s>`.
const LATER_MODELS: u32 = 2;

/// The version of the layout where parameters may be columns of packed matrices, for all models.
pub const VERSION_COLUMNS: u32 = 5;

/// Tensors start at multiples of this many bytes.
const ALIGNMENT: u64 = 64;

/// `TensorRecord::packing` of elements one after another, without padding.
const PACKING_NONE: u32 = 0;
/// `TensorRecord::packing` of columns of a packed matrix: `start` is the first column, `length` the
/// index of the matrix.
const PACKING_COLUMNS: u32 = 1;

/// The beginning of the description of the format of an opened model file. The metadata's `origin`
/// follows it.
const FORMAT_PREFIX: &str = "miriam, from: ";

/// The names of the two sides in section names.
const SIDES: [&str; 2] = ["source", "target"];

/// The metadata block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Metadata {
    architecture: Architecture,
    /// Description of the format that the model was converted from.
    origin: String,
    vocabularies: Option<VocabularyMetadata>,
    /// The number of frequent tokens that every sentence gets from the shortlist, if there is one.
    shortlist_first: Option<u64>,
    /// Quantisation multipliers of input activations by matrix.
    activation_multipliers: Vec<(String, f32)>,
    defaults: SearchDefaults,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct VocabularyMetadata {
    /// Whether both sides share one vocabulary.
    shared: bool,
    /// Ids of EOS.
    eos_ids: [u32; 2],
    /// Ids of the unknown token.
    unk_ids: [u32; 2],
    /// For each side, the side whose section has its SentencePiece model.
    sentencepiece_sections: [Option<u32>; 2],
}

/// Search options of the decoder configuration.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct SearchDefaults {
    beam_size: Option<u64>,
    normalize: Option<f32>,
    word_penalty: Option<f32>,
    max_length_factor: Option<f32>,
}

/// Settings that were added after the layout of the metadata block was fixed: JSON in the section
/// [`EXTENSIONS_SECTION`], which only files with such settings have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct Extensions {
    mini_batch: Option<u64>,
    maxi_batch: Option<u64>,
    /// The weight of the model in an ensemble; 1 if there is none.
    weight: Option<f32>,
    /// For each side, the side whose section has its BPE codes.
    codes: [Option<u32>; 2],
    /// The rules by which text of each side is split into words before BPE.
    #[serde(skip_serializing_if = "is_default")]
    words: [Option<WordRules>; 2],
    /// Whether the model was packed for browsers.
    #[serde(skip_serializing_if = "is_default")]
    is_for_browsers: bool,
    /// The token before the tokens of a source sentence.
    #[serde(skip_serializing_if = "is_default")]
    source_bos: Option<u32>,
    /// Whether EOS does not follow the tokens of a source sentence.
    #[serde(skip_serializing_if = "is_default")]
    omits_source_eos: bool,
    /// Whether EOS is added to a source sentence that a caller has tokenised.
    #[serde(skip_serializing_if = "is_default")]
    eos_after_tokens: EosAfterTokens,
    /// The token of a source that has no words, if it is not `<s>`.
    #[serde(skip_serializing_if = "is_default")]
    source_marker: Option<u32>,
    /// The tokens that every translation begins with.
    #[serde(skip_serializing_if = "is_default")]
    target_prefix: Vec<u32>,
    /// The number of heads whose attention is averaged for alignments, if it is not 1.
    #[serde(skip_serializing_if = "is_default")]
    alignment_heads: Option<u32>,
    /// Whether the tokens of a sentence are not candidates of the shortlist by themselves, although
    /// both vocabularies have the same tokens.
    #[serde(skip_serializing_if = "is_default")]
    shortlist_omits_source: bool,
    /// Whether the vocabularies come from files of different names, although both have the same
    /// tokens. Then a shortlist that the user names does not add the tokens of the sentence.
    #[serde(skip_serializing_if = "is_default")]
    has_separate_vocabularies: bool,
    #[serde(skip_serializing_if = "is_default")]
    decoder: StoredDecoderConfig,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The section of [`Extensions`].
const EXTENSIONS_SECTION: &str = "more";

/// The record of a tensor, named by the string of the same index.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C)]
struct TensorRecord {
    rows: u64,
    columns: u64,
    /// Byte offset in `tensors.data`, or the first column of a packed matrix.
    start: u64,
    /// The number of bytes, or the index of the packed matrix.
    length: u64,
    /// Index of the first multiplier in `tensors.scales`.
    first_multiplier: u64,
    /// The number of multipliers: 0, 1, or one per channel.
    multipliers: u64,
    dtype: u32,
    order: u32,
    packing: u32,
    reserved: u32,
}

/// Data types by their numbers in records.
const DTYPES: [DType; 4] = [DType::F32, DType::I8, DType::I16, DType::I32];
/// Storage orders by their numbers in records.
const STORAGE_ORDERS: [StorageOrder; 2] = [StorageOrder::RowMajor, StorageOrder::ColumnMajor];
