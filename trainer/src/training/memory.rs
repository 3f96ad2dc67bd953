//! The memory of a training, counted from shapes before anything is computed.

use miriam_nmt::Result;

use super::config::TrainingConfig;
use crate::data::{BatchSize, ParallelCorpus};
use crate::kernels::Fast;
use crate::model::TrainableModel;
use crate::tape::{LossOptions, TapeSize, logits_block_rows};
use crate::update::OptimizerState;

/// Bytes of a number.
const NUMBER: usize = size_of::<f32>();

/// What a training needs, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// Parameters, as they are and packed for products.
    pub parameters: usize,
    /// The state of the optimiser.
    pub optimizer: usize,
    /// The results and gradients of the largest granule, a block of logits, and sums of
    /// gradients, for each worker.
    pub worker: usize,
    /// The copies of the model that validation makes, packed for products and not, beside all
    /// else; 0 without. What translations need by the way is not in it.
    pub validation: usize,
}

/// When a granule is full: at so many target tokens, or at twice as many of the source, so that
/// long sources with short targets do not make it as large as they like.
#[derive(Clone, Copy, Debug)]
pub(super) struct GranuleLimit {
    target_tokens: usize,
    /// Tokens of source and target so far.
    tokens: [usize; 2],
}

impl GranuleLimit {
    /// The limit for `granule-words`.
    pub fn new(target_tokens: usize) -> Self {
        GranuleLimit { target_tokens, tokens: [0; 2] }
    }

    /// Adds a pair of sentences of these lengths. If the granule is full with it, the next pair
    /// begins another one.
    pub fn is_reached_by(&mut self, lengths: [usize; 2]) -> bool {
        let [source, target] = [0, 1].map(|side| self.tokens[side] + lengths[side]);
        let is_full =
            target >= self.target_tokens || source >= self.target_tokens.saturating_mul(2);
        self.tokens = if is_full { [0; 2] } else { [source, target] };
        is_full
    }
}

impl MemoryUse {
    /// Counts the memory of a training.
    ///
    /// # Errors
    /// None on a CPU.
    pub fn count(
        config: &TrainingConfig,
        model: &TrainableModel<Fast>,
        corpus: &ParallelCorpus,
        optimizer: &OptimizerState<f32>,
        validates: bool,
    ) -> Result<Self> {
        let len = model.layout().len();
        let tape = largest_granule(config, model, corpus)?;
        let target_words = model.architecture().embeddings().target_vocab_size;
        let logits = logits_block_rows(config.granule_words, target_words) * target_words;
        let state = [&optimizer.first, &optimizer.second, &optimizer.average];
        // A gradient, and at most one sum for each level of the tree of an update's granules.
        let batch_tokens = match config.batches.size {
            BatchSize::Sentences(count) => {
                count.saturating_mul(corpus.num_tokens()[1] / corpus.len().max(1))
            }
            BatchSize::SourceTokens(count) | BatchSize::TargetTokens(count) => count,
        };
        let update_tokens = batch_tokens.saturating_mul(config.optimizer_delay.max(1));
        let granules = update_tokens.div_ceil(config.granule_words).max(1);
        let sums = 2 + granules.ilog2() as usize;
        Ok(MemoryUse {
            parameters: 3 * len * NUMBER,
            optimizer: state.iter().map(|vector| vector.len() * NUMBER).sum(),
            worker: (tape.values + tape.gradients + logits + sums * len) * NUMBER,
            validation: if validates { 2 * len * NUMBER } else { 0 },
        })
    }

    /// A line for the log.
    pub fn describe(&self, workers: usize) -> String {
        let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
        let total = self.parameters + self.optimizer + workers * self.worker + self.validation;
        format!(
            "[memory] {} MB of parameters, {} MB of the optimiser, about {} MB a worker, {} MB in \
             validation: {} MB",
            megabytes(self.parameters),
            megabytes(self.optimizer),
            megabytes(self.worker),
            megabytes(self.validation),
            megabytes(total)
        )
    }
}

/// The numbers of the tape for the largest granule: the longest pairs of the corpus, the
/// longest sources, or the longest targets, as many as fill one.
fn largest_granule(
    config: &TrainingConfig,
    model: &TrainableModel<Fast>,
    corpus: &ParallelCorpus,
) -> Result<TapeSize> {
    let lengths = |index: usize| [corpus.source(index).len(), corpus.target(index).len()];
    let weights: [[usize; 2]; 3] = [[1, 1], [1, 0], [0, 1]];
    let mut largest = TapeSize::default();
    for weights in weights {
        // Of equal ones those that are longer on the other side.
        let key = |&index: &usize| {
            let [source, target] = lengths(index);
            (weights[0] * source + weights[1] * target, source + target)
        };
        let mut order: Vec<usize> = (0..corpus.len()).collect();
        let most = config.granule_words.min(corpus.len()).max(1);
        order.select_nth_unstable_by_key(most - 1, |index| std::cmp::Reverse(key(index)));
        order.truncate(most);
        order.sort_by_key(|index| std::cmp::Reverse(key(index)));
        let (mut sources, mut targets) = (Vec::new(), Vec::new());
        let mut limit = GranuleLimit::new(config.granule_words);
        for index in order {
            sources.push(corpus.source(index));
            targets.push(corpus.target(index));
            if limit.is_reached_by(lengths(index)) {
                break;
            }
        }
        let mut tape = model.tape(Fast::default());
        let size = tape.measure(config.dropout, |tape| {
            model.loss(tape, &sources, &targets, LossOptions::default()).map(|_| ())
        })?;
        if size.values + size.gradients > largest.values + largest.gradients {
            largest = size;
        }
    }
    Ok(largest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::LengthLimit;
    use crate::options::RawOptions;

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

    #[test]
    fn granules_are_full_at_tokens_of_either_side() {
        let count = |lengths: [usize; 2]| {
            let mut limit = GranuleLimit::new(10);
            (1..).find(|_| limit.is_reached_by(lengths)).unwrap()
        };
        assert_eq!(count([1, 5]), 2);
        assert_eq!(count([12, 5]), 2);
        assert_eq!(count([10, 2]), 2);
        assert_eq!(count([4, 2]), 5);
        assert_eq!(count([3, 1]), 7);
        let mut limit = GranuleLimit::new(10);
        assert!(limit.is_reached_by([1, 10]) && !limit.is_reached_by([1, 9]));
        assert!(limit.is_reached_by([1, 1]), "a granule begins with nothing");
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
            let mut limit = GranuleLimit::new(config.granule_words);
            let (mut sources, mut targets) = (Vec::new(), Vec::new());
            for index in first..corpus.len() {
                sources.push(corpus.source(index));
                targets.push(corpus.target(index));
                if limit.is_reached_by([corpus.source(index).len(), corpus.target(index).len()]) {
                    break;
                }
            }
            let source_tokens: usize = sources.iter().map(|source| source.len()).sum();
            assert!(source_tokens < 2 * config.granule_words + 50, "{source_tokens}");
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
        let config = config();
        let model = TrainableModel::<Fast>::new(config.architecture.clone()).unwrap();
        let corpus = corpus(&[([5, 5], 3)]);
        let state = OptimizerState::new(&config.update, &vec![0.0; model.layout().len()]);
        let count =
            |validates| MemoryUse::count(&config, &model, &corpus, &state, validates).unwrap();
        let (without, with) = (count(false), count(true));
        assert_eq!(without.validation, 0);
        // Two copies of parameters in f32.
        assert_eq!(with.validation, 8 * model.layout().len());
        assert_eq!(MemoryUse { validation: 0, ..with }, without);
        assert!(with.describe(1).contains("in validation"));
        // Eleven logits for each of a granule's rows, at least.
        assert!(with.worker > 11 * 64 * 4);
    }
}
