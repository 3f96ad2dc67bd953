//! The trie model: n-grams as paths of words, newest first.
//!
//! The idea is KenLM's reverse trie (`docs/spec/ngram-lm.md` 2.10): a walk starts at the newest
//! word and follows the words of the context to the left. Unlike in KenLM, the children of a node
//! are not a range that is searched. All n-grams of an order are in one hash table (`level`), whose
//! keys consist of the parent node and a word. Of a key, only the bits that do not follow from the
//! slot are stored ([`miriam_storage::quotient_table`]; Darragh, Cleary and Witten 1993 call such a
//! trie a Bonsai). So a step of a walk nearly always reads one cache line, however many children a
//! node has. The line of a bigram is known from its words alone, and no entry spends bits on where
//! its children begin. Backoffs, which repeat, are indices into a codebook. `docs/formats.md`
//! describes every byte.
//!
//! The model is lossless unless probabilities and backoffs are quantised, which gives
//! KenLM's quantised values to the bit.

mod build;
mod level;
mod ngram_index;
pub(crate) mod quantize;
mod source;
mod verify;

use std::path::Path;

use miriam_storage::dictionary::Dictionary;
use miriam_storage::zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};
use miriam_storage::{Container, FileKind, LoadMethod, View};
use serde::{Deserialize, Serialize};

pub use build::{build_trie, write_trie};
pub use quantize::QuantizationBits;
pub(crate) use source::trie_source;
pub use verify::verify;

use crate::blank_lists::BlankLists;
use crate::model_head::{HeadMetadata, ModelHead};
use crate::ngram_index::SIGN;
use crate::{LmWord, Result};
use level::{FieldWidths, KeyLayout, Level, RAW_BACKOFF_BITS, RAW_PROB_BITS};

/// The kind of the file.
pub const KIND: FileKind = FileKind::new("ngram-trie");
/// The version of its layout.
const VERSION: u32 = 2;

/// The metadata block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct TrieMetadata {
    /// The length of the longest n-grams, 1 to [`crate::MAX_ORDER`].
    order: u32,
    /// The number of n-grams of each order, as the source counts them.
    counts: Vec<u64>,
    /// Those of the orders from 2 on.
    levels: Vec<LevelMetadata>,
    head: HeadMetadata,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LevelMetadata {
    /// The number of n-grams, including blanks (entries for missing suffixes).
    entries: u64,
    /// The number of blanks among them.
    blanks: u64,
    widths: FieldWidths,
    /// The number of bits of a tag.
    tag_bits: u32,
    /// The number of home lines of the table.
    home_lines: u32,
    /// The number of values in the codebook of probabilities; 0 if there is no codebook.
    prob_codebook_len: u32,
    /// The number of values in the codebook of backoffs; 0 if there is no codebook.
    backoff_codebook_len: u32,
}

/// The entry of a single word.
#[derive(Clone, Copy, Debug, FromBytes, IntoBytes, Immutable, KnownLayout)]
#[zerocopy(crate = "miriam_storage::zerocopy")]
#[repr(C, align(16))]
struct UnigramRecord {
    log10: f32,
    backoff: f32,
    /// 1 if a bigram ends with the word, or else 0.
    has_children: u32,
    /// Padding.
    zero: u32,
}

/// A model in a trie file.
pub struct TrieModel {
    metadata: TrieMetadata,
    head: ModelHead,
    /// The entries of words, by word id.
    unigrams: View<UnigramRecord>,
    /// The n-grams of the orders from 2 on.
    levels: Vec<Level>,
    /// The numbers of the n-grams of each order that are blanks.
    blanks: BlankLists,
}

impl TrieModel {
    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is of another kind or is damaged.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        Self::from_container(&Container::open_any(path, load)?)
    }

    /// Opens a container, which must be of this kind and version. Everything that
    /// scoring relies on is checked here, in time that does not grow with the n-grams;
    /// [`verify()`] checks the rest.
    ///
    /// # Errors
    ///
    /// If the container is of another kind or is damaged.
    pub fn from_container(container: &Container) -> Result<Self> {
        let container = container.clone().expect_kind(KIND, VERSION)?;
        let metadata: TrieMetadata = container.metadata()?;
        let orders = (metadata.counts.len(), metadata.levels.len());
        fn backoff(unigram: &UnigramRecord) -> f32 {
            unigram.backoff
        }
        let (head, unigrams) =
            ModelHead::open(&container, metadata.order, orders, &metadata.head, backoff)?;
        let levels = open_levels(&container, &metadata, head.words.len())?;
        let sizes = metadata.levels.iter().map(|level| (level.entries, level.blanks));
        let blanks = BlankLists::open(&container, sizes)?;
        Ok(TrieModel { metadata, head, unigrams, levels, blanks })
    }
}

/// Opens the n-grams of the orders from 2 on, each with its part of the codebooks. `words` is the
/// size of the vocabulary.
fn open_levels(container: &Container, metadata: &TrieMetadata, words: usize) -> Result<Vec<Level>> {
    let codebooks = container.section::<f32>("books")?;
    let mut rest = &codebooks[..];
    let mut take_codebook = |len: u32, is_raw: bool, width: u32| {
        // An index beyond its codebook reads as 0; `verify` reports it.
        let is_valid = if is_raw { len == 0 } else { len > 0 && width <= 25 };
        if !is_valid {
            let reason = format!("a codebook of {len} values for fields of {width} bits");
            return Err(crate::Error::from(container.damaged("books", reason)));
        }
        let (codebook, after) = rest.split_at_checked(len as usize).ok_or_else(|| {
            container.damaged("books", "it ends before values that entries refer to")
        })?;
        rest = after;
        Ok(codebook)
    };
    let mut levels: Vec<Level> = Vec::new();
    for (order, level) in (2..).zip(&metadata.levels) {
        let widths = level.widths;
        let prob_codebook =
            take_codebook(level.prob_codebook_len, widths.prob == RAW_PROB_BITS, widths.prob)?;
        let is_raw_or_absent = matches!(widths.backoff, 0 | RAW_BACKOFF_BITS);
        let backoff_codebook =
            take_codebook(level.backoff_codebook_len, is_raw_or_absent, widths.backoff)?;
        let parents = levels.last().map_or(words, |level| level.capacity() as usize);
        let longest = order == metadata.order as usize;
        levels.push(Level::open(
            container,
            order,
            KeyLayout::new(parents, words),
            (widths, longest),
            (level.tag_bits, level.home_lines),
            [prob_codebook, backoff_codebook],
        )?);
    }
    if !rest.is_empty() {
        return Err(container.damaged("books", "it holds values that no entry refers to").into());
    }
    Ok(levels)
}

#[cfg(test)]
mod tests;
