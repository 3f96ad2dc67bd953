//! The unweighted value of every feature, for hypotheses that are printed.
//!
//! The search keeps one number a hypothesis. Whoever wants to see the features
//! follows it from the start, with the additions that Moses2 makes while it
//! searches: first what the phrase brings, then the stateful features in the
//! order of the ini. Language-model scores are asked for once more, and found in
//! the sentence's cache. Rows are kept for the sentence, because the paths of a
//! list share most of their hypotheses.

use miriam_lmcpu::LmWord;
use miriam_textio::{Log10, WordId};

use crate::Result;
use crate::features::Span;
use crate::options::{OptionBuilder, OptionId, OptionRef, OptionSource};
use crate::search::{
    ComponentValues, Expansion, Hypothesis, HypothesisId, SearchSpace, Transition,
    early_distortion, hierarchical_forward_orientation,
};
use crate::system::{ExpansionFeature, PhraseFeature, System};

use super::paths::{PathId, PathQueue};

/// A sentence after its search, as far as values depend on it.
pub(crate) struct FinishedSearch<'a> {
    pub(crate) space: SearchSpace<'a>,
    pub(crate) hypotheses: &'a [Hypothesis],
}

/// Rows of values of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct FeatureValues {
    width: usize,
    /// The row of zeros, then others as they are made.
    rows: Vec<f32>,
    hypothesis_rows: Vec<u32>,
    path_rows: Vec<u32>,
    /// Rows of what phrases bring, by option.
    phrase_values: Vec<f32>,
    option_rows: Vec<u32>,
    /// Scratch.
    missing_hypotheses: Vec<HypothesisId>,
    pending_paths: Vec<PathId>,
    option_builder: OptionBuilder,
}

/// No row yet.
const NO_ROW: u32 = u32::MAX;

impl FeatureValues {
    /// Begins a sentence.
    pub(crate) fn start(&mut self, system: &System) {
        self.width = system.components.count;
        self.rows.clear();
        self.rows.resize(self.width, 0.0);
        self.hypothesis_rows.clear();
        self.path_rows.clear();
        self.phrase_values.clear();
        self.option_rows.clear();
    }

    /// The values of nothing translated.
    pub(crate) fn zero(&self) -> &[f32] {
        &self.rows[..self.width]
    }

    fn row(&self, row: u32) -> &[f32] {
        &self.rows[row as usize * self.width..][..self.width]
    }

    /// Copies a row behind the others and returns its number.
    fn copy_row(&mut self, row: u32) -> u32 {
        let start = row as usize * self.width;
        self.rows.extend_from_within(start..start + self.width);
        (self.rows.len() / self.width.max(1)) as u32 - 1
    }

    /// The values of a path: those of the path before it, with the deviation's
    /// added and what stood there taken away, as Moses2 does it.
    pub(crate) fn path_values(
        &mut self,
        searched: &mut FinishedSearch<'_>,
        paths: &PathQueue,
        id: PathId,
    ) -> Result<&[f32]> {
        let mut at = id;
        let row_of = |of: &[u32], id: PathId| of.get(id.0 as usize).copied().unwrap_or(NO_ROW);
        self.pending_paths.clear();
        while row_of(&self.path_rows, at) == NO_ROW {
            self.pending_paths.push(at);
            let Some(parent) = paths.path(at).parent else { break };
            at = parent;
        }
        while let Some(id) = self.pending_paths.pop() {
            let path = paths.path(id);
            let new = self.hypothesis_row(searched, path.hypothesis)?;
            let row = match path.parent {
                None => new,
                Some(parent) => {
                    let old = self.hypothesis_row(searched, path.replaced)?;
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

    /// The values of a hypothesis.
    pub(crate) fn hypothesis_values(
        &mut self,
        searched: &mut FinishedSearch<'_>,
        id: HypothesisId,
    ) -> Result<&[f32]> {
        let row = self.hypothesis_row(searched, id)?;
        Ok(self.row(row))
    }

    fn hypothesis_row(
        &mut self,
        searched: &mut FinishedSearch<'_>,
        id: HypothesisId,
    ) -> Result<u32> {
        if self.hypothesis_rows.len() < searched.hypotheses.len() {
            self.hypothesis_rows.resize(searched.hypotheses.len(), NO_ROW);
            self.hypothesis_rows[HypothesisId::INITIAL.0 as usize] = 0;
        }
        let known = self.hypothesis_rows[id.0 as usize];
        if known != NO_ROW {
            return Ok(known);
        }
        self.missing_hypotheses.clear();
        let mut at = id;
        while self.hypothesis_rows[at.0 as usize] == NO_ROW {
            let hypothesis = &searched.hypotheses[at.0 as usize];
            self.missing_hypotheses.push(at);
            at = hypothesis.previous;
        }
        while let Some(id) = self.missing_hypotheses.pop() {
            let hypothesis = &searched.hypotheses[id.0 as usize];
            let row = self.copy_row(self.hypothesis_rows[hypothesis.previous.0 as usize]);
            self.add_phrase_values(searched, hypothesis, row)?;
            self.hypothesis_rows[id.0 as usize] = row;
        }
        Ok(self.hypothesis_rows[id.0 as usize])
    }

    /// Adds to `row` what the last phrase of `hypothesis` brings.
    fn add_phrase_values(
        &mut self,
        searched: &mut FinishedSearch<'_>,
        hypothesis: &Hypothesis,
        row: u32,
    ) -> Result<()> {
        let system = searched.space.system;
        let components = &system.components;
        let previous = &searched.hypotheses[hypothesis.previous.0 as usize];
        let phrase = self.phrase_row(searched, hypothesis.option, hypothesis.span)?;
        let before = if previous.is_initial() {
            phrase
        } else {
            self.phrase_row(searched, previous.option, previous.span)?
        };
        let words = searched.space.options.words(hypothesis.option);
        let values = &mut self.rows[row as usize * self.width..][..self.width];
        let (phrase, before) = (&self.phrase_values[phrase..], &self.phrase_values[before..]);
        let origin = searched.space.options.origin(hypothesis.option);
        match origin.table {
            Some(table) => {
                let scores = system.tables[table as usize].weights.len();
                add_components(&mut values[components.tables[table as usize]..], &phrase[..scores]);
            }
            None => match searched.space.options.input_details(hypothesis.option) {
                Some(part) => {
                    let at = match part.source {
                        OptionSource::Markup => components.unknown_word,
                        OptionSource::SentenceTable(number) => components.sentence_tables[number],
                    };
                    add_components(&mut values[at..], &part.scores);
                }
                None => values[components.unknown_word] += -100.0,
            },
        }
        let inner = &phrase[components.inner_lm_offset..];
        let (phrase, before) =
            (&phrase[components.reordering_offset..], &before[components.reordering_offset..]);
        for (feature, &at) in system.phrase_features.iter().zip(&components.phrase_features) {
            values[at] += match *feature {
                PhraseFeature::WordPenalty(_) => -(words.len() as f32),
                PhraseFeature::PhrasePenalty(_) => 1.0,
                PhraseFeature::LanguageModel(lm) => inner[lm],
                PhraseFeature::OovCount { model, .. } => {
                    let sentence = searched.space.sentence;
                    let unknown =
                        |&&w: &&WordId| sentence.lm_word(w, model, system) == LmWord::UNKNOWN;
                    words.iter().filter(unknown).count() as f32
                }
                // Only an estimate.
                PhraseFeature::OperationSequenceModel(_) => 0.0,
            };
        }
        let transition = Transition::new(previous.span.end, hypothesis.span);
        let swaps = previous.span.start == hypothesis.span.end;
        for (feature, &at) in system.expansion_features.iter().zip(&components.expansion_features) {
            match *feature {
                ExpansionFeature::Distortion(_) => values[at] += -transition.distance,
                ExpansionFeature::BackwardReordering { orientations, column } => {
                    let orientation = orientations.orientation_at(transition.position, swaps);
                    let cell = column + orientation;
                    values[components.reordering_columns[cell]] += phrase[cell];
                }
                ExpansionFeature::ForwardReordering { orientations, column } => {
                    if !previous.is_initial() {
                        let orientation = orientations.orientation_at(transition.position, swaps);
                        let cell = column + orientation;
                        values[components.reordering_columns[cell]] += before[cell];
                    }
                }
                ExpansionFeature::EarlyDistortion(_) => {
                    values[at] += early_distortion(&searched.space, previous, hypothesis.span);
                }
                ExpansionFeature::HierarchicalForward { orientations, column } => {
                    if !previous.is_initial() {
                        let cell = column
                            + hierarchical_forward_orientation(
                                &searched.space,
                                previous,
                                hypothesis.span,
                                orientations,
                            );
                        values[components.reordering_columns[cell]] += before[cell];
                    }
                }
                ExpansionFeature::Stateful { index: context, .. } => {
                    let Hypothesis { previous, option, span, .. } = *hypothesis;
                    let expansion = Expansion { previous, option, span };
                    let parts = ComponentValues {
                        values: &mut *values,
                        first_component: at,
                        reordering_scores: phrase,
                        reordering_components: &components.reordering_columns,
                    };
                    let mut scorers = std::mem::take(searched.space.stateful_scorers);
                    let space = &searched.space;
                    scorers.add_unweighted(space, searched.hypotheses, expansion, context, parts);
                    *searched.space.stateful_scorers = scorers;
                }
                ExpansionFeature::LanguageModel { model, .. } => {
                    let ends = !words.is_empty()
                        && searched.space.coverages.is_complete(hypothesis.coverage);
                    let (log10, _) = searched.space.lm_caches[model].score_phrase(
                        &*system.language_models[model].model,
                        searched.space.options,
                        searched.space.options.lm_phrase(hypothesis.option, model),
                        searched.space.joint_states.state(previous.joint_state, model),
                        ends,
                    );
                    values[at] += Log10(log10).to_ln().0;
                }
            }
        }
        Ok(())
    }

    /// Where the row of what an option brings starts.
    fn phrase_row(
        &mut self,
        searched: &FinishedSearch<'_>,
        option: OptionId,
        span: Span,
    ) -> Result<usize> {
        let at = option.0 as usize;
        if self.option_rows.len() <= at {
            self.option_rows.resize(at + 1, NO_ROW);
        }
        let SearchSpace { system, sentence, options, .. } = searched.space;
        let width = system.components.phrase_row_width;
        if self.option_rows[at] == NO_ROW {
            self.option_rows[at] = (self.phrase_values.len() / width) as u32;
            let place = OptionRef { system, sentence, options, option, span };
            system.phrase_values.push_row(
                place,
                &mut self.option_builder,
                &mut self.phrase_values,
            )?;
        }
        Ok(self.option_rows[at] as usize * width)
    }
}

fn add_components(values: &mut [f32], more: &[f32]) {
    for (value, more) in values.iter_mut().zip(more) {
        *value += more;
    }
}
