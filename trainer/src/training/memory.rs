//! The memory of a training, counted from shapes before anything is computed.

use miriam_nmt::Result;

use super::config::TrainingConfig;
use crate::data::{BatchSize, ParallelCorpus};
use crate::kernels::Fast;
use crate::model::TrainableModel;
use crate::tape::{LossOptions, TapeSize};
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
    /// The results and gradients of the granule with the longest sentences, and sums of
    /// gradients, for each worker.
    pub worker: usize,
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
    ) -> Result<Self> {
        let len = model.layout().len();
        let tape = longest_granule(config, model, corpus)?;
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
            worker: (tape.values + tape.gradients + sums * len) * NUMBER,
        })
    }

    /// A line for the log.
    pub fn describe(&self, workers: usize) -> String {
        let megabytes = |bytes: usize| bytes.div_ceil(1 << 20);
        let total = self.parameters + self.optimizer + workers * self.worker;
        format!(
            "[memory] {} MB of parameters, {} MB of the optimiser, about {} MB a worker: {} MB",
            megabytes(self.parameters),
            megabytes(self.optimizer),
            megabytes(self.worker),
            megabytes(total)
        )
    }
}

/// The numbers of the tape for the longest sentences of the corpus, as many as fill a granule.
fn longest_granule(
    config: &TrainingConfig,
    model: &TrainableModel<Fast>,
    corpus: &ParallelCorpus,
) -> Result<TapeSize> {
    let length = |&index: &usize| corpus.source(index).len() + corpus.target(index).len();
    let mut order: Vec<usize> = (0..corpus.len()).collect();
    let most = config.granule_words.min(corpus.len()).max(1);
    order.select_nth_unstable_by_key(most - 1, |index| std::cmp::Reverse(length(index)));
    order.truncate(most);
    order.sort_by_key(|index| std::cmp::Reverse(length(index)));
    let (mut sources, mut targets, mut tokens) = (Vec::new(), Vec::new(), 0);
    for index in order {
        sources.push(corpus.source(index));
        targets.push(corpus.target(index));
        tokens += corpus.target(index).len();
        if tokens >= config.granule_words {
            break;
        }
    }
    let mut tape = model.tape(Fast::default());
    tape.measure(config.dropout, |tape| {
        model.loss(tape, &sources, &targets, LossOptions::default()).map(|_| ())
    })
}
