//! Operation sequence models in the search.
//!
//! What an expansion costs depends on the cursor, the gaps and the model's context
//! behind the hypothesis. For recombination Moses2 looks at the *length* of that
//! context only, not at its words (`phrase-decoding.md` 3.8), and so does the state
//! here unless recombination is to be exact. The state therefore does not tell what
//! stands behind a hypothesis; it is worked out from the hypothesis before it when it
//! is expanded for the first time, and kept under its number.

use miriam_lmcpu::LmWord;
use miriam_textio::WordId;

use super::slices::Slices;
use super::{ContextFeature, Expansion, Parts, Step};
use crate::features::{Counts, Cursor, Program, Span, UNKNOWN_TARGET};
use crate::options::OptionId;
use crate::search::SearchSpace;
use crate::search::hypothesis::{Hypothesis, HypothesisId};
use crate::search::language_models::LanguageModelScores;
use crate::system::System;

pub(super) struct Operations {
    /// Which model.
    model: usize,
    lm: LanguageModelScores,
    /// By option, where it has been applied.
    programs: Kept<Program>,
    /// By hypothesis, where it has been expanded.
    places: Kept<Place>,
    /// What counts for recombination.
    classes: Slices,
    scratch: Scratch,
}

/// Where the operations of a hypothesis end.
#[derive(Clone, Default)]
struct Place {
    cursor: Cursor,
    /// The state of the operation model.
    state: u32,
}

/// Values made once a sentence each, in memory that outlives it.
#[derive(Default)]
struct Kept<T> {
    values: Vec<T>,
    known: Vec<bool>,
}

impl<T: Default> Kept<T> {
    fn forget(&mut self) {
        self.known.clear();
    }

    fn knows(&self, at: u32) -> bool {
        self.known.get(at as usize) == Some(&true)
    }

    /// The value at `at`, which has been made.
    fn get(&self, at: u32) -> &T {
        debug_assert!(self.knows(at));
        &self.values[at as usize]
    }

    /// The value at `at`, to be made now.
    fn make(&mut self, at: u32) -> &mut T {
        let at = at as usize;
        if self.values.len() <= at {
            self.values.resize_with(at + 1, T::default);
        }
        if self.known.len() <= at {
            self.known.resize(at + 1, false);
        }
        self.known[at] = true;
        &mut self.values[at]
    }
}

#[derive(Default)]
struct Scratch {
    place: Place,
    covered: Vec<bool>,
    operations: Vec<LmWord>,
    row: Vec<u32>,
}

impl Operations {
    pub(super) fn new(model: usize) -> Self {
        Operations {
            model,
            lm: LanguageModelScores::new(),
            programs: Kept::default(),
            places: Kept::default(),
            classes: Slices::default(),
            scratch: Scratch::default(),
        }
    }

    /// Makes sure that the place behind `id` is known.
    fn find_place(&mut self, space: &SearchSpace<'_>, hypotheses: &[Hypothesis], id: HypothesisId) {
        if self.places.knows(id.0) {
            return;
        }
        // What came before has been expanded, so its place is known.
        let &Hypothesis { previous, option, span, .. } = &hypotheses[id.0 as usize];
        self.follow(space, hypotheses, Expansion { previous, option, span });
        self.places.make(id.0).clone_from(&self.scratch.place);
    }

    /// Leaves in `scratch` the place behind `expansion`, the place before which is
    /// known; returns the log10 probability of its operations and their counts.
    fn follow(
        &mut self,
        space: &SearchSpace<'_>,
        hypotheses: &[Hypothesis],
        expansion: Expansion,
    ) -> (f64, Counts) {
        let Expansion { previous, option, span } = expansion;
        self.find_program(space, option, span);
        let Operations { lm, programs, places, scratch, .. } = self;
        let Scratch { place, covered, operations, .. } = scratch;
        let before = places.get(previous.0);
        place.cursor.clone_from(&before.cursor);
        place.state = before.state;
        covered.clear();
        let coverage = hypotheses[previous.0 as usize].coverage;
        covered.extend((0..space.length).map(|p| space.coverages.is_covered(coverage, p)));
        operations.clear();
        let feature = &space.system.operations[self.model];
        let program = programs.get(option.0);
        let counts =
            program.run(&feature.fixed, span.start, covered, &mut place.cursor, operations);
        let mut log10 = 0f64;
        for &operation in &*operations {
            let (score, next) = lm.score(&*feature.model, place.state, operation);
            log10 += f64::from(score);
            place.state = next;
        }
        (log10, counts)
    }

    /// Makes sure that the program of `option`, which translates `span`, is known.
    fn find_program(&mut self, space: &SearchSpace<'_>, option: OptionId, span: Span) {
        if self.programs.knows(option.0) {
            return;
        }
        let (system, sentence, options) = (space.system, space.sentence, space.options);
        let source = sentence.stretch(span).surfaces(system);
        let surface = |&id: &WordId| system.surface(sentence.word(id, system));
        let mut target: Vec<&[u8]> = options.words(option).iter().map(surface).collect();
        let mut points = Vec::new();
        if options.is_copied(option) {
            target.fill(UNKNOWN_TARGET);
        } else {
            options.push_alignment(option, system, &mut points);
        }
        let model = &*system.operations[self.model].model;
        self.programs.make(option.0).write(model, &source, &target, points.into_iter());
    }

    /// The class of the place in `scratch`.
    fn class(&mut self, exact: bool) -> u32 {
        let Scratch { place, row, .. } = &mut self.scratch;
        let context = self.lm.state(place.state);
        row.clear();
        row.extend([place.cursor.position as u32, place.cursor.end as u32, context.len() as u32]);
        if exact {
            row.extend(context.entries().iter().map(|(word, _)| word.0));
        }
        let gaps = place.cursor.gaps.iter();
        row.extend(gaps.map(|gap| (gap.position as u32) << 1 | u32::from(gap.filled)));
        self.classes.intern(row)
    }
}

impl ContextFeature for Operations {
    fn start(&mut self, system: &System) -> u32 {
        self.lm.start();
        self.programs.forget();
        self.places.forget();
        self.classes.clear();
        let begin = system.operations[self.model].model.begin_state();
        self.scratch.place.cursor.clear();
        self.scratch.place.state = self.lm.intern(&begin);
        self.places.make(HypothesisId::INITIAL.0).clone_from(&self.scratch.place);
        self.class(true)
    }

    fn restart(&mut self) {
        let initial = HypothesisId::INITIAL.0;
        self.scratch.place.clone_from(self.places.get(initial));
        self.places.forget();
        self.places.make(initial).clone_from(&self.scratch.place);
    }

    fn apply(&mut self, step: &Step<'_>, addends: &mut [f32]) -> u32 {
        let (space, expansion) = (step.space, step.expansion);
        self.find_place(space, step.hypotheses, expansion.previous);
        let (log10, counts) = self.follow(space, step.hypotheses, expansion);
        let weighted = space.system.operations[self.model].weighted(log10, counts);
        for (addend, value) in addends.iter_mut().zip(weighted) {
            *addend = value;
        }
        self.class(space.system.settings.exact_recombination)
    }

    fn explain(&mut self, step: &Step<'_>, parts: Parts<'_>) {
        self.find_place(step.space, step.hypotheses, step.expansion.previous);
        let (log10, counts) = self.follow(step.space, step.hypotheses, step.expansion);
        let model = &step.space.system.operations[self.model];
        for (part, value) in parts.values[parts.first..].iter_mut().zip(model.values(log10, counts))
        {
            *part += value;
        }
    }
}
