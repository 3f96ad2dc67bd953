//! A model as a trie of sorted arrays, from which trie files are written.
//!
//! The n-grams of each order are sorted by their words, newest first (`sorted_section`), and linked
//! to the orders below (`sorted_trie`). So the n-grams that extend one n-gram to the left are
//! consecutive, in the order of their oldest words. A model from which a toolkit has pruned
//! suffixes gets blanks in their place (`blanks`).
//!
//! The result does not depend on the number of threads.

mod blanks;
mod sorted_section;
mod sorted_trie;

use std::path::Path;

use miriam_textio::{Progress, Vocabulary, WordId};

use sorted_section::SortedSection;
pub use sorted_trie::{Nodes, SortedTrie};

use crate::arpa::Unigram;
use crate::probing::ModelSize;
use crate::{ArpaOptions, Error, HeadMetadata, NgramSource, Result, open_source};

/// The largest number of n-grams of one order.
const MAX_NGRAMS: usize = u32::MAX as usize - 1;

/// A model read into plain arrays. Words are renumbered: `<unk>` is 0, and the others are sorted by
/// falling probability or are in the order that the file requires.
#[derive(Clone)]
pub struct SortedModel {
    /// The name of the source.
    pub name: String,
    /// The number of n-grams of each order, as the source counts them.
    pub counts: Vec<u64>,
    /// The source's words, in its order.
    pub vocabulary: Vocabulary,
    /// By new id: the id in the vocabulary.
    pub source_ids: Vec<WordId>,
    /// Whether the source itself lists `<unk>`.
    pub has_unknown: bool,
    /// The new id of `<s>`; 0, the id of `<unk>`, if the source does not list `<s>`.
    pub bos_id: u32,
    /// The new id of `</s>`, or 0 as for `<s>`.
    pub eos_id: u32,
    /// The n-grams.
    pub trie: SortedTrie,
}

impl SortedModel {
    /// Reads the model at `path`, in any format that [`open_source`] reads.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, lacks contexts or has duplicates or too many
    /// n-grams.
    pub fn read(path: &Path, arpa: ArpaOptions, progress: &dyn Progress) -> Result<Self> {
        let size = path.metadata().map(|found| found.len()).ok();
        let _task = progress.task("reading", size);
        Self::from_source(&mut *open_source(path, arpa, progress)?)
    }

    /// Reads all of `source`.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, lacks contexts or has duplicates or too many
    /// n-grams.
    pub fn from_source(source: &mut dyn NgramSource) -> Result<Self> {
        let ids = rank_words(source.unigrams());
        let unknown = source.unigrams()[0];
        Self::with_word_ids(source, &ids, unknown)
    }

    /// Reads all of `source`. `ids` has the new id of each word of the source, and `unknown` the
    /// values of `<unk>`, whose id stays 0.
    ///
    /// # Errors
    ///
    /// If the source cannot be read, lacks contexts or has duplicates or too many
    /// n-grams.
    pub(crate) fn with_word_ids(
        source: &mut dyn NgramSource,
        ids: &[u32],
        unknown: Unigram,
    ) -> Result<Self> {
        let mut unigrams = unigram_nodes(source.unigrams(), ids);
        (unigrams.log10[0], unigrams.backoffs[0]) = (unknown.log10, unknown.backoff);
        let mut trie = SortedTrie { levels: vec![unigrams] };
        while let Some(section) = source.next_section()? {
            if section.len() > MAX_NGRAMS {
                let reason =
                    format!("it has more than {MAX_NGRAMS} n-grams of {} words", section.order);
                return Err(Error::Unsupported { file: source.name().to_owned(), reason });
            }
            let keys = SortedSection::sort(&section, ids, source)?;
            trie.add_level(&section, &keys, source)?;
        }
        let vocabulary = source.vocabulary();
        let id = |word: &[u8]| vocabulary.find(word).map_or(0, |id| ids[id.index()]);
        let (bos_id, eos_id) = (id(b"<s>"), id(b"</s>"));
        let mut source_ids = vec![WordId(0); ids.len()];
        for (source_id, &id) in ids.iter().enumerate() {
            source_ids[id as usize] = WordId(source_id as u32);
        }
        Ok(SortedModel {
            name: source.name().to_owned(),
            counts: source.counts().to_vec(),
            vocabulary: vocabulary.clone(),
            source_ids,
            has_unknown: source.has_unknown(),
            bos_id,
            eos_id,
            trie,
        })
    }

    /// Returns the part of a file's metadata that does not depend on its kind.
    pub fn head_metadata(&self) -> HeadMetadata {
        HeadMetadata {
            bos_id: self.bos_id,
            eos_id: self.eos_id,
            has_unknown: self.has_unknown,
            minimization_is_closed: self.trie.is_minimization_closed(),
        }
    }

    /// Returns the number of n-grams of each order, and of blanks.
    pub fn size(&self) -> ModelSize {
        let blanks = self.trie.levels.iter().map(|nodes| nodes.blanks.len() as u64).sum();
        ModelSize { counts: self.counts.clone(), blanks }
    }
}

/// Returns the new id of each of the source's words: `<unk>` stays 0, then the most probable words
/// come first, equally probable words in the source's order.
fn rank_words(unigrams: &[Unigram]) -> Vec<u32> {
    let mut ranked: Vec<u32> = (1..unigrams.len() as u32).collect();
    ranked.sort_by(|&a, &b| {
        let [a, b] = [a, b].map(|id| unigrams[id as usize].log10.abs());
        a.total_cmp(&b)
    });
    let mut ids = vec![0; unigrams.len()];
    for (rank, source_id) in ranked.into_iter().enumerate() {
        ids[source_id as usize] = rank as u32 + 1;
    }
    ids
}

/// Returns the words as nodes of order 1.
fn unigram_nodes(unigrams: &[Unigram], ids: &[u32]) -> Nodes {
    let mut nodes = Nodes {
        words: (0..ids.len() as u32).collect(),
        log10: vec![0.0; ids.len()],
        backoffs: vec![0.0; ids.len()],
        ..Nodes::default()
    };
    for (unigram, &id) in unigrams.iter().zip(ids) {
        nodes.log10[id as usize] = unigram.log10;
        nodes.backoffs[id as usize] = unigram.backoff;
    }
    nodes
}
