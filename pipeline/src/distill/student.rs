//! Files for the training of a student: the text in pieces, and a configuration.

use std::path::Path;

use miriam_nmt::TokenizerPair;
use miriam_nmt::translate::{Tokenizer, TokenizerScratch};
use miriam_textio::{Input, Lines, Output, Progress};
use miriam_trainer::options::{DumpScope, RawOptions};

use crate::Result;
use crate::error::check_cancelled;

/// Segments a text with the tokeniser of one side and writes its pieces, with spaces between them.
/// Training divides the text into the same pieces.
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

/// The files of a student's training set, by their names in its folder, and a text to validate
/// on.
pub(super) struct TrainingSet<'a> {
    pub text: [&'a str; 2],
    pub vocabularies: &'a [String; 2],
    pub alignment: Option<&'a str>,
    pub dev: Option<[String; 2]>,
}

/// Formats the configuration of a training run as YAML. Paths of the training set are relative to
/// the folder of the configuration.
pub(super) fn training_yaml(preset: &RawOptions, set: &TrainingSet<'_>) -> Result<String> {
    let mut options = preset.clone();
    options.set("train-sets", set.text.map(str::to_owned).to_vec())?;
    options.set("vocabs", set.vocabularies.to_vec())?;
    if let Some(alignment) = set.alignment {
        options.set("guided-alignment", vec![alignment.to_owned()])?;
    }
    if let Some(dev) = &set.dev {
        options.set("valid-sets", dev.to_vec())?;
    }
    Ok(format!("relative-paths: true\n{}", options.dump(DumpScope::Minimal)))
}
