//! The position model: the diagonal prior or the HMM model.

use crate::diagonal::{self, DiagonalPrior};
use crate::directed_pair::{DirectedPair, EStepStatistics};
use crate::hmm::{self, HmmTransitions};

/// The probability of positions, independent of words.
pub(crate) enum PositionModel {
    /// IBM model 2 with a diagonal prior.
    Diagonal(DiagonalPrior),
    /// The HMM model.
    Hmm(HmmTransitions),
}

/// A worker's buffers, kept from sentence to sentence.
#[derive(Default)]
pub(crate) struct PositionScratch {
    diagonal: diagonal::DiagonalScratch,
    hmm: hmm::HmmScratch,
}

impl PositionModel {
    /// Performs the E step of a sentence pair: adds the posteriors of every output to `view` and
    /// the other statistics to `sums`.
    pub fn e_step(
        &self,
        view: &mut DirectedPair,
        scratch: &mut PositionScratch,
        sums: &mut EStepStatistics,
    ) {
        match self {
            PositionModel::Diagonal(prior) => prior.e_step(view, &mut scratch.diagonal, sums),
            PositionModel::Hmm(jumps) => jumps.e_step(view, &mut scratch.hmm, sums),
        }
    }

    /// Computes ln p(outputs | states) under IBM model 2; `None` for the HMM model.
    pub fn ln_likelihood(&self, view: &DirectedPair) -> Option<f64> {
        match self {
            PositionModel::Diagonal(prior) => Some(prior.ln_likelihood(view)),
            PositionModel::Hmm(_) => None,
        }
    }

    /// Writes the best position of each output, `None` for the null word, to `best`.
    pub fn decode(
        &self,
        view: &DirectedPair,
        scratch: &mut PositionScratch,
        best: &mut Vec<Option<u16>>,
    ) {
        match self {
            PositionModel::Diagonal(prior) => prior.decode(view, &mut scratch.diagonal, best),
            PositionModel::Hmm(jumps) => jumps.decode(view, &mut scratch.hmm, best),
        }
    }
}
