//! Preprocessing of raw text files for training.

use std::path::Path;

use miriam_textio::{Input, Output, Progress, display_name, map_blocks, map_lines, split_lines};
use miriam_textproc::{TextProcessor, TruecaseModel, TruecaseTrainer};

use crate::Result;

/// Counts the case forms of words for a truecase model, in the lines of `input`, each preprocessed
/// by `change`. For `first_tokens` see [`TruecaseTrainer::new`].
///
/// # Errors
/// If the text cannot be read.
pub fn count_case_forms(
    input: Input,
    first_tokens: bool,
    threads: usize,
    progress: &dyn Progress,
    change: impl Fn(&[u8], &mut Vec<u8>) + Sync,
) -> miriam_textio::Result<TruecaseTrainer> {
    let mut all = TruecaseTrainer::new(first_tokens);
    map_blocks(
        input,
        threads,
        ("learning true case", progress),
        |block: &[u8]| {
            let mut counts = TruecaseTrainer::new(first_tokens);
            let mut changed = Vec::new();
            for line in split_lines(block) {
                changed.clear();
                change(line, &mut changed);
                counts.add_line(&changed);
            }
            counts
        },
        |counts, _| {
            all.merge(counts);
            Ok(())
        },
    )?;
    Ok(all)
}

/// Trains a truecase model on a raw text, preprocessed by the earlier steps of
/// `preparation`, writes it to the file `model`, and sets it in `preparation`.
///
/// # Errors
/// If a file cannot be read or written.
pub fn train_truecase_model(
    text: &Path,
    preparation: &mut TextProcessor,
    model: &Path,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    Input::check_access(text, Some(model))?;
    preparation.truecaser = None;
    let input = Input::open(text)?;
    let counts = count_case_forms(input, false, threads, progress, |line, out| {
        preparation.preprocess(line, out);
    })?;
    let mut lines = Vec::new();
    counts.write_model(&mut lines);
    Output::write_file(model, &lines)?;
    preparation.truecaser = Some(TruecaseModel::from_text(&lines, &display_name(model))?);
    Ok(())
}

/// Preprocesses the lines of the file `text` and writes them to `output`.
///
/// # Errors
/// If a file cannot be read or written.
pub fn prepare_file(
    text: &Path,
    preparation: &TextProcessor,
    output: &Path,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    Input::check_access(text, Some(output))?;
    let mut file = Output::create_atomic(output)?;
    let stage = ("preparing text", progress);
    map_lines(Input::open(text)?, &mut file, threads, stage, |line, out| {
        preparation.preprocess(line, out);
    })?;
    Ok(file.finish()?)
}
