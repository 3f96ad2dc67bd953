//! Vocabulary: every distinct word is stored once and has a `u32` id.

use xxhash_rust::xxh3::xxh3_64;

use crate::SliceInterner;

/// The id of a word in one vocabulary, from 0 in the order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct WordId(pub u32);

impl WordId {
    /// Returns the id as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A growing vocabulary; its strings are concatenated in one buffer.
///
/// ```
/// use miriam_textio::{Vocabulary, WordId};
///
/// let mut vocabulary = Vocabulary::new();
/// let house = vocabulary.intern(b"house");
/// assert_eq!(vocabulary.intern(b"house"), house);
/// assert_eq!(vocabulary.word(WordId(0)), b"house");
/// assert_eq!(vocabulary.find(b"mouse"), None);
/// ```
#[derive(Clone, Default)]
pub struct Vocabulary(SliceInterner<u8>);

impl Vocabulary {
    /// Returns a vocabulary without words.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of words.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Reserves memory for `additional` words.
    pub fn reserve(&mut self, additional: usize) {
        self.0.reserve(additional, xxh3_64);
    }

    /// Returns the id of `word`, which is added if it is new.
    ///
    /// # Panics
    /// If there are already 2^32 words.
    #[inline]
    pub fn intern(&mut self, word: &[u8]) -> WordId {
        WordId(self.0.intern(word, xxh3_64))
    }

    /// Returns the id of `word`, if it is known.
    pub fn find(&self, word: &[u8]) -> Option<WordId> {
        self.0.find(word, xxh3_64(word)).map(WordId)
    }

    /// Returns the word with the id `id`.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn word(&self, id: WordId) -> &[u8] {
        self.0.get(id.0)
    }

    /// Returns every word in the order of ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        self.0.iter()
    }

    /// Removes all words and keeps the memory.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ids_follow_first_appearance(words in proptest::collection::vec("[ab]{0,3}", 0..60)) {
            let mut vocabulary = Vocabulary::new();
            let mut seen: Vec<&str> = Vec::new();
            for word in &words {
                if !seen.contains(&word.as_str()) { seen.push(word); }
                let id = vocabulary.intern(word.as_bytes());
                prop_assert_eq!(seen[id.index()], word);
            }
            prop_assert_eq!(vocabulary.len(), seen.len());
            for (i, word) in seen.iter().enumerate() {
                prop_assert_eq!(vocabulary.find(word.as_bytes()), Some(WordId(i as u32)));
                prop_assert_eq!(vocabulary.word(WordId(i as u32)), word.as_bytes());
            }
            prop_assert_eq!(vocabulary.find(b"absent"), None);
        }
    }
}
