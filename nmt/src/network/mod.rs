//! A model that decodes: layers of an architecture, and what search asks of them.
//!
//! Search knows hypotheses as rows. At each step it says which rows go on with which
//! words; what a row remembers (keys and values, states of cells, means) follows its rows.
//! [`Session`] is that contract; [`Family`] is what an architecture gives to it; a
//! [`Network`] is a model's layers, which the sessions of all threads share.

mod cache_indirection;
mod ensemble;
mod model_session;
mod recurrent;
mod score;
mod session;
#[cfg(test)]
mod tests;
mod transformer;

use std::path::Path;
use std::sync::Arc;

use miriam_kernels::Cpu;
use miriam_kernels::tuner::Tuner;

pub use ensemble::Ensemble;
pub use model_session::ModelSession;
pub use recurrent::{Recurrent, Stacked};
pub use session::{HypothesisRow, Session, Slot, TokenLogit, TopK};
pub use transformer::Transformer;

use crate::Result;
use crate::architecture::{Architecture, Model};
use crate::engine::{Engine, Precision, UsedParameters, WeightLoader};
use crate::layer::DecodingOps;
use crate::layer::recurrent::Speedups;
use model_session::VocabLimits;

/// The layers of an architecture.
///
/// A state holds something for each row of the last step. Rows of one sentence stand side
/// by side.
pub trait EncoderDecoder<B: DecodingOps> {
    /// What is kept of a source sentence while it is translated.
    type EncodedSource;
    /// What rows remember.
    type State;

    /// Reads sentences, which end with `</s>`.
    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<Self::EncodedSource>>;

    /// No rows yet.
    fn start_state(&self, backend: &mut B) -> Self::State;

    /// A step: row i goes on from row `rows[i].parent` of the step before with a word.
    /// `sources` has the sentence of each row. Gives what the output layer multiplies with,
    /// a row each. With `alignment`, that gets the attention of each row to its source.
    fn step(
        &self,
        backend: &mut B,
        state: &mut Self::State,
        rows: &[HypothesisRow],
        sources: &[&Self::EncodedSource],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Tensor;

    /// The output layer: logits are its products with what [`step`](Family::step) gives.
    fn output_weights(&self) -> &B::Weights;
}

/// A model's layers with packed weights, shared by threads.
pub struct Network {
    layers: Layers,
    vocab_limits: VocabLimits,
    cpu: Cpu,
    tuner: Arc<Tuner>,
}

enum Layers {
    Transformer(Arc<Transformer<Engine>>),
    Recurrent(Arc<Recurrent<Engine>>),
    Stacked(Arc<Stacked<Engine>>),
}

impl Layers {
    fn load(model: &Model, speedups: &Speedups, parameters: &mut WeightLoader<'_>) -> Result<Self> {
        Ok(match model.architecture() {
            Architecture::Transformer(shape) => {
                Layers::Transformer(Arc::new(Transformer::load(parameters, shape)?))
            }
            Architecture::Recurrent(shape) => {
                Layers::Recurrent(Arc::new(Recurrent::new(shape, speedups, parameters)?))
            }
            Architecture::Stacked(shape) => {
                Layers::Stacked(Arc::new(Stacked::from_stacked(shape, speedups, parameters)?))
            }
        })
    }
}

/// What the layers of `model` ask for in `precision`: what a file that serves them needs.
pub(crate) fn used_parameters(
    model: &Model,
    path: &Path,
    precision: Precision,
) -> Result<UsedParameters> {
    let mut parameters = WeightLoader::new(model, path, precision);
    Layers::load(model, &Speedups::default(), &mut parameters)?;
    Ok(parameters.into_used_parameters())
}

impl Network {
    /// Packs the parameters of `model` for products in `precision`. `path` names the model
    /// in messages.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if a parameter is missing or too large for its precision.
    pub fn load(model: &Model, path: &Path, precision: Precision) -> Result<Self> {
        Self::load_with(model, path, precision, &Speedups::default())
    }

    /// The same, with the shortcuts of recurrent models given.
    ///
    /// # Errors
    /// As [`load`](Network::load).
    pub fn load_with(
        model: &Model,
        path: &Path,
        precision: Precision,
        speedups: &Speedups,
    ) -> Result<Self> {
        let mut parameters = WeightLoader::new(model, path, precision);
        let layers = Layers::load(model, speedups, &mut parameters)?;
        let tables = model.architecture().embeddings();
        let limits = VocabLimits {
            source_vocab_size: tables.source_vocab_size,
            target_vocab_size: tables.target_vocab_size,
            model_name: path.display().to_string().into(),
        };
        let cpu = Cpu::detect();
        Ok(Network { layers, vocab_limits: limits, cpu, tuner: Arc::new(Tuner::new(cpu)) })
    }

    /// What is known of the fastest ways of products: engines of all threads add to it. It
    /// can be saved for the next start.
    pub fn tuner(&self) -> &Arc<Tuner> {
        &self.tuner
    }

    /// Takes what is known already, from a file or from another network.
    pub fn set_tuner(&mut self, tuner: Arc<Tuner>) {
        self.tuner = tuner;
    }

    /// An engine for one thread, as [`score`](Network::score) needs it.
    pub fn engine(&self) -> Engine {
        Engine::with_tuner(self.cpu, Arc::clone(&self.tuner))
    }

    /// A session for one thread.
    pub fn session(self: &Arc<Self>) -> ModelSession {
        let limits = self.vocab_limits.clone();
        match &self.layers {
            Layers::Transformer(layers) => ModelSession::new(layers, limits, self.engine()),
            Layers::Recurrent(layers) => ModelSession::new(layers, limits, self.engine()),
            Layers::Stacked(layers) => ModelSession::new(layers, limits, self.engine()),
        }
    }
}
