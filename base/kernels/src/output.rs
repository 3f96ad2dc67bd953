//! The best words of a row of logits: bias, softmax and k-best in one pass.
//!
//! Hoang et al. (2018, section 2.2) fuse the three: a maximum and a sum are kept while the
//! row goes by, and when a larger logit comes the sum is corrected by
//! exp(old maximum - new maximum). (Their listing multiplies by the difference
//! itself, and forgets the bias in a comparison; both are put right here.) The row is taken
//! in blocks of 256, each read once: what is subtracted from logits need not be their
//! maximum, but only near enough that no exponential overflows, so the largest logit of a
//! block is found while its exponentials are summed with the shift of the blocks before. A
//! correction is rare, there is one exponential an element, and a block that cannot reach
//! the k-best is not searched. The logarithm is taken for the k words alone.
//!
//! A row may come in parts, so that the product of an output layer need not be stored
//! whole; parts of whole blocks give the same bits as the row at once.

use crate::function::exponential_summed;
use crate::isa::{Isa, dispatch, parts};
use crate::{Cpu, Mat};

/// Logits of a block: parts of a row must be multiples of this, but for the last.
pub const BLOCK: usize = 256;

/// By how much logits may exceed what is subtracted from them. Exponentials stay within
/// 1e14, and 256 of them within f32.
const ROOM: f32 = 32.0;

/// A word and its logit, bias added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The word.
    pub id: u32,
    /// Its logit. Less [`Best::log_normaliser`] it is a log-probability (natural).
    pub logit: f32,
}

/// The words of the columns of logits.
#[derive(Clone, Copy, Debug)]
pub enum Ids<'a> {
    /// Successive words, from this one.
    From(u32),
    /// A shortlist, in ascending order.
    List(&'a [u32]),
}

impl Ids<'_> {
    fn at(self, column: usize) -> u32 {
        match self {
            Ids::From(first) => first + column as u32,
            Ids::List(ids) => ids[column],
        }
    }
}

/// The best words of one row, while it goes by and afterwards.
#[derive(Clone, Debug)]
pub struct Best {
    candidates: Vec<Candidate>,
    most: usize,
    normalise: bool,
    /// What is subtracted before exponentials are taken: a logit that none exceeds by
    /// more than [`ROOM`].
    shift: f32,
    /// Of the exponentials.
    sum: f64,
}

impl Best {
    /// Nothing seen yet, `most` words wanted. Greedy search may do without the sum, which
    /// costs more than the search: then there is no normaliser.
    pub fn new(most: usize, normalise: bool) -> Self {
        let candidates = Vec::with_capacity(most + 1);
        Self { candidates, most, normalise, shift: f32::NEG_INFINITY, sum: 0.0 }
    }

    /// As new for another row, in the memory that is there.
    pub fn reset(&mut self, most: usize, normalise: bool) {
        self.most = most;
        self.normalise = normalise;
        self.clear();
    }

    /// Forgets a row, keeps the memory.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.shift = f32::NEG_INFINITY;
        self.sum = 0.0;
    }

    /// The best words, best first; of equal ones the lower id first. Fewer than wanted
    /// if the row was shorter; a logit of -infinity or one that is not a number is never
    /// among them.
    pub fn candidates(&self) -> &[Candidate] {
        &self.candidates
    }

    /// Whether one of the logits was infinite or not a number: then there are no
    /// probabilities.
    pub fn is_broken(&self) -> bool {
        self.sum.is_nan() || self.shift == f32::INFINITY
    }

    /// The logarithm of the sum of exponentials of all logits; NaN if one of them was.
    ///
    /// # Panics
    /// If the sum was not wanted.
    pub fn log_normaliser(&self) -> f32 {
        assert!(self.normalise, "the sum was left out");
        (f64::from(self.shift) + self.sum.ln()) as f32
    }
}

/// Takes the next part of each row: logits, a bias for each column, and the words they
/// belong to.
///
/// # Panics
/// If there is not one `best` a row, or a bias and an id a column.
pub fn take(cpu: Cpu, logits: Mat<f32>, bias: Option<&[f32]>, ids: Ids, best: &mut [Best]) {
    assert_eq!(logits.rows(), best.len(), "one list for each row");
    assert!(bias.is_none_or(|bias| bias.len() == logits.columns()), "a bias for each column");
    if let Ids::List(ids) = ids {
        assert_eq!(ids.len(), logits.columns(), "an id for each column");
    }
    for (row, best) in best.iter_mut().enumerate() {
        let row = logits.row(row);
        dispatch!(cpu, take_row(row, bias, ids, best));
    }
}

/// Takes a whole row of scores that are logarithms of probabilities already, or means of
/// such: whatever they sum to, the normaliser is 0.
///
/// # Panics
/// If there is not an id a column.
pub fn take_scores(cpu: Cpu, scores: &[f32], ids: Ids, best: &mut Best) {
    let normalise = std::mem::replace(&mut best.normalise, false);
    take(cpu, Mat::new(scores, 1, scores.len()), None, ids, std::slice::from_mut(best));
    let sum = if best.is_broken() { f64::NAN } else { 1.0 };
    (best.normalise, best.shift, best.sum) = (normalise, 0.0, sum);
}

#[inline(always)]
fn take_row<I: Isa>(isa: I, row: &[f32], bias: Option<&[f32]>, ids: Ids, best: &mut Best) {
    let mut sums = [0.0; BLOCK];
    for first in (0..row.len()).step_by(BLOCK) {
        let logits = &row[first..row.len().min(first + BLOCK)];
        let block = match bias {
            None => logits,
            Some(bias) => {
                let bias = &bias[first..][..logits.len()];
                for part in parts(logits.len()) {
                    let x = isa.load_part(&logits[part.clone()], 0.0);
                    let sum = isa.add(x, isa.load_part(&bias[part.clone()], 0.0));
                    isa.store_part(sum, &mut sums[part]);
                }
                &sums[..logits.len()]
            }
        };
        take_block(isa, best, first, ids, block);
    }
}

/// Takes a block of logits, whose first is that of column `first`.
#[inline(always)]
fn take_block<I: Isa>(isa: I, best: &mut Best, first: usize, ids: Ids, block: &[f32]) {
    let sums = best.normalise && best.shift > f32::NEG_INFINITY;
    let (largest, mut sum) = look(isa, block, sums.then_some(best.shift));
    if largest > best.shift + ROOM {
        // The first time 0 is multiplied by exp(-infinity), which is 0.
        best.sum *= f64::from(best.shift - largest).exp();
        best.shift = largest;
        if best.normalise {
            (_, sum) = look(isa, block, Some(largest));
        }
    }
    best.sum += f64::from(sum);
    let mut least = best.least();
    if largest > least {
        for part in parts(block.len()) {
            let logits = &block[part.clone()];
            let lanes = isa.load_part(logits, f32::NEG_INFINITY);
            let mut better = isa.mask_bits(isa.less(isa.splat(least), lanes));
            while better != 0 {
                let lane = better.trailing_zeros() as usize;
                better &= better - 1;
                if logits[lane] > least {
                    let id = ids.at(first + part.start + lane);
                    best.insert(Candidate { id, logit: logits[lane] });
                    least = best.least();
                }
            }
        }
    }
}

/// The largest logit of a block, and the sum of the exponentials of all of them less
/// `shift`, or 0 without one; NaN if one of them is.
#[inline(always)]
fn look<I: Isa>(isa: I, block: &[f32], shift: Option<f32>) -> (f32, f32) {
    let mut largest = isa.splat(f32::NEG_INFINITY);
    let Some(shift) = shift else {
        // No maximum keeps what is not a number; the magnitudes' does.
        let mut magnitude = isa.splat(0.0);
        for part in parts(block.len()) {
            let logits = isa.load_part(&block[part], f32::NEG_INFINITY);
            largest = isa.max(logits, largest);
            magnitude = isa.max_abs(logits, magnitude);
        }
        let nan = isa.largest_abs(magnitude).is_nan();
        return (isa.largest(largest), if nan { f32::NAN } else { 0.0 });
    };
    let (shift, mut sums) = (isa.splat(shift), isa.splat(0.0));
    for part in parts(block.len()) {
        let logits = isa.load_part(&block[part], f32::NEG_INFINITY);
        largest = isa.max(logits, largest);
        sums = isa.add(sums, exponential_summed(isa, isa.sub(logits, shift)));
    }
    (isa.largest(largest), isa.sum(sums))
}

impl Best {
    /// What a logit must exceed to be among the best. Equal ones come later and have
    /// higher ids.
    fn least(&self) -> f32 {
        match self.candidates.last() {
            Some(last) if self.candidates.len() == self.most => last.logit,
            _ if self.most == 0 => f32::INFINITY,
            _ => f32::NEG_INFINITY,
        }
    }

    fn insert(&mut self, candidate: Candidate) {
        let better = |other: &Candidate| other.logit >= candidate.logit;
        let place = self.candidates.partition_point(better);
        self.candidates.insert(place, candidate);
        self.candidates.truncate(self.most);
    }
}

#[cfg(test)]
mod tests;
