//! The operation sequence model (`docs/spec/phrase-decoding.md` 1.6, 3.6): an n-gram model of the
//! operations that a translation consists of, and four supporting features: widths of gaps, and
//! counts of gaps, open gaps and insertions.
//!
//! A phrase pair alone gives an estimate; the exact score is computed in expansions
//! ([`OperationSequenceScorer`]), which have a state.

mod operations;
mod scorer;

use std::borrow::Cow;
use std::sync::Arc;

use miriam_lmcpu::{LanguageModel, LmWord, State};
use miriam_storage::LoadMethod;

use super::phrase_feature::{PhraseFeature, UnscoredPhrase};
use super::stateful_feature::StatefulFeature;
use super::{FeatureSet, LoadContext};
use crate::Result;
use crate::factors::parse_factor;
use crate::feature_line::FeatureLine;
use crate::models::Models;
use crate::sentence::SourceSpan;
pub(crate) use operations::UNKNOWN_TARGET;
use operations::{Cursor, FixedOperations, OperationCounts, OperationProgram};
pub(super) use scorer::OperationSequenceScorer;

/// The type of a feature line.
pub(super) const TYPE: &str = "OpSequenceModel";

/// An operation sequence model's parameters.
#[derive(Clone, Debug)]
pub struct OperationSequenceModelSpec {
    /// The file of the n-gram model of operations, in any format of language models.
    pub path: String,
    /// The method of loading a binary file.
    pub load: LoadMethod,
    /// The factor of source words in the operations.
    pub source_factor: usize,
    /// The factor of target words in the operations.
    pub target_factor: usize,
}

impl OperationSequenceModelSpec {
    /// Reads the keys of a feature line; also returns the number of components.
    pub(super) fn parse(keys: &mut FeatureLine) -> Result<(Self, usize), String> {
        let mut factor = |key: &str| {
            let factor = keys.take(key).map_or(Ok(0), |text| parse_factor(&text));
            factor.map_err(|reason| format!("{key}=: {reason}"))
        };
        let (source_factor, target_factor) = (factor("input-factor")?, factor("output-factor")?);
        // Moses2 switches the supporting features off only for the word `no`.
        let is_alone = keys.take("support-features").is_some_and(|text| text == "no");
        let path = keys.take("path").ok_or("path= is missing")?;
        let load = keys.take_load()?;
        let spec = OperationSequenceModelSpec { path, load, source_factor, target_factor };
        Ok((spec, if is_alone { 1 } else { 5 }))
    }
}

/// Opens the model of `spec` and adds its features, `num_components` in all, to `set`.
pub(super) fn load(
    set: &mut FeatureSet,
    spec: &OperationSequenceModelSpec,
    component: usize,
    num_components: usize,
    context: &LoadContext<'_>,
) -> Result<()> {
    let path = (context.resolve_path)(&spec.path);
    let model = miriam_glm::open(&path, spec.load, context.progress)?;
    let fixed = FixedOperations::new(&*model);
    let operations = Arc::new(LoadedModel { model, fixed });
    let weights = vec![0.0; num_components];
    let feature = OperationSequenceModel {
        operations,
        component,
        weights,
        source_factor: spec.source_factor,
        target_factor: spec.target_factor,
    };
    set.phrase.push(PhraseFeature::OperationSequenceModel(feature.clone()));
    set.add_stateful(StatefulFeature::OperationSequenceModel(feature));
    Ok(())
}

/// An n-gram model of operations, and its ids of the operations that name no words.
struct LoadedModel {
    model: Arc<dyn LanguageModel>,
    fixed: FixedOperations,
}

/// An operation sequence model with its weights and its components.
#[derive(Clone)]
pub(crate) struct OperationSequenceModel {
    operations: Arc<LoadedModel>,
    component: usize,
    /// The weight of the model, then the four weights of the supporting features if they are used.
    weights: Vec<f32>,
    source_factor: usize,
    target_factor: usize,
}

impl OperationSequenceModel {
    /// Returns the words of `source` in operations; `surfaces` are their surfaces.
    pub(crate) fn source_words<'a>(
        &self,
        models: &'a Models,
        source: SourceSpan<'a>,
        surfaces: impl FnOnce() -> Cow<'a, [&'a [u8]]>,
    ) -> Cow<'a, [&'a [u8]]> {
        if self.source_factor == 0 {
            return surfaces();
        }
        Cow::Owned(source.factors(models, self.source_factor))
    }

    /// Returns a target word in operations. An unknown word may lack the factor.
    pub(crate) fn target_word<'a>(&self, models: &'a Models, word: &'a [u8]) -> &'a [u8] {
        models.word_factor(word, self.target_factor).unwrap_or(UNKNOWN_TARGET)
    }

    /// Whether the words of unknown words and forced translations are hidden from the model. As in
    /// Moses2, this is so only for models of factor 0 on both sides.
    pub(crate) fn hides_unknown_words(&self) -> bool {
        self.source_factor == 0 && self.target_factor == 0
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        let own = self.component..self.component + self.weights.len();
        self.weights.copy_from_slice(&weights[own]);
    }

    pub(super) fn num_components(&self) -> usize {
        self.weights.len()
    }

    /// Returns the values of operations: their log10 probability, then `counts` if the model has
    /// five components.
    fn values(&self, log10: f64, counts: OperationCounts) -> impl Iterator<Item = f32> {
        let OperationCounts { gap_width, gaps, open_gaps, insertions } = counts;
        let counts = [gap_width, gaps, open_gaps, insertions].map(|n| n as f32);
        std::iter::once(log10 as f32).chain(counts).take(self.weights.len())
    }

    /// Returns the values times their weights.
    fn weighted_values(&self, log10: f64, counts: OperationCounts) -> impl Iterator<Item = f32> {
        let values = self.values(log10, counts).zip(&self.weights);
        values.map(|(value, weight)| value * weight)
    }

    /// Returns the weighted score of a phrase pair alone.
    pub(super) fn estimate(&self, phrase: &mut impl UnscoredPhrase) -> f32 {
        phrase.operations_score(self)
    }
}

/// Scorer of single phrase pairs, with buffers that are reused.
#[derive(Default)]
pub(crate) struct IsolatedOperationScorer {
    program: OperationProgram,
    cursor: Cursor,
    covered: Vec<bool>,
    operations: Vec<LmWord>,
}

impl IsolatedOperationScorer {
    /// Returns the weighted score of the pair `source`, `target` with links `points` as if it were
    /// a whole sentence that begins without context.
    pub(crate) fn score(
        &mut self,
        model: &OperationSequenceModel,
        source: &[&[u8]],
        target: &[&[u8]],
        points: impl Iterator<Item = (u16, u16)>,
    ) -> f32 {
        self.program.compile(&*model.operations.model, source, target, points);
        self.cursor.reset();
        self.covered.clear();
        self.covered.resize(source.len(), false);
        self.operations.clear();
        let IsolatedOperationScorer { program, cursor, covered, operations } = self;
        let counts = program.run(&model.operations.fixed, 0, covered, cursor, operations);
        let (mut state, mut next) = (State::EMPTY, State::EMPTY);
        let mut log10 = 0f64;
        for &operation in &*operations {
            log10 += f64::from(model.operations.model.score(&state, operation, &mut next).0.0);
            state.copy_from(&next);
        }
        model.weighted_values(log10, counts).fold(0.0, |sum, part| sum + part)
    }
}
