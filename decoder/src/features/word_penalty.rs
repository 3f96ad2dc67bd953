//! The word penalty: minus the number of target words of a phrase.

use miriam_textio::fields::split_words;

use super::phrase_feature::{TargetPhrase, WholeText};

/// The word penalty with its weight and its component.
#[derive(Clone, Debug)]
pub(crate) struct WordPenalty {
    component: usize,
    weight: f32,
}

impl WordPenalty {
    pub(super) fn new(component: usize) -> Self {
        WordPenalty { component, weight: 0.0 }
    }

    pub(super) fn set_weights(&mut self, weights: &[f32]) {
        self.weight = weights[self.component];
    }

    #[inline]
    fn value(phrase: &impl TargetPhrase) -> f32 {
        -(phrase.num_words() as f32)
    }

    #[inline]
    pub(super) fn score(&self, phrase: &impl TargetPhrase) -> f32 {
        Self::value(phrase) * self.weight
    }

    pub(super) fn add_value(&self, phrase: &impl TargetPhrase, values: &mut [f32]) {
        values[self.component] += Self::value(phrase);
    }

    pub(super) fn set_text_value(&self, text: &WholeText<'_>, values: &mut [f32]) {
        values[self.component] = -(split_words(text.text).count() as f32);
    }
}
