//! Synthetic texts: walks through a model from the end of each sentence to its beginning.
//!
//! In this direction a reverse trie can be walked without a search. A child of `(w0, w1, w2, w3)`
//! is a preceding word, and the next step begins at the context of that child, which lacks w0.
//! There are no dead ends, because only n-grams that begin with `<s>` have no children.
//!
//! **Training-like.** Each step goes to a child of the longest n-gram at the current position. So
//! every word ends an n-gram of the highest order, except the first words of a sentence.
//!
//! **Held-out-like.** The longest n-gram that a word ends has n words if n - 1 consecutive steps
//! went to children of an n-gram that this word ends. Each step draws a depth d: the preceding word
//! becomes a child of the n-gram of d words and, if possible, not of a longer one. If a(d) is the
//! probability of a depth of at least d, and depths are independent, a word matches more than n
//! words with probability a(1) a(2) .. a(n). So the a(d) are the quotients of the shares measured
//! on held-out text (`ngram-lm.md` 4.5). They are calibrated on samples, because some words match
//! more words by chance.

use miriam_lmcpu::sorted::SortedModel;
use rayon::prelude::*;

use super::SplitMix64;
use crate::input::{lines, words};

/// The kind of a synthetic text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextKind {
    /// Resembles the training text: nearly every n-gram is known.
    Training,
    /// Resembles held-out text: most long n-grams are unknown.
    HeldOut,
}

/// Sentences as word ids, with `</s>` but without `<s>`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// The words of all sentences, concatenated.
    pub words: Vec<u32>,
    /// The end of each sentence in `words`.
    pub ends: Vec<usize>,
}

/// Measured on held-out text: element i is the share of words that match more than i + 1 words,
/// among those that match at least i + 1 words.
const HELD_OUT_SHARES: [f64; 4] = [0.814, 0.451 / 0.814, 0.189 / 0.451, 0.075 / 0.189];
/// The maximal number of words of a sentence.
const MAX_SENTENCE_WORDS: usize = 80;
/// The probability that a walk goes to `<s>` where it can.
const BOS_PROBABILITY: f32 = 0.1;
/// The mean number of words of a held-out-like sentence.
const MEAN_SENTENCE_WORDS: f32 = 21.0;
/// The number of words that one task samples.
const WORDS_PER_TASK: usize = 1 << 14;
/// The number of words of a calibration sample.
const CALIBRATION_WORDS: usize = 1 << 15;
/// The number of calibration samples.
const CALIBRATION_ROUNDS: usize = 4;

impl Text {
    /// Converts the lines of a text to sentences of word ids, each with `</s>` (`eos`).
    pub fn from_lines(text: &[u8], eos: u32, id: impl Fn(&[u8]) -> u32) -> Text {
        let mut ids = Text::default();
        for line in lines(text) {
            ids.words.extend(words(line).map(&id));
            ids.words.push(eos);
            ids.ends.push(ids.words.len());
        }
        ids
    }

    /// Samples a text of `words` words from `model`. The last sentence may be incomplete.
    pub fn sample(model: &SortedModel, kind: TextKind, words: usize, seed: u64) -> Text {
        let sampler = match kind {
            TextKind::Training => SentenceSampler::new(model, None),
            TextKind::HeldOut => SentenceSampler::held_out(model, seed),
        };
        sampler.sample_text(words, seed)
    }

    /// Counts the words whose longest n-gram in `model` has 1, 2, ... words.
    pub fn match_length_counts(&self, model: &SortedModel) -> Vec<u64> {
        let order = model.trie.levels.len();
        let mut counts = vec![0; order];
        for sentence in self.sentences() {
            for at in 0..sentence.len() {
                let left = sentence[..=at].iter().rev().copied();
                let ngram: Vec<u32> = left.chain([model.bos_id]).take(order).collect();
                counts[match_length(model, &ngram) - 1] += 1;
            }
        }
        counts
    }

    /// Returns the words of each sentence.
    pub fn sentences(&self) -> impl Iterator<Item = &[u32]> {
        self.starts().zip(&self.ends).map(|(start, &end)| &self.words[start..end])
    }

    /// Returns the start of each sentence in `words`.
    pub fn starts(&self) -> impl Iterator<Item = usize> {
        let ends = self.ends.iter().copied().take(self.ends.len().saturating_sub(1));
        std::iter::once(0).chain(ends).take(self.ends.len())
    }

    /// Returns a text of the sentences with these numbers.
    pub fn slice(&self, sentences: std::ops::Range<usize>) -> Text {
        let start = sentences.start.checked_sub(1).map_or(0, |before| self.ends[before]);
        let ends: Vec<usize> = self.ends[sentences].iter().map(|end| end - start).collect();
        let end = start + ends.last().copied().unwrap_or(0);
        Text { words: self.words[start..end].to_vec(), ends }
    }

    /// Returns this text, cut or repeated to `words` words. An empty text stays empty.
    pub fn resized(&self, words: usize) -> Text {
        let mut text = Text::default();
        while text.words.len() < words && !self.words.is_empty() {
            text.append(self, words);
        }
        text
    }

    /// Appends the words of `other`, at most until this text has `words` words.
    pub fn append(&mut self, other: &Text, words: usize) {
        let start = self.words.len();
        let taken = other.words.len().min(words.saturating_sub(start));
        if taken == 0 {
            return;
        }
        self.words.extend_from_slice(&other.words[..taken]);
        for &end in &other.ends {
            self.ends.push(start + end.min(taken));
            if end >= taken {
                break;
            }
        }
    }
}

/// Returns the number of words of the longest n-gram of the model that is a prefix of `ngram`
/// (newest word first); at least 1.
fn match_length(model: &SortedModel, ngram: &[u32]) -> usize {
    let mut at = ngram[0];
    for (order, &word) in ngram.iter().enumerate().skip(1) {
        match model.trie.child(order, at, word) {
            Some(next) => at = next,
            None => return order,
        }
    }
    ngram.len()
}

/// A sampler of sentences.
struct SentenceSampler<'m> {
    model: &'m SortedModel,
    /// The probability of a depth of at least 1, 2, ...; `None` if the depth is always maximal.
    depth_probabilities: Option<Vec<f64>>,
    /// The cumulative probabilities of the unigrams, by word id.
    cumulative_unigrams: Vec<f64>,
}

impl<'m> SentenceSampler<'m> {
    fn new(model: &'m SortedModel, depth_probabilities: Option<Vec<f64>>) -> Self {
        let mut sum = 0.0;
        let cumulative = model.trie.levels[0].log10.iter().map(|&log10| {
            sum += 10f64.powf(f64::from(log10));
            sum
        });
        SentenceSampler { model, depth_probabilities, cumulative_unigrams: cumulative.collect() }
    }

    /// Returns a sampler for held-out-like text, with calibrated depths.
    fn held_out(model: &'m SortedModel, seed: u64) -> Self {
        // Higher orders than were measured have the last measured share.
        fn goal(depth: usize) -> f64 {
            HELD_OUT_SHARES[depth.min(HELD_OUT_SHARES.len() - 1)]
        }
        let goals: Vec<f64> = (0..model.trie.levels.len() - 1).map(goal).collect();
        let mut sampler = SentenceSampler::new(model, Some(goals.clone()));
        for _ in 0..CALIBRATION_ROUNDS {
            let matches = sampler.sample_text(CALIBRATION_WORDS, !seed).match_length_counts(model);
            fn matches_beyond(depth: usize, matches: &[u64]) -> f64 {
                matches[depth..].iter().sum::<u64>() as f64
            }
            let depths = sampler.depth_probabilities.iter_mut().flatten();
            for ((depth, goal), probability) in (0..).zip(&goals).zip(depths) {
                let reached =
                    matches_beyond(depth + 1, &matches) / matches_beyond(depth, &matches).max(1.0);
                // By chance, some of the steps of smaller depth also lead to longer matches.
                let chance =
                    ((reached - *probability) / (1.0 - *probability).max(1e-9)).clamp(0.0, 0.95);
                *probability = ((goal - chance) / (1.0 - chance)).clamp(0.0, 1.0);
            }
        }
        sampler
    }

    fn sample_text(&self, words: usize, seed: u64) -> Text {
        let parts: Vec<Text> = (0..words.div_ceil(WORDS_PER_TASK))
            .into_par_iter()
            .map(|part| {
                let mut random = SplitMix64::at_position(seed, 2, part as u64);
                let mut text = Text::default();
                while text.words.len() < WORDS_PER_TASK {
                    let start = text.words.len();
                    match &self.depth_probabilities {
                        None => self.sample_known(&mut random, &mut text.words),
                        Some(depths) => self.sample_novel(depths, &mut random, &mut text.words),
                    }
                    text.words[start..].reverse();
                    text.ends.push(text.words.len());
                }
                text
            })
            .collect();
        let mut text = Text::default();
        for part in &parts {
            if text.words.len() < words {
                text.append(part, words);
            }
        }
        text
    }

    /// Appends a sentence whose n-grams are in the model, last word first.
    fn sample_known(&self, random: &mut SplitMix64, words: &mut Vec<u32>) {
        let levels = &self.model.trie.levels;
        let (mut at, mut order) = (self.model.eos_id, 1);
        for _ in 0..MAX_SENTENCE_WORDS {
            words.push(levels[order - 1].words[at as usize]);
            let range = levels[order - 1].children_of(at);
            if range.is_empty() {
                return;
            }
            let has_bos = levels[order].words[range.end - 1] == self.model.bos_id;
            if has_bos && (range.len() == 1 || random.next_f32() < BOS_PROBABILITY) {
                return;
            }
            // The children of long n-grams are about equally frequent; those of short ones follow
            // Zipf's law.
            let others = range.len() - usize::from(has_bos);
            let next = match order {
                1 | 2 => below_zipf(random, others),
                _ => random.below(others as u64) as usize,
            };
            let next = (range.start + next) as u32;
            (at, order) = if order + 1 == levels.len() {
                // The next step begins at the context of the child.
                (levels[order].contexts[next as usize], order)
            } else {
                (next, order + 1)
            };
        }
    }

    /// Appends a sentence whose match lengths follow the depth probabilities `depths`, last word
    /// first.
    fn sample_novel(&self, depths: &[f64], random: &mut SplitMix64, words: &mut Vec<u32>) {
        let start = words.len();
        words.push(self.model.eos_id);
        while words.len() - start < MAX_SENTENCE_WORDS
            && random.next_f32() * MEAN_SENTENCE_WORDS >= 1.0
        {
            // The n-grams at the current position with one, two, ... words.
            let known = (1..=depths.len().min(words.len() - start))
                .map_while(|length| self.model.trie.node(&words[words.len() - length..]));
            let known: Vec<u32> = known.collect();
            let u = f64::from(random.next_f32());
            let depth = depths[..known.len()].iter().take_while(|&&share| u < share).count();
            words.push(self.sample_older_word(&known, depth, random));
        }
    }

    /// Returns a preceding word: a child of the n-gram of `depth` words in `known`, or of a shorter
    /// one if that has no child except `<s>`. If all of them have none, the word is any word.
    fn sample_older_word(&self, known: &[u32], depth: usize, random: &mut SplitMix64) -> u32 {
        let mut word = 0;
        // Another word is drawn if this one matches more words by chance.
        for _ in 0..4 {
            let choices = (1..=depth).rev().find_map(|depth| {
                let range = self.model.trie.levels[depth - 1].children_of(known[depth - 1]);
                let words = &self.model.trie.levels[depth].words[range];
                let words = words.strip_suffix(&[self.model.bos_id]).unwrap_or(words);
                (!words.is_empty()).then_some(words)
            });
            word = match choices {
                Some(words) => words[below_zipf(random, words.len())],
                None => self.sample_word(random),
            };
            let longer = known.get(depth);
            if longer.is_none_or(|&at| self.model.trie.child(depth + 1, at, word).is_none()) {
                break;
            }
        }
        word
    }

    /// Samples a word by its unigram probability; it is not `<unk>`, `<s>` or `</s>` unless the
    /// model has hardly any other words.
    fn sample_word(&self, random: &mut SplitMix64) -> u32 {
        let total = self.cumulative_unigrams.last().copied().unwrap_or(0.0);
        // The number of tries is bounded, because a model may have hardly any words.
        let mut word = 0;
        for _ in 0..64 {
            let sum = total * f64::from(random.next_f32());
            word = self.cumulative_unigrams.partition_point(|&before| before <= sum) as u32;
            word = word.min(self.cumulative_unigrams.len() as u32 - 1);
            if ![0, self.model.bos_id, self.model.eos_id].contains(&word) {
                break;
            }
        }
        word
    }
}

/// Returns a random index below `bound`. Index i has a probability proportional to about
/// 1 / (i + 1), like words sorted by frequency according to Zipf's law.
fn below_zipf(random: &mut SplitMix64, bound: usize) -> usize {
    let rank = ((bound + 1) as f32).powf(random.next_f32()) as usize;
    rank.saturating_sub(1).min(bound - 1)
}
