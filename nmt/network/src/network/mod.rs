//! Loaded models: the layers of an architecture, and their interface to the search.
//!
//! To the search a hypothesis is a row. At each step the search names the parent row and the new
//! token of every row; a row takes over the state of its parent (KV cache, states of cells, running
//! means). [`Session`] is this interface, and architectures implement [`EncoderDecoder`] for it.
//! [`Network`] is a loaded model, whose sessions run on several threads. None of these types names
//! a backend: the backend is chosen when a network is loaded.
//!
//! Given translations are scored in two ways. [`SequenceScorer`] computes many sentences at once,
//! and all their positions where the architecture allows it. [`score_targets`] decodes step by step
//! in a session, which can limit the tokens and return alignments.

mod encoder_decoder;
mod ensemble;
mod fallback;
mod forced_decoding;
mod layers;
mod load;
mod network_session;
mod recurrent;
mod score;
mod sentence_groups;
mod session;
#[cfg(test)]
mod tests;
mod transformer;

use std::path::Path;
use std::sync::Arc;

pub use crate::layer::{HypothesisRow, Slot, TokenLogit, TopK};
pub use encoder_decoder::{EncoderDecoder, TeacherForced};
pub use ensemble::Ensemble;
pub use forced_decoding::{ForcedScores, Target, score_targets};
pub use layers::Layers;
pub use recurrent::{Recurrent, Stacked};
pub use score::SequenceScorer;
pub use session::Session;
pub use transformer::Transformer;

pub(crate) use load::used_parameters;

use crate::Result;
use crate::layer::recurrent::Speedups;
use crate::layer::{Device, RecurrentParameterLoader};
use fallback::FallbackNetwork;
use miriam_nmt_models::architecture::Model;
use network_session::{NetworkSession, VocabLimits};
use score::NetworkScorer;

/// A loaded model, shared by threads, on whichever device it was loaded for.
#[derive(Clone)]
pub struct Network {
    model: Arc<dyn SharedModel>,
}

/// A loaded model of any architecture on any device.
trait SharedModel: Send + Sync {
    fn session(self: Arc<Self>) -> Result<Box<dyn Session>>;
    fn scorer(self: Arc<Self>) -> Result<Box<dyn SequenceScorer>>;
}

/// The layers of a model on a device.
struct LoadedModel<D, F> {
    device: D,
    layers: F,
    vocab_limits: VocabLimits,
}

impl<D, F> SharedModel for LoadedModel<D, F>
where
    D: Device,
    F: EncoderDecoder<D::Backend> + Send + Sync + 'static,
{
    fn session(self: Arc<Self>) -> Result<Box<dyn Session>> {
        Ok(Box::new(NetworkSession::new(self)?))
    }

    fn scorer(self: Arc<Self>) -> Result<Box<dyn SequenceScorer>> {
        Ok(Box::new(NetworkScorer::new(self)?))
    }
}

impl Network {
    /// Loads the layers of `model` for `device`, with parameters from `parameters`. `path`
    /// names the model in messages.
    ///
    /// # Errors
    /// If a parameter is missing or has the wrong shape.
    pub fn load_on<D: Device>(
        device: D,
        parameters: &mut impl RecurrentParameterLoader<D::Backend>,
        model: &Model,
        path: &Path,
        speedups: &Speedups,
    ) -> Result<Self> {
        let embeddings = model.architecture().embeddings();
        let has_source = model.architecture().has_source();
        let vocab_limits = VocabLimits {
            // A language model ignores the source, so in an ensemble it accepts all ids of the
            // other models' sources.
            source_vocab_size: if has_source { embeddings.source_vocab_size } else { usize::MAX },
            target_vocab_size: embeddings.target_vocab_size,
            model_name: path.display().to_string().into(),
        };
        let model: Arc<dyn SharedModel> =
            match Layers::load(model.architecture(), speedups, parameters)? {
                Layers::Transformer(layers) => {
                    Arc::new(LoadedModel { device, layers, vocab_limits })
                }
                Layers::Recurrent(layers) => {
                    Arc::new(LoadedModel { device, layers: *layers, vocab_limits })
                }
                Layers::Stacked(layers) => Arc::new(LoadedModel { device, layers, vocab_limits }),
            };
        Ok(Network { model })
    }

    /// Returns the same network, whose sessions and scorers continue on the CPU when its device
    /// fails; `load_on_cpu` loads it there.
    pub fn with_fallback(
        self,
        load_on_cpu: impl Fn() -> Result<Network> + Send + Sync + 'static,
    ) -> Self {
        Network { model: Arc::new(FallbackNetwork::new(self, Box::new(load_on_cpu))) }
    }

    /// Returns a session for one thread.
    ///
    /// # Errors
    /// If the device cannot provide a backend.
    pub fn session(&self) -> Result<Box<dyn Session>> {
        Arc::clone(&self.model).session()
    }

    /// Returns a scorer of given translations for one thread.
    ///
    /// # Errors
    /// If the device cannot provide a backend.
    pub fn scorer(&self) -> Result<Box<dyn SequenceScorer>> {
        Arc::clone(&self.model).scorer()
    }
}
