//! Several models that vote on each word.

use std::ops::Range;

use miriam_kernels::Cpu;
use miriam_kernels::output::{Ids, take_scores};

use super::model_session::spread;
use super::{Best, Row, Session, Slot};
use crate::{Error, Result};

/// Rows whose scores of all words are summed at once. With each goes a pass over the weights
/// of every output layer.
const AT_ONCE: usize = 64;

/// Sessions of several models as one: a word's score is the sum of the logarithms of its
/// probabilities, each times the weight of its model. Attention is that of the first.
pub struct Ensemble<'a> {
    members: Vec<Member<'a>>,
    words: usize,
    cpu: Cpu,
    slots: Vec<Held>,
    free: Vec<Slot>,
    rows: Vec<Row>,
    /// The sentence of each row of the step.
    step: Vec<Slot>,
    /// Whether members know the normalisers of all these rows.
    normalised: bool,
    /// What one member says.
    own: Vec<f32>,
    normalisers: Vec<f32>,
    scores: Vec<f32>,
}

struct Member<'a> {
    session: Box<dyn Session + 'a>,
    weight: f32,
    /// Of each row of the step, as far as they were needed.
    normalisers: Vec<f32>,
}

/// A sentence under translation; empty where the slot is free.
#[derive(Default)]
struct Held {
    /// What it is to the members.
    theirs: Vec<Slot>,
    candidates: Option<Vec<u32>>,
}

impl<'a> Ensemble<'a> {
    /// Joins `sessions`. Without weights each has the same and they sum to 1: the score is
    /// the mean. Marian's default is a weight of 1 for each: the sum.
    ///
    /// # Errors
    /// If there are none, their vocabularies differ in size, or there is not one weight for
    /// each.
    pub fn new(sessions: Vec<Box<dyn Session + 'a>>, weights: Option<&[f32]>) -> Result<Self> {
        let wrong = |reason: String| Err(Error::Ensemble { reason });
        let Some(words) = sessions.first().map(|session| session.words()) else {
            return wrong("it has no models".into());
        };
        if let Some(other) = sessions.iter().find(|session| session.words() != words) {
            return wrong(format!(
                "one model has {words} target words, another one {}",
                other.words()
            ));
        }
        let equal = vec![1.0 / sessions.len() as f32; sessions.len()];
        let weights = weights.unwrap_or(&equal);
        if weights.len() != sessions.len() || weights.iter().any(|weight| !weight.is_finite()) {
            let (weights, models) = (weights.len(), sessions.len());
            return wrong(format!("{weights} weights for {models} models, or not all are numbers"));
        }
        let join = |(session, &weight)| Member { session, weight, normalisers: Vec::new() };
        let members = sessions.into_iter().zip(weights).map(join).collect();
        Ok(Ensemble {
            members,
            words,
            cpu: Cpu::best(),
            slots: Vec::new(),
            free: Vec::new(),
            rows: Vec::new(),
            step: Vec::new(),
            normalised: false,
            own: Vec::new(),
            normalisers: Vec::new(),
            scores: Vec::new(),
        })
    }

    /// The rows from `first` on that have the same words to choose from, as far as they
    /// are summed at once.
    fn run(&self, first: usize) -> Range<usize> {
        let of = |row: usize| (self.candidates(row).is_some(), self.step[row]);
        let same = |&row: &usize| match of(first) {
            (true, slot) => self.step[row] == slot,
            (false, _) => !of(row).0,
        };
        first..first + (first..self.step.len()).take(AT_ONCE).take_while(same).count()
    }

    fn candidates(&self, row: usize) -> Option<&[u32]> {
        self.slots[self.step[row].0 as usize].candidates.as_deref()
    }

    /// Puts the scores of rows with the same words into `self.scores`.
    fn sum(&mut self, rows: Range<usize>) {
        self.scores.clear();
        for member in &mut self.members {
            member.session.outputs(rows.clone(), &mut self.own, &mut self.normalisers);
            member.normalisers[rows.clone()].copy_from_slice(&self.normalisers);
            self.scores.resize(self.own.len(), 0.0);
            let columns = (self.own.len() / rows.len().max(1)).max(1);
            let each = self.scores.chunks_exact_mut(columns).zip(self.own.chunks_exact(columns));
            for ((sums, logits), &normaliser) in each.zip(&self.normalisers) {
                for (sum, &logit) in sums.iter_mut().zip(logits) {
                    *sum += voice(logit, normaliser, member.weight);
                }
            }
        }
    }

    /// Makes sure that the normalisers of all rows of the step are known.
    fn normalise(&mut self) {
        if !self.normalised {
            let mut all = vec![Best::new(0, true); self.step.len()];
            for member in &mut self.members {
                all.iter_mut().for_each(Best::clear);
                member.session.best(&mut all);
                let found = all.iter().map(Best::log_normaliser);
                member.normalisers.iter_mut().zip(found).for_each(|(old, new)| *old = new);
            }
            self.normalised = true;
        }
    }
}

/// What a model of that weight adds to the score of a word. One that it does not have is
/// out, whatever the weight.
fn voice(logit: f32, normaliser: f32, weight: f32) -> f32 {
    if logit == f32::NEG_INFINITY { logit } else { weight * (logit - normaliser) }
}

impl Session for Ensemble<'_> {
    fn words(&self) -> usize {
        self.words
    }

    fn begin(&mut self, sentences: &[&[u32]], candidates: Option<&[&[u32]]>) -> Result<Vec<Slot>> {
        let mut begun: Vec<Vec<Slot>> = Vec::with_capacity(self.members.len());
        for at in 0..self.members.len() {
            match self.members[at].session.begin(sentences, candidates) {
                Ok(slots) => begun.push(slots),
                Err(error) => {
                    for (member, slots) in self.members.iter_mut().zip(begun) {
                        slots.into_iter().for_each(|slot| member.session.finish(slot));
                    }
                    return Err(error);
                }
            }
        }
        let new = (0..sentences.len()).map(|sentence| {
            let theirs = begun.iter().map(|slots| slots[sentence]).collect();
            let candidates = candidates.map(|lists| lists[sentence].to_vec());
            let slot = self.free.pop().unwrap_or(Slot(self.slots.len() as u32));
            self.slots.resize_with(self.slots.len().max(slot.0 as usize + 1), Held::default);
            self.slots[slot.0 as usize] = Held { theirs, candidates };
            slot
        });
        Ok(new.collect())
    }

    fn finish(&mut self, slot: Slot) {
        let Held { theirs, .. } = std::mem::take(&mut self.slots[slot.0 as usize]);
        for (member, slot) in self.members.iter_mut().zip(theirs) {
            member.session.finish(slot);
        }
        self.free.push(slot);
    }

    fn step(&mut self, rows: &[Row]) {
        for (at, member) in self.members.iter_mut().enumerate() {
            self.rows.clear();
            let theirs = |row: &Row| self.slots[row.slot.0 as usize].theirs[at];
            self.rows.extend(rows.iter().map(|row| Row { slot: theirs(row), ..*row }));
            member.session.step(&self.rows);
            member.normalisers.clear();
            member.normalisers.resize(rows.len(), 0.0);
        }
        self.step.clear();
        self.step.extend(rows.iter().map(|row| row.slot));
        self.normalised = false;
    }

    fn best(&mut self, best: &mut [Best]) {
        assert_eq!(best.len(), self.step.len(), "one for each row");
        let mut first = 0;
        while first < best.len() {
            let run = self.run(first);
            first = run.end;
            self.sum(run.clone());
            let ids = self.candidates(run.start).map_or(Ids::From(0), Ids::List);
            let columns = (self.scores.len() / run.len()).max(1);
            for (scores, best) in self.scores.chunks_exact(columns).zip(&mut best[run]) {
                best.clear();
                take_scores(self.cpu, scores, ids, best);
            }
        }
        self.normalised = true;
    }

    fn logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>) {
        self.normalise();
        logits.clear();
        logits.resize(wanted.len(), 0.0);
        for member in &mut self.members {
            member.session.logits(wanted, &mut self.own);
            for ((sum, &logit), &(row, _)) in logits.iter_mut().zip(&self.own).zip(wanted) {
                *sum += voice(logit, member.normalisers[row as usize], member.weight);
            }
        }
    }

    fn outputs(&mut self, rows: Range<usize>, logits: &mut Vec<f32>, normalisers: &mut Vec<f32>) {
        self.sum(rows.clone());
        logits.clone_from(&self.scores);
        // Sums of logarithms of probabilities are scores as they are.
        normalisers.clear();
        normalisers.resize(rows.len(), 0.0);
    }

    fn distribution(&mut self, row: u32, scores: &mut Vec<f32>) {
        let row = row as usize;
        self.sum(row..row + 1);
        scores.clone_from(&self.scores);
        if let Some(candidates) = self.candidates(row) {
            spread(candidates, self.words, scores);
        }
    }

    fn keep_alignments(&mut self, keep: bool) {
        let first = self.members.first_mut();
        first.into_iter().for_each(|member| member.session.keep_alignments(keep));
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.members[0].session.alignment(row)
    }
}
