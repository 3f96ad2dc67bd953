//! Sequences of words, scored on the CPU word by word or in batches.

use std::ops::Range;

use miriam_glm::device::PAD;
use miriam_lmcpu::{LanguageModel, LmWord, State};
use miriam_textio::Log10;
use rayon::prelude::*;

use crate::synthetic::Text;
use crate::workers::sum_over_threads;

/// Sequences of words to score: sentences, every word of which is a query, or n-grams, of which
/// only the last word is a query.
#[derive(Clone, Debug)]
pub struct Sequences {
    /// The state before the first word of each sequence.
    begin: State,
    /// The words of all sequences, concatenated.
    words: Vec<LmWord>,
    /// The end of each sequence in `words`.
    ends: Vec<usize>,
    /// Whether only the last word of each sequence is a query.
    last_word_only: bool,
}

/// The method of scoring sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScoringMode {
    /// One word at a time.
    Single,
    /// Many sequences, interleaved.
    Batch,
}

impl Sequences {
    /// Returns the sentences of `text`, each from the state `begin`.
    pub fn sentences(text: &Text, begin: State) -> Self {
        let words = text.words.iter().map(|&word| LmWord(word)).collect();
        Sequences { begin, words, ends: text.ends.clone(), last_word_only: false }
    }

    /// Returns n-grams of up to `order` words: `[n, order]`, newest word first, as
    /// `glm::queries::ngrams` returns them.
    pub fn ngrams(ngrams: &[u32], order: usize) -> Self {
        let (mut words, mut ends) = (Vec::with_capacity(ngrams.len()), Vec::new());
        for ngram in ngrams.chunks(order) {
            let known = ngram.iter().rev().filter(|&&word| word != PAD);
            words.extend(known.map(|&word| LmWord(word)));
            ends.push(words.len());
        }
        Sequences { begin: State::EMPTY, words, ends, last_word_only: true }
    }

    /// Returns the number of sequences.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no sequences.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the sequences of `range`.
    pub fn iter(&self, range: Range<usize>) -> impl Iterator<Item = &[LmWord]> {
        range.map(|at| &self.words[self.word_range(&(at..at + 1))])
    }

    /// Returns the number of queries in the sequences of `range`.
    pub fn num_queries(&self, range: Range<usize>) -> usize {
        if self.last_word_only { range.len() } else { self.word_range(&range).len() }
    }

    /// Returns the words up to query `at`, oldest first. For sentences these are the last 16 words,
    /// some of which may belong to a previous sentence.
    pub fn query_words(&self, at: usize) -> Vec<u32> {
        let end = if self.last_word_only { self.ends[at] } else { at + 1 };
        let start = if self.last_word_only {
            self.word_range(&(at..at + 1)).start
        } else {
            end.saturating_sub(16)
        };
        self.words[start..end].iter().map(|word| word.0).collect()
    }

    /// Divides the sequences into ranges of at least `queries` queries each, except the last.
    pub fn batches(&self, queries: usize) -> Vec<Range<usize>> {
        let mut batches = Vec::new();
        let mut first = 0;
        for last in 0..self.len() {
            if self.num_queries(first..last + 1) >= queries || last + 1 == self.len() {
                batches.push(first..last + 1);
                first = last + 1;
            }
        }
        batches
    }

    /// Returns the range in `words` of the sequences in `range`.
    fn word_range(&self, range: &Range<usize>) -> Range<usize> {
        let start = range.start.checked_sub(1).map_or(0, |before| self.ends[before]);
        start..range.end.checked_sub(1).map_or(0, |last| self.ends[last]).max(start)
    }

    /// Returns the log10 probability and the number of matched words of each query, computed on the
    /// threads of the current rayon pool.
    pub fn score(&self, model: &dyn LanguageModel, mode: ScoringMode) -> Vec<(Log10, u8)> {
        let parts = self.batches(1 << 14).into_par_iter().map(|range| {
            let mut scratch = ScoringScratch::default();
            let scores = scratch.score(model, self, range.clone(), mode);
            if !self.last_word_only {
                return scores.to_vec();
            }
            let start = self.word_range(&range).start;
            self.ends[range].iter().map(|end| scores[end - start - 1]).collect()
        });
        parts.collect::<Vec<Vec<(Log10, u8)>>>().concat()
    }

    /// Scores `batches` on `threads` threads and returns the sum of the log10 probabilities of all
    /// words. Its rounding errors depend on the scheduling of the threads.
    pub fn sum_scores(
        &self,
        model: &dyn LanguageModel,
        mode: ScoringMode,
        batches: &[Range<usize>],
        threads: usize,
    ) -> f64 {
        sum_over_threads(threads, batches.len(), || {
            let mut scratch = ScoringScratch::default();
            move |task| {
                let scores = scratch.score(model, self, batches[task].clone(), mode);
                scores.iter().map(|score| f64::from(score.0.0)).sum()
            }
        })
    }
}

/// The buffers of one scoring thread.
#[derive(Debug, Default)]
pub struct ScoringScratch {
    ends: Vec<usize>,
    scores: Vec<(Log10, u8)>,
}

impl ScoringScratch {
    /// Returns the log10 probability and the number of matched words of each word of the sequences
    /// in `range`.
    pub fn score(
        &mut self,
        model: &dyn LanguageModel,
        sequences: &Sequences,
        range: Range<usize>,
        mode: ScoringMode,
    ) -> &[(Log10, u8)] {
        let words = sequences.word_range(&range);
        let (start, words) = (words.start, &sequences.words[words]);
        self.ends.clear();
        self.ends.extend(sequences.ends[range].iter().map(|end| end - start));
        self.scores.clear();
        self.scores.resize(words.len(), (Log10(0.0), 0));
        match mode {
            ScoringMode::Batch => {
                model.score_sentences(&sequences.begin, words, &self.ends, &mut self.scores);
            }
            ScoringMode::Single => {
                let mut states = [State::EMPTY; 2];
                let [first, second] = &mut states;
                let (mut state, mut next) = (first, second);
                let mut start = 0;
                for &end in &self.ends {
                    state.copy_from(&sequences.begin);
                    for (&word, score) in words[start..end].iter().zip(&mut self.scores[start..end])
                    {
                        *score = model.score(state, word, next);
                        std::mem::swap(&mut state, &mut next);
                    }
                    start = end;
                }
            }
        }
        &self.scores
    }
}
