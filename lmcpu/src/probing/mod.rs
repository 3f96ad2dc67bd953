//! The probing model: one hash table of cache lines per order.
//!
//! The idea is KenLM's: an n-gram is identified by a 64-bit hash of its words, newest first, so
//! that all hashes of a query are known before any memory is read. The layout differs: a table is
//! an array of 64-byte lines of four entries (five for the longest n-grams), so that a lookup
//! nearly always reads one line. The line is found by a multiplication instead of a division.
//! `docs/formats.md` gives every byte.
//!
//! Flags are sign bits as in KenLM (`ngram-lm.md` 2.3): the sign of a probability is set unless a
//! longer n-gram ends in this one. A backoff of -0.0 says that the n-gram has no backoff and does
//! not begin a longer one.

mod blank_keys;
mod build;
mod ngram_index;
mod oldest_words;
mod source;
mod verify;

use std::path::Path;

use miriam_storage::dictionary::Dictionary;
use miriam_storage::probing::{Line4, Line5, ProbingTable, TableLine, nonzero_key};
use miriam_storage::{Container, FileKind, LoadMethod, View};
use serde::{Deserialize, Serialize};

pub(crate) use build::probing_from_arpa;
pub use build::{ModelSize, build_probing};
pub(crate) use source::probing_source;
pub use verify::verify;

use crate::hash::{combine, hash_oldest_first, uncombine};
use crate::model_head::{HeadMetadata, ModelHead};
use crate::ngram_index::SIGN;
use crate::{LmWord, NO_EXTENSION, Result};

/// The kind of the file.
pub const KIND: FileKind = FileKind::new("ngram-probing");
/// The version of its layout.
const VERSION: u32 = 2;
/// Files of this version have no oldest words, so they score but cannot be dumped.
const VERSION_WITHOUT_WORDS: u32 = 1;

/// The load factor of tables. KenLM's default is 0.67; here, where whole lines are compared at
/// once, tables are slower from 0.7 on.
const LOAD_FACTOR: f64 = 0.65;

/// The metadata block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ProbingMetadata {
    /// The length of the longest n-grams, 1 to [`crate::MAX_ORDER`].
    order: u32,
    /// The number of n-grams of each order, as the source counts them.
    counts: Vec<u64>,
    /// The number of entries of each table, of orders from 2, blanks (entries for missing suffixes)
    /// included.
    entries: Vec<u64>,
    /// The number of home lines of each table, of orders from 2.
    home_lines: Vec<u64>,
    head: HeadMetadata,
}

/// Returns a probability and a backoff, both log10 with their flags, as one 64-bit value: the
/// probability in the low half.
#[inline(always)]
fn pack(log10: u32, backoff: u32) -> u64 {
    u64::from(log10) | u64::from(backoff) << 32
}

#[inline(always)]
fn log10_bits(value: u64) -> u32 {
    value as u32
}

#[inline(always)]
fn backoff_bits(value: u64) -> u32 {
    (value >> 32) as u32
}

/// A model in a probing file, or built from ARPA in memory.
pub struct ProbingModel {
    metadata: ProbingMetadata,
    head: ModelHead,
    /// By word id: probability and backoff.
    unigrams: View<u64>,
    /// Orders 2 to N - 1.
    middle: Vec<ProbingTable<Line4>>,
    /// Order N, from 2.
    longest: Option<ProbingTable<Line5>>,
}

impl ProbingModel {
    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, is of another kind or is damaged.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        Self::from_container(&Container::open_any(path, load)?)
    }

    /// Opens a container, which must be of this kind and version. Everything that
    /// scoring relies on is checked here, in time that does not grow with the model;
    /// [`verify()`] checks the rest.
    ///
    /// # Errors
    ///
    /// If the container is of another kind or is damaged.
    pub fn from_container(container: &Container) -> Result<Self> {
        let version = match container.kind_version() {
            VERSION_WITHOUT_WORDS => VERSION_WITHOUT_WORDS,
            _ => VERSION,
        };
        let container = container.clone().expect_kind(KIND, version)?;
        let metadata: ProbingMetadata = container.metadata()?;
        let orders = (metadata.counts.len(), metadata.entries.len());
        let (head, unigrams) =
            ModelHead::open(&container, metadata.order, orders, &metadata.head, |&value: &u64| {
                f32::from_bits(backoff_bits(value))
            })?;
        let order = head.order();
        if metadata.home_lines.len() != order - 1 {
            let reason = "the counts do not fit the order";
            return Err(container.damaged("metadata", reason).into());
        }
        let mut middle = Vec::new();
        for n in 2..order {
            middle.push(open_table::<Line4>(&container, &metadata, n)?);
        }
        let longest = match order {
            1 => None,
            _ => Some(open_table::<Line5>(&container, &metadata, order)?),
        };
        Ok(ProbingModel { metadata, head, unigrams, middle, longest })
    }
}

fn open_table<L: TableLine>(
    container: &Container,
    metadata: &ProbingMetadata,
    order: usize,
) -> Result<ProbingTable<L>> {
    let name = format!("order-{order}");
    let lines = container.section::<L>(&name)?;
    if metadata.entries[order - 2] > (lines.len() * L::SLOTS) as u64 {
        return Err(container.damaged(&name, "it has fewer slots than entries").into());
    }
    ProbingTable::new(lines, metadata.home_lines[order - 2])
        .map_err(|reason| container.damaged(&name, reason).into())
}

#[cfg(test)]
pub(crate) mod tests;
