//! Words that cooccur in a sentence pair, as one sparse table that every pass reads without
//! hashing.
//!
//! A row of the table belongs to a source word; its entries are the target words that it
//! cooccurs with, in the order of first cooccurrence, so that frequent pairs are together
//! at the front. Values of entries (probabilities, counts) are in parallel arrays of the
//! table's length.
//!
//! A *cell* belongs to a source word and a target word of one sentence pair: it is the index
//! of the target word in the source word's row. It has two bytes, or four if the row has more
//! than 65,536 entries. Cells are computed once, with a scratch array instead of a search, and
//! then read from front to back in every pass. They take most of the memory of training.
//! Cells beyond the memory limit are in a temporary file, which is read again in each pass.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use miriam_storage::parallel;
use miriam_storage::spill_file::{SpillFile, TEMP_OR_MEMORY};
use miriam_textio::Progress;
use rayon::prelude::*;

use crate::bitext::Bitext;
use crate::{Error, Result};

/// The size of a chunk of cells in two-byte units.
const CHUNK_UNITS: u64 = 32 << 20;
/// The longest row whose indices fit into two bytes.
const MAX_NARROW_ROW: usize = 1 << 16;

/// Source words with the target words that they cooccur with.
pub(crate) struct CooccurrenceRows {
    /// The start of each source word's row, and the end of the last row.
    row_starts: Vec<u64>,
    /// The target word of each entry.
    pub targets: Vec<u32>,
    /// The number of cells of each source word: the cost of its row.
    row_costs: Vec<u64>,
}

impl CooccurrenceRows {
    /// Finds all pairs of words that cooccur in a line.
    pub fn from_bitext(text: &Bitext) -> Self {
        let words = text.source.vocabulary.len();
        let target_words = text.target.vocabulary.len();
        let (ends, lines) = index_lines_by_word(text, words);
        // Eight ranges per thread: ranges of about the same cost take different times, because rare
        // words are slower.
        let parts = 8 * rayon::current_num_threads();
        let bounds = balanced_bounds(&ends, parts);
        let parts: Vec<(Vec<u32>, Vec<u64>, Vec<u64>)> =
            parallel::map_items(bounds.windows(2).collect(), &|_, bound: &[usize]| {
                let mut seen = vec![u32::MAX; target_words];
                let (mut targets, mut row_ends, mut costs) = (Vec::new(), Vec::new(), Vec::new());
                for word in bound[0]..bound[1] {
                    let first = if word == 0 { 0 } else { ends[word - 1] as usize };
                    let mut cells = 0;
                    for &line in &lines[first..ends[word] as usize] {
                        let others = text.target.sentence(line as usize).distinct_words;
                        cells += others.len() as u64;
                        for &other in others {
                            if seen[other as usize] != word as u32 {
                                seen[other as usize] = word as u32;
                                targets.push(other);
                            }
                        }
                    }
                    row_ends.push(targets.len() as u64);
                    costs.push(cells);
                }
                (targets, row_ends, costs)
            });
        let mut rows = CooccurrenceRows {
            row_starts: vec![0],
            targets: Vec::with_capacity(parts.iter().map(|part| part.0.len()).sum()),
            row_costs: Vec::with_capacity(words),
        };
        for (targets, row_ends, costs) in parts {
            let base = rows.targets.len() as u64;
            rows.targets.extend(targets);
            rows.row_starts.extend(row_ends.iter().map(|end| base + end));
            rows.row_costs.extend(costs);
        }
        rows
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Returns the entries of a source word.
    #[inline]
    pub fn row(&self, word: u32) -> Range<usize> {
        self.row_starts[word as usize] as usize..self.row_starts[word as usize + 1] as usize
    }

    /// Returns the size of each of the word's cells in two-byte units.
    #[inline]
    pub fn cell_width(&self, word: u32) -> usize {
        if self.row(word).len() > MAX_NARROW_ROW { 2 } else { 1 }
    }

    /// Returns the source words in at most `parts` ranges of about the same cost.
    pub fn balanced_ranges(&self, parts: usize) -> Vec<Range<u32>> {
        let ends: Vec<u64> = self
            .row_costs
            .iter()
            .scan(0, |sum, cost| {
                *sum += cost;
                Some(*sum)
            })
            .collect();
        let bounds = balanced_bounds(&ends, parts);
        bounds.windows(2).map(|bound| bound[0] as u32..bound[1] as u32).collect()
    }

    /// Splits `items`, which has a value for each entry, into one slice for each range of source
    /// words in `shares`. The ranges must be consecutive and begin with the first word.
    pub fn split_entries<'a, T>(
        &self,
        shares: &[Range<u32>],
        mut items: &'a mut [T],
    ) -> Vec<&'a mut [T]> {
        shares
            .iter()
            .map(|share| {
                let length =
                    self.row_starts[share.end as usize] - self.row_starts[share.start as usize];
                let (part, rest) = std::mem::take(&mut items).split_at_mut(length as usize);
                items = rest;
                part
            })
            .collect()
    }
}

/// Returns the lines that each source word occurs in, as two lists. The second list has the lines
/// of all words, word by word; the first has the end of each word's lines in the second.
fn index_lines_by_word(text: &Bitext, words: usize) -> (Vec<u64>, Vec<u32>) {
    let mut ends = vec![0u64; words];
    let pairs = (0..text.len()).filter_map(|line| Some((line, text.pair(line)?)));
    for (_, pair) in pairs.clone() {
        pair.source.distinct_words.iter().for_each(|&word| ends[word as usize] += 1);
    }
    let mut total = 0;
    for end in &mut ends {
        // `end` becomes the start of the word's lines. The loop below adds the lines and moves it
        // to their end.
        total += std::mem::replace(end, total);
    }
    let mut lines = vec![0u32; total as usize];
    for (line, pair) in pairs {
        for &word in pair.source.distinct_words {
            let next = &mut ends[word as usize];
            lines[*next as usize] = line as u32;
            *next += 1;
        }
    }
    (ends, lines)
}

/// Returns the bounds of at most `parts` ranges of items of about the same weight, from the
/// cumulative weights.
fn balanced_bounds(sums: &[u64], parts: usize) -> Vec<usize> {
    let total = sums.last().copied().unwrap_or(0);
    let mut bounds = vec![0];
    for part in 1..parts as u64 {
        let bound = sums.partition_point(|&sum| sum <= total / parts as u64 * part);
        if bound > *bounds.last().expect("the first bound is 0") {
            bounds.push(bound);
        }
    }
    if *bounds.last().expect("the first bound is 0") < sums.len() {
        bounds.push(sums.len());
    }
    bounds
}

/// The cells of all sentence pairs, in chunks.
pub(crate) struct CellStore {
    chunks: Vec<CellChunk>,
    spill: SpillFile,
}

/// Cells of consecutive pairs. The cells of one pair are ordered by source word, then by target
/// word. Of four-byte cells, the low halves of a source word come first, then the high halves.
struct CellChunk {
    lines: Range<usize>,
    cells: ChunkStorage,
}

enum ChunkStorage {
    Memory(Vec<u16>),
    File { at: u64, units: usize },
}

impl CellStore {
    /// Computes the cells of every pair. Chunks beyond `memory` bytes are spilled to a
    /// temporary file in `folder`.
    pub fn from_bitext(
        text: &Bitext,
        rows: &CooccurrenceRows,
        memory: u64,
        folder: &Path,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let mut cells =
            CellStore { chunks: Vec::new(), spill: SpillFile::new(folder, TEMP_OR_MEMORY) };
        let task = progress.task("finding word pairs", Some(text.len() as u64));
        let mut used = 0;
        let bounds = chunk_bounds(text, rows);
        // Computes as many chunks at once as there are threads, and stores them in the order of the
        // text.
        for group in bounds.chunks(rayon::current_num_threads()) {
            if task.is_cancelled() {
                return Err(Error::Cancelled);
            }
            let found = parallel::map_tasks(group.len(), &|at| {
                let (lines, units) = &group[at];
                build_cells(text, rows, lines.clone(), *units)
            });
            for ((lines, units), found) in group.iter().zip(found) {
                let bytes = 2 * *units as u64;
                let stored = if used + bytes <= memory {
                    used += bytes;
                    ChunkStorage::Memory(found)
                } else {
                    ChunkStorage::File { at: cells.spill_cells(&found)?, units: *units }
                };
                cells.chunks.push(CellChunk { lines: lines.clone(), cells: stored });
                task.set_position(lines.end as u64);
            }
        }
        Ok(cells)
    }

    /// Returns the number of chunks.
    pub fn num_chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Returns the lines of chunk `index` and their cells.
    pub fn chunk(&self, index: usize) -> Result<(Range<usize>, Cow<'_, [u16]>)> {
        let CellChunk { lines, cells } = &self.chunks[index];
        let cells = match cells {
            ChunkStorage::Memory(cells) => Cow::Borrowed(&cells[..]),
            ChunkStorage::File { at, units } => Cow::Owned(self.read_spilled(*at, *units)?),
        };
        Ok((lines.clone(), cells))
    }

    /// Returns the size of the temporary file in bytes.
    pub fn spilled_bytes(&self) -> u64 {
        self.spill.num_bytes()
    }

    fn spill_cells(&self, cells: &[u16]) -> Result<u64> {
        let bytes: Vec<u8> = cells.iter().flat_map(|cell| cell.to_le_bytes()).collect();
        Ok(self.spill.append(&bytes)?)
    }

    fn read_spilled(&self, at: u64, units: usize) -> Result<Vec<u16>> {
        let mut bytes = vec![0; 2 * units];
        self.spill.read(at, &mut bytes)?;
        Ok(bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect())
    }
}

/// Returns the size of the cells of `line` in two-byte units.
pub(crate) fn count_line_units(text: &Bitext, rows: &CooccurrenceRows, line: usize) -> usize {
    text.pair(line).map_or(0, |pair| {
        let widths: usize =
            pair.source.distinct_words.iter().map(|&word| rows.cell_width(word)).sum();
        widths * pair.target.distinct_words.len()
    })
}

/// Returns the ranges of lines whose cells form a chunk, with their sizes in units.
fn chunk_bounds(text: &Bitext, rows: &CooccurrenceRows) -> Vec<(Range<usize>, usize)> {
    let mut bounds = Vec::new();
    let (mut start, mut units) = (0, 0);
    for line in 0..text.len() {
        units += count_line_units(text, rows, line);
        if units as u64 >= CHUNK_UNITS || line + 1 == text.len() {
            bounds.push((start..line + 1, units));
            (start, units) = (line + 1, 0);
        }
    }
    bounds
}

/// Computes the cells of `lines`, one source word at a time. The row of the word is first scattered
/// into a table by target word, so that each cell is one access to a small table.
fn build_cells(
    text: &Bitext,
    rows: &CooccurrenceRows,
    lines: Range<usize>,
    units: usize,
) -> Vec<u16> {
    let mut cells = vec![0u16; units];
    // The source words of all pairs: word, line, the start of its cells.
    let mut occurrences: Vec<(u32, u32, usize)> = Vec::new();
    let mut at = 0;
    for line in lines {
        let Some(pair) = text.pair(line) else { continue };
        for &word in pair.source.distinct_words {
            occurrences.push((word, line as u32, at));
            at += rows.cell_width(word) * pair.target.distinct_words.len();
        }
    }
    occurrences.par_sort_unstable_by_key(|&(word, line, _)| (word, line));
    let mut index_in_row = vec![0u32; text.target.vocabulary.len()];
    for group in occurrences.chunk_by(|a, b| a.0 == b.0) {
        let word = group[0].0;
        for (index, &target) in rows.targets[rows.row(word)].iter().enumerate() {
            index_in_row[target as usize] = index as u32;
        }
        let wide = rows.cell_width(word) == 2;
        for &(_, line, at) in group {
            let targets = text.target.sentence(line as usize).distinct_words;
            for (k, &target) in targets.iter().enumerate() {
                let index = index_in_row[target as usize];
                cells[at + k] = index as u16;
                if wide {
                    cells[at + targets.len() + k] = (index >> 16) as u16;
                }
            }
        }
    }
    cells
}

/// Calls `entry` for each of the cells of one source word in one sentence: with the index of the
/// target word among the sentence's distinct words, and its index in the row of the source word.
/// `width` is that of [`CooccurrenceRows::cell_width`].
#[inline(always)]
pub(crate) fn for_each_cell(cells: &[u16], width: usize, mut entry: impl FnMut(usize, usize)) {
    if width == 1 {
        for (k, &cell) in cells.iter().enumerate() {
            entry(k, usize::from(cell));
        }
    } else {
        let (low, high) = cells.split_at(cells.len() / 2);
        for (k, (&low, &high)) in low.iter().zip(high).enumerate() {
            entry(k, usize::from(low) | usize::from(high) << 16);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitext::from_lines;
    use miriam_textio::NoProgress;
    use proptest::prelude::*;

    /// Checks that every cell names the entry of its two words, in memory or on disk.
    fn check(text: &Bitext, memory: u64) {
        let rows = CooccurrenceRows::from_bitext(text);
        let cells = CellStore::from_bitext(text, &rows, memory, &std::env::temp_dir(), &NoProgress)
            .unwrap();
        let mut pairs = std::collections::BTreeSet::new();
        for index in 0..cells.num_chunks() {
            let (lines, cells) = cells.chunk(index).unwrap();
            let mut at = 0;
            for line in lines {
                let Some(pair) = text.pair(line) else { continue };
                for &word in pair.source.distinct_words {
                    let (row, width) = (rows.row(word), rows.cell_width(word));
                    let units = width * pair.target.distinct_words.len();
                    for_each_cell(&cells[at..at + units], width, |k, index| {
                        assert_eq!(rows.targets[row.start + index], pair.target.distinct_words[k]);
                        pairs.insert((word, pair.target.distinct_words[k]));
                    });
                    at += units;
                }
            }
            assert_eq!(at, cells.len());
        }
        assert_eq!(pairs.len(), rows.len(), "every entry is a pair that cooccurs");
    }

    proptest! {
        #[test]
        fn cells_name_the_entries_of_their_words(
            lines in proptest::collection::vec(("([abcd] ?){0,6}", "([uvwx] ?){0,6}"), 0..20),
        ) {
            let lines: Vec<(&str, &str)> =
                lines.iter().map(|(s, t)| (s.as_str(), t.as_str())).collect();
            let text = from_lines(&lines);
            check(&text, u64::MAX);
            check(&text, 0);
        }
    }

    #[test]
    fn long_rows_have_wide_cells() {
        let targets: Vec<String> =
            (0..MAX_NARROW_ROW as u32 + 500).map(|n| format!("w{n}")).collect();
        let lines: Vec<String> = targets.chunks(500).map(|words| words.join(" ")).collect();
        let lines: Vec<(&str, &str)> =
            lines.iter().map(|line| ("the one", line.as_str())).collect();
        check(&from_lines(&lines), u64::MAX);
    }

    #[test]
    fn ranges_have_about_equal_weight() {
        assert_eq!(balanced_bounds(&[], 3), [0]);
        assert_eq!(balanced_bounds(&[5, 10, 15, 20], 2), [0, 2, 4]);
        assert_eq!(balanced_bounds(&[0, 0, 1, 1], 8), [0, 2, 4]);
        assert_eq!(balanced_bounds(&[100, 101, 102], 4), [0, 3]);
    }
}
