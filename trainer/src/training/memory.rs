//! The memory of a training, counted from shapes before anything is computed.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use miriam_nmt::Result;

use super::config::TrainingConfig;
use super::run::Training;
use crate::data::{BatchPosition, BatchSize, BatchSource, ParallelCorpus};
use crate::kernels::Fast;
use crate::model::TrainableModel;
use crate::tape::{LossOptions, Tape, TapeSize};
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
    /// Of each worker: the results and gradients of the granule with the longest sentences.
    pub granule: usize,
    /// Of each worker: gradients of parameters, and sums of them.
    pub gradients: usize,
    /// The number of workers.
    pub workers: usize,
}

impl MemoryUse {
    /// All of it.
    pub fn total(&self) -> usize {
        let worker = self.granule + self.gradients;
        self.parameters + self.optimizer + self.corpus + self.workers * worker
    }

    /// A line for the log.
    pub fn describe(&self) -> String {
        format!(
            "[memory] {} MB of parameters, {} MB of the optimiser, about {} MB a worker: {} MB",
            megabytes(self.parameters),
            megabytes(self.optimizer),
            megabytes(self.granule + self.gradients),
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
        let mut tape = model.tape(Fast::default());
        let tape = match (costs, self.batches) {
            (Some(costs), None) => largest_by_costs(config, self.corpus, costs),
            (_, Some(file)) => {
                let words = |granule: &&[u32]| {
                    let length = |&pair: &u32| {
                        let pair = pair as usize;
                        self.corpus.source(pair).len() + self.corpus.target(pair).len()
                    };
                    granule.iter().map(length).sum::<usize>()
                };
                let largest = file.granules().max_by_key(words).unwrap_or_default();
                measure(config, model, &mut tape, self.corpus, largest)?
            }
            (None, None) => {
                let granule = longest_granule(config, self.corpus);
                measure(config, model, &mut tape, self.corpus, &granule)?
            }
        };
        let granules = self.most_granules(costs);
        let workers = config.workers.max(1);
        let first = |worker: usize| (worker * granules).div_ceil(workers);
        let sums = (0..workers).map(|worker| most_sums(first(worker)..first(worker + 1)));
        let state = [&optimizer.first, &optimizer.second, &optimizer.average];
        Ok(MemoryUse {
            parameters: 3 * len * NUMBER,
            optimizer: state.iter().map(|vector| vector.len() * NUMBER).sum(),
            corpus: self.corpus.num_bytes() + costs.map_or(0, |costs| size_of_val(&costs[..])),
            granule: (tape.values + tape.gradients) * NUMBER,
            // That of the granule itself as well.
            gradients: (1 + sums.max().unwrap_or(0)) * len * NUMBER,
            workers,
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
            let lengths = [self.corpus.source(pair).len(), self.corpus.target(pair).len()];
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
    let longest = longest_granule(config, corpus).iter().map(|&pair| costs[pair as usize]).sum();
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

/// The longest sentences of the corpus, as many as fill a granule.
fn longest_granule(config: &TrainingConfig, corpus: &ParallelCorpus) -> Vec<u32> {
    let words = config.granule_limits.words;
    let length =
        |&pair: &u32| corpus.source(pair as usize).len() + corpus.target(pair as usize).len();
    let mut order: Vec<u32> = (0..corpus.len() as u32).collect();
    let most = words.min(corpus.len()).max(1);
    order.select_nth_unstable_by_key(most - 1, |pair| std::cmp::Reverse(length(pair)));
    order.truncate(most);
    order.sort_by_key(|pair| std::cmp::Reverse(length(pair)));
    let mut tokens = 0;
    let is_full = |&pair: &u32| {
        tokens += corpus.target(pair as usize).len();
        tokens >= words
    };
    let count = order.iter().position(is_full).map_or(order.len(), |last| last + 1);
    order.truncate(count);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
