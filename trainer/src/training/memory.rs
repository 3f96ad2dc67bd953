//! The memory of a training, counted from shapes before anything is computed.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use miriam_nmt::Result;

use super::config::TrainingConfig;
use super::run::Training;
use crate::data::{BatchPosition, BatchSize, BatchSource, GranuleTokens, ParallelCorpus};
use crate::kernels::Fast;
use crate::tape::{LossOptions, Tape, TapeSize, logits_block_rows};
use crate::trainable_model::TrainableModel;
use crate::update::OptimizerState;

/// Bytes of a number.
const NUMBER: usize = size_of::<f32>();
/// Updates that are looked at for the one with most granules.
const NUM_SAMPLED_UPDATES: usize = 1000;

/// What a training needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// Parameters, as they are and packed for products.
    pub parameters: usize,
    /// The state of the optimiser.
    pub optimizer: usize,
    /// The corpus.
    pub corpus: usize,
    /// Of each worker: the results and gradients of the largest granule, and a block of logits.
    pub granule: usize,
    /// Of each worker: gradients of parameters, and sums of them.
    pub gradients: usize,
    /// The number of workers.
    pub workers: usize,
    /// The copies of the model that validation makes, packed for products and not, beside all
    /// else; 0 without. What translations need by the way is not in it.
    pub validation: usize,
}

impl MemoryUse {
    /// All of it.
    pub fn total(&self) -> usize {
        let worker = self.granule + self.gradients;
        let all = self.parameters + self.optimizer + self.corpus + self.workers * worker;
        all + self.validation
    }

    /// A line for the log.
    pub fn describe(&self) -> String {
        format!(
            "[memory] {} MB of parameters, {} MB of the optimiser, about {} MB a worker, {} MB \
             in validation: {} MB",
            megabytes(self.parameters),
            megabytes(self.optimizer),
            megabytes(self.granule + self.gradients),
            megabytes(self.validation),
            megabytes(self.total())
        )
    }

    /// A line for each part, with bytes.
    pub fn table(&self) -> String {
        let of_workers =
            |bytes: usize| (self.workers * bytes, format!(" ({} workers)", self.workers));
        let (granules, workers) = of_workers(self.granule);
        let (gradients, _) = of_workers(self.gradients);
        let rows = [
            ("parameters", self.parameters, ""),
            ("optimiser", self.optimizer, ""),
            ("corpus", self.corpus, ""),
            ("results of granules", granules, &workers[..]),
            ("gradients", gradients, &workers[..]),
            ("validation", self.validation, ""),
            ("total", self.total(), ""),
        ];
        let line = |(what, bytes, note): (&str, usize, &str)| {
            format!("{what:<20} {bytes:>16} bytes {:>8} MB{note}\n", megabytes(bytes))
        };
        rows.into_iter().map(line).collect()
    }
}

fn megabytes(bytes: usize) -> usize {
    bytes.div_ceil(1 << 20)
}

impl Training<'_> {
    /// Counts the memory of the training.
    ///
    /// # Errors
    /// None on a CPU.
    pub fn memory(&self) -> crate::error::Result<MemoryUse> {
        let model = TrainableModel::<Fast>::new(self.config.architecture.clone())?;
        let values = vec![0.0; model.layout().len()];
        let optimizer = OptimizerState::new(&self.config.update, &values);
        let costs = self.sentence_costs(&model)?;
        Ok(self.count_memory(&model, &optimizer, costs.as_ref())?)
    }

    /// Counts the memory of the training with a model and its optimiser.
    pub(super) fn count_memory(
        &self,
        model: &TrainableModel<Fast>,
        optimizer: &OptimizerState<f32>,
        costs: Option<&Arc<[usize]>>,
    ) -> Result<MemoryUse> {
        let (config, len) = (self.config, model.layout().len());
        let (tape, rows) = match (costs, self.batches) {
            (Some(costs), None) => {
                (largest_by_costs(config, self.corpus, costs), config.granule_limits.words)
            }
            (_, Some(file)) => {
                let sum = |granule: &[u32], side: fn([usize; 2]) -> usize| -> usize {
                    granule.iter().map(|&pair| side(self.corpus.lengths(pair as usize))).sum()
                };
                let tokens = |granule: &&[u32]| sum(granule, |[source, target]| source + target);
                let largest = file.granules().max_by_key(tokens).unwrap_or_default();
                let mut tape = model.tape(Fast::default());
                let size = measure(config, model, &mut tape, self.corpus, largest)?;
                (size, sum(largest, |[_, target]| target))
            }
            (None, None) => {
                (largest_granule(config, model, self.corpus)?, config.granule_limits.words)
            }
        };
        let target_words = model.architecture().embeddings().target_vocab_size;
        let logits = logits_block_rows(rows, target_words) * target_words;
        let granules = self.most_granules(costs);
        let workers = config.workers.max(1);
        let first = |worker: usize| (worker * granules).div_ceil(workers);
        let sums = (0..workers).map(|worker| most_sums(first(worker)..first(worker + 1)));
        let state = [&optimizer.first, &optimizer.second, &optimizer.average];
        // A script alone loads the model in its own process.
        let validation = &config.validation;
        let makes_copies =
            self.validates() && (validation.needs_set() || validation.training_sample > 0);
        Ok(MemoryUse {
            parameters: 3 * len * NUMBER,
            optimizer: state.iter().map(|vector| vector.len() * NUMBER).sum(),
            corpus: self.corpus.num_bytes() + costs.map_or(0, |costs| size_of_val(&costs[..])),
            granule: (tape.values + tape.gradients + logits) * NUMBER,
            // That of the granule itself as well.
            gradients: (1 + sums.max().unwrap_or(0)) * len * NUMBER,
            workers,
            validation: if makes_copies { 2 * len * NUMBER } else { 0 },
        })
    }

    /// The number of granules in the largest update of the first ones.
    fn most_granules(&self, costs: Option<&Arc<[usize]>>) -> usize {
        let (config, position) = (self.config, BatchPosition::default());
        let source = match self.batches {
            Some(file) => BatchSource::of_file(file, position),
            None => {
                let (batches, limits) = (config.batches, config.granule_limits);
                BatchSource::of_corpus(self.corpus, batches, limits, costs.cloned(), position)
            }
        };
        let Ok(mut source) = source else { return 1 };
        let (mut most, mut granules) = (1, Vec::new());
        for _ in 0..NUM_SAMPLED_UPDATES {
            granules.clear();
            for _ in 0..config.optimizer_delay.max(1) {
                source.next_batch(1.0, &mut granules);
            }
            most = most.max(granules.len());
            if source.is_at_epoch_end() {
                break;
            }
        }
        most
    }

    /// The bytes of results and gradients of each sentence, if batches or granules are limited by
    /// them. Sentences of equal lengths need the same.
    pub(super) fn sentence_costs(
        &self,
        model: &TrainableModel<Fast>,
    ) -> Result<Option<Arc<[usize]>>> {
        let config = self.config;
        let counts_bytes = matches!(config.batches.size, BatchSize::Bytes(_))
            || config.granule_limits.bytes.is_some();
        if !counts_bytes || self.batches.is_some() {
            return Ok(None);
        }
        let (mut known, mut tape) = (HashMap::new(), model.tape(Fast::default()));
        let mut cost = |pair: usize| {
            let lengths = self.corpus.lengths(pair);
            if let Some(&cost) = known.get(&lengths) {
                return Ok(cost);
            }
            let TapeSize { values, gradients } =
                measure(config, model, &mut tape, self.corpus, &[pair as u32])?;
            let cost = (values + gradients) * NUMBER;
            known.insert(lengths, cost);
            Ok(cost)
        };
        (0..self.corpus.len()).map(&mut cost).collect::<Result<Arc<[usize]>>>().map(Some)
    }
}

/// The largest granule that costs allow.
fn largest_by_costs(config: &TrainingConfig, corpus: &ParallelCorpus, costs: &[usize]) -> TapeSize {
    let longest =
        longest_granule(config, corpus, [1, 1]).iter().map(|&pair| costs[pair as usize]).sum();
    let single = costs.iter().copied().max().unwrap_or(0);
    let limit = config.granule_limits.bytes.unwrap_or(usize::MAX);
    let bytes: usize = single.max(limit.min(longest));
    TapeSize { values: bytes / NUMBER, gradients: 0 }
}

/// The most sums of gradients at a time of a worker that adds up these granules: one for each
/// complete subtree, as `update` joins them.
fn most_sums(granules: Range<usize>) -> usize {
    let (mut subtrees, mut most): (Vec<(u32, usize)>, usize) = (Vec::new(), 0);
    for number in granules {
        subtrees.push((0, number));
        most = most.max(subtrees.len());
        while let [.., (left_level, left), (level, right)] = subtrees[..]
            && left_level == level
            && left % 2 == 0
            && left + 1 == right
        {
            subtrees.truncate(subtrees.len() - 2);
            subtrees.push((level + 1, left / 2));
        }
    }
    most
}

/// The numbers of the tape for some pairs.
fn measure(
    config: &TrainingConfig,
    model: &TrainableModel<Fast>,
    tape: &mut Tape<Fast>,
    corpus: &ParallelCorpus,
    pairs: &[u32],
) -> Result<TapeSize> {
    let side = |text: fn(&ParallelCorpus, usize) -> &[u32]| -> Vec<&[u32]> {
        pairs.iter().map(|&pair| text(corpus, pair as usize)).collect()
    };
    let (sources, targets) = (side(ParallelCorpus::source), side(ParallelCorpus::target));
    tape.measure(config.dropout, |tape| {
        model.loss(tape, &sources, &targets, LossOptions::default()).map(|_| ())
    })
}

/// The numbers of the tape for the largest granule: the longest pairs of the corpus, the
/// longest sources, or the longest targets, as many as fill one.
fn largest_granule(
    config: &TrainingConfig,
    model: &TrainableModel<Fast>,
    corpus: &ParallelCorpus,
) -> Result<TapeSize> {
    let mut largest = TapeSize::default();
    for weights in [[1, 1], [1, 0], [0, 1]] {
        let granule = longest_granule(config, corpus, weights);
        let mut tape = model.tape(Fast::default());
        let size = measure(config, model, &mut tape, corpus, &granule)?;
        if size.values + size.gradients > largest.values + largest.gradients {
            largest = size;
        }
    }
    Ok(largest)
}

/// The longest pairs of the corpus by weights of source and target, as many as fill a granule.
fn longest_granule(
    config: &TrainingConfig,
    corpus: &ParallelCorpus,
    weights: [usize; 2],
) -> Vec<u32> {
    let words = config.granule_limits.words;
    // Of equal ones those that are longer on the other side.
    let key = |&pair: &u32| {
        let [source, target] = corpus.lengths(pair as usize);
        (weights[0] * source + weights[1] * target, source + target)
    };
    let mut order: Vec<u32> = (0..corpus.len() as u32).collect();
    let most = words.min(corpus.len()).max(1);
    order.select_nth_unstable_by_key(most - 1, |pair| Reverse(key(pair)));
    order.truncate(most);
    order.sort_by_key(|pair| Reverse(key(pair)));
    let mut tokens = GranuleTokens::new(words);
    let is_full = |&pair: &u32| tokens.is_full_with(corpus.lengths(pair as usize));
    let count = order.iter().position(is_full).map_or(order.len(), |last| last + 1);
    order.truncate(count);
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LengthLimit;
    use crate::options::RawOptions;
    use crate::training::{DecoderSettings, ModelFiles};
    use miriam_textio::{CancellationToken, NoProgress};

    /// By paper: after seven granules from 0 on there are subtrees of 4, 2 and 1; the eighth makes
    /// four for a moment.
    #[test]
    fn sums_are_those_of_complete_subtrees() {
        assert_eq!(most_sums(0..1), 1);
        assert_eq!(most_sums(0..2), 2);
        assert_eq!(most_sums(0..8), 4);
        assert_eq!(most_sums(0..7), 3);
        // 1, 2-3, 4-5: none of them are siblings.
        assert_eq!(most_sums(1..6), 4);
        assert_eq!(most_sums(3..3), 0);
    }

    /// A corpus of pairs of these lengths, `</s>` included.
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

    /// The granule that is counted has at least the numbers of any that is computed.
    #[test]
    fn long_sources_with_short_targets_are_counted() {
        let config = config();
        let model = TrainableModel::<Fast>::new(config.architecture.clone()).unwrap();
        let pairs = [([50, 2], 64), ([20, 40], 1), ([10, 12], 30)];
        let corpus = corpus(&pairs);
        let counted = largest_granule(&config, &model, &corpus).unwrap();
        let measure = |first: usize| {
            let mut tokens = GranuleTokens::new(config.granule_limits.words);
            let (mut sources, mut targets) = (Vec::new(), Vec::new());
            for index in first..corpus.len() {
                sources.push(corpus.source(index));
                targets.push(corpus.target(index));
                if tokens.is_full_with(corpus.lengths(index)) {
                    break;
                }
            }
            let source_tokens: usize = sources.iter().map(|source| source.len()).sum();
            assert!(source_tokens < 2 * config.granule_limits.words + 50, "{source_tokens}");
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

    #[test]
    fn validation_is_counted() {
        let count = |more: &str| {
            let mut config = config();
            let options = RawOptions::from_yaml(more.as_bytes(), "test").unwrap();
            config.validation = options.training_config([11, 11]).unwrap().validation;
            let (stop, vocabularies) = (CancellationToken::new(), ["a".into(), "b".into()]);
            let decoder =
                DecoderSettings { folder: None, vocabularies, beam_size: 1, normalize: 0.0 };
            let training = Training {
                config: &config,
                corpus: &corpus(&[([5, 5], 3)]),
                batches: None,
                validation: None,
                files: &ModelFiles { model: "model.npz".into() },
                options_yaml: "",
                decoder: &decoder,
                pretrained: None,
                vocabularies: 0,
                plot: None,
                stop: &stop,
                progress: &NoProgress,
            };
            let model = TrainableModel::<Fast>::new(config.architecture.clone()).unwrap();
            (training.memory().unwrap(), model.layout().len())
        };
        // A script loads the model in its own process; a sample of the text is scored in ours.
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
        // Eleven logits for each of a granule's rows, at least.
        assert!(with.granule > 11 * 64 * 4);
    }
}
