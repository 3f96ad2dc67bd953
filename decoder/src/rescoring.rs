//! Rescoring of n-best lists by the models of the section `[rescore]`. The caller opens the models
//! as [`FeatureModel`]s, because this crate does not depend on neural models.

use miriam_combine::lists::FeatureModel;

use crate::config::{Configuration, RescoringModel, Settings};
use crate::features::FeatureComponents;
use crate::markup::XmlInputMode;
use crate::{Error, Result};

/// Opens a model of `[rescore]`. The error is the reason why it cannot be used.
pub type RescoringModelOpener<'a> =
    dyn Fn(&RescoringModel, &Configuration) -> Result<Box<dyn FeatureModel>, String> + 'a;

/// The rescoring models of a system, and the weights of rescored lists.
pub(crate) struct Rescoring {
    pub(crate) models: Vec<Box<dyn FeatureModel>>,
    /// The minimum number of entries of the search's n-best list that are rescored
    /// (`[rescore-n-best]`).
    list_size: usize,
    /// The maximum number of translations that models add to a list.
    max_added: usize,
    /// Components of rescored lists with their weights: first the components of the search's
    /// features, then the score of each model, then the marker of each model that adds
    /// translations.
    pub(crate) components: Vec<FeatureComponents>,
    /// The number of features of the search.
    num_search_features: usize,
    /// For each model, the component that is 1 in translations added by the model; `None` if it
    /// adds none.
    pub(crate) marker_components: Vec<Option<usize>>,
    /// Whether rescored lists weight the search's features differently (`[rescore-weight]`).
    pub(crate) has_own_weights: bool,
}

impl Rescoring {
    /// Opens the rescoring models of `configuration` by `open_model`; returns `None` if there are
    /// none. `search_components` are the components of the search's features; `is_factored` says
    /// whether words have factors.
    ///
    /// # Errors
    ///
    /// If a model cannot be opened, or if it should add translations to lists but the system does
    /// not allow it.
    pub(crate) fn open(
        configuration: &Configuration,
        open_model: &RescoringModelOpener<'_>,
        search_components: &[FeatureComponents],
        is_factored: bool,
    ) -> Result<Option<Self>> {
        if configuration.rescoring.is_empty() {
            return Ok(None);
        }
        if configuration.rescoring.iter().any(|model| model.candidates() > 0) {
            check_candidates(&configuration.settings, is_factored)
                .map_err(|reason| Error::section(&configuration.ini, "rescore", reason))?;
        }
        let mut components = search_components.to_vec();
        let list_weights = configuration.list_weights.as_deref();
        for (component, weights) in components.iter_mut().zip(list_weights.unwrap_or_default()) {
            component.weights.clone_from(weights);
        }
        let mut models = Vec::new();
        let mut push_component = |name: String, weight: f32| {
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
            let opened = open_model(model, configuration).map_err(|reason| {
                let reason = format!("{} ({}): {reason}", model.name, model.path);
                Error::section(&configuration.ini, "rescore", reason)
            })?;
            models.push(opened);
            push_component(model.name.clone(), model.weight);
        }
        let marker_components: Vec<Option<usize>> = configuration
            .rescoring
            .iter()
            .map(|model| {
                let name = model.candidate_feature()?;
                Some(push_component(name, model.candidate_weight))
            })
            .collect();
        Ok(Some(Rescoring {
            models,
            list_size: configuration.settings.rescore_list_size,
            max_added: configuration.rescoring.iter().map(RescoringModel::candidates).sum(),
            components,
            num_search_features: search_components.len(),
            marker_components,
            has_own_weights: list_weights.is_some(),
        }))
    }

    /// Returns the number of entries that the search must find for a rescored list of `wanted`
    /// entries. Models may add the rest.
    pub(crate) fn search_list_size(&self, wanted: usize) -> usize {
        self.list_size.max(wanted.saturating_sub(self.max_added))
    }

    /// Returns the total score of a rescored entry, given its values and its total in the search.
    /// Lists with weights of their own ignore the total of the search.
    pub(crate) fn total(&self, values: &[f32], search_total: f32) -> f32 {
        if self.has_own_weights {
            add_weighted(0.0, &self.components, values)
        } else {
            add_weighted(search_total, &self.components[self.num_search_features..], values)
        }
    }

    /// Returns the weighted sum of the search's values, by the weights of rescored lists if these
    /// have their own.
    pub(crate) fn search_total(&self, values: &[f32]) -> f32 {
        add_weighted(0.0, &self.components[..self.num_search_features], values)
    }

    /// Returns the feature name of a model, by its index.
    pub(crate) fn feature_name(&self, model: usize) -> &str {
        &self.components[self.num_search_features + model].name
    }
}

/// Adds the weighted values of components to `start`.
fn add_weighted(start: f32, components: &[FeatureComponents], values: &[f32]) -> f32 {
    let weighted = components
        .iter()
        .flat_map(|component| values[component.range.clone()].iter().zip(&component.weights));
    weighted.fold(start, |sum, (value, weight)| sum + value * weight)
}

/// Checks that models may add translations to the lists of a system: added translations have no
/// factors and ignore the markup of the input.
fn check_candidates(settings: &Settings, is_factored: bool) -> Result<(), &'static str> {
    if is_factored {
        return Err("candidates= does not work with factored models, because added words have no \
                    factors; leave it out");
    }
    if settings.input_format.markup != XmlInputMode::PassThrough {
        return Err("candidates= ignores the markup of the input; leave out candidates= or \
                    -xml-input");
    }
    Ok(())
}
