//! Models that are ready: packed weights, the text of both sides, and sessions for
//! threads.

use std::path::PathBuf;
use std::sync::Arc;

use miriam_kernels::tuner::Tuner;

use super::tokenizer::Tokenizer;
use crate::model_bundle::ModelBundle;
use crate::network::{Ensemble, Network, Session};
use crate::packed::Precision;
use crate::{Error, Result};

/// Models that vote, or a single one.
pub struct LoadedModels {
    networks: Vec<Network>,
    weights: Vec<f32>,
    tokenizers: [Tokenizer; 2],
    right_to_left: bool,
}

impl LoadedModels {
    /// Makes the models of `package` ready; `weights` has one for each, or is empty for 1
    /// each. What `tuner` knows of products is used and added to.
    ///
    /// # Errors
    /// If there are no vocabularies, options beside the model make no sense, or models do not
    /// go together.
    pub fn new(
        package: &ModelBundle,
        precision: Precision,
        weights: &[f32],
        tuner: &Arc<Tuner>,
    ) -> Result<Self> {
        let path = &package.path;
        // Files of ours have such values too.
        package.settings.validate(path)?;
        let Some(words) = &package.tokenizers else {
            let reason = "no vocabularies lie beside it; name them with --vocabs SOURCE TARGET";
            return Err(Error::unsupported(path, reason));
        };
        let name = |number: usize| -> &PathBuf {
            let own = package.files.get(number);
            own.filter(|_| package.files.len() == package.models.len()).unwrap_or(path)
        };
        let load = |(number, model)| Network::load_tuned(model, name(number), precision, tuner);
        let networks: Vec<_> =
            package.models.iter().enumerate().map(load).collect::<Result<_>>()?;
        let weights = match weights {
            [] => vec![1.0; networks.len()],
            given if given.len() == networks.len() => given.to_vec(),
            given => {
                let reason = format!("{} weights for {} models", given.len(), networks.len());
                return Err(Error::mismatch(path, "weights", reason));
            }
        };
        let mut directions =
            package.models.iter().map(|model| model.architecture().embeddings().right_to_left);
        let right_to_left = directions.next().unwrap_or(false);
        if directions.any(|other| other != right_to_left) {
            let reason = "models that go from left to right and from right to left cannot vote";
            return Err(Error::unsupported(path, reason));
        }
        let models = LoadedModels {
            networks,
            weights,
            tokenizers: [Tokenizer::new(words, 0), Tokenizer::new(words, 1)],
            right_to_left,
        };
        // Whatever hinders models from voting is said before any text is read.
        models.session()?;
        Ok(models)
    }

    /// Source and target.
    pub fn tokenizers(&self) -> &[Tokenizer; 2] {
        &self.tokenizers
    }

    pub(super) fn tokenizers_mut(&mut self) -> &mut [Tokenizer; 2] {
        &mut self.tokenizers
    }

    /// Whether they put out the words of a translation from the last to the first.
    pub fn is_right_to_left(&self) -> bool {
        self.right_to_left
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.networks.len()
    }

    /// What a thread works with.
    pub fn session(&self) -> Result<Box<dyn Session>> {
        Ok(match self.single_network() {
            Some(network) => network.session()?,
            None => Box::new(Ensemble::new(self.sessions()?, Some(&self.weights))?),
        })
    }

    /// The only model, if nothing votes or is weighed.
    pub(crate) fn single_network(&self) -> Option<&Network> {
        self.networks.first().filter(|_| self.weights == [1.0])
    }

    /// Sessions of the models by themselves.
    ///
    /// # Errors
    /// If a device has no backend to give.
    pub fn sessions(&self) -> Result<Vec<Box<dyn Session>>> {
        self.networks.iter().map(Network::session).collect()
    }
}
