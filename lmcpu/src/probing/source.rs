//! A probing file as lists of n-grams, for builders and for dumping.
//!
//! Tables are in the order of hashes. The n-grams of a section are sorted by their newest word,
//! then by the word before it, and so on: the order in which KenLM's estimator writes.

use miriam_storage::Container;
use miriam_storage::parallel;
use miriam_storage::probing::{LineKeys, ProbingTable, TableLine, nonzero_key};
use rayon::prelude::*;

use super::blank_keys;
use super::oldest_words::OldestWords;
use super::*;
use crate::Error;
use crate::arpa::Unigram;
use crate::level_source::{
    LevelNgrams, LevelReader, LevelSource, keep_flags, offsets_by_key, read_vocabulary,
};

/// A reader of the orders of a probing file.
pub(crate) struct ProbingLevels {
    container: Container,
    model: ProbingModel,
    /// By n-gram of the previous order, in table order: its position in the order of words.
    positions: Vec<usize>,
    /// The number of entries before each line in the table of the previous order.
    line_ranks: Vec<usize>,
}

/// The position of a suffix that the model does not have.
const MISSING: usize = usize::MAX;

/// The n-grams of a table.
struct SortedTable<V> {
    /// In the order of words: the position of the suffix, the oldest word, and the index
    /// in the table.
    entries: Vec<(usize, u32, usize)>,
    /// By index in the table.
    keys: Vec<u64>,
    values: Vec<V>,
    line_ranks: Vec<usize>,
}

/// Returns the log10 probability without its flag; 0, not -0, for a probability of 1.
fn unflagged_log10(log10: u32) -> f32 {
    -f32::from_bits(log10 & !SIGN) + 0.0
}

/// Returns all n-grams of a container of this kind. Fails for files of version 1, which do not hold
/// the words.
pub(crate) fn probing_source(container: &Container) -> Result<LevelSource<ProbingLevels>> {
    let name = container.path().display().to_string();
    if container.kind_version() == VERSION_WITHOUT_WORDS {
        let reason = "this file holds hashes and no words (version 1); build it again from \
                      ARPA, and it will hold both"
            .to_owned();
        return Err(Error::Unsupported { file: name, reason });
    }
    let model = ProbingModel::from_container(container)?;
    let vocabulary = read_vocabulary(container, model.head.words.iter(), model.unigrams.len())?;
    let unigrams = model.unigrams.iter().map(|&value| Unigram {
        log10: unflagged_log10(log10_bits(value)),
        backoff: f32::from_bits(backoff_bits(value)),
    });
    let unigrams = unigrams.collect();
    let (counts, has_unknown) = (model.metadata.counts.clone(), model.metadata.head.has_unknown);
    let levels = ProbingLevels {
        container: container.clone(),
        positions: (0..model.unigrams.len()).collect(),
        model,
        line_ranks: Vec::new(),
    };
    Ok(LevelSource::new(name, counts, vocabulary, unigrams, has_unknown, levels))
}

impl ProbingLevels {
    /// Returns the entries of `table` in the order of their words.
    fn sort_table<L: TableLine>(
        &self,
        order: usize,
        table: &ProbingTable<L>,
    ) -> Result<SortedTable<L::Value>> {
        let count = self.model.metadata.entries[order - 2];
        let words = self.model.unigrams.len();
        let oldest = OldestWords::open(&self.container, order, count, words)?;
        let damaged = |reason: &str| {
            let name = format!("order-{order}.oldest");
            Error::from(self.container.damaged(&name, reason))
        };
        let mut line_ranks = Vec::with_capacity(table.lines().len());
        let mut rank = 0;
        for line in table.lines() {
            line_ranks.push(rank);
            rank += line.pairs().count();
        }
        if rank as u64 != count {
            return Err(damaged("wrong number of entries"));
        }
        let (keys, values): (Vec<u64>, Vec<L::Value>) = table.iter().unzip();
        let mut entries = parallel::map(keys.len(), |index: usize| {
            let word = oldest.get(index);
            let suffix = self.suffix_position(order - 1, uncombine(keys[index], word));
            (suffix.filter(|_| (word as usize) < words).unwrap_or(MISSING), word, index)
        });
        if parallel::any(entries.len(), |at| entries[at].0 == MISSING) {
            return Err(damaged("a word does not lead to an n-gram of the model"));
        }
        entries.par_sort_unstable();
        Ok(SortedTable { entries, keys, values, line_ranks })
    }

    /// Returns the position of the n-gram of `length` words with this hash; `None` if the model has
    /// none.
    fn suffix_position(&self, length: usize, hash: u64) -> Option<usize> {
        let index = if length == 1 {
            usize::try_from(hash).ok()?
        } else {
            let slot = self.model.middle[length - 2].find_slot(nonzero_key(hash))?.0;
            self.line_ranks[slot / Line4::SLOTS] + slot % Line4::SLOTS
        };
        self.positions.get(index).copied()
    }
}

impl<V: Copy> SortedTable<V> {
    fn into_level(
        self,
        suffix_count: usize,
        blanks: &[u64],
        log10: impl Fn(V) -> f32,
        backoff: impl Fn(V) -> Option<f32>,
    ) -> LevelNgrams {
        let values = self.entries.iter().map(|&(.., index)| self.values[index]);
        let keys = self.entries.iter().map(|&(.., index)| self.keys[index]);
        LevelNgrams {
            log10: values.clone().map(log10).collect(),
            backoffs: values.filter_map(backoff).collect(),
            oldest: self.entries.iter().map(|entry| entry.1).collect(),
            offsets: offsets_by_key(suffix_count, self.entries.iter().map(|entry| entry.0)),
            keep: keep_flags(blanks, keys),
        }
    }
}

impl LevelReader for ProbingLevels {
    fn read_level(&mut self, order: usize) -> Result<LevelNgrams> {
        let suffix_count = self.positions.len();
        let level = if let Some(table) = self.model.middle.get(order - 2) {
            let sorted = self.sort_table(order, table)?;
            let blanks = blank_keys::read(&self.container, &self.model.metadata, order)?;
            self.positions = vec![0; sorted.entries.len()];
            for (position, &(.., index)) in sorted.entries.iter().enumerate() {
                self.positions[index] = position;
            }
            self.line_ranks.clone_from(&sorted.line_ranks);
            sorted.into_level(
                suffix_count,
                &blanks,
                |value| unflagged_log10(log10_bits(value)),
                |value| Some(f32::from_bits(backoff_bits(value))),
            )
        } else if let Some(table) = &self.model.longest {
            let sorted = self.sort_table(order, table)?;
            sorted.into_level(suffix_count, &[], unflagged_log10, |_| None)
        } else {
            let reason = format!("it has no table of {order}-grams");
            return Err(self.container.damaged("metadata", reason).into());
        };
        let blanks = level.keep.iter().filter(|kept| !**kept).count();
        if (level.log10.len() - blanks) as u64 != self.model.metadata.counts[order - 1] {
            let reason = "the number of n-grams differs from the metadata";
            return Err(self.container.damaged(&format!("order-{order}"), reason).into());
        }
        Ok(level)
    }
}
