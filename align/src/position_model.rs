//! The two models of positions, behind one door.

use crate::diagonal::{self, DiagonalPrior};
use crate::directed_pair::{DirectedPair, EStepStatistics};
use crate::hmm::{self, HmmTransitions};

/// Which position explains an output, before words are looked at.
pub(crate) enum PositionModel {
    /// IBM model 2 with a diagonal prior.
    Diagonal(DiagonalPrior),
    /// A hidden Markov model.
    Hmm(HmmTransitions),
}

/// What a worker keeps from sentence to sentence.
#[derive(Default)]
pub(crate) struct PositionScratch {
    diagonal: diagonal::DiagonalScratch,
    hmm: hmm::HmmScratch,
}

impl PositionModel {
    /// Adds the posteriors of every output to `view` and what else is counted to `sums`.
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

    /// The best position of each output, or nothing for the null word, in `best`.
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
