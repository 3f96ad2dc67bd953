//! Conversion of text to rows: fields that repeat are interned, others stored as values.
//!
//! Each worker has an encoder. The result does not depend on which encoder gets an entry:
//! ids are ranked by count and text later, rows sorted by hash and line.

use std::path::Path;

use miriam_storage::hash::hash64;
use miriam_textio::leb128::push_leb128;
use miriam_textio::{fields, parse_phrase_link};

use super::entries::{EntryFields, TextEntry};
use super::interner::Interner;
use super::plan::{Plan, parse_probability, parse_three_counts};
use super::source_runs::{PartitionBuffers, SourceRun, take_id};
use crate::format::{ColumnEncoding, PhraseHash, alignment_class};
use crate::{Error, Result, varint};

/// The largest number of words of a phrase: positions in an alignment have 16 bits.
const MAX_PHRASE_WORDS: usize = 65_535;

/// The distinct values of a coded score column.
pub(crate) struct ScoreDictionary {
    pub texts: Interner,
    /// Probabilities by id. Pruning compares these, because two of them may have the same
    /// logarithm.
    pub probabilities: Vec<f32>,
}

/// The distinct alignments, tagged with their class.
pub(crate) struct AlignmentDictionary {
    pub texts: Interner,
    /// The points of all alignments, as varints one after another.
    pub points: Vec<u8>,
    pub ends: Vec<usize>,
    /// The smallest lengths of source and target that each alignment allows.
    required_lengths: Vec<(u32, u32)>,
}

impl AlignmentDictionary {
    pub fn points(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.points[start..self.ends[id]]
    }
}

/// The distinct rows of reordering scores.
pub(crate) struct ReorderingDictionary {
    pub texts: Interner,
    /// `[rows, num_reordering]`: natural logarithms.
    pub values: Vec<f32>,
}

/// The dictionaries and rows of one worker.
pub(crate) struct Encoder<'a> {
    plan: &'a Plan,
    pub source_words: Interner,
    source_hashes: Vec<u64>,
    pub target_words: Interner,
    /// One for each column; unused if the column is raw.
    pub scores: Vec<ScoreDictionary>,
    pub alignments: AlignmentDictionary,
    pub reordering: ReorderingDictionary,
    pub counts: Interner,
    pub extra: Interner,
    pub partitions: PartitionBuffers,
    pub pruned: u64,
    /// The number of entries with sparse features, including pruned entries.
    pub sparse_entries: u64,
    current_run: SourceRunBuilder,
    key_buffer: Vec<u8>,
}

/// The current run: consecutive entries of one source phrase.
#[derive(Default)]
struct SourceRunBuilder {
    source: Vec<u8>,
    hash: u64,
    length: usize,
    first_line: u64,
    last_line: u64,
    entries: usize,
    body: Vec<u8>,
    /// The start of the rows in `body`.
    rows_start: usize,
    /// For pruning: the end and the third score of each row.
    row_ends_and_scores: Vec<(usize, f32)>,
}

impl<'a> Encoder<'a> {
    /// Creates an encoder; `bound` is passed to [`PartitionBuffers::new`].
    pub fn new(plan: &'a Plan, bound: Option<(usize, &Path)>) -> Self {
        Encoder {
            plan,
            source_words: Interner::new(),
            source_hashes: Vec::new(),
            target_words: Interner::new(),
            scores: plan
                .columns
                .iter()
                .map(|_| ScoreDictionary { texts: Interner::new(), probabilities: Vec::new() })
                .collect(),
            alignments: AlignmentDictionary {
                texts: Interner::new(),
                points: Vec::new(),
                ends: Vec::new(),
                required_lengths: Vec::new(),
            },
            reordering: ReorderingDictionary { texts: Interner::new(), values: Vec::new() },
            counts: Interner::new(),
            extra: Interner::new(),
            partitions: PartitionBuffers::new(bound),
            pruned: 0,
            sparse_entries: 0,
            current_run: SourceRunBuilder::default(),
            key_buffer: Vec::new(),
        }
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: &TextEntry<'_>) -> Result<()> {
        let source = entry.source();
        if self.current_run.entries == 0 || self.current_run.source != source {
            self.finish_run()?;
            self.start_run(source, entry.line_number)?;
        }
        let run = &mut self.current_run;
        run.last_line = entry.line_number.max(run.last_line);
        run.entries += 1;

        let length_at = run.body.len();
        run.body.push(0);
        let mut length = 0;
        for word in fields::split_words(entry.target()) {
            let (id, _) = self.target_words.intern(word, 0, 1);
            push_leb128(&mut run.body, u64::from(id));
            length += 1;
        }
        if length < 128 {
            run.body[length_at] = length as u8;
        } else if length > MAX_PHRASE_WORDS {
            let (file, line) = (&self.plan.table, entry.line_number);
            return Err(Error::format(file, line, Some(2), "over 65,535 words"));
        } else {
            let mut number = Vec::new();
            push_leb128(&mut number, length as u64);
            run.body.splice(length_at..=length_at, number);
        }

        let fields = entry.fields();
        self.sparse_entries += u64::from(fields.has_sparse_features());
        let third = self.push_scores(entry, &fields)?;
        if self.plan.num_reordering > 0 {
            self.push_reordering(entry)?;
        }
        self.push_alignment(entry, &fields, length)?;
        let body = &mut self.current_run.body;
        if !self.plan.counts_in_codebooks {
            push_leb128(body, u64::from(self.counts.intern(fields.counts, 0, 1).0));
        }
        push_leb128(body, u64::from(self.extra.intern(fields.extra, 0, 1).0));
        if self.plan.prune.is_some() {
            self.current_run.row_ends_and_scores.push((self.current_run.body.len(), third));
        }
        Ok(())
    }

    fn start_run(&mut self, source: &[u8], number: u64) -> Result<()> {
        let run = &mut self.current_run;
        run.source.clear();
        run.source.extend_from_slice(source);
        run.body.clear();
        run.row_ends_and_scores.clear();
        run.first_line = number;
        run.last_line = number;
        run.length = fields::split_words(source).count();
        if run.length == 0 || run.length > MAX_PHRASE_WORDS {
            let reason = if run.length == 0 { "no source word" } else { "over 65,535 words" };
            return Err(Error::format(&self.plan.table, number, Some(1), reason));
        }
        push_leb128(&mut run.body, run.length as u64);
        let mut hash = PhraseHash::EMPTY;
        for word in fields::split_words(source) {
            let (id, new) = self.source_words.intern(word, 0, 1);
            if new {
                self.source_hashes.push(hash64(word));
            }
            hash = hash.with_word(self.source_hashes[id as usize]);
            push_leb128(&mut run.body, u64::from(id));
        }
        run.hash = hash.0;
        run.rows_start = run.body.len();
        Ok(())
    }

    /// Appends the phrase scores; returns the third one.
    #[inline]
    fn push_scores(&mut self, entry: &TextEntry<'_>, fields: &EntryFields<'_>) -> Result<f32> {
        let plan = self.plan;
        let body = &mut self.current_run.body;
        let (file, line) = (&plan.table, entry.line_number);
        if plan.columns.is_empty() {
            return Ok(0.0);
        }
        let counts = parse_three_counts(fields.counts);
        let mut words = fields::split_words(fields.scores);
        let mut third = 0.0;
        for (k, column) in plan.columns.iter().enumerate() {
            let text = words.next().ok_or_else(|| {
                wrong_number_of_scores(file, line, fields.scores, plan.columns.len())
            })?;
            let value = match column {
                ColumnEncoding::Raw => {
                    let value = parse_probability(text)
                        .map_err(|reason| invalid_score(file, line, k, &reason))?;
                    body.extend_from_slice(&plan.zero_policy.score(value).to_le_bytes());
                    value
                }
                ColumnEncoding::Coded | ColumnEncoding::CodedWithCounts => {
                    let dictionary = &mut self.scores[k];
                    let key = match column {
                        ColumnEncoding::CodedWithCounts => {
                            self.key_buffer.clear();
                            self.key_buffer.extend_from_slice(text);
                            self.key_buffer.push(b' ');
                            push_counts_for_column(&mut self.key_buffer, k, counts, fields.counts);
                            &self.key_buffer[..]
                        }
                        _ => text,
                    };
                    let (id, new) = dictionary.texts.intern(key, 0, 1);
                    if new {
                        let value = parse_probability(text)
                            .map_err(|reason| invalid_score(file, line, k, &reason))?;
                        dictionary.probabilities.push(value);
                    }
                    push_leb128(body, u64::from(id));
                    dictionary.probabilities[id as usize]
                }
            };
            if k == 2 {
                third = value;
            }
        }
        if words.next().is_some() {
            return Err(wrong_number_of_scores(file, line, fields.scores, plan.columns.len()));
        }
        Ok(third)
    }

    #[inline]
    fn push_reordering(&mut self, entry: &TextEntry<'_>) -> Result<()> {
        let Some((text, number)) = entry.reordering else {
            self.current_run.body.push(0);
            return Ok(());
        };
        let (id, new) = self.reordering.texts.intern(text, 0, 1);
        if new {
            let (file, expected) = (&self.plan.reordering_table, self.plan.num_reordering);
            if fields::split_words(text).count() != expected {
                return Err(wrong_number_of_scores(file, number, text, expected));
            }
            for (k, word) in fields::split_words(text).enumerate() {
                let value = parse_probability(word)
                    .map_err(|reason| invalid_score(file, number, k, &reason))?;
                self.reordering.values.push(self.plan.zero_policy.score(value));
            }
        }
        push_leb128(&mut self.current_run.body, u64::from(id) + 1);
        Ok(())
    }

    #[inline]
    fn push_alignment(
        &mut self,
        entry: &TextEntry<'_>,
        fields: &EntryFields<'_>,
        target_length: usize,
    ) -> Result<()> {
        let source_length = self.current_run.length;
        // Field 4 of a reordering table is not an alignment.
        let text = if self.plan.columns.is_empty() { &[][..] } else { fields.alignment };
        let class = alignment_class(source_length, target_length) as u32;
        let failed =
            |reason: String| Error::format(&self.plan.table, entry.line_number, Some(4), reason);
        let dictionary = &mut self.alignments;
        let (id, new) = dictionary.texts.intern(text, class, 1);
        if new {
            let mut required = (0, 0);
            for word in fields::split_words(text) {
                let (source, target) = parse_phrase_link(word).ok_or_else(|| {
                    failed(format!("{} is not an alignment point such as 0-1", word.escape_ascii()))
                })?;
                varint::push(&mut dictionary.points, u32::from(source));
                varint::push(&mut dictionary.points, u32::from(target));
                required =
                    (required.0.max(u32::from(source) + 1), required.1.max(u32::from(target) + 1));
            }
            dictionary.ends.push(dictionary.points.len());
            dictionary.required_lengths.push(required);
        }
        let required = dictionary.required_lengths[id as usize];
        if required.0 as usize > source_length || required.1 as usize > target_length {
            let text = text.escape_ascii();
            return Err(failed(format!(
                "{text} points outside phrases of {source_length} and {target_length} words"
            )));
        }
        push_leb128(&mut self.current_run.body, u64::from(id));
        Ok(())
    }

    /// Ends the current run. Must be called after the last entry.
    pub fn finish_run(&mut self) -> Result<()> {
        if self.current_run.entries == 0 {
            return Ok(());
        }
        if let Some(limit) = self.plan.prune
            && self.current_run.entries > limit
        {
            self.prune_run(limit);
        }
        let run = &self.current_run;
        let done = SourceRun {
            hash: run.hash,
            first_line: run.first_line,
            last_line: run.last_line,
            entries: run.entries,
            body: &run.body,
        };
        self.partitions.push(&done)?;
        self.current_run.entries = 0;
        Ok(())
    }

    /// Keeps the `limit` rows with the highest third score; of equal scores, the first in the
    /// input. The order of the kept rows does not change.
    fn prune_run(&mut self, limit: usize) {
        let ranked = std::mem::take(&mut self.current_run.row_ends_and_scores);
        let mut order: Vec<usize> = (0..ranked.len()).collect();
        order.sort_by(|&a, &b| ranked[b].1.total_cmp(&ranked[a].1));
        let mut kept = vec![false; ranked.len()];
        order.iter().take(limit).for_each(|&i| kept[i] = true);
        let old = std::mem::take(&mut self.current_run.body);
        let mut body = old[..self.current_run.rows_start].to_vec();
        let mut start = self.current_run.rows_start;
        for (&(end, _), kept) in ranked.iter().zip(kept) {
            if kept {
                body.extend_from_slice(&old[start..end]);
            } else {
                self.release_row_ids(&old[start..end]);
                self.pruned += 1;
            }
            start = end;
        }
        self.current_run.entries = limit;
        self.current_run.body = body;
    }

    /// Subtracts a pruned row from the counts of its ids: ids with a count of 0 are not written.
    fn release_row_ids(&mut self, mut row: &[u8]) {
        let row = &mut row;
        for _ in 0..take_id(row).unwrap_or_default() {
            self.target_words.decrement_count(take_id(row).unwrap_or_default());
        }
        for (column, dictionary) in self.plan.columns.iter().zip(&mut self.scores) {
            match column {
                ColumnEncoding::Raw => *row = row.get(4..).unwrap_or_default(),
                _ => dictionary.texts.decrement_count(take_id(row).unwrap_or_default()),
            }
        }
        if self.plan.num_reordering > 0
            && let Some(id) = take_id(row).unwrap_or_default().checked_sub(1)
        {
            self.reordering.texts.decrement_count(id);
        }
        self.alignments.texts.decrement_count(take_id(row).unwrap_or_default());
        if !self.plan.counts_in_codebooks {
            self.counts.decrement_count(take_id(row).unwrap_or_default());
        }
        self.extra.decrement_count(take_id(row).unwrap_or_default());
    }
}

#[cold]
fn invalid_score(file: &str, line: u64, column: usize, reason: &str) -> Error {
    Error::format(file, line, Some(3), format!("score {}: {reason}", column + 1))
}

#[cold]
fn wrong_number_of_scores(file: &str, line: u64, scores: &[u8], expected: usize) -> Error {
    let found = fields::split_words(scores).count();
    Error::format(file, line, Some(3), format!("{found} scores, the first line has {expected}"))
}

/// Appends the part of the counts that is stored with score column `k`: (c_e, joint) with
/// column 0, c_f with column 2. A text that is not three counts is stored with column 0.
fn push_counts_for_column(out: &mut Vec<u8>, k: usize, counts: Option<[&[u8]; 3]>, text: &[u8]) {
    match (k, counts) {
        (0, Some([target, _, joint])) => {
            out.extend_from_slice(target);
            out.push(b' ');
            out.extend_from_slice(joint);
        }
        (0, None) => out.extend_from_slice(text),
        (_, Some([_, source, _])) => out.extend_from_slice(source),
        (_, None) => {}
    }
}
