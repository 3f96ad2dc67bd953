//! The n-grams of a model as records, in the order of the output.
//!
//! The trie has n-grams in suffix order of ids by first appearance. In another order of
//! words they are sorted in two passes: each row of the trie is partitioned by the range of
//! the last word's new id, and each of these ranges is then sorted alone. So neither pass
//! has more in memory than a row or a range for each thread.
//!
//! A record has the format of KenLM's intermediate files (`ngram-lm.md` 3.8): the words' new ids,
//! the first word first, then log10 of probability and backoff as the bits of f32.

use miriam_textio::Progress;

use super::memory::{VALUES, partition_bytes_per_token, sort_bytes_per_token};
use super::parallel::{Resources, parallel_map};
use super::renumbering::Renumbering;
use super::rows::{child_count, entry_word, is_pruned};
use super::spill_store::{ColumnCoding, SpillStore, TableRef, Workspace};
use super::tables::{BlockCursor, ModelTables, Unigram};
use super::word_ranges::WordRanges;
use crate::error::check_cancelled;
use crate::{MAX_ORDER, Result};

/// The format of the values of n-grams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    /// Probability and backoff.
    ProbabilityBackoff,
    /// One value, which gives sentences the same probabilities (Heafield et al. 2012), and
    /// no backoff.
    Collapsed,
}

/// An encoder of probabilities and backoffs as the values of records.
struct ValueEncoder {
    payload: Payload,
    /// By length: the product of the backoffs of an n-gram and its suffixes, divided by the
    /// backoffs of their contexts.
    factors: [f32; MAX_ORDER + 1],
}

impl ValueEncoder {
    fn new(payload: Payload) -> Self {
        ValueEncoder { payload, factors: [1.0; MAX_ORDER + 1] }
    }

    /// Returns the bits of the values of an n-gram of `length` words. The last call for an n-gram
    /// of `length - 1` words must have been for its suffix. Operations have lmplz's order.
    fn encode(&mut self, length: usize, value: NgramValue) -> [u32; VALUES] {
        let NgramValue { probability, backoff, context_backoff } = value;
        let (first, second) = match self.payload {
            Payload::ProbabilityBackoff => (probability.log10().min(0.0), backoff.log10()),
            Payload::Collapsed => {
                self.factors[length] = match length {
                    1 => backoff,
                    _ => self.factors[length - 1] / context_backoff * backoff,
                };
                ((probability * self.factors[length]).log10(), 0.0)
            }
        };
        [first.to_bits(), second.to_bits()]
    }
}

/// The result of smoothing for an n-gram.
#[derive(Clone, Copy)]
struct NgramValue {
    probability: f32,
    backoff: f32,
    /// The backoff of all words but the last; 1 if there is none.
    context_backoff: f32,
}

impl From<Unigram> for NgramValue {
    fn from(Unigram { probability, backoff, .. }: Unigram) -> Self {
        NgramValue { probability, backoff, context_backoff: 1.0 }
    }
}

/// The n-grams of all orders as records.
pub(super) struct SortedRecords<'m> {
    /// The number of words in the longest n-grams.
    pub order: usize,
    pub renumbering: Renumbering<'m>,
    unigrams: Vec<u32>,
    /// By order from 2, row of the trie and range of the last word's new id.
    partitions: SpillStore<'m>,
    rows: usize,
    ranges: WordRanges,
    resources: Resources,
}

impl<'m> SortedRecords<'m> {
    /// Partitions the n-grams of `model`.
    ///
    /// # Errors
    ///
    /// If a temporary file fails, or `progress` cancels the work.
    pub fn new(
        model: &ModelTables<'m>,
        renumbering: Renumbering<'m>,
        payload: Payload,
        work: Workspace<'m>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let (order, rows) = (model.order, model.ranges.len());
        let Workspace { resources, budget, spill } = work;
        let counts: Vec<u64> =
            renumbering.old_ids().iter().map(|&old| model.word_counts[old as usize]).collect();
        let ranges = WordRanges::balanced(&counts, rows);
        let len = (order - 1) * rows * ranges.len();
        let records = SortedRecords {
            order,
            unigrams: unigram_records(model, &renumbering, payload),
            renumbering,
            partitions: SpillStore::new(len, ColumnCoding::Fixed32, budget, spill),
            rows,
            ranges,
            resources,
        };
        if order > 1 {
            let task = progress.task("sorting", Some(rows as u64));
            let costs = model.ranges.costs(partition_bytes_per_token(order));
            parallel_map(resources, &costs, |row| {
                check_cancelled(progress)?;
                let partitioned = records.partition_row(model, payload, row)?;
                for (i, partition) in partitioned.into_iter().enumerate() {
                    let (length, range) = (2 + i / records.ranges.len(), i % records.ranges.len());
                    records.partitions.put(records.index(length, row, range), vec![partition])?;
                }
                task.advance(1);
                Ok(())
            })?;
        }
        Ok(records)
    }

    /// Returns the index of a partition.
    fn index(&self, length: usize, row: usize, range: usize) -> usize {
        ((length - 2) * self.rows + row) * self.ranges.len() + range
    }

    /// Passes the records of `length` words to `write`, in suffix order of new ids, in pieces;
    /// `prepare` converts each piece, on all threads, for `write`.
    ///
    /// # Errors
    ///
    /// If a temporary file or `write` fails, or `progress` cancels the work.
    pub fn for_each_piece<T: Send>(
        &self,
        length: usize,
        prepare: impl Fn(&[u32]) -> T + Sync,
        mut write: impl FnMut(T) -> Result<()>,
        progress: &dyn Progress,
    ) -> Result<()> {
        check_cancelled(progress)?;
        if length == 1 {
            return write(prepare(&self.unigrams));
        }
        let costs = self.ranges.costs(sort_bytes_per_token(length));
        let mut first = 0;
        while first < costs.len() {
            check_cancelled(progress)?;
            // Prepared pieces wait in memory until they are written, so the memory of all of them
            // counts.
            let (mut len, mut cost) = (0, 0);
            while len < self.resources.threads
                && let Some(next) = costs.get(first + len)
                && (len == 0 || cost + next <= self.resources.memory)
            {
                (len, cost) = (len + 1, cost + next);
            }
            let pieces = parallel_map(self.resources, &costs[first..first + len], |i| {
                Ok(prepare(&self.sorted_range(length, first + i)?))
            })?;
            pieces.into_iter().try_for_each(&mut write)?;
            first += len;
        }
        Ok(())
    }

    /// Returns the records of `length` words whose last word's new id is in `range`.
    fn sorted_range(&self, length: usize, range: usize) -> Result<Vec<u32>> {
        let partitions = (0..self.rows)
            .map(|row| self.partitions.get(self.index(length, row, range)))
            .collect::<Result<Vec<_>>>()?;
        let mut records: Vec<&[u32]> =
            partitions.iter().flat_map(|table| table[0].chunks_exact(length + VALUES)).collect();
        records.sort_unstable_by(|a, b| a[..length].iter().rev().cmp(b[..length].iter().rev()));
        Ok(records.concat())
    }

    /// Returns the records of a row of the trie, by length from 2 words and range of the last
    /// word's new id.
    fn partition_row(
        &self,
        model: &ModelTables<'_>,
        payload: Payload,
        row: usize,
    ) -> Result<Vec<Vec<u32>>> {
        let (blocks, probabilities) =
            (model.row(model.blocks, row)?, model.row(model.probabilities, row)?);
        let backoffs = model.backoffs.get(row)?;
        let mut walk = RowWalk {
            records: self,
            range: 0,
            backoffs: &backoffs,
            next_backoffs: [0; MAX_ORDER + 1],
            encoder: ValueEncoder::new(payload),
            ngram: Vec::with_capacity(self.order),
            partitioned: vec![Vec::new(); (self.order - 1) * self.ranges.len()],
        };
        let mut cursors = model.cursors(&blocks, &probabilities);
        for last in model.ranges.words(row) {
            let new = self.renumbering.new_id(last);
            walk.range = self.ranges.range_of(new);
            walk.ngram.clear();
            walk.ngram.push(new);
            walk.encoder.encode(1, model.unigrams[last as usize].into());
            for cursor in &mut cursors {
                let len = cursor.bigrams_ending_in(last);
                walk.visit_children(cursor, 2, len);
            }
        }
        Ok(walk.partitioned)
    }
}

fn unigram_records(
    model: &ModelTables<'_>,
    renumbering: &Renumbering<'_>,
    payload: Payload,
) -> Vec<u32> {
    let mut encoder = ValueEncoder::new(payload);
    let mut records = Vec::with_capacity(model.unigrams.len() * (1 + VALUES));
    for (new, &old) in (0..).zip(renumbering.old_ids()) {
        let unigram = model.unigrams[old as usize];
        if !unigram.pruned {
            records.push(new);
            records.extend(encoder.encode(1, unigram.into()));
        }
    }
    records
}

/// A walk over the n-grams of a row, shorter ones before those that extend them.
struct RowWalk<'r> {
    records: &'r SortedRecords<'r>,
    /// The range of the last word's new id.
    range: usize,
    backoffs: &'r TableRef<'r>,
    /// The index of the next backoff of each length.
    next_backoffs: [usize; MAX_ORDER + 1],
    encoder: ValueEncoder,
    /// The new ids of the words, the last word first.
    ngram: Vec<u32>,
    partitioned: Vec<Vec<u32>>,
}

impl RowWalk<'_> {
    /// Partitions the next `len` n-grams of `length` words, which extend the current one, and all
    /// n-grams that extend these.
    fn visit_children(&mut self, cursor: &mut BlockCursor<'_>, length: usize, len: usize) {
        let SortedRecords { order, renumbering, ranges, .. } = self.records;
        let (entries, counts) = (cursor.block.words(length), cursor.block.counts(length));
        for i in cursor.take(length, len) {
            let entry = entries[i];
            let value = NgramValue {
                probability: f32::from_bits(cursor.probabilities(length)[i]),
                backoff: self.next_backoff(length),
                context_backoff: match self.encoder.payload {
                    Payload::ProbabilityBackoff => 1.0,
                    Payload::Collapsed => f32::from_bits(cursor.context_backoffs(length)[i]),
                },
            };
            let values = self.encoder.encode(length, value);
            self.ngram.push(renumbering.new_id(entry_word(entry)));
            if !is_pruned(entry) {
                let partition = &mut self.partitioned[(length - 2) * ranges.len() + self.range];
                partition.extend(self.ngram.iter().rev());
                partition.extend(values);
            }
            if length < *order {
                self.visit_children(cursor, length + 1, child_count(entry, counts[i]));
            }
            self.ngram.pop();
        }
    }

    fn next_backoff(&mut self, length: usize) -> f32 {
        if length == self.records.order {
            return 1.0;
        }
        let next = &mut self.next_backoffs[length];
        *next += 1;
        f32::from_bits(self.backoffs[length - 1][*next - 1])
    }
}
