//! Backward hierarchical reordering. The state is a stack of blocks. The value is the phrase's
//! score for its orientation towards the block on top.

use hashbrown::HashTable;
use miriam_textio::SliceInterner;

use super::OrientationClasses;
use super::span_stack::shift_reduce;
use crate::features::expansion_feature::{ExpansionInput, ValueSources};
use crate::features::stateful_feature::{StatefulScorer, hash_row};
use crate::span::Span;

/// Backward hierarchical scores of a reordering model.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HierarchicalBackward {
    pub(in crate::features) orientations: OrientationClasses,
    /// The first column of the backward scores in an option's row.
    pub(in crate::features) column: usize,
}

/// The stacks of blocks of a sentence.
pub(crate) struct HierarchicalBackwardScorer {
    feature: HierarchicalBackward,
    /// Stacks as starts and ends, from the bottom.
    stacks: SliceInterner<u32>,
    /// The shifts so far. Most hypotheses of a mini-stack share the shift of a span.
    shifts: HashTable<Shift>,
    /// Scratch: a stack.
    stack: Vec<Span>,
    /// Scratch: the starts and ends of `stack`.
    row: Vec<u32>,
}

impl HierarchicalBackwardScorer {
    /// Creates a scorer without states.
    pub(crate) fn new(feature: HierarchicalBackward) -> Self {
        let (stack, row) = (Vec::new(), Vec::new());
        let (stacks, shifts) = (SliceInterner::default(), HashTable::new());
        HierarchicalBackwardScorer { feature, stacks, shifts, stack, row }
    }

    /// Returns the column of a phrase's score in its option's row, and the next state. The phrase
    /// translates `span` and follows the blocks of `state`.
    #[inline(always)]
    pub(crate) fn column_and_next(&mut self, state: u32, span: Span) -> (usize, u32) {
        let Shift { column, next, .. } = self.shift(state, span);
        (column as usize, next)
    }

    /// Returns the shift of `span` onto the blocks of `state`.
    #[inline(always)]
    fn shift(&mut self, state: u32, span: Span) -> Shift {
        let is_same = |known: &Shift| (known.state, known.span) == (state, span);
        match self.shifts.find(hash_shift(state, span), is_same) {
            Some(&known) => known,
            None => self.add_shift(state, span),
        }
    }

    #[inline(never)]
    fn add_shift(&mut self, state: u32, span: Span) -> Shift {
        let mut stack = std::mem::take(&mut self.stack);
        let column = self.shift_span(state, span, &mut stack) as u32;
        self.row.clear();
        self.row.extend(stack.iter().flat_map(|block| [block.start, block.end]));
        self.stack = stack;
        let shift = Shift { state, span, column, next: self.stacks.intern(&self.row, hash_row) };
        self.shifts.insert_unique(hash_shift(state, span), shift, |known| {
            hash_shift(known.state, known.span)
        });
        shift
    }

    /// Shifts `span` onto the blocks of `state`, in `stack`; returns the column of the phrase's
    /// score in its row.
    fn shift_span(&self, state: u32, span: Span, stack: &mut Vec<Span>) -> usize {
        let blocks = self.stacks.get(state).chunks_exact(2);
        stack.clear();
        stack.extend(blocks.map(|block| Span { start: block[0], end: block[1] }));
        let distance = shift_reduce(stack, span);
        self.feature.column + self.feature.orientations.orientation_at_distance(distance)
    }
}

/// A span shifted onto the blocks of a state.
#[derive(Clone, Copy)]
struct Shift {
    state: u32,
    span: Span,
    /// The column of the phrase's score in its row.
    column: u32,
    /// The state after the shift.
    next: u32,
}

#[inline(always)]
fn hash_shift(state: u32, span: Span) -> u64 {
    let key = u64::from(state) << 32 | u64::from(span.start) << 16 ^ u64::from(span.end);
    let product = u128::from(key) * 0x9e37_79b9_7f4a_7c15;
    (product ^ product >> 64) as u64
}

impl StatefulScorer for HierarchicalBackwardScorer {
    fn as_hierarchical_backward(&mut self) -> Option<&mut HierarchicalBackwardScorer> {
        Some(self)
    }

    fn start(&mut self) -> u32 {
        self.shifts.clear();
        self.stacks.clear();
        self.stacks.intern(&[], hash_row)
    }

    fn score(&mut self, input: &ExpansionInput<'_>, state: u32, scores: &mut [f32]) -> u32 {
        let shift = self.shift(state, input.transition.span);
        scores[0] = input.options.reordering(input.option, shift.column as usize);
        shift.next
    }

    fn add_values(
        &self,
        input: &ExpansionInput<'_>,
        state: u32,
        sources: &ValueSources<'_>,
        values: &mut [f32],
    ) {
        let column = self.shift_span(state, input.transition.span, &mut Vec::new());
        values[sources.reordering_components[column]] += sources.reordering[column];
    }
}
