//! `miriam prepare`: preparation of raw text for training and translation.

use std::path::{Path, PathBuf};

use clap::Args;
use miriam_pipeline::{prepare_file, train_truecase_model};
use miriam_textio::Input;
use miriam_textproc::{NonbreakingPrefixes, TextProcessor, TruecaseModel};

use super::{InputOutput, warn_if_unknown_language};
use crate::common::{CommonOptions, check_files, exit_with_usage_error};

/// Prepare raw text for training and translation
///
/// Runs `miriam normalize`, `tokenize` and `truecase` one after another.
///
/// Examples:
///   miriam prepare -l de --train-truecase truecase.de -i train.raw.de -o train.de
///   miriam prepare -l de --truecase truecase.de -i dev.raw.de -o dev.de
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    files: InputOutput,
    /// The language of the text, in two letters
    #[arg(short, long, value_name = "LANG")]
    language: String,
    /// A list of nonbreaking prefixes, words that keep their full stop, in Moses' form: one per
    /// line, followed by #NUMERIC_ONLY# if it counts only before numbers
    #[arg(long, value_name = "FILE")]
    nonbreaking_prefixes: Option<PathBuf>,
    /// Truecase tokens with this model
    #[arg(long, value_name = "FILE")]
    truecase: Option<PathBuf>,
    /// Train a truecase model on the text first, and write it to this file
    #[arg(long, value_name = "FILE", conflicts_with = "truecase")]
    train_truecase: Option<PathBuf>,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    let mut preparation = TextProcessor::for_language(&arguments.language);
    match &arguments.nonbreaking_prefixes {
        Some(file) => {
            preparation = preparation.with_nonbreaking_prefixes(NonbreakingPrefixes::read(file)?);
        }
        None => warn_if_unknown_language(&arguments.language),
    }
    let InputOutput { input, output } = &arguments.files;
    if let Some(model) = &arguments.train_truecase {
        if input == Path::new("-") {
            exit_with_usage_error("--train-truecase reads the text twice; name a file with -i");
        }
        Input::check_file(input)?;
        let outputs = [("--train-truecase", Some(model)), ("--output", Some(output))];
        check_files([input], &outputs)?;
        let (threads, progress) = (common.threads.count(), common.progress());
        train_truecase_model(input, &mut preparation, model, threads, &progress)?;
        return Ok(prepare_file(input, &preparation, output, threads, &progress)?);
    }
    preparation.truecaser = arguments.truecase.as_deref().map(TruecaseModel::read).transpose()?;
    arguments
        .files
        .transform_lines("preparing text", common, |line, out| preparation.preprocess(line, out))
}
