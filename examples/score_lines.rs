//! Scores of lines by an n-gram language model: ARPA text, a file of KenLM, or one of ours.
//!
//!     echo "la casa roja" | cargo run --release --example score_lines examples/toy/lm.arpa

use std::error::Error;
use std::io::{BufRead, Write};
use std::path::Path;

use miriam_lmcpu::{State, open};
use miriam_storage::LoadMethod;
use miriam_textio::NoProgress;

fn main() -> Result<(), Box<dyn Error>> {
    let model = std::env::args().nth(1).ok_or("usage: score_lines MODEL < TEXT")?;
    score(Path::new(&model), std::io::stdin().lock(), std::io::stdout().lock())
}

/// Writes the total log10 probability of each line of `text`, and how many of its words are
/// unknown.
pub fn score(
    model: &Path,
    text: impl BufRead,
    mut output: impl Write,
) -> Result<(), Box<dyn Error>> {
    let model = open(model, LoadMethod::Lazy, &NoProgress)?;
    let unknown = model.word_id(b"<unk>");
    for line in text.lines() {
        let line = line?;
        let mut state = model.begin_state();
        let mut next = State::EMPTY;
        let mut total = 0.0;
        let mut num_unknown = 0;
        let words = line.split_whitespace().map(|word| model.word_id(word.as_bytes()));
        for word in words.chain([model.end_of_sentence()]) {
            // The state after a word is the context of the next one.
            let (log10, _matched) = model.score(&state, word, &mut next);
            total += log10.0;
            num_unknown += u32::from(word == unknown);
            state.copy_from(&next);
        }
        writeln!(output, "{total:.4}\t{num_unknown} unknown\t{line}")?;
    }
    Ok(())
}
