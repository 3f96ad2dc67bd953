//! The operation sequence model as a feature (`phrase-decoding.md` 1.6, 3.6): an
//! n-gram model of operations with its weights, and what a phrase pair alone is
//! worth to it, which is only an estimate.

use std::sync::Arc;

use miriam_lmcpu::{LanguageModel, LmWord, State};

use super::operations::{Cursor, FixedOperations, OperationCounts, OperationProgram};

/// An operation model ready for use.
pub(crate) struct OperationSequenceModel {
    pub(crate) model: Arc<dyn LanguageModel>,
    pub(crate) fixed: FixedOperations,
    /// One weight, that of the model, or also those of the supporting features.
    pub(crate) weights: Vec<f32>,
}

impl OperationSequenceModel {
    /// `model` with `weights`, of which there are 1 or 5.
    pub(crate) fn new(model: Arc<dyn LanguageModel>, weights: Vec<f32>) -> Self {
        let fixed = FixedOperations::new(&*model);
        OperationSequenceModel { model, fixed, weights }
    }

    /// The components of operations with a log10 probability and `counts`: one or
    /// five, in order.
    pub(crate) fn values(&self, log10: f64, counts: OperationCounts) -> impl Iterator<Item = f32> {
        let OperationCounts { gap_width, gaps, open_gaps, insertions } = counts;
        let counts = [gap_width, gaps, open_gaps, insertions].map(|n| n as f32);
        std::iter::once(log10 as f32).chain(counts).take(self.weights.len())
    }

    /// Each of them times its weight.
    pub(crate) fn weighted_values(
        &self,
        log10: f64,
        counts: OperationCounts,
    ) -> impl Iterator<Item = f32> {
        let values = self.values(log10, counts).zip(&self.weights);
        values.map(|(value, weight)| value * weight)
    }
}

/// Phrase pairs scored alone, in buffers that are reused.
#[derive(Default)]
pub(crate) struct IsolatedOperationScorer {
    program: OperationProgram,
    cursor: Cursor,
    covered: Vec<bool>,
    operations: Vec<LmWord>,
}

impl IsolatedOperationScorer {
    /// The weighted score of the pair `source`, `target` with links `points` as if
    /// it were a whole sentence, begun without context.
    pub(crate) fn score(
        &mut self,
        model: &OperationSequenceModel,
        source: &[&[u8]],
        target: &[&[u8]],
        points: impl Iterator<Item = (u16, u16)>,
    ) -> f32 {
        self.program.compile(&*model.model, source, target, points);
        self.cursor.reset();
        self.covered.clear();
        self.covered.resize(source.len(), false);
        self.operations.clear();
        let IsolatedOperationScorer { program, cursor, covered, operations } = self;
        let counts = program.run(&model.fixed, 0, covered, cursor, operations);
        let (mut state, mut next) = (State::EMPTY, State::EMPTY);
        let mut log10 = 0f64;
        for &operation in &*operations {
            log10 += f64::from(model.model.score(&state, operation, &mut next).0.0);
            state.copy_from(&next);
        }
        model.weighted_values(log10, counts).fold(0.0, |sum, part| sum + part)
    }
}
