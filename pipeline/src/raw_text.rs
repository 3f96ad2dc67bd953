//! Raw text, a file at a time, into what systems are trained on.

use std::path::Path;

use miriam_textio::{Input, Output, Progress, lines_of, map_blocks, map_lines, name_of};
use miriam_textproc::{Preparation, TruecaseModel, TruecaseTraining};

use crate::Result;

/// Counts the forms of the words in the lines of `input`, after `change` of each: what a
/// truecase model is made of. With `first_tokens` see [`TruecaseTraining::new`].
pub fn train_truecaser(
    input: Input,
    first_tokens: bool,
    threads: usize,
    progress: &dyn Progress,
    change: impl Fn(&[u8], &mut Vec<u8>) + Sync,
) -> miriam_textio::Result<TruecaseTraining> {
    let work = |block: &[u8]| {
        let mut counts = TruecaseTraining::new(first_tokens);
        let mut changed = Vec::new();
        for line in lines_of(block) {
            changed.clear();
            change(line, &mut changed);
            counts.add(&changed);
        }
        counts
    };
    let mut all = TruecaseTraining::new(first_tokens);
    let stage = ("learning true case", progress);
    map_blocks(input, threads, stage, work, |counts, _| {
        all.merge(counts);
        Ok(())
    })?;
    Ok(all)
}

/// Trains a truecase model on what the steps of `preparation` before it make of a raw
/// text, writes it to the file `model`, and leaves it in `preparation`.
pub fn learn_true_case(
    text: &Path,
    preparation: &mut Preparation,
    model: &Path,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    Input::check(text, Some(model))?;
    preparation.truecase = None;
    let prepare = |line: &[u8], out: &mut Vec<u8>| preparation.prepare(line, out);
    let counts = train_truecaser(Input::open(text)?, false, threads, progress, prepare)?;
    let mut lines = Vec::new();
    counts.write(&mut lines);
    let mut file = Output::create_whole(model)?;
    file.write(&lines)?;
    file.finish()?;
    preparation.truecase = Some(TruecaseModel::from_text(&lines, &name_of(model))?);
    Ok(())
}

/// Writes what `preparation` makes of the lines of `text` to `output`.
pub fn prepare_file(
    text: &Path,
    preparation: &Preparation,
    output: &Path,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    Input::check(text, Some(output))?;
    let mut file = Output::create_whole(output)?;
    let prepare = |line: &[u8], out: &mut Vec<u8>| preparation.prepare(line, out);
    map_lines(Input::open(text)?, &mut file, threads, ("preparing text", progress), prepare)?;
    Ok(file.finish()?)
}
