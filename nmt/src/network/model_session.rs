//! A session over the layers of one model.

use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::Mat;
use miriam_kernels::output::{Ids, take};

use super::{Best, Family, Row, Session, Slot};
use crate::engine::{Columns, Engine, Rows, Weights};
use crate::layer::Backend;
use crate::{Error, Result};

/// Layers, a thread's engine, and the sentences that are translated with them.
pub(super) struct Running<F: Family<Engine>> {
    family: Arc<F>,
    limits: Limits,
    engine: Engine,
    sentences: Sentences<F::Source>,
    state: F::State,
    /// What the output layer multiplies with.
    hidden: Rows,
    keeps_alignments: bool,
    alignments: Vec<Vec<f32>>,
    normalisers: Vec<f32>,
}

/// Brings scores of `candidates` to their places among those of all `words`, where the
/// others have -infinity.
pub(super) fn spread(candidates: &[u32], words: usize, scores: &mut Vec<f32>) {
    let some = std::mem::take(scores);
    scores.resize(words, f32::NEG_INFINITY);
    for (&word, score) in candidates.iter().zip(some) {
        scores[word as usize] = score;
    }
}

/// Which words there are.
#[derive(Clone)]
pub(super) struct Limits {
    pub source_words: usize,
    pub target_words: usize,
    /// The model, for messages.
    pub name: Arc<str>,
}

impl Limits {
    pub(super) fn check_source(&self, words: &[u32]) -> Result<()> {
        self.check(words, self.source_words, "source")
    }

    pub(super) fn check_target(&self, words: &[u32]) -> Result<()> {
        self.check(words, self.target_words, "target")
    }

    fn check(&self, words: &[u32], limit: usize, side: &str) -> Result<()> {
        match words.iter().find(|&&word| word as usize >= limit) {
            None => Ok(()),
            Some(word) => Err(Error::Mismatch {
                file: self.name.to_string(),
                place: format!("{side} vocabulary"),
                reason: format!("it has {limit} words, so there is no word {word}"),
            }),
        }
    }
}

/// A sentence that has begun.
struct Sentence<S> {
    source: S,
    candidates: Option<Candidates>,
}

/// The only words to choose from, and their columns of the output layer.
struct Candidates {
    words: Vec<u32>,
    weights: Weights,
}

/// Sentences by their slots, and those of the step.
struct Sentences<S> {
    slots: Vec<Option<Sentence<S>>>,
    free: Vec<u32>,
    /// The sentence of each row of the step.
    rows: Vec<Slot>,
}

impl<S> Sentences<S> {
    fn add(&mut self, sentence: Sentence<S>) -> Slot {
        let slot = self.free.pop().unwrap_or(self.slots.len() as u32);
        match self.slots.get_mut(slot as usize) {
            Some(place) => *place = Some(sentence),
            None => self.slots.push(Some(sentence)),
        }
        Slot(slot)
    }

    fn of(&self, slot: Slot) -> &Sentence<S> {
        let sentence = self.slots.get(slot.0 as usize).and_then(Option::as_ref);
        sentence.unwrap_or_else(|| panic!("sentence {} is not under translation", slot.0))
    }

    fn candidates(&self, row: usize) -> Option<&Candidates> {
        self.of(self.rows[row]).candidates.as_ref()
    }

    /// The rows from `first` on that share an output layer: those of one sentence with
    /// candidates, or of all sentences without.
    fn run(&self, first: usize) -> Range<usize> {
        let limited = self.candidates(first).is_some();
        let same = |&row: &usize| match limited {
            true => self.rows[row] == self.rows[first],
            false => self.candidates(row).is_none(),
        };
        first..first + (first..self.rows.len()).take_while(same).count()
    }
}

impl<F: Family<Engine>> Running<F> {
    pub(super) fn new(family: Arc<F>, limits: Limits, mut engine: Engine) -> Self {
        let state = family.state(&mut engine);
        let hidden = engine.zeros(0, 0);
        let sentences = Sentences { slots: Vec::new(), free: Vec::new(), rows: Vec::new() };
        let alignments = Vec::new();
        Running {
            family,
            limits,
            engine,
            sentences,
            state,
            hidden,
            keeps_alignments: false,
            alignments,
            normalisers: Vec::new(),
        }
    }
}

impl<F: Family<Engine>> Session for Running<F> {
    fn words(&self) -> usize {
        self.limits.target_words
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        assert!(candidates.is_none_or(|lists| lists.len() == sentences.len()), "a list for each");
        sentences.iter().try_for_each(|words| self.limits.check_source(words))?;
        let lists = candidates.unwrap_or_default();
        lists.iter().try_for_each(|words| self.limits.check_target(words))?;
        let sources = self.family.encode(&mut self.engine, sentences)?;
        let slots = sources.into_iter().enumerate().map(|(index, source)| {
            let candidates = candidates.map(|lists| Candidates {
                words: lists[index].to_vec(),
                weights: self.family.output().select(lists[index]),
            });
            self.sentences.add(Sentence { source, candidates })
        });
        Ok(slots.collect())
    }

    fn finish(&mut self, slot: Slot) {
        self.sentences.of(slot);
        self.sentences.slots[slot.0 as usize] = None;
        self.sentences.free.push(slot.0);
    }

    fn step(&mut self, rows: &[Row]) {
        let before = &self.sentences.rows;
        for row in rows {
            let parent = row.parent.map(|parent| before.get(parent as usize).copied());
            assert!(parent.is_none_or(|slot| slot == Some(row.slot)), "{row:?} has no such parent");
            let word = row.word.unwrap_or(0);
            assert!((word as usize) < self.limits.target_words, "there is no word {word}");
        }
        self.sentences.rows.clear();
        self.sentences.rows.extend(rows.iter().map(|row| row.slot));
        let sources: Vec<&F::Source> =
            rows.iter().map(|row| &self.sentences.of(row.slot).source).collect();
        self.alignments.clear();
        let alignments = self.keeps_alignments.then_some(&mut self.alignments);
        let (engine, state) = (&mut self.engine, &mut self.state);
        self.hidden = self.family.step(engine, state, rows, &sources, alignments);
    }

    fn best(&mut self, best: &mut [Best]) {
        let sentences = &self.sentences;
        assert_eq!(best.len(), sentences.rows.len(), "one for each row");
        best.iter_mut().for_each(Best::clear);
        let mut first = 0;
        while first < best.len() {
            let run = sentences.run(first);
            let (weights, columns) = match sentences.candidates(first) {
                Some(limited) => (&limited.weights, Columns::Words(&limited.words)),
                None => (&**self.family.output(), Columns::All),
            };
            first = run.end;
            self.engine.best(&self.hidden, run.clone(), weights, columns, &mut best[run]);
        }
    }

    fn logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>) {
        logits.clear();
        for &(row, word) in wanted {
            assert!((row as usize) < self.sentences.rows.len(), "there is no row {row}");
            let candidates = self.sentences.candidates(row as usize);
            if candidates.is_none_or(|limited| limited.words.binary_search(&word).is_ok()) {
                logits.push(0.0);
            } else {
                logits.push(f32::NEG_INFINITY);
            }
        }
        let (engine, output) = (&mut self.engine, self.family.output());
        engine.single_logits(&self.hidden, wanted, output, logits);
    }

    fn outputs(&mut self, rows: Range<usize>, logits: &mut Vec<f32>, normalisers: &mut Vec<f32>) {
        normalisers.clear();
        logits.clear();
        if rows.is_empty() {
            return;
        }
        let of_first = self.sentences.run(rows.start);
        assert!(rows.end <= of_first.end, "rows {rows:?} have other candidates");
        let candidates = self.sentences.candidates(rows.start);
        let weights = candidates.map_or(&**self.family.output(), |limited| &limited.weights);
        self.engine.logits(&self.hidden, rows.clone(), weights, logits);
        let mut all = vec![Best::new(0, true); rows.len()];
        let made = Mat::new(logits, rows.len(), weights.columns());
        take(self.engine.cpu(), made, None, Ids::From(0), &mut all);
        normalisers.extend(all.iter().map(Best::log_normaliser));
    }

    fn distribution(&mut self, row: u32, scores: &mut Vec<f32>) {
        let row = row as usize;
        let mut normalisers = std::mem::take(&mut self.normalisers);
        self.outputs(row..row + 1, scores, &mut normalisers);
        scores.iter_mut().for_each(|logit| *logit -= normalisers[0]);
        self.normalisers = normalisers;
        if let Some(limited) = self.sentences.candidates(row) {
            spread(&limited.words, self.limits.target_words, scores);
        }
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.keeps_alignments = keep;
    }

    fn alignment(&self, row: u32) -> &[f32] {
        assert!(self.keeps_alignments, "alignments are not kept");
        &self.alignments[row as usize]
    }
}

/// A session over one model, whatever its family. One a thread.
pub struct ModelSession(Box<dyn Session>);

impl ModelSession {
    pub(super) fn new<F: Family<Engine> + 'static>(
        family: &Arc<F>,
        limits: Limits,
        engine: Engine,
    ) -> Self {
        ModelSession(Box::new(Running::new(Arc::clone(family), limits, engine)))
    }
}

impl Session for ModelSession {
    fn words(&self) -> usize {
        self.0.words()
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        self.0.begin(sentences, candidates)
    }

    fn finish(&mut self, slot: Slot) {
        self.0.finish(slot);
    }

    fn step(&mut self, rows: &[Row]) {
        self.0.step(rows);
    }

    fn best(&mut self, best: &mut [Best]) {
        self.0.best(best);
    }

    fn logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>) {
        self.0.logits(wanted, logits);
    }

    fn outputs(&mut self, rows: Range<usize>, logits: &mut Vec<f32>, normalisers: &mut Vec<f32>) {
        self.0.outputs(rows, logits, normalisers);
    }

    fn distribution(&mut self, row: u32, scores: &mut Vec<f32>) {
        self.0.distribution(row, scores);
    }

    fn keep_alignments(&mut self, keep: bool) {
        self.0.keep_alignments(keep);
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.0.alignment(row)
    }
}
