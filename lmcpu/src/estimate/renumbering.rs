//! Renumbering: word ids of the output that differ from the word ids of counting.
//!
//! Tries and KenLM's intermediate files number words by their hashes, so that models of
//! different texts agree on the order of n-grams and can be merged in one pass. Counting
//! needs no such order and keeps the ids of first appearance; n-grams get new ids when they
//! are sorted for the output.

use miriam_textio::{Vocabulary, WordId};

use crate::Result;
use crate::kenlm::sort_by_hash;

/// New ids of the words of a vocabulary.
pub(super) struct Renumbering<'v> {
    vocabulary: &'v Vocabulary,
    /// By old id.
    new_ids: Vec<u32>,
    /// By new id.
    old_ids: Vec<u32>,
}

impl<'v> Renumbering<'v> {
    /// Creates a numbering in which words keep their ids.
    pub fn identity(vocabulary: &'v Vocabulary) -> Self {
        let ids: Vec<u32> = (0..vocabulary.len() as u32).collect();
        Renumbering { vocabulary, new_ids: ids.clone(), old_ids: ids }
    }

    /// Numbers words by their hashes; `<unk>` is 0. `name` is the name of the text in messages.
    ///
    /// # Errors
    ///
    /// If two words have the same hash.
    pub fn by_hash(vocabulary: &'v Vocabulary, name: &str) -> Result<Self> {
        let (_, new_ids) = sort_by_hash(vocabulary, name)?;
        let mut old_ids = vec![0; new_ids.len()];
        (0..).zip(&new_ids).for_each(|(old, &new)| old_ids[new as usize] = old);
        Ok(Renumbering { vocabulary, new_ids, old_ids })
    }

    /// Returns the new id of the word `old`.
    #[inline]
    pub fn new_id(&self, old: u32) -> u32 {
        self.new_ids[old as usize]
    }

    /// Returns the old ids, by new id.
    pub fn old_ids(&self) -> &[u32] {
        &self.old_ids
    }

    /// Returns the word with the new id `new`.
    #[inline]
    pub fn word(&self, new: u32) -> &'v [u8] {
        self.vocabulary.word(WordId(self.old_ids[new as usize]))
    }

    /// Returns all words, by new id.
    pub fn words(&self) -> impl Iterator<Item = &'v [u8]> {
        self.old_ids.iter().map(|&old| self.vocabulary.word(WordId(old)))
    }
}
