//! Counts of the words of a text, from which vocabularies are learned. The time and memory of
//! learning grow with the number of distinct words, not with the length of the text.

use std::cmp::Reverse;

use hashbrown::HashMap;

/// The number of occurrences of each word. Parts of a text can be counted separately and
/// [merged](WordCounts::merge); the order of parts and lines does not matter.
///
/// # Examples
/// ```
/// use miriam_textproc::WordCounts;
///
/// let mut counts = WordCounts::default();
/// b"a rose is a rose".split(|&byte| byte == b' ').for_each(|word| counts.add(word, 1));
/// assert_eq!(counts.sorted(), [(&b"a"[..], 2), (b"rose", 2), (b"is", 1)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct WordCounts {
    counts: HashMap<Box<[u8]>, u64>,
}

impl WordCounts {
    /// Adds `count` occurrences of `word`.
    pub fn add(&mut self, word: &[u8], count: u64) {
        match self.counts.get_mut(word) {
            Some(known) => *known += count,
            None => drop(self.counts.insert(word.into(), count)),
        }
    }

    /// Counts the words of a line, separated by spaces; tabs and other white space are part of
    /// words.
    pub fn add_line(&mut self, line: &[u8]) {
        for word in line.split(|&byte| byte == b' ').filter(|word| !word.is_empty()) {
            self.add(word, 1);
        }
    }

    /// Adds the counts of another part of the text.
    pub fn merge(&mut self, mut other: WordCounts) {
        if other.counts.len() > self.counts.len() {
            std::mem::swap(self, &mut other);
        }
        for (word, count) in other.counts {
            *self.counts.entry(word).or_insert(0) += count;
        }
    }

    /// Returns the number of distinct words.
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// Whether there are no words.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Returns the words with their counts in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.counts.iter().map(|(word, &count)| (&**word, count))
    }

    /// Returns the words with their counts, the most frequent first; words with equal counts are in
    /// byte order.
    pub fn sorted(&self) -> Vec<(&[u8], u64)> {
        let mut words: Vec<(&[u8], u64)> = self.iter().collect();
        words.sort_unstable_by_key(|&(word, count)| (Reverse(count), word));
        words
    }
}
