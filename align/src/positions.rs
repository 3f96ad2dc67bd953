//! The two models of positions, behind one door.

use crate::diagonal::{self, Diagonal};
use crate::jumps::{self, Jumps};
use crate::one_way::{OneWay, Sums};

/// Which position explains an output, before words are looked at.
pub(crate) enum Positions {
    /// IBM model 2 with a diagonal prior.
    Diagonal(Diagonal),
    /// A hidden Markov model.
    Jumps(Jumps),
}

/// What a worker keeps from sentence to sentence.
#[derive(Default)]
pub(crate) struct Scratch {
    diagonal: diagonal::Scratch,
    jumps: jumps::Scratch,
}

impl Positions {
    /// Adds the posteriors of every output to `view` and what else is counted to `sums`.
    pub fn expect(&self, view: &mut OneWay, scratch: &mut Scratch, sums: &mut Sums) {
        match self {
            Positions::Diagonal(prior) => prior.expect(view, &mut scratch.diagonal, sums),
            Positions::Jumps(jumps) => jumps.expect(view, &mut scratch.jumps, sums),
        }
    }

    /// The best position of each output, or nothing for the null word, in `best`.
    pub fn decode(&self, view: &OneWay, scratch: &mut Scratch, best: &mut Vec<Option<u16>>) {
        match self {
            Positions::Diagonal(prior) => prior.decode(view, &mut scratch.diagonal, best),
            Positions::Jumps(jumps) => jumps.decode(view, &mut scratch.jumps, best),
        }
    }
}
