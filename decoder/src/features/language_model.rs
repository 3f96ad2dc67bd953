//! Language models: the log probability of the target words, and on request the number of words
//! that the model does not know.
//!
//! A phrase alone fixes the scores of its inner words, which go into the total of its
//! option; the words that depend on the context are scored in each expansion.

use miriam_lmcpu::line_scoring::{SentenceMarkers, score_sentence, walk_sentence};
use miriam_lmcpu::{ArpaOptions, MissingMarkerPolicy, OpenOptions, PositivePolicy};
use miriam_textio::Log10;

use super::expansion_feature::{ExpansionFeature, ExpansionInput, LmScorers, ScoredLms};
use super::phrase_feature::{PhraseFeature, ScoredPhrase, TargetPhrase, UnscoredPhrase, WholeText};
use super::{FeatureSet, LoadContext};
use crate::Result;
use crate::factors::parse_factor;
use crate::feature_line::{FeatureLine, parse_flag};
use crate::models::JoinedLanguageModel;

/// The type of a feature line.
pub(super) const TYPE: &str = "KENLM";

/// Types whose models are opened like those of `KENLM`: ARPA files, or binary files of KenLM or
/// Miriam.
const ALIASES: &[&str] = &["IRSTLM", "KENLMBatch", "LanguageModel", "SRILM"];

/// Whether models of the type are opened as KENLM models.
pub(crate) fn is_alias(type_name: &str) -> bool {
    ALIASES.contains(&type_name)
}

/// A language model's parameters.
#[derive(Clone, Debug)]
pub struct LanguageModelSpec {
    /// The model file.
    pub path: String,
    /// The method of opening the file.
    pub open: OpenOptions,
    /// Whether a second component counts the words that the model does not know.
    pub has_oov_feature: bool,
    /// The factor of target words that is scored.
    pub factor: usize,
}

impl LanguageModelSpec {
    /// Reads the keys of a feature line.
    pub(super) fn parse(keys: &mut FeatureLine) -> Result<Self, String> {
        let factor = keys.take("factor").map_or(Ok(0), |text| parse_factor(&text))?;
        // The key is ignored: the file says the order.
        keys.take("order");
        let oov_feature = keys.take("oov-feature").map(|text| parse_flag("oov-feature", &text));
        let has_oov_feature = oov_feature.transpose()?.unwrap_or(false);
        let path = keys.take("path").ok_or("path= is missing")?;
        let open = OpenOptions { load: keys.take_load()?, arpa: take_arpa_options(keys)? };
        Ok(LanguageModelSpec { path, open, has_oov_feature, factor })
    }

    /// Returns the number of components: the log probability, and the count of unknown words.
    pub(super) fn num_components(&self) -> usize {
        1 + usize::from(self.has_oov_feature)
    }
}

/// Reads the keys that say how ARPA text is read. Moses' features of other toolkits also open files
/// that KenLM rejects.
fn take_arpa_options(keys: &mut FeatureLine) -> Result<ArpaOptions, String> {
    let mut options = ArpaOptions::default();
    if matches!(keys.type_name(), "IRSTLM" | "SRILM") {
        options.positive = PositivePolicy::Zero;
        options.missing_markers = MissingMarkerPolicy::Unknown;
    }
    for name in ArpaOptions::NAMES {
        if let Some(value) = keys.take(name) {
            options.set(name, &value)?;
        }
    }
    Ok(options)
}

/// Opens the model of `spec` and adds its features to `set`.
pub(super) fn load(
    set: &mut FeatureSet,
    spec: &LanguageModelSpec,
    component: usize,
    context: &mut LoadContext<'_>,
) -> Result<()> {
    let path = (context.resolve_path)(&spec.path);
    let opened = JoinedLanguageModel::open(&path, spec.open, spec.factor, context.progress)?;
    let model = context.models.language_models.len();
    context.models.language_models.push(opened);
    let scores = LanguageModelFeature { model, component, weight: 0.0 };
    set.phrase.push(PhraseFeature::LanguageModel(scores));
    if spec.has_oov_feature {
        let component = component + 1;
        set.phrase.push(PhraseFeature::OovCount(OovCount { model, component, weight: 0.0 }));
    }
    set.expansion.push(ExpansionFeature::LanguageModel(scores));
    Ok(())
}

/// The log probability of one language model, a natural logarithm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LanguageModelFeature {
    /// The index of the language model in the system.
    model: usize,
    component: usize,
    weight: f32,
}

impl LanguageModelFeature {
    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.weight = weights[self.component];
    }

    /// Returns the weighted score of the words whose context lies within a phrase, and the weighted
    /// estimate of its other words, without their context.
    #[inline]
    pub(super) fn phrase_score(&self, phrase: &mut impl UnscoredPhrase) -> (f32, f32) {
        let (inner, full) = phrase.lm_scores(self.model);
        (inner * self.weight, (full - inner) * self.weight)
    }

    pub(super) fn add_phrase_value(&self, phrase: &impl ScoredPhrase, values: &mut [f32]) {
        values[self.component] += phrase.inner_lm_score(self.model);
    }

    /// Returns the value of words whose log10 probability is `log10`.
    #[inline(always)]
    fn value(log10: f32) -> f32 {
        Log10(log10).to_ln().0
    }

    /// Returns the weighted score of words whose log10 probability is `log10`.
    #[inline(always)]
    pub(crate) fn score(&self, log10: f32) -> f32 {
        Self::value(log10) * self.weight
    }

    /// Whether more probable words never get a lower weighted score.
    #[inline(always)]
    pub(crate) fn has_nonnegative_weight(&self) -> bool {
        self.weight >= 0.0
    }

    /// Returns the weighted score of words. `log10` has their log10 probability in each language
    /// model.
    #[inline(always)]
    pub(crate) fn score_in(&self, log10: &[f32]) -> f32 {
        self.score(log10[self.model])
    }

    /// Returns the weighted score of the words of an expansion that depend on its context. Sets the
    /// model's state after the expansion.
    #[inline(always)]
    pub(crate) fn expansion_score(
        &self,
        input: &ExpansionInput<'_>,
        lms: &mut LmScorers<'_>,
    ) -> f32 {
        let before = lms.joint_states.state(input.previous.joint_state, self.model);
        let phrase = input.options.lm_phrase(input.option, self.model);
        let (log10, after) = lms.caches[self.model].score_phrase(
            &*input.models.language_models[self.model].model,
            phrase.parts(input.options.lm_pool()),
            before,
            input.ends,
        );
        let score = self.score(log10);
        lms.joint_states.set_state(self.model, after);
        score
    }

    pub(super) fn add_expansion_value(
        &self,
        input: &ExpansionInput<'_>,
        lms: &ScoredLms<'_>,
        values: &mut [f32],
    ) {
        let phrase = input.options.lm_phrase(input.option, self.model);
        let log10 = lms.caches[self.model].rescore_phrase(
            &*input.models.language_models[self.model].model,
            phrase.parts(input.options.lm_pool()),
            lms.joint_states.state(input.previous.joint_state, self.model),
            input.ends,
        );
        values[self.component] += Self::value(log10);
    }

    pub(super) fn set_text_value(&self, text: &WholeText<'_>, values: &mut [f32]) {
        let model = &*text.language_models[self.model].model;
        values[self.component] =
            Self::value(score_sentence(model, text.text, SentenceMarkers::BOTH));
    }
}

/// The number of words that a language model does not know.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OovCount {
    model: usize,
    component: usize,
    weight: f32,
}

impl OovCount {
    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.weight = weights[self.component];
    }

    fn value(&self, phrase: &impl TargetPhrase) -> f32 {
        phrase.num_unknown_words(self.model) as f32
    }

    pub(super) fn score(&self, phrase: &impl TargetPhrase) -> f32 {
        self.value(phrase) * self.weight
    }

    pub(super) fn add_value(&self, phrase: &impl TargetPhrase, values: &mut [f32]) {
        values[self.component] += self.value(phrase);
    }

    pub(super) fn set_text_value(&self, text: &WholeText<'_>, values: &mut [f32]) {
        let mut unknown = 0;
        let model = &*text.language_models[self.model].model;
        walk_sentence(model, text.text, SentenceMarkers::BOTH, |is_unknown, _, _| {
            unknown += usize::from(is_unknown);
        });
        values[self.component] = unknown as f32;
    }
}
