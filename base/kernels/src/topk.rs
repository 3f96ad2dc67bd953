//! Top-k tokens of a row of logits: bias, softmax and top-k in one pass.
//!
//! Hoang et al. (2018, section 2.2) fuse the three: a running maximum and sum are kept, and when a
//! larger logit comes the sum is multiplied by exp(old maximum - new maximum). (Their listing
//! multiplies by the difference itself, which is corrected here.) The row is processed in blocks of
//! 256, most of which are read once. The number subtracted from logits need not be their maximum;
//! it must only be so near that no exponential overflows. So the largest logit of a block is found
//! while its exponentials are summed with the shift of the blocks before. A correction is rare,
//! there is one exponential per element, and a block that cannot reach the top k is not searched.
//! The logarithm is taken only for the k tokens.
//!
//! A row may be passed in parts, so that the logits of an output layer need not be stored at
//! once; parts of whole blocks give the same bits as the whole row.

use crate::activation::exp_for_sum;
use crate::isa::{Isa, dispatch, lane_chunks};
use crate::{Cpu, MatRef};

/// The number of logits of a block. The length of every part of a row but the last must be a
/// multiple of it.
pub const TOPK_BLOCK: usize = 256;

/// The amount by which logits may exceed the number subtracted from them. Exponentials stay within
/// 1e14, and 256 of them within f32.
const HEADROOM: f32 = 32.0;

/// A token and its logit, bias included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenLogit {
    /// The token.
    pub id: u32,
    /// Its logit. Minus [`TopK::log_normalizer`] it is a log-probability (natural).
    pub logit: f32,
}

/// The tokens of the columns of logits.
#[derive(Clone, Copy, Debug)]
pub enum ColumnIds<'a> {
    /// Consecutive tokens, from this one.
    Consecutive(u32),
    /// A shortlist, in ascending order.
    Shortlist(&'a [u32]),
}

impl ColumnIds<'_> {
    fn id(self, column: usize) -> u32 {
        match self {
            ColumnIds::Consecutive(first) => first + column as u32,
            ColumnIds::Shortlist(ids) => ids[column],
        }
    }
}

/// The top-k tokens and the softmax normaliser of one row, updated part by part.
///
/// ```
/// use miriam_kernels::topk::{ColumnIds, TopK, update_topk};
/// use miriam_kernels::{Cpu, MatRef};
///
/// let logits = MatRef::new(&[0.5, 2.0, -1.0, 1.0], 1, 4);
/// let mut topk = [TopK::new(2, true)];
/// update_topk(Cpu::detect(), logits, None, ColumnIds::Consecutive(0), &mut topk);
/// let best = topk[0].candidates();
/// assert_eq!([best[0].id, best[1].id], [1, 3]);
/// assert!((best[0].logit - topk[0].log_normalizer()).exp() < 1.0);
/// ```
#[derive(Clone, Debug)]
pub struct TopK {
    candidates: Vec<TokenLogit>,
    k: usize,
    normalize: bool,
    /// The number subtracted before exponentials are taken: no logit exceeds it by more than
    /// [`HEADROOM`].
    shift: f32,
    /// The sum of the exponentials.
    sum: f64,
}

impl TopK {
    /// Returns the state before the first part, for the top `k` tokens. Greedy search may leave out
    /// the sum (`normalize` false), because the sum costs more than the top-k itself. Then there is
    /// no normaliser.
    pub fn new(k: usize, normalize: bool) -> Self {
        let candidates = Vec::with_capacity(k + 1);
        Self { candidates, k, normalize, shift: f32::NEG_INFINITY, sum: 0.0 }
    }

    /// Works like [`TopK::new`] with the memory of `self`.
    pub fn reset(&mut self, k: usize, normalize: bool) {
        self.k = k;
        self.normalize = normalize;
        self.clear();
    }

    /// Returns to the state before the first part, keeping the memory.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.shift = f32::NEG_INFINITY;
        self.sum = 0.0;
    }

    /// Returns the number of requested tokens.
    pub fn k(&self) -> usize {
        self.k
    }

    /// Sets the results of a device for the whole row: its best tokens, best first, and the sum of
    /// the exponentials of all logits minus `shift`.
    pub fn set(&mut self, candidates: impl Iterator<Item = TokenLogit>, shift: f32, sum: f64) {
        self.candidates.clear();
        self.candidates.extend(candidates.take(self.k));
        self.shift = shift;
        self.sum = sum;
    }

    /// Returns the top-k tokens, best first; of equal ones the lower id first. There are
    /// fewer than k if the row was shorter. Tokens with logits of -infinity or NaN are never among
    /// them.
    pub fn candidates(&self) -> &[TokenLogit] {
        &self.candidates
    }

    /// Whether one of the logits was +infinity or NaN: then there are no probabilities.
    pub fn has_non_finite(&self) -> bool {
        self.sum.is_nan() || self.shift == f32::INFINITY
    }

    /// Returns the natural logarithm of the sum of exponentials of all logits; NaN if one of them
    /// is +infinity or NaN.
    ///
    /// # Panics
    /// If the sum was left out.
    pub fn log_normalizer(&self) -> f32 {
        assert!(self.normalize, "the sum was left out");
        (f64::from(self.shift) + self.sum.ln()) as f32
    }
}

/// Updates `topk`, `[rows]`, by the next part of each row: `logits`, `[rows, columns]`, with
/// their `bias`, `[columns]`, and the tokens of the columns.
///
/// # Panics
/// If there is not one `topk` for each row, or a bias and an id for each column.
pub fn update_topk(
    cpu: Cpu,
    logits: MatRef<f32>,
    bias: Option<&[f32]>,
    ids: ColumnIds,
    topk: &mut [TopK],
) {
    assert_eq!(logits.rows(), topk.len(), "one list for each row");
    assert!(bias.is_none_or(|bias| bias.len() == logits.columns()), "a bias for each column");
    if let ColumnIds::Shortlist(ids) = ids {
        assert_eq!(ids.len(), logits.columns(), "an id for each column");
    }
    for (row, best) in topk.iter_mut().enumerate() {
        let row = logits.row(row);
        dispatch!(cpu, update_topk_row(row, bias, ids, best));
    }
}

/// Updates `topk` by a whole row of scores, `[columns]`, that are log-probabilities already, or
/// means of these: the logarithm of the normaliser is 0 whatever their sum, or NaN if a score is
/// +infinity or NaN.
///
/// # Panics
/// If there is not an id for each column.
pub fn update_topk_from_scores(cpu: Cpu, scores: &[f32], ids: ColumnIds, topk: &mut TopK) {
    let normalize = std::mem::replace(&mut topk.normalize, false);
    update_topk(cpu, MatRef::new(scores, 1, scores.len()), None, ids, std::slice::from_mut(topk));
    let sum = if topk.has_non_finite() { f64::NAN } else { 1.0 };
    (topk.normalize, topk.shift, topk.sum) = (normalize, 0.0, sum);
}

#[inline(always)]
fn update_topk_row<I: Isa>(
    isa: I,
    row: &[f32],
    bias: Option<&[f32]>,
    ids: ColumnIds,
    topk: &mut TopK,
) {
    let mut sums = [0.0; TOPK_BLOCK];
    for first in (0..row.len()).step_by(TOPK_BLOCK) {
        let logits = &row[first..row.len().min(first + TOPK_BLOCK)];
        let block = match bias {
            None => logits,
            Some(bias) => {
                let bias = &bias[first..][..logits.len()];
                for part in lane_chunks(logits.len()) {
                    let x = isa.load_partial(&logits[part.clone()], 0.0);
                    let sum = isa.add(x, isa.load_partial(&bias[part.clone()], 0.0));
                    isa.store_partial(sum, &mut sums[part]);
                }
                &sums[..logits.len()]
            }
        };
        update_topk_block(isa, topk, first, ids, block);
    }
}

/// Updates `topk` by a block of logits that begins at column `first`.
#[inline(always)]
fn update_topk_block<I: Isa>(isa: I, topk: &mut TopK, first: usize, ids: ColumnIds, block: &[f32]) {
    let sums = topk.normalize && topk.shift > f32::NEG_INFINITY;
    let (largest, mut sum) = max_sumexp(isa, block, sums.then_some(topk.shift));
    if largest > topk.shift + HEADROOM {
        // In the first block 0 is multiplied by exp(-infinity), which is 0.
        topk.sum *= f64::from(topk.shift - largest).exp();
        topk.shift = largest;
        if topk.normalize {
            (_, sum) = max_sumexp(isa, block, Some(largest));
        }
    }
    topk.sum += f64::from(sum);
    let mut least = topk.threshold();
    if largest > least {
        for part in lane_chunks(block.len()) {
            let logits = &block[part.clone()];
            let lanes = isa.load_partial(logits, f32::NEG_INFINITY);
            let mut better = isa.mask_bits(isa.less(isa.splat(least), lanes));
            while better != 0 {
                let lane = better.trailing_zeros() as usize;
                better &= better - 1;
                if logits[lane] > least {
                    let id = ids.id(first + part.start + lane);
                    topk.insert(TokenLogit { id, logit: logits[lane] });
                    least = topk.threshold();
                }
            }
        }
    }
}

/// Returns the largest logit of a block, and the sum of the exponentials of all logits minus
/// `shift`, or 0 without a shift. The sum is NaN if one of the logits is NaN.
#[inline(always)]
fn max_sumexp<I: Isa>(isa: I, block: &[f32], shift: Option<f32>) -> (f32, f32) {
    let mut largest = isa.splat(f32::NEG_INFINITY);
    let Some(shift) = shift else {
        // The maximum of logits does not propagate NaN; the maximum of magnitudes does.
        let mut magnitude = isa.splat(0.0);
        for part in lane_chunks(block.len()) {
            let logits = isa.load_partial(&block[part], f32::NEG_INFINITY);
            largest = isa.max(logits, largest);
            magnitude = isa.max_abs(logits, magnitude);
        }
        let nan = isa.reduce_max_abs(magnitude).is_nan();
        return (isa.reduce_max(largest), if nan { f32::NAN } else { 0.0 });
    };
    let (shift, mut sums) = (isa.splat(shift), isa.splat(0.0));
    for part in lane_chunks(block.len()) {
        let logits = isa.load_partial(&block[part], f32::NEG_INFINITY);
        largest = isa.max(logits, largest);
        sums = isa.add(sums, exp_for_sum(isa, isa.sub(logits, shift)));
    }
    (isa.reduce_max(largest), isa.reduce_sum(sums))
}

impl TopK {
    /// Returns the logit that a token must exceed to enter the top k. A token with an equal logit
    /// does not enter, because it comes later and so has a higher id.
    fn threshold(&self) -> f32 {
        match self.candidates.last() {
            Some(last) if self.candidates.len() == self.k => last.logit,
            _ if self.k == 0 => f32::INFINITY,
            _ => f32::NEG_INFINITY,
        }
    }

    fn insert(&mut self, candidate: TokenLogit) {
        let rank = self.candidates.partition_point(|other| other.logit >= candidate.logit);
        self.candidates.insert(rank, candidate);
        self.candidates.truncate(self.k);
    }
}

#[cfg(test)]
mod tests;
