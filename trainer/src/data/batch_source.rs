//! Sources of the micro-batches of an update: divided batches of the corpus, or a file.

use std::sync::Arc;

use super::{BatchFile, BatchOptions, BatchPosition, BatchReader, ParallelCorpus};

/// The limits at which a micro-batch is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MicroBatchLimits {
    /// The number n: a micro-batch is closed at n target tokens or 2n source tokens
    /// (`granule-words`).
    pub words: usize,
    /// A micro-batch is closed before its activations and gradients take more bytes than this
    /// (`granule-megabytes`).
    pub bytes: Option<usize>,
}

/// The token counts of a growing micro-batch. Source tokens count as well, so that long sources
/// with short targets do not make it too large.
#[derive(Clone, Copy, Debug)]
pub struct MicroBatchTokens {
    words: usize,
    /// The numbers of source and target tokens so far.
    tokens: [usize; 2],
}

impl MicroBatchTokens {
    /// Returns the counts of an empty micro-batch. `words` is [`MicroBatchLimits::words`].
    pub fn new(words: usize) -> Self {
        MicroBatchTokens { words, tokens: [0; 2] }
    }

    /// Adds a pair of sentences of these lengths. Returns whether the micro-batch is now full; the
    /// counts then begin again at 0.
    pub fn is_full_with(&mut self, lengths: [usize; 2]) -> bool {
        let [source, target] = [0, 1].map(|side| self.tokens[side] + lengths[side]);
        let is_full = target >= self.words || source >= self.words.saturating_mul(2);
        self.tokens = if is_full { [0; 2] } else { [source, target] };
        is_full
    }
}

/// A source of batches, divided into micro-batches, epoch after epoch.
pub enum BatchSource<'a> {
    /// Batches of the corpus.
    Corpus {
        /// The batches.
        reader: Box<BatchReader<'a>>,
        /// The corpus.
        corpus: &'a ParallelCorpus,
        /// The limits of a micro-batch.
        limits: MicroBatchLimits,
        /// The bytes that each sentence takes, if there is a limit in bytes.
        costs: Option<Arc<[usize]>>,
    },
    /// Batches of a file.
    File {
        /// The file.
        file: &'a BatchFile,
        /// The position of the next update.
        position: BatchPosition,
    },
}

impl<'a> BatchSource<'a> {
    /// Reads batches of a corpus from a position on. `costs` are the bytes of each sentence, needed
    /// for limits in bytes.
    ///
    /// # Errors
    /// If the corpus has no pairs, or the position is out of range.
    pub fn from_corpus(
        corpus: &'a ParallelCorpus,
        options: BatchOptions,
        limits: MicroBatchLimits,
        costs: Option<Arc<[usize]>>,
        position: BatchPosition,
    ) -> Result<Self, String> {
        let reader = BatchReader::with_costs(corpus, options, costs.clone(), position)?;
        Ok(BatchSource::Corpus { reader: Box::new(reader), corpus, limits, costs })
    }

    /// Reads batches of a file from a position on.
    ///
    /// # Errors
    /// If the position is out of range.
    pub fn from_file(file: &'a BatchFile, position: BatchPosition) -> Result<Self, String> {
        if position.taken > file.len() {
            return Err("the position of the training is beyond the end of --batches".into());
        }
        Ok(BatchSource::File { file, position })
    }

    /// Returns the position of the next batch.
    pub fn position(&self) -> &BatchPosition {
        match self {
            BatchSource::Corpus { reader, .. } => reader.position(),
            BatchSource::File { position, .. } => position,
        }
    }

    /// Whether this epoch has no further batch.
    pub fn is_at_epoch_end(&self) -> bool {
        match self {
            BatchSource::Corpus { reader, .. } => reader.is_at_epoch_end(),
            BatchSource::File { file, position } => position.taken == file.len(),
        }
    }

    /// Appends the micro-batches of the next batch, as indices of pairs. If a maxi-batch begins,
    /// `size_ratio` scales its batches.
    pub fn next_batch(&mut self, size_ratio: f64, micro_batches: &mut Vec<Vec<u32>>) {
        match self {
            BatchSource::Corpus { reader, corpus, limits, costs } => {
                let batch = reader.next_batch(size_ratio);
                split_into_micro_batches(corpus, batch, *limits, costs.as_deref(), micro_batches);
            }
            BatchSource::File { file, position } => {
                if position.taken == file.len() {
                    let epoch = position.epoch + 1;
                    *position = BatchPosition { epoch, ..BatchPosition::default() };
                }
                micro_batches.extend_from_slice(file.update(position.taken));
                position.taken += 1;
            }
        }
    }

    /// Skips batches until at least `sentences` sentences are skipped or the epoch ends.
    /// Returns the numbers of skipped sentences and batches.
    pub fn skip(&mut self, sentences: u64, size_ratio: f64) -> [u64; 2] {
        let [mut skipped, mut batches] = [0; 2];
        let mut micro_batches = Vec::new();
        while skipped < sentences && !self.is_at_epoch_end() {
            micro_batches.clear();
            self.next_batch(size_ratio, &mut micro_batches);
            skipped += micro_batches.iter().map(Vec::len).sum::<usize>() as u64;
            batches += 1;
        }
        [skipped, batches]
    }
}

/// Rounds the number `n` of micro-batches of a batch up to a multiple of 4 if it is above 2, so
/// that 2 or 4 workers share them equally. The result does not depend on the number of workers,
/// because updates must not depend on it.
fn balanced_number(n: usize) -> usize {
    if n <= 2 { n.max(1) } else { n.next_multiple_of(4) }
}

/// Divides a batch into micro-batches of about the same number of target tokens.
fn split_into_micro_batches(
    corpus: &ParallelCorpus,
    batch: &[u32],
    limits: MicroBatchLimits,
    costs: Option<&[usize]>,
    micro_batches: &mut Vec<Vec<u32>>,
) {
    let [source_tokens, target_tokens] = [0, 1].map(|side| -> usize {
        batch.iter().map(|&index| corpus.lengths(index as usize)[side]).sum()
    });
    let words = limits.words;
    let bytes_limit = limits.bytes.unwrap_or(usize::MAX);
    let bytes: usize = costs.map_or(0, |costs| batch.iter().map(|&i| costs[i as usize]).sum());
    let full = [
        target_tokens.div_ceil(words),
        source_tokens.div_ceil(words.saturating_mul(2)),
        bytes.div_ceil(bytes_limit.max(1)),
    ];
    let full = full.into_iter().max().unwrap_or(1);
    let number = balanced_number(full) as u128;
    // The number of equal shares of the batch that are complete after `token` target tokens.
    fn share(token: usize, number: u128, target_tokens: usize) -> u128 {
        token as u128 * number / target_tokens.max(1) as u128
    }
    let (mut micro_batch, mut bytes, mut before) = (Vec::new(), 0, 0);
    let mut tokens = MicroBatchTokens::new(words);
    for &index in batch {
        let lengths = corpus.lengths(index as usize);
        let cost = costs.map_or(0, |costs| costs[index as usize]);
        let exceeds = bytes + cost > bytes_limit;
        if exceeds && !micro_batch.is_empty() {
            micro_batches.push(std::mem::take(&mut micro_batch));
            (tokens, bytes) = (MicroBatchTokens::new(words), 0);
        }
        micro_batch.push(index);
        bytes += cost;
        let ends_share = share(before + lengths[1], number, target_tokens)
            > share(before, number, target_tokens);
        before += lengths[1];
        if tokens.is_full_with([lengths[0], 0]) || ends_share {
            micro_batches.push(std::mem::take(&mut micro_batch));
            (tokens, bytes) = (MicroBatchTokens::new(words), 0);
        }
    }
    if !micro_batch.is_empty() {
        micro_batches.push(micro_batch);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{BatchSize, LengthLimit, Shuffle, SortKey};

    fn corpus(targets: &[usize]) -> ParallelCorpus {
        let mut corpus = ParallelCorpus::default();
        for &length in targets {
            let limit = LengthLimit { tokens: 100, crops: false };
            corpus.push([&[5], &vec![7; length - 1]], [0, 0], limit);
        }
        corpus
    }

    #[test]
    fn micro_batches_are_closed_by_words_and_before_bytes() {
        let corpus = corpus(&[4, 3, 3, 6, 2, 2]);
        let split = |words, bytes, costs: Option<&[usize]>| {
            let mut micro_batches = Vec::new();
            let limits = MicroBatchLimits { words, bytes };
            split_into_micro_batches(
                &corpus,
                &[0, 1, 2, 3, 4, 5],
                limits,
                costs,
                &mut micro_batches,
            );
            micro_batches
        };
        assert_eq!(split(10, None, None), [vec![0, 1, 2], vec![3, 4, 5]]);
        // Three micro-batches would be enough; four are balanced.
        assert_eq!(split(7, None, None), [vec![0, 1], vec![2], vec![3], vec![4, 5]]);
        let costs: &[usize] = &[10, 10, 10, 50, 5, 5];
        // By the sum of bytes two would be enough, but a sentence above the limit is a micro-batch
        // alone.
        let micro_batches = split(100, Some(45), Some(costs));
        assert_eq!(micro_batches, [vec![0, 1, 2], vec![3], vec![4, 5]]);
        assert_eq!(split(7, Some(50), Some(costs)), [vec![0, 1], vec![2], vec![3], vec![4, 5]]);
        // A limit of memory divides evenly too.
        assert_eq!(split(100, Some(35), Some(&[10; 6])), [vec![0, 1, 2], vec![3, 4, 5]]);
    }

    #[test]
    fn micro_batches_are_full_at_tokens_of_either_side() {
        let count = |lengths: [usize; 2]| {
            let mut tokens = MicroBatchTokens::new(10);
            (1..).find(|_| tokens.is_full_with(lengths)).unwrap()
        };
        assert_eq!(count([1, 5]), 2);
        assert_eq!(count([12, 5]), 2);
        assert_eq!(count([10, 2]), 2);
        assert_eq!(count([4, 2]), 5);
        assert_eq!(count([3, 1]), 7);
        let mut tokens = MicroBatchTokens::new(10);
        assert!(tokens.is_full_with([1, 10]) && !tokens.is_full_with([1, 9]));
        assert!(tokens.is_full_with([1, 1]), "a new micro-batch is empty");
    }

    #[test]
    fn skipping_stops_at_the_end_of_the_epoch() {
        let corpus = corpus(&[3; 50]);
        let options = BatchOptions {
            size: BatchSize::Sentences(8),
            maxi_batch: 16,
            sort: SortKey::Target,
            shuffle: Shuffle::Data,
            seed: 1,
        };
        let source = || {
            let limits = MicroBatchLimits { words: 9, bytes: None };
            let position = BatchPosition::default();
            BatchSource::from_corpus(&corpus, options, limits, None, position).unwrap()
        };
        let (mut reading, mut skipping) = (source(), source());
        let mut micro_batches = Vec::new();
        (0..3).for_each(|_| reading.next_batch(1.0, &mut micro_batches));
        assert_eq!(micro_batches.len(), 12);
        assert_eq!(skipping.skip(20, 1.0), [24, 3]);
        assert_eq!(skipping.position(), reading.position());
        assert_eq!(skipping.skip(1000, 1.0), [26, 4]);
        assert!(skipping.is_at_epoch_end() && skipping.position().epoch == 1);
        assert_eq!(skipping.skip(5, 1.0), [0, 0]);
    }

    #[test]
    fn files_begin_again() {
        let corpus = corpus(&[3; 5]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("batches");
        std::fs::write(&path, "0 1\n2\n\n4\n").unwrap();
        let file = BatchFile::open(&path, &corpus).unwrap();
        let mut source = BatchSource::from_file(&file, BatchPosition::default()).unwrap();
        let mut next = || {
            let mut micro_batches = Vec::new();
            source.next_batch(1.0, &mut micro_batches);
            (micro_batches, source.position().epoch, source.is_at_epoch_end())
        };
        assert_eq!(next(), (vec![vec![0, 1], vec![2]], 1, false));
        assert_eq!(next(), (vec![vec![4]], 1, true));
        assert_eq!(next(), (vec![vec![0, 1], vec![2]], 2, false));
        let after_end = BatchPosition { taken: 3, ..BatchPosition::default() };
        assert!(BatchSource::from_file(&file, after_end).is_err());
    }
}
