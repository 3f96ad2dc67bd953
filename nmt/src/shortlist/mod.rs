//! Shortlists: the few target words that a source sentence can need, so that the output
//! layer multiplies with those columns only (`neural.md` 1.4).
//!
//! The candidates of a sentence depend on that sentence alone. Marian unites those of a
//! batch, so its scores change with batch mates; ours do not.

mod binary;
mod text;
mod vocabulary_map;

use std::path::Path;

use miriam_storage::{Bytes, LoadMethod};
use miriam_textio::{Input, Lines};

use crate::vocabulary::Vocabulary;
use crate::{Error, Result};

pub use vocabulary_map::VocabularyMap;

/// Candidate counts are a multiple of this, as Marian's are.
const CANDIDATE_MULTIPLE: usize = 8;

/// How many candidates a text shortlist gives (`--shortlist path first best threshold`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShortlistOptions {
    /// The most frequent words, which every sentence gets: ids below this.
    pub first: usize,
    /// Translations of each source word, the most probable ones.
    pub best: usize,
    /// Only translations more probable than this.
    pub threshold: f32,
}

impl Default for ShortlistOptions {
    fn default() -> Self {
        ShortlistOptions { first: 100, best: 100, threshold: 0.0 }
    }
}

/// Translations of every source word, to choose candidates from.
#[derive(Clone, Debug, PartialEq)]
pub struct Shortlist {
    first: usize,
    /// Where the translations of each source word begin, and where the last ones end.
    offsets: Vec<u64>,
    /// Target ids, ascending within a source word.
    translations: Vec<u32>,
    /// Words of the target vocabulary.
    target_vocab_size: usize,
    /// Whether a source word is a target word too.
    is_shared: bool,
}

impl Shortlist {
    /// Reads the file at `path`, text or binary, told by its first bytes. `options` are
    /// for text; a binary file has its own.
    pub fn open(
        path: &Path,
        options: ShortlistOptions,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Result<Self> {
        // Text may be compressed or piped; a binary file is neither.
        if binary::is_binary(path) {
            let bytes = Bytes::open(path, LoadMethod::Lazy)?;
            return Self::from_bytes(&bytes, path, source, target);
        }
        Self::from_lines(Lines::new(Input::open(path)?), options, source, target)
    }

    /// The lines of a shortlist in text.
    ///
    /// # Errors
    /// With the line that is not two words and a probability.
    pub fn from_lines(
        lines: Lines,
        options: ShortlistOptions,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Result<Self> {
        text::read(lines, options, source, target)
    }

    /// A binary shortlist whose bytes are at hand; `path` stands for it in messages.
    pub fn from_bytes(
        bytes: &[u8],
        path: &Path,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Result<Self> {
        binary::read(bytes, path, source, target)
    }

    /// The translations of each source word in order, which are cut, sorted and put end
    /// to end.
    fn new(
        options: ShortlistOptions,
        mut lists: Vec<Vec<(f32, u32)>>,
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Self {
        let mut offsets = vec![0];
        let mut translations: Vec<u32> = Vec::new();
        for list in &mut lists {
            // Of a pair that is there twice the last line counts, as with Marian, where words
            // that are not there meet under one id.
            list.reverse();
            list.sort_by_key(|(_, id)| *id);
            list.dedup_by_key(|(_, id)| *id);
            // Of equally probable ones the greater ids stay, as with Marian.
            list.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            list.truncate(options.best);
            let begin = translations.len();
            translations.extend(list.iter().map(|(_, id)| id));
            translations[begin..].sort_unstable();
            offsets.push(translations.len() as u64);
        }
        Shortlist {
            first: options.first.min(target.len()),
            offsets,
            translations,
            target_vocab_size: target.len(),
            is_shared: source.has_same_words(target),
        }
    }

    /// A shortlist of a model file of ours, if its parts fit together.
    pub(crate) fn from_parts(
        first: usize,
        offsets: &[u64],
        translations: &[u32],
        source: &Vocabulary,
        target: &Vocabulary,
    ) -> Option<Self> {
        let fits = offsets.len() == source.len() + 1
            && offsets.is_sorted()
            && offsets.first() == Some(&0)
            && offsets.last() == Some(&(translations.len() as u64))
            && translations.iter().all(|&id| (id as usize) < target.len());
        fits.then(|| Shortlist {
            first: first.min(target.len()),
            offsets: offsets.to_vec(),
            translations: translations.to_vec(),
            target_vocab_size: target.len(),
            is_shared: source.has_same_words(target),
        })
    }

    /// Where the translations of each source word begin, and all of them end to end.
    pub(crate) fn as_parts(&self) -> (&[u64], &[u32]) {
        (&self.offsets, &self.translations)
    }

    /// Writes the candidates of a sentence, ascending and distinct, to `candidates`: the
    /// frequent words, the translations of its words, the words themselves where both
    /// sides share a vocabulary, and further ids up to a multiple of 8.
    pub fn candidates(&self, sentence: &[u32], candidates: &mut Vec<u32>) {
        candidates.clear();
        candidates.extend(0..self.first as u32);
        for &word in sentence {
            candidates.extend_from_slice(self.translations_of(word));
            if self.is_shared && (word as usize) < self.target_vocab_size {
                candidates.push(word);
            }
        }
        candidates.sort_unstable();
        candidates.dedup();
        pad_candidates(candidates, self.first as u32, self.target_vocab_size);
    }

    /// The translations of a source word; none of one that is not there.
    pub fn translations_of(&self, word: u32) -> &[u32] {
        let word = word as usize;
        match (self.offsets.get(word), self.offsets.get(word + 1)) {
            (Some(&start), Some(&end)) => &self.translations[start as usize..end as usize],
            _ => &[],
        }
    }

    /// How many of the most frequent words every sentence gets.
    pub fn first(&self) -> usize {
        self.first
    }

    /// How many translations there are in all.
    pub fn len(&self) -> usize {
        self.translations.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.translations.is_empty()
    }
}

/// Adds the smallest ids from `from` on that are not there until the count is a multiple
/// of 8 or there are no more.
fn pad_candidates(candidates: &mut Vec<u32>, from: u32, words: usize) {
    let wanted = candidates.len().next_multiple_of(CANDIDATE_MULTIPLE).min(words);
    let before = candidates.len();
    let mut id = from;
    while candidates.len() < wanted && (id as usize) < words {
        if candidates[..before].binary_search(&id).is_err() {
            candidates.push(id);
        }
        id += 1;
    }
    candidates.sort_unstable();
}

/// A shortlist whose ids are those of another vocabulary.
fn vocabulary_mismatch(path: &Path, reason: String) -> Error {
    Error::mismatch(path, "shortlist", reason)
}

#[cfg(test)]
mod tests;
