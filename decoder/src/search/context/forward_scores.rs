//! The exact rule of recombination for forward reordering models
//! (`phrase-decoding.md` 3.8): two hypotheses whose last phrases will be charged
//! differently by the next one are not the same. Moses 1 keeps them apart, Moses2
//! does not.
//!
//! Weighted scores are compared: those are what can make a difference.

use super::slices::Slices;
use super::{ContextFeature, Parts, Step};
use crate::system::System;

/// A class that has not been looked at.
const NEW: u32 = u32::MAX;

pub(super) struct ForwardScores {
    columns: Vec<usize>,
    /// The scores of each class, as bits.
    classes: Slices,
    /// The class of each option.
    of_option: Vec<u32>,
    row: Vec<u32>,
}

impl ForwardScores {
    pub(super) fn new(columns: Vec<usize>) -> Self {
        let (of_option, row) = (Vec::new(), Vec::new());
        ForwardScores { columns, classes: Slices::default(), of_option, row }
    }
}

impl ContextFeature for ForwardScores {
    fn start(&mut self, _: &System) -> u32 {
        self.classes.clear();
        self.of_option.clear();
        // The beginning covers nothing, so it is never compared with anything.
        0
    }

    fn apply(&mut self, step: &Step<'_>, _: &mut [f32]) -> u32 {
        let option = step.expansion.option;
        let at = option.0 as usize;
        if self.of_option.len() <= at {
            self.of_option.resize(at + 1, NEW);
        }
        if self.of_option[at] == NEW {
            let options = step.space.options;
            self.row.clear();
            // Plus zero, so that no two zeros differ.
            let bits = |&column| (options.reordering(option, column) + 0.0).to_bits();
            self.row.extend(self.columns.iter().map(bits));
            self.of_option[at] = self.classes.intern(&self.row);
        }
        self.of_option[at]
    }

    /// It is no feature.
    fn explain(&mut self, _: &Step<'_>, _: Parts<'_>) {}
}
