//! The models of `[rescore]` in a system, which score the n-best list of each sentence. They are
//! behind a trait, because this crate knows no neural models.

use miriam_combine::lists::FeatureModel;

use crate::config::{Configuration, RescoringModel, Settings};
use crate::features::FeatureComponents;
use crate::markup::XmlInputMode;
use crate::{Error, Result};

/// Opens a model of `[rescore]`; the error is the reason why it cannot be used.
pub type OpenRescoringModel<'a> =
    dyn Fn(&RescoringModel, &Configuration) -> Result<Box<dyn FeatureModel>, String> + 'a;

/// The models of a system.
pub(crate) struct Rescoring {
    pub(crate) models: Vec<Box<dyn FeatureModel>>,
    /// The entries of a list of the search that are scored.
    list_size: usize,
    /// The most translations that models add to a list.
    num_candidates: usize,
    /// The components of the features of the search, then one for each model, then one for each that
    /// adds translations, with their weights in scored lists.
    pub(crate) components: Vec<FeatureComponents>,
    /// The number of features of the search.
    num_search_features: usize,
    /// The components that mark the translations of models, by models; `None` for those that add
    /// none.
    pub(crate) candidate_components: Vec<Option<usize>>,
    /// Whether the features of the search have other weights in scored lists.
    pub(crate) has_own_weights: bool,
}

impl Rescoring {
    /// Opens the models of `configuration`; `search` has the features of the search, whose words have
    /// factors if `is_factored`. `None` if it has no models.
    ///
    /// # Errors
    ///
    /// Fails if a model cannot be opened, or cannot add translations to lists of such a system.
    pub(crate) fn open(
        configuration: &Configuration,
        open: &OpenRescoringModel<'_>,
        search: &[FeatureComponents],
        is_factored: bool,
    ) -> Result<Option<Self>> {
        if configuration.rescoring.is_empty() {
            return Ok(None);
        }
        let adds = configuration.rescoring.iter().any(|model| model.candidates() > 0);
        if let Some(reason) =
            refuse_candidates(&configuration.settings, is_factored).filter(|_| adds)
        {
            return Err(Error::section(&configuration.ini, "rescore", reason));
        }
        let mut components = search.to_vec();
        let own = configuration.list_weights.as_deref();
        for (component, weights) in components.iter_mut().zip(own.unwrap_or_default()) {
            component.weights.clone_from(weights);
        }
        let mut models = Vec::new();
        let mut push = |name: String, weight: f32| {
            let next = components.last().map_or(0, |last| last.range.end);
            components.push(FeatureComponents {
                name,
                range: next..next + 1,
                tuneable: vec![true],
                weights: vec![weight],
            });
            next
        };
        for model in &configuration.rescoring {
            let opened = open(model, configuration).map_err(|reason| {
                let reason = format!("{} ({}): {reason}", model.name, model.path);
                Error::section(&configuration.ini, "rescore", reason)
            })?;
            models.push(opened);
            push(model.name.clone(), model.weight);
        }
        let candidate_components = configuration
            .rescoring
            .iter()
            .map(|model| model.candidate_feature().map(|name| push(name, model.candidate_weight)));
        let candidate_components: Vec<Option<usize>> = candidate_components.collect();
        Ok(Some(Rescoring {
            models,
            list_size: configuration.settings.rescore_list_size,
            num_candidates: configuration.rescoring.iter().map(RescoringModel::candidates).sum(),
            components,
            num_search_features: search.len(),
            candidate_components,
            has_own_weights: own.is_some(),
        }))
    }

    /// Returns the number of entries of the search that are scored for a list of `wanted` entries, some
    /// of which may be translations of models.
    pub(crate) fn search_list_size(&self, wanted: usize) -> usize {
        self.list_size.max(wanted.saturating_sub(self.num_candidates))
    }

    /// Returns the total of an entry with `values`, of which the search gave `search_total`.
    pub(crate) fn total(&self, values: &[f32], search_total: f32) -> f32 {
        let (first, start) =
            if self.has_own_weights { (0, 0.0) } else { (self.num_search_features, search_total) };
        weigh(&self.components[first..], values, start)
    }

    /// Returns the weighted sum of the values of the search, where these have no weights of their own
    /// in scored lists.
    pub(crate) fn search_total(&self, values: &[f32]) -> f32 {
        weigh(&self.components[..self.num_search_features], values, 0.0)
    }

    /// Returns the name of the score of a model.
    pub(crate) fn feature_name(&self, number: usize) -> &str {
        &self.components[self.num_search_features + number].name
    }
}

/// Returns `start` with the weighted values of components.
fn weigh(components: &[FeatureComponents], values: &[f32], start: f32) -> f32 {
    let weighted = components
        .iter()
        .flat_map(|component| values[component.range.clone()].iter().zip(&component.weights));
    weighted.fold(start, |sum, (value, weight)| sum + value * weight)
}

/// Returns the reason why models cannot add translations to the lists of a system with these settings:
/// theirs would have no factors, and not what the input asks for.
fn refuse_candidates(settings: &Settings, is_factored: bool) -> Option<&'static str> {
    if is_factored {
        return Some("candidates= adds words without factors, which this system has");
    }
    let takes_markup = settings.input_format.markup != XmlInputMode::PassThrough;
    takes_markup.then_some(
        "candidates= adds translations that do not keep to the input's markup: \
                            leave it out, or -xml-input",
    )
}
