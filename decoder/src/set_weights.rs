//! New weights for a system whose models are loaded already, as tuning needs them
//! once an iteration.

use crate::component_layout::ComponentLayout;
use crate::options::{OptionCache, PhraseValueCache};
use crate::search::FastPathFeatures;
use crate::system::{ExpansionFeature, PhraseFeature, System};

impl System {
    /// The weights of all components, in the order in which
    /// [`Derivation::values`](crate::Derivation::values) stand.
    pub fn weights(&self) -> Vec<f32> {
        self.components.features.iter().flat_map(|f| f.weights.iter().copied()).collect()
    }

    /// Gives every component a new weight; `weights` are as many and as ordered as
    /// those of [`System::weights`]. Options made with the old ones are forgotten.
    ///
    /// Panics where there are more or fewer weights.
    pub fn set_weights(&mut self, weights: &[f32]) {
        let components = &mut self.components;
        assert_eq!(weights.len(), components.count, "one weight a component");
        for feature in &mut components.features {
            feature.weights.copy_from_slice(&weights[feature.range.clone()]);
        }
        let ComponentLayout {
            unknown_word: unknown,
            tables,
            sentence_tables,
            phrase_features: phrase,
            expansion_features: stateful,
            reordering_columns: cells,
            ..
        } = &self.components;
        self.unknown_word_weight = weights[*unknown];
        for (table, &first) in self.tables.iter_mut().zip(tables) {
            copy_weights(&mut table.weights, weights, first);
        }
        for (table, &first) in self.sentence_tables.iter_mut().zip(sentence_tables) {
            copy_weights(&mut table.weights, weights, first);
        }
        for (feature, &first) in self.phrase_features.iter_mut().zip(phrase) {
            match feature {
                PhraseFeature::WordPenalty(weight)
                | PhraseFeature::PhrasePenalty(weight)
                | PhraseFeature::OovCount { weight, .. } => *weight = weights[first],
                PhraseFeature::LanguageModel(model) => {
                    self.language_models[*model].weight = weights[first];
                }
                PhraseFeature::OperationSequenceModel(model) => {
                    copy_weights(&mut self.operation_models[*model].weights, weights, first);
                }
            }
        }
        for (feature, &first) in self.expansion_features.iter_mut().zip(stateful) {
            match feature {
                ExpansionFeature::Distortion(weight)
                | ExpansionFeature::EarlyDistortion(weight)
                | ExpansionFeature::LanguageModel { weight, .. } => *weight = weights[first],
                // Their scores come weighted, in the cells of options and from
                // contexts.
                ExpansionFeature::BackwardReordering { .. }
                | ExpansionFeature::ForwardReordering { .. }
                | ExpansionFeature::HierarchicalForward { .. }
                | ExpansionFeature::Stateful { .. } => {}
            }
        }
        let mut component_of_cell = cells.iter();
        for (_, weight) in self.reordering_models.iter_mut().flat_map(|model| &mut model.columns) {
            if let Some(&component) = component_of_cell.next() {
                *weight = weights[component];
            }
        }
        if self.fast_path.is_some() {
            self.fast_path =
                FastPathFeatures::from_features(&self.expansion_features, self.reordering_width);
        }
        self.option_cache = OptionCache::new();
        // Rows of values stand in the order of the options, which weights decide.
        self.phrase_values = PhraseValueCache::default();
    }
}

/// Copies what stands from `first` on.
fn copy_weights(own: &mut [f32], weights: &[f32], first: usize) {
    own.copy_from_slice(&weights[first..first + own.len()]);
}
