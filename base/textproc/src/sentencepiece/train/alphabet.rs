//! The characters that become pieces, and the parts of words between other characters.

use hashbrown::HashMap;

use super::super::normalizer::char_len;
use crate::WordCounts;

/// The character that replaces special pieces in the words of a text. As in SentencePiece it is in
/// no piece, but counts as covered text, also where the text itself contains it.
pub const BOUNDARY: &[u8] = b"\x1f";

/// The frequent characters of a text.
pub struct Alphabet {
    /// Counts by character.
    characters: HashMap<Box<[u8]>, u64>,
}

/// A part of a word with only characters of the alphabet, and its frequency. A rare character is
/// always a single piece, so the parts around it are segmented independently.
pub struct Fragment<'w> {
    pub text: &'w [u8],
    pub count: u64,
}

impl Alphabet {
    /// Returns the most frequent characters that together make up `coverage` of the text. Zero
    /// bytes are not counted.
    pub fn new(words: &WordCounts, coverage: f64) -> Self {
        let mut counts = WordCounts::default();
        for (word, count) in words.iter() {
            let text = characters(word).filter(|&character| character != b"\0");
            text.for_each(|character| counts.add(character, count));
        }
        let total: u64 = counts.iter().map(|(_, count)| count).sum();
        let mut covered = 0;
        let mut alphabet = HashMap::new();
        for (character, count) in counts.sorted() {
            if covered as f64 / total as f64 >= coverage {
                break;
            }
            covered += count;
            if character != BOUNDARY {
                alphabet.insert(character.into(), count);
            }
        }
        Alphabet { characters: alphabet }
    }

    /// Returns the number of characters.
    pub fn len(&self) -> usize {
        self.characters.len()
    }

    pub fn contains(&self, character: &[u8]) -> bool {
        self.characters.contains_key(character)
    }

    /// Returns the characters with their counts, the most frequent first.
    pub fn sorted(&self) -> Vec<(&[u8], u64)> {
        let mut all: Vec<(&[u8], u64)> =
            self.characters.iter().map(|(character, &count)| (&**character, count)).collect();
        all.sort_unstable_by(|(a, more), (b, less)| less.cmp(more).then(a.cmp(b)));
        all
    }

    /// Returns the fragments of the words, the most frequent word first.
    pub fn split_words<'w>(&self, words: &'w WordCounts) -> Vec<Fragment<'w>> {
        let mut fragments = Vec::new();
        for (word, count) in words.sorted() {
            let mut push = |text: &'w [u8]| {
                if !text.is_empty() {
                    fragments.push(Fragment { text, count });
                }
            };
            let (mut start, mut at) = (0, 0);
            for character in characters(word) {
                let end = at + character.len();
                if !self.contains(character) {
                    push(&word[start..at]);
                    start = end;
                }
                at = end;
            }
            push(&word[start..]);
        }
        fragments
    }
}

/// Returns the characters of a normalised text, which is valid UTF-8.
pub fn characters(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = char_len(rest).unwrap_or(1).min(rest.len());
        let character = rest.split_off(..length)?;
        (!character.is_empty()).then_some(character)
    })
}
