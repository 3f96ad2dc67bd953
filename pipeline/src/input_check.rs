//! Checks of the texts of a training run before its first stage, so that an invalid file ends
//! the run at once and not after hours.

use std::path::Path;

use miriam_textio::{Input, Lines, Progress, display_name};
use miriam_textproc::TokenizationSample;

use crate::error::check_cancelled;
use crate::{Error, Result, TrainOptions};

/// Reads all texts of a run and the lists of nonbreaking prefixes. Both sides of a parallel text
/// must have equally many lines, and every text must have a word. Unless texts are raw, returns
/// warnings about texts that do not look tokenised.
pub(crate) fn check_texts(options: &TrainOptions, progress: &dyn Progress) -> Result<Vec<String>> {
    let mut untokenized = Vec::new();
    check_pair([&options.source, &options.target], &mut untokenized, progress)?;
    if let Some((source, target)) = &options.dev {
        check_pair([source, target], &mut untokenized, progress)?;
    }
    let back_translated = options.neural.iter().flat_map(|neural| &neural.back_translate);
    for file in options.lm_text.iter().chain(back_translated) {
        count_lines(file, &mut untokenized, progress)?;
    }
    for list in options.nonbreaking_prefixes.iter().flatten() {
        miriam_textproc::NonbreakingPrefixes::read(list)?;
    }
    if options.raw_languages.is_some() {
        untokenized.clear();
    }
    Ok(untokenized)
}

/// Checks that parallel texts have equally many lines.
fn check_pair(
    files: [&Path; 2],
    untokenized: &mut Vec<String>,
    progress: &dyn Progress,
) -> Result<()> {
    let [source, target] = files;
    let source_lines = count_lines(source, untokenized, progress)?;
    let target_lines = count_lines(target, untokenized, progress)?;
    let names = files.map(display_name);
    let lengths = names.iter().map(String::as_str).zip([source_lines, target_lines]);
    Ok(miriam_textio::Error::check_line_counts(lengths)?)
}

/// Counts the lines of a text. Adds a warning to `untokenized` if it does not look tokenised.
///
/// # Errors
/// If the text cannot be read or has no words.
fn count_lines(file: &Path, untokenized: &mut Vec<String>, progress: &dyn Progress) -> Result<u64> {
    let input = Input::open(file)?;
    let consumed = input.consumed();
    let task = progress.task("checking texts", input.size());
    let mut lines = Lines::in_background(input);
    let mut sample = TokenizationSample::default();
    let (mut count, mut has_words) = (0, false);
    while let Some(line) = lines.next()? {
        count += 1;
        has_words = has_words || !line.bytes.trim_ascii().is_empty();
        if !sample.is_large() {
            sample.add_line(line.bytes);
        }
        if count % 4096 == 0 {
            task.set_position(consumed.load(std::sync::atomic::Ordering::Relaxed));
            check_cancelled(progress)?;
        }
    }
    if !has_words {
        let reason = "the text is empty; give a file with one sentence per line".to_owned();
        return Err(Error::EmptyCorpus { file: display_name(file), reason });
    }
    if let Some(share) = sample.untokenized_share() {
        untokenized.push(format!(
            "{}: {:.0} % of the words end in attached punctuation, so this text does not look \
             tokenised; --raw with --source-language and --target-language prepares raw text",
            display_name(file),
            100.0 * share
        ));
    }
    Ok(count)
}
