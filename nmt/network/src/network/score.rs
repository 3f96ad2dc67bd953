//! Log-probabilities of known translations.

use std::sync::Arc;

use super::sentence_groups::sentence_groups;
use super::{EncoderDecoder, LoadedModel};
use crate::Result;
use crate::layer::{Device, OutputOps};

/// Scorer of known translations on one thread.
pub trait SequenceScorer {
    /// Returns the log-probability of every token of translations, each with its `</s>`. Many
    /// sentences are computed at once, and all positions where the architecture allows it. Sessions
    /// give the same numbers within rounding, except for pre-norm transformers whose keys are
    /// normalised at the first step only: the scorer normalises all keys.
    ///
    /// # Errors
    /// [`Error::Mismatch`](crate::Error::Mismatch) if a token is not in its vocabulary, and
    /// the errors of the device.
    ///
    /// # Panics
    /// If there is not one target for each source.
    fn score(&mut self, sources: &[&[u32]], targets: &[&[u32]]) -> Result<Vec<Vec<f32>>>;
}

/// The layers of a model and a thread's backend.
pub(super) struct NetworkScorer<D: Device, F> {
    model: Arc<LoadedModel<D, F>>,
    backend: D::Backend,
}

impl<D: Device, F> NetworkScorer<D, F> {
    pub(super) fn new(model: Arc<LoadedModel<D, F>>) -> Result<Self> {
        let backend = model.device.new_backend()?;
        Ok(NetworkScorer { model, backend })
    }
}

impl<D: Device, F: EncoderDecoder<D::Backend>> SequenceScorer for NetworkScorer<D, F> {
    fn score(&mut self, sources: &[&[u32]], targets: &[&[u32]]) -> Result<Vec<Vec<f32>>> {
        assert_eq!(sources.len(), targets.len(), "a target for each source");
        let limits = &self.model.vocab_limits;
        sources.iter().try_for_each(|tokens| limits.check_source_ids(tokens))?;
        targets.iter().try_for_each(|tokens| limits.check_target_ids(tokens))?;
        let (layers, backend) = (&self.model.layers, &mut self.backend);
        let pairs = sources.iter().zip(targets);
        let rows: Vec<usize> =
            pairs.map(|(source, target)| source.len().max(target.len())).collect();
        let mut target_scores = Vec::with_capacity(targets.len());
        for group in sentence_groups(&rows, layers.max_group_rows(backend)) {
            let (sources, targets) = (&sources[group.clone()], &targets[group]);
            let states = layers.target_states(backend, sources, targets)?;
            let tokens: Vec<u32> = targets.concat();
            let scores = backend.log_probabilities(&states, layers.output_weights(), &tokens)?;
            let mut scores = scores.into_iter();
            for target in targets {
                target_scores.push(scores.by_ref().take(target.len()).collect());
            }
        }
        Ok(target_scores)
    }
}
