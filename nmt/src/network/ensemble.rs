//! Several models that vote on each word.

use miriam_tensor::Cpu;
use miriam_tensor::output::{Ids, take_scores};

use super::{Best, Row, Session, Slot};
use crate::{Error, Result};

/// Sessions of several models as one: a word's score is the sum of the logarithms of its
/// probabilities, each times the weight of its model. Attention is that of the first.
pub struct Ensemble<'a> {
    members: Vec<Member<'a>>,
    words: usize,
    cpu: Cpu,
    /// What each of our slots is to the members; nothing where it is free.
    slots: Vec<Vec<Slot>>,
    free: Vec<Slot>,
    rows: Vec<Row>,
    own: Vec<f32>,
    scores: Vec<f32>,
}

struct Member<'a> {
    session: Box<dyn Session + 'a>,
    weight: f32,
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
        let join = |(session, &weight)| Member { session, weight };
        let members = sessions.into_iter().zip(weights).map(join).collect();
        Ok(Ensemble {
            members,
            words,
            cpu: Cpu::best(),
            slots: Vec::new(),
            free: Vec::new(),
            rows: Vec::new(),
            own: Vec::new(),
            scores: Vec::new(),
        })
    }

    /// Puts the scores of all words of a row into `self.scores`.
    fn sum(&mut self, row: u32) {
        self.scores.clear();
        self.scores.resize(self.words, 0.0);
        for member in &mut self.members {
            member.session.distribution(row, &mut self.own);
            let weight = member.weight;
            for (sum, score) in self.scores.iter_mut().zip(&self.own) {
                // A word that a model does not have is out, whatever the weight.
                *sum += if *score == f32::NEG_INFINITY { *score } else { weight * score };
            }
        }
    }
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
            let slot = self.free.pop().unwrap_or(Slot(self.slots.len() as u32));
            self.slots.resize_with(self.slots.len().max(slot.0 as usize + 1), Vec::new);
            self.slots[slot.0 as usize] = theirs;
            slot
        });
        Ok(new.collect())
    }

    fn finish(&mut self, slot: Slot) {
        let theirs = std::mem::take(&mut self.slots[slot.0 as usize]);
        for (member, slot) in self.members.iter_mut().zip(theirs) {
            member.session.finish(slot);
        }
        self.free.push(slot);
    }

    fn step(&mut self, rows: &[Row]) {
        for (at, member) in self.members.iter_mut().enumerate() {
            self.rows.clear();
            let theirs = |row: &Row| Row { slot: self.slots[row.slot.0 as usize][at], ..*row };
            self.rows.extend(rows.iter().map(theirs));
            member.session.step(&self.rows);
        }
    }

    fn best(&mut self, best: &mut [Best]) {
        for (row, best) in (0..).zip(best) {
            self.sum(row);
            take_scores(self.cpu, &self.scores, Ids::From(0), best);
        }
    }

    fn logits(&mut self, wanted: &[(u32, u32)], logits: &mut Vec<f32>) {
        logits.clear();
        let mut summed = None;
        for &(row, word) in wanted {
            if summed != Some(row) {
                self.sum(row);
                summed = Some(row);
            }
            logits.push(self.scores[word as usize]);
        }
    }

    fn distribution(&mut self, row: u32, scores: &mut Vec<f32>) {
        self.sum(row);
        scores.clone_from(&self.scores);
    }

    fn keep_alignments(&mut self, keep: bool) {
        let first = self.members.first_mut();
        first.into_iter().for_each(|member| member.session.keep_alignments(keep));
    }

    fn alignment(&self, row: u32) -> &[f32] {
        self.members[0].session.alignment(row)
    }
}
