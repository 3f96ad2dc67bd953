//! A decoded sentence: the immutable result of a search, which n-best lists and reports
//! read.

use crate::Result;
use crate::coverage::Coverages;
use crate::features::{ScoredLms, StatefulScorers};
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::joint_states::JointStates;
use crate::lm_scoring::LmScoreCache;
use crate::output::TranslatedPhrase;
use crate::search::Search;
use crate::sentence::Sentence;
use crate::span::Span;
use crate::surface_forms::SurfaceForms;
use crate::system::System;
use crate::translation_options::{OptionId, SentenceOptions};

/// A sentence after its search.
#[derive(Clone, Copy)]
pub(crate) struct DecodedSentence<'a> {
    pub(crate) system: &'a System,
    pub(crate) sentence: &'a Sentence,
    pub(crate) options: &'a SentenceOptions,
    pub(crate) coverages: &'a Coverages,
    pub(crate) lm_caches: &'a [LmScoreCache],
    pub(crate) stateful_scorers: &'a StatefulScorers,
    pub(crate) joint_states: &'a JointStates,
    /// The search, which has ended. A sentence without words is not searched; then this is the
    /// search of an earlier sentence.
    pub(crate) search: &'a dyn Search,
    /// Hypotheses of the best translation, in target order; empty if a model of `[rescore]` has
    /// made the translation.
    pub(crate) best_path: &'a [HypothesisId],
    /// The words of the best translation, if a model of `[rescore]` has made it.
    pub(crate) best_words: Option<&'a [Vec<u8>]>,
    /// The model score of the best translation; `None` if there is none within the
    /// limits of the search.
    pub(crate) score: Option<f32>,
    /// The n-best list of the sentence, best first, if models of `[rescore]` have scored it.
    pub(crate) rescored: Option<&'a [RescoredEntry]>,
}

/// An entry of an n-best list that models of `[rescore]` have scored.
#[derive(Clone, Debug)]
pub(crate) struct RescoredEntry {
    /// Its hypotheses, the last phrase first; empty if a model has made the entry.
    pub(crate) hypotheses: Vec<HypothesisId>,
    /// Its words, if a model has made the entry.
    pub(crate) words: Option<Vec<Vec<u8>>>,
    /// If a model has made the entry, the component that marks translations of this model.
    pub(crate) marker: Option<usize>,
    /// The values of the features of the search, then the scores of the models, then their markers.
    pub(crate) values: Vec<f32>,
    /// The weighted sum of `values`.
    pub(crate) total: f32,
}

impl<'a> DecodedSentence<'a> {
    /// Returns the hypotheses of the search.
    pub(crate) fn hypotheses(self) -> &'a [Hypothesis] {
        self.search.hypotheses()
    }

    /// Returns the hypothesis `id`.
    pub(crate) fn hypothesis(self, id: HypothesisId) -> &'a Hypothesis {
        &self.search.hypotheses()[id.0 as usize]
    }

    /// Returns the language models' states and caches.
    pub(crate) fn lms(self) -> ScoredLms<'a> {
        ScoredLms { caches: self.lm_caches, joint_states: self.joint_states }
    }

    /// Returns the words of options as they are printed.
    pub(crate) fn surface_forms(self) -> SurfaceForms<'a> {
        let DecodedSentence { system, sentence, options, .. } = self;
        SurfaceForms { models: &system.models, sentence, options }
    }

    /// Returns the last phrase of a hypothesis; `offset` is the position of the sentence's first
    /// word in its line.
    ///
    /// # Errors
    ///
    /// Fails if a placeholder is not aligned to one word.
    pub(crate) fn translated_phrase(
        self,
        id: HypothesisId,
        offset: u32,
    ) -> Result<TranslatedPhrase> {
        let hypothesis = self.hypothesis(id);
        let mut words = Vec::new();
        self.surface_forms()
            .for_each_word(hypothesis.option, hypothesis.span, |word| words.push(word.to_vec()))?;
        let mut alignment = Vec::new();
        self.collect_alignment(hypothesis.option, &mut alignment);
        Ok(TranslatedPhrase { source: hypothesis.span.shifted(offset), words, alignment })
    }

    /// Returns the phrases of a translation. If a model of `[rescore]` has made it, `words` are its
    /// words, and it is a single phrase. Otherwise, `path` has its hypotheses in target order.
    ///
    /// # Errors
    ///
    /// Fails if a placeholder is not aligned to one word.
    pub(crate) fn translated_phrases<'i>(
        self,
        words: Option<&[Vec<u8>]>,
        mut path: impl Iterator<Item = &'i HypothesisId>,
        offset: u32,
    ) -> Result<Vec<TranslatedPhrase>> {
        match words {
            None => path.try_fold(Vec::new(), |mut phrases, &id| {
                phrases.push(self.translated_phrase(id, offset)?);
                Ok(phrases)
            }),
            Some(words) => Ok(vec![TranslatedPhrase {
                source: self.whole_span().shifted(offset),
                words: words.to_vec(),
                alignment: Vec::new(),
            }]),
        }
    }

    /// Returns the phrases of the best translation.
    ///
    /// # Errors
    ///
    /// Fails if a placeholder is not aligned to one word.
    pub(crate) fn best_phrases(self, offset: u32) -> Result<Vec<TranslatedPhrase>> {
        self.translated_phrases(self.best_words, self.best_path.iter(), offset)
    }

    /// Returns the span of all words.
    pub(crate) fn whole_span(self) -> Span {
        Span { start: 0, end: self.sentence.len() as u32 }
    }

    /// Lists the alignment of an option in `points`: source and target positions within the phrase.
    /// They are sorted by source position, or by target position if the settings say so.
    pub(crate) fn collect_alignment(self, option: OptionId, points: &mut Vec<(u16, u16)>) {
        points.clear();
        self.options.push_alignment_points(option, &self.system.models, points);
        if self.system.settings.output.sort_alignment_by_target {
            points.sort_unstable_by_key(|&(source, target)| (target, source))
        } else {
            points.sort_unstable()
        }
        // A pair that is written twice counts once.
        points.dedup();
    }
}
