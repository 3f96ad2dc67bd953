//! Truecaser: gives the first word of a sentence the casing that it has inside sentences, like
//! Moses' `train-truecaser.perl`, `truecase.perl` and `detruecase.perl`.
//!
//! A model is Moses' text file: the casings of each lowercased word, the most frequent first.

mod markup;
mod model;
mod trainer;

pub use model::TruecaseModel;
pub use trainer::TruecaseTrainer;

use crate::characters::{push_capitalized, split_whitespace};

/// Whether a sentence begins after this word.
fn ends_sentence(word: &[u8]) -> bool {
    matches!(word, b"." | b":" | b"?" | b"!")
}

/// Whether a sentence that would begin at this word begins after it instead.
fn delays_sentence_start(word: &[u8]) -> bool {
    matches!(word, b"(" | b"[" | b"\"" | b"'" | b"&apos;" | b"&quot;" | b"&#91;" | b"&#93;")
}

/// Whether the word after `word` begins a sentence; `begins` tells whether `word` begins one.
fn next_starts_sentence(word: &[u8], begins: bool) -> bool {
    ends_sentence(word) || begins && delays_sentence_start(word)
}

/// Capitalises the first letter of each sentence of `line` and appends its words, separated
/// by single spaces, to `out`. A line has no line end.
pub fn detruecase(line: &[u8], out: &mut Vec<u8>) {
    let mut begins = true;
    for (i, word) in split_whitespace(line).enumerate() {
        if i > 0 {
            out.push(b' ');
        }
        let start = out.len();
        if begins {
            push_capitalized(word, out);
        } else {
            out.extend_from_slice(word);
        }
        begins = next_starts_sentence(&out[start..], begins);
    }
}
