//! N-grams that phrases of a sentence can make up, in any order. An n-gram may begin and end inside
//! a phrase, and it may be inside a single phrase.
//!
//! For each sequence of words inside a phrase, the filter keeps the sentences in which it is a
//! phrase, begins one, ends one, or is a part of one. The sentences of an n-gram are computed from
//! the sentences of its parts, from left to right.

use hashbrown::HashMap;
use miriam_textio::Vocabulary;

use super::passes::Passes;

/// Whether `word` is a tag such as `<s>`, which sentences need not have.
pub(super) fn is_tag(word: &[u8]) -> bool {
    word.first() == Some(&b'<') && word.last() == Some(&b'>')
}

/// The sentences with a sequence of words, ascending.
#[derive(Default)]
struct Occurrences {
    /// In a phrase.
    inside: Vec<u32>,
    /// At the start of a phrase.
    at_start: Vec<u32>,
    /// At the end of a phrase.
    at_end: Vec<u32>,
    /// As a phrase.
    whole: Vec<u32>,
}

/// The phrases of sentences.
pub(super) struct PhraseIndex {
    /// The number of words in the longest n-grams. Longer sequences are not kept: a phrase has as
    /// many sequences as the square of its words.
    longest: usize,
    words: Vocabulary,
    sequences: HashMap<Box<[u32]>, Occurrences>,
    num_sentences: u32,
}

fn push(sentences: &mut Vec<u32>, sentence: u32) {
    if sentences.last() != Some(&sentence) {
        sentences.push(sentence);
    }
}

impl PhraseIndex {
    /// Creates an index for n-grams of at most `longest` words.
    pub fn new(longest: usize) -> Self {
        let (words, sequences) = (Vocabulary::new(), HashMap::new());
        PhraseIndex { longest, words, sequences, num_sentences: 0 }
    }

    /// Returns the number of sentences.
    pub fn num_sentences(&self) -> u32 {
        self.num_sentences
    }

    /// Adds a line: phrases of words between blanks, separated by tabs. Carriage returns and form
    /// feeds end sentences, as in KenLM, and sentences without words do not count.
    pub fn add_line(&mut self, line: &[u8]) {
        for sentence in line.split(|byte| matches!(byte, b'\n' | b'\r' | 0x0c)) {
            let mut has_words = false;
            for phrase in sentence.split(|byte| matches!(byte, b'\t' | 0x0b)) {
                let words = phrase.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
                let ids: Vec<u32> = words.map(|word| self.words.intern(word).0).collect();
                has_words |= !ids.is_empty();
                self.add_phrase(&ids);
            }
            self.num_sentences += u32::from(has_words);
        }
    }

    fn add_phrase(&mut self, phrase: &[u32]) {
        let sentence = self.num_sentences;
        for start in 0..phrase.len() {
            for end in start + 1..=phrase.len().min(start.saturating_add(self.longest)) {
                let key = &phrase[start..end];
                let found = self.sequences.entry(key.into()).or_default();
                push(&mut found.inside, sentence);
                if start == 0 {
                    push(&mut found.at_start, sentence);
                }
                if end == phrase.len() {
                    push(&mut found.at_end, sentence);
                }
                if start == 0 && end == phrase.len() {
                    push(&mut found.whole, sentence);
                }
            }
        }
    }

    /// Finds the sentences in which the n-gram of `words` passes. A tag at its start is ignored,
    /// and so are `</s>` and the words after it.
    pub fn check(&self, words: &[&[u8]]) -> Passes {
        let skipped = usize::from(words.first().is_some_and(|word| is_tag(word)));
        let words = words[skipped..].iter().take_while(|word| **word != b"</s>");
        let ids: Option<Vec<u32>> =
            words.map(|word| self.words.find(word).map(|id| id.0)).collect();
        match ids {
            None => Passes::Nowhere,
            Some(ids) if ids.is_empty() => Passes::Everywhere,
            Some(ids) => Passes::in_some(self.sentences(&ids)),
        }
    }

    /// Returns the sentences whose phrases make up `ngram`, which is not empty.
    fn sentences(&self, ngram: &[u32]) -> Vec<u32> {
        let last = ngram.len() - 1;
        // By position: the sentences whose phrases make up all words up to this position.
        let mut boundaries: Vec<Vec<u32>> = Vec::with_capacity(last);
        let mut all = Vec::new();
        for end in 0..=last {
            let mut found = Vec::new();
            if let Some(sequence) = self.sequences.get(&ngram[..=end]) {
                found.extend(if end == last { &sequence.inside } else { &sequence.at_end });
            }
            for (start, before) in boundaries.iter().enumerate() {
                let Some(sequence) = self.sequences.get(&ngram[start + 1..=end]) else { continue };
                let after = if end == last { &sequence.at_start } else { &sequence.whole };
                let (few, many) =
                    if before.len() < after.len() { (before, after) } else { (after, before) };
                found.extend(few.iter().filter(|sentence| many.binary_search(sentence).is_ok()));
            }
            found.sort_unstable();
            found.dedup();
            if end == last {
                all = found;
            } else {
                boundaries.push(found);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sequences_as_long_as_ngrams_are_kept() {
        let mut index = PhraseIndex::new(3);
        index.add_line(b"a b c d e\tf\n");
        assert_eq!(index.sequences.len(), 5 + 4 + 3 + 1);
        for (ngram, passes) in [("b c d", true), ("e f", true), ("f a b", true), ("b d", false)] {
            let words: Vec<&[u8]> = ngram.split(' ').map(str::as_bytes).collect();
            let expected = if passes { Passes::In(vec![0]) } else { Passes::Nowhere };
            assert_eq!(index.check(&words), expected, "{ngram}");
        }
    }
}
