//! How probable translations are that are known.

use super::{EncoderDecoder, HypothesisRow, Layers, Network, Slot};
use crate::Result;
use crate::engine::Engine;

impl Network {
    /// The logarithm of the probability of every word of translations, each with its `</s>`,
    /// all positions of all sentences at once. Sessions give the same within rounding.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if a word is in no vocabulary.
    ///
    /// # Panics
    /// If there is not one target for each source.
    pub fn score(
        &self,
        engine: &mut Engine,
        sources: &[&[u32]],
        targets: &[&[u32]],
    ) -> Result<Vec<Vec<f32>>> {
        assert_eq!(sources.len(), targets.len(), "a target for each source");
        sources.iter().try_for_each(|words| self.vocab_limits.check_source_ids(words))?;
        targets.iter().try_for_each(|words| self.vocab_limits.check_target_ids(words))?;
        let layers = match &self.layers {
            Layers::Transformer(layers) => layers,
            Layers::Recurrent(layers) => {
                return score_stepwise(&**layers, engine, sources, targets);
            }
            Layers::Stacked(layers) => return score_stepwise(&**layers, engine, sources, targets),
        };
        let states = layers.decoder_states(engine, sources, targets);
        let words: Vec<u32> = targets.concat();
        let mut scores =
            engine.log_probabilities(&states, layers.output_weights(), &words).into_iter();
        let of_target = |target: &&[u32]| scores.by_ref().take(target.len()).collect();
        Ok(targets.iter().map(of_target).collect())
    }
}

/// The same word after word, for families whose steps need the one before; all translations
/// side by side.
fn score_stepwise<F: EncoderDecoder<Engine>>(
    model: &F,
    engine: &mut Engine,
    sources: &[&[u32]],
    targets: &[&[u32]],
) -> Result<Vec<Vec<f32>>> {
    let sources = model.encode(engine, sources)?;
    let mut state = model.start_state(engine);
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
        let states = model.step(engine, &mut state, &rows, &of_rows, None);
        let words: Vec<u32> = now.iter().map(|&target| targets[target][step]).collect();
        let of_words = engine.log_probabilities(&states, model.output_weights(), &words);
        now.iter().zip(of_words).for_each(|(&target, score)| scores[target].push(score));
        before = now;
    }
    Ok(scores)
}
