//! From text to rows: interns what repeats, computes what does not.
//!
//! A worker has one encoder. Which entries come to which encoder does not matter:
//! ids are ranked by count and text in the end, rows by hash and line.

use std::path::Path;

use miriam_storage::hash::hash64;
use miriam_textio::fields;

use super::entries::{Entry, Fields};
use super::interner::Interner;
use super::plan::{Plan, probability, three_counts};
use super::rows::{Partitions, Run, push_number, take_id};
use crate::format::{Column, PhraseHash, alignment_class};
use crate::{Error, Result, code};

/// Words a phrase may have: positions in an alignment are 16 bits wide.
const MAX_WORDS: usize = 65_535;

/// The distinct values of a coded score column.
pub(crate) struct ScoreDictionary {
    pub texts: Interner,
    /// Probabilities: pruning compares those, two may have one logarithm.
    pub probabilities: Vec<f32>,
}

/// The distinct alignments, tagged with their class.
pub(crate) struct AlignmentDictionary {
    pub texts: Interner,
    /// The points of each, as codes end to end.
    pub points: Vec<u8>,
    pub ends: Vec<usize>,
    /// How long each alignment needs the phrases to be.
    reach: Vec<(u32, u32)>,
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
    pub values: Vec<f32>,
}

/// What a worker has gathered.
pub(crate) struct Encoder<'a> {
    plan: &'a Plan,
    pub source_words: Interner,
    source_hashes: Vec<u64>,
    pub target_words: Interner,
    /// One a column; unused where the column is raw.
    pub scores: Vec<ScoreDictionary>,
    pub alignments: AlignmentDictionary,
    pub reordering: ReorderingDictionary,
    pub counts: Interner,
    pub extra: Interner,
    pub partitions: Partitions,
    pub pruned: u64,
    run: OpenRun,
    key: Vec<u8>,
}

/// The run that is being gathered.
#[derive(Default)]
struct OpenRun {
    source: Vec<u8>,
    hash: u64,
    length: usize,
    first_line: u64,
    last_line: u64,
    entries: usize,
    body: Vec<u8>,
    /// Where the rows begin in `body`.
    rows: usize,
    /// For pruning: each row's end and third score.
    ranked: Vec<(usize, f32)>,
}

impl<'a> Encoder<'a> {
    /// An encoder; `bound` is that of [`Partitions::new`].
    pub fn new(plan: &'a Plan, bound: Option<(usize, &Path)>) -> Self {
        let dictionary =
            |_: &Column| ScoreDictionary { texts: Interner::new(), probabilities: Vec::new() };
        Encoder {
            plan,
            source_words: Interner::new(),
            source_hashes: Vec::new(),
            target_words: Interner::new(),
            scores: plan.columns.iter().map(dictionary).collect(),
            alignments: AlignmentDictionary {
                texts: Interner::new(),
                points: Vec::new(),
                ends: Vec::new(),
                reach: Vec::new(),
            },
            reordering: ReorderingDictionary { texts: Interner::new(), values: Vec::new() },
            counts: Interner::new(),
            extra: Interner::new(),
            partitions: Partitions::new(bound),
            pruned: 0,
            run: OpenRun::default(),
            key: Vec::new(),
        }
    }

    /// Adds an entry.
    pub fn push(&mut self, entry: &Entry<'_>) -> Result<()> {
        let source = entry.source();
        if self.run.entries == 0 || self.run.source != source {
            self.end_run()?;
            self.start_run(source, entry.number)?;
        }
        let run = &mut self.run;
        run.last_line = entry.number.max(run.last_line);
        run.entries += 1;

        let length_at = run.body.len();
        run.body.push(0);
        let mut length = 0;
        for word in fields::words(entry.target()) {
            let (id, _) = self.target_words.intern(word, 0, 1);
            push_number(&mut run.body, u64::from(id));
            length += 1;
        }
        if length < 128 {
            run.body[length_at] = length as u8;
        } else if length > MAX_WORDS {
            return Err(self.too_long(entry, 2));
        } else {
            let mut number = Vec::new();
            push_number(&mut number, length as u64);
            run.body.splice(length_at..=length_at, number);
        }

        let fields = entry.fields();
        let third = self.push_scores(entry, &fields)?;
        if self.plan.num_reordering > 0 {
            self.push_reordering(entry)?;
        }
        self.push_alignment(entry, &fields, length)?;
        let body = &mut self.run.body;
        if !self.plan.joint_counts {
            push_number(body, u64::from(self.counts.intern(fields.counts, 0, 1).0));
        }
        push_number(body, u64::from(self.extra.intern(fields.extra, 0, 1).0));
        if self.plan.prune.is_some() {
            self.run.ranked.push((self.run.body.len(), third));
        }
        Ok(())
    }

    fn start_run(&mut self, source: &[u8], number: u64) -> Result<()> {
        let run = &mut self.run;
        run.source.clear();
        run.source.extend_from_slice(source);
        run.body.clear();
        run.ranked.clear();
        run.first_line = number;
        run.last_line = number;
        run.length = fields::words(source).count();
        if run.length == 0 || run.length > MAX_WORDS {
            let reason = if run.length == 0 { "no source word" } else { "over 65,535 words" };
            return Err(Error::format(&self.plan.table, number, Some(1), reason));
        }
        push_number(&mut run.body, run.length as u64);
        let mut hash = PhraseHash::EMPTY;
        for word in fields::words(source) {
            let (id, new) = self.source_words.intern(word, 0, 1);
            if new {
                self.source_hashes.push(hash64(word));
            }
            hash = hash.then(self.source_hashes[id as usize]);
            push_number(&mut run.body, u64::from(id));
        }
        run.hash = hash.0;
        run.rows = run.body.len();
        Ok(())
    }

    fn too_long(&self, entry: &Entry<'_>, field: usize) -> Error {
        Error::format(&self.plan.table, entry.number, Some(field), "over 65,535 words")
    }

    /// Appends the phrase scores; returns the third one.
    #[inline]
    fn push_scores(&mut self, entry: &Entry<'_>, fields: &Fields<'_>) -> Result<f32> {
        let plan = self.plan;
        let body = &mut self.run.body;
        let failed = |k: usize, reason: String| {
            let reason = format!("score {}: {reason}", k + 1);
            Error::format(&plan.table, entry.number, Some(3), reason)
        };
        let wrong_number = || {
            let found = fields::words(fields.scores).count();
            let reason = format!("{found} scores, the first line has {}", plan.columns.len());
            Error::format(&plan.table, entry.number, Some(3), reason)
        };
        if plan.columns.is_empty() {
            return Ok(0.0);
        }
        let counts = three_counts(fields.counts);
        let mut words = fields::words(fields.scores);
        let mut third = 0.0;
        for (k, column) in plan.columns.iter().enumerate() {
            let text = words.next().ok_or_else(wrong_number)?;
            let value = match column {
                Column::Raw => {
                    let value = probability(text).map_err(|reason| failed(k, reason))?;
                    body.extend_from_slice(&plan.zero.score(value).to_le_bytes());
                    value
                }
                Column::Coded | Column::CodedWithCounts => {
                    let dictionary = &mut self.scores[k];
                    let key = match column {
                        Column::CodedWithCounts => {
                            self.key.clear();
                            self.key.extend_from_slice(text);
                            self.key.push(b' ');
                            push_counts_part(&mut self.key, k, counts, fields.counts);
                            &self.key[..]
                        }
                        _ => text,
                    };
                    let (id, new) = dictionary.texts.intern(key, 0, 1);
                    if new {
                        let value = probability(text).map_err(|reason| failed(k, reason))?;
                        dictionary.probabilities.push(value);
                    }
                    push_number(body, u64::from(id));
                    dictionary.probabilities[id as usize]
                }
            };
            if k == 2 {
                third = value;
            }
        }
        if words.next().is_some() {
            return Err(wrong_number());
        }
        Ok(third)
    }

    #[inline]
    fn push_reordering(&mut self, entry: &Entry<'_>) -> Result<()> {
        let Some((text, number)) = entry.reordering else {
            self.run.body.push(0);
            return Ok(());
        };
        let (id, new) = self.reordering.texts.intern(text, 0, 1);
        if new {
            let failed = |reason: String| {
                Error::format(&self.plan.reordering_table, number, Some(3), reason)
            };
            let wanted = self.plan.num_reordering;
            let found = fields::words(text).count();
            if found != wanted {
                return Err(failed(format!("{found} scores, the first line has {wanted}")));
            }
            for (k, word) in fields::words(text).enumerate() {
                let value = probability(word)
                    .map_err(|reason| failed(format!("score {}: {reason}", k + 1)))?;
                self.reordering.values.push(self.plan.zero.score(value));
            }
        }
        push_number(&mut self.run.body, u64::from(id) + 1);
        Ok(())
    }

    #[inline]
    fn push_alignment(
        &mut self,
        entry: &Entry<'_>,
        fields: &Fields<'_>,
        target_length: usize,
    ) -> Result<()> {
        let source_length = self.run.length;
        // A reordering table has no alignments, whatever stands there.
        let text = if self.plan.columns.is_empty() { &[][..] } else { fields.alignment };
        let class = alignment_class(source_length, target_length) as u32;
        let failed =
            |reason: String| Error::format(&self.plan.table, entry.number, Some(4), reason);
        let dictionary = &mut self.alignments;
        let (id, new) = dictionary.texts.intern(text, class, 1);
        if new {
            let mut reach = (0, 0);
            for word in fields::words(text) {
                let (source, target) = alignment_point(word).ok_or_else(|| {
                    failed(format!("{} is not an alignment point such as 0-1", word.escape_ascii()))
                })?;
                code::push(&mut dictionary.points, u32::from(source));
                code::push(&mut dictionary.points, u32::from(target));
                reach = (reach.0.max(u32::from(source) + 1), reach.1.max(u32::from(target) + 1));
            }
            dictionary.ends.push(dictionary.points.len());
            dictionary.reach.push(reach);
        }
        let reach = dictionary.reach[id as usize];
        if reach.0 as usize > source_length || reach.1 as usize > target_length {
            let text = text.escape_ascii();
            return Err(failed(format!(
                "{text} points outside phrases of {source_length} and {target_length} words"
            )));
        }
        push_number(&mut self.run.body, u64::from(id));
        Ok(())
    }

    /// Ends the current run. Call it behind the last entry.
    pub fn end_run(&mut self) -> Result<()> {
        if self.run.entries == 0 {
            return Ok(());
        }
        if let Some(limit) = self.plan.prune
            && self.run.entries > limit
        {
            self.prune_run(limit);
        }
        let run = &self.run;
        let done = Run {
            hash: run.hash,
            first_line: run.first_line,
            last_line: run.last_line,
            entries: run.entries,
            body: &run.body,
        };
        self.partitions.push(&done)?;
        self.run.entries = 0;
        Ok(())
    }

    /// Keeps the `limit` rows with the highest third score, ties in input order,
    /// and the order of those kept.
    fn prune_run(&mut self, limit: usize) {
        let ranked = std::mem::take(&mut self.run.ranked);
        let mut order: Vec<usize> = (0..ranked.len()).collect();
        order.sort_by(|&a, &b| ranked[b].1.total_cmp(&ranked[a].1));
        let mut kept = vec![false; ranked.len()];
        order.iter().take(limit).for_each(|&i| kept[i] = true);
        let old = std::mem::take(&mut self.run.body);
        let mut body = old[..self.run.rows].to_vec();
        let mut start = self.run.rows;
        for (&(end, _), kept) in ranked.iter().zip(kept) {
            if kept {
                body.extend_from_slice(&old[start..end]);
            } else {
                self.release(&old[start..end]);
                self.pruned += 1;
            }
            start = end;
        }
        self.run.entries = limit;
        self.run.body = body;
    }

    /// Takes the ids of a row out of the counts: what only dropped rows used
    /// gets no place in the file.
    fn release(&mut self, mut row: &[u8]) {
        let row = &mut row;
        let mut next = || take_id(row).unwrap_or_default();
        for _ in 0..next() {
            self.target_words.release(next());
        }
        for (column, dictionary) in self.plan.columns.iter().zip(&mut self.scores) {
            match column {
                Column::Raw => *row = row.get(4..).unwrap_or_default(),
                _ => dictionary.texts.release(take_id(row).unwrap_or_default()),
            }
        }
        let mut next = || take_id(row).unwrap_or_default();
        if self.plan.num_reordering > 0
            && let Some(id) = next().checked_sub(1)
        {
            self.reordering.texts.release(id);
        }
        self.alignments.texts.release(next());
        if !self.plan.joint_counts {
            self.counts.release(next());
        }
        self.extra.release(next());
    }
}

/// The part of the counts that score column `k` carries: (c_e, joint) with
/// column 0, c_f with column 2. Anything but three counts goes whole with
/// column 0.
fn push_counts_part(out: &mut Vec<u8>, k: usize, counts: Option<[&[u8]; 3]>, text: &[u8]) {
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

/// `3-0` as numbers.
fn alignment_point(word: &[u8]) -> Option<(u16, u16)> {
    let dash = word.iter().position(|&b| b == b'-')?;
    let number = |digits: &[u8]| -> Option<u16> {
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    Some((number(&word[..dash])?, number(&word[dash + 1..])?))
}

#[cfg(test)]
mod tests {
    use super::alignment_point;

    #[test]
    fn alignment_points() {
        assert_eq!(alignment_point(b"0-12"), Some((0, 12)));
        for bad in [&b""[..], b"-", b"1-", b"-1", b"1", b"1-2-3", b"+1-2", b"65536-0", b"a-b"] {
            assert_eq!(alignment_point(bad), None, "{}", bad.escape_ascii());
        }
    }
}
