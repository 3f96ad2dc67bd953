//! The models of `[rescore]` in a system, which score the n-best list of each sentence. They are
//! behind a trait, because this crate knows no neural models.

use miriam_combine::lists::FeatureModel;

use crate::config::{Configuration, RescoringModel};
use crate::features::FeatureComponents;
use crate::{Error, Result};

/// Opens a model of `[rescore]`; the error is the reason why it cannot be used.
pub type OpenRescoringModel<'a> =
    dyn Fn(&RescoringModel, &Configuration) -> Result<Box<dyn FeatureModel>, String> + 'a;

/// The models of a system.
pub(crate) struct Rescoring {
    pub(crate) models: Vec<Box<dyn FeatureModel>>,
    /// The entries of a list that are scored.
    pub(crate) list_size: usize,
    /// The components of the features of the search, then one for each model, with their weights in
    /// scored lists.
    pub(crate) components: Vec<FeatureComponents>,
    /// Whether the features of the search have other weights in scored lists.
    pub(crate) has_own_weights: bool,
}

impl Rescoring {
    /// Opens the models of `configuration`; `search` has the features of the search. `None` if it
    /// has no models.
    ///
    /// # Errors
    ///
    /// Fails if a model cannot be opened.
    pub(crate) fn open(
        configuration: &Configuration,
        open: &OpenRescoringModel<'_>,
        search: &[FeatureComponents],
    ) -> Result<Option<Self>> {
        if configuration.rescoring.is_empty() {
            return Ok(None);
        }
        let mut components = search.to_vec();
        let own = configuration.list_weights.as_deref();
        for (component, weights) in components.iter_mut().zip(own.unwrap_or_default()) {
            component.weights.clone_from(weights);
        }
        let mut models = Vec::new();
        for model in &configuration.rescoring {
            let opened = open(model, configuration).map_err(|reason| {
                let reason = format!("{} ({}): {reason}", model.name, model.path);
                Error::section(&configuration.ini, "rescore", reason)
            })?;
            models.push(opened);
            let next = components.last().map_or(0, |last| last.range.end);
            components.push(FeatureComponents {
                name: model.name.clone(),
                range: next..next + 1,
                tuneable: vec![true],
                weights: vec![model.weight],
            });
        }
        let list_size = configuration.settings.rescore_list_size;
        Ok(Some(Rescoring { models, list_size, components, has_own_weights: own.is_some() }))
    }

    /// Returns the total of an entry with `values`, of which the search gave `search_total`.
    pub(crate) fn total(&self, values: &[f32], search_total: f32) -> f32 {
        let first_model = self.components.len() - self.models.len();
        let (first, start) =
            if self.has_own_weights { (0, 0.0) } else { (first_model, search_total) };
        let weighted = self.components[first..]
            .iter()
            .flat_map(|component| values[component.range.clone()].iter().zip(&component.weights));
        weighted.fold(start, |sum, (value, weight)| sum + value * weight)
    }
}
