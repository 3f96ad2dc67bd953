//! Ids for the words of a segment.

use hashbrown::HashMap;

/// A map of words to ids, in the order of first occurrence.
#[derive(Default)]
pub(crate) struct WordIds(HashMap<String, u32>);

impl WordIds {
    /// Returns the ids of `words`; new words get the next ids.
    pub(crate) fn intern_all<'w>(&mut self, words: impl Iterator<Item = &'w str>) -> Vec<u32> {
        words
            .map(|word| {
                let next = self.0.len() as u32;
                *self.0.entry_ref(word).or_insert(next)
            })
            .collect()
    }
}
