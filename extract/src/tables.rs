//! Entries as lines of Moses' phrase table and reordering table.

use miriam_textio::number::push_general_f32;

use crate::discount::{Counts, Discount};
use crate::merge::{Batch, Source};
use crate::partition::Entry;
use crate::reordering::{MAX_CLASSES, ReorderingModel};
use crate::words::Words;

/// Counts of orientations below this are common, and their scores kept as text.
const COMMON: u32 = 8;

/// Writes entries as text; a thread has its own.
pub(crate) struct Printer<'a> {
    words: &'a [Words; 2],
    discount: &'a Discount,
    reordering: Option<(ReorderingModel, f64)>,
    /// Scores of common counts, by the counts' bits.
    common: Vec<Vec<u8>>,
}

/// The text of a batch.
#[derive(Default)]
pub(crate) struct Text {
    /// How many phrase pairs and source phrases the tables hold.
    pub entries: u64,
    pub sources: u64,
    pub phrases: Vec<u8>,
    pub reordering: Vec<u8>,
}

impl<'a> Printer<'a> {
    /// With the smoothing of the reordering model beside it.
    pub fn new(
        words: &'a [Words; 2],
        discount: &'a Discount,
        reordering: Option<(ReorderingModel, f64)>,
    ) -> Self {
        let common = vec![Vec::new(); COMMON.pow(MAX_CLASSES as u32) as usize];
        Printer { words, discount, reordering, common }
    }

    /// The lines of `batch`.
    pub fn print(&mut self, batch: &Batch) -> Text {
        let mut text = Text::default();
        // Of one source phrase: entries to come, entries printed, orientations.
        let (mut left, mut printed) = (0, 0);
        let mut counts = [[0; MAX_CLASSES]; 2];
        batch.entries(|source, entry| {
            if !entry.pruned {
                self.phrase_pair(source, entry, &mut text.phrases);
                printed += 1;
            }
            let line = &mut text.reordering;
            match self.reordering {
                Some((model, smoothing)) if model.of_pairs && !entry.pruned => {
                    self.phrase(0, entry.source, line);
                    line.extend_from_slice(b"||| ");
                    self.phrase(1, entry.target, line);
                    line.extend_from_slice(b"|||");
                    self.scores(&model, smoothing, &entry.orientations, line);
                }
                _ => {
                    let own = entry.orientations.iter().flatten();
                    counts.iter_mut().flatten().zip(own).for_each(|(sum, own)| *sum += own);
                }
            }
            left = if left == 0 { source.distinct } else { left } - 1;
            if left > 0 {
                return;
            }
            let (counts, printed) = (std::mem::take(&mut counts), std::mem::take(&mut printed));
            text.entries += printed;
            text.sources += u64::from(printed > 0);
            if let Some((model, smoothing)) = self.reordering
                && !model.of_pairs
                && printed > 0
            {
                self.phrase(0, entry.source, line);
                line.extend_from_slice(b"|||");
                self.scores(&model, smoothing, &counts, line);
            }
        });
        text
    }

    /// The words of a phrase, a space behind each.
    fn phrase(&self, side: usize, phrase: &[u32], line: &mut Vec<u8>) {
        for &word in phrase {
            line.extend_from_slice(self.words[side].word(word));
            line.push(b' ');
        }
    }

    fn phrase_pair(&self, source: &Source, entry: &Entry<'_>, line: &mut Vec<u8>) {
        self.phrase(0, entry.source, line);
        line.extend_from_slice(b"||| ");
        self.phrase(1, entry.target, line);
        line.extend_from_slice(b"||| ");
        let counts = Counts {
            pair: as_printed(entry.count.into()),
            source: as_printed(source.count),
            target: as_printed(entry.target_count),
            source_distinct: source.distinct as f32,
            target_distinct: entry.target_distinct as f32,
        };
        let [inverse, direct] = self.discount.probabilities(counts);
        let [inverse_lexical, direct_lexical] = entry.lexical;
        for score in [inverse, inverse_lexical, direct, direct_lexical] {
            push_general_f32(line, score);
            line.push(b' ');
        }
        line.extend_from_slice(b"||| ");
        for link in entry.links {
            push_number(line, link.source);
            line.push(b'-');
            push_number(line, link.target);
            line.push(b' ');
        }
        line.extend_from_slice(b"|||");
        for count in [counts.target, counts.source, counts.pair] {
            line.push(b' ');
            push_general_f32(line, count);
        }
        line.extend_from_slice(b" ||| |||\n");
    }

    fn scores(
        &mut self,
        model: &ReorderingModel,
        smoothing: f64,
        counts: &[[u32; MAX_CLASSES]; 2],
        line: &mut Vec<u8>,
    ) {
        for (direction, wanted) in [model.backward, model.forward].into_iter().enumerate() {
            if !wanted {
                continue;
            }
            let counts = &counts[direction];
            if counts.iter().any(|&count| count >= COMMON) {
                model.push_scores(counts, smoothing, line);
                continue;
            }
            let place = counts.iter().fold(0, |place, &count| place * COMMON + count) as usize;
            if self.common[place].is_empty() {
                let mut text = Vec::new();
                model.push_scores(counts, smoothing, &mut text);
                self.common[place] = text;
            }
            line.extend_from_slice(&self.common[place]);
        }
        line.push(b'\n');
    }
}

/// A count as Moses' tools hand it on, in text of six significant digits.
fn as_printed(count: u64) -> f32 {
    if count < 1_000_000 {
        return count as f32;
    }
    let mut text = Vec::new();
    push_general_f32(&mut text, count as f32);
    miriam_textio::number::parse_f32_through_f64(&text).expect("was printed as a number")
}

/// Appends a small number in decimals.
fn push_number(line: &mut Vec<u8>, number: u32) {
    if number >= 10 {
        push_number(line, number / 10);
    }
    line.push(b'0' + (number % 10) as u8);
}
