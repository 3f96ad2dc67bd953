//! Parallel text as word ids.
//!
//! A sentence is stored as its distinct words and, for each position, the index of its word among
//! them. So values that depend only on words, such as translation probabilities and counts, are
//! looked up once for each pair of distinct words, even if a word occurs five times in a sentence.
//! And training, which passes over the text several times, finds repeated words only once.

use std::borrow::Cow;
use std::path::Path;

use miriam_storage::parallel;
use miriam_textio::fields::split_words;
use miriam_textio::{Input, Lines, Progress, ProgressTask, Vocabulary};

use crate::Result;

/// The length of the longest sentence that is aligned, in words. A longer line is rarely one
/// sentence, and the time for a pair grows with the product of the lengths of its sides.
pub const MAX_SENTENCE_WORDS: usize = 1000;

/// One language of a parallel text.
#[derive(Default)]
pub(crate) struct CorpusSide {
    /// The name of the file in messages.
    pub name: String,
    pub vocabulary: Vocabulary,
    /// The distinct words of each sentence, in the order of their first positions.
    words: Vec<u32>,
    /// The end of each sentence in `words`.
    word_ends: Vec<usize>,
    /// For each position the index of its word among the sentence's distinct words.
    word_indices: Vec<u16>,
    /// The end of each sentence in `word_indices`.
    index_ends: Vec<usize>,
    /// Indices of lines of more than [`MAX_SENTENCE_WORDS`] words, which are stored as empty lines.
    too_long_lines: Vec<usize>,
}

/// A sentence of one language.
#[derive(Clone, Copy)]
pub(crate) struct EncodedSentence<'a> {
    /// Its distinct words.
    pub distinct_words: &'a [u32],
    /// For each position the index of its word in `distinct_words`.
    pub word_indices: &'a [u16],
}

impl CorpusSide {
    /// Reads a text and adds its words to `vocabulary`; `task` shows the number of bytes read.
    pub fn read(
        path: &Path,
        vocabulary: Vocabulary,
        task: Option<&ProgressTask<'_>>,
    ) -> Result<Self> {
        let mut side = CorpusSide { vocabulary, ..CorpusSide::default() };
        let input = Input::open(path)?;
        side.name = input.name().to_owned();
        let consumed = input.consumed();
        let mut lines = Lines::in_background(input);
        // For each word id, the number of the last sentence that has the word, from 1, and the
        // index of the word among that sentence's distinct words. As the number of the sentence is
        // stored, entries need not be cleared between sentences.
        let mut seen: Vec<(u32, u16)> = Vec::new();
        while let Some(line) = lines.next()? {
            side.push_line(line.bytes, &mut seen);
            if line.number.is_multiple_of(10_000)
                && let Some(task) = task
            {
                task.set_position(consumed.load(std::sync::atomic::Ordering::Relaxed));
            }
        }
        Ok(side)
    }

    fn push_line(&mut self, line: &[u8], seen: &mut Vec<(u32, u16)>) {
        let (first_word, first_place) = (self.words.len(), self.word_indices.len());
        let sentence = self.word_ends.len() as u32 + 1;
        for (position, word) in split_words(line).enumerate() {
            if position == MAX_SENTENCE_WORDS {
                self.words.truncate(first_word);
                self.word_indices.truncate(first_place);
                self.too_long_lines.push(self.word_ends.len());
                break;
            }
            let id = self.vocabulary.intern(word);
            if seen.len() <= id.index() {
                seen.resize(id.index() + 1, (0, 0));
            }
            let (last_sentence, index) = &mut seen[id.index()];
            if *last_sentence != sentence {
                (*last_sentence, *index) = (sentence, (self.words.len() - first_word) as u16);
                self.words.push(id.0);
            }
            self.word_indices.push(*index);
        }
        self.word_ends.push(self.words.len());
        self.index_ends.push(self.word_indices.len());
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.word_ends.len()
    }

    /// Returns the sentence on line `index`, from 0.
    pub fn sentence(&self, index: usize) -> EncodedSentence<'_> {
        fn between(ends: &[usize], index: usize) -> std::ops::Range<usize> {
            let start = if index == 0 { 0 } else { ends[index - 1] };
            start..ends[index]
        }
        EncodedSentence {
            distinct_words: &self.words[between(&self.word_ends, index)],
            word_indices: &self.word_indices[between(&self.index_ends, index)],
        }
    }

    /// Returns the number of bytes of the sentences, without the vocabulary.
    pub fn memory_bytes(&self) -> u64 {
        (self.words.len() * 4 + self.word_indices.len() * 2 + self.len() * 16) as u64
    }
}

/// A parallel text, line by line.
pub(crate) struct Bitext {
    pub source: CorpusSide,
    pub target: CorpusSide,
}

/// A sentence and its translation, neither of them empty.
#[derive(Clone, Copy)]
pub(crate) struct SentencePair<'a> {
    pub source: EncodedSentence<'a>,
    pub target: EncodedSentence<'a>,
}

impl Bitext {
    /// Returns the number of pairs with more than [`MAX_SENTENCE_WORDS`] words on a side.
    pub fn num_too_long_pairs(&self) -> u64 {
        let [source, target] = [&self.source.too_long_lines, &self.target.too_long_lines];
        let target_only = target.iter().filter(|line| source.binary_search(line).is_err());
        (source.len() + target_only.count()) as u64
    }

    /// Reads both files, which must have the same number of lines, and adds their words to
    /// the vocabularies.
    pub fn read(
        source: &Path,
        target: &Path,
        vocabularies: [Vocabulary; 2],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let [source_words, target_words] = vocabularies;
        let size = std::fs::metadata(source).ok().map(|file| file.len());
        let task = progress.task("reading", size);
        let (source, target) = parallel::join(
            || CorpusSide::read(source, source_words, Some(&task)),
            || CorpusSide::read(target, target_words, None),
        );
        drop(task);
        Self::new(source?, target?)
    }

    /// Reads a file that has both sides on each line; `split` cuts a line in two.
    pub fn read_joined(
        path: &Path,
        split: impl Fn(&[u8]) -> (&[u8], Cow<'_, [u8]>),
        progress: &dyn Progress,
    ) -> Result<Self> {
        let input = Input::open(path)?;
        let task = progress.task("reading", input.size());
        let name = input.name().to_owned();
        let consumed = input.consumed();
        let mut lines = Lines::in_background(input);
        let mut sides = [CorpusSide::default(), CorpusSide::default()];
        let mut seen = [Vec::new(), Vec::new()];
        while let Some(line) = lines.next()? {
            let (source, target) = split(line.bytes);
            sides[0].push_line(source, &mut seen[0]);
            sides[1].push_line(&target, &mut seen[1]);
            if line.number.is_multiple_of(10_000) {
                task.set_position(consumed.load(std::sync::atomic::Ordering::Relaxed));
            }
        }
        let [source, target] = sides.map(|side| CorpusSide { name: name.clone(), ..side });
        Ok(Bitext { source, target })
    }

    /// Joins two sides, which must have the same number of lines.
    pub fn new(source: CorpusSide, target: CorpusSide) -> Result<Self> {
        let lengths = [&source, &target].map(|side| (side.name.as_str(), side.len() as u64));
        miriam_textio::Error::check_line_counts(lengths)?;
        Ok(Bitext { source, target })
    }

    /// Returns the number of lines.
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// Returns the pair on line `index`, from 0; `None` if a side is empty or too long.
    pub fn pair(&self, index: usize) -> Option<SentencePair<'_>> {
        let (source, target) = (self.source.sentence(index), self.target.sentence(index));
        (!source.distinct_words.is_empty() && !target.distinct_words.is_empty())
            .then_some(SentencePair { source, target })
    }
}

impl SentencePair<'_> {
    /// Returns the number of distinct source words times the number of distinct target words.
    pub fn num_cells(&self) -> usize {
        self.source.distinct_words.len() * self.target.distinct_words.len()
    }
}

#[cfg(test)]
pub(crate) fn from_lines(pairs: &[(&str, &str)]) -> Bitext {
    let mut sides = [(CorpusSide::default(), Vec::new()), (CorpusSide::default(), Vec::new())];
    for &(source, target) in pairs {
        for ((side, seen), line) in sides.iter_mut().zip([source, target]) {
            side.push_line(line.as_bytes(), seen);
        }
    }
    let [(source, _), (target, _)] = sides;
    Bitext::new(source, target).expect("both sides have the same number of lines")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_distinct_words_and_indices() {
        let long = "a ".repeat(MAX_SENTENCE_WORDS + 1);
        let text = from_lines(&[("a b\ta  c", "x"), ("", "x"), (&long, "x"), ("c a", "y")]);
        let first = text.pair(0).expect("both sides have words").source;
        assert_eq!(
            (first.distinct_words, first.word_indices),
            (&[0, 1, 2][..], &[0u16, 1, 0, 2][..])
        );
        assert!(text.pair(1).is_none() && text.pair(2).is_none());
        assert_eq!(text.pair(3).expect("both sides have words").source.distinct_words, [2, 0]);
    }

    /// Of four pairs, one is too long on both sides, one only in the source, and one only in the
    /// target.
    #[test]
    fn a_pair_that_is_too_long_on_both_sides_counts_once() {
        let long = "a ".repeat(MAX_SENTENCE_WORDS + 1);
        let text = from_lines(&[(&long, &long), ("a", "x"), (&long, "x"), ("a", &long)]);
        assert_eq!(text.num_too_long_pairs(), 3);
    }
}
