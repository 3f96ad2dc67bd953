//! The plan of a search: the features with their weights, and caches of source phrases that are
//! valid as long as the weights do not change.

use crate::config::{Configuration, DecodingGraphBackoff};
use crate::features::{FastPathFeatures, FeatureKind, FeatureSet, LoadContext};
use crate::translation_options::{OptionCache, PhraseValueCache};
use crate::{Error, Result};

/// A phrase table, from a file or from the sentence, in which the spans of a sentence are looked
/// up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TableLookup {
    /// Its slot among [`FeatureSet::slots`].
    pub(crate) slot: usize,
    /// The spans that are looked up.
    pub(crate) backoff: DecodingGraphBackoff,
}

/// The features of a system, and data that depends on their weights.
pub(crate) struct SearchPlan {
    pub(crate) features: FeatureSet,
    /// Tables in the order of lookups, which is the order of the mapping.
    pub(crate) lookups: Vec<TableLookup>,
    /// The features of an expansion for the fast path; `None` if it does not support them.
    pub(crate) fast_path: Option<FastPathFeatures>,
    /// Scored options by source phrase.
    pub(crate) option_cache: OptionCache,
    /// Unweighted scores of options by source phrase.
    pub(crate) phrase_values: PhraseValueCache,
}

impl SearchPlan {
    /// Loads the features of `configuration`, and adds their models to the models of `context`.
    ///
    /// # Errors
    ///
    /// Fails if a model cannot be opened or does not fit its feature, or if there is no
    /// `UnknownWordPenalty`.
    pub(crate) fn load(
        configuration: &Configuration,
        context: &mut LoadContext<'_>,
    ) -> Result<Self> {
        let mut features = FeatureSet::default();
        let mut lookups = Vec::new();
        for (number, feature) in configuration.features.iter().enumerate() {
            let step = configuration.mapping.iter().position(|s| s.table == number);
            let is_table = matches!(feature.kind, FeatureKind::PhraseTable(_));
            if let Some(step) = step {
                let (slot, backoff) = (features.slots.len(), configuration.mapping[step].backoff);
                lookups.push((step, TableLookup { slot, backoff }));
            } else if is_table {
                tracing::warn!("{} is not in [mapping] and not used", feature.name);
            }
            features.add(feature, step.is_some() || !is_table, context)?;
        }
        if !features.has_unknown_word_penalty() {
            let reason =
                "add the line UnknownWordPenalty to [feature]: it translates unknown words";
            return Err(Error::section(&configuration.ini, "feature", reason));
        }
        lookups.sort_unstable_by_key(|&(step, _)| step);
        Ok(SearchPlan {
            features,
            lookups: lookups.into_iter().map(|(_, lookup)| lookup).collect(),
            fast_path: None,
            option_cache: OptionCache::new(),
            phrase_values: PhraseValueCache::default(),
        })
    }

    /// Gives every component a weight, and clears caches made with the old weights.
    pub(crate) fn set_weights(&mut self, weights: &[f32]) {
        self.features.set_weights(weights);
        self.choose_path();
        self.option_cache = OptionCache::new();
        // Rows of values are in the order of the options, which weights decide.
        self.phrase_values = PhraseValueCache::default();
    }

    /// Decides whether the search takes the fast path.
    pub(crate) fn choose_path(&mut self) {
        self.fast_path = FastPathFeatures::from_features(&self.features);
    }
}
