//! `miriam truecase`: training and application of truecase models, and removal of true case.

use std::path::PathBuf;

use clap::Args;
use miriam_textio::{Input, Output};
use miriam_textproc::{TruecaseModel, detruecase};

use super::InputOutput;
use crate::common::CommonOptions;
use miriam_pipeline::count_case_forms;

/// Write tokens in their true case, as Moses' truecase.perl
///
/// There are three modes: --train counts the casings of words inside sentences and writes a model;
/// --model applies a model; --undo writes a capital letter at the beginning of each sentence. The
/// text consists of tokens from `miriam tokenize`; models have Moses' format.
///
/// Examples:
///   miriam truecase --train -i train.tok.de -o truecase.de
///   miriam truecase --model truecase.de < train.tok.de > train.true.de
///   miriam truecase --undo < translations.true.en > translations.tok.en
#[derive(Args)]
#[command(verbatim_doc_comment)]
#[command(group = clap::ArgGroup::new("task").required(true))]
pub struct Arguments {
    #[command(flatten)]
    files: InputOutput,
    /// Train a model on the text
    #[arg(long, group = "task")]
    train: bool,
    /// Apply this model
    #[arg(long, value_name = "FILE", group = "task")]
    model: Option<PathBuf>,
    /// Write a capital letter at the beginning of each sentence
    #[arg(long, group = "task")]
    undo: bool,
    /// With --train: count first words of sentences too. A word with a capital letter counts a
    /// tenth if it is alone in its line, otherwise not at all
    #[arg(long, alias = "possiblyUseFirstToken", requires = "train")]
    possibly_use_first_token: bool,
    /// With --model: the text has no casing, like the output of a speech recogniser
    #[arg(short, long, requires = "model")]
    asr: bool,
    /// Moses': flush every line; pipes are always flushed
    #[arg(short = 'b', hide = true)]
    _unbuffered: bool,
}

pub fn run(arguments: Arguments, common: &CommonOptions) -> anyhow::Result<()> {
    if let Some(file) = &arguments.model {
        Input::check_access(file, Some(&arguments.files.output))?;
        let model = TruecaseModel::read(file)?;
        return arguments.files.transform_lines("truecasing", common, |line, out| {
            if arguments.asr {
                model.truecase_caseless(line, out);
            } else {
                model.truecase(line, out);
            }
        });
    }
    if arguments.undo {
        return arguments.files.transform_lines("undoing true case", common, detruecase);
    }
    let InputOutput { input, output } = &arguments.files;
    Input::check_access(input, Some(output))?;
    let counts = count_case_forms(
        Input::open(input)?,
        arguments.possibly_use_first_token,
        common.threads.count(),
        &common.progress(),
        |line, out| out.extend_from_slice(line),
    )?;
    let mut model = Vec::new();
    counts.write_model(&mut model);
    Ok(Output::write_file(output, &model)?)
}
