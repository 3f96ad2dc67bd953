//! Parallel text as numbers.
//!
//! A sentence is kept as its distinct words and, for each position, which of them
//! stands there. Whatever depends on words only (the translation probabilities of a
//! pair, its counts) is then fetched once a pair of distinct words, although laws
//! say "the" five times a sentence, and no pass needs a table as large as the
//! vocabulary to find repetitions again.

use std::path::Path;

use miriam_textio::{Input, Lines, Progress, Vocabulary};

use crate::{Error, Result};

/// Words in the longest sentence that is aligned. A longer line is no sentence, and
/// the work for a pair grows with the product of the lengths.
pub const MAX_SENTENCE_WORDS: usize = 1000;

/// One language of a parallel text.
#[derive(Default)]
pub(crate) struct CorpusSide {
    pub name: String,
    pub vocabulary: Vocabulary,
    /// The distinct words of each sentence, in the order of their first positions.
    words: Vec<u32>,
    word_ends: Vec<usize>,
    /// For each position the index of its word among the sentence's distinct words.
    word_indices: Vec<u16>,
    index_ends: Vec<usize>,
    /// Lines of more than [`MAX_WORDS`] words, kept as empty ones.
    pub too_long_lines: u64,
}

/// A sentence of one language.
#[derive(Clone, Copy)]
pub(crate) struct EncodedSentence<'a> {
    /// Its distinct words.
    pub distinct_words: &'a [u32],
    /// For each position the index of its word in `words`.
    pub word_indices: &'a [u16],
}

/// Words of a line: what stands between spaces and tabs.
pub(crate) fn split_words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(|&b| b == b' ' || b == b'\t').filter(|word| !word.is_empty())
}

impl CorpusSide {
    /// Reads a text whose words join `vocabulary`.
    pub fn read(path: &Path, vocabulary: Vocabulary, progress: &dyn Progress) -> Result<Self> {
        let mut side = CorpusSide { vocabulary, ..CorpusSide::default() };
        let input = Input::open(path)?;
        side.name = input.name().to_owned();
        let consumed = input.consumed();
        let mut lines = Lines::in_background(input);
        // Where a word stands in this sentence; the sentence is part of the value, so
        // that nothing need be cleared.
        let mut seen: Vec<(u32, u16)> = Vec::new();
        while let Some(line) = lines.next()? {
            side.push_line(line.bytes, &mut seen);
            if line.number.is_multiple_of(10_000) {
                progress.set_position(consumed.load(std::sync::atomic::Ordering::Relaxed));
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
                self.too_long_lines += 1;
                break;
            }
            let id = self.vocabulary.intern(word);
            if seen.len() <= id.index() {
                seen.resize(id.index() + 1, (0, 0));
            }
            let (when, place) = &mut seen[id.index()];
            if *when != sentence {
                (*when, *place) = (sentence, (self.words.len() - first_word) as u16);
                self.words.push(id.0);
            }
            self.word_indices.push(*place);
        }
        self.word_ends.push(self.words.len());
        self.index_ends.push(self.word_indices.len());
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.word_ends.len()
    }

    /// The sentence on line `index`, from 0.
    pub fn sentence(&self, index: usize) -> EncodedSentence<'_> {
        let between = |ends: &[usize]| {
            let start = if index == 0 { 0 } else { ends[index - 1] };
            start..ends[index]
        };
        EncodedSentence {
            distinct_words: &self.words[between(&self.word_ends)],
            word_indices: &self.word_indices[between(&self.index_ends)],
        }
    }

    /// Bytes of memory it takes.
    pub fn memory_bytes(&self) -> u64 {
        (self.words.len() * 4 + self.word_indices.len() * 2 + self.len() * 16) as u64
    }
}

/// A parallel text: line by line, one language is the translation of the other.
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
    /// Reads both files, which must have as many lines. New words join the
    /// vocabularies given.
    pub fn read(
        source: &Path,
        target: &Path,
        vocabularies: [Vocabulary; 2],
        progress: &dyn Progress,
    ) -> Result<Self> {
        let [source_words, target_words] = vocabularies;
        let size = std::fs::metadata(source).ok().map(|file| file.len());
        progress.begin("reading", size);
        let (source, target) = rayon::join(
            || CorpusSide::read(source, source_words, progress),
            || CorpusSide::read(target, target_words, &miriam_textio::NoProgress),
        );
        progress.end();
        Self::new(source?, target?)
    }

    /// Joins two sides.
    pub fn new(source: CorpusSide, target: CorpusSide) -> Result<Self> {
        if source.len() != target.len() {
            return Err(Error::LineCountMismatch {
                first: source.name,
                first_lines: source.word_ends.len() as u64,
                second: target.name,
                second_lines: target.word_ends.len() as u64,
            });
        }
        Ok(Bitext { source, target })
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        self.source.len()
    }

    /// The pair on line `index`, from 0; nothing where a side is empty.
    pub fn pair(&self, index: usize) -> Option<SentencePair<'_>> {
        let (source, target) = (self.source.sentence(index), self.target.sentence(index));
        (!source.distinct_words.is_empty() && !target.distinct_words.is_empty())
            .then_some(SentencePair { source, target })
    }
}

impl SentencePair<'_> {
    /// Pairs of distinct words.
    pub fn num_cells(&self) -> usize {
        self.source.distinct_words.len() * self.target.distinct_words.len()
    }
}

#[cfg(test)]
pub(crate) fn from_lines(pairs: &[(&str, &str)]) -> Bitext {
    let side = |pick: fn(&(&str, &str)) -> Vec<u8>| {
        let (mut side, mut seen) = (CorpusSide::default(), Vec::new());
        pairs.iter().for_each(|pair| side.push_line(&pick(pair), &mut seen));
        side
    };
    let source = side(|pair| pair.0.as_bytes().to_vec());
    let target = side(|pair| pair.1.as_bytes().to_vec());
    Bitext::new(source, target).expect("as many lines on both sides")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_is_its_distinct_words_and_where_they_stand() {
        let long = "a ".repeat(MAX_SENTENCE_WORDS + 1);
        let text = from_lines(&[("a b\ta  c", "x"), ("", "x"), (&long, "x"), ("c a", "y")]);
        let first = text.pair(0).expect("both sides have words").source;
        assert_eq!(
            (first.distinct_words, first.word_indices),
            (&[0, 1, 2][..], &[0u16, 1, 0, 2][..])
        );
        assert!(text.pair(1).is_none() && text.pair(2).is_none());
        assert_eq!(text.source.too_long_lines, 1);
        assert_eq!(text.pair(3).expect("both sides have words").source.distinct_words, [2, 0]);
    }
}
