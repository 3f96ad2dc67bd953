//! `query`: scores text word by word.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Parser;
use miriam_lmcpu::query::{QueryOptions, query};
use miriam_storage::LoadMethod;
use miriam_textio::{Input, Output};

use crate::commands::lm::parse_levels;
use crate::commands::open_lm::open_model_as_kenlm;
use crate::common::CommonOptions;

/// Scores the text of standard input, as KenLM's query does
#[derive(Parser)]
#[command(
    name = "query",
    arg_required_else_help = true,
    disable_version_flag = true,
    args_override_self = true
)]
struct Arguments {
    /// Print the answer to each line before the next is read
    #[arg(short = 'b')]
    flush: bool,
    /// Do not put <s> before and </s> after each line
    #[arg(short = 'n')]
    no_markers: bool,
    /// What to print: word, sentence or summary, repeatable; or 2 for all three, 1 for sentence and
    /// summary, 0 for summary
    #[arg(short = 'v', allow_hyphen_values = true, value_parser = ["word", "sentence", "summary", "0", "1", "2"])]
    verbosity: Vec<String>,
    /// How a binary file is loaded; read and parallel mean the same as populate
    #[arg(short = 'l', allow_hyphen_values = true, default_value = "populate",
          value_parser = ["lazy", "populate", "read", "parallel"])]
    load: String,
    /// A model file or ARPA text
    model: PathBuf,
}

pub fn run(arguments: Vec<OsString>, common: &CommonOptions) -> anyhow::Result<()> {
    let arguments: Arguments = super::parse(arguments);
    let load = if arguments.load == "lazy" { LoadMethod::Lazy } else { LoadMethod::Populate };
    let model = open_model_as_kenlm(&arguments.model, load, common)?;
    let input = Input::open("-".as_ref())?;
    let mut output = Output::create("-".as_ref())?;
    let options = QueryOptions {
        verbosity: parse_levels(&arguments.verbosity),
        sentence_markers: !arguments.no_markers,
        threads: common.threads.count(),
        line_buffered: arguments.flush,
        kenlm_compat: true,
    };
    query(&*model, input, &mut output, options, &common.progress())?;
    Ok(output.finish()?)
}
