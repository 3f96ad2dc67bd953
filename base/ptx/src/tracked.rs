//! Bytes that know whether they were written.

use std::ops::Range;

/// What is known of a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum State {
    #[default]
    Unwritten,
    Written,
    /// A copy that is done later will write it.
    InFlight,
    /// Between two arrays.
    Gap,
}

/// Bytes with their states.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrackedBytes {
    bytes: Vec<u8>,
    states: Vec<State>,
}

impl TrackedBytes {
    /// Creates `size` bytes, none of which is written.
    pub fn new(size: usize) -> Self {
        TrackedBytes { bytes: vec![0; size], states: vec![State::Unwritten; size] }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn set_states(&mut self, range: Range<usize>, state: State) {
        self.states[range].fill(state);
    }

    /// The range of `length` bytes from `offset` on, if it is within the bytes.
    pub fn range(&self, offset: u64, length: usize) -> Option<Range<usize>> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(length)?;
        (end <= self.bytes.len()).then_some(start..end)
    }

    /// The bytes of `range`, or the first one that was not written, with its state.
    pub fn read(&self, range: Range<usize>) -> Result<&[u8], (usize, State)> {
        let states = &self.states[range.clone()];
        match states.iter().position(|state| *state != State::Written) {
            Some(place) => Err((range.start + place, states[place])),
            None => Ok(&self.bytes[range]),
        }
    }

    /// Writes bytes, or returns the first that must not be written, with its state.
    pub fn write(&mut self, start: usize, bytes: &[u8]) -> Result<(), (usize, State)> {
        let range = start..start + bytes.len();
        let states = &mut self.states[range.clone()];
        let forbidden = |state: &State| matches!(state, State::InFlight | State::Gap);
        if let Some(place) = states.iter().position(forbidden) {
            return Err((start + place, states[place]));
        }
        states.fill(State::Written);
        self.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    /// A copy of a part, with its states.
    pub fn part(&self, start: usize, length: usize) -> TrackedBytes {
        let range = start..start + length;
        TrackedBytes {
            bytes: self.bytes[range.clone()].to_vec(),
            states: self.states[range].to_vec(),
        }
    }

    /// Replaces a part, also its states.
    pub fn replace(&mut self, start: usize, part: &TrackedBytes) {
        let range = start..start + part.len();
        self.bytes[range.clone()].copy_from_slice(&part.bytes);
        self.states[range].copy_from_slice(&part.states);
    }
}
