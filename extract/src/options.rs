//! Options of an extraction, and the memory that they leave for partitions and batches.

use std::path::PathBuf;

use miriam_textio::Compression;

use crate::corpus::Corpus;
use crate::lexical_table::LexicalTable;
use crate::probability_thresholds::ProbabilityThresholds;
use crate::reordering::ReorderingType;
use crate::significance::SignificanceThreshold;
use crate::{Error, IN_FLIGHT_BATCHES, Result};

/// The largest maximum phrase length, in words.
pub const MAX_PHRASE_LENGTH: usize = 64;

/// Bytes of memory per occurrence of a phrase pair in its partition: the record of the occurrence
/// and the longer record of the phrase pair, while occurrences are counted bucket by bucket. This
/// was measured with small partitions, in which most phrase pairs occur once; large partitions need
/// half of it.
const INSTANCE_BYTES: u64 = 112;
/// The same if phrase pairs are pruned, which needs all phrases of the partition in hash tables.
const PRUNING_INSTANCE_BYTES: u64 = 160;
/// Bytes of memory that a phrase pair needs while it is merged and formatted.
const ENTRY_BYTES: u64 = 512;
/// The largest number of shards. It is also the largest number of partitions of a shard, unless
/// there are more threads.
pub(crate) const MAX_PARTITIONS: u64 = 256;

/// The options of an extraction.
#[derive(Clone, Debug)]
pub struct ExtractOptions {
    /// The maximum phrase length in words, 1 to [`MAX_PHRASE_LENGTH`].
    pub max_length: usize,
    /// The reordering model by its Moses name, such as `wbe-msd-bidirectional-fe`; `None`
    /// for no model.
    pub reordering: Option<String>,
    /// The number that is added to each orientation count.
    pub reordering_smoothing: f64,
    /// The discounting of phrase translation probabilities.
    pub smoothing: Smoothing,
    /// The significance that phrase pairs must reach; `None` keeps all pairs.
    pub significance: Option<SignificanceThreshold>,
    /// The smallest number of occurrences of phrase pairs in the tables. The counts of their
    /// phrases include the other pairs.
    pub min_count: u32,
    /// The smallest translation probabilities of phrase pairs in the tables.
    pub min_probabilities: ProbabilityThresholds,
    /// The compression of tables.
    pub compression: Compression,
    /// The memory limit in bytes. Vocabularies and lexical translations are always in memory.
    pub memory: u64,
    /// The folder of temporary files.
    pub temp_dir: PathBuf,
    /// The number of worker threads.
    pub threads: usize,
}

impl Default for ExtractOptions {
    /// Returns Moses' defaults with 1 GiB of memory, the system's temporary folder and all
    /// processors.
    fn default() -> Self {
        ExtractOptions {
            max_length: 7,
            reordering: Some("wbe-msd-bidirectional-fe".into()),
            reordering_smoothing: 0.5,
            smoothing: Smoothing::None,
            significance: None,
            min_count: 1,
            min_probabilities: ProbabilityThresholds::default(),
            compression: Compression::Gzip,
            memory: 1 << 30,
            temp_dir: std::env::temp_dir(),
            threads: miriam_textio::available_threads(),
        }
    }
}

/// Discounting of phrase translation probabilities.
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
    /// Checks the options and returns their reordering model.
    ///
    /// # Errors
    /// [`Error::InvalidOptions`] if one is out of range.
    pub fn validate(&self) -> Result<Option<ReorderingType>> {
        if !(1..=MAX_PHRASE_LENGTH).contains(&self.max_length) {
            return Err(invalid_options(format!(
                "the maximum phrase length {} is out of range; write 1 to {MAX_PHRASE_LENGTH}",
                self.max_length
            )));
        }
        if !(self.reordering_smoothing >= 0.0 && self.reordering_smoothing.is_finite()) {
            return Err(invalid_options(format!(
                "invalid reordering smoothing {}; write a finite number of at least 0",
                self.reordering_smoothing
            )));
        }
        let model = self.reordering.as_deref().map(ReorderingType::parse).transpose();
        model.map_err(invalid_options)
    }

    /// Returns a text that identifies the corpus and the options on which runs depend.
    pub(crate) fn job(&self, corpus: &Corpus, reordering: Option<ReorderingType>) -> String {
        let model = reordering.map_or_else(|| "none".to_owned(), |model| model.to_string());
        let level = self.significance.map_or_else(|| "all".to_owned(), |level| level.to_string());
        format!("{:032x} {} {model} {level}", corpus.digest, self.max_length)
    }

    /// Returns the smallest number of partitions of each of `shards` shards for which one partition
    /// per thread fits into the remaining memory, but not more than is allowed.
    pub(crate) fn min_partitions(
        &self,
        corpus: &Corpus,
        lexicon: &LexicalTable,
        shards: u64,
    ) -> u64 {
        let threads = self.threads.max(1) as u64;
        // A quarter is for the program, and for freed memory that the allocator keeps.
        let used = corpus.memory_bytes() + lexicon.memory_bytes() + self.memory / 4;
        let left = self.memory.saturating_sub(used).max(self.memory / 4);
        let bytes =
            if self.significance.is_some() { PRUNING_INSTANCE_BYTES } else { INSTANCE_BYTES };
        let fit = (left / threads / bytes).max(1);
        corpus.instances.div_ceil(shards).div_ceil(fit).clamp(1, MAX_PARTITIONS.max(threads))
    }

    /// Returns a number of partitions that keeps all threads busy, `min_partitions` or more.
    pub(crate) fn num_partitions(&self, min_partitions: u64) -> u64 {
        let threads = self.threads.max(1) as u64;
        min_partitions.next_multiple_of(threads).min(MAX_PARTITIONS.max(threads))
    }

    /// Returns the number of phrase pairs per batch; all batches take an eighth of the memory.
    pub(crate) fn batch_entries(&self) -> usize {
        let threads = self.threads.max(1) as u64;
        (self.memory / 8 / ENTRY_BYTES / (IN_FLIGHT_BATCHES * threads)).clamp(64, 4096) as usize
    }
}

fn invalid_options(reason: String) -> Error {
    Error::InvalidOptions { reason }
}
