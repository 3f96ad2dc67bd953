//! k-way merge of all runs, in the order of tables. Batches consist of whole source phrases,
//! because the counts of a source phrase are known only after its last phrase pair.

use std::cmp::Ordering;
use std::path::PathBuf;

use crate::Result;
use crate::checkpoint::FinishedPartition;
use crate::links::Link;
use crate::phrase_pair::PhrasePair;
use crate::phrases::compare_phrases;
use crate::sorted_run::RunReader;

/// All phrase pairs of consecutive source phrases.
#[derive(Default)]
pub(crate) struct PhrasePairBatch {
    pairs: Vec<PackedPair>,
    words: Vec<u32>,
    links: Vec<Link>,
    sources: Vec<SourceCounts>,
}

/// The counts of a source phrase.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceCounts {
    /// The number of occurrences in phrase pairs.
    pub count: u64,
    /// The number of distinct target phrases that it occurs with.
    pub distinct_targets: u32,
}

struct PackedPair {
    scalars: PhrasePair<'static>,
    source_words: u32,
    target_words: u32,
    links: u32,
}

impl PhrasePairBatch {
    fn clear(&mut self) {
        self.pairs.clear();
        self.words.clear();
        self.links.clear();
        self.sources.clear();
    }

    fn push(&mut self, entry: &PhrasePair<'_>) {
        self.words.extend_from_slice(entry.source);
        self.words.extend_from_slice(entry.target);
        self.links.extend_from_slice(entry.links);
        self.pairs.push(PackedPair {
            scalars: PhrasePair { source: &[], target: &[], links: &[], ..*entry },
            source_words: entry.source.len() as u32,
            target_words: entry.target.len() as u32,
            links: entry.links.len() as u32,
        });
    }

    /// Returns the source phrase of the last phrase pair.
    fn last_source(&self) -> Option<&[u32]> {
        let pair = self.pairs.last()?;
        let start = self.words.len() - (pair.source_words + pair.target_words) as usize;
        Some(&self.words[start..start + pair.source_words as usize])
    }

    /// Returns the number of phrase pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Calls `take` with every phrase pair and the counts of its source phrase, until a call fails.
    pub fn try_for_each_pair<E>(
        &self,
        mut take: impl FnMut(&SourceCounts, &PhrasePair<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let (mut words, mut links) = (&self.words[..], &self.links[..]);
        let mut pairs = self.pairs.iter();
        for source in &self.sources {
            for pair in pairs.by_ref().take(source.distinct_targets as usize) {
                let entry = PhrasePair {
                    source: split_front(&mut words, pair.source_words),
                    target: split_front(&mut words, pair.target_words),
                    links: split_front(&mut links, pair.links),
                    ..pair.scalars
                };
                take(source, &entry)?;
            }
        }
        Ok(())
    }

    /// Calls `take` with every phrase pair and the counts of its source phrase.
    pub fn for_each_pair(&self, mut take: impl FnMut(&SourceCounts, &PhrasePair<'_>)) {
        let Ok(()) = self.try_for_each_pair(|source, pair| {
            take(source, pair);
            Ok::<_, std::convert::Infallible>(())
        });
    }
}

fn split_front<'a, T>(list: &mut &'a [T], len: u32) -> &'a [T] {
    let (first, rest) = list.split_at(len as usize);
    *list = rest;
    first
}

/// A merger of several sorted runs.
pub(crate) struct RunMerger {
    /// Runs that are not at their end, as a binary min-heap by current phrase pair.
    heap: Vec<RunReader>,
    /// A batch with at least this number of phrase pairs ends after its current source phrase.
    batch_pairs: usize,
    /// The end markers of source and target phrases in comparisons.
    end_ranks: [u32; 2],
}

impl RunMerger {
    /// Reads the beginnings of `runs`, to be merged in batches of about `batch` phrase pairs.
    pub fn new(
        runs: &[(PathBuf, FinishedPartition)],
        ends: [u32; 2],
        batch: usize,
    ) -> Result<Self> {
        let mut merge = RunMerger { heap: Vec::new(), batch_pairs: batch, end_ranks: ends };
        for (path, run) in runs {
            let mut reader = RunReader::new(path, &run.checksum)?;
            if reader.advance()? {
                merge.heap.push(reader);
            }
        }
        (0..merge.heap.len() / 2).rev().for_each(|i| merge.sift_down(i));
        Ok(merge)
    }

    /// Returns the next source phrases with all their phrase pairs, in the memory of `batch`;
    /// `None` at the end.
    pub fn next_batch(&mut self, mut batch: PhrasePairBatch) -> Result<Option<PhrasePairBatch>> {
        batch.clear();
        let mut source = SourceCounts::default();
        while let Some(head) = self.heap.first_mut() {
            let entry = head.entry();
            if batch.last_source().is_some_and(|last| last != entry.source) {
                batch.sources.push(std::mem::take(&mut source));
                if batch.len() >= self.batch_pairs {
                    return Ok(Some(batch));
                }
            }
            source.count += u64::from(entry.count);
            source.distinct_targets += 1;
            batch.push(&entry);
            if !head.advance()? {
                self.heap.swap_remove(0);
            }
            self.sift_down(0);
        }
        if batch.pairs.is_empty() {
            return Ok(None);
        }
        batch.sources.push(source);
        Ok(Some(batch))
    }

    /// Moves the run at `at` down the heap until no child comes before it.
    fn sift_down(&mut self, mut at: usize) {
        loop {
            let children = 2 * at + 1..(2 * at + 3).min(self.heap.len());
            let first = children.min_by(|&a, &b| self.compare(a, b));
            match first {
                Some(child) if self.compare(child, at) == Ordering::Less => {
                    self.heap.swap(child, at);
                    at = child;
                }
                _ => return,
            }
        }
    }

    fn compare(&self, a: usize, b: usize) -> Ordering {
        let (a, b) = (self.heap[a].entry(), self.heap[b].entry());
        compare_phrases(a.source, b.source, self.end_ranks[0])
            .then_with(|| compare_phrases(a.target, b.target, self.end_ranks[1]))
    }
}
