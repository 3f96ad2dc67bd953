//! Formatting of phrase pairs as lines of Moses' phrase table and reordering table.

use std::ops::Range;

use miriam_textio::number::{push_general_f32, push_integer};

use crate::ExtractOptions;
use crate::discount::{Discount, PhrasePairCounts};
use crate::merge::{PhrasePairBatch, SourceCounts};
use crate::phrase_pair::PhrasePair;
use crate::ranked_vocabulary::RankedVocabulary;
use crate::reordering::{MAX_CLASSES, ReorderingType};

/// The scores of orientation counts below this number are cached as text.
const CACHED_COUNTS: u32 = 8;

/// A formatter of phrase pairs; each thread has its own.
pub(crate) struct TableFormatter<'a> {
    words: &'a [RankedVocabulary; 2],
    discount: &'a Discount,
    options: &'a ExtractOptions,
    reordering: Option<(ReorderingType, f64)>,
    /// The scores of common orientation counts as text, indexed by the packed counts.
    score_cache: Vec<Vec<u8>>,
    /// The lines of the current batch.
    text: TableText,
    /// The current source phrase as text.
    source_text: Vec<u8>,
}

/// The text of a batch.
#[derive(Default)]
pub(crate) struct TableText {
    /// The number of phrase pairs.
    pub entries: u64,
    /// The number of source phrases.
    pub sources: u64,
    pub phrases: Vec<u8>,
    pub reordering: Vec<u8>,
}

impl TableText {
    fn clear(&mut self) {
        (self.entries, self.sources) = (0, 0);
        self.phrases.clear();
        self.reordering.clear();
    }
}

impl<'a> TableFormatter<'a> {
    /// Creates a formatter; `options` have the thresholds of phrase pairs, and `reordering` is a
    /// reordering model with its smoothing.
    pub fn new(
        words: &'a [RankedVocabulary; 2],
        discount: &'a Discount,
        options: &'a ExtractOptions,
        reordering: Option<(ReorderingType, f64)>,
    ) -> Self {
        let score_cache = vec![Vec::new(); CACHED_COUNTS.pow(MAX_CLASSES as u32) as usize];
        TableFormatter {
            words,
            discount,
            options,
            reordering,
            score_cache,
            text: TableText::default(),
            source_text: Vec::new(),
        }
    }

    /// Formats the lines of `batch`.
    pub fn format_batch(&mut self, batch: &PhrasePairBatch) -> &TableText {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        // The numbers of remaining and of printed phrase pairs of the current source phrase, and
        // its orientation counts.
        let (mut left, mut printed) = (0, 0);
        let mut counts = [[0; MAX_CLASSES]; 2];
        batch.for_each_pair(|source, entry| {
            if left == 0 {
                left = source.distinct_targets;
                self.source_text.clear();
                push_phrase(&self.words[0], entry.source, &mut self.source_text);
            }
            let line = &mut text.reordering;
            let mut has_own_line = false;
            if !entry.is_pruned
                && let Some(phrases) = self.push_phrase_pair(source, entry, &mut text.phrases)
            {
                printed += 1;
                if let Some((model, smoothing)) = self.reordering
                    && model.conditions_on_target
                {
                    has_own_line = true;
                    line.extend_from_slice(&text.phrases[phrases]);
                    self.push_reordering_scores(&model, smoothing, &entry.orientations, line);
                }
            }
            if !has_own_line {
                let orientations = entry.orientations.iter().flatten();
                counts
                    .iter_mut()
                    .flatten()
                    .zip(orientations)
                    .for_each(|(sum, orientations)| *sum += orientations);
            }
            left -= 1;
            if left > 0 {
                return;
            }
            let (counts, printed) = (std::mem::take(&mut counts), std::mem::take(&mut printed));
            text.entries += printed;
            text.sources += u64::from(printed > 0);
            if let Some((model, smoothing)) = self.reordering
                && !model.conditions_on_target
                && printed > 0
            {
                line.extend_from_slice(&self.source_text);
                line.extend_from_slice(b"|||");
                self.push_reordering_scores(&model, smoothing, &counts, line);
            }
        });
        self.text = text;
        &self.text
    }

    /// Appends a line of the phrase table and returns the range of its phrases with separators.
    /// Returns `None` for a phrase pair below a threshold.
    fn push_phrase_pair(
        &self,
        source: &SourceCounts,
        entry: &PhrasePair<'_>,
        line: &mut Vec<u8>,
    ) -> Option<Range<usize>> {
        let counts = PhrasePairCounts {
            pair: round_as_printed(entry.count.into()),
            source: round_as_printed(source.count),
            target: round_as_printed(entry.target_count),
            source_distinct: source.distinct_targets as f32,
            target_distinct: entry.distinct_sources as f32,
        };
        let probabilities = self.discount.probabilities(counts);
        if entry.count < self.options.min_count
            || !self.options.min_probabilities.admit(probabilities)
        {
            return None;
        }
        let start = line.len();
        line.extend_from_slice(&self.source_text);
        line.extend_from_slice(b"||| ");
        push_phrase(&self.words[1], entry.target, line);
        line.extend_from_slice(b"|||");
        let phrases = start..line.len();
        line.push(b' ');
        let [inverse, direct] = probabilities;
        let [inverse_lexical, direct_lexical] = entry.lexical_weights;
        for score in [inverse, inverse_lexical, direct, direct_lexical] {
            push_general_f32(line, score);
            line.push(b' ');
        }
        line.extend_from_slice(b"||| ");
        for link in entry.links {
            if link.source < 10 && link.target < 10 {
                let [source, target] = [link.source, link.target].map(|at| b'0' + at as u8);
                line.extend_from_slice(&[source, b'-', target, b' ']);
                continue;
            }
            push_integer(line, link.source);
            line.push(b'-');
            push_integer(line, link.target);
            line.push(b' ');
        }
        line.extend_from_slice(b"|||");
        for count in [counts.target, counts.source, counts.pair] {
            line.push(b' ');
            push_general_f32(line, count);
        }
        line.extend_from_slice(b" ||| |||\n");
        Some(phrases)
    }

    fn push_reordering_scores(
        &mut self,
        model: &ReorderingType,
        smoothing: f64,
        counts: &[[u32; MAX_CLASSES]; 2],
        line: &mut Vec<u8>,
    ) {
        for (direction, wanted) in [model.backward, model.forward].into_iter().enumerate() {
            if !wanted {
                continue;
            }
            let counts = &counts[direction];
            if counts.iter().any(|&count| count >= CACHED_COUNTS) {
                model.push_scores(counts, smoothing, line);
                continue;
            }
            let index =
                counts.iter().fold(0, |index, &count| index * CACHED_COUNTS + count) as usize;
            if self.score_cache[index].is_empty() {
                let mut text = Vec::new();
                model.push_scores(counts, smoothing, &mut text);
                self.score_cache[index] = text;
            }
            line.extend_from_slice(&self.score_cache[index]);
        }
        line.push(b'\n');
    }
}

/// Appends the words of a phrase, each followed by a space.
fn push_phrase(words: &RankedVocabulary, phrase: &[u32], line: &mut Vec<u8>) {
    for &word in phrase {
        line.extend_from_slice(words.word_and_space(word));
    }
}

/// Rounds a count to six significant digits, as Moses' tools do when they exchange it as text.
fn round_as_printed(count: u64) -> f32 {
    if count < 1_000_000 {
        return count as f32;
    }
    let mut text = Vec::new();
    push_general_f32(&mut text, count as f32);
    miriam_textio::number::parse_f32_via_f64(&text).expect("was printed as a number")
}
