//! A probing file as lists of n-grams, for builders and for dumping.
//!
//! Tables stand in the order of hashes; sections come sorted by their newest
//! word, then the one before it, and so on: the order in which KenLM's estimator
//! writes.

use miriam_storage::probing::{LineKeys, ProbingTable, TableLine, nonzero_key};
use miriam_storage::{Container, View};
use miriam_textio::Vocabulary;
use rayon::prelude::*;

use super::oldest_words::OldestWords;
use super::*;
use crate::arpa::{Section, Unigram};
use crate::{Error, NgramSource};

/// All n-grams of a probing file.
pub struct ProbingSource {
    container: Container,
    name: String,
    model: ProbingModel,
    vocabulary: Vocabulary,
    unigrams: Vec<Unigram>,
    next_order: usize,
    /// The n-grams of the order before, blanks included, in table order: words
    /// newest first.
    suffix_words: Vec<u32>,
    /// How many of them stand in front of each line.
    line_ranks: Vec<usize>,
}

/// A probability of 1 has the flag of its sign set.
fn unflagged_log10(log10: u32) -> f32 {
    -f32::from_bits(log10 & !SIGN) + 0.0
}

impl ProbingSource {
    /// Reads a container of this kind. Files of version 1 do not hold the words.
    pub fn open(container: &Container) -> Result<Self> {
        let name = container.path().display().to_string();
        if container.kind_version() == VERSION_WITHOUT_WORDS {
            let reason = "this file holds hashes and no words (version 1); build it again from \
                          ARPA, and it will hold both"
                .to_owned();
            return Err(Error::Unsupported { file: name, reason });
        }
        let model = ProbingModel::from_container(container)?;
        let mut vocabulary = Vocabulary::new();
        for (id, word) in model.words.iter().enumerate() {
            if vocabulary.intern(word).index() != id {
                return Err(container.damaged("words.bytes", "a word is there twice").into());
            }
        }
        if vocabulary.len() != model.unigrams.len() {
            return Err(container.damaged("words.offsets", "words are missing").into());
        }
        let unigrams = model.unigrams.iter().map(|&value| Unigram {
            log10: unflagged_log10(log10_bits(value)),
            backoff: f32::from_bits(backoff_bits(value)),
        });
        let unigrams = unigrams.collect();
        let container = container.clone();
        let (shorter, ranks) = (Vec::new(), Vec::new());
        Ok(ProbingSource {
            container,
            name,
            model,
            vocabulary,
            unigrams,
            next_order: 2,
            suffix_words: shorter,
            line_ranks: ranks,
        })
    }

    /// The words of every entry of `table`, newest first, in table order, and
    /// the ranks of its lines.
    fn reconstruct_words<L: TableLine>(
        &self,
        order: usize,
        table: &ProbingTable<L>,
    ) -> Result<(Vec<u32>, Vec<usize>)> {
        let entries = self.model.metadata.entries[order - 2];
        let oldest = OldestWords::open(&self.container, order, entries, self.unigrams.len())?;
        let damaged = |reason: &str| {
            let name = format!("order-{order}.oldest");
            Error::from(self.container.damaged(&name, reason))
        };
        let mut ranks = Vec::with_capacity(table.lines().len());
        let mut count = 0;
        for line in table.lines() {
            ranks.push(count);
            count += line.pairs().count();
        }
        if count as u64 != entries {
            return Err(damaged("its entries are not as many as they should be"));
        }
        let mut words = vec![0; count * order];
        let keys: Vec<u64> = table.iter().map(|(key, _)| key).collect();
        let whole = words.par_chunks_mut(order).zip(&keys).enumerate().all(|(i, (words, &key))| {
            let (newer, last) = words.split_at_mut(order - 1);
            last[0] = oldest.get(i);
            self.copy_suffix(uncombine(key, last[0]), newer)
                && (last[0] as usize) < self.unigrams.len()
        });
        if !whole {
            return Err(damaged("a word does not lead to an n-gram of the model"));
        }
        Ok((words, ranks))
    }

    /// The words of the n-gram with this hash, one order below; false when the
    /// model has none.
    fn copy_suffix(&self, hash: u64, words: &mut [u32]) -> bool {
        let shorter = words.len();
        if shorter == 1 {
            words[0] = hash as u32;
            return hash < self.unigrams.len() as u64;
        }
        let Some(slot) = self.model.middle[shorter - 2].find_slot(nonzero_key(hash)) else {
            return false;
        };
        let rank = self.line_ranks[slot.0 / Line4::SLOTS] + slot.0 % Line4::SLOTS;
        words.copy_from_slice(&self.suffix_words[rank * shorter..(rank + 1) * shorter]);
        true
    }

    /// The n-grams of `order` without blanks, in their order.
    fn sorted_section<V>(
        order: usize,
        words: &[u32],
        entries: impl Iterator<Item = (u64, V)>,
        blanks: &[u64],
    ) -> (Section, Vec<V>) {
        let mut kept: Vec<(&[u32], V)> = words
            .chunks(order)
            .zip(entries)
            .filter(|(_, (key, _))| blanks.binary_search(key).is_err())
            .map(|(words, (_, value))| (words, value))
            .collect();
        kept.sort_unstable_by(|a, b| a.0.cmp(b.0));
        let mut section = Section::default();
        section.order = order;
        section.words = kept.iter().flat_map(|(words, _)| words.iter().rev()).copied().collect();
        (section, kept.into_iter().map(|(_, value)| value).collect())
    }
}

impl NgramSource for ProbingSource {
    fn name(&self) -> &str {
        &self.name
    }

    fn counts(&self) -> &[u64] {
        &self.model.metadata.counts
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn unigrams(&self) -> &[Unigram] {
        &self.unigrams
    }

    fn has_unknown(&self) -> bool {
        self.model.metadata.has_unknown
    }

    fn next_section(&mut self) -> Result<Option<Section>> {
        let order = self.next_order;
        if order > self.counts().len() {
            return Ok(None);
        }
        self.next_order += 1;
        let section = if let Some(table) = self.model.middle.get(order - 2) {
            let (words, ranks) = self.reconstruct_words(order, table)?;
            let blanks: View<u64> = self.container.section(&format!("order-{order}.blanks"))?;
            let (mut section, values) = Self::sorted_section(order, &words, table.iter(), &blanks);
            section.log10 = values.iter().map(|&v| unflagged_log10(log10_bits(v))).collect();
            section.backoffs = values.iter().map(|&v| f32::from_bits(backoff_bits(v))).collect();
            (self.suffix_words, self.line_ranks) = (words, ranks);
            section
        } else if let Some(table) = &self.model.longest {
            let (words, _) = self.reconstruct_words(order, table)?;
            let (mut section, values) = Self::sorted_section(order, &words, table.iter(), &[]);
            section.log10 = values.into_iter().map(unflagged_log10).collect();
            self.suffix_words = Vec::new();
            section
        } else {
            return Ok(None);
        };
        if section.len() as u64 != self.counts()[order - 1] {
            let reason = "it does not hold as many n-grams as the metadata says";
            return Err(self.container.damaged(&format!("order-{order}"), reason).into());
        }
        Ok(Some(section))
    }

    fn ngram_error(&self, section: &Section, index: usize, reason: String) -> Error {
        let words = section.ngram(index).iter().map(|&id| {
            String::from_utf8_lossy(self.vocabulary.word(miriam_textio::WordId(id))).into_owned()
        });
        let words: Vec<String> = words.collect();
        let reason = format!("\"{}\": {reason}", words.join(" "));
        Error::Unsupported { file: self.name.clone(), reason }
    }
}
