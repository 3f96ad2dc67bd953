//! The state of a query: the words before it that matter, minimised as KenLM does it.
//!
//! Words and backoffs are interleaved, newest word first. So the length and the part in use of a
//! typical state (order 5: four pairs) are 36 consecutive bytes, although any order up to
//! [`MAX_ORDER`] fits. [`State::copy_from`] copies four pairs, or the part in use if that is
//! larger.

use crate::LmWord;

/// The highest order of a model.
pub const MAX_ORDER: usize = 24;

/// The context that the next word is scored in: at most order - 1 words, and only
/// words that can matter to later words (`ngram-lm.md` 2.1, 2.2).
#[derive(Clone, Copy)]
#[repr(C)]
pub struct State {
    length: u32,
    /// Entries beyond `length` are left over and never read.
    entries: [(LmWord, f32); MAX_ORDER - 1],
}

impl State {
    /// The state of no words.
    pub const EMPTY: State = State { length: 0, entries: [(LmWord(0), 0.0); MAX_ORDER - 1] };

    /// Returns the state of one word.
    pub(crate) fn from_word(word: LmWord, backoff: f32) -> Self {
        let mut state = State::EMPTY;
        state.entries[0] = (word, backoff);
        state.set_len(1);
        state
    }

    /// Returns the number of words.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether there are no words.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the words with their backoffs (log10), newest first: the backoff at `i` belongs to
    /// the context of words `0..=i`.
    #[inline(always)]
    pub fn entries(&self) -> &[(LmWord, f32)] {
        &self.entries[..self.length as usize]
    }

    /// Returns all entries, for a model that fills them; follow with [`State::set_len`].
    #[inline(always)]
    pub fn entries_mut(&mut self) -> &mut [(LmWord, f32); MAX_ORDER - 1] {
        &mut self.entries
    }

    /// Sets the number of entries in use. Panics above `MAX_ORDER - 1`.
    #[inline(always)]
    pub fn set_len(&mut self, length: usize) {
        assert!(length < MAX_ORDER);
        self.length = length as u32;
    }

    /// Adds to `log10` the backoffs from index `from` on, shorter contexts first.
    #[inline(always)]
    pub(crate) fn add_backoffs(&self, from: usize, mut log10: f32) -> f32 {
        let mut i = from;
        while let Some(&(_, backoff)) = self.entries().get(i) {
            log10 += backoff;
            i += 1;
        }
        log10
    }

    /// Becomes equal to `other`. Copies the entries in use, and at least four entries.
    #[inline(always)]
    pub fn copy_from(&mut self, other: &State) {
        // Nearly all states fit in a few words; a copy of fixed size needs
        // neither a call nor a branch on the length.
        const TYPICAL_LEN: usize = 4;
        let n = other.length as usize;
        self.length = other.length;
        self.entries[..TYPICAL_LEN].copy_from_slice(&other.entries[..TYPICAL_LEN]);
        if n > TYPICAL_LEN {
            self.entries[TYPICAL_LEN..n].copy_from_slice(&other.entries[TYPICAL_LEN..n]);
        }
    }
}

/// Equal words make equal states; backoffs follow from the words.
impl PartialEq for State {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.length == other.length
            && self.entries().iter().zip(other.entries()).all(|(a, b)| a.0 == b.0)
    }
}

impl Eq for State {}

impl std::hash::Hash for State {
    fn hash<H: std::hash::Hasher>(&self, hasher: &mut H) {
        hasher.write_u32(self.length);
        for (word, _) in self.entries() {
            hasher.write_u32(word.0);
        }
    }
}

impl Default for State {
    fn default() -> Self {
        State::EMPTY
    }
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.entries()).finish()
    }
}
