//! The states of several features together as one `u32`, so that a hypothesis does
//! not grow with the features and equal states compare in one instruction.

use hashbrown::HashTable;

/// The states of several features together as one `u32`: those of the language
/// models, then those of other features. With one feature (or none) it is that
/// feature's own state.
pub(crate) struct JointStates {
    width: usize,
    states: Vec<u32>,
    ids: HashTable<u32>,
    /// Scratch: one state per feature.
    component_states: Vec<u32>,
}

impl JointStates {
    /// Makes states for `width` features.
    pub(crate) fn new(width: usize) -> Self {
        JointStates {
            width,
            states: Vec::new(),
            ids: HashTable::new(),
            component_states: vec![0; width],
        }
    }

    /// Begins a sentence.
    pub(crate) fn start(&mut self) {
        self.states.clear();
        self.ids.clear();
    }

    /// Sets the state of feature `m`, to be joined.
    #[inline(always)]
    pub(crate) fn set_state(&mut self, m: usize, state: u32) {
        self.component_states[m] = state;
    }

    /// Returns the joint state of the states set last, one per feature.
    #[inline(always)]
    pub(crate) fn join(&mut self) -> u32 {
        match self.component_states[..] {
            [] => 0,
            [only] => only,
            _ => self.intern(),
        }
    }

    fn intern(&mut self) -> u32 {
        let states = &self.component_states[..];
        fn hash(states: &[u32]) -> u64 {
            states.iter().fold(0u64, |hash, &state| {
                (hash ^ u64::from(state)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31)
            })
        }
        let (known, width) = (&self.states, self.width);
        fn tuple(id: u32, known: &[u32], width: usize) -> &[u32] {
            &known[id as usize * width..(id as usize + 1) * width]
        }
        if let Some(&id) = self.ids.find(hash(states), |&id| tuple(id, known, width) == states) {
            return id;
        }
        let id = (known.len() / width) as u32;
        self.states.extend_from_slice(states);
        let known = &self.states;
        self.ids.insert_unique(hash(states), id, |&id| {
            hash(&known[id as usize * width..(id as usize + 1) * width])
        });
        id
    }

    /// Returns the state of feature `m` in the joint state `id`.
    #[inline(always)]
    pub(crate) fn state(&self, id: u32, m: usize) -> u32 {
        if self.width == 1 { id } else { self.states[id as usize * self.width + m] }
    }
}
