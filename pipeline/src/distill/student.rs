//! The text for the training of a student, in pieces.

use std::path::Path;

use miriam_nmt::TokenizerPair;
use miriam_nmt::translate::{Tokenizer, TokenizerScratch};
use miriam_textio::{Input, Lines, Output, Progress};

use crate::Result;
use crate::error::check_cancelled;

/// Divides a text into pieces by the tokeniser of one side (0 is the source) and writes them to the
/// file `pieces`, with spaces between them. These are the pieces into which training divides the
/// text.
pub(super) fn write_pieces(
    text: &Path,
    tokenizers: &TokenizerPair,
    side: usize,
    pieces: &Path,
    progress: &dyn Progress,
) -> Result<()> {
    let tokenizer = Tokenizer::new(tokenizers, side);
    let mut scratch = TokenizerScratch::default();
    let mut lines = Lines::new(Input::open(text)?);
    let mut output = Output::create_atomic(pieces)?;
    let task = progress.task("segmenting", None);
    let mut out = Vec::new();
    while let Some(line) = lines.next()? {
        out.clear();
        for (index, piece) in tokenizer.encode(line.bytes, &mut scratch).iter().enumerate() {
            if index > 0 {
                out.push(b' ');
            }
            out.extend_from_slice(piece);
        }
        out.push(b'\n');
        output.write(&out)?;
        task.advance(1);
        check_cancelled(progress)?;
    }
    Ok(output.finish()?)
}
