//! The log-probabilities of translations that are known.

use std::sync::Arc;

use super::{EncoderDecoder, HypothesisRow, LoadedModel, Slot};
use crate::Result;
use crate::layer::{Device, OutputOps};

/// Scores given translations with a network, on one thread.
pub trait SequenceScorer {
    /// The log-probability of every token of translations, each with its `</s>`, all
    /// sentences at once, and all positions where the architecture allows it. Sessions give
    /// the same within rounding.
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
        let Some(states) = layers.target_states(backend, sources, targets)? else {
            return score_stepwise(layers, backend, sources, targets);
        };
        let tokens: Vec<u32> = targets.concat();
        let scores = backend.log_probabilities(&states, layers.output_weights(), &tokens)?;
        let mut scores = scores.into_iter();
        let of_target = |target: &&[u32]| scores.by_ref().take(target.len()).collect();
        Ok(targets.iter().map(of_target).collect())
    }
}

/// The same token after token, for models whose steps need the one before; all translations
/// side by side.
fn score_stepwise<B, F>(
    layers: &F,
    backend: &mut B,
    sources: &[&[u32]],
    targets: &[&[u32]],
) -> Result<Vec<Vec<f32>>>
where
    B: crate::layer::DecodingBackend,
    F: EncoderDecoder<B>,
{
    let sources = layers.encode(backend, sources)?;
    let mut state = layers.start_state(backend)?;
    let mut scores: Vec<Vec<f32>> = targets.iter().map(|_| Vec::new()).collect();
    // The translations of the rows of the step before.
    let mut before: Vec<usize> = Vec::new();
    for step in 0..targets.iter().map(|target| target.len()).max().unwrap_or(0) {
        let now: Vec<usize> = (0..targets.len()).filter(|&i| step < targets[i].len()).collect();
        let row = |&target: &usize| HypothesisRow {
            slot: Slot(target as u32),
            parent: before.binary_search(&target).ok().map(|row| row as u32),
            token: step.checked_sub(1).map(|last| targets[target][last]),
        };
        let rows: Vec<HypothesisRow> = now.iter().map(row).collect();
        let of_rows: Vec<&F::EncodedSource> = now.iter().map(|&target| &sources[target]).collect();
        let states = layers.step(backend, &mut state, &rows, &of_rows, None)?;
        let tokens: Vec<u32> = now.iter().map(|&target| targets[target][step]).collect();
        let of_tokens = backend.log_probabilities(&states, layers.output_weights(), &tokens)?;
        now.iter().zip(of_tokens).for_each(|(&target, score)| scores[target].push(score));
        before = now;
    }
    Ok(scores)
}
