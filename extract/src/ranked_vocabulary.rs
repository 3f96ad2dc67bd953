//! Words of one side of the corpus, ranked in byte order.
//!
//! Tables are sorted by the bytes of whole lines, in which a phrase ends with ` ||| `. That is
//! the order of sequences of words, if each word includes the space after it and the three bars
//! count as a word. With ranks in that order, phrases are compared as numbers.

use miriam_textio::{Vocabulary, WordId};

/// The field separator of a table, which ends a phrase.
pub(crate) const FIELD_SEPARATOR: &[u8] = b"|||";
/// The word to which unaligned words are linked.
const NULL_WORD: &[u8] = b"NULL";

/// The vocabulary of one side under construction. `NULL` and the three bars have the first ids;
/// the other words follow by first occurrence.
pub(crate) struct VocabularyBuilder(Vocabulary);

impl VocabularyBuilder {
    pub fn new() -> Self {
        let mut vocabulary = Vocabulary::new();
        vocabulary.intern(NULL_WORD);
        vocabulary.intern(FIELD_SEPARATOR);
        VocabularyBuilder(vocabulary)
    }

    /// Returns the id of `word`; adds the word if it is new.
    pub fn intern(&mut self, word: &[u8]) -> u32 {
        self.0.intern(word).0
    }

    /// Ranks the words.
    pub fn into_ranked(self) -> RankedVocabulary {
        let mut id_by_rank: Vec<u32> = (0..self.0.len() as u32).collect();
        id_by_rank.sort_unstable_by(|&a, &b| {
            compare_before_space(self.0.word(WordId(a)), self.0.word(WordId(b)))
        });
        let mut rank_by_id = vec![0; id_by_rank.len()];
        for (rank, &id) in (0..).zip(&id_by_rank) {
            rank_by_id[id as usize] = rank;
        }
        let mut words =
            SpacedWords { text: Vec::new(), ends: Vec::with_capacity(id_by_rank.len()) };
        for &id in &id_by_rank {
            words.text.extend_from_slice(self.0.word(WordId(id)));
            words.text.push(b' ');
            words.ends.push(words.text.len());
        }
        RankedVocabulary { null_rank: rank_by_id[0], end_rank: rank_by_id[1], words, rank_by_id }
    }
}

/// Compares two words, each followed by a space.
fn compare_before_space(a: &[u8], b: &[u8]) -> std::cmp::Ordering {
    a.iter().chain(b" ").cmp(b.iter().chain(b" "))
}

/// The words of one side by rank in byte order.
pub(crate) struct RankedVocabulary {
    words: SpacedWords,
    rank_by_id: Vec<u32>,
    /// The rank of `NULL`.
    pub null_rank: u32,
    /// The rank of the end marker of phrases.
    pub end_rank: u32,
}

/// Words one after another, each with a space after it.
struct SpacedWords {
    text: Vec<u8>,
    /// The end of each word's space.
    ends: Vec<usize>,
}

impl RankedVocabulary {
    /// Returns the number of ranks.
    pub fn len(&self) -> usize {
        self.rank_by_id.len()
    }

    /// Returns the rank of the word with the id `id`.
    #[inline]
    pub fn rank(&self, id: u32) -> u32 {
        self.rank_by_id[id as usize]
    }

    /// Returns the word with the rank `rank`.
    pub fn word(&self, rank: u32) -> &[u8] {
        let spaced = self.word_and_space(rank);
        &spaced[..spaced.len() - 1]
    }

    /// Returns the word with the rank `rank`, with a space after it.
    #[inline]
    pub fn word_and_space(&self, rank: u32) -> &[u8] {
        let rank = rank as usize;
        let start = if rank == 0 { 0 } else { self.words.ends[rank - 1] };
        &self.words.text[start..self.words.ends[rank]]
    }

    /// Returns the approximate memory of the words in bytes.
    pub fn memory_bytes(&self) -> u64 {
        (self.words.text.len() + 12 * self.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Comparing ranks, with the end marker after each phrase, gives the order of lines.
        #[test]
        fn ranks_order_phrases_as_bytes_do(
            phrases in proptest::collection::vec(
                proptest::collection::vec("[a|~!\u{1}\u{1f}é]{1,2}", 1..4), 2..20,
            ),
        ) {
            let mut collecting = VocabularyBuilder::new();
            let ids: Vec<Vec<u32>> = phrases
                .iter()
                .map(|phrase| phrase.iter().map(|w| collecting.intern(w.as_bytes())).collect())
                .collect();
            let words = collecting.into_ranked();
            let ranked: Vec<Vec<u32>> = ids
                .iter()
                .map(|ids| ids.iter().map(|&id| words.rank(id)).chain([words.end_rank]).collect())
                .collect();
            for (a, rank_a) in phrases.iter().zip(&ranked) {
                for (b, rank_b) in phrases.iter().zip(&ranked) {
                    let (a, b) = (a.join(" ") + " ||| ", b.join(" ") + " ||| ");
                    prop_assert_eq!(a.cmp(&b), rank_a.cmp(rank_b), "{:?} {:?}", a, b);
                }
            }
        }
    }
}
