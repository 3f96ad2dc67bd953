//! A model in a `glm` file, with the checks made when it is opened.

use std::path::Path;

use miriam_lmcpu::{BlankLists, HeadMetadata, ModelHead, Result};
use miriam_storage::btree::{Isa, Unit};
use miriam_storage::{Container, FileKind, LoadMethod, View};
use serde::{Deserialize, Serialize};

use crate::format::{Bucket, Entry, LongestBucket, NodeWidth};

/// The kind of the file.
pub const KIND: FileKind = FileKind::new("ngram-glm");
/// The version of its layout.
pub const VERSION: u32 = 1;

/// The metadata block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Metadata {
    /// The length of the longest n-grams, 1 to [`miriam_lmcpu::MAX_ORDER`].
    pub order: u32,
    /// The number of n-grams of each order, as the source counts them.
    pub counts: Vec<u64>,
    /// The number of keys of a node.
    pub node_width: u32,
    /// The highest order in a hash table. All lower orders from 2 up are in hash tables too; with 0
    /// or 1, none is.
    pub max_hashed_order: u32,
    /// The sizes of the orders from 2 up.
    pub levels: Vec<LevelMetadata>,
    pub head: HeadMetadata,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelMetadata {
    /// The number of n-grams, including blanks: placeholders of missing suffixes.
    pub entries: u64,
    /// The number of blanks among them.
    pub blanks: u64,
}

/// The n-grams of one order, from 2.
pub enum Level {
    /// Blocks of units.
    Blocks(View<Unit>),
    /// Buckets of an order below the highest.
    Buckets(View<Bucket>),
    /// Buckets of the highest order.
    LongestBuckets(View<LongestBucket>),
}

/// A model in a `glm` file.
///
/// # Examples
///
/// A file of another kind is rejected:
///
/// ```
/// use miriam_glm::{GlmModel, is_glm};
/// use miriam_storage::LoadMethod;
///
/// let arpa = tempfile::NamedTempFile::new()?;
/// std::fs::write(arpa.path(), "\\data\\\nngram 1=3\n")?;
/// assert!(!is_glm(arpa.path())?);
/// let error = GlmModel::open(arpa.path(), LoadMethod::Lazy).err().expect("no model");
/// assert!(error.to_string().contains(&arpa.path().display().to_string()), "{error}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct GlmModel {
    pub(crate) metadata: Metadata,
    pub(crate) node_width: NodeWidth,
    pub(crate) head: ModelHead,
    /// The entries of the unigrams, by word id.
    pub(crate) unigrams: View<Entry>,
    /// The n-grams of each order from 2 up.
    pub(crate) levels: Vec<Level>,
    /// The locations of blanks: the unit of each entry, or its slot in a hash table.
    pub(crate) blanks: BlankLists,
    pub(crate) isa: Isa,
}

impl GlmModel {
    /// Opens the file at `path`, and checks it as [`GlmModel::from_container`] does.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is not a valid model.
    pub fn open(path: &Path, load: LoadMethod) -> Result<Self> {
        Self::from_container(&Container::open_any(path, load)?)
    }

    /// Opens a container, which must be of the kind [`KIND`] and the version [`VERSION`].
    /// Everything that scoring relies on is checked here, in time that does not grow with the
    /// number of n-grams; [`crate::verify()`] checks the rest.
    ///
    /// # Errors
    ///
    /// If the container is of another kind or version, or its sections contradict its
    /// metadata.
    pub fn from_container(container: &Container) -> Result<Self> {
        let container = container.clone().expect_kind(KIND, VERSION)?;
        let metadata: Metadata = container.metadata()?;
        let lengths = (metadata.counts.len(), metadata.levels.len());
        fn backoff(unigram: &Entry) -> f32 {
            f32::from_bits(unigram.backoff)
        }
        let (head, unigrams) =
            ModelHead::open(&container, metadata.order, lengths, &metadata.head, backoff)?;
        let Some(width) = NodeWidth::from_keys(metadata.node_width) else {
            let reason = format!("nodes of {} keys are not supported", metadata.node_width);
            return Err(container.damaged("metadata", reason).into());
        };
        if metadata.max_hashed_order > metadata.order {
            let reason = "more orders are in buckets than the model has";
            return Err(container.damaged("metadata", reason).into());
        }
        let levels = (2..=head.order())
            .map(|order| open_level(&container, &metadata, order))
            .collect::<Result<_>>()?;
        let sizes = metadata.levels.iter().map(|level| (level.entries, level.blanks));
        let blanks = BlankLists::open(&container, sizes)?;
        let isa = Isa::detect();
        Ok(GlmModel { metadata, node_width: width, head, unigrams, levels, blanks, isa })
    }

    /// Returns the number of keys of a B-tree's node.
    pub fn node_width(&self) -> NodeWidth {
        self.node_width
    }

    /// Returns the highest order in a hash table. All lower orders from 2 up are in hash tables,
    /// too; if it is 0 or 1, none is.
    pub fn max_hashed_order(&self) -> usize {
        self.metadata.max_hashed_order as usize
    }

    /// Returns the entries of the unigrams, by word id.
    pub fn unigrams(&self) -> &[Entry] {
        &self.unigrams
    }

    /// Returns the n-grams of `order`, from 2.
    ///
    /// # Panics
    ///
    /// When the model has no such order.
    pub fn level(&self, order: usize) -> &Level {
        &self.levels[order - 2]
    }

    /// Returns the same model, searched with the instructions of `isa`.
    #[cfg(test)]
    pub(crate) fn with_isa(self, isa: Isa) -> Self {
        GlmModel { isa, ..self }
    }
}

fn open_level(container: &Container, metadata: &Metadata, order: usize) -> Result<Level> {
    let name = format!("order-{order}");
    if order > metadata.max_hashed_order as usize {
        return Ok(Level::Blocks(container.section(&name)?));
    }
    let (level, slots) = if order < metadata.order as usize {
        let buckets: View<Bucket> = container.section(&name)?;
        let slots = buckets.len() as u64 * Bucket::SLOTS;
        (Level::Buckets(buckets), slots)
    } else {
        let buckets: View<LongestBucket> = container.section(&name)?;
        let slots = buckets.len() as u64 * LongestBucket::SLOTS;
        (Level::LongestBuckets(buckets), slots)
    };
    // A search needs a bucket to begin with, and n-grams are numbered with 32 bits.
    if slots == 0 || slots > 1 << 32 {
        let reason = format!("a table cannot have {slots} slots");
        return Err(container.damaged(&name, reason).into());
    }
    Ok(level)
}
