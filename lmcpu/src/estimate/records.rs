//! The n-grams of a model as records, in the order of the output.
//!
//! The trie has n-grams in suffix order of ids by first appearance. In another order of
//! words they are sorted in two passes, as cards are: each row of the trie is divided by the
//! range of the last word's new number, and each of these ranges is then sorted alone. So
//! neither pass has more in memory than a row or a range for each thread.
//!
//! A record is that of KenLM's intermediate files (`ngram-lm.md` 3.8): the words' numbers,
//! the first word first, then log10 of probability and backoff as the bits of f32.

use miriam_textio::Progress;

use super::memory::record_bytes_per_token;
use super::parallel::{Resources, parallel_map};
use super::rows::{TrieBlock, child_count, entry_word, is_pruned};
use super::spill_store::{ColumnCoding, SpillStore, TableRef, Workspace};
use super::tables::{ModelTables, Unigram};
use super::word_order::WordOrder;
use super::word_ranges::WordRanges;
use crate::error::check_cancelled;
use crate::{MAX_ORDER, Result};

/// Numbers of a record besides the words.
pub(super) const VALUES: usize = 2;

/// How the values of n-grams are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Payload {
    /// Probability and backoff.
    ProbabilityBackoff,
    /// One value, which gives sentences the same probabilities (Heafield et al. 2012), and
    /// no backoff.
    Collapsed,
}

/// Makes the values of n-grams from their probabilities and backoffs.
struct Collapse {
    payload: Payload,
    /// By length: the backoffs of an n-gram and its suffixes, divided by those of their
    /// contexts.
    factors: [f32; MAX_ORDER + 1],
}

impl Collapse {
    fn new(payload: Payload) -> Self {
        Collapse { payload, factors: [1.0; MAX_ORDER + 1] }
    }

    /// The bits of the values of an n-gram of `length` words, whose suffix came last among
    /// the shorter ones. Operations have lmplz's order.
    fn values(&mut self, length: usize, value: NgramValue) -> [u32; VALUES] {
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

/// What smoothing gave for an n-gram.
#[derive(Clone, Copy)]
struct NgramValue {
    probability: f32,
    backoff: f32,
    /// The backoff of all words but the last; 1 if there is none.
    context_backoff: f32,
}

/// The n-grams of all orders as records.
pub(super) struct SortedRecords<'m> {
    order: usize,
    unigrams: Vec<u32>,
    /// By order from 2, row of the trie and range of the last word's number.
    buckets: SpillStore<'m>,
    rows: usize,
    ranges: WordRanges,
    resources: Resources,
}

impl<'m> SortedRecords<'m> {
    /// Divides the n-grams of `model`.
    ///
    /// # Errors
    ///
    /// If a temporary file fails, or `progress` cancels the work.
    pub fn new(
        model: &ModelTables<'m>,
        words: &WordOrder,
        payload: Payload,
        work: Workspace<'m>,
        progress: &dyn Progress,
    ) -> Result<Self> {
        let (order, rows) = (model.order, model.ranges.len());
        let Workspace { resources, budget, spill } = work;
        let weights: Vec<u64> =
            words.old_ids().iter().map(|&id| model.word_counts[id as usize]).collect();
        let ranges = WordRanges::balanced(&weights, rows);
        let len = (order - 1) * rows * ranges.len();
        let buckets = SpillStore::new(len, ColumnCoding::Fixed32, budget, spill);
        let task = progress.task("sorting", Some(rows as u64));
        let costs = model.ranges.costs(record_bytes_per_token(order));
        if order > 1 {
            parallel_map(resources, &costs, |row| {
                check_cancelled(progress)?;
                let divided = divide_row(model, words, payload, &ranges, row)?;
                for (i, bucket) in divided.into_iter().enumerate() {
                    let (length, range) = (i / ranges.len(), i % ranges.len());
                    buckets.put((length * rows + row) * ranges.len() + range, vec![bucket])?;
                }
                task.advance(1);
                Ok(())
            })?;
        }
        let unigrams = unigram_records(model, words, payload);
        Ok(SortedRecords { order, unigrams, buckets, rows, ranges, resources })
    }

    /// Passes the records of `length` words to `write`, in suffix order of the words'
    /// numbers, in pieces; `prepare` makes of each, on all threads, what `write` takes.
    ///
    /// # Errors
    ///
    /// If a temporary file or `write` fails, or `progress` cancels the work.
    pub fn for_each_piece<T: Send>(
        &self,
        length: usize,
        prepare: impl Fn(Vec<u32>) -> T + Sync,
        mut write: impl FnMut(T) -> Result<()>,
        progress: &dyn Progress,
    ) -> Result<()> {
        debug_assert!((1..=self.order).contains(&length));
        if length == 1 {
            return write(prepare(self.unigrams.clone()));
        }
        let costs = self.ranges.costs(2 * record_bytes_per_token(length));
        let threads = self.resources.threads.max(1);
        for (i, costs) in costs.chunks(threads).enumerate() {
            check_cancelled(progress)?;
            let pieces = parallel_map(self.resources, costs, |j| {
                Ok(prepare(self.sorted_range(length, i * threads + j)?))
            })?;
            pieces.into_iter().try_for_each(&mut write)?;
        }
        Ok(())
    }

    /// The records of `length` words whose last word's number is in `range`.
    fn sorted_range(&self, length: usize, range: usize) -> Result<Vec<u32>> {
        let bucket =
            |row| self.buckets.get(((length - 2) * self.rows + row) * self.ranges.len() + range);
        let buckets = (0..self.rows).map(bucket).collect::<Result<Vec<_>>>()?;
        let mut records: Vec<&[u32]> =
            buckets.iter().flat_map(|bucket| bucket[0].chunks_exact(length + VALUES)).collect();
        let suffix_order =
            |a: &&[u32], b: &&[u32]| a[..length].iter().rev().cmp(b[..length].iter().rev());
        records.sort_unstable_by(suffix_order);
        Ok(records.concat())
    }
}

fn unigram_records(model: &ModelTables<'_>, words: &WordOrder, payload: Payload) -> Vec<u32> {
    let mut collapse = Collapse::new(payload);
    let mut records = Vec::with_capacity(words.old_ids().len() * (1 + VALUES));
    for (new, &id) in (0..).zip(words.old_ids()) {
        let unigram = model.unigrams[id as usize];
        if !unigram.pruned {
            let (probability, backoff) = (unigram.probability, unigram.backoff);
            let value = NgramValue { probability, backoff, context_backoff: 1.0 };
            records.push(new);
            records.extend(collapse.values(1, value));
        }
    }
    records
}

/// The records of a row of the trie, by length from 2 words and range of the last word's
/// number.
fn divide_row(
    model: &ModelTables<'_>,
    words: &WordOrder,
    payload: Payload,
    ranges: &WordRanges,
    row: usize,
) -> Result<Vec<Vec<u32>>> {
    let (blocks, probabilities) =
        (model.row(model.blocks, row)?, model.row(model.probabilities, row)?);
    let backoffs = model.backoffs.get(row)?;
    let mut walk = RowWalk {
        order: model.order,
        words,
        num_ranges: ranges.len(),
        range: 0,
        backoffs: &backoffs,
        next_backoffs: [0; MAX_ORDER + 1],
        collapse: Collapse::new(payload),
        ngram: Vec::with_capacity(model.order),
        divided: vec![Vec::new(); (model.order - 1) * ranges.len()],
    };
    let mut cursors: Vec<BlockCursor<'_>> = blocks
        .iter()
        .zip(&probabilities)
        .map(|(block, values)| BlockCursor {
            block: TrieBlock(block),
            values,
            next: [0; MAX_ORDER + 1],
        })
        .collect();
    for last in model.ranges.words(row) {
        let new = words.new_id(last);
        walk.range = ranges.range_of(new);
        walk.ngram.clear();
        walk.ngram.push(new);
        let Unigram { probability, backoff, .. } = model.unigrams[last as usize];
        walk.collapse.values(1, NgramValue { probability, backoff, context_backoff: 1.0 });
        for cursor in &mut cursors {
            let same = cursor.block.roots()[cursor.next[2]..].iter();
            let len = same.take_while(|&&root| root == last).count();
            walk.visit_children(cursor, 2, len);
        }
    }
    Ok(walk.divided)
}

/// A position in the n-grams of a block.
struct BlockCursor<'b> {
    block: TrieBlock<'b>,
    /// The block's table of probabilities and backoffs of contexts.
    values: &'b TableRef<'b>,
    /// The index of the next n-gram of each length.
    next: [usize; MAX_ORDER + 1],
}

/// A walk over the n-grams of a row, shorter ones before those that extend them.
struct RowWalk<'r> {
    order: usize,
    words: &'r WordOrder,
    num_ranges: usize,
    /// The range of the last word.
    range: usize,
    backoffs: &'r TableRef<'r>,
    /// The index of the next backoff of each length.
    next_backoffs: [usize; MAX_ORDER + 1],
    collapse: Collapse,
    /// The words' numbers, the last word first.
    ngram: Vec<u32>,
    divided: Vec<Vec<u32>>,
}

impl RowWalk<'_> {
    /// Takes the next `len` n-grams of `length` words, which extend the current one, and all
    /// that extend them.
    fn visit_children(&mut self, cursor: &mut BlockCursor<'_>, length: usize, len: usize) {
        let here = cursor.next[length]..cursor.next[length] + len;
        cursor.next[length] = here.end;
        let (entries, counts) = (cursor.block.words(length), cursor.block.counts(length));
        for i in here {
            let (entry, column) = (entries[i], length - 2);
            let value = NgramValue {
                probability: f32::from_bits(cursor.values[column][i]),
                backoff: self.next_backoff(length),
                context_backoff: match self.collapse.payload {
                    Payload::ProbabilityBackoff => 1.0,
                    Payload::Collapsed => f32::from_bits(cursor.values[column + self.order - 1][i]),
                },
            };
            let values = self.collapse.values(length, value);
            self.ngram.push(self.words.new_id(entry_word(entry)));
            if !is_pruned(entry) {
                let bucket = &mut self.divided[column * self.num_ranges + self.range];
                bucket.extend(self.ngram.iter().rev());
                bucket.extend(values);
            }
            if length < self.order {
                self.visit_children(cursor, length + 1, child_count(entry, counts[i]));
            }
            self.ngram.pop();
        }
    }

    fn next_backoff(&mut self, length: usize) -> f32 {
        if length == self.order {
            return 1.0;
        }
        let next = &mut self.next_backoffs[length];
        *next += 1;
        f32::from_bits(self.backoffs[length - 1][*next - 1])
    }
}
