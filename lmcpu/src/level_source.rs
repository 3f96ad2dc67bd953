//! Model files as lists of n-grams.
//!
//! In every kind of file, an order follows from the previous order: an n-gram is its suffix, which
//! is one of the shorter n-grams, with one more word in front. A [`LevelReader`] gives the suffix
//! and the word; this module joins the words of the n-grams.

use std::ops::Range;
use std::path::Path;

use miriam_storage::Container;
use miriam_storage::parallel;
use miriam_textio::{Vocabulary, WordId};

use crate::arpa::{Section, Unigram};
use crate::{Error, NgramSource, Result};

/// The number of n-grams that one task lists.
pub(crate) const CHUNK: usize = 1 << 13;

/// A kind of file that can list the n-grams of an order.
pub trait LevelReader: Send {
    /// Returns the n-grams of `order`, from 2; called once for each order, in ascending order.
    ///
    /// # Errors
    ///
    /// If the file is damaged.
    fn read_level(&mut self, order: usize) -> Result<LevelNgrams>;
}

/// The n-grams of one order in the order of their words, newest first.
pub struct LevelNgrams {
    /// log10 p.
    pub log10: Vec<f32>,
    /// log10 of the backoff; empty for the longest.
    pub backoffs: Vec<f32>,
    /// The oldest word of each.
    pub oldest: Vec<u32>,
    /// For each n-gram of the previous order, the start of the n-grams whose suffix it is; then the
    /// end of the last ones. Values never fall, from 0 to the number of n-grams.
    pub offsets: Vec<usize>,
    /// Whether each n-gram belongs to the model and is not a blank; empty if there are no blanks.
    pub keep: Vec<bool>,
}

/// The n-grams of a model file.
pub struct LevelSource<R> {
    name: String,
    /// The number of n-grams of each order, from 1, without blanks.
    counts: Vec<u64>,
    vocabulary: Vocabulary,
    unigrams: Vec<Unigram>,
    has_unknown: bool,
    levels: R,
    next_order: usize,
    /// The words of the n-grams of the previous order, blanks included, oldest first.
    words: Vec<u32>,
}

impl<R: LevelReader> LevelSource<R> {
    /// Creates a source of `unigrams` and of the longer n-grams that `levels` reads.
    pub fn new(
        name: String,
        counts: Vec<u64>,
        vocabulary: Vocabulary,
        unigrams: Vec<Unigram>,
        has_unknown: bool,
        levels: R,
    ) -> Self {
        let words = (0..unigrams.len() as u32).collect();
        let next_order = 2;
        LevelSource { name, counts, vocabulary, unigrams, has_unknown, levels, next_order, words }
    }
}

impl<R: LevelReader> NgramSource for LevelSource<R> {
    fn name(&self) -> &str {
        &self.name
    }

    fn counts(&self) -> &[u64] {
        &self.counts
    }

    fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    fn unigrams(&self) -> &[Unigram] {
        &self.unigrams
    }

    fn has_unknown(&self) -> bool {
        self.has_unknown
    }

    fn next_section(&mut self) -> Result<Option<Section>> {
        let order = self.next_order;
        if order > self.counts.len() {
            return Ok(None);
        }
        self.next_order += 1;
        let level = self.levels.read_level(order)?;
        let words = prepend_oldest(&self.words, order, &level);
        if order < self.counts.len() {
            self.words.clone_from(&words);
        } else {
            self.words = Vec::new();
        }
        let mut section = Section::default();
        section.order = order;
        section.words = words;
        section.log10 = level.log10;
        section.backoffs = level.backoffs;
        if !level.keep.is_empty() {
            section.retain(&level.keep);
        }
        Ok(Some(section))
    }

    fn ngram_error(&self, section: &Section, index: usize, reason: String) -> Error {
        let ngram = join_words(&self.vocabulary, section.ngram(index));
        let (place, reason) =
            (format!("{}-grams", section.order), format!("\"{ngram}\": {reason}"));
        miriam_storage::Error::damaged(Path::new(&self.name), &place, reason).into()
    }
}

/// Returns the words with these ids, separated by spaces.
pub(crate) fn join_words(vocabulary: &Vocabulary, ids: &[u32]) -> String {
    let words: Vec<_> =
        ids.iter().map(|&id| String::from_utf8_lossy(vocabulary.word(WordId(id)))).collect();
    words.join(" ")
}

/// Reads the `count` words of one of Miriam's files, which must be distinct.
///
/// # Errors
///
/// If a word is listed twice or words are missing.
pub fn read_vocabulary<'w>(
    container: &Container,
    words: impl Iterator<Item = &'w [u8]>,
    count: usize,
) -> Result<Vocabulary> {
    let mut vocabulary = Vocabulary::new();
    for (id, word) in words.enumerate() {
        if vocabulary.intern(word).index() != id {
            return Err(container.damaged("words.bytes", "a word is listed twice").into());
        }
    }
    if vocabulary.len() != count {
        return Err(container.damaged("words.offsets", "words are missing").into());
    }
    Ok(vocabulary)
}

/// Computes [`LevelNgrams::keep`] for n-grams that `numbers` identify. `blanks` identify the blanks
/// among them, in ascending order.
pub fn keep_flags<T: Ord>(blanks: &[T], numbers: impl Iterator<Item = T>) -> Vec<bool> {
    if blanks.is_empty() {
        return Vec::new();
    }
    numbers.map(|number| blanks.binary_search(&number).is_err()).collect()
}

/// Computes where the items with each of `count` keys begin, and where the last end; `keys` are in
/// ascending order.
pub fn offsets_by_key(count: usize, keys: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0; count + 1];
    for key in keys {
        offsets[key + 1] += 1;
    }
    for i in 0..count {
        offsets[i + 1] += offsets[i];
    }
    offsets
}

/// Returns the words of all n-grams of `level`, oldest first; `suffixes` holds the words of the
/// n-grams that are one word shorter.
fn prepend_oldest(suffixes: &[u32], order: usize, level: &LevelNgrams) -> Vec<u32> {
    let mut words = vec![0; level.oldest.len() * order];
    let suffix_count = level.offsets.len() - 1;
    let mut tasks = Vec::new();
    let mut rest = &mut words[..];
    for first in (0..suffix_count).step_by(CHUNK) {
        let last = (first + CHUNK).min(suffix_count);
        let length = (level.offsets[last] - level.offsets[first]) * order;
        let (out, after) = rest.split_at_mut(length);
        rest = after;
        tasks.push((first..last, out));
    }
    parallel::for_each_item(tasks, &|_, (range, out): (Range<usize>, &mut [u32])| {
        let mut ngrams = out.chunks_exact_mut(order);
        for suffix in range {
            let words = &suffixes[suffix * (order - 1)..(suffix + 1) * (order - 1)];
            for &oldest in &level.oldest[level.offsets[suffix]..level.offsets[suffix + 1]] {
                let Some(ngram) = ngrams.next() else { return };
                ngram[0] = oldest;
                ngram[1..].copy_from_slice(words);
            }
        }
    });
    words
}
