//! Where the values of each feature stand among the values of a translation: one
//! f32 a score, features in the order of the ini.
//!
//! The search adds weighted scores only; values are computed for what is printed
//! or handed out, and need to know which component is whose.

use std::ops::Range;

use crate::config::{Configuration, FeatureKind, PhraseTableFormat};

/// One feature function's place among the values of a translation.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureComponents {
    /// Its name in the ini.
    pub name: String,
    /// Its components.
    pub range: Range<usize>,
    /// Whether it is tuned; n-best lists leave others out.
    pub tuneable: bool,
    /// Its weights, one a component.
    pub weights: Vec<f32>,
}

/// The components of all features, and the first of each part of a system, in the
/// order in which the system holds its parts.
#[derive(Clone, Debug, Default)]
pub(crate) struct ComponentLayout {
    pub(crate) features: Vec<FeatureComponents>,
    /// How many there are.
    pub(crate) count: usize,
    /// That of unknown words.
    pub(crate) unknown_word: usize,
    /// By number of the table.
    pub(crate) tables: Vec<usize>,
    /// By number of the table that comes with sentences.
    pub(crate) sentence_tables: Vec<usize>,
    /// By place among the features of a phrase alone.
    pub(crate) phrase_features: Vec<usize>,
    /// By place among the features that look at what stands before.
    pub(crate) expansion_features: Vec<usize>,
    /// By cell of an option's row of reordering scores.
    pub(crate) reordering_columns: Vec<usize>,
    /// A row of what a phrase brings: the scores of its table (of the widest one,
    /// so that rows are equally long), then what each language model adds to its
    /// total, from here on; then its reordering scores, from here on.
    pub(crate) inner_lm_offset: usize,
    pub(crate) reordering_offset: usize,
    pub(crate) phrase_row_width: usize,
}

impl ComponentLayout {
    /// Those of a system made from `configuration`.
    pub(crate) fn new(configuration: &Configuration) -> Self {
        let mut components = ComponentLayout::default();
        let mut models = 0;
        for (number, feature) in configuration.features.iter().enumerate() {
            let first = components.count;
            components.count += feature.num_components;
            components.features.push(FeatureComponents {
                name: feature.name.clone(),
                range: first..components.count,
                tuneable: feature.tuneable,
                weights: feature.weights.clone(),
            });
            match &feature.kind {
                FeatureKind::UnknownWordPenalty(_) => components.unknown_word = first,
                FeatureKind::WordPenalty | FeatureKind::PhrasePenalty => {
                    components.phrase_features.push(first);
                }
                FeatureKind::Distortion => components.expansion_features.push(first),
                FeatureKind::LexicalReordering(spec) => {
                    for _ in 0..spec.model.num_directions() {
                        components.expansion_features.push(first);
                    }
                    let cells = spec.model.column_weight_indices();
                    components.reordering_columns.extend(cells.map(|(_, weight)| first + weight));
                }
                FeatureKind::LanguageModel(_) => {
                    let parts = first..components.count;
                    components.phrase_features.extend(parts);
                    components.expansion_features.push(first);
                    models += 1;
                }
                FeatureKind::OperationSequenceModel(_) => {
                    components.phrase_features.push(first);
                    components.expansion_features.push(first);
                }
                FeatureKind::PhraseTable(spec) => {
                    let is_used = configuration.mapping.iter().any(|step| step.table == number);
                    if is_used && spec.format == PhraseTableFormat::PerSentence {
                        components.sentence_tables.push(first);
                    } else if is_used {
                        components.tables.push(first);
                        components.inner_lm_offset =
                            components.inner_lm_offset.max(feature.num_components);
                    }
                }
            }
        }
        components.reordering_offset = components.inner_lm_offset + models;
        // A row is never empty, so that rows can be counted.
        components.phrase_row_width =
            (components.reordering_offset + components.reordering_columns.len()).max(1);
        components
    }
}
