//! Bytes that know whether they were written.

use std::ops::Range;

/// The state of a byte.
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

impl State {
    fn from_number(number: u8) -> Self {
        [State::Unwritten, State::Written, State::InFlight, State::Gap][usize::from(number)]
    }
}

/// Bytes with their states.
#[derive(Clone, Debug, Default)]
pub(crate) struct TrackedBytes {
    bytes: Vec<u8>,
    /// The numbers of [`State`].
    states: Vec<u8>,
}

impl TrackedBytes {
    /// Creates `size` bytes, none of which is written.
    pub fn new(size: usize) -> Self {
        TrackedBytes { bytes: vec![0; size], states: vec![State::Unwritten as u8; size] }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn set_states(&mut self, range: Range<usize>, state: State) {
        self.states[range].fill(state as u8);
    }

    /// Returns the range of `length` bytes from `offset` on, if it is within the bytes.
    pub fn range(&self, offset: u64, length: usize) -> Option<Range<usize>> {
        let start = usize::try_from(offset).ok()?;
        let end = start.checked_add(length)?;
        (end <= self.bytes.len()).then_some(start..end)
    }

    /// Returns the bytes of `range`, or the index and the state of the first one that was not
    /// written.
    pub fn read(&self, range: Range<usize>) -> Result<&[u8], (usize, State)> {
        let states = &self.states[range.clone()];
        match states.iter().position(|state| *state != State::Written as u8) {
            Some(place) => Err((range.start + place, State::from_number(states[place]))),
            None => Ok(&self.bytes[range]),
        }
    }

    /// Writes bytes, or returns the index and the state of the first one that must not be written.
    pub fn write(&mut self, start: usize, bytes: &[u8]) -> Result<(), (usize, State)> {
        let range = start..start + bytes.len();
        let states = &mut self.states[range.clone()];
        if let Some(place) = states.iter().position(|state| *state >= State::InFlight as u8) {
            return Err((start + place, State::from_number(states[place])));
        }
        states.fill(State::Written as u8);
        self.bytes[range].copy_from_slice(bytes);
        Ok(())
    }

    /// Returns the bytes from `offset` on, if all of them were written.
    #[inline(always)]
    pub fn get<const N: usize>(&self, offset: u64) -> Option<[u8; N]> {
        let start = usize::try_from(offset).ok()?;
        let bytes = self.bytes.get(start..)?.first_chunk()?;
        let states: &[u8; N] = self.states.get(start..)?.first_chunk()?;
        (*states == [State::Written as u8; N]).then_some(*bytes)
    }

    /// Writes bytes if they may be written, and returns whether they were.
    #[inline(always)]
    pub fn put<const N: usize>(&mut self, offset: u64, written: [u8; N]) -> bool {
        let Ok(start) = usize::try_from(offset) else { return false };
        let bytes = self.bytes.get_mut(start..).and_then(|rest| rest.first_chunk_mut());
        let states = self.states.get_mut(start..).and_then(|rest| rest.first_chunk_mut::<N>());
        let (Some(bytes), Some(states)) = (bytes, states) else { return false };
        if states.iter().any(|state| *state >= State::InFlight as u8) {
            return false;
        }
        (*bytes, *states) = (written, [State::Written as u8; N]);
        true
    }

    /// Returns a copy of a part, with its states.
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
