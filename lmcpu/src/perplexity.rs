//! Perplexity of text, as fast as the machine allows.

use miriam_text::{Input, Output, Progress, number};

pub use crate::sentences::{Perplexity, TextOptions};

use crate::query::push_integer;
use crate::sentences::score_text;
use crate::{LanguageModel, Result};

/// Scores each line of `inputs`. With `per_line` each gives a line
/// `log10 TAB tokens TAB unknown words`, where tokens count `</s>`; without,
/// the sums are printed as KenLM's `query` prints its summary.
pub fn perplexity(
    model: &dyn LanguageModel,
    inputs: Vec<Input>,
    output: &mut Output,
    per_line: bool,
    options: TextOptions,
    progress: &dyn Progress,
) -> Result<Perplexity> {
    let sums = score_text(model, inputs, output, options, progress, |block, out| {
        if !per_line {
            return;
        }
        for sentence in block.sentences() {
            number::push_shortest_f32(out, sentence.log10());
            out.push(b'\t');
            push_integer(out, sentence.tokens().len() as u64);
            out.push(b'\t');
            push_integer(out, sentence.unknown());
            out.push(b'\n');
        }
    })?;
    if !per_line {
        let mut summary = Vec::new();
        sums.push_summary(&mut summary);
        output.write(&summary)?;
    }
    Ok(sums)
}
