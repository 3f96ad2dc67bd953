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
use crate::options::{Giver, OptionId, PhrasePlace, Preparer};
use crate::search::{
    Expansion, Hypothesis, HypothesisId, Parts, SearchSpace, Step, early_distortion, forward_block,
};
use crate::system::{PhraseFeature, StatefulFeature, System};

use super::paths::{PathId, Paths};

/// A sentence after its search, as far as values depend on it.
pub(crate) struct Searched<'a> {
    pub(crate) space: SearchSpace<'a>,
    pub(crate) hypotheses: &'a [Hypothesis],
}

/// Rows of values of a sentence, in buffers that are reused.
#[derive(Default)]
pub(crate) struct Values {
    width: usize,
    /// The row of zeros, then others as they are made.
    rows: Vec<f32>,
    of_hypothesis: Vec<u32>,
    of_path: Vec<u32>,
    /// Rows of what phrases bring, by option.
    phrases: Vec<f32>,
    of_option: Vec<u32>,
    /// Scratch.
    missing: Vec<HypothesisId>,
    pending: Vec<PathId>,
    preparer: Preparer,
}

/// No row yet.
const NONE: u32 = u32::MAX;

impl Values {
    /// Begins a sentence.
    pub(crate) fn start(&mut self, system: &System) {
        self.width = system.components.count;
        self.rows.clear();
        self.rows.resize(self.width, 0.0);
        self.of_hypothesis.clear();
        self.of_path.clear();
        self.phrases.clear();
        self.of_option.clear();
    }

    /// The values of nothing translated.
    pub(crate) fn zero(&self) -> &[f32] {
        &self.rows[..self.width]
    }

    fn row(&self, row: u32) -> &[f32] {
        &self.rows[row as usize * self.width..][..self.width]
    }

    /// Copies a row behind the others and returns its number.
    fn copy(&mut self, row: u32) -> u32 {
        let start = row as usize * self.width;
        self.rows.extend_from_within(start..start + self.width);
        (self.rows.len() / self.width.max(1)) as u32 - 1
    }

    /// The values of a path: those of the path before it, with the deviation's
    /// added and what stood there taken away, as Moses2 does it.
    pub(crate) fn of_path(
        &mut self,
        searched: &mut Searched<'_>,
        paths: &Paths,
        id: PathId,
    ) -> Result<&[f32]> {
        let mut at = id;
        let row_of = |of: &[u32], id: PathId| of.get(id.0 as usize).copied().unwrap_or(NONE);
        self.pending.clear();
        while row_of(&self.of_path, at) == NONE {
            self.pending.push(at);
            let Some(parent) = paths.path(at).parent else { break };
            at = parent;
        }
        while let Some(id) = self.pending.pop() {
            let path = paths.path(id);
            let new = self.hypothesis_row(searched, path.hypothesis)?;
            let row = match path.parent {
                None => new,
                Some(parent) => {
                    let old = self.hypothesis_row(searched, path.replaced)?;
                    let row = self.copy(row_of(&self.of_path, parent));
                    for i in 0..self.width {
                        let at = |row: u32| row as usize * self.width + i;
                        let added = self.rows[at(row)] + self.rows[at(new)];
                        self.rows[at(row)] = added - self.rows[at(old)];
                    }
                    row
                }
            };
            if self.of_path.len() <= id.0 as usize {
                self.of_path.resize(id.0 as usize + 1, NONE);
            }
            self.of_path[id.0 as usize] = row;
        }
        Ok(self.row(self.of_path[id.0 as usize]))
    }

    /// The values of a hypothesis.
    pub(crate) fn of_hypothesis(
        &mut self,
        searched: &mut Searched<'_>,
        id: HypothesisId,
    ) -> Result<&[f32]> {
        let row = self.hypothesis_row(searched, id)?;
        Ok(self.row(row))
    }

    fn hypothesis_row(&mut self, searched: &mut Searched<'_>, id: HypothesisId) -> Result<u32> {
        if self.of_hypothesis.len() < searched.hypotheses.len() {
            self.of_hypothesis.resize(searched.hypotheses.len(), NONE);
            self.of_hypothesis[HypothesisId::INITIAL.0 as usize] = 0;
        }
        let known = self.of_hypothesis[id.0 as usize];
        if known != NONE {
            return Ok(known);
        }
        self.missing.clear();
        let mut at = id;
        while self.of_hypothesis[at.0 as usize] == NONE {
            let hypothesis = &searched.hypotheses[at.0 as usize];
            self.missing.push(at);
            at = hypothesis.previous;
        }
        while let Some(id) = self.missing.pop() {
            let hypothesis = &searched.hypotheses[id.0 as usize];
            let row = self.copy(self.of_hypothesis[hypothesis.previous.0 as usize]);
            self.extend(searched, hypothesis, row)?;
            self.of_hypothesis[id.0 as usize] = row;
        }
        Ok(self.of_hypothesis[id.0 as usize])
    }

    /// Adds to `row` what the last phrase of `hypothesis` brings.
    fn extend(
        &mut self,
        searched: &mut Searched<'_>,
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
        let (phrase, before) = (&self.phrases[phrase..], &self.phrases[before..]);
        let origin = searched.space.options.origin(hypothesis.option);
        match origin.table {
            Some(table) => {
                let scores = system.tables[table as usize].weights.len();
                add(&mut values[components.tables[table as usize]..], &phrase[..scores]);
            }
            None => match searched.space.options.own_part_of(hypothesis.option) {
                Some(part) => {
                    let at = match part.giver {
                        Giver::Markup => components.unknown,
                        Giver::SentenceTable(number) => components.sentence_tables[number],
                    };
                    add(&mut values[at..], &part.scores);
                }
                None => values[components.unknown] += -100.0,
            },
        }
        let inner = &phrase[components.inner..];
        let (phrase, before) = (&phrase[components.reordering..], &before[components.reordering..]);
        for (feature, &at) in system.phrase_features.iter().zip(&components.phrase) {
            values[at] += match *feature {
                PhraseFeature::WordPenalty(_) => -(words.len() as f32),
                PhraseFeature::PhrasePenalty(_) => 1.0,
                PhraseFeature::LanguageModel(lm) => inner[lm],
                PhraseFeature::UnknownToModel { model, .. } => {
                    let sentence = searched.space.sentence;
                    let unknown =
                        |&&w: &&WordId| sentence.lm_word(w, model, system) == LmWord::UNKNOWN;
                    words.iter().filter(unknown).count() as f32
                }
                // Only an estimate.
                PhraseFeature::Operations(_) => 0.0,
            };
        }
        let step = Step::new(previous.span.end, hypothesis.span);
        let swaps = previous.span.start == hypothesis.span.end;
        for (feature, &at) in system.stateful_features.iter().zip(&components.stateful) {
            match *feature {
                StatefulFeature::Distortion(_) => values[at] += -step.jump,
                StatefulFeature::Backward { orientations, column } => {
                    let orientation = orientations.at(step.place, swaps);
                    let cell = column + orientation;
                    values[components.cells[cell]] += phrase[cell];
                }
                StatefulFeature::Forward { orientations, column } => {
                    if !previous.is_initial() {
                        let orientation = orientations.at(step.place, swaps);
                        let cell = column + orientation;
                        values[components.cells[cell]] += before[cell];
                    }
                }
                StatefulFeature::EarlyDistortion(_) => {
                    values[at] += early_distortion(&searched.space, previous, hypothesis.span);
                }
                StatefulFeature::ForwardBlocks { orientations, column } => {
                    if !previous.is_initial() {
                        let cell = column
                            + forward_block(
                                &searched.space,
                                previous,
                                hypothesis.span,
                                orientations,
                            );
                        values[components.cells[cell]] += before[cell];
                    }
                }
                StatefulFeature::Context { context, .. } => {
                    let Hypothesis { previous, option, span, .. } = *hypothesis;
                    let expansion = Expansion { previous, option, span };
                    let parts = Parts {
                        values: &mut *values,
                        first: at,
                        reordering: phrase,
                        components: &components.cells,
                    };
                    let mut contexts = std::mem::take(searched.space.contexts);
                    let space = &searched.space;
                    contexts.explain(space, searched.hypotheses, expansion, context, parts);
                    *searched.space.contexts = contexts;
                }
                StatefulFeature::LanguageModel { model, .. } => {
                    let ends = !words.is_empty()
                        && searched.space.coverages.is_complete(hypothesis.coverage);
                    let (log10, _) = searched.space.lms[model].phrase(
                        &*system.language_models[model].model,
                        searched.space.options,
                        searched.space.options.lm_part(hypothesis.option, model),
                        searched.space.joint.state(previous.state, model),
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
        searched: &Searched<'_>,
        option: OptionId,
        span: Span,
    ) -> Result<usize> {
        let at = option.0 as usize;
        if self.of_option.len() <= at {
            self.of_option.resize(at + 1, NONE);
        }
        let SearchSpace { system, sentence, options, .. } = searched.space;
        let width = system.components.phrase_width;
        if self.of_option[at] == NONE {
            self.of_option[at] = (self.phrases.len() / width) as u32;
            let place = PhrasePlace { system, sentence, options, option, span };
            system.phrase_values.push(place, &mut self.preparer, &mut self.phrases)?;
        }
        Ok(self.of_option[at] as usize * width)
    }
}

fn add(values: &mut [f32], more: &[f32]) {
    for (value, more) in values.iter_mut().zip(more) {
        *value += more;
    }
}
