//! The unweighted value of every feature, for hypotheses that are printed.
//!
//! The search keeps no values of single features. The values of a hypothesis are computed phrase by
//! phrase from the first phrase on, with the additions that Moses2 makes while it searches. For
//! each phrase, the features of the phrase come first, then the features of the expansion in the
//! order of the ini. Language-model scores are looked up in the sentence's cache. Rows of values
//! are kept for the sentence, because the paths of a list share most of their hypotheses.

use miriam_lmcpu::LmWord;
use miriam_textio::WordId;

use super::paths::{PathId, PathQueue};
use crate::Result;
use crate::decoded_sentence::DecodedSentence;
use crate::features::{ExpansionInput, ScoredPhrase, TargetPhrase, Transition, ValueSources};
use crate::hypothesis::{Hypothesis, HypothesisId};
use crate::option_building::{OptionBuilder, OptionRef, push_phrase_row};
use crate::span::Span;
use crate::system::System;
use crate::translation_options::{OptionId, OptionSource};

/// Rows of values of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct FeatureValues {
    width: usize,
    /// A row of zeros, then all other rows in the order in which they are made.
    rows: Vec<f32>,
    hypothesis_rows: Vec<u32>,
    path_rows: Vec<u32>,
    /// Rows of unweighted scores of options.
    phrase_values: Vec<f32>,
    option_rows: Vec<u32>,
    /// Scratch.
    missing_hypotheses: Vec<HypothesisId>,
    pending_paths: Vec<PathId>,
    option_builder: OptionBuilder,
}

/// The index in place of a row that has not been made yet.
const NO_ROW: u32 = u32::MAX;

impl FeatureValues {
    /// Begins a sentence.
    pub(crate) fn start(&mut self, system: &System) {
        self.width = system.plan.features.num_components;
        self.rows.clear();
        self.rows.resize(self.width, 0.0);
        self.hypothesis_rows.clear();
        self.path_rows.clear();
        self.phrase_values.clear();
        self.option_rows.clear();
    }

    fn row(&self, row: u32) -> &[f32] {
        &self.rows[row as usize * self.width..][..self.width]
    }

    /// Appends a copy of a row and returns the copy's index.
    fn copy_row(&mut self, row: u32) -> u32 {
        let start = row as usize * self.width;
        self.rows.extend_from_within(start..start + self.width);
        (self.rows.len() / self.width.max(1)) as u32 - 1
    }

    /// Returns the values of a path, as Moses2 computes them: the values of its parent, plus the
    /// values of the hypothesis at the deviation, minus the values of the hypothesis that it
    /// replaces.
    pub(crate) fn path_values(
        &mut self,
        decoded: DecodedSentence<'_>,
        paths: &PathQueue,
        id: PathId,
    ) -> Result<&[f32]> {
        let mut at = id;
        fn row_of(of: &[u32], id: PathId) -> u32 {
            of.get(id.0 as usize).copied().unwrap_or(NO_ROW)
        }
        self.pending_paths.clear();
        while row_of(&self.path_rows, at) == NO_ROW {
            self.pending_paths.push(at);
            let Some(parent) = paths.path(at).parent else { break };
            at = parent;
        }
        while let Some(id) = self.pending_paths.pop() {
            let path = paths.path(id);
            let new = self.hypothesis_row(decoded, path.hypothesis)?;
            let row = match path.parent {
                None => new,
                Some(parent) => {
                    let old = self.hypothesis_row(decoded, path.replaced)?;
                    let row = self.copy_row(row_of(&self.path_rows, parent));
                    for i in 0..self.width {
                        let at = |row: u32| row as usize * self.width + i;
                        let added = self.rows[at(row)] + self.rows[at(new)];
                        self.rows[at(row)] = added - self.rows[at(old)];
                    }
                    row
                }
            };
            if self.path_rows.len() <= id.0 as usize {
                self.path_rows.resize(id.0 as usize + 1, NO_ROW);
            }
            self.path_rows[id.0 as usize] = row;
        }
        Ok(self.row(self.path_rows[id.0 as usize]))
    }

    /// Returns the values of a hypothesis.
    pub(crate) fn hypothesis_values(
        &mut self,
        decoded: DecodedSentence<'_>,
        id: HypothesisId,
    ) -> Result<&[f32]> {
        let row = self.hypothesis_row(decoded, id)?;
        Ok(self.row(row))
    }

    /// Returns the values of an option that do not depend on its neighbours; all other values are
    /// 0.
    pub(crate) fn option_values(
        &mut self,
        decoded: DecodedSentence<'_>,
        option: OptionId,
        span: Span,
    ) -> Result<&[f32]> {
        let row = self.copy_row(0);
        let phrase = self.phrase_row(decoded, option, span)?;
        self.add_own_values(decoded, option, phrase, row);
        Ok(self.row(row))
    }

    /// Adds to row `row` the values of an option itself, whose row of scores starts at `phrase`.
    fn add_own_values(
        &mut self,
        decoded: DecodedSentence<'_>,
        option: OptionId,
        phrase: usize,
        row: u32,
    ) {
        let features = &decoded.system.plan.features;
        let values = &mut self.rows[row as usize * self.width..][..self.width];
        let phrase = &self.phrase_values[phrase..];
        add_option_scores(decoded, option, phrase, values);
        let target = PhraseValues {
            decoded,
            words: decoded.options.words(option),
            inner_lm_scores: &phrase[features.row_layout.inner_lm_offset..],
        };
        for feature in &features.phrase {
            feature.add_values(&target, values);
        }
    }

    fn hypothesis_row(&mut self, decoded: DecodedSentence<'_>, id: HypothesisId) -> Result<u32> {
        if self.hypothesis_rows.len() < decoded.hypotheses().len() {
            self.hypothesis_rows.resize(decoded.hypotheses().len(), NO_ROW);
            self.hypothesis_rows[HypothesisId::INITIAL.0 as usize] = 0;
        }
        let known = self.hypothesis_rows[id.0 as usize];
        if known != NO_ROW {
            return Ok(known);
        }
        self.missing_hypotheses.clear();
        let mut at = id;
        while self.hypothesis_rows[at.0 as usize] == NO_ROW {
            let hypothesis = &decoded.hypotheses()[at.0 as usize];
            self.missing_hypotheses.push(at);
            at = hypothesis.previous;
        }
        while let Some(id) = self.missing_hypotheses.pop() {
            let hypothesis = &decoded.hypotheses()[id.0 as usize];
            let row = self.copy_row(self.hypothesis_rows[hypothesis.previous.0 as usize]);
            self.add_phrase_values(decoded, hypothesis, row)?;
            self.hypothesis_rows[id.0 as usize] = row;
        }
        Ok(self.hypothesis_rows[id.0 as usize])
    }

    /// Adds the values of the last phrase of `hypothesis` to row `row`.
    fn add_phrase_values(
        &mut self,
        decoded: DecodedSentence<'_>,
        hypothesis: &Hypothesis,
        row: u32,
    ) -> Result<()> {
        let system = decoded.system;
        let features = &system.plan.features;
        let layout = features.row_layout;
        let previous = decoded.hypothesis(hypothesis.previous);
        let phrase = self.phrase_row(decoded, hypothesis.option, hypothesis.span)?;
        let before = if previous.is_initial() {
            phrase
        } else {
            self.phrase_row(decoded, previous.option, previous.span)?
        };
        self.add_own_values(decoded, hypothesis.option, phrase, row);
        let values = &mut self.rows[row as usize * self.width..][..self.width];
        let (phrase, before) = (&self.phrase_values[phrase..], &self.phrase_values[before..]);
        let has_words = !decoded.options.words(hypothesis.option).is_empty();
        let input = ExpansionInput {
            models: &system.models,
            sentence: decoded.sentence,
            options: decoded.options,
            coverages: decoded.coverages,
            hypotheses: decoded.hypotheses(),
            previous_id: hypothesis.previous,
            previous,
            option: hypothesis.option,
            transition: &Transition::new(previous.span.end, hypothesis.span),
            ends: has_words && decoded.coverages.is_complete(hypothesis.coverage),
        };
        let sources = ValueSources {
            reordering: &phrase[layout.reordering_offset..],
            previous_reordering: &before[layout.reordering_offset..],
            reordering_components: &features.reordering_components,
            lms: decoded.lms(),
            stateful: decoded.stateful_scorers,
        };
        for feature in &features.expansion {
            feature.add_values(&input, &sources, values);
        }
        Ok(())
    }

    /// Returns the start of the row of an option's unweighted scores.
    fn phrase_row(
        &mut self,
        decoded: DecodedSentence<'_>,
        option: OptionId,
        span: Span,
    ) -> Result<usize> {
        let at = option.0 as usize;
        if self.option_rows.len() <= at {
            self.option_rows.resize(at + 1, NO_ROW);
        }
        let DecodedSentence { system, sentence, options, .. } = decoded;
        let width = system.plan.features.row_layout.width;
        if self.option_rows[at] == NO_ROW {
            self.option_rows[at] = (self.phrase_values.len() / width) as u32;
            let option = OptionRef { system, sentence, options, option, span };
            push_phrase_row(option, &mut self.option_builder, &mut self.phrase_values)?;
        }
        Ok(self.option_rows[at] as usize * width)
    }
}

/// Adds the scores of an option to the components of the table, or of the feature, that
/// scores it; `row` is the row of the option's unweighted scores.
fn add_option_scores(
    decoded: DecodedSentence<'_>,
    option: OptionId,
    row: &[f32],
    values: &mut [f32],
) {
    let features = &decoded.system.plan.features;
    if let Some(table) = decoded.options.origin(option).table {
        features.phrase_tables[table as usize].add_values(row, values);
        return;
    }
    match decoded.options.input_details(option) {
        Some(details) => match details.source {
            OptionSource::Markup => {
                features.unknown_word.add_forced_values(&details.scores, values);
            }
            OptionSource::SentenceTable(number) => {
                features.sentence_tables[number].scores.add_values(&details.scores, values);
            }
        },
        None => features.unknown_word.add_copied_word_value(values),
    }
}

/// The target phrase of an option, and its row of inner language-model scores.
struct PhraseValues<'a> {
    decoded: DecodedSentence<'a>,
    words: &'a [WordId],
    inner_lm_scores: &'a [f32],
}

impl TargetPhrase for PhraseValues<'_> {
    fn num_words(&self) -> usize {
        self.words.len()
    }

    fn num_unknown_words(&self, model: usize) -> usize {
        let DecodedSentence { sentence, system, .. } = self.decoded;
        self.words
            .iter()
            .filter(|&&w| sentence.lm_word(w, model, &system.models) == LmWord::UNKNOWN)
            .count()
    }
}

impl ScoredPhrase for PhraseValues<'_> {
    fn inner_lm_score(&self, model: usize) -> f32 {
        self.inner_lm_scores[model]
    }
}
