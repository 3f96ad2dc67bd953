//! `atools`: symmetrises, converts and compares files of links.

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::bail;
use clap::Parser;
use miriam_align::{LinkOperation, apply_link_operation};
use miriam_textio::Input;

use crate::common::CommonOptions;

/// Symmetrises, converts and compares word alignments, as fast_align's atools does
#[derive(Parser)]
#[command(name = "atools", arg_required_else_help = true, disable_version_flag = true)]
struct Arguments {
    /// The links; - for standard input
    #[arg(short = 'i', long = "input_1")]
    first: PathBuf,
    /// The other links; if both are -, the lines of standard input alternate
    #[arg(short = 'j', long = "input_2")]
    second: Option<PathBuf>,
    /// The operation
    #[arg(short, long, value_parser = LinkOperation::ALL.map(|(name, _)| name))]
    command: String,
}

pub fn run(arguments: Vec<OsString>, _: &CommonOptions) -> anyhow::Result<()> {
    let arguments: Arguments = super::parse(arguments);
    let command = &*arguments.command;
    let mut all = LinkOperation::ALL.into_iter();
    let (_, operation) = all.find(|(name, _)| *name == command).expect("the parser knows them");
    match (&arguments.second, operation.is_binary()) {
        (None, true) => bail!("-c {command} needs two files of links: give the other with -j"),
        (Some(_), false) => bail!("-c {command} takes one file of links; omit -j"),
        _ => {}
    }
    for input in [Some(&arguments.first), arguments.second.as_ref()].into_iter().flatten() {
        Input::check_access(input, None)?;
    }
    let second = arguments.second.as_deref();
    Ok(apply_link_operation(operation, &arguments.first, second, "-".as_ref())?)
}
