//! Conversion of texts to queries: explicit n-grams, or a stream of tokens.

use miriam_glm::device::{PAD, SENTENCE_START};

use crate::synthetic::Text;

/// Returns each word after up to `order - 1` preceding words of its sentence, which begins with
/// `bos_id` (`<s>`): `[n, order]`, newest word first, padded with [`PAD`].
pub fn ngrams(text: &Text, bos_id: u32, order: usize) -> Vec<u32> {
    let mut ngrams = Vec::with_capacity(text.words.len() * order);
    for sentence in text.sentences() {
        for at in 0..sentence.len() {
            let words = sentence[..=at].iter().rev().copied();
            let words = words.chain([bos_id]).chain(std::iter::repeat(PAD));
            ngrams.extend(words.take(order));
        }
    }
    ngrams
}

/// Returns the text as a stream of tokens: each sentence is preceded by `bos_id`, which is flagged
/// as the start of a sentence.
pub fn tokens(text: &Text, bos_id: u32) -> Vec<u32> {
    let mut tokens = Vec::with_capacity(text.words.len() + text.ends.len());
    for sentence in text.sentences() {
        tokens.push(bos_id | SENTENCE_START);
        tokens.extend(sentence);
    }
    tokens
}

/// Returns the text as a stream of tokens without `<s>`: the first word of each sentence is
/// flagged as its start.
pub fn tokens_without_markers(text: &Text) -> Vec<u32> {
    let mut tokens = text.words.clone();
    for sentence_start in text.starts() {
        tokens[sentence_start] |= SENTENCE_START;
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_ngrams_and_tokens() {
        let text = Text { words: vec![5, 6, 3, 7, 3], ends: vec![3, 5] };
        let mark = SENTENCE_START;
        assert_eq!(
            ngrams(&text, 9, 3),
            [5, 9, PAD, 6, 5, 9, 3, 6, 5, 7, 9, PAD, 3, 7, 9],
            "newest first"
        );
        assert_eq!(tokens(&text, 9), [9 | mark, 5, 6, 3, 9 | mark, 7, 3]);
        assert_eq!(tokens_without_markers(&text), [5 | mark, 6, 3, 7 | mark, 3]);
        assert_eq!(text.slice(1..2), Text { words: vec![7, 3], ends: vec![2] });
    }
}
