//! Loaded models: packed weights, tokenisers of both sides, and sessions for threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::devices::Placement;
use super::tokenizer::Tokenizer;
use crate::{Error, Result};
use miriam_nmt_models::LanguagePairTokens;
use miriam_nmt_models::ModelBundle;
use miriam_nmt_network::network::{Ensemble, Network, Session};

/// The reason why a prefix of translations is rejected.
pub(super) const NO_PREFIX: &str =
    "a model that writes from right to left does not support a prefix";

/// A single loaded model, or the models of an ensemble. Clones share the weights.
#[derive(Clone)]
pub struct LoadedModels {
    /// The models on each device. Sessions use the devices in turn.
    networks: Arc<[Arc<[Network]>]>,
    /// The number of sessions so far.
    sessions: Arc<AtomicUsize>,
    weights: Vec<f32>,
    tokenizers: [Tokenizer; 2],
    target_prefix: Vec<u32>,
    right_to_left: bool,
    has_source: bool,
}

impl LoadedModels {
    /// Loads the models of `bundle`; `weights` has one per model, or is empty for 1 each.
    /// `placement` says on which devices they compute.
    ///
    /// # Errors
    /// If there are no vocabularies, settings of the bundle are out of range, a model cannot be
    /// loaded on its device, or the models and `weights` cannot form an ensemble. Also if models
    /// that write from right to left have a target prefix.
    pub fn new(bundle: &ModelBundle, weights: &[f32], placement: Placement<'_>) -> Result<Self> {
        let path = &bundle.path;
        // Settings of a model file are not checked when it is opened.
        bundle.settings.validate(path)?;
        let Some(words) = &bundle.tokenizers else {
            let reason = "no vocabularies were found; name source and target, or one for both \
                          sides, with --vocabs";
            return Err(Error::unsupported(path, reason));
        };
        let has_file_per_model = bundle.files.len() == bundle.models.len();
        let files = bundle.models.iter().enumerate().map(|(number, model)| {
            let file = bundle.files.get(number).filter(|_| has_file_per_model);
            (model, file.map_or(&**path, |file| file))
        });
        let networks = placement.load(&files.collect::<Vec<_>>())?.into();
        let count = bundle.models.len();
        let weights = match weights {
            [] => vec![1.0; count],
            weights if weights.len() == count => weights.to_vec(),
            weights => {
                let reason = format!("expected {count} weights, found {}", weights.len());
                return Err(Error::mismatch(path, "weights", reason));
            }
        };
        let mut directions =
            bundle.models.iter().map(|model| model.architecture().embeddings().right_to_left);
        let right_to_left = directions.next().unwrap_or(false);
        if directions.any(|other| other != right_to_left) {
            let reason = "left-to-right and right-to-left models cannot form an ensemble";
            return Err(Error::unsupported(path, reason));
        }
        if right_to_left && !words.target_prefix.is_empty() {
            return Err(Error::unsupported(path, NO_PREFIX));
        }
        let has_source: Vec<bool> =
            bundle.models.iter().map(|model| model.architecture().has_source()).collect();
        if has_source.first() == Some(&false) && has_source.contains(&true) {
            let reason = "the first model of the ensemble is a language model; name a model that \
                          translates first";
            return Err(Error::unsupported(path, reason));
        }
        let models = LoadedModels {
            networks,
            sessions: Arc::default(),
            weights,
            tokenizers: [
                Tokenizer { reads_backwards: right_to_left, ..Tokenizer::new(words, 0) },
                Tokenizer::new(words, 1),
            ],
            target_prefix: words.target_prefix.clone(),
            right_to_left,
            has_source: has_source.contains(&true),
        };
        // Errors of the ensemble are reported before any text is read.
        models.session()?;
        Ok(models)
    }

    /// Returns the tokenisers of source and target.
    pub fn tokenizers(&self) -> &[Tokenizer; 2] {
        &self.tokenizers
    }

    /// Returns the tokens that every translation begins with and that are not part of its text.
    pub fn target_prefix(&self) -> &[u32] {
        &self.target_prefix
    }

    /// Returns the same models with the language tokens `tokens` around each sentence.
    ///
    /// # Errors
    /// If the models write from right to left and `tokens` has a token with which translations must
    /// begin.
    pub(super) fn with_languages(&self, tokens: LanguagePairTokens) -> Result<Self> {
        let mut models = self.clone();
        let source = &mut models.tokenizers[0];
        source.boundary_tokens.set_language(tokens);
        source.needs_language_tag &= tokens.source_first.is_none();
        if let Some(id) = tokens.target_first {
            if self.right_to_left {
                return Err(Error::Untranslatable { reason: NO_PREFIX.into() });
            }
            models.target_prefix = vec![id];
        }
        Ok(models)
    }

    pub(crate) fn tokenizers_mut(&mut self) -> &mut [Tokenizer; 2] {
        &mut self.tokenizers
    }

    /// Whether the models read sources and generate translations from right to left.
    pub fn is_right_to_left(&self) -> bool {
        self.right_to_left
    }

    /// Whether the models read a source; language models alone do not.
    pub fn has_source(&self) -> bool {
        self.has_source
    }

    /// Returns the number of models.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// Returns a session of the model or ensemble, for one thread.
    ///
    /// # Errors
    /// If a device cannot provide a backend, or the models cannot form an ensemble.
    pub fn session(&self) -> Result<Box<dyn Session>> {
        Ok(match self.single_network() {
            Some(network) => network.session()?,
            None => Box::new(Ensemble::new(self.sessions()?, Some(&self.weights))?),
        })
    }

    /// Returns the models on the device whose turn it is.
    fn next_networks(&self) -> &[Network] {
        let turn = self.sessions.fetch_add(1, Ordering::Relaxed);
        &self.networks[turn % self.networks.len()]
    }

    /// Returns the only model, on the device whose turn it is; `None` if there are several models,
    /// or if its weight is not 1.
    pub(crate) fn single_network(&self) -> Option<&Network> {
        self.is_single().then(|| &self.next_networks()[0])
    }

    /// Whether there is only one model, and its weight is 1.
    pub(crate) fn is_single(&self) -> bool {
        self.weights == [1.0]
    }

    /// Returns a session of each model by itself.
    ///
    /// # Errors
    /// If a device cannot provide a backend.
    pub fn sessions(&self) -> Result<Vec<Box<dyn Session>>> {
        self.next_networks().iter().map(Network::session).collect()
    }
}
