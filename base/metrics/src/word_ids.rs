//! Ids of words, shared by the lines that are compared.

use hashbrown::HashMap;

/// A map from words to ids, which are numbered from 0 in the order of first occurrence.
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
