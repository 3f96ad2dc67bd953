//! The states of several features together as one `u32`, so that a hypothesis does
//! not grow with the features and equal states compare in one instruction.
//!
//! In many systems every expansion needs a joint state, so states are joined quickly, pair by pair:
//! the first two states become a number, and this number and the third state become another. A pair
//! takes one probe of a table of 16-byte entries.

/// The states of several features together as one `u32`: first the states of the language models,
/// then the states of other features. With only one feature, the joint state is its state.
pub(crate) struct JointStates {
    width: usize,
    states: Vec<u32>,
    /// A hash table with open addressing. A slot is empty if its number is [`EMPTY`].
    pairs: Vec<Pair>,
    num_pairs: usize,
    /// For each step of joining except the last, how many numbers it has given.
    num_prefixes: Vec<u32>,
    /// Scratch: one state per feature.
    component_states: Vec<u32>,
}

/// An entry of the table of pairs. `key` has the number given to the states of the first features,
/// and the state of the next one. `number` is given to all these states together.
#[derive(Clone, Copy)]
#[repr(C, align(16))]
struct Pair {
    key: u64,
    /// The index of the feature that is joined.
    feature: u32,
    number: u32,
}

const EMPTY: u32 = u32::MAX;

const EMPTY_PAIR: Pair = Pair { key: 0, feature: 0, number: EMPTY };

const INITIAL_PAIRS: usize = 1 << 10;

impl JointStates {
    /// Makes states for `width` features.
    pub(crate) fn new(width: usize) -> Self {
        JointStates {
            width,
            states: Vec::new(),
            pairs: if width > 1 { vec![EMPTY_PAIR; INITIAL_PAIRS] } else { Vec::new() },
            num_pairs: 0,
            num_prefixes: vec![0; width],
            component_states: vec![0; width],
        }
    }

    /// Returns the number of features.
    #[inline(always)]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Begins a sentence.
    pub(crate) fn start(&mut self) {
        self.states.clear();
        self.pairs.fill(EMPTY_PAIR);
        self.num_pairs = 0;
        self.num_prefixes.fill(0);
    }

    /// Sets the state of feature `m`, to be joined.
    #[inline(always)]
    pub(crate) fn set_state(&mut self, m: usize, state: u32) {
        self.component_states[m] = state;
    }

    /// Returns the joint state of the states set last, one per feature.
    #[inline(always)]
    pub(crate) fn join(&mut self) -> u32 {
        let states = std::mem::take(&mut self.component_states);
        let id = self.join_states(&states);
        self.component_states = states;
        id
    }

    /// Returns the joint state of `states`, one per feature.
    #[inline(always)]
    pub(crate) fn join_states(&mut self, states: &[u32]) -> u32 {
        let Some((&first, others)) = states.split_first() else { return 0 };
        let mut joined = first;
        for (feature, &state) in (1u32..).zip(others) {
            joined = self.join_pair(joined, state, feature, states);
        }
        joined
    }

    /// Returns the number given to the states of the features up to `feature`, whose state is
    /// `state`. `joined` is the number given to the states before it.
    #[inline(always)]
    fn join_pair(&mut self, joined: u32, state: u32, feature: u32, states: &[u32]) -> u32 {
        let key = u64::from(joined) << 32 | u64::from(state);
        let mask = self.pairs.len() - 1;
        let mut at = first_slot(key, feature) & mask;
        loop {
            let pair = self.pairs[at];
            if pair.number == EMPTY {
                return self.insert(Pair { key, feature, number: 0 }, at, states);
            }
            if pair.key == key && pair.feature == feature {
                return pair.number;
            }
            at = (at + 1) & mask;
        }
    }

    /// Gives a number to a new `pair`, and stores it in the slot `at`.
    #[inline(never)]
    fn insert(&mut self, pair: Pair, at: usize, states: &[u32]) -> u32 {
        let number = if pair.feature as usize + 1 == self.width {
            self.states.extend_from_slice(states);
            (self.states.len() / self.width) as u32 - 1
        } else {
            let next = &mut self.num_prefixes[pair.feature as usize];
            *next += 1;
            *next - 1
        };
        self.pairs[at] = Pair { number, ..pair };
        self.num_pairs += 1;
        if self.num_pairs * 2 > self.pairs.len() {
            self.grow();
        }
        number
    }

    fn grow(&mut self) {
        let size = self.pairs.len() * 2;
        let old = std::mem::replace(&mut self.pairs, vec![EMPTY_PAIR; size]);
        for pair in old.into_iter().filter(|pair| pair.number != EMPTY) {
            let mut at = first_slot(pair.key, pair.feature) & (size - 1);
            while self.pairs[at].number != EMPTY {
                at = (at + 1) & (size - 1);
            }
            self.pairs[at] = pair;
        }
    }

    /// Returns the state of feature `m` in the joint state `id`.
    #[inline(always)]
    pub(crate) fn state(&self, id: u32, m: usize) -> u32 {
        if self.width == 1 { id } else { self.states[id as usize * self.width + m] }
    }
}

#[inline(always)]
fn first_slot(key: u64, feature: u32) -> usize {
    let mixed = (key ^ u64::from(feature) << 28).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Equal rows of states have the same number, different rows have different numbers, and
        /// the states of a number can be read again.
        #[test]
        fn a_joint_state_is_its_states(
            width in 1usize..5,
            rows in proptest::collection::vec(proptest::collection::vec(0u32..6, 5), 1..1500),
        ) {
            let mut joint = JointStates::new(width);
            for _ in 0..2 {
                joint.start();
                let mut ids = std::collections::HashMap::new();
                for row in &rows {
                    let states = &row[..width];
                    let id = joint.join_states(states);
                    prop_assert_eq!(*ids.entry(states.to_vec()).or_insert(id), id);
                    let read: Vec<u32> = (0..width).map(|m| joint.state(id, m)).collect();
                    prop_assert_eq!(&read[..], states);
                }
            }
        }
    }
}
