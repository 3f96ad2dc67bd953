//! A model that decodes: layers of an architecture, and what search asks of them.
//!
//! Search knows hypotheses as rows. At each step it says which rows go on with which
//! words; what a row remembers (keys and values, states of cells, means) follows its rows.
//! [`Session`] is that contract; [`Family`] is what an architecture gives to it; a
//! [`Network`] is a model's layers, which the sessions of all threads share.

mod ensemble;
mod model_session;
mod paths;
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
pub use session::{Best, Candidate, Row, Session, Slot};
pub use transformer::Transformer;

use crate::Result;
use crate::architecture::{Architecture, Model};
use crate::engine::{Engine, Loader, Precision, Recording};
use crate::layer::Decoding;
use crate::layer::recurrent::Shortcuts;
use model_session::Limits;

/// The layers of an architecture.
///
/// A state holds something for each row of the last step. Rows of one sentence stand side
/// by side.
pub trait Family<B: Decoding> {
    /// What is kept of a source sentence while it is translated.
    type Source;
    /// What rows remember.
    type State;

    /// Reads sentences, which end with `</s>`.
    fn encode(&self, backend: &mut B, sentences: &[&[u32]]) -> Result<Vec<Self::Source>>;

    /// No rows yet.
    fn state(&self, backend: &mut B) -> Self::State;

    /// A step: row i goes on from row `rows[i].parent` of the step before with a word.
    /// `sources` has the sentence of each row. Gives what the output layer multiplies with,
    /// a row each. With `alignment`, that gets the attention of each row to its source.
    fn step(
        &self,
        backend: &mut B,
        state: &mut Self::State,
        rows: &[Row],
        sources: &[&Self::Source],
        alignment: Option<&mut Vec<Vec<f32>>>,
    ) -> B::Rows;

    /// The output layer: logits are its products with what [`step`](Family::step) gives.
    fn output(&self) -> &B::Weights;
}

/// A model's layers with packed weights, shared by threads.
pub struct Network {
    layers: Layers,
    limits: Limits,
    cpu: Cpu,
    tuner: Arc<Tuner>,
}

enum Layers {
    Transformer(Arc<Transformer<Engine>>),
    Recurrent(Arc<Recurrent<Engine>>),
    Stacked(Arc<Stacked<Engine>>),
}

impl Layers {
    fn load(model: &Model, shortcuts: &Shortcuts, parameters: &mut Loader<'_>) -> Result<Self> {
        Ok(match model.architecture() {
            Architecture::Transformer(shape) => {
                Layers::Transformer(Arc::new(Transformer::load(parameters, shape)?))
            }
            Architecture::Recurrent(shape) => {
                Layers::Recurrent(Arc::new(Recurrent::new(shape, shortcuts, parameters)?))
            }
            Architecture::Stacked(shape) => {
                Layers::Stacked(Arc::new(Stacked::of_stacked(shape, shortcuts, parameters)?))
            }
        })
    }
}

/// What the layers of `model` ask for in `precision`: what a file that serves them needs.
pub(crate) fn recording(model: &Model, path: &Path, precision: Precision) -> Result<Recording> {
    let mut parameters = Loader::new(model, path, precision);
    Layers::load(model, &Shortcuts::default(), &mut parameters)?;
    Ok(parameters.into_recording())
}

impl Network {
    /// Packs the parameters of `model` for products in `precision`. `path` names the model
    /// in messages.
    ///
    /// # Errors
    /// [`Error::Mismatch`] if a parameter is missing or too large for its precision.
    pub fn load(model: &Model, path: &Path, precision: Precision) -> Result<Self> {
        Self::load_with(model, path, precision, &Shortcuts::default())
    }

    /// The same, with the shortcuts of recurrent models given.
    ///
    /// # Errors
    /// As [`load`](Network::load).
    pub fn load_with(
        model: &Model,
        path: &Path,
        precision: Precision,
        shortcuts: &Shortcuts,
    ) -> Result<Self> {
        let mut parameters = Loader::new(model, path, precision);
        let layers = Layers::load(model, shortcuts, &mut parameters)?;
        let tables = model.architecture().tables();
        let limits = Limits {
            source_words: tables.source_words,
            target_words: tables.target_words,
            name: path.display().to_string().into(),
        };
        let cpu = Cpu::best();
        Ok(Network { layers, limits, cpu, tuner: Arc::new(Tuner::new(cpu)) })
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
        let limits = self.limits.clone();
        match &self.layers {
            Layers::Transformer(layers) => ModelSession::new(layers, limits, self.engine()),
            Layers::Recurrent(layers) => ModelSession::new(layers, limits, self.engine()),
            Layers::Stacked(layers) => ModelSession::new(layers, limits, self.engine()),
        }
    }
}
