//! What a student is trained from besides the text: the same pieces, links between them, and a
//! configuration.

use std::path::Path;

use miriam_nmt::TokenizerPair;
use miriam_nmt::translate::{Tokenizer, TokenizerScratch};
use miriam_textio::{Input, Lines, Output, Progress};
use miriam_trainer::options::{DumpScope, RawOptions};

use crate::Result;

/// Writes a text in the pieces of one side of a pair of tokenisers, with spaces between them, as
/// training makes them.
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
    }
    Ok(output.finish()?)
}

/// The files of a student's training set, by names in its folder, and text to validate on.
pub(super) struct TrainingSet<'a> {
    pub text: [&'a str; 2],
    pub vocabularies: &'a [String; 2],
    pub alignment: Option<&'a str>,
    pub dev: Option<[String; 2]>,
}

/// The configuration of a training, in YAML, with paths relative to its own folder.
pub(super) fn training_yaml(preset: &RawOptions, set: &TrainingSet<'_>) -> Result<String> {
    let mut options = preset.clone();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    options.set("train-sets", names(&set.text))?;
    options.set("vocabs", set.vocabularies.to_vec())?;
    if let Some(alignment) = set.alignment {
        options.set("guided-alignment", names(&[alignment]))?;
    }
    if let Some(dev) = &set.dev {
        options.set("valid-sets", dev.to_vec())?;
    }
    Ok(format!("relative-paths: true\n{}", options.dump(DumpScope::Minimal)))
}
