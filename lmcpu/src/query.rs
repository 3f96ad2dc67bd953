//! What KenLM's `query` prints, byte for byte (`ngram-lm.md` 2.5).
//!
//! One quirk is not copied: a last line without a line end is a line like any
//! other here.

use miriam_text::{Input, Output, Progress, number};

pub use crate::sentences::{Perplexity, TextOptions};

use crate::sentences::{Sentence, score_text};
use crate::{LanguageModel, Result};

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Levels {
    /// `word=id matched log10` and a tab for each word.
    pub word: bool,
    /// `Total: log10 OOV: count` for each line.
    pub sentence: bool,
    /// Perplexities and counts at the end.
    pub summary: bool,
}

impl Levels {
    /// Everything.
    pub const ALL: Levels = Levels { word: true, sentence: true, summary: true };
}

/// Scores each line of `input` and prints what `levels` ask for.
pub fn query(
    model: &dyn LanguageModel,
    input: Input,
    output: &mut Output,
    levels: Levels,
    options: TextOptions,
    progress: &dyn Progress,
) -> Result<Perplexity> {
    let sums = score_text(model, vec![input], output, options, progress, |block, out| {
        for sentence in block.sentences() {
            if levels.word {
                push_words(&sentence, out);
            }
            if levels.sentence {
                out.extend_from_slice(b"Total: ");
                number::push_shortest_f32(out, sentence.log10());
                out.extend_from_slice(b" OOV: ");
                push_integer(out, sentence.unknown());
                out.push(b'\n');
            }
        }
    })?;
    if levels.summary {
        let mut summary = Vec::new();
        sums.push_summary(&mut summary);
        output.write(&summary)?;
    }
    Ok(sums)
}

fn push_words(sentence: &Sentence<'_>, out: &mut Vec<u8>) {
    for token in sentence.tokens() {
        out.extend_from_slice(token.text);
        out.push(b'=');
        push_integer(out, u64::from(token.id.0));
        out.push(b' ');
        push_integer(out, u64::from(token.matched));
        out.push(b' ');
        number::push_shortest_f32(out, token.log10);
        out.push(b'\t');
    }
}

/// Appends `value` in decimal.
pub(crate) fn push_integer(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}
