//! Memory of a training run, computed from shapes before the training starts.
//!
//! The memory of the program itself and of the files that it has read is measured at the start: it
//! is the resident memory of the process without the corpus.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use miriam_nmt::Result;
use miriam_textio::process_memory::resident_bytes;

use super::config::TrainingConfig;
use super::run::Training;
use crate::data::{BatchPosition, BatchSize, BatchSource, MicroBatchTokens, ParallelCorpus};
use crate::kernels::Fast;
use crate::tape::{LossOptions, Tape, TapeSize, logits_block_rows};
use crate::trainable_model::TrainableModel;
use crate::update::{MicroBatchTree, OptimizerState, worker_share};

/// Bytes per number.
const NUMBER: usize = size_of::<f32>();
/// The number of updates whose micro-batches are counted.
const NUM_SAMPLED_UPDATES: usize = 1000;
/// The number of updates after which workers exchange gradients without new vectors.
const NUM_STEADY_UPDATES: usize = 16;

/// The memory that a training run needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The program, vocabularies and the validation set, as measured; 0 if the system does not
    /// report the memory of a process.
    pub program: usize,
    /// Parameters, as flat vectors and packed for products.
    pub parameters: usize,
    /// The state of the optimiser.
    pub optimizer: usize,
    /// The corpus.
    pub corpus: usize,
    /// The memory per worker for a micro-batch of the longest sentences, with as many tokens as the
    /// largest micro-batch of the first updates: activations and gradients, a block of logits, and
    /// copies for products.
    pub micro_batch: usize,
    /// Gradients of parameters and their sums, for all workers.
    pub gradients: usize,
    /// The number of workers.
    pub workers: usize,
    /// The copies of the parameters that validation makes, one as tensors and one packed; 0 if this
    /// process does not validate. The memory of translating is not included.
    pub validation: usize,
}

impl MemoryUse {
    /// Returns the total in bytes.
    pub fn total(&self) -> usize {
        let model = self.parameters + self.optimizer + self.gradients + self.validation;
        self.program + self.corpus + model + self.workers * self.micro_batch
    }

    /// Returns a line for the log.
    pub fn describe(&self) -> String {
        format!(
            "[memory] {} MB for the program and the corpus, {} MB for parameters, {} MB for the \
             optimiser, {} MB of gradients, about {} MB a worker, {} MB in validation; {} MB in \
             all",
            megabytes(self.program + self.corpus),
            megabytes(self.parameters),
            megabytes(self.optimizer),
            megabytes(self.gradients),
            megabytes(self.micro_batch),
            megabytes(self.validation),
            megabytes(self.total())
        )
    }

    /// Returns one line per part, with its bytes.
    pub fn table(&self) -> String {
        let workers = format!(" ({} workers)", self.workers);
        let micro_batches = self.workers * self.micro_batch;
        let rows = [
            ("program", self.program, ""),
            ("parameters", self.parameters, ""),
            ("optimiser", self.optimizer, ""),
            ("corpus", self.corpus, ""),
            ("activations of micro-batches", micro_batches, &workers[..]),
            ("gradients", self.gradients, &workers[..]),
            ("validation", self.validation, ""),
            ("total", self.total(), ""),
        ];
        rows.into_iter()
            .map(|(what, bytes, note)| {
                format!("{what:<28} {bytes:>16} bytes {:>8} MB{note}\n", megabytes(bytes))
            })
            .collect()
    }
}

fn megabytes(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

impl Training<'_> {
    /// Computes the memory of the training.
    ///
    /// # Errors
    /// If the device fails; never on a CPU.
    pub fn memory(&self) -> crate::error::Result<MemoryUse> {
        let program = self.program_bytes();
        let model = TrainableModel::<Fast>::new(self.config.architecture.clone())?
            .with_product_clip(self.config.product_clip);
        let values = vec![0.0; model.layout().len()];
        let optimizer = OptimizerState::new(&self.config.update, &values);
        let costs = self.sentence_costs(&model)?;
        Ok(self.count_memory(program, &model, &optimizer, costs.as_ref())?)
    }

    /// Returns the memory of the process in bytes before the training allocates memory, without the
    /// corpus.
    pub(super) fn program_bytes(&self) -> usize {
        let resident = resident_bytes().unwrap_or(0) as usize;
        resident.saturating_sub(self.corpus.num_bytes())
    }

    /// Computes the memory of the training with a model and its optimiser; `program` is the memory
    /// of the process before the training allocates memory.
    pub(super) fn count_memory(
        &self,
        program: usize,
        model: &TrainableModel<Fast>,
        optimizer: &OptimizerState<f32>,
        costs: Option<&Arc<[usize]>>,
    ) -> Result<MemoryUse> {
        let (config, len) = (self.config, model.layout().len());
        let (numbers, words) = self.sampled_micro_batches(costs);
        let (tape, rows) = match self.batches {
            Some(file) => {
                let largest = file
                    .micro_batches()
                    .max_by_key(|micro_batch| self.num_tokens(micro_batch).iter().sum::<usize>())
                    .unwrap_or_default();
                let mut tape = model.tape(Fast::default());
                let size = measure(config, model, &mut tape, self.corpus, largest)?;
                (size, self.num_tokens(largest)[1])
            }
            None => {
                let costs = costs.map(|costs| &costs[..]);
                (largest_micro_batch(config, model, self.corpus, costs, words)?, words)
            }
        };
        let target_words = model.architecture().embeddings().target_vocab_size;
        // The gradient of the output layer copies the logits.
        let logits = 2 * logits_block_rows(rows, target_words) * target_words;
        let workers = config.num_async_workers().max(1);
        let state = [&optimizer.first, &optimizer.second, &optimizer.average];
        // A validation script loads the model in its own process.
        let validation = &config.validation;
        let makes_copies =
            self.validates() && (validation.needs_set() || validation.training_sample > 0);
        // Each asynchronous worker has a packed copy of the parameters, a sum of gradients, the
        // residual and momentum of gradient dropping, and the state of its local optimiser. The
        // shards have the parameters, the state of the optimiser and a buffer; flat vectors have
        // the first two again, for validation and saving.
        let packed = len + model.registry().num_packed();
        let (parameters, states, own_gradients) = match &config.asynchronous {
            None => (packed, 1, 0),
            Some(options) => {
                let dropping = options.dropping.as_ref();
                let dropping_copies = dropping.map_or(0, |d| 1 + usize::from(d.momentum > 0.0));
                let local_copies = if options.local.is_some() { 2 } else { 0 };
                let own_gradients = workers * (1 + dropping_copies + local_copies) + 1;
                (workers * packed + 2 * len, 2, own_gradients)
            }
        };
        Ok(MemoryUse {
            program,
            parameters: parameters * NUMBER,
            optimizer: states * state.iter().map(|vector| vector.len() * NUMBER).sum::<usize>(),
            corpus: self.corpus.num_bytes() + costs.map_or(0, |costs| size_of_val(&costs[..])),
            micro_batch: (tape.values + tape.gradients + tape.buffers + logits) * NUMBER,
            gradients: (num_gradients(workers, &numbers) + own_gradients) * len * NUMBER,
            workers,
            validation: if makes_copies { 2 * len * NUMBER } else { 0 },
        })
    }

    /// Returns the number of micro-batches in each of the first updates, and the number of words of
    /// the largest micro-batch, at most the limit. The number of words of a micro-batch is its
    /// number of target tokens, or half its number of source tokens if that is larger.
    fn sampled_micro_batches(&self, costs: Option<&Arc<[usize]>>) -> (Vec<usize>, usize) {
        let (config, position) = (self.config, BatchPosition::default());
        let source = match self.batches {
            Some(file) => BatchSource::from_file(file, position),
            None => {
                let (batches, limits) = (config.batches, config.micro_batch_limits);
                BatchSource::from_corpus(self.corpus, batches, limits, costs.cloned(), position)
            }
        };
        let limit = config.micro_batch_limits.words;
        let Ok(mut source) = source else { return (vec![1], limit) };
        let (mut numbers, mut micro_batches, mut words) = (Vec::new(), Vec::new(), 1);
        for _ in 0..NUM_SAMPLED_UPDATES {
            micro_batches.clear();
            for _ in 0..config.optimizer_delay.max(1) {
                source.next_batch(1.0, &mut micro_batches);
            }
            numbers.push(micro_batches.len());
            words = micro_batches
                .iter()
                .map(|micro_batch| {
                    let [source, target] = self.num_tokens(micro_batch);
                    target.max(source.div_ceil(2))
                })
                .fold(words, usize::max);
            if source.is_at_epoch_end() {
                break;
            }
        }
        (numbers, words.min(limit))
    }

    /// Returns the number of tokens of a micro-batch, by side.
    fn num_tokens(&self, micro_batch: &[u32]) -> [usize; 2] {
        micro_batch.iter().fold([0, 0], |[source, target], &pair| {
            let lengths = self.corpus.lengths(pair as usize);
            [source + lengths[0], target + lengths[1]]
        })
    }

    /// Returns the size in bytes of the activations and gradients of each sentence, if batches or
    /// micro-batches are limited in bytes. Sentences of equal lengths need equal memory.
    pub(super) fn sentence_costs(
        &self,
        model: &TrainableModel<Fast>,
    ) -> Result<Option<Arc<[usize]>>> {
        let config = self.config;
        let counts_bytes = matches!(config.batches.size, BatchSize::Bytes(_))
            || config.micro_batch_limits.bytes.is_some();
        if !counts_bytes || self.batches.is_some() {
            return Ok(None);
        }
        let (mut known, mut tape) = (HashMap::new(), model.tape(Fast::default()));
        let costs = (0..self.corpus.len()).map(|pair| {
            let lengths = self.corpus.lengths(pair);
            if let Some(&cost) = known.get(&lengths) {
                return Ok(cost);
            }
            let TapeSize { values, gradients, .. } =
                measure(config, model, &mut tape, self.corpus, &[pair as u32])?;
            let cost = (values + gradients) * NUMBER;
            known.insert(lengths, cost);
            Ok(cost)
        });
        costs.collect::<Result<Arc<[usize]>>>().map(Some)
    }
}

/// Returns the number of gradient vectors that all workers have after updates with these numbers of
/// micro-batches. Each worker's tape has one vector; the others are in the workers' trees, which
/// exchange them.
fn num_gradients(workers: usize, numbers: &[usize]) -> usize {
    let mut trees: Vec<MicroBatchTree<f32>> =
        (0..workers).map(|_| MicroBatchTree::new(0)).collect();
    // A training run on a small corpus has more updates than one epoch.
    let updates = numbers.iter().cycle().take(numbers.len().max(NUM_STEADY_UPDATES));
    for &micro_batches in updates {
        for (worker, tree) in trees.iter_mut().enumerate() {
            for number in worker_share(worker, workers, micro_batches) {
                let gradient = tree.buffer();
                tree.push(number, gradient);
            }
        }
        let sum = MicroBatchTree::join(&mut trees.iter_mut().collect::<Vec<_>>());
        sum.into_iter().for_each(|sum| trees[0].recycle(sum));
    }
    workers + trees.iter().map(MicroBatchTree::num_spare).sum::<usize>()
}

/// Measures how many numbers the tape needs for some pairs.
fn measure(
    config: &TrainingConfig,
    model: &TrainableModel<Fast>,
    tape: &mut Tape<Fast>,
    corpus: &ParallelCorpus,
    pairs: &[u32],
) -> Result<TapeSize> {
    let sources: Vec<&[u32]> = pairs.iter().map(|&pair| corpus.source(pair as usize)).collect();
    let targets: Vec<&[u32]> = pairs.iter().map(|&pair| corpus.target(pair as usize)).collect();
    tape.measure(config.dropout, |tape| {
        model.loss(tape, &sources, &targets, LossOptions::default()).map(|_| ())
    })
}

/// Returns how many numbers the tape needs for the largest micro-batch: a micro-batch filled with
/// the longest pairs, the longest sources or the longest targets of the corpus. `costs` are the
/// bytes of each sentence, needed if micro-batches are limited in bytes.
fn largest_micro_batch(
    config: &TrainingConfig,
    model: &TrainableModel<Fast>,
    corpus: &ParallelCorpus,
    costs: Option<&[usize]>,
    words: usize,
) -> Result<TapeSize> {
    let limit = config.micro_batch_limits.bytes;
    let mut largest = TapeSize::default();
    for weights in [[1, 1], [1, 0], [0, 1]] {
        let mut micro_batch = longest_micro_batch(corpus, words, weights);
        if let (Some(costs), Some(limit)) = (costs, limit) {
            let mut bytes = 0;
            let exceeds = micro_batch.iter().position(|&pair| {
                bytes += costs[pair as usize];
                bytes > limit
            });
            // A single pair is a micro-batch even if it exceeds the limit.
            micro_batch.truncate(exceeds.map_or(micro_batch.len(), |at| at.max(1)));
        }
        let mut tape = model.tape(Fast::default());
        let size = measure(config, model, &mut tape, corpus, &micro_batch)?;
        if size.values + size.gradients > largest.values + largest.gradients {
            largest = size;
        }
    }
    Ok(largest)
}

/// Returns a full micro-batch of the longest pairs of the corpus, by weighted lengths of source and
/// target.
fn longest_micro_batch(corpus: &ParallelCorpus, words: usize, weights: [usize; 2]) -> Vec<u32> {
    // Ties are broken by the length of the other side.
    fn key(&pair: &u32, corpus: &ParallelCorpus, weights: &[usize; 2]) -> (usize, usize) {
        let [source, target] = corpus.lengths(pair as usize);
        (weights[0] * source + weights[1] * target, source + target)
    }
    let mut order: Vec<u32> = (0..corpus.len() as u32).collect();
    let most = words.min(corpus.len()).max(1);
    order.select_nth_unstable_by_key(most - 1, |pair| Reverse(key(pair, corpus, &weights)));
    order.truncate(most);
    order.sort_by_key(|pair| Reverse(key(pair, corpus, &weights)));
    let mut tokens = MicroBatchTokens::new(words);
    let count = order
        .iter()
        .position(|&pair| tokens.is_full_with(corpus.lengths(pair as usize)))
        .map_or(order.len(), |last| last + 1);
    order.truncate(count);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asynchronous::AsyncOptions;
    use crate::data::LengthLimit;
    use crate::options::RawOptions;
    use crate::training::{DecoderSettings, ModelFiles};
    use miriam_textio::{CancellationToken, NoProgress};

    /// Expected values are computed by hand: a worker has one vector per complete subtree, one for
    /// the micro-batch that it adds, and the vector of its tape.
    #[test]
    fn vectors_of_gradients_are_those_of_subtrees() {
        // The second micro-batch is added to the first one.
        assert_eq!(num_gradients(1, &[1]), 1 + 1);
        assert_eq!(num_gradients(1, &[2]), 1 + 2);
        // The subtrees have 4, 2 and 1 micro-batches; an eighth micro-batch would need a fourth
        // vector for a moment.
        assert_eq!(num_gradients(1, &[7]), 1 + 3);
        assert_eq!(num_gradients(1, &[7, 8, 1]), 1 + 4);
        // Each worker has three vectors. The sum of the second worker moves to the first. The first
        // returns half of its surplus, but too late for the second update.
        assert_eq!(num_gradients(2, &[8]), 2 + 3 + 4);
        // The second worker has nothing to do.
        assert_eq!(num_gradients(2, &[1]), 2 + 1);
    }

    /// Returns a corpus of pairs of these lengths, `</s>` included.
    fn corpus(pairs: &[([usize; 2], usize)]) -> ParallelCorpus {
        let mut corpus = ParallelCorpus::default();
        for &(lengths, count) in pairs {
            let sides = lengths.map(|length| vec![3; length - 1]);
            for _ in 0..count {
                let limit = LengthLimit { tokens: 100, crops: false };
                corpus.push([&sides[0], &sides[1]], [0, 0], limit);
            }
        }
        corpus
    }

    fn config() -> TrainingConfig {
        let yaml = "{dim-emb: 8, transformer-heads: 2, transformer-dim-ffn: 16, granule-words: 64}";
        let options = RawOptions::from_yaml(yaml.as_bytes(), "test").unwrap();
        options.training_config([11, 11]).unwrap()
    }

    /// The counted micro-batch needs at least as many numbers as any micro-batch that is computed.
    #[test]
    fn long_sources_with_short_targets_are_counted() {
        let config = config();
        let model = TrainableModel::<Fast>::new(config.architecture.clone()).unwrap();
        let pairs = [([50, 2], 64), ([20, 40], 1), ([10, 12], 30)];
        let corpus = corpus(&pairs);
        let counted =
            largest_micro_batch(&config, &model, &corpus, None, config.micro_batch_limits.words)
                .unwrap();
        let measure = |first: usize| {
            let mut tokens = MicroBatchTokens::new(config.micro_batch_limits.words);
            let (mut sources, mut targets) = (Vec::new(), Vec::new());
            for index in first..corpus.len() {
                sources.push(corpus.source(index));
                targets.push(corpus.target(index));
                if tokens.is_full_with(corpus.lengths(index)) {
                    break;
                }
            }
            let source_tokens: usize = sources.iter().map(|source| source.len()).sum();
            assert!(source_tokens < 2 * config.micro_batch_limits.words + 50, "{source_tokens}");
            let mut tape = model.tape(Fast::default());
            let size = tape.measure(config.dropout, |tape| {
                model.loss(tape, &sources, &targets, LossOptions::default()).map(|_| ())
            });
            let size = size.unwrap();
            size.values + size.gradients
        };
        let largest = [0, 64, 65].map(measure).into_iter().max().unwrap();
        assert!(counted.values + counted.gradients >= largest);
    }

    /// A limit in bytes leaves room for the copies of products and for a pair that exceeds it.
    #[test]
    fn limits_in_bytes_are_counted_with_buffers() {
        let mut config = config();
        let model = TrainableModel::<Fast>::new(config.architecture.clone()).unwrap();
        let (corpus, words) = (corpus(&[([20, 20], 8)]), config.micro_batch_limits.words);
        let mut tape = model.tape(Fast::default());
        let one = measure(&config, &model, &mut tape, &corpus, &[0]).unwrap();
        let bytes = (one.values + one.gradients) * NUMBER;
        for (limit, pairs) in [(1, 1), (bytes, 1), (2 * bytes, 2), (100 * bytes, 4)] {
            config.micro_batch_limits.bytes = Some(limit);
            let counted =
                largest_micro_batch(&config, &model, &corpus, Some(&[bytes; 8]), words).unwrap();
            let pairs: Vec<u32> = (0..pairs).collect();
            let expected = measure(&config, &model, &mut tape, &corpus, &pairs).unwrap();
            assert_eq!(counted, expected, "{limit} bytes");
            assert!(counted.buffers > 0);
        }
    }

    /// Returns the memory without the program, which changes between calls, and the number of
    /// parameters.
    fn count_parts(config: &TrainingConfig) -> (MemoryUse, usize) {
        let (stop, vocabularies) = (CancellationToken::new(), ["a".into(), "b".into()]);
        let decoder = DecoderSettings { folder: None, vocabularies, beam_size: 1, normalize: 0.0 };
        let training = Training {
            config,
            corpus: &corpus(&[([5, 5], 3)]),
            batches: None,
            validation: None,
            files: &ModelFiles { model: "model.npz".into() },
            options_yaml: "",
            decoder: &decoder,
            pretrained: None,
            vocabularies_fingerprint: 0,
            plot: None,
            stop: &stop,
            progress: &NoProgress,
        };
        let model = TrainableModel::<Fast>::new(config.architecture.clone()).unwrap();
        let memory = MemoryUse { program: 0, ..training.memory().unwrap() };
        (memory, model.layout().len())
    }

    /// Shards have the parameters and the optimiser's state, and so have the flat vectors that are
    /// gathered from them.
    #[test]
    fn shards_and_their_copies_are_counted() {
        let mut config = config();
        config.workers = 3;
        let (synchronous, len) = count_parts(&config);
        config.asynchronous = Some(AsyncOptions {
            delay: 1,
            scales_rate_by_delay: false,
            gradient_buffer: 1,
            local: None,
            dropping: None,
        });
        let (asynchronous, _) = count_parts(&config);
        assert_eq!(asynchronous.parameters, 3 * synchronous.parameters + 8 * len);
        assert_eq!(asynchronous.optimizer, 2 * synchronous.optimizer);
        assert!(synchronous.optimizer >= 8 * len, "Adam has two vectors");
    }

    #[test]
    fn validation_is_counted() {
        let count = |more: &str| {
            let mut config = config();
            let options = RawOptions::from_yaml(more.as_bytes(), "test").unwrap();
            config.validation = options.training_config([11, 11]).unwrap().validation;
            count_parts(&config)
        };
        // A script loads the model in its own process; a sample of the text is scored in this
        // process.
        let script = "{valid-metrics: [valid-script], valid-script-path: a";
        let (without, len) = count("{}");
        assert_eq!(without.validation, 0);
        assert_eq!(count(&format!("{script}}}")).0, without);
        let (with, _) = count(&format!("{script}, train-ce-sample: 2}}"));
        // Two copies of parameters in f32.
        assert_eq!(with.validation, 8 * len);
        assert_eq!(with.total(), without.total() + 8 * len);
        assert_eq!(MemoryUse { validation: 0, ..with }, without);
        assert!(with.describe().contains("in validation"));
        // At least eleven logits per row of a micro-batch.
        assert!(with.micro_batch > 11 * 64 * 4);
    }
}
