//! Batches of an epoch, and the position of a training run in them.
//!
//! The order of sentences is a function of seed and epoch. Each maxi-batch is sorted by length and
//! divided into batches, which are shuffled. Sentences that do not fill the last batch of a
//! maxi-batch are carried over into the next maxi-batch, so that batches have similar sizes. The
//! position is a few numbers, from which a resumed training run continues with the same batches.

use std::sync::Arc;

use super::ParallelCorpus;
use crate::random::RandomStream;

/// Random streams for the order of sentences, and for the order of a maxi-batch's batches.
const SENTENCES_STREAM: u32 = 2;
const BATCHES_STREAM: u32 = 3;
/// The random stream for a sample of the corpus.
const SAMPLE_STREAM: u32 = 4;

/// The unit of shuffling (`shuffle`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shuffle {
    /// Sentences and batches.
    #[default]
    Data,
    /// Batches.
    Batches,
    /// Nothing.
    None,
}

/// The side by whose length a maxi-batch is sorted (`maxi-batch-sort`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SortKey {
    /// The target, then the source.
    #[default]
    Target,
    /// The source, then the target.
    Source,
    /// No sorting.
    None,
}

/// The size at which a batch is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchSize {
    /// At this many sentences (`mini-batch`).
    Sentences(usize),
    /// When its source has more tokens than this, as in Marian (`mini-batch-words`).
    SourceTokens(usize),
    /// When its target has at least this many tokens.
    TargetTokens(usize),
    /// Before activations and gradients take more bytes than this (`mini-batch-fit`).
    Bytes(usize),
}

/// Options by which a corpus is divided into batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchOptions {
    /// The size of a batch.
    pub size: BatchSize,
    /// The number of sentences that are sorted together.
    pub maxi_batch: usize,
    /// The side by whose length these sentences are sorted.
    pub sort: SortKey,
    /// What is shuffled.
    pub shuffle: Shuffle,
    /// The seed of all shuffling.
    pub seed: u64,
}

/// The position of a training run in an epoch, from which it continues with the same batches.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchPosition {
    /// The number of the epoch, from 1.
    pub epoch: u64,
    /// The index of the maxi-batch's first sentence in the order of the epoch.
    pub maxi_start: usize,
    /// Sentences that earlier maxi-batches left over.
    pub carried: Vec<u32>,
    /// The number of batches already taken from the maxi-batch.
    pub taken: usize,
    /// The factor of batch sizes of this maxi-batch (`mini-batch-warmup`).
    pub size_ratio: f64,
}

impl Default for BatchPosition {
    fn default() -> Self {
        BatchPosition { epoch: 1, maxi_start: 0, carried: Vec::new(), taken: 0, size_ratio: 1.0 }
    }
}

/// Reader of a corpus, batch by batch and epoch after epoch.
pub struct BatchReader<'a> {
    corpus: &'a ParallelCorpus,
    options: BatchOptions,
    position: BatchPosition,
    /// The order of sentences in this epoch.
    order: Vec<u32>,
    /// The batches of this maxi-batch.
    batches: Vec<Vec<u32>>,
    /// The sentences that the batches of this maxi-batch leave over.
    left_over: Vec<u32>,
    next_maxi_start: usize,
    /// The bytes of each sentence.
    costs: Option<Arc<[usize]>>,
}

impl<'a> BatchReader<'a> {
    /// Creates a reader that begins at a position.
    ///
    /// # Errors
    /// If the corpus has no pairs, or the position is out of range.
    ///
    /// # Panics
    /// If the size of batches is in bytes, which needs [`with_costs`](Self::with_costs).
    pub fn new(
        corpus: &'a ParallelCorpus,
        options: BatchOptions,
        position: BatchPosition,
    ) -> Result<Self, String> {
        Self::with_costs(corpus, options, None, position)
    }

    /// Creates a reader that begins at a position. `costs` are the bytes of each sentence, which
    /// [`BatchSize::Bytes`] needs.
    ///
    /// # Errors
    /// If the corpus has no pairs, or the position is out of range.
    ///
    /// # Panics
    /// If the number of costs differs from the number of sentences, or costs are missing where they
    /// are needed.
    pub fn with_costs(
        corpus: &'a ParallelCorpus,
        options: BatchOptions,
        costs: Option<Arc<[usize]>>,
        position: BatchPosition,
    ) -> Result<Self, String> {
        assert!(
            costs.as_ref().is_none_or(|costs| costs.len() == corpus.len()),
            "one cost per sentence"
        );
        if corpus.is_empty() {
            return Err("the corpus has no sentence pairs within the length limits".into());
        }
        if position.maxi_start > corpus.len()
            || !position.carried.iter().all(|&index| (index as usize) < corpus.len())
        {
            return Err("the position of the training is beyond the end of the corpus".into());
        }
        let mut reader = BatchReader {
            corpus,
            options,
            order: Vec::new(),
            batches: Vec::new(),
            left_over: Vec::new(),
            next_maxi_start: 0,
            costs,
            position,
        };
        reader.order = reader.order_of_epoch();
        reader.divide();
        if reader.position.taken > reader.batches.len() {
            return Err(
                "the position of the training is beyond the batches of its maxi-batch".into()
            );
        }
        Ok(reader)
    }

    /// Returns the position of the next batch.
    pub fn position(&self) -> &BatchPosition {
        &self.position
    }

    /// Whether this epoch has no further batch.
    pub fn is_at_epoch_end(&self) -> bool {
        self.position.taken == self.batches.len() && self.next_maxi_start >= self.order.len()
    }

    /// Returns the indices of the sentences of the next batch. If a maxi-batch begins, `size_ratio`
    /// scales its batches.
    pub fn next_batch(&mut self, size_ratio: f64) -> &[u32] {
        while self.position.taken == self.batches.len() {
            if self.next_maxi_start >= self.order.len() {
                self.position = BatchPosition {
                    epoch: self.position.epoch + 1,
                    size_ratio,
                    ..BatchPosition::default()
                };
                self.order = self.order_of_epoch();
            } else {
                self.position.maxi_start = self.next_maxi_start;
                self.position.carried = std::mem::take(&mut self.left_over);
                (self.position.taken, self.position.size_ratio) = (0, size_ratio);
            }
            self.divide();
        }
        self.position.taken += 1;
        &self.batches[self.position.taken - 1]
    }

    fn random(&self, stream: [u32; 2]) -> RandomStream {
        let seed = self.options.seed;
        let [stream, part] = stream;
        let epoch = self.position.epoch as u32;
        RandomStream::new([seed as u32, (seed >> 32) as u32], [epoch, part, stream])
    }

    fn order_of_epoch(&self) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.corpus.len() as u32).collect();
        if self.options.shuffle == Shuffle::Data {
            shuffle(&mut order, self.random([SENTENCES_STREAM, 0]));
        }
        order
    }

    /// Returns a size of batches multiplied by the factor of this maxi-batch, at least 1.
    fn scaled(&self, size: usize) -> usize {
        ((size as f64 * self.position.size_ratio) as usize).max(1)
    }

    /// Divides the current maxi-batch into batches.
    fn divide(&mut self) {
        let start = self.position.maxi_start;
        let end = self.order.len().min(start.saturating_add(self.options.maxi_batch.max(1)));
        self.next_maxi_start = end;
        let mut sentences = self.position.carried.clone();
        sentences.extend_from_slice(&self.order[start..end]);

        // Longest first, ties in the order of the corpus. Without sorting, the order stays.
        sentences.sort_by_cached_key(|index| {
            let [source, target] = self.corpus.lengths(*index as usize);
            let key = match self.options.sort {
                SortKey::Target => Some((target, source)),
                SortKey::Source => Some((source, target)),
                SortKey::None => None,
            };
            key.map(|key| (std::cmp::Reverse(key), *index))
        });
        self.batches.clear();
        // The unit of `count` is tokens or bytes.
        let (mut batch, mut count) = (Vec::new(), 0);
        for index in sentences {
            let [source, target] = self.corpus.lengths(index as usize);
            if let BatchSize::Bytes(limit) = self.options.size {
                let cost = self.costs.as_ref().expect("costs of sentences")[index as usize];
                if count + cost > self.scaled(limit) && !batch.is_empty() {
                    self.batches.push(std::mem::take(&mut batch));
                    count = 0;
                }
                count += cost;
            }
            batch.push(index);
            let is_full = match self.options.size {
                BatchSize::Sentences(count) => batch.len() >= self.scaled(count),
                BatchSize::SourceTokens(limit) => {
                    count += source;
                    count > self.scaled(limit)
                }
                BatchSize::TargetTokens(limit) => {
                    count += target;
                    count >= self.scaled(limit)
                }
                BatchSize::Bytes(_) => false,
            };
            if is_full {
                self.batches.push(std::mem::take(&mut batch));
                count = 0;
            }
        }
        let is_last = end == self.order.len();
        if is_last && !batch.is_empty() {
            self.batches.push(std::mem::take(&mut batch));
        }
        self.left_over = batch;
        if self.options.shuffle != Shuffle::None {
            let random = self.random([BATCHES_STREAM, start as u32]);
            shuffle(&mut self.batches, random);
        }
    }
}

/// Draws `count` pairs of a corpus of `len` pairs with a seed, or all pairs if `count` is larger.
/// Returns their indices, ascending.
pub fn sample_pairs(len: usize, count: usize, seed: u64) -> Vec<u32> {
    let mut pairs: Vec<u32> = (0..len as u32).collect();
    if count < len {
        let key = [seed as u32, (seed >> 32) as u32];
        shuffle(&mut pairs, RandomStream::new(key, [0, 0, SAMPLE_STREAM]));
        pairs.truncate(count);
        pairs.sort_unstable();
    }
    pairs
}

/// Shuffles by Fisher and Yates.
fn shuffle<T>(items: &mut [T], mut random: RandomStream) {
    for last in (1..items.len()).rev() {
        items.swap(last, random.next_below(last as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LengthLimit;

    fn corpus(lengths: &[[usize; 2]]) -> ParallelCorpus {
        let mut corpus = ParallelCorpus::default();
        for lengths in lengths {
            // One less, for `</s>`.
            let sides = lengths.map(|length| vec![7; length - 1]);
            let limit = LengthLimit { tokens: 100, crops: false };
            corpus.push([&sides[0], &sides[1]], [0, 0], limit);
        }
        corpus
    }

    fn random_corpus(count: usize) -> ParallelCorpus {
        let mut random = RandomStream::new([1, 2], [3, 4, 5]);
        let mut length = || 2 + random.next_below(40) as usize;
        corpus(&(0..count).map(|_| [length(), length()]).collect::<Vec<_>>())
    }

    fn options(size: BatchSize, maxi_batch: usize) -> BatchOptions {
        BatchOptions { size, maxi_batch, sort: SortKey::Target, shuffle: Shuffle::Data, seed: 1 }
    }

    #[test]
    fn every_sentence_comes_once_an_epoch() {
        let corpus = random_corpus(10_000);
        let sizes =
            [BatchSize::Sentences(64), BatchSize::SourceTokens(500), BatchSize::TargetTokens(500)];
        for size in sizes {
            let options = options(size, 640);
            let mut reader = BatchReader::new(&corpus, options, BatchPosition::default()).unwrap();
            for epoch in 1..=2 {
                let mut seen = vec![0; corpus.len()];
                let mut batches = 0;
                while !(reader.is_at_epoch_end() && batches > 0) {
                    let batch = reader.next_batch(1.0).to_vec();
                    assert_eq!(reader.position().epoch, epoch);
                    batch.iter().for_each(|&index| seen[index as usize] += 1);
                    let tokens: usize =
                        batch.iter().map(|&i| corpus.source(i as usize).len()).sum();
                    assert!(tokens <= 541 || size != BatchSize::SourceTokens(500));
                    batches += 1;
                }
                assert!(seen.iter().all(|&count| count == 1));
            }
        }
    }

    #[test]
    fn limits_are_those_of_marian() {
        // With a limit in source tokens, the sentence that exceeds the limit is the last of its
        // batch.
        let corpus = corpus(&[[5, 9], [5, 8], [5, 7], [5, 6], [5, 5]]);
        let batches = |size| {
            let options = BatchOptions { shuffle: Shuffle::None, ..options(size, 100) };
            let mut reader = BatchReader::new(&corpus, options, BatchPosition::default()).unwrap();
            let mut batches = vec![reader.next_batch(1.0).to_vec()];
            while !reader.is_at_epoch_end() {
                batches.push(reader.next_batch(1.0).to_vec());
            }
            batches
        };
        assert_eq!(batches(BatchSize::SourceTokens(10)), [vec![0, 1, 2], vec![3, 4]]);
        assert_eq!(batches(BatchSize::SourceTokens(9)), [vec![0, 1], vec![2, 3], vec![4]]);
        assert_eq!(batches(BatchSize::TargetTokens(17)), [vec![0, 1], vec![2, 3, 4]]);
        assert_eq!(batches(BatchSize::Sentences(3)), [vec![0, 1, 2], vec![3, 4]]);
    }

    #[test]
    fn batches_are_closed_before_they_exceed_bytes() {
        let corpus = corpus(&[[5, 9], [5, 8], [5, 7], [5, 6], [5, 5]]);
        let batches = |limit| {
            let options =
                BatchOptions { shuffle: Shuffle::None, ..options(BatchSize::Bytes(limit), 100) };
            let costs: Arc<[usize]> = [30, 25, 20, 15, 10].into();
            let position = BatchPosition::default();
            let reader = BatchReader::with_costs(&corpus, options, Some(costs), position);
            let mut reader = reader.unwrap();
            let mut batches = vec![reader.next_batch(1.0).to_vec()];
            while !reader.is_at_epoch_end() {
                batches.push(reader.next_batch(1.0).to_vec());
            }
            batches
        };
        // The limit may be hit exactly; a sentence above it is a batch alone.
        assert_eq!(batches(55), [vec![0, 1], vec![2, 3, 4]]);
        assert_eq!(batches(54), [vec![0], vec![1, 2], vec![3, 4]]);
        assert_eq!(batches(24), [vec![0], vec![1], vec![2], vec![3], vec![4]]);
        assert_eq!(batches(25), [vec![0], vec![1], vec![2], vec![3, 4]]);
    }

    #[test]
    fn what_is_left_over_goes_into_the_next_maxi_batch() {
        let corpus = random_corpus(100);
        let options = options(BatchSize::Sentences(7), 10);
        let mut reader = BatchReader::new(&corpus, options, BatchPosition::default()).unwrap();
        let mut sizes = Vec::new();
        while sizes.is_empty() || !reader.is_at_epoch_end() {
            sizes.push(reader.next_batch(1.0).len());
        }
        sizes.sort_unstable();
        assert_eq!(sizes, [vec![2], vec![7; 14]].concat());
    }

    #[test]
    fn reading_resumes_at_a_saved_position() {
        let corpus = random_corpus(500);
        for size in [BatchSize::Sentences(7), BatchSize::SourceTokens(200)] {
            let options = options(size, 60);
            let mut reader = BatchReader::new(&corpus, options, BatchPosition::default()).unwrap();
            let ratio = |number: usize| 0.5 + (number % 3) as f64 / 4.0;
            let mut positions = Vec::new();
            let mut batches = Vec::new();
            for number in 0..200 {
                positions.push(reader.position().clone());
                batches.push(reader.next_batch(ratio(number)).to_vec());
            }
            for from in [0, 1, 13, 50, 120] {
                let position = positions[from].clone();
                let mut resumed = BatchReader::new(&corpus, options, position).unwrap();
                for (number, batch) in batches.iter().enumerate().skip(from) {
                    assert_eq!(resumed.next_batch(ratio(number)), batch);
                }
            }
        }
    }

    #[test]
    fn samples_are_drawn_by_seed() {
        let sample = |count, seed| sample_pairs(100, count, seed);
        let ten = sample(10, 1);
        assert!(ten.len() == 10 && ten.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(ten == sample(10, 1) && ten != sample(10, 2));
        assert_eq!(sample(1000, 1), (0..100).collect::<Vec<u32>>());
    }

    #[test]
    fn epochs_are_shuffled_by_seed_and_number() {
        let corpus = random_corpus(300);
        let all = BatchOptions { maxi_batch: usize::MAX, ..options(BatchSize::Sentences(7), 1) };
        let position = BatchPosition { maxi_start: 7, ..BatchPosition::default() };
        assert!(BatchReader::new(&corpus, all, position).is_ok(), "no overflow");
        let first = |seed, shuffle| {
            let options = BatchOptions { seed, shuffle, ..options(BatchSize::Sentences(300), 300) };
            let options = BatchOptions { sort: SortKey::None, ..options };
            let mut reader = BatchReader::new(&corpus, options, BatchPosition::default()).unwrap();
            [reader.next_batch(1.0).to_vec(), reader.next_batch(1.0).to_vec()]
        };
        let [one, two] = first(1, Shuffle::Data);
        assert_ne!(one, two);
        assert_ne!(one, first(2, Shuffle::Data)[0]);
        assert_eq!(one, first(1, Shuffle::Data)[0]);
        let unshuffled: Vec<u32> = (0..300).collect();
        assert_eq!(first(1, Shuffle::None), [unshuffled.clone(), unshuffled]);
    }
}
