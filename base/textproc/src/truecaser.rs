//! The truecaser: words as they are written inside of sentences, whatever their first
//! letter is at the beginning of one; after Moses' `train-truecaser.perl`,
//! `truecase.perl` and `detruecase.perl`.
//!
//! A model is Moses' text file: for each word, in lower case, the forms it has been
//! seen in, the most frequent first.

mod markup;
mod model;
mod trainer;

pub use model::TruecaseModel;
pub use trainer::TruecaseTrainer;

use crate::characters::{push_capitalized, split_whitespace};

/// Whether a sentence begins behind this word.
fn ends_sentence(word: &[u8]) -> bool {
    matches!(word, b"." | b":" | b"?" | b"!")
}

/// Whether a sentence begins behind this word if one would have begun at it.
fn delays_sentence_start(word: &[u8]) -> bool {
    matches!(word, b"(" | b"[" | b"\"" | b"'" | b"&apos;" | b"&quot;" | b"&#91;" | b"&#93;")
}

/// Whether the word behind `word` begins a sentence, if `word` itself `begins` one or
/// does not.
fn next_starts_sentence(word: &[u8], begins: bool) -> bool {
    ends_sentence(word) || begins && delays_sentence_start(word)
}

/// Appends the words of `line` with a capital letter at the beginning of each
/// sentence, single spaces between them, to `out`. A line has no line end.
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
