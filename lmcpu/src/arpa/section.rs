//! The n-grams of one order as columns.
//!
//! A whole section takes much memory. So its columns are allocated at full size, as zero pages that
//! the system provides on first touch, and all threads fill them. Readers that need an n-gram only
//! once read the section in parts.

use miriam_storage::parallel;

use super::ParsedBlock;
use super::entry::{EntryFormat, ParsedEntries};

/// The n-grams of one order, from 2, in the order of the file.
#[derive(Default)]
pub struct Section {
    /// The length of its n-grams.
    pub order: usize,
    /// The ids of their words, `order` for each, in the order of the text.
    pub words: Vec<u32>,
    /// log10 p of each.
    pub log10: Vec<f32>,
    /// The log10 backoff of each, -0.0 if there is none. Empty for the
    /// longest n-grams.
    pub backoffs: Vec<f32>,
    lines: LineNumbers,
}

impl Section {
    /// Returns the number of n-grams.
    pub fn len(&self) -> usize {
        self.log10.len()
    }

    /// Whether there are no n-grams.
    pub fn is_empty(&self) -> bool {
        self.log10.is_empty()
    }

    /// Returns the ids of the words of the n-gram `index`, oldest first.
    #[inline(always)]
    pub fn ngram(&self, index: usize) -> &[u32] {
        &self.words[index * self.order..(index + 1) * self.order]
    }

    /// Adds the n-gram `index` of `other`, which has the same order.
    pub(crate) fn push_from(&mut self, other: &Section, index: usize) {
        self.order = other.order;
        if !other.lines.jumps.is_empty() {
            self.lines.record(self.len(), other.line(index));
        }
        self.words.extend_from_slice(other.ngram(index));
        self.log10.push(other.log10[index]);
        self.backoffs.extend(other.backoffs.get(index));
    }

    /// Drops the n-grams for which `keep` is false.
    pub(crate) fn retain(&mut self, keep: &[bool]) {
        let mut lines = LineNumbers::default();
        let mut kept = 0;
        for (index, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
            if !self.lines.jumps.is_empty() {
                lines.record(kept, self.lines.line(index));
            }
            self.words.copy_within(index * self.order..(index + 1) * self.order, kept * self.order);
            self.log10[kept] = self.log10[index];
            if let Some(&backoff) = self.backoffs.get(index) {
                self.backoffs[kept] = backoff;
            }
            kept += 1;
        }
        self.words.truncate(kept * self.order);
        self.log10.truncate(kept);
        self.backoffs.truncate(kept);
        self.lines = lines;
    }

    /// Returns the line on which the n-gram `index` begins, from 1; 0 if the n-grams do not come
    /// from text.
    pub fn line(&self, index: usize) -> u64 {
        self.lines.line(index)
    }
}

/// A section to which parsed blocks are appended.
pub(super) struct SectionBuilder {
    format: EntryFormat,
    /// Its columns may be longer than `len`, with zeros in memory that is not yet touched.
    section: Section,
    len: usize,
}

impl SectionBuilder {
    /// Creates a section for `count` entries of a file of `size` bytes, if that is known.
    pub(super) fn new(format: EntryFormat, count: u64, size: Option<u64>) -> Self {
        // The header may claim any count, but an entry takes at least this many bytes.
        // If a compressed file holds more, the columns grow.
        let shortest = 2 + 2 * format.order as u64;
        let likely = size.map_or(1 << 20, |size| size / shortest);
        let section = Section { order: format.order, ..Section::default() };
        let mut builder = SectionBuilder { format, section, len: 0 };
        builder.reserve(count.min(likely) as usize);
        builder
    }

    fn reserve(&mut self, entries: usize) {
        let Section { order, words, log10, backoffs, .. } = &mut self.section;
        if log10.is_empty() {
            // Zero pages, which each thread touches first where it writes.
            *words = vec![0; entries * *order];
            *log10 = vec![0.0; entries];
            *backoffs = if self.format.longest { Vec::new() } else { vec![0.0; entries] };
        } else if entries > log10.len() {
            let entries = entries.max(2 * log10.len());
            words.resize(entries * *order, 0);
            log10.resize(entries, 0.0);
            if !self.format.longest {
                backoffs.resize(entries, 0.0);
            }
        }
    }

    /// Returns the number of entries so far.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn append(&mut self, blocks: Vec<ParsedBlock<'_>>) {
        let mut end = self.len;
        for ParsedBlock { entries, line, .. } in &blocks {
            record_lines(&mut self.section.lines, end, *line, entries);
            end += entries.log10.len();
        }
        self.reserve(end);
        let (order, start) = (self.format.order, self.len);
        let mut words = &mut self.section.words[start * order..];
        let mut log10 = &mut self.section.log10[start..];
        let mut backoffs = self.section.backoffs.get_mut(start..).unwrap_or_default();
        let columns: Vec<_> = blocks
            .into_iter()
            .map(|ParsedBlock { entries, .. }| {
                let columns = (
                    split_front(&mut words, entries.words.len()),
                    split_front(&mut log10, entries.log10.len()),
                    split_front(&mut backoffs, entries.backoffs.len()),
                );
                (entries, columns)
            })
            .collect();
        parallel::for_each_item(columns, &|_, (entries, (words, log10, backoffs))| {
            words.copy_from_slice(&entries.words);
            log10.copy_from_slice(&entries.log10);
            backoffs.copy_from_slice(&entries.backoffs);
        });
        self.len = end;
    }

    pub(super) fn finish(mut self) -> Section {
        let Section { order, words, log10, backoffs, .. } = &mut self.section;
        words.truncate(self.len * *order);
        log10.truncate(self.len);
        backoffs.truncate(self.len);
        self.section
    }
}

/// Takes `n` items off the front of `items`.
fn split_front<'a, T>(items: &mut &'a mut [T], n: usize) -> &'a mut [T] {
    let (front, rest) = std::mem::take(items).split_at_mut(n);
    *items = rest;
    front
}

/// The line on which each entry of a section begins. Nearly always that is the line
/// after the previous entry, so only the exceptions are kept.
#[derive(Default)]
pub(super) struct LineNumbers {
    /// `(entry, line)`: from this entry on, lines count up from this line.
    jumps: Vec<(usize, u64)>,
}

impl LineNumbers {
    fn record(&mut self, entry: usize, line: u64) {
        if self.jumps.is_empty() || self.line(entry) != line {
            self.jumps.push((entry, line));
        }
    }

    pub(super) fn line(&self, entry: usize) -> u64 {
        let at = self.jumps.partition_point(|jump| jump.0 <= entry);
        let Some(&(first, line)) = self.jumps[..at].last() else { return 0 };
        line + (entry - first) as u64
    }
}

/// Records the lines of `entries`, which follow `entries_before` others; `line` is the
/// first line of their text.
pub(super) fn record_lines(
    lines: &mut LineNumbers,
    entries_before: usize,
    line: u64,
    entries: &ParsedEntries,
) {
    if !entries.log10.is_empty() && entries.jumps.first().is_none_or(|jump| jump.0 > 0) {
        lines.record(entries_before, line);
    }
    for &(entry, below) in &entries.jumps {
        lines.record(entries_before + entry, line + below);
    }
}
