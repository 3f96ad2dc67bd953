//! Feature functions, one file or folder each: the keys of the line in the ini, the components and
//! weights, and the value.
//!
//! A feature, except phrase tables and the unknown-word penalty, belongs to one or more of these
//! groups. `CONTRIBUTING.md` explains how to add a feature.
//!
//! Features of a phrase alone ([`PhraseFeature`]) are scored when options are made. Features of an
//! expansion ([`ExpansionFeature`](expansion_feature::ExpansionFeature)) read the previous phrase's
//! span and the coverage (distortion, most reordering) or the words of the context (language
//! models). Features with any other state ([`StatefulFeature`](stateful_feature::StatefulFeature):
//! hierarchical reordering, operation sequences) intern their own states. The groups' functions
//! dispatch by `match`, so that only features of the last group are called virtually.

mod distortion;
mod expansion_feature;
mod fast_path;
mod feature_set;
mod language_model;
mod lexical_reordering;
mod operation_sequence_model;
mod phrase_feature;
mod phrase_penalty;
mod phrase_table;
mod stateful_feature;
mod unknown_word_penalty;
mod word_penalty;

use crate::Result;
use crate::feature_line::FeatureLine;
pub(crate) use distortion::jump_distance;
pub(crate) use expansion_feature::{
    ExpansionInput, LmScorers, ScoredLms, Transition, ValueSources,
};
pub(crate) use fast_path::{FastPathFeatures, FastPathKind, MAX_FAST_MODELS};
pub use feature_set::FeatureComponents;
pub(crate) use feature_set::{FeatureSet, LoadContext, RecombinationKey, TableSlot};
pub(crate) use language_model::LanguageModelFeature;
pub use language_model::LanguageModelSpec;
pub(crate) use language_model::is_alias as is_language_model_alias;
pub(crate) use lexical_reordering::{
    HierarchicalBackwardScorer, OptionRows, RelativePosition, Weighting,
};
pub use lexical_reordering::{
    OrientationClasses, ReorderingSource, ReorderingSpec, ReorderingType,
};
pub use operation_sequence_model::OperationSequenceModelSpec;
pub(crate) use operation_sequence_model::{
    IsolatedOperationScorer, OperationSequenceModel, UNKNOWN_TARGET,
};
use phrase_feature::PhraseFeature;
pub(crate) use phrase_feature::{ScoredPhrase, TargetPhrase, UnscoredPhrase, WholeText};
pub use phrase_table::{PhraseTableFormat, PhraseTableSpec};
pub(crate) use stateful_feature::{ExpansionBatch, StatefulScorers};
pub use unknown_word_penalty::UnknownWordSpec;

/// The types of feature lines, for error messages.
pub(crate) const SUPPORTED_TYPES: &str = "UnknownWordPenalty, WordPenalty, PhrasePenalty, \
    Distortion, LexicalReordering, KENLM, OpSequenceModel, PhraseDictionaryMemory, ProbingPT, \
    DynamicPhraseTable";

/// One feature function of the ini.
#[derive(Clone, Debug)]
pub struct FeatureSpec {
    /// Its name: `name=`, or the type with a running number.
    pub name: String,
    /// The number of its components.
    pub num_components: usize,
    /// Whether each component is tuned. A feature without tuned components needs no weight line.
    pub tuneable: Vec<bool>,
    /// One weight per component.
    pub weights: Vec<f32>,
    /// Its type and parameters.
    pub kind: FeatureKind,
}

impl FeatureSpec {
    /// Whether at least one component is tuned.
    pub(crate) fn is_tuneable(&self) -> bool {
        self.tuneable.contains(&true)
    }
}

/// The kinds of feature functions, with the parameters of their lines.
#[derive(Clone, Debug)]
pub enum FeatureKind {
    /// -100 for each unknown word; the "table" of unknown words.
    UnknownWordPenalty(UnknownWordSpec),
    /// Minus the number of target words.
    WordPenalty,
    /// 1 for each phrase.
    PhrasePenalty,
    /// Minus the length of the jump, in words.
    Distortion,
    /// Lexicalised reordering.
    LexicalReordering(ReorderingSpec),
    /// An n-gram language model.
    LanguageModel(LanguageModelSpec),
    /// An operation sequence model.
    OperationSequenceModel(OperationSequenceModelSpec),
    /// A phrase table.
    PhraseTable(PhraseTableSpec),
}

impl FeatureKind {
    /// Reads a feature line from which the keys common to all types have been taken; also returns
    /// the number of components. `num_features` is the value of `num-features`. Returns `None` for
    /// a type that is not supported.
    pub(crate) fn parse(
        keys: &mut FeatureLine,
        num_features: Option<usize>,
    ) -> Result<Option<(Self, usize)>, String> {
        let type_name = keys.type_name().to_owned();
        fn table(
            keys: &mut FeatureLine,
            format: PhraseTableFormat,
            num_features: Option<usize>,
        ) -> Result<(FeatureKind, usize), String> {
            let spec = PhraseTableSpec::parse(keys, format)?;
            Ok((FeatureKind::PhraseTable(spec), num_features.unwrap_or(1)))
        }
        Ok(Some(match &type_name[..] {
            "UnknownWordPenalty" => {
                (FeatureKind::UnknownWordPenalty(UnknownWordSpec::parse(keys)?), 1)
            }
            "WordPenalty" => (FeatureKind::WordPenalty, 1),
            "PhrasePenalty" => (FeatureKind::PhrasePenalty, 1),
            "Distortion" => (FeatureKind::Distortion, 1),
            "LexicalReordering" => {
                let spec = ReorderingSpec::parse(keys)?;
                let components = spec.model.num_components(num_features);
                (FeatureKind::LexicalReordering(spec), components)
            }
            name if name == language_model::TYPE || is_language_model_alias(name) => {
                let spec = LanguageModelSpec::parse(keys)?;
                let components = spec.num_components();
                (FeatureKind::LanguageModel(spec), components)
            }
            operation_sequence_model::TYPE => {
                let (spec, components) = OperationSequenceModelSpec::parse(keys)?;
                (FeatureKind::OperationSequenceModel(spec), components)
            }
            "PhraseDictionaryMemory" => table(keys, PhraseTableFormat::Text, num_features)?,
            "ProbingPT" => table(keys, PhraseTableFormat::Binary, num_features)?,
            "DynamicPhraseTable" => table(keys, PhraseTableFormat::PerSentence, num_features)?,
            _ => return Ok(None),
        }))
    }
}

impl FeatureKind {
    /// Returns the file of the feature's model, as its line names it.
    pub(crate) fn model_path(&self) -> Option<&str> {
        match self {
            FeatureKind::LanguageModel(spec) => Some(&spec.path),
            FeatureKind::OperationSequenceModel(spec) => Some(&spec.path),
            FeatureKind::LexicalReordering(spec) => spec.path(),
            FeatureKind::PhraseTable(spec) => spec.path(),
            FeatureKind::UnknownWordPenalty(_)
            | FeatureKind::WordPenalty
            | FeatureKind::PhrasePenalty
            | FeatureKind::Distortion => None,
        }
    }
}

impl FeatureSet {
    /// Adds the components of `feature`, and loads the feature if it `is_used`.
    ///
    /// # Errors
    ///
    /// Fails if a model cannot be opened or does not fit the feature's parameters.
    pub(crate) fn add(
        &mut self,
        feature: &FeatureSpec,
        is_used: bool,
        context: &mut LoadContext<'_>,
    ) -> Result<()> {
        let first = self.num_components;
        self.num_components += feature.num_components;
        self.components.push(FeatureComponents {
            name: feature.name.clone(),
            range: first..self.num_components,
            tuneable: feature.tuneable.clone(),
            weights: feature.weights.clone(),
        });
        if !is_used {
            return Ok(());
        }
        match &feature.kind {
            FeatureKind::UnknownWordPenalty(_) => {
                unknown_word_penalty::UnknownWordPenalty::load(self, feature, first)?;
            }
            FeatureKind::WordPenalty => {
                let penalty = word_penalty::WordPenalty::new(first);
                self.phrase.push(PhraseFeature::WordPenalty(penalty));
            }
            FeatureKind::PhrasePenalty => {
                let penalty = phrase_penalty::PhrasePenalty::new(first);
                self.phrase.push(PhraseFeature::PhrasePenalty(penalty));
            }
            FeatureKind::Distortion => distortion::load(self, first, context),
            FeatureKind::LexicalReordering(spec) => {
                lexical_reordering::load(self, feature, spec, first, context)?;
            }
            FeatureKind::LanguageModel(spec) => language_model::load(self, spec, first, context)?,
            FeatureKind::OperationSequenceModel(spec) => {
                let count = feature.num_components;
                operation_sequence_model::load(self, spec, first, count, context)?;
            }
            FeatureKind::PhraseTable(spec) => {
                phrase_table::load(self, feature, spec, first, context)?;
            }
        }
        Ok(())
    }
}

/// Adds `more` to the first elements of `values`.
fn add_components(values: &mut [f32], more: &[f32]) {
    for (value, more) in values.iter_mut().zip(more) {
        *value += more;
    }
}
