//! The order of words in the output: of first appearance, or of the words' hashes.
//!
//! Tries and KenLM's intermediate files number words by their hashes, so that models of
//! different texts agree on the order of n-grams and can be merged in one pass. Counting
//! needs no such order: words get these numbers when n-grams are sorted for the output.

use miriam_textio::{Vocabulary, WordId};

use crate::Result;
use crate::kenlm::sort_by_hash;

/// A permutation of word ids.
pub(super) struct WordOrder {
    /// By id: the number in the output.
    new_ids: Vec<u32>,
    /// By number in the output: the id.
    old_ids: Vec<u32>,
}

impl WordOrder {
    /// Words keep their ids.
    pub fn of_appearance(vocabulary: &Vocabulary) -> Self {
        let ids: Vec<u32> = (0..vocabulary.len() as u32).collect();
        WordOrder { new_ids: ids.clone(), old_ids: ids }
    }

    /// `<unk>`, then the other words by their hashes. `name` is that of the text for
    /// messages.
    ///
    /// # Errors
    ///
    /// If two words have the same hash.
    pub fn by_hash(vocabulary: &Vocabulary, name: &str) -> Result<Self> {
        let (_, new_ids) = sort_by_hash(vocabulary, name)?;
        let mut old_ids = vec![0; new_ids.len()];
        (0..).zip(&new_ids).for_each(|(old, &new)| old_ids[new as usize] = old);
        Ok(WordOrder { new_ids, old_ids })
    }

    /// The number in the output of the word `id`.
    #[inline]
    pub fn new_id(&self, id: u32) -> u32 {
        self.new_ids[id as usize]
    }

    /// The ids in the order of the output.
    pub fn old_ids(&self) -> &[u32] {
        &self.old_ids
    }

    /// The word with the number `new` in the output.
    #[inline]
    pub fn word<'v>(&self, new: u32, vocabulary: &'v Vocabulary) -> &'v [u8] {
        vocabulary.word(WordId(self.old_ids[new as usize]))
    }
}
