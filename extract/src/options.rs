//! The options of an extraction, and what memory they leave for partitions and batches.

use std::path::PathBuf;

use miriam_textio::Compression;

use crate::corpus::Corpus;
use crate::lexical_table::LexicalTable;
use crate::reordering::ReorderingType;
use crate::significance::SignificanceThreshold;
use crate::{Error, IN_FLIGHT_BATCHES, Result};

/// The largest maximum phrase length, in words.
pub const MAX_PHRASE_LENGTH: usize = 64;

/// Bytes of memory that an occurrence of a phrase pair needs in its partition: its key, and
/// a share of phrases, their hash tables and their order. Measured with small partitions,
/// in which most phrases occur once; large ones need a third of it.
const INSTANCE_BYTES: u64 = 160;
/// Bytes of memory that a phrase pair needs while it is merged and formatted.
const ENTRY_BYTES: u64 = 512;
/// The most partitions of an extraction, and so the most runs that are merged at once.
pub(crate) const MAX_PARTITIONS: u64 = 256;

/// The options of an extraction.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// The maximum phrase length in words, 1 to [`MAX_PHRASE_LENGTH`].
    pub max_length: usize,
    /// The reordering model by its Moses name, such as `wbe-msd-bidirectional-fe`; `None`
    /// for no model.
    pub reordering: Option<String>,
    /// The number added to each count of an orientation.
    pub reordering_smoothing: f64,
    /// How phrase translation probabilities are discounted.
    pub smoothing: Smoothing,
    /// How significant phrase pairs must be; `None` keeps all.
    pub significance: Option<SignificanceThreshold>,
    /// The compression of tables.
    pub compression: Compression,
    /// The memory limit in bytes. Vocabularies and lexical translations are in memory in
    /// any case.
    pub memory: u64,
    /// The folder of temporary files.
    pub temp_dir: PathBuf,
    /// Worker threads.
    pub threads: usize,
}

impl Default for ExtractOptions {
    /// Moses' defaults, 1 GiB of memory, the system's temporary folder, all processors.
    fn default() -> Self {
        ExtractOptions {
            max_length: 7,
            reordering: Some("wbe-msd-bidirectional-fe".into()),
            reordering_smoothing: 0.5,
            smoothing: Smoothing::None,
            significance: None,
            compression: Compression::Gzip,
            memory: 1 << 30,
            temp_dir: std::env::temp_dir(),
            threads: miriam_textio::available_threads(),
        }
    }
}

/// How phrase translation probabilities are discounted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Smoothing {
    /// Relative frequencies.
    #[default]
    None,
    /// Good-Turing discounts of pairs that occur up to eight times.
    GoodTuring,
    /// Kneser-Ney discounts (Foster et al. 2006).
    KneserNey,
}

impl ExtractOptions {
    /// Checks the options and returns the reordering model that they name.
    ///
    /// # Errors
    /// [`Error::InvalidOptions`] if one is out of range.
    pub fn validate(&self) -> Result<Option<ReorderingType>> {
        let wrong = |reason: String| Err(Error::InvalidOptions { reason });
        if !(1..=MAX_PHRASE_LENGTH).contains(&self.max_length) {
            return wrong(format!(
                "phrases of {} words; the longest must have from 1 to {MAX_PHRASE_LENGTH}",
                self.max_length
            ));
        }
        if !(self.reordering_smoothing > 0.0 && self.reordering_smoothing.is_finite()) {
            return wrong(format!(
                "{} cannot be added to the counts of orientations; give a number above 0",
                self.reordering_smoothing
            ));
        }
        match self.reordering.as_deref().map(ReorderingType::parse).transpose() {
            Ok(model) => Ok(model),
            Err(reason) => wrong(reason),
        }
    }

    /// A text that identifies what runs depend on.
    pub(crate) fn job(&self, corpus: &Corpus, reordering: Option<ReorderingType>) -> String {
        let model = reordering.map_or_else(|| "none".to_owned(), |model| model.to_string());
        let level = self.significance.map_or_else(|| "all".to_owned(), |level| level.to_string());
        format!("{:032x} {} {model} {level}", corpus.digest, self.max_length)
    }

    /// The number of partitions of one of `shards` shards for which one per thread fits into
    /// the remaining memory.
    pub(crate) fn num_partitions(
        &self,
        corpus: &Corpus,
        lexicon: &LexicalTable,
        shards: u64,
    ) -> u64 {
        let threads = self.threads.max(1) as u64;
        // A quarter is headroom for freed memory that the allocator keeps, and the program.
        let taken = corpus.memory_bytes() + lexicon.memory_bytes() + self.memory / 4;
        let left = self.memory.saturating_sub(taken).max(self.memory / 4);
        let fit = (left / threads / INSTANCE_BYTES).max(1);
        let partitions = corpus.instances.div_ceil(shards).div_ceil(fit).max(threads);
        partitions.next_multiple_of(threads).clamp(1, MAX_PARTITIONS.max(threads))
    }

    /// The number of phrase pairs in a batch: an eighth of the memory is for them.
    pub(crate) fn batch_entries(&self) -> usize {
        let threads = self.threads.max(1) as u64;
        (self.memory / 8 / ENTRY_BYTES / (IN_FLIGHT_BATCHES * threads)).clamp(64, 4096) as usize
    }
}
