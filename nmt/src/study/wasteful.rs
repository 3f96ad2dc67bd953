//! A session that can leave out what makes batches cheap, one thing at a time, and that ends
//! sentences when it is told to.
//!
//! The engine computes living hypotheses only and searches logits while they are in the
//! cache; there is no switch for that, nor should there be. So this session over
//! the same layers computes dead rows and makes full rows of probabilities itself. Random models
//! do not end, or all at the same length: here a sentence ends where its reference does.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use miriam_kernels::function::log_softmax;
use miriam_kernels::output::{Ids, take, take_scores};
use miriam_kernels::tuner::Tuner;
use miriam_kernels::{Cpu, Mat, MatMut};

use crate::Result;
use crate::engine::{Columns, Engine, Rows};
use crate::layer::{Backend, Then};
use crate::network::{Best, Family, Row, Session, Slot};

/// The end of a sentence.
pub(super) const END: u32 = 0;

/// What dead hypotheses go on with.
const PADDING: Option<u32> = Some(1);

/// What is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waste {
    /// Hypotheses of sentences that have ended are computed until their batch is done.
    pub dead_rows: bool,
    /// The output layer's product, the softmax and the search for the best words go over
    /// all of it one after the other.
    pub passes: bool,
}

/// See above.
pub(super) struct Wasteful<'a, F: Family<Engine>> {
    family: Arc<F>,
    engine: Engine,
    cpu: Cpu,
    waste: Waste,
    /// Words of the translation of a source, `</s>` counting.
    lengths: &'a HashMap<Vec<u32>, usize>,
    words: usize,
    sentences: Vec<Option<Sentence<F::Source>>>,
    /// Sentences that have ended and are still computed.
    dead: Vec<Slot>,
    state: F::State,
    /// Rows of the last step: those that live, then the dead.
    last: Vec<Row>,
    hidden: Rows,
    best: Vec<Best>,
    /// Steps so far.
    pub steps: usize,
    /// Rows of all steps.
    pub rows: usize,
}

struct Sentence<S> {
    source: S,
    /// Words that are left, `</s>` counting.
    left: usize,
}

impl<'a, F: Family<Engine>> Wasteful<'a, F> {
    pub(super) fn new(
        family: &Arc<F>,
        tuner: &Arc<Tuner>,
        words: usize,
        lengths: &'a HashMap<Vec<u32>, usize>,
        waste: Waste,
    ) -> Self {
        let cpu = Cpu::best();
        let mut engine = Engine::with_tuner(cpu, Arc::clone(tuner));
        let (state, hidden) = (family.state(&mut engine), engine.zeros(0, 0));
        Wasteful {
            family: Arc::clone(family),
            engine,
            cpu,
            waste,
            lengths,
            words,
            sentences: Vec::new(),
            dead: Vec::new(),
            state,
            last: Vec::new(),
            hidden,
            best: Vec::new(),
            steps: 0,
            rows: 0,
        }
    }

    /// The logarithms of all probabilities, and then the best of them.
    fn best_in_passes(&mut self) {
        let output = self.family.output();
        let mut scores = self.engine.affine(&self.hidden, output, Then::default());
        log_softmax(self.cpu, scores.view_mut());
        for (row, best) in self.best.iter_mut().enumerate() {
            take_scores(self.cpu, scores.view().row(row), Ids::From(0), best);
        }
    }
}

impl<F: Family<Engine>> Session for Wasteful<'_, F> {
    fn words(&self) -> usize {
        self.words
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        assert!(candidates.is_none(), "all words are candidates");
        // The batch before is done.
        for slot in self.dead.drain(..) {
            self.sentences[slot.0 as usize] = None;
        }
        let sources = self.family.encode(&mut self.engine, sentences)?;
        let all = sentences.iter().zip(sources).map(|(words, source)| {
            let sentence = Some(Sentence { source, left: self.lengths[*words] });
            let free = self.sentences.iter().position(Option::is_none);
            let slot = free.unwrap_or(self.sentences.len());
            match self.sentences.get_mut(slot) {
                Some(place) => *place = sentence,
                None => self.sentences.push(sentence),
            }
            Slot(slot as u32)
        });
        Ok(all.collect())
    }

    fn finish(&mut self, slot: Slot) {
        match self.waste.dead_rows {
            true => self.dead.push(slot),
            false => self.sentences[slot.0 as usize] = None,
        }
    }

    fn step(&mut self, rows: &[Row]) {
        let mut all = rows.to_vec();
        for &slot in &self.dead {
            let before = (0..).zip(&self.last).filter(|(_, row)| row.slot == slot);
            all.extend(before.map(|(at, _)| Row { slot, parent: Some(at), word: PADDING }));
        }
        let starts = |at: &usize| *at == 0 || rows[*at].slot != rows[*at - 1].slot;
        for at in (0..rows.len()).filter(starts) {
            if let Some(sentence) = &mut self.sentences[rows[at].slot.0 as usize] {
                sentence.left = sentence.left.saturating_sub(1);
            }
        }
        let of = |row: &Row| &self.sentences[row.slot.0 as usize].as_ref().expect("begun").source;
        let sources: Vec<&F::Source> = all.iter().map(of).collect();
        self.hidden = self.family.step(&mut self.engine, &mut self.state, &all, &sources, None);
        self.steps += 1;
        self.rows += all.len();
        self.last = all;
    }

    fn best(&mut self, best: &mut [Best]) {
        let Some(first) = best.first() else { return };
        // One product for the dead and the living.
        self.best.resize(self.last.len(), first.clone());
        self.best[best.len()..].fill(first.clone());
        self.best.iter_mut().zip(&mut *best).for_each(|(own, theirs)| std::mem::swap(own, theirs));
        self.best.iter_mut().for_each(Best::clear);
        if self.waste.passes {
            self.best_in_passes();
        } else {
            let (rows, output) = (0..self.last.len(), self.family.output());
            self.engine.best(&self.hidden, rows, output, Columns::All, &mut self.best);
        }
        self.best.iter_mut().zip(&mut *best).for_each(|(own, theirs)| std::mem::swap(own, theirs));
        for (row, best) in self.last.iter().zip(best) {
            let sentence = self.sentences[row.slot.0 as usize].as_ref();
            if sentence.is_some_and(|sentence| sentence.left == 0) {
                best.clear();
                take_scores(self.cpu, &[0.0], Ids::List(&[END]), best);
            }
        }
    }

    fn logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>) {
        logits.clear();
        logits.resize(wanted.len(), 0.0);
        self.engine.single_logits(&self.hidden, wanted, self.family.output(), logits);
    }

    fn outputs(&mut self, rows: Range<usize>, logits: &mut Vec<f32>, normalisers: &mut Vec<f32>) {
        self.engine.logits(&self.hidden, rows.clone(), self.family.output(), logits);
        let mut all = vec![Best::new(0, true); rows.len()];
        take(self.cpu, Mat::new(logits, rows.len(), self.words), None, Ids::From(0), &mut all);
        normalisers.clear();
        normalisers.extend(all.iter().map(Best::log_normaliser));
    }

    fn distribution(&mut self, row: u32, scores: &mut Vec<f32>) {
        let row = row as usize;
        self.engine.logits(&self.hidden, row..row + 1, self.family.output(), scores);
        log_softmax(self.cpu, MatMut::new(scores, 1, self.words));
    }

    fn keep_alignments(&mut self, keep: bool) {
        assert!(!keep, "alignments are not kept");
    }

    fn alignment(&self, _: u32) -> &[f32] {
        panic!("alignments are not kept");
    }
}
