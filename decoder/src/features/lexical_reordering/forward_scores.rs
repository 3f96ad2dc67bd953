//! The exact rule of recombination for forward reordering models
//! (`docs/spec/phrase-decoding.md` 3.8): hypotheses are not recombined if the next phrase may
//! charge different scores for their last phrases. Moses 1 keeps such hypotheses apart, Moses2 does
//! not.
//!
//! Weighted scores are compared, because only these change totals.

use miriam_textio::SliceInterner;

use crate::features::expansion_feature::{ExpansionInput, ValueSources};
use crate::features::stateful_feature::{StatefulScorer, hash_row};

/// A class that has not been looked up.
const UNSEEN: u32 = u32::MAX;

/// Classes of options with equal forward reordering scores.
pub(crate) struct ForwardScores {
    columns: Vec<usize>,
    /// The scores of each class, as bits.
    classes: SliceInterner<u32>,
    /// The class of each option.
    option_classes: Vec<u32>,
    row: Vec<u32>,
}

impl ForwardScores {
    /// Creates classes by the scores in `columns` of an option's row.
    pub(crate) fn new(columns: Vec<usize>) -> Self {
        let (option_classes, row) = (Vec::new(), Vec::new());
        ForwardScores { columns, classes: SliceInterner::default(), option_classes, row }
    }
}

impl StatefulScorer for ForwardScores {
    fn start(&mut self) -> u32 {
        self.classes.clear();
        self.option_classes.clear();
        // The initial hypothesis is the only one that covers nothing, so its state is never
        // compared.
        0
    }

    fn score(&mut self, input: &ExpansionInput<'_>, _: u32, _: &mut [f32]) -> u32 {
        let at = input.option.0 as usize;
        if self.option_classes.len() <= at {
            self.option_classes.resize(at + 1, UNSEEN);
        }
        if self.option_classes[at] == UNSEEN {
            self.row.clear();
            // Adding 0.0 turns -0.0 into 0.0, so that all zeros are equal.
            self.row.extend(
                self.columns.iter().map(|&column| {
                    (input.options.reordering(input.option, column) + 0.0).to_bits()
                }),
            );
            self.option_classes[at] = self.classes.intern(&self.row, hash_row);
        }
        self.option_classes[at]
    }

    /// Adds nothing: the state has no weights.
    fn add_values(&self, _: &ExpansionInput<'_>, _: u32, _: &ValueSources<'_>, _: &mut [f32]) {}
}
