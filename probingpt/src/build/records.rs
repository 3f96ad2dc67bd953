//! Conversion of rows to records, one partition of the table at a time, in the order of the
//! sources' hashes, which is the order of the index.

use super::plan::Plan;
use super::ranking::Ranking;
use super::source_runs::{SourceRun, take_id};
use crate::format::{ColumnEncoding, FIXED_WIDTH_MIN_TARGETS, alignment_class};
use crate::record::{code_width, push_codes, push_header};
use crate::{Error, Result, varint};

/// The final ids of all dictionaries.
pub(crate) struct Rankings {
    pub source_words: Ranking,
    pub target_words: Ranking,
    /// By column; `None` if it is raw.
    pub scores: Vec<Option<Ranking>>,
    pub reordering: Ranking,
    pub alignments: Ranking,
    /// The first id of each class of alignments, and the end of the last.
    pub alignment_classes: Vec<u32>,
    pub counts: Ranking,
    pub extra: Ranking,
    /// Whether any entry has an alignment.
    pub has_alignment: bool,
    /// Whether any entry has counts that are not stored in the codebooks of scores.
    pub has_counts: bool,
    /// Whether any entry has text from field 6 on.
    pub has_extra: bool,
}

/// The hash of a source phrase and the range of its record.
#[derive(Clone, Copy)]
pub(crate) struct SourceRecord {
    pub hash: u64,
    pub start: usize,
    pub length: usize,
}

/// The records of one partition and their statistics.
#[derive(Default)]
pub(crate) struct EncodedPartition {
    pub bytes: Vec<u8>,
    /// The source records, by ascending hash.
    pub records: Vec<SourceRecord>,
    pub entries: u64,
    pub missing_reordering: u64,
    pub max_source_length: usize,
    pub max_target_length: usize,
    pub max_targets: usize,
}

/// The columns of the source phrase that is being encoded.
#[derive(Default)]
struct RecordColumns {
    source: Vec<u32>,
    other_source: Vec<u32>,
    lengths: Vec<u32>,
    raw: Vec<Vec<u8>>,
    codes: Vec<Vec<u32>>,
    reordering: Vec<u32>,
    alignments: Vec<u32>,
    counts: Vec<u32>,
    extra: Vec<u32>,
    words: Vec<u32>,
}

fn damaged_rows_error() -> Error {
    Error::Options("rows of the build were damaged in memory or a temporary file".into())
}

/// Encodes a partition from the rows of every worker. With `adjacent`, entries of one
/// source must be adjacent in the text.
pub(crate) fn encode_partition(
    plan: &Plan,
    rankings: &Rankings,
    workers: &[Vec<u8>],
    adjacent: bool,
) -> Result<EncodedPartition> {
    let mut runs: Vec<(usize, SourceRun<'_>)> = Vec::new();
    for (worker, bytes) in workers.iter().enumerate() {
        let mut rest = &bytes[..];
        while !rest.is_empty() {
            runs.push((worker, SourceRun::deserialize(&mut rest).ok_or_else(damaged_rows_error)?));
        }
    }
    runs.sort_unstable_by_key(|(_, run)| (run.hash, run.first_line));
    // Records take about as many bytes as rows; growing step by step would touch twice the
    // memory.
    let mut part = EncodedPartition {
        bytes: Vec::with_capacity(workers.iter().map(Vec::len).sum()),
        records: Vec::with_capacity(runs.len()),
        ..EncodedPartition::default()
    };
    let mut columns = RecordColumns::new(plan.columns.len());
    let mut same_hash = Vec::new();
    let mut rest = &runs[..];
    while let Some((first, _)) = rest.split_first() {
        let same = rest.iter().take_while(|(_, run)| run.hash == first.1.hash).count();
        let (group, others) = rest.split_at(same);
        rest = others;
        same_hash.clear();
        same_hash.extend(group.iter().copied());
        // There is nearly always one run. Runs with the same hash may have different sources.
        while !same_hash.is_empty() {
            encode_first_source(plan, rankings, &mut same_hash, adjacent, &mut columns, &mut part)?;
        }
    }
    Ok(part)
}

/// Encodes the source of the first of `runs` from all runs that have this source, and removes these
/// runs.
fn encode_first_source(
    plan: &Plan,
    rankings: &Rankings,
    runs: &mut Vec<(usize, SourceRun<'_>)>,
    adjacent: bool,
    columns: &mut RecordColumns,
    part: &mut EncodedPartition,
) -> Result<()> {
    columns.clear();
    let hash = runs[0].1.hash;
    let mut last_line = 0;
    let mut failure = None;
    runs.retain(|&(worker, run)| {
        let mut body = run.body;
        let Some(()) = columns.read_source(rankings, worker, &mut body) else {
            failure = Some(damaged_rows_error());
            return false;
        };
        if columns.source.is_empty() {
            std::mem::swap(&mut columns.source, &mut columns.other_source);
        } else if columns.source != columns.other_source {
            return true;
        } else if adjacent && run.first_line > last_line + 1 && failure.is_none() {
            let reason = format!(
                "its source phrase is already on line {last_line} or before; entries of a source \
                 must be adjacent: sort the file with LC_ALL=C sort, or give --sort"
            );
            failure = Some(Error::format(&plan.table, run.first_line, Some(1), reason));
        }
        last_line = run.last_line;
        for _ in 0..run.entries {
            if columns.read_row(plan, rankings, worker, &mut body).is_none() {
                failure = Some(damaged_rows_error());
                return false;
            }
        }
        false
    });
    if let Some(failure) = failure {
        return Err(failure);
    }
    let start = part.bytes.len();
    columns.write(plan, rankings, &mut part.bytes)?;
    part.records.push(SourceRecord { hash, start, length: part.bytes.len() - start });
    part.entries += columns.lengths.len() as u64;
    if plan.num_reordering > 0 {
        part.missing_reordering += columns.reordering.iter().filter(|&&r| r == 0).count() as u64;
    }
    part.max_source_length = part.max_source_length.max(columns.source.len());
    let longest = columns.lengths.iter().copied().max().unwrap_or(0) as usize;
    part.max_target_length = part.max_target_length.max(longest);
    part.max_targets = part.max_targets.max(columns.lengths.len());
    Ok(())
}

impl RecordColumns {
    fn new(num_scores: usize) -> Self {
        RecordColumns {
            raw: vec![Vec::new(); num_scores],
            codes: vec![Vec::new(); num_scores],
            ..RecordColumns::default()
        }
    }

    fn clear(&mut self) {
        self.source.clear();
        self.lengths.clear();
        self.raw.iter_mut().for_each(Vec::clear);
        self.codes.iter_mut().for_each(Vec::clear);
        self.reordering.clear();
        self.alignments.clear();
        self.counts.clear();
        self.extra.clear();
        self.words.clear();
    }

    fn read_source(&mut self, rankings: &Rankings, worker: usize, row: &mut &[u8]) -> Option<()> {
        self.other_source.clear();
        for _ in 0..take_id(row)? {
            let id = take_id(row)?;
            self.other_source.push(rankings.source_words.maps[worker][id as usize]);
        }
        Some(())
    }

    fn read_row(
        &mut self,
        plan: &Plan,
        rankings: &Rankings,
        worker: usize,
        row: &mut &[u8],
    ) -> Option<()> {
        let length = take_id(row)?;
        self.lengths.push(length);
        let map = &rankings.target_words.maps[worker];
        for _ in 0..length {
            self.words.push(map[take_id(row)? as usize]);
        }
        for (k, column) in plan.columns.iter().enumerate() {
            match (column, &rankings.scores[k]) {
                (ColumnEncoding::Raw, _) => {
                    let (value, rest) = row.split_at_checked(4)?;
                    self.raw[k].extend_from_slice(value);
                    *row = rest;
                }
                (_, Some(ranking)) => {
                    self.codes[k].push(ranking.maps[worker][take_id(row)? as usize]);
                }
                (_, None) => return None,
            }
        }
        if plan.num_reordering > 0 {
            let code = match take_id(row)?.checked_sub(1) {
                Some(id) => rankings.reordering.maps[worker][id as usize] + 1,
                None => 0,
            };
            self.reordering.push(code);
        }
        let class = alignment_class(self.source.len(), length as usize);
        let id = rankings.alignments.maps[worker][take_id(row)? as usize];
        self.alignments.push(id - rankings.alignment_classes[class]);
        if !plan.counts_in_codebooks {
            self.counts.push(rankings.counts.maps[worker][take_id(row)? as usize]);
        }
        self.extra.push(rankings.extra.maps[worker][take_id(row)? as usize]);
        Some(())
    }

    /// Appends the record.
    fn write(&self, plan: &Plan, rankings: &Rankings, out: &mut Vec<u8>) -> Result<()> {
        let targets = self.lengths.len();
        if targets >= 1 << 31 {
            return Err(Error::Options(format!(
                "{}: a source phrase has {targets} targets, more than 2,147,483,647",
                plan.table
            )));
        }
        let wide = self.lengths.iter().any(|&length| length > 255);
        push_header(out, &self.source, targets, wide);

        let coded_scores = plan.columns.iter().zip(&self.codes);
        let coded: Vec<(&[u32], usize)> = coded_scores
            .map(|(column, codes)| (*column != ColumnEncoding::Raw, codes))
            .chain([
                (plan.num_reordering > 0, &self.reordering),
                (rankings.has_alignment, &self.alignments),
                (rankings.has_counts, &self.counts),
                (rankings.has_extra, &self.extra),
            ])
            .filter(|(is_present, _)| *is_present)
            .map(|(_, codes)| (&codes[..], code_width(codes.iter().fold(0, |a, &b| a.max(b)))))
            .collect();
        for four in coded.chunks(4) {
            let byte = four.iter().enumerate().fold(0, |b, (i, (_, w))| b | (w - 1) << (2 * i));
            out.push(byte as u8);
        }
        let word_width = (targets >= FIXED_WIDTH_MIN_TARGETS)
            .then(|| code_width(self.words.iter().fold(0, |a, &b| a.max(b))));
        out.extend(word_width.map(|w| w as u8));
        push_codes(out, &self.lengths, if wide { 4 } else { 1 });
        let mut coded = coded.into_iter();
        for (column, raw) in plan.columns.iter().zip(&self.raw) {
            if *column == ColumnEncoding::Raw {
                out.extend_from_slice(raw);
            } else if let Some((codes, width)) = coded.next() {
                push_codes(out, codes, width);
            }
        }
        for (codes, width) in coded {
            push_codes(out, codes, width);
        }
        match word_width {
            Some(width) => push_codes(out, &self.words, width),
            None => self.words.iter().for_each(|&word| varint::push(out, word)),
        }
        Ok(())
    }
}
