//! Trained models, opened to translate files.

use std::path::Path;
use std::sync::Arc;

use miriam_metrics::{Bleu, Tokenizer, corpus_score, corpus_statistics};
use miriam_nmt::ModelBundle;
use miriam_nmt::engine::{Autotuner, Cpu};
use miriam_nmt::translate::{OutputOptions, SourceText, TranslationOptions, Translator};
use miriam_textio::{CancellableProgress, CancellationToken, Input, Lines, Output, Progress};

use crate::{Error, Result};

/// Opens the model in `folder` with the search of its configuration.
pub(super) fn open_model(
    folder: &Path,
    output: OutputOptions,
    threads: usize,
) -> Result<Translator> {
    let bundle = ModelBundle::open(folder, None)?;
    let mut options = TranslationOptions::for_bundle(&bundle, None);
    options.search.n_best = 1;
    options.output = output;
    options.threads = threads;
    let tuner = Arc::new(Autotuner::new(Cpu::detect()));
    Ok(Translator::new(bundle, options, &tuner)?)
}

/// Translates the file `source` by the model in `folder`.
pub(super) fn translate_file(
    folder: &Path,
    source: &Path,
    output: &Path,
    threads: usize,
    progress: &dyn Progress,
) -> Result<()> {
    let source = SourceText { lines: Lines::new(Input::open(source)?), prefixes: None };
    let stop = CancellationToken::new();
    let progress = CancellableProgress { shown: progress, stop: &stop };
    let output = Output::create_atomic(output)?;
    let mut report = |error: &miriam_nmt::translate::LineError| {
        tracing::warn!("line {}: {}", error.line, error.reason);
        Ok(())
    };
    open_model(folder, OutputOptions::default(), threads)?.translate(
        source,
        false,
        output,
        &stop,
        &progress,
        &mut report,
    )?;
    if stop.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
}

/// Returns BLEU of the tokens of a file, from 0 to 100.
pub(super) fn bleu_of_file(translations: &Path, reference: &Path) -> Result<f64> {
    let metric = Bleu { tokenizer: Tokenizer::None, ..Bleu::default() };
    let references = [read_lines(reference)?];
    let rows = corpus_statistics(&metric, &read_lines(translations)?, &references)?;
    Ok(corpus_score(&metric, &rows, references.len()).value)
}

fn read_lines(path: &Path) -> Result<Vec<String>> {
    let mut lines = Lines::new(Input::open(path)?);
    let mut text = Vec::new();
    while let Some(line) = lines.next()? {
        text.push(String::from_utf8_lossy(line.bytes).into_owned());
    }
    Ok(text)
}
