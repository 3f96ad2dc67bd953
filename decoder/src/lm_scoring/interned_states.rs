//! The states of a language model within a sentence, each with a number.
//!
//! Ids grow from sentence to sentence, so tables need not be cleared: whatever has an id below the
//! sentence's first one is left over from an earlier sentence.

use miriam_lmcpu::State;

/// States with ids: equal states have the same id.
pub(super) struct InternedStates {
    states: Vec<State>,
    /// A hash table with open addressing. A slot with an id of an earlier sentence is empty.
    slots: Vec<Slot>,
    /// The id of the first state of this sentence.
    first_id: u32,
}

/// A state and its id in half a cache line, so that a state of usual length is found and compared
/// without reading the state itself.
#[derive(Clone, Copy, Default)]
#[repr(C, align(32))]
struct Slot {
    id: u32,
    key: Key,
}

/// The length of a state and its newest words. These are all words if the model has order 5 or
/// less.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Key {
    len: u32,
    words: [u32; KEY_WORDS],
}

const KEY_WORDS: usize = 4;

const INITIAL_SLOTS: usize = 1 << 11;

impl Key {
    #[inline(always)]
    fn new(state: &State) -> Self {
        let mut words = [0; KEY_WORDS];
        words.iter_mut().zip(state.entries()).for_each(|(to, (word, _))| *to = word.0);
        Key { len: state.len() as u32, words }
    }

    /// Returns the first slot to search in a table of `mask` + 1 slots.
    #[inline(always)]
    fn first_slot(&self, mask: usize) -> usize {
        let [a, b, c, d] = self.words.map(u64::from);
        let mixed = (a ^ b << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
        let mixed = (mixed ^ c ^ d << 32).wrapping_add(u64::from(self.len));
        (mixed.wrapping_mul(0xff51_afd7_ed55_8ccd) >> 32) as usize & mask
    }
}

impl InternedStates {
    /// Creates an empty set; ids start at 1, so that a slot of zeros is empty.
    pub(super) fn new() -> Self {
        InternedStates {
            states: Vec::new(),
            slots: vec![Slot::default(); INITIAL_SLOTS],
            first_id: 1,
        }
    }

    /// Begins a sentence. Returns false if ids start at 1 again, so that ids of earlier sentences
    /// must be forgotten.
    pub(super) fn start(&mut self) -> bool {
        let next_id = self.first_id.checked_add(self.states.len() as u32);
        self.states.clear();
        match next_id {
            Some(next_id) if next_id < u32::MAX / 2 => {
                self.first_id = next_id;
                true
            }
            _ => {
                self.first_id = 1;
                self.slots.fill(Slot::default());
                false
            }
        }
    }

    /// Returns the id of the first state of this sentence.
    #[inline(always)]
    pub(super) fn first_id(&self) -> u32 {
        self.first_id
    }

    /// Returns the state with the id `id`.
    #[inline(always)]
    pub(super) fn get(&self, id: u32) -> &State {
        &self.states[(id - self.first_id) as usize]
    }

    /// Returns the id of `state`.
    #[inline(always)]
    pub(super) fn intern(&mut self, state: &State) -> u32 {
        let key = Key::new(state);
        let mask = self.slots.len() - 1;
        let mut at = key.first_slot(mask);
        loop {
            let slot = &self.slots[at];
            if slot.id < self.first_id {
                return self.insert(state, key, at);
            }
            if slot.key == key && (state.len() <= KEY_WORDS || self.get(slot.id) == state) {
                return slot.id;
            }
            at = (at + 1) & mask;
        }
    }

    /// Gives an id to a new `state`, and stores it in the empty slot `at`.
    #[inline(never)]
    fn insert(&mut self, state: &State, key: Key, at: usize) -> u32 {
        let id = self.first_id + self.states.len() as u32;
        self.states.push(*state);
        self.slots[at] = Slot { id, key };
        if self.states.len() * 2 > self.slots.len() {
            self.grow();
        }
        id
    }

    fn grow(&mut self) {
        let size = self.slots.len() * 2;
        let old = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
        for slot in old.into_iter().filter(|slot| slot.id >= self.first_id) {
            let mut at = slot.key.first_slot(size - 1);
            while self.slots[at].id >= self.first_id {
                at = (at + 1) & (size - 1);
            }
            self.slots[at] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use miriam_lmcpu::LmWord;
    use proptest::prelude::*;

    fn state(words: &[u32]) -> State {
        let mut state = State::EMPTY;
        // Entries beyond the length are left over from other states.
        state.entries_mut().fill((LmWord(9), 1.0));
        for (entry, &word) in state.entries_mut().iter_mut().zip(words) {
            *entry = (LmWord(word), -0.5);
        }
        state.set_len(words.len());
        state
    }

    proptest! {
        /// Equal words have the same id, other words have another, also for states that are longer
        /// than a key, and in a second sentence.
        #[test]
        fn an_id_is_a_row_of_words(
            rows in proptest::collection::vec(proptest::collection::vec(0u32..3, 0..8), 1..4000),
        ) {
            let mut interned = InternedStates::new();
            for _ in 0..2 {
                interned.start();
                let mut ids = std::collections::HashMap::new();
                for row in &rows {
                    let id = interned.intern(&state(row));
                    prop_assert_eq!(*ids.entry(row).or_insert(id), id);
                    prop_assert!(*interned.get(id) == state(row));
                }
                let distinct: std::collections::HashSet<_> = ids.values().collect();
                prop_assert_eq!(distinct.len(), ids.len());
            }
        }
    }

    #[test]
    fn ids_that_start_again_forget_earlier_states() {
        let mut interned = InternedStates::new();
        assert_eq!(interned.intern(&state(&[1])), 1);
        interned.first_id = u32::MAX / 2;
        assert!(!interned.start());
        assert_eq!(interned.intern(&state(&[2])), 1);
        assert_eq!(interned.intern(&state(&[1])), 2);
        assert!(interned.start());
        assert_eq!(interned.intern(&state(&[1])), 3);
    }
}
