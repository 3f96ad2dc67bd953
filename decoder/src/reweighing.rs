//! New weights for a system whose models are loaded already, as tuning needs them
//! once an iteration.

use crate::components::Components;
use crate::options::{OptionMemo, PhraseValues};
use crate::search::Usual;
use crate::system::{PhraseFeature, StatefulFeature, System};

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
        let Components { unknown, tables, sentence_tables, phrase, stateful, cells, .. } =
            &self.components;
        self.unknown_weight = weights[*unknown];
        for (table, &first) in self.tables.iter_mut().zip(tables) {
            copy(&mut table.weights, weights, first);
        }
        for (table, &first) in self.sentence_tables.iter_mut().zip(sentence_tables) {
            copy(&mut table.weights, weights, first);
        }
        for (feature, &first) in self.phrase_features.iter_mut().zip(phrase) {
            match feature {
                PhraseFeature::WordPenalty(weight)
                | PhraseFeature::PhrasePenalty(weight)
                | PhraseFeature::UnknownToModel { weight, .. } => *weight = weights[first],
                PhraseFeature::LanguageModel(model) => {
                    self.language_models[*model].weight = weights[first];
                }
                PhraseFeature::Operations(model) => {
                    copy(&mut self.operations[*model].weights, weights, first);
                }
            }
        }
        for (feature, &first) in self.stateful_features.iter_mut().zip(stateful) {
            match feature {
                StatefulFeature::Distortion(weight)
                | StatefulFeature::EarlyDistortion(weight)
                | StatefulFeature::LanguageModel { weight, .. } => *weight = weights[first],
                // Their scores come weighted, in the cells of options and from
                // contexts.
                StatefulFeature::Backward { .. }
                | StatefulFeature::Forward { .. }
                | StatefulFeature::ForwardBlocks { .. }
                | StatefulFeature::Context { .. } => {}
            }
        }
        let mut component_of_cell = cells.iter();
        for (_, weight) in self.reordering.iter_mut().flat_map(|model| &mut model.cells) {
            if let Some(&component) = component_of_cell.next() {
                *weight = weights[component];
            }
        }
        if self.usual.is_some() {
            self.usual = Usual::of(&self.stateful_features, self.reordering_width);
        }
        self.memo = OptionMemo::new();
        // Rows of values stand in the order of the options, which weights decide.
        self.phrase_values = PhraseValues::default();
    }
}

/// Copies what stands from `first` on.
fn copy(own: &mut [f32], weights: &[f32], first: usize) {
    own.copy_from_slice(&weights[first..first + own.len()]);
}
