//! `miriam prepare`: raw text into what systems are trained on and translate.

use std::path::{Path, PathBuf};

use clap::Args;
use miriam_pipeline::{learn_true_case, prepare_file};
use miriam_textproc::{Preparation, TruecaseModel};

use super::{Files, warn_of_language, wrong_usage};
use crate::common::Common;

/// Prepare raw text for training and translation
///
/// In one go what `miriam normalize`, `tokenize` and `truecase` do one after another.
///
/// Examples:
///   miriam prepare -l de --train-truecase truecase.de -i train.raw.de -o train.de
///   miriam prepare -l de --truecase truecase.de -i dev.raw.de -o dev.de
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub struct Arguments {
    #[command(flatten)]
    files: Files,
    /// The language of the text, in two letters
    #[arg(short, long, value_name = "LANG")]
    language: String,
    /// Bring tokens into the true case that this model knows
    #[arg(long, value_name = "FILE")]
    truecase: Option<PathBuf>,
    /// Train such a model on the text first and write it here
    #[arg(long, value_name = "FILE", conflicts_with = "truecase")]
    train_truecase: Option<PathBuf>,
}

pub fn run(arguments: Arguments, common: &Common) -> anyhow::Result<()> {
    warn_of_language(&arguments.language);
    let mut preparation = Preparation::of_language(&arguments.language);
    let Files { input, output } = &arguments.files;
    if let Some(model) = &arguments.train_truecase {
        if input == Path::new("-") {
            wrong_usage("--train-truecase goes through the text twice; name a file with -i");
        }
        let (threads, progress) = (common.threads.count(), common.progress());
        learn_true_case(input, &mut preparation, model, threads, &progress)?;
        return Ok(prepare_file(input, &preparation, output, threads, &progress)?);
    }
    preparation.truecase = arguments.truecase.as_deref().map(TruecaseModel::read).transpose()?;
    arguments.files.map("preparing text", common, |line, out| preparation.prepare(line, out))
}
