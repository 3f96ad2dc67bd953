//! The trie model: n-grams as paths of words, newest first.
//!
//! The idea is KenLM's reverse trie (`ngram-lm.md` 2.10): a walk from the newest word to the left
//! follows the words of the context. The difference is that the children of a node are not a range
//! that is searched. All edges of an order are in one hash table (`level`), whose keys are a node
//! and a word. Only those bits of a key are stored that do not follow from the slot
//! ([`miriam_storage::quotient_table`]; Darragh, Cleary and Witten 1993 call such a trie a Bonsai).
//! So a step of a walk reads one cache line, however many children a node has. The line of a bigram
//! is known from its words alone, and no entry spends bits on where its children begin. Backoffs,
//! which repeat, are indices into a codebook. `docs/formats.md` gives every byte.
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
    /// Orders from 2.
    levels: Vec<LevelMetadata>,
    head: HeadMetadata,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct LevelMetadata {
    /// The number of n-grams, blanks (entries for missing suffixes) included.
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
    /// 1 if a bigram ends in it.
    has_children: u32,
    zero: u32,
}

/// A model in a trie file.
pub struct TrieModel {
    metadata: TrieMetadata,
    head: ModelHead,
    /// By word id.
    unigrams: View<UnigramRecord>,
    /// Orders from 2.
    levels: Vec<Level>,
    /// The numbers of the n-grams that are blanks.
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

fn open_levels(container: &Container, metadata: &TrieMetadata, words: usize) -> Result<Vec<Level>> {
    let codebooks = container.section::<f32>("books")?;
    let mut rest = &codebooks[..];
    let mut take = |values: u32, raw: bool, width: u32| {
        // An index beyond the codebook is handled where it is read.
        let valid = if raw { values == 0 } else { values > 0 && width <= 25 };
        let codebook = valid.then(|| rest.split_at_checked(values as usize)).flatten();
        let (codebook, after) = codebook.ok_or_else(|| {
            crate::Error::from(
                container.damaged("books", "it ends before values that entries refer to"),
            )
        })?;
        rest = after;
        Ok::<_, crate::Error>(codebook)
    };
    let mut levels: Vec<Level> = Vec::new();
    for (order, level) in (2..).zip(&metadata.levels) {
        let widths = level.widths;
        let prob_codebook =
            take(level.prob_codebook_len, widths.prob == RAW_PROB_BITS, widths.prob)?;
        let no_codebook = matches!(widths.backoff, 0 | RAW_BACKOFF_BITS);
        let backoff_codebook = take(level.backoff_codebook_len, no_codebook, widths.backoff)?;
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
