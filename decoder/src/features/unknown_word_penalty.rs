//! The unknown-word penalty: -100 for each copied word, or the scores that markup gives a forced
//! translation. It is also the "table" of unknown words: its line in the ini says how they are
//! translated.

use super::{FeatureSet, FeatureSpec};
use crate::feature_line::{FeatureLine, parse_flag};
use crate::{Error, Result};

/// The translation of unknown words.
#[derive(Clone, Debug)]
pub struct UnknownWordSpec {
    /// Whether they are dropped.
    pub drop: bool,
    /// A string put before each copied word.
    pub prefix: String,
    /// A string put after each copied word.
    pub suffix: String,
}

impl UnknownWordSpec {
    /// Reads the keys of a feature line.
    pub(super) fn parse(keys: &mut FeatureLine) -> Result<Self, String> {
        // Moses2 accepts the keys of a table here and ignores them.
        for key in ["path", "input-factor", "output-factor", "table-limit", "cache-size"] {
            keys.take(key);
        }
        let drop = keys.take("drop").map_or(Ok(false), |text| parse_flag("drop", &text))?;
        fn text(key: &str, keys: &mut FeatureLine) -> String {
            keys.take(key).unwrap_or_default()
        }
        Ok(UnknownWordSpec { drop, prefix: text("prefix", keys), suffix: text("suffix", keys) })
    }

    /// Returns the prefix and the suffix, unless both are empty.
    pub(crate) fn affixes(&self) -> Option<(String, String)> {
        let any = !self.prefix.is_empty() || !self.suffix.is_empty();
        any.then(|| (self.prefix.clone(), self.suffix.clone()))
    }
}

/// The unknown-word penalty with its weight and its component.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnknownWordPenalty {
    component: usize,
    weight: f32,
}

impl UnknownWordPenalty {
    /// The value of a copied word.
    const COPIED_WORD: f32 = -100.0;

    /// Adds the penalty to `set`, which may have only one.
    pub(super) fn load(
        set: &mut FeatureSet,
        feature: &FeatureSpec,
        component: usize,
    ) -> Result<()> {
        if set.has_unknown_word_penalty() {
            return Err(Error::feature(&feature.name, "there is already an unknown-word penalty"));
        }
        set.unknown_word = UnknownWordPenalty { component, weight: 0.0 };
        set.slots.push(super::TableSlot::Unknown);
        Ok(())
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.weight = weights[self.component];
    }

    /// Returns the index of its component among all values.
    pub(crate) fn component(&self) -> usize {
        self.component
    }

    /// Returns the weighted score of a copied word.
    pub(crate) fn copied_word_score(&self) -> f32 {
        0f32 + Self::COPIED_WORD * self.weight
    }

    /// Returns the weighted score of a forced translation with the unweighted scores `scores`.
    pub(crate) fn forced_score(&self, scores: &[f32]) -> f32 {
        let mut total = 0f32;
        for score in scores {
            total += score * self.weight;
        }
        total
    }

    /// Adds the value of a copied word.
    pub(crate) fn add_copied_word_value(&self, values: &mut [f32]) {
        values[self.component] += Self::COPIED_WORD;
    }

    /// Adds the unweighted scores of a forced translation.
    pub(crate) fn add_forced_values(&self, scores: &[f32], values: &mut [f32]) {
        super::add_components(&mut values[self.component..], scores);
    }
}
