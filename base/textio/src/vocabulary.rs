//! Words and their ids: every string is stored once and has a `u32` id.

use hashbrown::HashTable;
use xxhash_rust::xxh3::xxh3_64;

/// The id of a word in one vocabulary, from 0 in the order of first appearance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct WordId(pub u32);

impl WordId {
    /// The id as an index.
    #[inline(always)]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A growing vocabulary; its strings are concatenated in one buffer.
#[derive(Clone, Default)]
pub struct Vocabulary {
    bytes: Vec<u8>,
    /// The end of each word in `bytes`.
    ends: Vec<usize>,
    ids: HashTable<u32>,
}

impl Vocabulary {
    /// A vocabulary without words.
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of words.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The id of `word`, which is added if it is new.
    ///
    /// Panics at the 4,294,967,296th word.
    pub fn intern(&mut self, word: &[u8]) -> WordId {
        let hash = xxh3_64(word);
        let (bytes, ends) = (&self.bytes, &self.ends);
        if let Some(&id) = self.ids.find(hash, |&id| slice(bytes, ends, id) == word) {
            return WordId(id);
        }
        let id = u32::try_from(self.ends.len()).expect("fewer than 2^32 words");
        self.bytes.extend_from_slice(word);
        self.ends.push(self.bytes.len());
        let (bytes, ends) = (&self.bytes, &self.ends);
        self.ids.insert_unique(hash, id, |&id| xxh3_64(slice(bytes, ends, id)));
        WordId(id)
    }

    /// The id of `word`, if it is known.
    pub fn find(&self, word: &[u8]) -> Option<WordId> {
        let found = self.ids.find(xxh3_64(word), |&id| slice(&self.bytes, &self.ends, id) == word);
        found.map(|&id| WordId(id))
    }

    /// The word of `id`. Panics when there is none.
    pub fn word(&self, id: WordId) -> &[u8] {
        slice(&self.bytes, &self.ends, id.0)
    }

    /// Every word in the order of ids.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (0..self.len() as u32).map(|id| slice(&self.bytes, &self.ends, id))
    }

    /// Removes every word and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
        self.ids.clear();
    }
}

#[inline]
fn slice<'a>(bytes: &'a [u8], ends: &[usize], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[start..ends[id]]
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
